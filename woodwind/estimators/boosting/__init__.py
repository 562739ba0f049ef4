"""Gradient boosting.

Inside:

    block_input               A table in blocks in the place of `X`: what `fit` takes from it, and what it refuses
    boosted_classifier        What classifiers of gradient boosting share: labels, weights of classes, probabilities
    boosted_model             A trained model of gradient boosting: from its forest to scores, and its leaves learned once more
    distribution_boosting     Natural-gradient boosting: a predictive distribution for every row (NGBoost)
    distribution_boosting_classifier  Natural-gradient boosting of classes
    encoded_table             A table as boosting trains on it: read, coded in bins or ranks, with statistics of the target for some
    gradient_boosting         Gradient boosting for classification and regression
    gradient_boosting_base    Training of gradient boosting, for all tasks: from a table and a target to a forest
    gradient_boosting_ranker  Gradient boosting for rankings
    gradient_boosting_survival  Gradient boosting for survival times
    init_scores               Where boosting starts: from the best constant, from scores that the caller gives, or from another model
    like                      Boosting by the name of another library: its defaults and its conventions, as parameters of ours
    loss_choice               From what users give as a loss to the loss itself, and from scores back to what they see
    plan                      Checked parameters to a plan of boosting in which everything is decided
    queries                   What rankers are given beside a table and its target: which rows are of one query, and its weight
    round_checkpoint          The file of finished rounds: a training on a table in blocks that was killed goes on from it
    several_boosting          Boosting of several targets: which options it takes, and its loss
    training_input            What `fit` was given, read and checked: rows to train on, rows held out, rows to be scored meanwhile
    translate                 `woodwind.translate`: parameters of XGBoost, LightGBM
    warm_start                Training that goes on: what another fit needs in order to add rounds to those of an earlier one
"""
