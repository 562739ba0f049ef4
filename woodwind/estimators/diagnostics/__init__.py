"""Questions to trained ensembles: diversity, bias and variance, predictions by stage.

Inside:

    diversity_tools  Diversity of estimators, measured: members are asked, learners are trained again and again
    partial_dependence  Partial dependence and individual conditional expectation of any estimator
    staged           What an ensemble predicts after its first member, its first two, and so on: of any rows, and of rows out of the bag
"""
