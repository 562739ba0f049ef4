"""Texts that the docstrings of this package share."""

HITS = """
hits : array of bool, (n, m)
    True where a member is right: `hits_of(truth, labels)`.
"""
WEIGHT = """
sample_weight : sequence of numbers, (n,), default=None
    Weights of rows.
"""
VOTES = """
votes : sequence of labels, (n, m)
    What members predict: labels of any kind.
"""
PROBABILITIES = """
probabilities : array (n, m, K)
    The probability of each class that members predict.
"""
PREDICTIONS = """
predictions : array (n, m)
    What members predict.
"""
