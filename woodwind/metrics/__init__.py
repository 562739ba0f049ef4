"""Summaries of truth, prediction and weight.

Inside:

    clusters       Clusters: rows that are not independent of each other, so that standard errors do not count them as if they were
    labels         Metrics of predicted classes
    metric         A metric: what it is called, what it needs, its value, how far chance may have moved the value
    named          Metrics by name
    probabilities  Metrics of probabilities (n, K) that are means over rows
    queries        Metrics of rankings: NDCG, mean average precision and mean reciprocal rank, of each query and as a mean over queries
    query_names    Metrics of rankings by name
    ranking        Metrics of the order in which probabilities put the rows
    regression     Metrics of regression
    survival       Metrics of survival times: concordance, and the Brier score of survival functions
"""
