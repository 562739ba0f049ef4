"""What a bag of members would score with one more of each: log loss, accuracy, area under the ROC curve.

A bag is the sum of what its members say, `total`; a candidate adds one more vector to it. Each candidate is scored by one thread over all
rows in their order, so that sums do not depend on the number of threads. Rows are worked on in blocks: the total of a block stays in the
first-level cache while all candidates of the thread pass over it. Twins: `tests/reference/naive_greedy.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.losses.exponential import log
from woodwind.kernels.runtime.jit import inner, kernel

LANES = 256
# So many numbers are multiplied before one logarithm is taken of the product: the smallest product, of numbers of 2.2e-16, is 3e-251,
# and the largest, of bags of a million, 1e96. Half a nanosecond for a number, where a logarithm takes four.
FACTORS = 16
BLOCK = LANES * FACTORS

# Keys are sorted by digits of 16 bits.
DIGIT_BITS = 16
N_DIGITS = 1 << DIGIT_BITS
# Buckets that sums are counted in, where bounds will do: their two counts, 256 kB, stay in the second-level cache.
N_BUCKETS = 1 << 14

U = np.uint64


@inner
def multiply(total: Any, vector: Any, floor: Any, out: Any) -> None:
    """out[i] *= max(total[i] + vector[i], floor)."""
    for i in range(total.shape[0]):
        x = total[i] + vector[i]
        x = floor if x < floor else x
        out[i] *= x


@inner
def add_logs(total: Any, vector: Any, weight: Any, floor: Any, out: Any) -> None:
    """out[i] += weight[i] log(max(total[i] + vector[i], floor))."""
    for i in range(total.shape[0]):
        x = total[i] + vector[i]
        x = floor if x < floor else x
        out[i] += weight[i] * log(x)


@inner
def log_lanes(lanes: Any) -> None:
    """The logarithm of each."""
    for i in range(lanes.shape[0]):
        lanes[i] = log(lanes[i])


@inner
def sum_of_lanes(lanes: Any) -> Any:
    """Their sum."""
    part = 0.0
    for i in range(lanes.shape[0]):
        part += lanes[i]
    return part


@inner
def log_block(total: Any, vector: Any, weight: Any, floor: Any, lanes: Any) -> Any:
    """The sum of weight * log(max(total + vector, floor)) over at most BLOCK rows; weights ascend, and where all are the same, logarithms
    are taken of products.
    """
    n = total.shape[0]
    same = weight is None or weight[0] == weight[n - 1]
    for i in range(LANES):
        lanes[i] = 1.0 if same else 0.0
    for low in range(0, n, LANES):
        high = min(low + LANES, n)
        if same:
            multiply(total[low:high], vector[low:high], floor, lanes[: high - low])
        elif weight is not None:
            add_logs(total[low:high], vector[low:high], weight[low:high], floor, lanes[: high - low])
    if same:
        log_lanes(lanes)
    part = sum_of_lanes(lanes)
    if weight is not None and same:
        part *= weight[0]
    return part


@kernel
def log_sums(vectors: Any, members: Any, total: Any, weight: Any, floor: float, begin: int, end: int, out: Any) -> None:
    """out[c] = sum over rows of weight * log(max(total + vector of member c, floor)), for begin <= c < end.

    vectors float64[m, n]; members int64[C]; total float64[n]; weight float64[n], ascending, or None for one each; out float64[C].
    """
    n = vectors.shape[1]
    lanes = np.empty(LANES)
    for c in range(begin, end):
        out[c] = 0.0
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        heavy = None if weight is None else weight[first:last]
        for c in range(begin, end):
            out[c] += log_block(total[first:last], vectors[members[c], first:last], heavy, floor, lanes)


@inner
def strike(own: Any, own_total: Any, other: Any, other_total: Any, truth: Any, slot: Any, out: Any) -> None:
    """out[i] becomes 0 where another class has more than the true one, or as much and comes first."""
    for i in range(own.shape[0]):
        mine = own_total[i] + own[i]
        theirs = other_total[i] + other[i]
        ahead = mine > theirs or (mine == theirs and truth[i] <= slot)
        out[i] = out[i] if ahead else 0.0


@kernel
def hit_sums(vectors: Any, members: Any, total: Any, truth: Any, weight: Any, begin: int, end: int, out: Any) -> None:
    """out[c] = weight of the rows in which total + vector of member c is largest for the true class; of equals the first class counts.

    vectors float64[m, K, n] and total float64[K, n]: first what the true class of each row has, then the others in their order, so that
    slot s > 0 is class s - 1 before the true one and class s behind it. members int64[C]; truth int64[n]; weight float64[n], None for one
    each; out float64[C].
    """
    n_classes, n = total.shape
    hits = np.empty(LANES)
    for c in range(begin, end):
        out[c] = 0.0
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        lanes = hits[: last - first]
        for c in range(begin, end):
            for i in range(last - first):
                lanes[i] = 1.0 if weight is None else weight[first + i]
            vector = vectors[members[c]]
            for slot in range(1, n_classes):
                strike(
                    vector[0, first:last], total[0, first:last], vector[slot, first:last], total[slot, first:last], truth[first:last],
                    slot - 1, lanes,
                )  # fmt: skip
            out[c] += sum_of_lanes(lanes)


@kernel
def pair_bounds(vectors: Any, members: Any, total: Any, gain: Any, scale: float, begin: int, end: int, out: Any) -> None:
    """Between which numbers the weight of the pairs is that total + vector of member c puts in order, from counts in buckets.

    vectors float64[m, n] and total float64[n], not negative; members int64[C]; gain float64[2, n]: weight of a row as a negative, and as a
    positive one, one of them zero; scale: buckets for a unit of the sum, out of N_BUCKETS. out float64[2, C]: all pairs of different
    buckets, and those of the same bucket as well.
    """
    n = total.shape[0]
    count = np.empty((N_BUCKETS, 2))
    for c in range(begin, end):
        for d in range(N_BUCKETS):
            count[d, 0] = 0.0
            count[d, 1] = 0.0
        vector = vectors[members[c]]
        for i in range(n):
            bucket = U((total[i] + vector[i]) * scale)
            bucket = bucket if bucket < U(N_BUCKETS - 1) else U(N_BUCKETS - 1)
            count[bucket, 0] += gain[0, i]
            count[bucket, 1] += gain[1, i]
        below = 0.0
        apart = 0.0
        together = 0.0
        for d in range(N_BUCKETS):
            apart += count[d, 1] * below
            together += count[d, 1] * count[d, 0]
            below += count[d, 0]
        out[0, c] = apart
        out[1, c] = apart + together


@inner
def sort_by_digit(key: Any, place: Any, shift: Any, count: Any, out_key: Any, out_place: Any) -> None:
    """Order keys uint64[n], and the places int32[n] that come with them, by the digit at a shift; equals keep their order."""
    for d in range(N_DIGITS):
        count[d] = 0
    for i in range(key.shape[0]):
        count[(key[i] >> shift) & U(N_DIGITS - 1)] += 1
    at = 0
    for d in range(N_DIGITS):
        size = count[d]
        count[d] = at
        at += size
    for i in range(key.shape[0]):
        d = (key[i] >> shift) & U(N_DIGITS - 1)
        out_key[count[d]] = key[i]
        out_place[count[d]] = place[i]
        count[d] += 1


@kernel
def pair_sums(vectors: Any, members: Any, total: Any, gain: Any, begin: int, end: int, out: Any) -> None:
    """out[c] = weight of the pairs of a positive and a negative row that total + vector of member c puts in order; equals count half.

    As `pair_bounds`, but exact: sums are sorted by their bits, which for floats that are not negative are in the order of the floats.
    out float64[C].
    """
    n = total.shape[0]
    key, spare_key = np.empty(n, np.uint64), np.empty(n, np.uint64)
    place, spare_place = np.empty(n, np.int32), np.empty(n, np.int32)
    count = np.empty(N_DIGITS, np.int64)
    for c in range(begin, end):
        vector = vectors[members[c]]
        for i in range(n):
            key[i] = np.float64(total[i] + vector[i] + 0.0).view(np.uint64)
            place[i] = i
        sort_by_digit(key, place, U(0), count, spare_key, spare_place)
        sort_by_digit(spare_key, spare_place, U(DIGIT_BITS), count, key, place)
        sort_by_digit(key, place, U(2 * DIGIT_BITS), count, spare_key, spare_place)
        sort_by_digit(spare_key, spare_place, U(3 * DIGIT_BITS), count, key, place)
        below = 0.0  # negative rows of smaller sums
        pairs = 0.0
        i = 0
        while i < n:
            level = key[i]
            up = 0.0
            down = 0.0
            while i < n and key[i] == level:
                down += gain[0, place[i]]
                up += gain[1, place[i]]
                i += 1
            pairs += up * (below + 0.5 * down)
            below += down
        out[c] = pairs
