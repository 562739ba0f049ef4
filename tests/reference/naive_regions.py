"""Slow twins of `woodwind/kernels/neighbours/regions.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def count_hits(hits: Any, rows: Any) -> Floats:
    """Hits of each member on the rows of each region (q, m)."""
    return np.array([[sum(float(hits[row, member]) for row in region) for member in range(hits.shape[1])] for region in rows])


def unbroken_hits(hits: Any, rows: Any) -> Floats:
    """The same up to the first mistake."""
    out = np.zeros((len(rows), hits.shape[1]))
    for q, region in enumerate(rows):
        for member in range(hits.shape[1]):
            for row in region:
                if not hits[row, member]:
                    break
                out[q, member] += 1.0
    return out


def add_votes(votes: Any, weights: Any, n_classes: int) -> Floats:
    """The weights of those who vote for each class (q, K), added in the order of members; twin of `count_votes` too."""
    out = np.zeros((len(votes), n_classes))
    for q, member in np.ndindex(*votes.shape):
        out[q, votes[q, member]] += float(weights[q, member])
    return out


def meta_odds(hits: Any, steps: Any, near: Any, like: Any, shares: Any, weights: dict[str, Any]) -> Floats:
    """Sum of what each fact of META-DES adds, for each query and member; `edges` are those of steps."""
    out = np.full(shares.shape[:2], float(weights["constant"]))
    for q, member in np.ndindex(*out.shape):
        right = [bool(hits[row, member]) for row in near[q]]
        out[q, member] += sum(w for w, hit in zip(weights["hit"], right, strict=True) if hit)
        out[q, member] += sum(w * float(steps[row, member]) for w, row in zip(weights["share"], near[q], strict=True))
        out[q, member] += weights["accuracy"] * float(np.digitize(np.mean(right), weights["edges"]))
        out[q, member] += sum(w for w, row in zip(weights["similar"], like[q], strict=True) if hits[row, member])
        out[q, member] += weights["sure"] * float(np.digitize(shares[q, member].max(), weights["edges"]))
    return out
