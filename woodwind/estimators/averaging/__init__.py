"""Bayesian model averaging and model combination.

Inside:

    averaging_base     Pools whose members are weighed by how likely rows are under what they predict: what averaging and combination share
    free_parameters    How many free parameters a trained model has: what it says itself, or rules for the kinds that have a natural count
    linear_averaging   Linear regression averaged over subsets of columns
    model_averaging    Bayesian averaging of models of any kind, for classification and regression
    model_combination  Bayesian combination of models of any kind, for classification and regression
"""
