"""Summaries of truth, prediction and weight.

Inside:

    labels         Metrics of predicted classes
    metric         A metric: what it is called, what it needs, its value, how far chance may have moved the value
    named          Metrics by name
    probabilities  Metrics of probabilities (n, K) that are means over rows
    ranking        Metrics of the order in which probabilities put the rows
    regression     Metrics of regression
"""
