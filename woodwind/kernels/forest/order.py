"""The rows of a node as items, in the order of a feature.

Small nodes live in an arena: the rows of one subtree, numbered from 0, whose codes are copied side by side when they are first asked for.
There rows are sorted; large nodes are summed into bins instead.
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest import memory
from woodwind.kernels.forest.layout import COARSE_MISSING, LINE, LOW_HALF, MISSING_CODE, MOMENTS
from woodwind.kernels.forest.sort import FEW, FEW_BITS, LAST_KEY, MOST_CODES, count_smaller, sort_keys
from woodwind.kernels.runtime.bits import lowest_bit
from woodwind.kernels.runtime.intrinsics import prefetch
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.runtime.simd import WORD, bits_above_zero

U = np.uint64
ONE = np.uint64(1)

# Rows stand far apart in the table: so many are asked for before they are needed.
AHEAD = 12
# Of the cells (sum, both) the second tells whether there are rows.
SECOND_OF_TWO = np.uint64(0xAAAAAAAAAAAAAAAA)


@inlined
def is_inside(tree: Tree, begin: Any, end: Any) -> Any:
    """Whether these rows are in the present arena."""
    return end <= memory.arena_end(tree) and begin >= memory.arena_begin(tree)


@inner
def open_arena(tree: Tree, begin: Any, end: Any) -> None:
    """Begin an arena with the rows of a node."""
    memory.set_arena(tree, memory.arena(tree) + 1)
    memory.set_arena_begin(tree, begin)
    memory.set_arena_end(tree, end)
    rows = memory.rows(tree)
    places = memory.places(tree)
    pair = memory.row_sums(tree)
    a_pair = memory.arena_sums(tree)
    for i in range(U(end - begin)):
        row = U(rows[U(begin) + i])
        places[U(begin) + i] = i
        a_pair[i + i] = pair[row + row]
        a_pair[i + i + ONE] = pair[row + row + ONE]


@inlined
def fetch(tree: Tree, feature: Any, kind: Any, source: Any, out: Any, steps: Any) -> None:
    """Copy what the arena's rows have in `source`, for the features that share a line of the cache; unless that was done.

    steps: in `out`, from one place to the next, and from one feature to the next.
    """
    fetched = memory.fetched(tree, kind)
    group = feature // LINE
    if fetched[group] == memory.arena(tree):
        return
    fetched[group] = memory.arena(tree)
    first = U(memory.arena_begin(tree))
    rows = memory.rows(tree)
    along, across = steps
    stride = U(memory.stride(tree))
    begin = U(group * LINE)
    width = min(begin + U(LINE), U(memory.n_features(tree))) - begin
    last = U(memory.arena_end(tree)) - ONE
    for i in range(last + ONE - first):
        prefetch(source, U(rows[min(first + i + U(AHEAD), last)]) * stride + begin)
        line = U(rows[first + i]) * stride + begin
        for k in range(width):
            out[(begin + k) * across + i * along] = source[line + k]


@inlined
def columns_of(tree: Tree) -> Any:
    """The steps of copies that stand column after column."""
    return ONE, U(memory.room(tree))


@inlined
def fetch_codes(tree: Tree, feature: Any) -> Any:
    """Copy the codes of a feature, unless that was done; returns where they begin in `arena_codes`, and the step from place to place."""
    along, across = U(memory.along(tree)), U(memory.across(tree))
    fetch(tree, feature, 0, memory.codes_by_row(tree), memory.arena_codes(tree), (along, across))
    return U(feature) * across, along


@inlined
def put_item(tree: Tree, item: Any, code: Any, place: Any) -> None:
    """Write a row of the arena as an item."""
    items = memory.items(tree)
    a_pair = memory.arena_sums(tree)
    most = U(memory.most_items(tree))
    items[item] = code
    items[most + item] = a_pair[place + place]
    items[most + most + item] = a_pair[place + place + ONE]


@inlined
def gather_sorted(tree: Tree, feature: Any, begin: Any, end: Any) -> Any:
    """Rows of a node in an arena as items, in the order of a feature; returns how many, or 0 if all have one code."""
    start, step = fetch_codes(tree, feature)
    codes = memory.arena_codes(tree)
    places = memory.places(tree)
    counts = memory.counts(tree)
    size = U(end - begin)
    if size <= U(FEW) and memory.n_rows(tree) <= MOST_CODES:
        room = U(8)
        while room < size:
            room <<= ONE
        for j in range(size):
            code = codes[start + step * U(places[U(begin) + j])]
            counts[j] = (min(code, np.int32(MOST_CODES)) << np.int32(FEW_BITS)) + np.int32(j)
        for j in range(size, room):
            counts[j] = LAST_KEY
        for j in range(size):
            place = U(places[U(begin) + j])
            put_item(tree, U(count_smaller(counts, room, j)), np.int64(codes[start + step * place]), place)
        return np.int64(size)
    keys = memory.keys(tree)
    low = np.int32(MISSING_CODE)
    high = np.int32(-1)
    lost = False
    for j in range(size):
        code = codes[start + step * U(places[U(begin) + j])]
        low = min(low, code)
        high = max(high, code if code != MISSING_CODE else np.int32(-1))
        lost |= code == MISSING_CODE
    if high < 0 or (low == high and not lost):
        return np.int64(0)
    top = np.int64(high) + np.int64(lost)  # the code of missing values, if there are any
    for j in range(size):
        place = places[U(begin) + j]
        keys[0, j] = (min(np.int64(codes[start + step * U(place)]), top) << 32) + np.int64(place)
    sort_keys(keys[0], keys[1], size, np.int64(low), top, counts)
    for j in range(size):
        code = keys[0, j] >> 32
        put_item(tree, j, np.int64(MISSING_CODE) if lost and code == top else code, U(keys[0, j] & LOW_HALF))
    return np.int64(size)


@inlined
def pack(s: Any, both: Any) -> Any:
    """(sum, both) of rows that weigh one as one word: the sum, and how many."""
    return (s << 32) + (both & LOW_HALF)


@inlined
def unpack(word: Any) -> Any:
    """The two again."""
    count = word & LOW_HALF
    return word >> 32, (count << 32) + count


@inlined
def copy_rows(tree: Tree, begin: Any, end: Any) -> None:
    """Copy the sums of the rows of a node side by side: they are asked for once for each feature."""
    inside = is_inside(tree, begin, end)
    places = memory.places(tree) if inside else memory.rows(tree)
    pair = memory.arena_sums(tree) if inside else memory.row_sums(tree)
    own = memory.node_sums(tree)
    if memory.is_packed(tree) != 0:
        for j in range(U(end - begin)):
            place = U(places[U(begin) + j])
            own[0, j] = pack(pair[place + place], pair[place + place + ONE])
        return
    for j in range(U(end - begin)):
        place = U(places[U(begin) + j])
        own[0, j] = pair[place + place]
        own[1, j] = pair[place + place + ONE]


@inner
def fill_cells(tree: Tree, feature: Any, begin: Any, end: Any) -> None:
    """Sum the rows of a node into the cells of bins or categories: (sum, both), one word for the two, or both for each class."""
    cells = memory.cells(tree)
    inside = is_inside(tree, begin, end)
    if inside:
        fetch(tree, feature, 1, memory.bins_by_row(tree), memory.arena_bins(tree), columns_of(tree))
    places = memory.places(tree) if inside else memory.rows(tree)
    codes = memory.arena_bins(tree) if inside else memory.bins_of_feature(tree, feature)
    start = U(feature * memory.room(tree)) if inside else U(0)
    sums = memory.node_sums_row(tree, 0)
    boths = memory.node_sums_row(tree, 1)
    width = U(max(memory.n_classes(tree), 2))
    moments = memory.criterion(tree) == MOMENTS
    for j in range(U(256) * width):
        cells[j] = 0
    if memory.is_packed(tree) != 0:
        for j in range(U(end - begin)):
            cells[U(codes[start + U(places[U(begin) + j])])] += sums[j]
        return
    for j in range(U(end - begin)):
        cell = U(codes[start + U(places[U(begin) + j])]) * width
        if moments:
            cells[cell] += sums[j]
            cells[cell + ONE] += boths[j]
        else:
            cells[cell + U(sums[j])] += boths[j]


@inner
def gather_bins(tree: Tree, feature: Any, begin: Any, end: Any) -> Any:
    """Rows of a large node as items, one for each bin (and class), in order; returns how many.

    Most bins of a node of some hundred rows are empty: which are not is asked for 64 cells at a time.
    """
    fill_cells(tree, feature, begin, end)
    cells = memory.cells(tree)
    codes = memory.items(tree)[: memory.most_items(tree)]
    sums = memory.items(tree)[memory.most_items(tree) : 2 * memory.most_items(tree)]
    boths = memory.items(tree)[2 * memory.most_items(tree) :]
    packed = memory.is_packed(tree) != 0
    moments = memory.criterion(tree) == MOMENTS
    width = ONE if packed else U(max(memory.n_classes(tree), 2))
    found = U(0)
    for part in range(U(4) * width):
        first = part * U(WORD)
        filled = bits_above_zero(cells, first)
        if moments and not packed:
            filled &= SECOND_OF_TWO
        while filled != U(0):
            cell = first + U(lowest_bit(filled))
            filled &= filled - ONE
            if packed:
                code = cell
                sums[found], boths[found] = unpack(cells[cell])
            elif moments:
                code = cell >> ONE
                sums[found] = cells[cell - ONE]
                boths[found] = cells[cell]
            else:
                code = cell // width
                sums[found] = np.int64(cell - code * width)
                boths[found] = cells[cell]
            codes[found] = np.int64(MISSING_CODE) if code == U(COARSE_MISSING) else np.int64(code)
            found += ONE
    return np.int64(found)
