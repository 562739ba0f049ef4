"""A whole tree in one compiled call, by any number of threads.

    root: sum, judge
    then: choose a batch, split its rows, sum and judge the children, commit what is certain; until the tree is finished

Each of these is a phase of tasks (kernels/tasks.py) that all threads share (kernels/team.py). Between phases one thread,
the leader, takes every decision from finished sums: `plan` looks at what the last phase has done and writes the tasks of the next.
Sums are integers and splits are committed in exact order (kernels/frontier.py), so the tree has the same bits for any
number of threads.
"""

from typing import Any

import numpy as np

from woodwind.kernels.frontier import (
    C_COMMITTED,
    C_FREE,
    C_FREE_WIDE,
    C_HEAP,
    C_LEAVES,
    C_NODES,
    C_OPEN,
    C_SETS,
    C_WAITING,
    become_leaf,
    choose_batch,
    commit,
    open_node,
    rebuild,
)
from woodwind.kernels.growing import (
    BATCH,
    CODES_MET,
    CONTROL,
    FOUND_F,
    FOUND_I,
    FOUND_SETS,
    FREE,
    GOES,
    GROUPS,
    IS_CATEGORY,
    ITEMS,
    MEMBER,
    MONOTONIC,
    NODE_F,
    NODE_I,
    OPENED,
    PARTS,
    SEEN,
    SETS,
    SUMS,
    TABLES,
    TASKS,
    TREE_BEGIN,
    TREE_BIN,
    TREE_CHILD,
    TREE_END,
    TREE_F,
    TREE_FEATURE,
    TREE_GAIN,
    TREE_HIGH,
    TREE_I,
    TREE_LOW,
    TREE_MISSING,
    TREE_SET,
    WIDE,
)
from woodwind.kernels.intrinsics import bytes_in, floats, int_list, ints, words_in
from woodwind.kernels.jit import inner, kernel
from woodwind.kernels.keys import hashed
from woodwind.kernels.layout import (
    BEST_FIRST,
    F_GAIN,
    F_HIGH,
    F_LEFT,
    F_LOW,
    F_PRIORITY,
    F_RIGHT,
    LEFT,
    N_BEGIN,
    N_BIN,
    N_BUFFER,
    N_CHILD,
    N_DEPTH,
    N_END,
    N_FEATURE,
    N_FINAL,
    N_KEY,
    N_LAYOUT,
    N_MISSING,
    N_PARENT,
    N_SET,
    N_SLOT,
    PACKED2,
    PACKED3,
    ROWS_PACKED2,
    ROWS_PACKED3,
    STOP,
    WIDE2,
)
from woodwind.kernels.tasks import (
    COLLECT,
    I_LARGE,
    I_LAYOUT,
    I_N_PARTS,
    I_PARENT,
    I_PARTS,
    I_SMALL,
    JUDGE,
    PLACE,
    RECOUNT,
    SPLIT,
    SUM,
    T_BEGIN,
    T_END,
    T_HIGH,
    T_LOW,
    T_OUT,
    T_WHAT,
    can_split,
    do_collect,
    do_judge,
    do_split,
    do_sum,
)
from woodwind.kernels.team import KIND, end_call, finish_task, open_phase, take_task, wait_for_all, wait_for_work

NOTHING = -1
SPLIT_ROWS = 16384  # rows of one task of splitting, where a node has so many that it is split in blocks
COLLECT_ROWS = 16384
LEAST_PIECE = 2048  # rows that are worth a task of their own when summing

# More of the control array: what the leader remembers between phases.
C_STATE = 41
C_BATCH = 42  # nodes in the batch
C_ITEMS = 43
C_BLOCKS = 44  # blocks of features that an item is judged in
C_TASKS = 45
C_RECOUNTED = 46

# States: what was done last.
FRESH = 0
SUMMED = 1
JUDGED = 2
SPLIT_DONE = 3
PLACED = 4
RECOUNTED = 5
COLLECTED = 6


@inner
def begin_tree(growing: Any, rule: Any, n_rows: Any) -> None:
    """One node with all rows in the first buffer; every slot free."""
    control = int_list(growing, CONTROL)
    free = int_list(growing, FREE)
    slots = len(ints(growing, TABLES))
    wide = len(ints(growing, WIDE))
    for k in range(slots):
        free[k] = slots - 1 - k
    for k in range(wide):
        free[slots + k] = wide - 1 - k
    control[32:] = 0
    control[C_FREE] = slots
    control[C_FREE_WIDE] = wide
    control[C_LEAVES] = 1
    root = new_node(growing, NOTHING, 0, n_rows, 0)
    ints(growing, NODE_I)[root, N_KEY] = rule.seed
    words_in(growing, GROUPS)[root, :] = ~np.uint64(0)


