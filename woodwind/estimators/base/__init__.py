"""What all estimators share: base classes, targets, weights, splits, scoring.

Inside:

    base_learner         Estimators of scikit-learn's kind as learners: copies with seeds of their own, weights or drawn rows
    bootstrap_checks     What is wrong with the parameters of a bag or a forest, said before any work is done
    category_statistics  Columns of many categories in boosting, forests and trees: read as statistics of the target
    matrix               Any table as dense numbers, as a step of a pipeline: for models that know nothing of text and dates
    model                What all estimators have in common: how they are trained, and how they remember the columns
    model_checks         Models that come from a file as parts of others: each is one, is trained
    per_target           Ensembles of members of any kind for several targets: one ensemble for each target, side by side
    row_predictor        A callable that predicts for one row or a block of rows, with as little overhead as possible
    scoring              What is watched in every round: the loss, or one of scikit-learn's scorers
    several_targets      Several targets at once: y of shape (n, k), for regression and for several columns of labels
    splits               Splits of rows into those that are learned and those that are held out: from anything that scikit-learn takes
    target               Targets of any kind: labels become numbers of classes, numbers are checked
    tree_base            What every estimator that keeps trees has in common: how tables are read, and what can be asked of the trees
    weights              Sample weights and class weights: what they mean for the rows that are trained on
"""
