"""Parameters are data: type, default, bounds and words are declared once; signature, check and docstring come from that.

Inside:

    adaptive        The parameters of adaptive boosting and of additive models, in groups
    aliases         What other libraries call our parameters: one table, from which errors
    auto            The parameters of the main job
    averaging       The parameters of Bayesian averaging and combination of models
    bagging         The parameters of bagging
    bounds          What a value may be, and how to say so in words
    check           One validator, one wording: owner, parameter, what is allowed, what came, what to do
    conformal       The parameters of conformal prediction
    describe        The declared parameters of a class as records, as a section of its docstring, and as a table
    dynamic         The parameters of dynamic selection
    experts         The parameters of mixtures of experts
    forests         The parameters of forests, in groups
    groups          The parameters of the estimators, in groups
    knobs           The decorator `knobs`, and the words to declare a parameter with
    no_counterpart  Names of other libraries that need no setting here, or have no counterpart
    pools           The parameters of ensembles whose members are different models
    pruning         The parameters of pruning: which members are kept, and how they are looked for
    ranking         The parameters of rankers
    stacking        The parameters of stacks and of blenders
    survival        The parameters of survival models
    translation     How the value of another library's parameter becomes values of ours: one function for each rule that `aliases.py` names
    unknown         What is predicted for a name that is not a parameter, or not an argument of `fit`: ours, the nearest, or which there are
"""