@inner
def new_node(growing: Any, parent: Any, begin: Any, end: Any, buffer: Any) -> Any:
    """A node without split, children or histogram."""
    control = int_list(growing, CONTROL)
    node = control[C_NODES]
    control[C_NODES] += 1
    what = ints(growing, NODE_I)[node]
    what[:] = NOTHING
    what[N_PARENT] = parent
    what[N_DEPTH] = ints(growing, NODE_I)[parent, N_DEPTH] + 1 if parent >= 0 else 0
    what[N_BEGIN] = begin
    what[N_END] = end
    what[N_BUFFER] = buffer
    what[N_MISSING] = STOP
    real = floats(growing, NODE_F)[node]
    real[:] = 0.0
    real[F_LOW] = -np.inf
    real[F_HIGH] = np.inf
    return node


@inner
def rows_of(growing: Any, node: Any) -> Any:
    """Number of rows in a node."""
    nodes = ints(growing, NODE_I)
    return nodes[node, N_END] - nodes[node, N_BEGIN]


# Slots: a histogram is kept for each open node, so that of two children only the smaller has to be summed.


@inner
def release(growing: Any, slot: Any, layout: Any) -> None:
    """Give a slot back."""
    control = int_list(growing, CONTROL)
    free = int_list(growing, FREE)
    if slot >= 0:
        if layout == WIDE2:
            free[len(ints(growing, TABLES)) + control[C_FREE_WIDE]] = slot
            control[C_FREE_WIDE] += 1
        else:
            free[control[C_FREE]] = slot
            control[C_FREE] += 1


@inner
def obtain(growing: Any, layout: Any) -> Any:
    """Take a slot. If none is free the least promising open node loses its own: its children will be summed one by one."""
    control = int_list(growing, CONTROL)
    free = int_list(growing, FREE)
    nodes = ints(growing, NODE_I)
    urgency = floats(growing, NODE_F)
    if layout == WIDE2:
        control[C_FREE_WIDE] -= 1
        return free[len(ints(growing, TABLES)) + control[C_FREE_WIDE]]
    if control[C_FREE] > 0:
        control[C_FREE] -= 1
        return free[control[C_FREE]]
    worst = NOTHING
    for k in range(control[C_OPEN]):
        node = int_list(growing, OPENED)[k]
        if nodes[node, N_SLOT] >= 0 and nodes[node, N_LAYOUT] != WIDE2:
            if worst < 0 or urgency[node, F_PRIORITY] < urgency[worst, F_PRIORITY]:
                worst = node
    slot = nodes[worst, N_SLOT]
    nodes[worst, N_SLOT] = NOTHING
    return slot


@inner
def forget_histogram(growing: Any, node: Any) -> None:
    """Give back the slot of a node."""
    what = ints(growing, NODE_I)[node]
    release(growing, what[N_SLOT], what[N_LAYOUT])
    what[N_SLOT] = NOTHING


# Splitting the rows of a batch.


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
        step = SPLIT_ROWS if end - begin > 2 * SPLIT_ROWS else end - begin
        for first in range(begin, end, step):
            task = ints(growing, TASKS)[n_tasks]
            task[T_WHAT] = place
            task[T_BEGIN] = first
            task[T_END] = min(first + step, end)
            task[T_LOW] = 1 if step == end - begin else 0
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


@inner
def plan_children(growing: Any, rule: Any, size: Any) -> Any:
    """Children for the nodes of the batch whose split leaves enough rows on both sides; the others are judged again.

    Histograms of large nodes hold no counts (kernels/accumulate.py), so a split may turn out to leave too few rows on one side.
    Returns the number of tasks that count and judge such nodes.
    """
    control = int_list(growing, CONTROL)
    batch = int_list(growing, BATCH)
    control[C_ITEMS] = 0
    control[C_RECOUNTED] = 0
    for place in range(size):
        node = batch[place]
        left = ints(growing, SUMS)[place, 0]
        if min(left, rows_of(growing, node) - left) >= rule.min_rows:
            make_children(growing, rule, place)
            plan_pair(growing, rule, node)
            continue
        control[C_WAITING] -= 1
        again = control[C_RECOUNTED]
        if again == len(ints(growing, PARTS)) or ints(growing, NODE_I)[node, N_SLOT] < 0:
            # No room to count in now, or its histogram is gone: it is summed again, then judged with its neighbours.
            ints(growing, NODE_I)[node, N_FEATURE] = NOTHING
            plan_alone(growing, rule, node)
            continue
        task = ints(growing, TASKS)[again]
        task[T_WHAT] = node
        task[T_BEGIN] = 0
        task[T_END] = rule.n_features
        task[T_OUT] = again
        control[C_RECOUNTED] += 1
    return control[C_RECOUNTED]


