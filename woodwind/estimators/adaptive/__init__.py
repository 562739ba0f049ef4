"""Adaptive boosting (AdaBoost) and additive models.

Inside:

    adaboost            Adaptive boosting of classifiers: AdaBoost and its kin, by trees of the engine or by any estimator
    adaboost_base       What adaptive boosting for classification and regression share: where the rows come from
    adaboost_regressor  Adaptive boosting of regressors: AdaBoost.R2, by trees of the engine or by any estimator
    adaboost_stopping   AdaBoost that stops by rows held out, and that goes on from where it was
    additive            Additive models for classification and regression: forward stagewise fitting with any regressor and any loss
    additive_base       What additive models for classification and regression share: from a table and a target to rounds, and to scores
    second_level        A second level over models of two classes: a classifier that learns from what they predict and the features
"""
