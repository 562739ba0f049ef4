"""Conformal prediction: intervals and sets of labels that hold the truth as often as they say, around any estimator.

Inside:

    conformal  Conformal prediction, for regression and classification
"""