# Judging nodes.


@inner
def accept(growing: Any, rule: Any, node: Any, found: Any) -> None:
    """Write a finding to its node if the gain is enough."""
    found_f = floats(growing, FOUND_F)[found]
    found_i = ints(growing, FOUND_I)[found]
    control = int_list(growing, CONTROL)
    what = ints(growing, NODE_I)[node]
    what[N_FEATURE] = NOTHING
    if found_i[0] < 0 or not found_f[0] > rule.min_gain:
        forget_histogram(growing, node)
        return
    what[N_FEATURE] = found_i[0]
    what[N_BIN] = found_i[1]
    what[N_MISSING] = found_i[2]
    what[N_SET] = NOTHING
    real = floats(growing, NODE_F)[node]
    real[F_GAIN] = found_f[0]
    real[F_LEFT] = found_f[1]
    real[F_RIGHT] = found_f[2]
    if int_list(growing, IS_CATEGORY)[found_i[0]]:
        row = control[C_SETS]
        control[C_SETS] += 1
        what[N_SET] = row
        sets = words_in(growing, SETS)
        for word in range(4):
            sets[row, word] = words_in(growing, FOUND_SETS)[found, word]
            sets[row, 4 + word] = 0
    open_node(growing, rule, node)


@inner
def plan_alone(growing: Any, rule: Any, node: Any) -> None:
    """An item of one node that is summed by itself."""
    control = int_list(growing, CONTROL)
    n_rows = rows_of(growing, node)
    layout = WIDE2
    if n_rows <= ROWS_PACKED3 or rule.lanes > 0:  # several outputs have one layout, with counts, for any number of rows
        layout = PACKED3
    elif n_rows <= ROWS_PACKED2:
        layout = PACKED2
    forget_histogram(growing, node)
    ints(growing, NODE_I)[node, N_LAYOUT] = layout
    ints(growing, NODE_I)[node, N_SLOT] = obtain(growing, layout)
    item = ints(growing, ITEMS)[control[C_ITEMS]]
    item[I_SMALL] = node
    item[I_LARGE] = NOTHING
    item[I_PARENT] = NOTHING
    item[I_N_PARTS] = 0
    control[C_ITEMS] += 1


@inner
def plan_pair(growing: Any, rule: Any, node: Any) -> None:
    """Items for the children of a node: a pair where its histogram helps, else each alone."""
    control = int_list(growing, CONTROL)
    nodes = ints(growing, NODE_I)
    left = nodes[node, N_CHILD]
    right = left + 1
    if not (can_split(growing, rule, left) or can_split(growing, rule, right)):
        forget_histogram(growing, node)
        return
    small = left if rows_of(growing, left) <= rows_of(growing, right) else right
    large = left + right - small
    slot = nodes[node, N_SLOT]
    layout = nodes[node, N_LAYOUT]
    if slot < 0 or (layout != PACKED3 and rows_of(growing, node) <= ROWS_PACKED3):
        forget_histogram(growing, node)
        for child in (small, large):
            if can_split(growing, rule, child):
                plan_alone(growing, rule, child)
        return
    nodes[node, N_SLOT] = NOTHING
    for child in (small, large):
        nodes[child, N_LAYOUT] = PACKED3
        if layout != PACKED3:
            nodes[child, N_LAYOUT] = PACKED2 if rows_of(growing, child) <= ROWS_PACKED2 else WIDE2
    nodes[small, N_SLOT] = obtain(growing, nodes[small, N_LAYOUT])
    nodes[large, N_SLOT] = slot if nodes[large, N_LAYOUT] == layout else obtain(growing, nodes[large, N_LAYOUT])
    item = ints(growing, ITEMS)[control[C_ITEMS]]
    item[I_SMALL] = small
    item[I_LARGE] = large
    item[I_PARENT] = slot
    item[I_LAYOUT] = layout
    item[I_N_PARTS] = 0
    control[C_ITEMS] += 1


