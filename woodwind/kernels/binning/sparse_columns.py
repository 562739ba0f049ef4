"""Columns of stored cells to the borders of their bins, and to codes; a cell that is not stored costs nothing.

`stored` is always (starts, at, values): the cells of line k are starts[k] to starts[k + 1], `at` is where in its line each stands,
ascending. The twins are the kernels for whole tables: `tests/data/binning/test_sparse_codes.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.binning.encode import SIGN, place_cuts, sort_pairs
from woodwind.kernels.runtime.jit import inner, kernel

# A list of no more cells is sorted by putting one after another where it belongs: tables for the digits of a few keys cost more.
FEW_CELLS = 48


@inner
def gather_keys(stored: Any, column: Any, weight: Any, absent: Any, keys: Any, counts: Any) -> Any:
    """Keys and weights of the numbers of one column, what is absent first; how many.

    absent = (weight of all rows, or 0 where absent cells are missing values; key of an absent cell).
    """
    starts, at, values = stored
    whole, absent_key = absent
    wide = np.empty(1, np.float64)
    bits = wide.view(np.int64)
    n = np.int64(1)
    rest = whole
    for i in range(starts[column], starts[column + 1]):
        one = np.int64(1) if weight is None else weight[at[i]]
        rest -= one
        wide[0] = np.float64(values[i]) + 0.0  # -0.0 becomes 0.0
        keys[n] = np.uint64(bits[0] ^ ((bits[0] >> np.int64(63)) | SIGN))
        counts[n] = one
        n += np.int64(wide[0] == wide[0] and one > 0)
    if rest <= 0:
        for i in range(1, n):
            keys[i - 1], counts[i - 1] = keys[i], counts[i]
        return n - 1
    keys[0], counts[0] = absent_key, rest
    return n


@inner
def sort_few(keys: Any, counts: Any, n: Any) -> None:
    """Sort a few keys with their counts."""
    for i in range(1, n):
        key, count = keys[i], counts[i]
        k = i
        while k > 0 and keys[k - 1] > key:
            keys[k], counts[k] = keys[k - 1], counts[k - 1]
            k -= 1
        keys[k], counts[k] = key, count


@inner
def are_sorted(keys: Any, n: Any) -> Any:
    """Whether keys ascend already, as those of a column of ones do."""
    for i in range(1, n):
        if keys[i] < keys[i - 1]:
            return False
    return True


@inner
def join_equal(keys: Any, counts: Any, n: Any) -> Any:
    """Add up the counts of equal keys of a sorted list, in its own memory; how many keys are left."""
    if n == 0:
        return 0
    last = 0
    for i in range(1, n):
        if keys[i] == keys[last]:
            counts[last] += counts[i]
        else:
            last += 1
            keys[last], counts[last] = keys[i], counts[i]
    return last + 1


@kernel
def border_keys(stored: Any, columns: Any, weight: Any, absent: Any, max_bins: int, out: Any) -> None:
    """The keys on both sides of every border of columns columns[0]..columns[1]; each has fewer cells than a summary may have.

    out = (below uint64[m], above uint64[m], sizes int64[F]): the borders of column f begin at starts[f] - starts[columns[0]], and there
    are sizes[f] of them, fewer than max_bins. weight int64[n] or None; absent as in `gather_keys`.
    """
    starts = stored[0]
    below, above, sizes = out
    most = np.int64(0)
    for f in range(columns[0], columns[1]):
        most = max(most, starts[f + 1] - starts[f] + 1)
    keys, counts = np.empty(most, np.uint64), np.empty(most, np.int64)
    spare_keys, spare_counts = np.empty(most, np.uint64), np.empty(most, np.int64)
    cuts = np.empty(max_bins, np.int64)
    for f in range(columns[0], columns[1]):
        n = gather_keys(stored, f, weight, absent, keys, counts)
        if n > FEW_CELLS and not are_sorted(keys, n):
            if sort_pairs(keys[:n], counts[:n], spare_keys[:n], spare_counts[:n]):
                keys, spare_keys = spare_keys, keys
                counts, spare_counts = spare_counts, counts
        elif n <= FEW_CELLS:
            sort_few(keys, counts, n)
        n = join_equal(keys, counts, n)
        n_cuts = max(n - 1, 0)
        if n > max_bins:
            n_cuts = place_cuts(counts[:n], max_bins, cuts)
        first = starts[f] - starts[columns[0]]
        for i in range(n_cuts):
            cut = cuts[i] if n > max_bins else i
            below[first + i], above[first + i] = keys[cut], keys[cut + 1]
        sizes[f] = n_cuts


@inner
def code_of(value: Any, edges: Any, first: Any, past: Any) -> Any:
    """How many of the sorted edges[first:past] are below a value."""
    low, high = first, past
    while low < high:
        middle = (low + high) >> 1
        if edges[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low - first


@kernel
def encode_stored(
    stored: Any, columns: Any, edges: Any, edges_at: Any, missing: int, absent: Any, out_codes: Any, out_uncommon: Any
) -> None:
    """Codes of the stored cells of columns columns[0]..columns[1], and how many of each are not that of an absent cell.

    edges float64: those of column f are edges_at[f] to edges_at[f + 1]; absent uint8[F]; out_codes uint8[m]; out_uncommon int64[F].
    """
    starts, _at, values = stored
    for f in range(columns[0], columns[1]):
        uncommon = np.int64(0)
        for i in range(starts[f], starts[f + 1]):
            value = np.float64(values[i])
            code = np.uint8(code_of(value, edges, edges_at[f], edges_at[f + 1]) if value == value else missing)
            out_codes[i] = code
            uncommon += np.int64(code != absent[f])
        out_uncommon[f] = uncommon
