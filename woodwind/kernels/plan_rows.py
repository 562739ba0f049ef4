"""What the leader decides about rows: how a batch of nodes is split, and what its children are."""

from typing import Any

import numpy as np

from woodwind.kernels.growing import (
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
from woodwind.kernels.intrinsics import bytes_in, floats, int_list, ints, words_in
from woodwind.kernels.jit import inner
from woodwind.kernels.keys import hashed
from woodwind.kernels.layout import (
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
from woodwind.kernels.nodes import NOTHING, new_node
from woodwind.kernels.tasks import T_BEGIN, T_END, T_HIGH, T_LOW, T_OUT, T_WHAT

SPLIT_ROWS = 16384  # rows of one task of splitting, where a node has so many that it is split in blocks


@inner
def plan_split(growing: Any, rule: Any, size: Any) -> Any:
    """Tasks that split the rows of every node of the batch; large ones in blocks, which are only counted at first."""
    n_tasks = 0
    nodes = ints(growing, NODE_I)
    for place in range(size):
        node = int_list(growing, BATCH)[place]
        goes = bytes_in(growing, GOES)[place]
        row = nodes[node, N_SET]
        goes[:] = 0
        if row >= 0:
            for code in range(rule.width):
                goes[code] = (words_in(growing, SETS)[row, code >> 6] >> np.uint64(code & 63)) & np.uint64(1)
        else:
            goes[: nodes[node, N_BIN] + 1] = 1
        goes[rule.width - 1] = 1 if nodes[node, N_MISSING] == LEFT else 0
        begin = nodes[node, N_BEGIN]
        end = nodes[node, N_END]
        step = SPLIT_ROWS if end - begin > 2 * SPLIT_ROWS else max(end - begin, 1)
        for first in range(begin, end, step):
            task = ints(growing, TASKS)[n_tasks]
            task[T_WHAT] = place
            task[T_BEGIN] = first
            task[T_END] = min(first + step, end)
            task[T_LOW] = 0 if end - begin > 2 * SPLIT_ROWS else 1
            n_tasks += 1
    return n_tasks


@inner
def plan_places(growing: Any, rule: Any, size: Any, n_tasks: Any) -> Any:
    """Add up what the blocks counted, note which codes were met, and give every block of a large node its places."""
    tasks = ints(growing, TASKS)
    sums = ints(growing, SUMS)
    met = bytes_in(growing, CODES_MET)
    seen = bytes_in(growing, SEEN)
    sums[:size, 0] = 0
    met[:size, :] = 0
    for t in range(n_tasks):
        place = tasks[t, T_WHAT]
        sums[place, 0] += tasks[t, T_OUT]
        for code in range(rule.width):
            met[place, code] |= seen[t, code]
    placed = 0
    before = NOTHING
    low = 0
    high = 0
    for t in range(n_tasks):
        if tasks[t, T_LOW] != 0:
            continue
        place = tasks[t, T_WHAT]
        if place != before:
            low = ints(growing, NODE_I)[int_list(growing, BATCH)[place], N_BEGIN]
            high = low + sums[place, 0]
            before = place
        left = tasks[t, T_OUT]
        begin = tasks[t, T_BEGIN]
        end = tasks[t, T_END]
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
    node = int_list(growing, BATCH)[place]
    what = ints(growing, NODE_I)[node]
    real = floats(growing, NODE_F)
    met = bytes_in(growing, CODES_MET)[place]
    sets = words_in(growing, SETS)
    if met[rule.width - 1] == 0:
        what[N_MISSING] = STOP
    if what[N_SET] >= 0:
        for code in range(rule.width - 1):
            if met[code] and not bytes_in(growing, GOES)[place, code]:
                sets[what[N_SET], 4 + (code >> 6)] |= np.uint64(1) << np.uint64(code & 63)
    middle = what[N_BEGIN] + ints(growing, SUMS)[place, 0]
    left = new_node(growing, node, what[N_BEGIN], middle, 1 - what[N_BUFFER])
    right = new_node(growing, node, middle, what[N_END], 1 - what[N_BUFFER])
    what[N_CHILD] = left
    feature = what[N_FEATURE]
    groups = words_in(growing, GROUPS)
    for side in range(2):
        child = left + side
        ints(growing, NODE_I)[child, N_KEY] = hashed(what[N_KEY], side)
        real[child, F_LOW] = real[node, F_LOW]
        real[child, F_HIGH] = real[node, F_HIGH]
        for g in range(groups.shape[1]):
            groups[child, g] = groups[node, g] & words_in(growing, MEMBER)[feature, g]
    direction = int_list(growing, MONOTONIC)[feature]
    if direction != 0:
        # Neither side may cross the middle, now or further down.
        middle_value = (real[node, F_LEFT] + real[node, F_RIGHT]) / 2.0
        real[left if direction > 0 else right, F_HIGH] = middle_value
        real[right if direction > 0 else left, F_LOW] = middle_value