@inner
def plan_sums(growing: Any, threads: Any) -> Any:
    """Tasks that sum the smaller node of every item; one of many rows is summed in parts by several threads."""
    items = ints(growing, ITEMS)
    nodes = ints(growing, NODE_I)
    n_items = int_list(growing, CONTROL)[C_ITEMS]
    total = 0
    for k in range(n_items):
        total += rows_of(growing, items[k, I_SMALL])
    piece = max(total // (3 * threads) + 1, LEAST_PIECE)
    n_tasks = 0
    part = 0
    for k in range(n_items):
        node = items[k, I_SMALL]
        begin = nodes[node, N_BEGIN]
        size = nodes[node, N_END] - begin
        pieces = 1
        if threads > 1 and size > piece + piece // 2:
            pieces = max(1, min(size // piece + 1, len(ints(growing, PARTS)) - part))
        items[k, I_PARTS] = part
        items[k, I_N_PARTS] = pieces if pieces > 1 else 0
        for p in range(pieces):
            task = ints(growing, TASKS)[n_tasks]
            task[T_WHAT] = node
            task[T_BEGIN] = begin + size * p // pieces
            task[T_END] = begin + size * (p + 1) // pieces
            task[T_OUT] = part + p if pieces > 1 else NOTHING
            n_tasks += 1
        if pieces > 1:
            part += pieces
    return n_tasks


@inner
def plan_judging(growing: Any, rule: Any, threads: Any) -> Any:
    """Tasks that judge the nodes of every item, in blocks of features where items are few."""
    control = int_list(growing, CONTROL)
    n_items = control[C_ITEMS]
    features = rule.n_features
    blocks = 1
    if threads > 1 and n_items > 0:
        blocks = max(1, min((4 * threads + n_items - 1) // n_items, (features + 7) // 8))
    control[C_BLOCKS] = blocks
    for k in range(n_items):
        for b in range(blocks):
            task = ints(growing, TASKS)[k * blocks + b]
            task[T_WHAT] = k
            task[T_BEGIN] = features * b // blocks
            task[T_END] = features * (b + 1) // blocks
    return n_items * blocks


@inner
def take_judgement(growing: Any, rule: Any) -> None:
    """Give every judged node the best of what the blocks of features found."""
    control = int_list(growing, CONTROL)
    found_f = floats(growing, FOUND_F)
    found_i = ints(growing, FOUND_I)
    nodes = ints(growing, NODE_I)
    blocks = control[C_BLOCKS]
    for k in range(control[C_ITEMS]):
        item = ints(growing, ITEMS)[k]
        for which in range(2):
            if item[which] < 0:
                continue
            best = 2 * (k * blocks) + which
            for b in range(1, blocks):
                other = 2 * (k * blocks + b) + which
                if found_i[other, 0] >= 0 and (found_i[best, 0] < 0 or found_f[other, 0] > found_f[best, 0]):
                    best = other
            accept(growing, rule, item[which], best)
        large = item[I_LARGE]
        if large >= 0 and item[I_LAYOUT] == WIDE2 and nodes[large, N_LAYOUT] != WIDE2:
            release(growing, item[I_PARENT], WIDE2)


# Finishing.


@inner
def plan_collecting(growing: Any) -> Any:
    """Tasks that note the leaf of every row. Nodes prepared in vain belong to the leaf that they are part of."""
    n_tasks = 0
    nodes = ints(growing, NODE_I)
    for node in range(int_list(growing, CONTROL)[C_NODES]):
        if nodes[node, N_CHILD] >= 0:
            continue
        owner = node
        while nodes[owner, N_FINAL] < 0:
            owner = nodes[owner, N_PARENT]
        for first in range(nodes[node, N_BEGIN], nodes[node, N_END], COLLECT_ROWS):
            task = ints(growing, TASKS)[n_tasks]
            task[T_WHAT] = node
            task[T_BEGIN] = first
            task[T_END] = min(first + COLLECT_ROWS, nodes[node, N_END])
            task[T_OUT] = nodes[owner, N_FINAL]
            n_tasks += 1
    return n_tasks


@inner
def take_sums(growing: Any, n_tasks: Any) -> None:
    """Write the finished tree: its nodes by number, and the unrounded sums of all of them."""
    sums = ints(growing, SUMS)
    tasks = ints(growing, TASKS)
    nodes = ints(growing, NODE_I)
    control = int_list(growing, CONTROL)
    size = control[C_COMMITTED]
    for node in range(control[C_NODES]):
        number = nodes[node, N_FINAL]
        if number < 0:
            continue
        out = ints(growing, TREE_I)[number]
        child = nodes[node, N_CHILD]
        split = child >= 0 and nodes[child, N_FINAL] >= 0
        out[TREE_FEATURE] = nodes[node, N_FEATURE] if split else NOTHING
        out[TREE_BIN] = nodes[node, N_BIN] if split else 0
        out[TREE_CHILD] = nodes[child, N_FINAL] if split else 0
        out[TREE_MISSING] = nodes[node, N_MISSING] if split else STOP
        out[TREE_SET] = nodes[node, N_SET] if split else NOTHING
        out[TREE_BEGIN] = nodes[node, N_BEGIN]
        out[TREE_END] = nodes[node, N_END]
        real = floats(growing, TREE_F)[number]
        real[TREE_GAIN] = floats(growing, NODE_F)[node, F_GAIN] if split else 0.0
        real[TREE_LOW] = floats(growing, NODE_F)[node, F_LOW]
        real[TREE_HIGH] = floats(growing, NODE_F)[node, F_HIGH]
        for k in range(3):
            sums[number, k] = 0
    for t in range(n_tasks):
        leaf = tasks[t, T_OUT]
        sums[leaf, 0] += tasks[t, T_LOW]
        sums[leaf, 1] += tasks[t, T_HIGH]
        sums[leaf, 2] += tasks[t, T_END] - tasks[t, T_BEGIN]
    for number in range(size - 1, -1, -1):
        child = ints(growing, TREE_I)[number, TREE_CHILD]
        if child > 0:
            for k in range(3):
                sums[number, k] = sums[child, k] + sums[child + 1, k]


# The leader.


@inner
def plan(growing: Any, rule: Any, n_rows: Any, threads: Any) -> Any:
    """Take what the last phase has done, and write the tasks of the next; returns its kind and their number."""
    control = int_list(growing, CONTROL)
    while True:
        state = control[C_STATE]
        n_tasks = 0
        kind = 0
        if state == FRESH:
            begin_tree(growing, rule, n_rows)
            if can_split(growing, rule, 0):
                plan_alone(growing, rule, 0)
            kind = SUM
            n_tasks = plan_sums(growing, threads)
            control[C_STATE] = SUMMED
        elif state == SUMMED:
            kind = JUDGE
            n_tasks = plan_judging(growing, rule, threads)
            control[C_STATE] = JUDGED
        elif state == JUDGED:
            take_judgement(growing, rule)
            if control[C_COMMITTED] == 0:
                become_leaf(growing, rule, 0)
            if commit(growing, rule):
                kind = COLLECT
                n_tasks = plan_collecting(growing)
                control[C_STATE] = COLLECTED
            else:
                most = 1 if threads == 1 and rule.order == BEST_FIRST else len(int_list(growing, BATCH))
                control[C_BATCH] = choose_batch(growing, rule, most)
                kind = SPLIT
                n_tasks = plan_split(growing, rule, control[C_BATCH])
                control[C_STATE] = SPLIT_DONE
        elif state == SPLIT_DONE:
            kind = PLACE
            n_tasks = plan_places(growing, rule, control[C_BATCH], control[C_TASKS])
            control[C_STATE] = PLACED
        elif state == PLACED:
            kind = RECOUNT
            n_tasks = plan_children(growing, rule, control[C_BATCH])
            control[C_STATE] = RECOUNTED
        elif state == RECOUNTED:
            for t in range(control[C_RECOUNTED]):
                accept(growing, rule, ints(growing, TASKS)[t, T_WHAT], 2 * t)
            if control[C_RECOUNTED] > 0:
                rebuild(growing, rule)
            kind = SUM
            n_tasks = plan_sums(growing, threads)
            control[C_STATE] = SUMMED
        else:
            take_sums(growing, control[C_TASKS])
            return 0, 0
        control[C_TASKS] = n_tasks
        if n_tasks > 0:
            return kind, n_tasks


@kernel
def take_part(growing: Any, rule: Any, n_rows: Any, thread: Any, threads: Any) -> None:
    """Grow one tree from the rows in the first buffer: as the leader if `thread` is 0, otherwise as a helper."""
    control = int_list(growing, CONTROL)
    n_tasks = 0
    while True:
        if thread == 0:
            task = take_task(control)
            if task < 0:
                wait_for_all(control, n_tasks)
                kind, n_tasks = plan(growing, rule, n_rows, threads)
                if n_tasks == 0:
                    end_call(control)
                    return
                open_phase(control, kind, n_tasks)
                continue
        else:
            task = wait_for_work(control)
            if task < 0:
                return
        kind = control[KIND]
        if kind == SPLIT or kind == PLACE:
            do_split(growing, rule, task, kind == PLACE)
        elif kind == SUM:
            do_sum(growing, rule, task, thread)
        elif kind == JUDGE or kind == RECOUNT:
            do_judge(growing, rule, task, thread, kind == RECOUNT)
        else:
            do_collect(growing, rule, task)
        finish_task(control)
