"""Nodes of a tree that grows: their rows, their children, their turn."""

from typing import Any

import numpy as np

from woodwind.kernels.forest.memory import (
    A_COARSE,
    A_CODE,
    A_RAW,
    BEGIN,
    BIN,
    BOTH,
    C_FIRST,
    C_LAST,
    C_NODES,
    C_ROWS,
    C_SETS,
    CHILD,
    COARSE,
    COARSE_MISSING,
    CODE_COLUMNS,
    CONTROL,
    CUT,
    DEPTH,
    DRAWN,
    END,
    FEATURE,
    GAIN,
    HEAP,
    KEY,
    LEFT_BOTH,
    LEFT_SUM,
    LOW,
    MISSING,
    MISSING_CODE,
    MOMENTS,
    NODE_F,
    NODE_I,
    PAIR,
    PLACES,
    R_ACROSS,
    R_ALONG,
    R_CRITERION,
    R_KEY,
    R_N_FEATURES,
    R_N_ROWS,
    R_RANDOM_CUTS,
    R_ROOM,
    REAL,
    ROWS,
    SELF,
    SET,
    SETS,
    SPARE,
    SUM,
    TARGET,
    TIMES,
    WAYS,
    WEIGHT,
)
from woodwind.kernels.forest.order import is_inside
from woodwind.kernels.runtime.intrinsics import bytes_in, floats, int_list, ints, row_list, words_in
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.keys import hashed
from woodwind.kernels.tree.layout import LEFT

U = np.uint64


@inner
def close_arena(growing: Any) -> None:
    """Put the rows of the arena into the order that its nodes have brought its places into."""
    control = int_list(growing, CONTROL)
    first = control[C_FIRST]
    last = control[C_LAST]
    rows = row_list(growing, ROWS)
    places = row_list(growing, PLACES)
    spare = row_list(growing, SPARE)
    for j in range(first, last):
        spare[j - first] = rows[first + places[j]]
    for j in range(first, last):
        rows[j] = spare[j - first]
    control[C_FIRST] = 0
    control[C_LAST] = 0


@inlined
def is_pure(growing: Any, begin: Any, end: Any) -> Any:
    """Whether all rows have one target."""
    rows = row_list(growing, ROWS)
    places = row_list(growing, PLACES)
    real = floats(growing, REAL)[0]
    first = int_list(growing, CONTROL)[C_FIRST]
    inside = is_inside(growing, begin, end)
    y = real[rows[first + places[begin]] if inside else rows[begin]]
    for j in range(begin + 1, end):
        if real[rows[first + places[j]] if inside else rows[j]] != y:
            return False
    return True


@inlined
def note_ways(growing: Any, what: Any, inside: Any) -> None:
    """Note in WAYS which rows of a node go left, in the order in which they stand."""
    feature = what[FEATURE]
    begin = U(what[BEGIN])
    size = U(what[END]) - begin
    places = row_list(growing, PLACES if inside else ROWS)
    ways = bytes_in(growing, WAYS)[0]
    lost = np.uint8(what[MISSING] == LEFT)
    start = U(feature * growing[R_ROOM])
    if what[SET] >= 0 or what[BIN] >= 0:
        coarse = bytes_in(growing, A_COARSE)[0] if inside else bytes_in(growing, COARSE)[feature]
        start = start if inside else U(0)
        sets = words_in(growing, SETS)[max(what[SET], 0)]
        low = what[BIN]
        for j in range(size):
            code = np.int64(coarse[start + U(places[begin + j])])
            way = np.uint8(code <= low)
            if low < 0:
                way = np.uint8((sets[U(code >> 6)] >> U(code & 63)) & U(1))
            ways[j] = lost if code == COARSE_MISSING else way
    elif growing[R_RANDOM_CUTS] != 0 and inside:
        cut = floats(growing, NODE_F)[what[SELF], CUT]
        raw = floats(growing, A_RAW)[0]
        for j in range(size):
            number = raw[start + U(places[begin + j])]
            ways[j] = np.uint8(number <= cut) if number == number else lost
    else:
        codes = row_list(growing, A_CODE if inside else CODE_COLUMNS)
        start = U(feature * growing[R_ACROSS if inside else R_N_ROWS])
        step = U(growing[R_ALONG]) if inside else U(1)
        low = what[LOW]
        for j in range(size):
            code = np.int64(codes[start + step * U(places[begin + j])])
            ways[j] = lost if code == MISSING_CODE else np.uint8(code <= low)


