"""Nodes of a tree that grows with every threshold considered: their sums, their features, their splits."""

from typing import Any

import numpy as np

from woodwind.kernels.exact import memory
from woodwind.kernels.exact.memory import T_CLASSES, T_COUNT, T_GRADIENT, T_HESSIAN, ExactRule
from woodwind.kernels.exact.score import GAIN_RATIO, NEWTON, VECTOR, bits_of, has_bits, own_score, own_value
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.keys import keep_some
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import category_sets, constraints, nodes, queue
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.constraints import keep_candidates
from woodwind.kernels.tree.layout import BEST_FIRST, DEEP_FIRST, NOTHING, SET_WORDS

U = np.uint64


@inner
def make_children(tree: Tree, node: int, middle: Any) -> Any:
    """Give a node two children that meet at a place; returns the left one."""
    left = nodes.add_children(tree, node, middle)
    for child in range(left, left + 2):
        nodes.set_number(tree, child, child)
    constraints.hand_down(tree, node)
    common.set_n_leaves(tree, common.n_leaves(tree) + 1)
    return left


@inner
def take_total(tree: Tree, rule: ExactRule, node: int, side: int) -> Any:
    """Sum the rows of a node to its side of the totals; says whether it may be split."""
    total = memory.totals(tree, side)
    rows = memory.rows(tree)
    stats = memory.row_stats(tree)
    gradients = memory.gradients(tree)
    for k in range(len(total)):
        total[k] = 0
    first = stats[4 * rows[nodes.begin(tree, node)] + 3]
    mixed = np.int64(0)
    gradient = np.int64(0)
    hessian = np.int64(0)
    count = np.int64(0)
    for j in range(U(nodes.begin(tree, node)), U(nodes.end(tree, node))):
        at = U(rows[j] << 2)
        hessian += stats[at + U(1)]
        count += stats[at + U(2)]
        mixed |= stats[at + U(3)] ^ first
        if rule.criterion == NEWTON:
            gradient += stats[at]
        elif rule.criterion == VECTOR:
            first_of_row = U(rows[j]) * U(rule.n_classes)
            for k in range(U(rule.n_classes)):
                total[U(T_CLASSES) + k] += gradients[first_of_row + k]
        else:
            total[U(T_CLASSES) + U(stats[at])] += stats[at + U(1)]
    total[T_GRADIENT] = gradient
    total[T_HESSIAN] = hessian
    total[T_COUNT] = count
    if has_bits(rule):
        total[T_GRADIENT] = bits_of(total, rule, memory.logs(tree))
    if rule.path_smooth == 0.0 or np.isnan(constraints.value(tree, node)):
        constraints.set_value(tree, node, own_value(total, rule, constraints.low(tree, node), constraints.high(tree, node)))
    memory.set_own_score(tree, node, own_score(total, rule, constraints.value(tree, node)))
    if mixed == 0:
        return False
    return nodes.depth(tree, node) < rule.max_depth and count >= rule.min_split and count >= 2 * rule.min_rows


# Which features, and which of their splits.


@inner
def draw_slots(tree: Tree, rule: ExactRule, node: int, out: Any) -> Any:
    """Write the slots that a node may be split by to out; returns how many come first, and how many there are.

    First those of the tree, then a draw for the level, then those that interaction constraints leave, then a draw for the node.
    """
    count = len(memory.features(tree))
    for k in range(count):
        out[k] = k
    count = keep_candidates(tree, rule, node, out, count, memory.features(tree))
    if rule.n_candidates >= count:
        return count, count
    keep_some(out, count, count - 1 if rule.patient else rule.n_candidates, nodes.key(tree, node))
    return rule.n_candidates, count if rule.patient else rule.n_candidates


@inner
def pick(tree: Tree, rule: ExactRule, side: int, begin: Any, end: Any) -> Any:
    """The best of the drawn slots begin to end; of equals the lowest. -1 if none has a split.

    Gain ratio: the best ratio among those whose gain is not below the mean (Quinlan 1993, section 2.2): it would otherwise favour
    splits that part a few rows from the rest, whatever they gain.
    """
    first = side * len(memory.features(tree))
    by_ratio = rule.criterion == GAIN_RATIO
    total = 0.0
    count = 0
    for k in range(begin, end):
        which = first + memory.drawn_slot(tree, side, k)
        if common.split_feature(tree, which) >= 0:
            total += common.split_gain(tree, which)
            count += 1
    # The mean of equal gains may round to more than they are.
    least = total / max(count, 1) * (1.0 - 1e-12) if by_ratio else -np.inf
    best = NOTHING
    highest = -np.inf
    for k in range(begin, end):
        slot = memory.drawn_slot(tree, side, k)
        which = first + slot
        score = memory.split_ratio(tree, which) if by_ratio else common.split_gain(tree, which)
        if common.split_feature(tree, which) >= 0 and common.split_gain(tree, which) >= least:
            if best < 0 or score > highest or (score == highest and slot < best):
                best = slot
                highest = score
    return best


@inner
def accept(tree: Tree, rule: ExactRule, node: int, side: int, slot: int) -> None:
    """Give a node the split that was found, if the gain is enough, and let it wait for its turn."""
    which = side * len(memory.features(tree)) + slot
    gain = common.split_gain(tree, which)
    # Where values are held by bounds, a split may gain nothing but rounding errors.
    least = rule.min_gain + (0.0 if rule.plain else 1e-15 * abs(memory.own_score(tree, node)))
    if not (gain > least or (rule.thorough and gain == least and gain > 0.0) or rule.any_gain):
        return
    nodes.set_gain(tree, node, max(gain, 0.0))
    constraints.set_left_value(tree, node, common.split_left_value(tree, which))
    constraints.set_right_value(tree, node, common.split_right_value(tree, which))
    nodes.set_feature(tree, node, common.split_feature(tree, which))
    nodes.set_bin(tree, node, common.split_bin(tree, which))
    nodes.set_missing(tree, node, common.split_missing(tree, which))
    memory.set_slot(tree, node, slot)
    memory.set_cut(tree, node, memory.split_cut(tree, which))
    if common.is_category_of(tree, nodes.feature(tree, node)):
        row = category_sets.new_set(tree)
        nodes.set_category_set(tree, node, row)
        for word in range(2 * SET_WORDS):
            common.put_set_word(tree, row, word, common.split_set_word(tree, which, word))
    nodes.set_priority(tree, node, -np.float64(node))
    if rule.order == BEST_FIRST:
        nodes.set_priority(tree, node, nodes.gain(tree, node))
    elif rule.order == DEEP_FIRST:
        nodes.set_priority(tree, node, np.float64(node))
    queue.push(tree, node)
