"""Facts of a job for the report, as plain values.

Inside:

    collection   Facts of a job: everything that the report shows, as a dictionary that JSON can hold
    coverage     How often intervals of a model, or its sets of labels, hold the truth: of rows that did not help to find them
    data         What the data is: kinds, gaps and distributions of columns, and of the target
    dependence   Partial dependence: what the ensemble predicts on average if a column is set to one value in all rows; Friedman (2001)
    importance   Importance of columns for the whole ensemble: how much worse it gets when a column is shuffled among rows
    json_values  Facts as JSON can hold them: plain numbers, short text, and nothing for what is not a number
    members      Members: the leaderboard, what each of them is worth to the ensemble, and what guessing would give
    quality      How good a classification ensemble is, from rows that it had not been trained on: ranking, calibration, confusion
    ranking      How good a ranking is, from queries that it had not been trained on: NDCG by cut-off, and from query to query
    scored_rows  Scored rows: a sample of those that were held out, with what the ensemble and its members predicted for them
    shap         What columns bring to single predictions: SHAP values of some rows, for a picture of all of them
    usage        How the model is used, and how it was made
"""
