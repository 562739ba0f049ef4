"""The rows of a node in the order of a feature.

Small nodes live in an arena: the rows of one subtree, numbered from 0, each feature of which is sorted once, when it is first asked for.
A node below has some of these rows, and their order comes from bits: set the bit of every row's rank, then read the bits from the
lowest to the highest. That takes 3 ns a row, where sorting takes 10; two levels of words skip what is empty.
Large nodes are summed into bins instead.
"""

from typing import Any

import numpy as np

from woodwind.kernels.bits import lowest_bit
from woodwind.kernels.grove_layout import (
    A_CODE,
    A_PAIR,
    A_RAW,
    C_ARENA,
    C_FIRST,
    C_LAST,
    CELLS,
    COARSE,
    COARSE_MISSING,
    CONTROL,
    CURVE,
    DIGITS,
    FETCHED,
    FINE,
    ITEMS,
    KEYS,
    LINE,
    LOW_HALF,
    MISSING_CODE,
    MOMENTS,
    ORDER,
    PAIR,
    PLACES,
    R_CRITERION,
    R_MOST,
    R_N_CLASSES,
    R_N_FEATURES,
    R_ROOM,
    R_STRIDE,
    RANK,
    RAW,
    RAW_ROWS,
    READY,
    ROWS,
    SUMMARY,
    WORDS,
)
from woodwind.kernels.intrinsics import bytes_in, floats, int_list, ints, row_list, word_list
from woodwind.kernels.jit import inlined, inner

U = np.uint64
S6, S32, LOW6 = np.uint64(6), np.uint64(32), np.uint64(63)
ONE = np.uint64(1)

# Keys of so many bits are sorted by one digit.
ONE_DIGIT = 8
# So few rows are sorted by insertion.
FEW = 8


@inner
def open_arena(growing: Any, begin: Any, end: Any) -> None:
    """Begin an arena with the rows of a node."""
    control = int_list(growing, CONTROL)
    control[C_ARENA] += 1
    control[C_FIRST] = begin
    control[C_LAST] = end
    rows = row_list(growing, ROWS)
    places = row_list(growing, PLACES)
    pair = int_list(growing, PAIR)
    a_pair = int_list(growing, A_PAIR)
    for i in range(U(end - begin)):
        row = U(rows[U(begin) + i])
        places[U(begin) + i] = i
        a_pair[i + i] = pair[row + row]
        a_pair[i + i + ONE] = pair[row + row + ONE]


@inlined
def fetch(growing: Any, feature: Any, source: Any, out: Any) -> None:
    """Copy what the arena's rows have in `source`, for the features that share a line of the cache, into columns; unless that was done."""
    control = int_list(growing, CONTROL)
    fetched = int_list(growing, FETCHED)
    group = feature // LINE
    if fetched[group] == control[C_ARENA]:
        return
    fetched[group] = control[C_ARENA]
    first = U(control[C_FIRST])
    rows = row_list(growing, ROWS)
    room = U(growing[R_ROOM])
    stride = U(growing[R_STRIDE])
    begin = U(group * LINE)
    width = min(begin + U(LINE), U(growing[R_N_FEATURES])) - begin
    for i in range(U(control[C_LAST]) - first):
        line = U(rows[first + i]) * stride + begin
        for k in range(width):
            out[(begin + k) * room + i] = source[line + k]


@inner
def spread(keys: Any, out: Any, size: Any, shift: Any, counts: Any, mask: Any) -> None:
    """Sort keys by some of their bits, keys equal in these in their order; counts: how many keys have each value of the bits."""
    total = np.int64(0)
    for d in range(mask + U(1)):
        count = counts[d]
        counts[d] = total
        total += count
    for i in range(size):
        d = (U(keys[i]) >> shift) & mask
        out[U(counts[d])] = keys[i]
        counts[d] += 1


