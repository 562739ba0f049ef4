"""Losses of rows: derivatives in fixed point, and sums.

derivatives     of losses of one score;   multinomial   of one score per class
exponential     exp and log, the same on every machine
quantiles       quantiles within leaves
ensemble_sums   losses of an ensemble as members are added
ranking         lambdas and listwise gradients of queries, and how well scores rank their documents
natural_gradients  of the log score of distributions, and the information about their scores
cox             sums over the rows at risk, for Cox's partial likelihood
failure_times   likelihoods of times that are known within bounds: accelerated failure time
concordance     pairs of rows whose events came one after the other, and in which order scores put them
"""
