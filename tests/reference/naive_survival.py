"""Survival times, slowly: Cox's likelihood by its sums over rows at risk, failure times by SciPy, and concordance pair by pair.

Twins of the kernels in kernels/losses/cox.py, kernels/losses/failure_times.py and kernels/losses/concordance.py.
"""

import math

import numpy as np
from scipy import stats

STANDARD = {"normal": stats.norm, "logistic": stats.logistic, "extreme": stats.gumbel_l}


def cox_loss(time, event, score, weight, ties):
    """Minus the log partial likelihood; weighted ties of Efron have the mean weight of their events, as in R."""
    total = 0.0
    for now in sorted(set(time[event])):
        at_risk = sum(w * math.exp(f) for t, f, w in zip(time, score, weight, strict=True) if t >= now)
        dying = [i for i in range(len(time)) if time[i] == now and event[i] and weight[i] > 0.0]
        if not dying:
            continue
        tied, mean = sum(weight[i] * math.exp(score[i]) for i in dying), sum(weight[i] for i in dying) / len(dying)
        for place, i in enumerate(dying):
            left = at_risk - (place / len(dying) * tied if ties == "efron" else 0.0)
            total += mean * math.log(left) - weight[i] * score[i]
    return total


def cox_derivatives(time, event, score, ties):
    """Gradient and hessian of every row for weights of one: sums over the deaths that it was at risk of."""
    n = len(time)
    gradient, hessian = np.zeros(n), np.zeros(n)
    for i in range(n):
        for now in sorted(set(time[event])):
            if time[i] < now:
                continue
            at_risk = sum(math.exp(score[j]) for j in range(n) if time[j] >= now)
            dying = [j for j in range(n) if time[j] == now and event[j]]
            tied = sum(math.exp(score[j]) for j in dying)
            for place in range(len(dying)):
                gone = place / len(dying) if ties == "efron" else 0.0
                own = math.exp(score[i]) * (1.0 - gone if i in dying else 1.0) / (at_risk - gone * tied)
                gradient[i] += own
                hessian[i] += own - own**2
        gradient[i] -= event[i]
    return gradient, hessian


def failure_loss(distribution, lower, upper, score, scale):
    """Minus the log likelihood of one time within bounds."""
    standard = STANDARD[distribution]
    if lower == upper:
        return math.log(scale) + math.log(lower) - standard.logpdf((math.log(lower) - score) / scale)
    low = -math.inf if lower == 0.0 else (math.log(lower) - score) / scale
    high = math.inf if upper == math.inf else (math.log(upper) - score) / scale
    share = standard.sf(low) - standard.sf(high) if low > 0.0 else standard.cdf(high) - standard.cdf(low)
    return -math.log(share)


def pairs(lower, upper, risk, weight):
    """Pairs by weight, of which the first had its event surely before the second: in order, the other way round, of equal risk."""
    found = [0.0, 0.0, 0.0]
    for i in range(len(lower)):
        for j in range(len(lower)):
            before = upper[i] < lower[j] or (upper[i] == lower[j] and upper[j] > lower[j])
            if i != j and before:
                kind = 0 if risk[i] > risk[j] else 1 if risk[i] < risk[j] else 2
                found[kind] += weight[i] * weight[j]
    return found