@inlined
def put_in_order(growing: Any, feature: Any) -> None:
    """Sort the rows of the arena by a feature, unless that was done already."""
    control = int_list(growing, CONTROL)
    ready = int_list(growing, READY)
    if ready[feature] == control[C_ARENA]:
        return
    ready[feature] = control[C_ARENA]
    fetch(growing, feature, row_list(growing, FINE), row_list(growing, A_CODE))
    size = U(control[C_LAST] - control[C_FIRST])
    codes = row_list(growing, A_CODE)
    start = U(feature * growing[R_ROOM])
    rank = row_list(growing, RANK)
    order = ints(growing, ORDER)[feature]
    keys = ints(growing, KEYS)[0]
    low = np.int32(MISSING_CODE)
    high = np.int32(-1)
    for i in range(size):
        code = codes[start + i]
        low = min(low, code)
        high = max(high, code if code != MISSING_CODE else np.int32(-1))
    top = max(np.int64(high) - np.int64(low), np.int64(0)) + 1  # of missing values
    bits = np.int64(0)
    while top >> bits > 0:
        bits += 1
    half = bits if bits <= ONE_DIGIT else (bits + 1) // 2
    mask = U((np.int64(1) << half) - 1)
    other_mask = U((np.int64(1) << (bits - half)) - 1)
    counts = int_list(growing, DIGITS)[: 1 << 16]
    others = int_list(growing, DIGITS)[1 << 16 :]
    for d in range(mask + U(1)):
        counts[d] = 0
    for d in range(other_mask + U(1)):
        others[d] = 0
    for i in range(size):
        code = min(np.int64(codes[start + i]) - np.int64(low), top)
        keys[i] = (code << 32) + np.int64(i)
        counts[U(code) & mask] += 1
        others[U(code) >> U(half)] += 1
    if bits == half:
        spread(keys, order, size, S32, counts, mask)
    else:
        spread(keys, ints(growing, KEYS)[1], size, S32, counts, mask)
        spread(ints(growing, KEYS)[1], order, size, S32 + U(half), others, other_mask)
    lift = np.int64(low) << 32
    for i in range(size):
        key = order[i]
        rank[start + U(key & LOW_HALF)] = i
        order[i] = key + lift if key >> 32 < top else (np.int64(MISSING_CODE) << 32) + (key & LOW_HALF)


@inlined
def sort_few(ranks: Any, size: Any) -> None:
    """Insertion."""
    for j in range(1, size):
        moved = ranks[j]
        i = j
        while i > 0 and ranks[i - 1] > moved:
            ranks[i] = ranks[i - 1]
            i -= 1
        ranks[i] = moved


@inlined
def set_bits(growing: Any, start: Any, begin: Any, end: Any) -> Any:
    """Set a bit for the rank of every place begin..end, and a bit for each word that has one; returns how many summaries there are."""
    control = int_list(growing, CONTROL)
    words = word_list(growing, WORDS)
    summary = word_list(growing, SUMMARY)
    rank = row_list(growing, RANK)
    places = row_list(growing, PLACES)
    for j in range(U(begin), U(end)):
        r = U(rank[start + U(places[j])])
        words[r >> S6] |= ONE << (r & LOW6)
    n_words = U(control[C_LAST] - control[C_FIRST] + 63) >> S6
    for s in range((n_words + LOW6) >> S6):
        some = U(0)
        for w in range(min(n_words - (s << S6), U(64))):
            some |= U(words[(s << S6) + w] != U(0)) << w
        summary[s] = some
    return (n_words + LOW6) >> S6


