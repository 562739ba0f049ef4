"""Bagging of any estimator.

Inside:

    bagging       Bagging of any estimator, for classification and regression
    tree_members  Members of a bag that are decision trees of Woodwind: all are grown from one coded table, and kept in one forest
"""
