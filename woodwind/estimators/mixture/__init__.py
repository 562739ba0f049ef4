"""Mixtures of experts.

Inside:

    mixture_of_experts  Mixtures of experts, for classification and regression
    training            A gate and experts that are trained on shares of rows: what the rounds of a mixture of experts work on
"""