@inlined
def gather_sorted(growing: Any, feature: Any, begin: Any, end: Any) -> Any:
    """Rows of a node in an arena as items, in the order of a feature; returns how many."""
    put_in_order(growing, feature)
    control = int_list(growing, CONTROL)
    order = ints(growing, ORDER)[feature]
    start = U(feature * growing[R_ROOM])
    a_pair = int_list(growing, A_PAIR)
    items = int_list(growing, ITEMS)
    sums = U(growing[R_MOST])
    boths = sums + sums
    size = end - begin
    if size > FEW and size < control[C_LAST] - control[C_FIRST]:
        words = word_list(growing, WORDS)
        summary = word_list(growing, SUMMARY)
        found = U(0)
        for s in range(set_bits(growing, start, begin, end)):
            some = summary[s]
            while some != U(0):
                w = (s << S6) + U(lowest_bit(some))
                some &= some - ONE
                word = words[w]
                words[w] = U(0)
                while word != U(0):
                    pair = order[(w << S6) + U(lowest_bit(word))]
                    word &= word - ONE
                    place = U(pair & LOW_HALF)
                    items[found] = pair >> 32
                    items[sums + found] = a_pair[place + place]
                    items[boths + found] = a_pair[place + place + ONE]
                    found += ONE
        return size
    rank = row_list(growing, RANK)
    places = row_list(growing, PLACES)
    if size <= FEW:
        for j in range(size):
            items[j] = rank[start + U(places[begin + j])]
        sort_few(items, size)
    else:
        for j in range(size):
            items[j] = j
    for j in range(U(size)):
        pair = order[U(items[j])]
        place = U(pair & LOW_HALF)
        items[j] = pair >> 32
        items[sums + j] = a_pair[place + place]
        items[boths + j] = a_pair[place + place + ONE]
    return size


@inner
def fill_cells(growing: Any, feature: Any, begin: Any, end: Any) -> None:
    """Sum the rows of a node into the cells of bins or levels: (sum, both), or both for each class."""
    control = int_list(growing, CONTROL)
    cells = int_list(growing, CELLS)
    rows = row_list(growing, ROWS)
    places = row_list(growing, PLACES)
    codes = bytes_in(growing, COARSE)[feature]
    pair = int_list(growing, PAIR)
    inside = end <= control[C_LAST] and begin >= control[C_FIRST]
    width = U(max(growing[R_N_CLASSES], 2))
    first = U(control[C_FIRST])
    moments = growing[R_CRITERION] == MOMENTS
    for j in range(U(256) * width):
        cells[j] = 0
    for j in range(U(begin), U(end)):
        row = U(rows[j])
        if inside:
            row = U(rows[first + U(places[j])])
        cell = U(codes[row]) * width
        if moments:
            cells[cell] += pair[row + row]
            cells[cell + ONE] += pair[row + row + ONE]
        else:
            cells[cell + U(pair[row + row])] += pair[row + row + ONE]


@inner
def gather_bins(growing: Any, feature: Any, begin: Any, end: Any) -> Any:
    """Rows of a large node as items, one for each bin (and class), in order; returns how many."""
    fill_cells(growing, feature, begin, end)
    cells = int_list(growing, CELLS)
    codes = int_list(growing, ITEMS)[: growing[R_MOST]]
    sums = int_list(growing, ITEMS)[growing[R_MOST] : 2 * growing[R_MOST]]
    boths = int_list(growing, ITEMS)[2 * growing[R_MOST] :]
    width = U(max(growing[R_N_CLASSES], 2))
    moments = growing[R_CRITERION] == MOMENTS
    found = U(0)
    for code in range(U(256)):
        name = np.int64(MISSING_CODE) if code == U(COARSE_MISSING) else np.int64(code)
        cell = code * width
        if moments:
            codes[found] = name
            sums[found] = cells[cell]
            boths[found] = cells[cell + ONE]
            found += U(cells[cell + ONE] > 0)
        else:
            for k in range(width):
                codes[found] = name
                sums[found] = np.int64(k)
                boths[found] = cells[cell + k]
                found += U(cells[cell + k] > 0)
    return np.int64(found)


@inner
def gather_numbers(growing: Any, feature: Any, begin: Any, end: Any) -> None:
    """Only the numbers of the rows of a node, in the order in which the rows stand, to CURVE[0]."""
    control = int_list(growing, CONTROL)
    numbers = floats(growing, CURVE)[0]
    if not (end <= control[C_LAST] and begin >= control[C_FIRST]):
        rows = row_list(growing, ROWS)
        raw = floats(growing, RAW)[feature]
        for j in range(U(end - begin)):
            numbers[j] = raw[U(rows[U(begin) + j])]
        return
    own = floats(growing, A_RAW)[0]
    fetch(growing, feature, floats(growing, RAW_ROWS)[0], own)
    start = U(feature * growing[R_ROOM])
    places = row_list(growing, PLACES)
    for j in range(U(end - begin)):
        numbers[j] = own[start + U(places[U(begin) + j])]
