"""Models of other libraries as fitted estimators.

Inside:

    libraries      XGBoost, LightGBM and CatBoost: from a file, its bytes or an object
    sklearn_trees  Trees, forests and gradient boosting of scikit-learn, from fitted objects
"""