@inlined
def divide(growing: Any, node: Any) -> Any:
    """Bring the rows of a node that go left to the front, in order; returns where the others begin."""
    what = ints(growing, NODE_I)[node]
    inside = is_inside(growing, what[BEGIN], what[END])
    note_ways(growing, what, inside)
    places = row_list(growing, PLACES if inside else ROWS)
    spare = row_list(growing, SPARE)
    ways = bytes_in(growing, WAYS)[0]
    begin = U(what[BEGIN])
    left = begin
    right = U(0)
    for j in range(U(what[END]) - begin):
        place = places[begin + j]
        way = U(ways[j])
        places[left] = place
        spare[right] = place
        left += way
        right += U(1) - way
    for j in range(right):
        places[left + j] = spare[j]
    return np.int64(left)


@inlined
def make_children(growing: Any, node: Any) -> Any:
    """Divide a node; returns its left child."""
    control = int_list(growing, CONTROL)
    nodes = ints(growing, NODE_I)
    middle = divide(growing, node)
    left = control[C_NODES]
    control[C_NODES] += 2
    nodes[node, CHILD] = left
    for side in range(2):
        child = nodes[left + side]
        child[BEGIN] = middle if side == 1 else nodes[node, BEGIN]
        child[END] = nodes[node, END] if side == 1 else middle
        child[DEPTH] = nodes[node, DEPTH] + 1
        child[KEY] = hashed(nodes[node, KEY], side)
        child[FEATURE] = -1
        child[SET] = -1
        child[CHILD] = 0
        child[SELF] = left + side
        child[SUM] = nodes[node, SUM] - nodes[node, LEFT_SUM] if side == 1 else nodes[node, LEFT_SUM]
        child[BOTH] = nodes[node, BOTH] - nodes[node, LEFT_BOTH] if side == 1 else nodes[node, LEFT_BOTH]
    return left


@inner
def plant(growing: Any) -> None:
    """The rows of the tree, and a root that has all of them."""
    control = int_list(growing, CONTROL)
    times = row_list(growing, TIMES)
    weight = int_list(growing, WEIGHT)
    target = int_list(growing, TARGET)
    pair = int_list(growing, PAIR)
    rows = row_list(growing, ROWS)
    size = np.int64(0)
    s = np.int64(0)
    both = np.int64(0)
    moments = growing[R_CRITERION] == MOMENTS
    for row in range(growing[R_N_ROWS]):
        count = np.int64(times[row])
        pair[2 * row] = target[row] * (count if moments else np.int64(1))
        pair[2 * row + 1] = (count << 32) + count * weight[row]
        s += pair[2 * row]
        both += pair[2 * row + 1]
        rows[size] = row
        size += np.int64(count > 0)
    drawn = row_list(growing, DRAWN)
    for k in range(growing[R_N_FEATURES]):
        drawn[k] = k
    root = ints(growing, NODE_I)[0]
    root[BEGIN] = 0
    root[END] = size
    root[DEPTH] = 0
    root[KEY] = growing[R_KEY]
    root[FEATURE] = -1
    root[SET] = -1
    root[CHILD] = 0
    root[SELF] = 0
    root[SUM] = s
    root[BOTH] = both
    control[C_NODES] = 1
    control[C_SETS] = 0
    control[C_ROWS] = size
    control[C_FIRST] = 0
    control[C_LAST] = 0


@inner
def push(growing: Any, size: Any, node: Any) -> None:
    """Add a node to a heap of so many: the largest gain first, of equals the node that was made first."""
    heap = int_list(growing, HEAP)
    real = floats(growing, NODE_F)
    at = size
    heap[at] = node
    while at > 0:
        above = (at - 1) // 2
        if not real[heap[at], GAIN] > real[heap[above], GAIN]:
            break
        heap[at], heap[above] = heap[above], heap[at]
        at = above


@inner
def pop(growing: Any, size: Any) -> Any:
    """Take the node with the largest gain from a heap of so many."""
    heap = int_list(growing, HEAP)
    real = floats(growing, NODE_F)
    node = heap[0]
    heap[0] = heap[size - 1]
    at = np.int64(0)
    while 2 * at + 1 < size - 1:
        below = 2 * at + 1
        a, b = heap[below], heap[min(below + 1, size - 2)]
        if real[b, GAIN] > real[a, GAIN] or (real[b, GAIN] == real[a, GAIN] and b < a):
            below = min(below + 1, size - 2)
        c = heap[below]
        if real[heap[at], GAIN] > real[c, GAIN] or (real[heap[at], GAIN] == real[c, GAIN] and heap[at] < c):
            break
        heap[at], heap[below] = heap[below], heap[at]
        at = below
    return node
