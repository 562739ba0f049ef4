"""Values to codes: the summary of a sorted block, merging of summaries, placing of cuts, search, transposition.

The slow twins are in `tests/reference/naive_encode.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.runtime.jit import inner, kernel

# Rows that are searched together: 64 values, their positions and the borders of one feature stay in the first cache.
BLOCK = 64

# Borders per feature: 255 and one place that is never read, so that a feature begins at a multiple of 256.
BORDERS = 256


class EncodeLayout(NamedTuple):
    """Where values stand and where codes go, in elements, not bytes."""

    row_stride: int  # from one row to the next in the values
    column_stride: int  # from one column to the next in the values
    first_row: int  # the row of the codes that row 0 of the values belongs to
    n_rows: int  # rows of the codes: the length of one column of them
    missing: int  # the code of a missing value


# Bits that are sorted by at a time: 2,048 places to write to are what the first cache and its translations allow.
DIGIT = 11

# Bits of a float64 with only the sign: what a number that is not negative has turned, to stand above the negative ones.
SIGN = np.int64(-(2**63))


@inner
def cells_of(values: Any, first: Any, length: Any, shift: Any, wide: Any, out_cells: Any) -> None:
    """The cells of `length` numbers from `first` on: keys in the order of the numbers, without their low bits.

    A negative number has all its bits turned, another only its sign. `wide` is a float64 array to work in.
    """
    bits = wide.view(np.int64)
    for i in range(length):
        # Adding zero turns -0.0 into 0.0: the two are equal and must share a key.
        wide[i] = np.float64(values[first + i]) + 0.0
    for i in range(length):
        out_cells[i] = np.uint64(bits[i] ^ ((bits[i] >> np.int64(63)) | SIGN)) >> shift


@kernel
def summarise(values: Any, shift: Any, out_keys: Any, out_counts: Any) -> int:
    """Distinct cells of sorted `values` and how many are in each; the number of cells is returned.

    values float32[n] or float64[n], none of them missing; out_keys uint64[>= n], out_counts int64[>= n].
    Branch-free: every cell is written with the number of values up to its end, and the place moves on only when the
    next one differs; the counts are then differences.
    """
    n = np.uint64(values.shape[0])
    if n == np.uint64(0):
        return 0
    wide, cells = np.empty(BLOCK, np.float64), np.empty(BLOCK, np.uint64)
    cells_of(values, np.uint64(0), np.uint64(1), shift, wide, cells)
    last, place = cells[0], np.uint64(0)
    for first in range(np.uint64(0), n, np.uint64(BLOCK)):
        length = min(np.uint64(BLOCK), n - first)
        cells_of(values, first, length, shift, wide, cells)
        for i in range(length):
            place += np.uint64(cells[i] != last)
            last = cells[i]
            out_keys[place] = last
            out_counts[place] = np.int64(first + i) + 1
    for k in range(np.int64(place), 0, -1):
        out_counts[k] -= out_counts[k - 1]
    return int(place) + 1


@kernel
def weigh(values: Any, weight: Any, shift: Any, out_keys: Any, out_weight: Any) -> int:
    """Cells and weights of the rows that have both, in the order of the rows; their number is returned."""
    n = np.uint64(values.shape[0])
    wide, cells = np.empty(BLOCK, np.float64), np.empty(BLOCK, np.uint64)
    place = np.uint64(0)
    for first in range(np.uint64(0), n, np.uint64(BLOCK)):
        length = min(np.uint64(BLOCK), n - first)
        cells_of(values, first, length, shift, wide, cells)
        for i in range(length):
            out_keys[place] = cells[i]
            out_weight[place] = weight[first + i]
            place += np.uint64(wide[i] == wide[i] and weight[first + i] > 0)
    return int(place)


@kernel
def sort_pairs(keys: Any, payload: Any, spare_keys: Any, spare_payload: Any) -> bool:
    """Sort `keys` uint64[n] with their `payload` int64[n], digit by digit from the lowest; equal keys keep their order.

    The two pairs of arrays take turns; True when the result is in the spare ones. A digit in which all keys agree,
    such as the high ones of shifted keys, is passed over.
    """
    n = np.uint64(keys.shape[0])
    digits = -(-64 // DIGIT)
    counts = np.zeros((digits, 1 << DIGIT), np.uint64)
    mask = np.uint64((1 << DIGIT) - 1)
    for i in range(n):
        key = keys[i]
        for digit in range(digits):
            counts[digit, (key >> np.uint64(digit * DIGIT)) & mask] += np.uint64(1)
    swapped = False
    for digit in range(digits):
        shift = np.uint64(digit * DIGIT)
        starts = counts[digit]
        if n == np.uint64(0) or starts[(keys[0] >> shift) & mask] == n:
            continue
        total = np.uint64(0)
        for bucket in range(mask + np.uint64(1)):
            held = starts[bucket]
            starts[bucket] = total
            total += held
        for i in range(n):
            bucket = (keys[i] >> shift) & mask
            place = starts[bucket]
            starts[bucket] = place + np.uint64(1)
            spare_keys[place] = keys[i]
            spare_payload[place] = payload[i]
        keys, spare_keys = spare_keys, keys
        payload, spare_payload = spare_payload, payload
        swapped = not swapped
    return swapped


@kernel
def count_distinct(keys: Any, shift: Any) -> int:
    """How many different values sorted `keys` uint64[n] have once `shift` low bits are dropped."""
    n = keys.shape[0]
    if n == 0:
        return 0
    changes = 0
    for i in range(np.uint64(1), np.uint64(n)):
        changes += ((keys[i] ^ keys[i - np.uint64(1)]) >> shift) != np.uint64(0)
    return changes + 1


@kernel
def shrink(keys: Any, counts: Any, shift: Any, out_keys: Any, out_counts: Any) -> int:
    """Drop `shift` low bits of sorted distinct keys and add the counts of those that become equal.

    The outputs may be the inputs: the place written is never ahead of the place read.
    """
    n = keys.shape[0]
    if n == 0:
        return 0
    place = np.uint64(0)
    last = keys[0] >> shift
    total = counts[0]
    for i in range(np.uint64(1), np.uint64(n)):
        key = keys[i] >> shift
        count = counts[i]
        out_keys[place] = last
        out_counts[place] = total
        same = key == last
        place += np.uint64(not same)
        total = count + (total if same else np.int64(0))
        last = key
    out_keys[place] = last
    out_counts[place] = total
    return int(place) + 1


@kernel
def merge_counts(keys_a: Any, counts_a: Any, keys_b: Any, counts_b: Any, out_keys: Any, out_counts: Any) -> int:
    """Merge two lists of sorted distinct keys; equal keys add their counts. Returns the number of keys written.

    Branch-free in the loop: with continuous values either side is as likely to be next, and a wrong guess costs 15 ns.
    """
    n_a, n_b = np.uint64(keys_a.shape[0]), np.uint64(keys_b.shape[0])
    a, b, place = np.uint64(0), np.uint64(0), np.uint64(0)
    while a < n_a and b < n_b:
        key_a, key_b = keys_a[a], keys_b[b]
        from_a, from_b = key_a <= key_b, key_b <= key_a
        out_keys[place] = key_a if from_a else key_b
        out_counts[place] = (counts_a[a] if from_a else np.int64(0)) + (counts_b[b] if from_b else np.int64(0))
        a += np.uint64(from_a)
        b += np.uint64(from_b)
        place += np.uint64(1)
    while a < n_a:
        out_keys[place], out_counts[place] = keys_a[a], counts_a[a]
        a += np.uint64(1)
        place += np.uint64(1)
    while b < n_b:
        out_keys[place], out_counts[place] = keys_b[b], counts_b[b]
        b += np.uint64(1)
        place += np.uint64(1)
    return int(place)


@kernel
def place_cuts(counts: Any, max_bins: int, out_cuts: Any) -> int:
    """Choose at most `max_bins` - 1 cells of `counts` int64[n] after which a bin ends; their number is returned.

    A cell with a whole bin's share of the weight or more is heavy, and a bin of its own wherever there are as many
    other bins as runs of light cells between the heavy ones. The light cells are spread evenly over those other bins,
    and their share is renewed after every bin. Only products of integers are compared, so that counts times a power
    of two give the same cuts. The sum of the counts is below 2**52: three times that times 255 still fits in 63 bits.
    """
    n = counts.shape[0]
    total = np.int64(0)
    for i in range(n):
        total += counts[i]
    # What is left of the light weight, of the bins for it, and of the runs that it comes in.
    rest, bins, runs = total, np.int64(max_bins), np.int64(0)
    was_heavy = True
    for i in range(n):
        heavy = counts[i] * max_bins >= total
        if heavy:
            rest -= counts[i]
            bins -= 1
        elif was_heavy:
            runs += 1
        was_heavy = heavy
    alone = runs <= bins
    n_cuts = 0
    current, used = np.int64(0), np.int64(0)
    for i in range(n - 1):
        if n_cuts == max_bins - 1:
            break
        heavy = counts[i] * max_bins >= total
        next_heavy = counts[i + 1] * max_bins >= total
        current += counts[i]
        used += np.int64(0) if heavy else counts[i]
        if heavy:
            full = True
        elif next_heavy:
            full = bool(alone or (bins > 0 and 2 * current * bins >= rest))
            runs -= 1
        else:
            # Nearer to the even share without the next cell than with it; every later run keeps a bin, and this one.
            full = bool(bins > (runs if alone else 0) and (2 * current + counts[i + 1]) * bins >= 2 * rest)
        if full:
            out_cuts[n_cuts] = i
            n_cuts += 1
            rest -= used
            bins -= 0 if heavy else 1
            current, used = np.int64(0), np.int64(0)
    return n_cuts


@kernel
def encode_numbers(values: Any, layout: Any, wanted: Any, borders: Any, steps: Any, begin: int, end: int, out_codes: Any) -> None:
    """Write the codes of rows begin..end of some columns: the number of borders below the value.

    values    float32 or float64, flat view of the block whose row 0 is row `layout.first_row` of the codes
    wanted    int64[2, k]: column of the values, feature of the codes
    borders   as `values`, flat (F, 256): sorted, padded with +inf, which no value exceeds
    steps     int64[F]: first step of the search, half the smallest power of two above the number of borders
    out_codes uint8, flat (F, n)
    The step is the outer loop and 64 rows the inner one, which then becomes vector loads, compares and adds.
    """
    x = np.zeros(BLOCK, values.dtype)
    position = np.zeros(BLOCK, np.uint32)
    row_stride = np.uint64(layout.row_stride)
    missing = np.uint8(layout.missing)
    for first in range(begin, end, BLOCK):
        length = np.uint64(min(BLOCK, end - first))
        start = np.uint64(first - layout.first_row) * row_stride
        for j in range(wanted.shape[1]):
            source = start + np.uint64(wanted[0, j] * layout.column_stride)
            feature = wanted[1, j]
            for i in range(length):
                x[i] = values[source + i * row_stride]
            for i in range(np.uint64(BLOCK)):
                position[i] = np.uint32(0)
            own = borders[feature * BORDERS : (feature + 1) * BORDERS]
            step = np.uint32(steps[feature])
            while step > np.uint32(0):
                for i in range(np.uint64(BLOCK)):
                    ahead = position[i] + step
                    position[i] = ahead if own[np.uint64(ahead - np.uint32(1))] < x[i] else position[i]
                step >>= np.uint32(1)
            target = np.uint64(feature * layout.n_rows + first)
            for i in range(length):
                out_codes[target + i] = np.uint8(position[i]) if x[i] == x[i] else missing


@kernel
def rows_from_columns(by_column: Any, order: Any, begin: int, end: int, at: int, out_by_row: Any) -> None:
    """Transpose codes: by_column uint8[F, m] from position `at` on to rows begin..end of out_by_row uint8[n, stride], padding zero.

    order int64[F]: the features in the order in which they stand in a row.
    Eight features of 64 rows at a time: each row's eight bytes are one word, which is written once.
    """
    n_features, m = by_column.shape
    stride = np.uint64(out_by_row.shape[1])
    flat, out = by_column.reshape(-1), out_by_row.reshape(-1).view(np.uint64)
    words = np.zeros(BLOCK, np.uint64)
    words_per_row = stride // np.uint64(8)
    for first in range(begin, end, BLOCK):
        length = np.uint64(min(BLOCK, end - first))
        for word in range(words_per_row):
            for i in range(np.uint64(BLOCK)):
                words[i] = np.uint64(0)
            for k in range(min(np.uint64(8), np.uint64(max(n_features - 8 * np.int64(word), 0)))):
                source = np.uint64(order[word * np.uint64(8) + k]) * np.uint64(m) + np.uint64(at + first - begin)
                shift = np.uint64(8) * k
                for i in range(length):
                    words[i] |= np.uint64(flat[source + i]) << shift
            for i in range(length):
                out[(np.uint64(first) + i) * words_per_row + word] = words[i]
