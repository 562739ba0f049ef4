"""What members did on the rows of a region, and what those that were chosen say: one query after another, so that nothing but the result
is written.

Hits are bytes, one for each member of a row: a neighbour is a hundred bytes that lie together. Twins: `tests/reference/naive_regions.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inner, kernel

# Classes up to which votes are gone through once for every two of them.
MOST_IN_REGISTERS = 4


@kernel
def count_hits(hits: Any, rows: Any, out: Any) -> None:
    """How many rows of its region each member gets right. hits uint8[r, m]; rows int64[q, k]; out float64[q, m]."""
    counts = np.empty(hits.shape[1], np.int32)
    for q in range(rows.shape[0]):
        counts[:] = 0
        for j in range(rows.shape[1]):
            hit = hits[rows[q, j]]
            for i in range(counts.shape[0]):
                counts[i] += np.int32(hit[i])
        predicted = out[q]
        for i in range(counts.shape[0]):
            predicted[i] = counts[i]


@kernel
def unbroken_hits(hits: Any, rows: Any, out: Any) -> None:
    """How many rows each member gets right before its first mistake.

    hits uint8[r, m]; rows int64[q, k], nearest first; out float64[q, m].
    """
    counts, alive = np.empty(hits.shape[1], np.int32), np.empty(hits.shape[1], np.int32)
    for q in range(rows.shape[0]):
        counts[:] = 0
        alive[:] = 1
        for j in range(rows.shape[1]):
            hit = hits[rows[q, j]]
            for i in range(counts.shape[0]):
                alive[i] &= np.int32(hit[i])
                counts[i] += alive[i]
        predicted = out[q]
        for i in range(counts.shape[0]):
            predicted[i] = counts[i]


@kernel
def count_votes(votes: Any, chosen: Any, out: Any) -> None:
    """How many of the chosen members vote for each class. votes integers[q, m]; chosen bool[q, m]; out float64[q, K].

    A pass over the members for each class, because that is one of vectors.
    """
    for q in range(votes.shape[0]):
        vote, asked = votes[q], chosen[q]
        for label in range(out.shape[1]):
            count = np.int32(0)
            for i in range(vote.shape[0]):
                count += np.int32(vote[i] == label) & np.int32(asked[i])
            out[q, label] = count


@kernel
def add_votes(votes: Any, weights: Any, out: Any) -> None:
    """The weights of the members that vote for each class, in the order of the members.

    votes integers[q, m]; weights of any kind [q, m]; out float64[q, K]. Of few classes two sums at a time stay in registers: one that is
    written and read again for every member takes three times as long.
    """
    n_classes = out.shape[1]
    for q in range(votes.shape[0]):
        vote, weight, total = votes[q], weights[q], out[q]
        if n_classes > MOST_IN_REGISTERS:
            total[:] = 0.0
            for i in range(vote.shape[0]):
                total[vote[i]] += weight[i]
            continue
        for label in range(0, n_classes, 2):
            one = other = 0.0
            for i in range(vote.shape[0]):
                predicted, counts = vote[i], np.float64(weight[i])  # read in any case: what cannot be foreseen must not be a branch
                one += counts if predicted == label else 0.0
                other += counts if predicted == label + 1 else 0.0
            total[label] = one
            if label + 1 < n_classes:
                total[label + 1] = other


@inner
def step_of(value: Any, edges: Any) -> int:
    """How many of the edges, which are about equally far from each other, are at or below a value."""
    last = edges.shape[0]
    step = min(max(int(value * last), 0), last)
    while step < last and value >= edges[step]:
        step += 1
    while step > 0 and value < edges[step - 1]:
        step -= 1
    return step


@kernel
def meta_odds(codes: Any, near: Any, like: Any, shares: Any, places: Any, accuracy: Any, sure: Any, out: Any) -> None:
    """Logarithms of the odds that members are right, by what META-DES knows of them.

    codes uint8[r, m]: 16 for a hit, plus the step of the share of the true class; near int64[q, k]; like int64[q, p];
    shares float64[q, m, K]. places float64[k + p, 2]: what a hit on the j-th row adds, and what each step of the share adds there.
    accuracy float64[k + 1]: what so many hits on the near rows add, with the constant. sure float64[2, s + 1]: the s edges of the steps of
    sureness, and anything; and what 0 .. s steps add. out float64[q, m].
    """
    k, n_members = near.shape[1], codes.shape[1]
    counts = np.empty(n_members, np.int32)
    edges = sure[0, : sure.shape[1] - 1]
    for q in range(near.shape[0]):
        odds, predicted = out[q], shares[q]
        counts[:] = 0
        odds[:] = 0.0
        for j in range(k + like.shape[1]):
            code = codes[near[q, j]] if j < k else codes[like[q, j - k]]
            of_hit, of_step = places[j, 0], places[j, 1]
            counted = np.int32(1 if j < k else 0)
            for i in range(n_members):
                hit = np.int32(code[i]) >> np.int32(4)
                counts[i] += hit * counted
                odds[i] += of_hit * hit + of_step * (np.int32(code[i]) & np.int32(15))
        for i in range(n_members):
            largest = predicted[i, 0]
            for c in range(1, predicted.shape[1]):
                largest = max(largest, predicted[i, c])
            odds[i] += accuracy[counts[i]] + sure[1, step_of(largest, edges)]
