"""Stumps of weighted classes on codes: sums of all features in one pass, the best cut, and new weights.

A cell sums the weights of the rows of one class with one code: int64, so that sums are exact and in any order the same. Weights are
integers of a fixed scale (`SCALE` of `woodwind/tree/stump.py`) and add up to 2**61 or so: nothing overflows.

Eight codes are read as one word, for each position of words over a block of rows: the tables that it touches, 16 kB for each
class, stay in the first-level cache.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP

U = np.uint64
BLOCK_ROWS = 2048  # of a pass: their weights and classes, 24 kB, are read again for every position of words


class Vote(NamedTuple):
    """A stump and what becomes of the weights of its rows."""

    place: Any  # of the feature's code in a word
    bin: int  # left when code <= bin
    missing_code: int
    missing_left: int  # 1: missing values go left
    left: int  # class that the left side votes for
    right: int
    if_right: float  # factor of rows whose vote is right
    if_wrong: float
    least: float  # a weight never falls below it
    scale: float  # of the integers


@kernel
def class_sums(words: Any, weight: Any, label: Any, width: Any, begin: Any, end: Any, out: Any) -> None:
    """Add the weights of rows begin to end to the cells of their codes.

    words uint64[W, n]: eight codes of a row each; weight int64[n]; label int32[n]; width: cells of a class, the number of codes.
    out int64[W * 8 * K * width]: features, classes, codes.
    """
    byte = U(255)
    n_words = words.shape[0]
    table = U(len(out) // (n_words * 8))
    for first in range(begin, end, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, end)
        for w in range(n_words):
            at = U(w * 8) * table
            row_words = words[w]
            for i in range(U(first), U(last)):
                word = row_words[i]
                value = weight[i]
                cell = at + U(label[i]) * U(width)
                out[cell + (word & byte)] += value
                cell += table
                out[cell + ((word >> U(8)) & byte)] += value
                cell += table
                out[cell + ((word >> U(16)) & byte)] += value
                cell += table
                out[cell + ((word >> U(24)) & byte)] += value
                cell += table
                out[cell + ((word >> U(32)) & byte)] += value
                cell += table
                out[cell + ((word >> U(40)) & byte)] += value
                cell += table
                out[cell + ((word >> U(48)) & byte)] += value
                cell += table
                out[cell + (word >> U(56))] += value


@kernel
def best_stump(sums: Any, n_bins: Any, out_found: Any, out_left: Any) -> Any:
    """The cut whose two sides are purest by the Gini index; its score is returned, minus infinity where there is none.

    sums int64[F, K, width], the last code of a feature for missing values; n_bins int32[F].
    out_found int64[3]: feature, or -1; the last bin that goes left; where missing values go. out_left int64[K]: weights of the left side.
    Of equal cuts the lowest feature, then missing values on the right, then the lowest bin is taken.
    """
    n_features, n_classes, width = sums.shape
    best = -np.inf
    out_found[0] = -1
    total = np.empty(n_classes, np.int64)
    side = np.empty(n_classes, np.int64)
    for f in range(n_features):
        missing = np.int64(0)
        every = np.int64(0)
        for k in range(n_classes):
            total[k] = 0
            for code in range(width):
                total[k] += sums[f, k, code]
            every += total[k]
            missing += sums[f, k, width - 1]
        for way in range(2 if missing > 0 else 1):
            left = np.int64(0)
            for k in range(n_classes):
                side[k] = sums[f, k, width - 1] if way == 1 else 0
                left += side[k]
            # Behind the last bin, numbers are parted from missing values.
            for code in range(n_bins[f] if missing > 0 and way == 0 else n_bins[f] - 1):
                for k in range(n_classes):
                    side[k] += sums[f, k, code]
                    left += sums[f, k, code]
                if left == 0 or left == every:
                    continue
                below = 0.0
                above = 0.0
                for k in range(n_classes):
                    below += np.float64(side[k]) * np.float64(side[k])
                    above += np.float64(total[k] - side[k]) * np.float64(total[k] - side[k])
                score = below / np.float64(left) + above / np.float64(every - left)
                if score > best:
                    best = score
                    out_found[0] = f
                    out_found[1] = code
                    out_found[2] = STOP if missing == 0 else (LEFT if way == 1 else RIGHT)
                    for k in range(n_classes):
                        out_left[k] = side[k]
    return best


@kernel
def reweigh(words: Any, label: Any, count: Any, vote: Any, begin: Any, end: Any, weight: Any, out: Any) -> None:
    """Give rows begin to end new weights, by whether the stump is right about them, and those times `count` as integers.

    words uint64[n]: eight codes of each row, that of the stump's feature among them; label int32[n]; count int64[n], or None for one
    each; vote: `Vote`.
    weight float64[n] is changed in place; out int64[n].
    """
    shift = np.uint64(8 * vote.place)
    for i in range(begin, end):
        code = np.int64((words[i] >> shift) & np.uint64(255))
        goes_left = vote.missing_left == 1 if code == vote.missing_code else code <= vote.bin
        predicted = vote.left if goes_left else vote.right
        # Weights add up to one; that of a row which counts for none could grow beyond.
        value = min(max(weight[i] * (vote.if_right if predicted == label[i] else vote.if_wrong), vote.least), 1.0)
        weight[i] = value
        whole = np.int64(value * vote.scale + 0.5)
        if count is not None:
            whole *= count[i]
        out[i] = whole
