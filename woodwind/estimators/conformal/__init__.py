"""Conformal prediction: intervals and sets of labels that hold the truth as often as they say, around any estimator.

Inside:

    conformal_base        What both share: models of folds, and the conformity scores of rows held out
    conformal_classifier  Conformal prediction for classification: sets of labels
    conformal_regressor   Conformal prediction for regression: intervals by folds, by rows held out once, or by the members of a bag
"""
