"""A whole tree of a forest in one compiled call.

Nodes of many rows are split by bins, those of at most `exact_rows` by any threshold; a subtree of at most `arena_limit` rows works on a
copy of its own (see `order`). Trees are grown by different threads, each tree by one.
The slow twin is `tests/reference/naive_forest.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest import best, memory
from woodwind.kernels.forest.best import bins_to_ranks, ranks_to_thresholds
from woodwind.kernels.forest.emit import emit_tree
from woodwind.kernels.forest.find_splits import find_best_split
from woodwind.kernels.forest.layout import CLASSES, LOW_HALF, MEDIANS, MOMENTS, SEVERAL
from woodwind.kernels.forest.medians import count_targets
from woodwind.kernels.forest.nodes import begin_tree, close_arena, is_pure, make_children
from woodwind.kernels.forest.order import copy_rows, is_inside, open_arena
from woodwind.kernels.forest.score import class_worth, purity
from woodwind.kernels.forest.several import agree, sum_node
from woodwind.kernels.forest.split_64_rows import note_words
from woodwind.kernels.forest.split_few_rows import MOST_ROWS, split_few_rows
from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.runtime.keys import hashed, put_in_order
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.runtime.simd import LANES
from woodwind.kernels.tree import category_sets, nodes, queue
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import NO_SPLIT, NOTHING

U = np.uint64

# Items of a node's key: 0 and 1 name its children.
CUTS_ITEM = 2
DRAW_ITEM = 3


@inlined
def count_classes(tree: Tree, begin: Any, end: Any) -> Any:
    """Weight of each class of a node, in class_weights_of(tree, 0); returns how many classes there are."""
    inside = is_inside(tree, begin, end)
    places = memory.places(tree) if inside else memory.rows(tree)
    pair = memory.arena_sums(tree) if inside else memory.row_sums(tree)
    whole = memory.class_weights_of(tree, 0)
    for k in range(memory.n_classes(tree)):
        whole[k] = 0
    for j in range(U(begin), U(end)):
        place = U(places[j])
        whole[U(pair[place + place])] += pair[place + place + U(1)] & LOW_HALF
    found = np.int64(0)
    for k in range(memory.n_classes(tree)):
        found += np.int64(whole[k] > 0)
    return found


@inlined
def draw(tree: Tree, key: Any, k: Any) -> Any:
    """Draw feature number k of a node: one step of a shuffle, remembered so that it can be undone."""
    drawn = memory.drawn(tree)
    other = k + (((hashed(key, k) >> 31) * (memory.n_features(tree) - k)) >> 32)
    drawn[memory.n_features(tree) + k] = other
    drawn[k], drawn[other] = drawn[other], drawn[k]
    return drawn[k]


@inlined
def find_split(tree: Tree, node: int, total: Any, perfect: Any) -> None:
    """Try the features that are drawn for a node, the lowest first; draw on while none of them can split it."""
    begin = nodes.begin(tree, node)
    end = nodes.end(tree, node)
    drawn = memory.drawn(tree)
    n_features = memory.n_features(tree)
    n_candidates = min(memory.n_candidates(tree), n_features)
    in_lanes = memory.is_packed(tree) != 0 and memory.random_splits(tree) == 0 and end - begin <= min(memory.exact_rows(tree), LANES)
    in_lanes = in_lanes and note_words(tree, begin, end, total)
    cuts = hashed(nodes.key(tree, node), CUTS_ITEM)
    draws = hashed(nodes.key(tree, node), DRAW_ITEM)
    count = np.int64(0)
    if n_candidates < n_features:
        while count < n_candidates:
            drawn[2 * n_features + count] = draw(tree, draws, count)
            count += 1
        put_in_order(drawn, 2 * n_features, count)
    k = np.int64(0)
    while k < n_features and (k < n_candidates or best.score(tree) == NO_SPLIT):
        feature = k
        if k >= n_candidates:
            feature = np.int64(draw(tree, draws, k))
            count += 1
        elif n_candidates < n_features:
            feature = np.int64(drawn[2 * n_features + k])
        try_feature(tree, feature, begin, end, total, cuts, in_lanes)
        if best.score(tree) >= perfect:
            break
        k += 1
    for i in range(count - 1, -1, -1):
        other = drawn[n_features + i]
        drawn[i], drawn[other] = drawn[other], drawn[i]


@inlined
def try_feature(tree: Tree, feature: Any, begin: Any, end: Any, total: Any, key: Any, in_lanes: Any) -> None:
    """Try one feature; the set of a split that is the best so far is kept apart from that of the next candidate."""
    find_best_split(tree, feature, begin, end, total, key, in_lanes)
    if best.feature(tree) == feature and best.is_set(tree) != 0:
        sets = memory.best_sets(tree)
        for w in range(8):
            sets[1, w] = sets[0, w]


@inlined
def has_one_target(tree: Tree, begin: Any, end: Any, s: Any, both: Any) -> Any:
    """Whether there is nothing to tell apart; otherwise the weights of more classes than two are counted."""
    if memory.criterion(tree) == CLASSES:
        return count_classes(tree, begin, end) < 2
    if memory.criterion(tree) == SEVERAL:
        return agree(tree, begin, end)
    if memory.n_classes(tree) == 2:
        return s == 0 or s == both & LOW_HALF
    return is_pure(tree, begin, end)


@inner
def evaluate(tree: Tree, node: int) -> Any:
    """Give a node its split; False if it stays a leaf."""
    begin = nodes.begin(tree, node)
    end = nodes.end(tree, node)
    s = memory.total(tree, node)
    both = memory.both(tree, node)
    if nodes.depth(tree, node) >= memory.max_depth(tree) or end - begin < 2:
        return False
    if both >> 32 < memory.min_split(tree) or both >> 32 < 2 * memory.min_rows(tree) or has_one_target(tree, begin, end, s, both):
        return False
    if end - begin <= memory.arena_limit(tree) and not is_inside(tree, begin, end):
        close_arena(tree)
        open_arena(tree, begin, end)
    if end - begin > memory.exact_rows(tree) or memory.has_categories(tree) != 0:
        copy_rows(tree, begin, end)
    perfect = np.inf
    if memory.criterion(tree) == MOMENTS:
        own = np.float64(s) * np.float64(s) / np.float64(both & LOW_HALF)
        if memory.n_classes(tree) == 2:
            perfect = np.float64(s)
        if memory.is_poisson(tree) != 0:
            own = np.float64(0.0)  # the score is what a cut removes
    elif memory.criterion(tree) == MEDIANS:
        own = count_targets(tree, begin, end)
    elif memory.criterion(tree) == SEVERAL:
        own = sum_node(tree, begin, end, both)
    else:
        own = purity(class_worth(tree, 0), both & LOW_HALF, memory.logs(tree))
    if end - begin == 2:
        perfect = -np.finfo(np.float64).max  # there is but one way to part two rows
    best.set_score(tree, NO_SPLIT)
    best.set_feature(tree, NOTHING)
    few = memory.all_at_once(tree) != 0 and 2 < end - begin <= MOST_ROWS
    if not few or not split_few_rows(tree, begin, end, (s, both)):
        find_split(tree, node, (s, both), perfect)
    gain = best.score(tree) - own
    if best.feature(tree) < 0 or gain < best.min_gain(tree):
        return False
    if best.is_set(tree) == 0 and memory.random_splits(tree) == 0:
        bins_to_ranks(tree)
    nodes.set_feature(tree, node, best.feature(tree))
    memory.set_low(tree, node, best.low(tree))
    memory.set_high(tree, node, best.high(tree))
    nodes.set_missing(tree, node, best.missing(tree))
    nodes.set_bin(tree, node, best.bin(tree))
    memory.set_left_total(tree, node, best.left_total(tree))
    memory.set_left_both(tree, node, best.left_both(tree))
    if best.is_set(tree) != 0:
        nodes.set_category_set(tree, node, category_sets.new_set(tree))
        for w in range(8):
            common.category_sets(tree)[nodes.category_set(tree, node), w] = memory.best_sets(tree)[1, w]
    nodes.set_gain(tree, node, max(gain, 0.0))
    memory.set_threshold(tree, node, best.threshold(tree))
    return True


@inner
def enqueue(tree: Tree, node: int) -> None:
    """Let a node wait for its turn, the largest gain first, if it can be split."""
    if evaluate(tree, node):
        nodes.set_priority(tree, node, nodes.gain(tree, node))
        queue.push(tree, node)


@kernel
def grow_forest_tree(tree: Tree) -> None:
    """Grow one tree from the rows that `times` names, and write it to the out arrays; the counters say how large it is."""
    begin_tree(tree)
    stack = common.heap(tree)
    size = np.int64(0)
    if memory.best_first(tree) != 0:
        leaves = 1
        enqueue(tree, 0)
        while common.n_waiting(tree) > 0 and leaves < memory.max_leaves(tree):
            left = make_children(tree, queue.pop(tree))
            leaves += 1
            enqueue(tree, left)
            enqueue(tree, left + 1)
        # What was not split after all is a leaf.
        for j in range(common.n_waiting(tree)):
            nodes.set_feature(tree, stack[j], NOTHING)
    else:
        stack[0] = 0
        size += 1
        while size > 0:
            size -= 1
            node = stack[size]
            if evaluate(tree, node):
                left = make_children(tree, node)
                stack[size] = left + 1
                stack[size + 1] = left
                size += 2
    close_arena(tree)
    if memory.random_splits(tree) == 0:
        ranks_to_thresholds(tree)
    emit_tree(tree)
