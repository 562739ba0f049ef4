"""Rankings in plain Python: the twin of `woodwind/kernels/losses/ranking.py`, and metrics by going through all orders of equal scores."""

import itertools
import math


def in_order(scores, gains):
    """Documents by score, of equals by gain, of equals as they come."""
    return sorted(range(len(scores)), key=lambda i: (-scores[i], -gains[i], i))


def discount(place):
    return 1.0 / math.log2(place + 2.0)


def dcg(gains, cutoff=None):
    return sum(gain * discount(place) for place, gain in enumerate(gains[:cutoff]))


def ndcg(gains, cutoff=None):
    """Of gains in the order of a ranking."""
    best = dcg(sorted(gains, reverse=True), cutoff)
    return dcg(gains, cutoff) / best if best else 0.0


def average_precision(gains, cutoff=None):
    cutoff, relevant = cutoff or len(gains), sum(gain > 0 for gain in gains)
    found = [sum(gain > 0 for gain in gains[: place + 1]) / (place + 1) for place, gain in enumerate(gains[:cutoff]) if gain > 0]
    return sum(found) / min(relevant, cutoff) if relevant else 0.0


def reciprocal_rank(gains, cutoff=None):
    return next((1.0 / (place + 1) for place, gain in enumerate(gains[:cutoff]) if gain > 0), 0.0)


METRICS = {"ndcg": ndcg, "map": average_precision, "mrr": reciprocal_rank}


def expected(metric, scores, gains, cutoff=None):
    """The mean of a metric over all orders of the documents that a ranking by score allows."""
    orders = itertools.permutations(range(len(scores)))
    allowed = [order for order in orders if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))]
    values = [METRICS[metric]([gains[i] for i in order], cutoff) for order in allowed]
    return sum(values) / len(values)


def change(metric, gains, i, j, best):
    """How much a metric changes where the documents at two places of a ranking change places; 1 where there is no metric."""
    if metric is None:
        return 1.0
    other = list(gains)
    other[i], other[j] = other[j], other[i]
    if metric == "ndcg":
        return abs(dcg(gains) - dcg(other)) / best
    return abs(METRICS[metric](gains) - METRICS[metric](other))


def lambdas(metric, scores, gains, truncation, normalize=False, factor=1.0):
    """Gradient and hessian of each document of one query: Burges 2010, section 7, with the normalisation of LightGBM."""
    n = len(scores)
    order = in_order(scores, gains)
    ranked = [gains[i] for i in order]
    best = dcg(sorted(gains, reverse=True), truncation)
    gradient, hessian, total = [0.0] * n, [0.0] * n, 0.0
    apart = scores[order[0]] != scores[order[-1]]
    for i in range(min(truncation, n)):
        for j in range(i + 1, n):
            if ranked[i] == ranked[j] or (metric and not best):
                continue
            worth = change(metric, ranked, i, j, best) * factor
            if normalize and apart:
                worth /= 0.01 + abs(scores[order[i]] - scores[order[j]])
            high, low = (order[i], order[j]) if ranked[i] > ranked[j] else (order[j], order[i])
            wrong = 1.0 / (1.0 + math.exp(min(scores[high] - scores[low], 700.0)))
            gradient[high] -= worth * wrong
            gradient[low] += worth * wrong
            total += 2.0 * worth * wrong
            for document in (high, low):
                hessian[document] += worth * wrong * (1.0 - wrong)
    size = math.log2(1.0 + total) / total if normalize and total > 0 else 1.0
    return shared(scores, gains, [size * g for g in gradient]), shared(scores, gains, [size * h for h in hessian])


def shared(scores, gains, values):
    """Documents with the same score and gain have the mean of what they have together."""
    alike = [[j for j in range(len(scores)) if (scores[j], gains[j]) == (scores[i], gains[i])] for i in range(len(scores))]
    return [sum(values[j] for j in some) / len(some) for some in alike]


def softmax_loss(scores, mass):
    """Cross-entropy between masses, over their sum, and the softmax of scores: Bruch 2020, equation 5."""
    level = math.log(sum(math.exp(score) for score in scores))
    return sum(m / sum(mass) * (level - score) for m, score in zip(mass, scores, strict=True))


def pair_loss(scores, gains):
    """The mean logistic loss of the pairs in which one document is more relevant: RankNet."""
    pairs = [(i, j) for i in range(len(scores)) for j in range(len(scores)) if gains[i] > gains[j]]
    return sum(math.log1p(math.exp(scores[j] - scores[i])) for i, j in pairs) / len(pairs)
