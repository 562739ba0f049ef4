"""What the leader decides about rows: how a batch of nodes is split, and what its children are."""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.memory import (
    BATCH,
    CODES_MET,
    GOES,
    GROUPS,
    MEMBER,
    MONOTONIC,
    NODE_F,
    NODE_I,
    SEEN,
    SETS,
    SUMS,
    TASKS,
)
from woodwind.kernels.histogram.slots import NOTHING, new_node
from woodwind.kernels.histogram.tasks import T_BEGIN, T_END, T_HIGH, T_LOW, T_OUT, T_WHAT
from woodwind.kernels.runtime.intrinsics import (
    bytes_in,
    get_byte,
    get_float,
    get_int,
    get_listed,
    get_word,
    ints,
    put_byte,
    put_float,
    put_int,
    put_word,
    words_in,
)
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.keys import hashed
from woodwind.kernels.tree.layout import (
    F_HIGH,
    F_LEFT,
    F_LOW,
    F_RIGHT,
    LEFT,
    N_BEGIN,
    N_BIN,
    N_BUFFER,
    N_CHILD,
    N_END,
    N_FEATURE,
    N_KEY,
    N_MISSING,
    N_SET,
    STOP,
)

SPLIT_ROWS = 16384  # rows of one task of splitting, where a node has so many that it is split in blocks


@inner
def plan_split(growing: Any, rule: Any, size: Any) -> Any:
    """Tasks that split the rows of every node of the batch; large ones in blocks, which are only counted at first."""
    n_tasks = 0
    for place in range(size):
        node = get_listed(growing, BATCH, place)
        goes = bytes_in(growing, GOES)[place]
        row = get_int(growing, NODE_I, node, N_SET)
        goes[:] = 0
        if row >= 0:
            for code in range(rule.width):
                put_byte(growing, GOES, place, code, (get_word(growing, SETS, row, code >> 6) >> np.uint64(code & 63)) & np.uint64(1))
        else:
            goes[: get_int(growing, NODE_I, node, N_BIN) + 1] = 1
        put_byte(growing, GOES, place, rule.width - 1, 1 if get_int(growing, NODE_I, node, N_MISSING) == LEFT else 0)
        begin = get_int(growing, NODE_I, node, N_BEGIN)
        end = get_int(growing, NODE_I, node, N_END)
        step = SPLIT_ROWS if end - begin > 2 * SPLIT_ROWS else max(end - begin, 1)
        for first in range(begin, end, step):
            put_int(growing, TASKS, n_tasks, T_WHAT, place)
            put_int(growing, TASKS, n_tasks, T_BEGIN, first)
            put_int(growing, TASKS, n_tasks, T_END, min(first + step, end))
            put_int(growing, TASKS, n_tasks, T_LOW, 0 if end - begin > 2 * SPLIT_ROWS else 1)
            n_tasks += 1
    return n_tasks


@inner
def plan_places(growing: Any, rule: Any, size: Any, n_tasks: Any) -> Any:
    """Add up what the blocks counted, note which codes were met, and give every block of a large node its places."""
    tasks = ints(growing, TASKS)
    sums = ints(growing, SUMS)
    met = bytes_in(growing, CODES_MET)
    sums[:size, 0] = 0
    met[:size, :] = 0
    for t in range(n_tasks):
        place = get_int(growing, TASKS, t, T_WHAT)
        put_int(growing, SUMS, place, 0, get_int(growing, SUMS, place, 0) + get_int(growing, TASKS, t, T_OUT))
        for code in range(rule.width):
            put_byte(growing, CODES_MET, place, code, get_byte(growing, CODES_MET, place, code) | get_byte(growing, SEEN, t, code))
    placed = 0
    before = NOTHING
    low = 0
    high = 0
    for t in range(n_tasks):
        if get_int(growing, TASKS, t, T_LOW) != 0:
            continue
        place = get_int(growing, TASKS, t, T_WHAT)
        if place != before:
            low = get_int(growing, NODE_I, get_listed(growing, BATCH, place), N_BEGIN)
            high = low + get_int(growing, SUMS, place, 0)
            before = place
        left = get_int(growing, TASKS, t, T_OUT)
        begin = get_int(growing, TASKS, t, T_BEGIN)
        end = get_int(growing, TASKS, t, T_END)
        out = tasks[placed]
        out[T_WHAT] = place
        out[T_BEGIN] = begin
        out[T_END] = end
        out[T_LOW] = low
        out[T_HIGH] = high
        low += left
        high += end - begin - left
        placed += 1
    return placed


@inner
def make_children(growing: Any, rule: Any, place: Any) -> None:
    """Give a node whose rows are split its two children, and note what its split has met."""
    node = get_listed(growing, BATCH, place)
    if get_byte(growing, CODES_MET, place, rule.width - 1) == 0:
        put_int(growing, NODE_I, node, N_MISSING, STOP)
    if get_int(growing, NODE_I, node, N_SET) >= 0:
        for code in range(rule.width - 1):
            if get_byte(growing, CODES_MET, place, code) and not get_byte(growing, GOES, place, code):
                put_word(
                    growing,
                    SETS,
                    get_int(growing, NODE_I, node, N_SET),
                    4 + (code >> 6),
                    get_word(growing, SETS, get_int(growing, NODE_I, node, N_SET), 4 + (code >> 6))
                    | (np.uint64(1) << np.uint64(code & 63)),
                )
    middle = get_int(growing, NODE_I, node, N_BEGIN) + get_int(growing, SUMS, place, 0)
    left = new_node(growing, node, get_int(growing, NODE_I, node, N_BEGIN), middle, 1 - get_int(growing, NODE_I, node, N_BUFFER))
    right = new_node(growing, node, middle, get_int(growing, NODE_I, node, N_END), 1 - get_int(growing, NODE_I, node, N_BUFFER))
    put_int(growing, NODE_I, node, N_CHILD, left)
    feature = get_int(growing, NODE_I, node, N_FEATURE)
    groups = words_in(growing, GROUPS)
    for side in range(2):
        child = left + side
        put_int(growing, NODE_I, child, N_KEY, hashed(get_int(growing, NODE_I, node, N_KEY), side))
        put_float(growing, NODE_F, child, F_LOW, get_float(growing, NODE_F, node, F_LOW))
        put_float(growing, NODE_F, child, F_HIGH, get_float(growing, NODE_F, node, F_HIGH))
        for g in range(groups.shape[1]):
            put_word(growing, GROUPS, child, g, get_word(growing, GROUPS, node, g) & get_word(growing, MEMBER, feature, g))
    direction = get_listed(growing, MONOTONIC, feature)
    if direction != 0:
        # Neither side may cross the middle, now or further down.
        middle_value = (get_float(growing, NODE_F, node, F_LEFT) + get_float(growing, NODE_F, node, F_RIGHT)) / 2.0
        put_float(growing, NODE_F, left if direction > 0 else right, F_HIGH, middle_value)
        put_float(growing, NODE_F, right if direction > 0 else left, F_LOW, middle_value)
