"""Estimators as graphs of operations, for ONNX and C (`woodwind/store/export`).

Inside:

    answers     What an estimator predicts, as operations: scores, probabilities, labels, numbers
    ensembles   Voting, bagging, stacking and linear models of scikit-learn
    exporting   From any estimator to a graph, and the methods that write it
    mlflow_loader How a model file becomes something that MLflow can ask
    shap_trees  Trees in the dictionary format of the shap library
    tree_models Single trees, forests, gradient boosting and AdaBoost
"""
