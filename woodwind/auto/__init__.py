"""The main job: from a table and a target to an ensemble, its leaderboard and a model that needs nothing but arrays.

Inside:

    facts        Facts of a job for the report, as plain values
    members      Members of a blend as they predict, in arrays alone
    training     How members of the main job are trained: the shared training set, and a family for each kind of member
    averaging    Averaging: what the mean of the models of folds gains over one of them, measured by one more model of each member
    blend        How members are weighed: some ways are tried, and the one is taken that is best where its weights have not looked
    calibration  Calibration of intervals: conformity scores of a blend from what it predicted out of fold
    checkpoint   Checkpoints: a folder with a file for every fold that was trained, so that a job that was killed goes on where it was
    clock        The clock of a job: how much time is left, and whether somebody wants it to end
    decision     Decision: which of two classes is the positive one, and from which probability on it is predicted
    evaluation   A model tried on rows whose target is known: metrics with their standard errors, and whether it keeps what it promised
    events       What happens in a job, as it happens
    export       A blend of the main job as operations of a graph, for ONNX and C
    intervals    Prediction intervals of a blend, and sets of labels: what a model has stored of its errors, and how often it is right
    job          The main job: from a table and a target to a blend of members, as a generator of what happens
    leaderboard  Leaderboard: the ensemble and its members as a table that people can read, in a terminal and in a notebook
    messages     How a job is told in lines of text: by the command where nobody is at a terminal, and in Python with `verbose`
    model        AutoModel: what the main job makes, in arrays and plain values alone
    outcome      What a job has found: the model, the leaderboard, and what was seen on the way
    portfolio    The portfolio: which members are tried, in the order that pays most for the time
    scorer       Scorer: what scores are worth by the metric of a job
    several_targets  Several targets of one table: a model for each of them
    shap         What each column brings to the scores of a blend: the sum of what it brings to the members, by their weights
    size         How large a model may be: what one member may have of it, and which of the members that were trained go in
    table_rows   Tables for a model of the main job: read by what it knows of its columns
"""
