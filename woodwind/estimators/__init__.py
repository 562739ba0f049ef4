"""The scikit-learn classes: parameters in, model out. The only package that imports scikit-learn.

Inside:

    adaptive       Adaptive boosting (AdaBoost) and additive models
    auto           The main job as estimators, `woodwind.fit` and `woodwind.load`
    averaging      Bayesian model averaging and model combination
    bagging        Bagging of any estimator
    base           What all estimators share: base classes, targets, weights, splits, scoring
    boosting       Gradient boosting
    conformal      Conformal prediction: intervals and sets of labels with a guarantee
    diagnostics    Questions to trained ensembles: diversity, bias and variance, predictions by stage
    dynamic        Dynamic selection: for each row the members that are competent near it
    export         Estimators as graphs of operations, for ONNX and C; trees for the shap library
    forests        Single decision trees, random forests, extremely randomised trees, forests of random structure
    imported       Models of other libraries as fitted estimators
    mixture        Mixtures of experts
    persistence    What a model file holds of estimators, ours and scikit-learn's, and whether its parts fit each other
    pools          Ensembles of different models: the pool of members, out-of-fold predictions, voting
    preprocessing  Steps of pipelines that make columns for other models: target statistics of categories
    selection      Ensemble selection: pruning a pool of members
    stacking       Stacking, its blenders, and a probe for leaks
"""
