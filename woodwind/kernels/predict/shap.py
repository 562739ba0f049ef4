"""Shapley values of rows in trees: exact, many rows side by side.

What a coalition of features is worth, and why a few points of a polynomial are enough, is told in docs/algorithms/tree-shap.md. In short:
with t the chance that a feature takes part, a tree is a mean over its leaves, whose weights are products of one factor for each feature on
the way. Going down, each node gets the product above it at some points t; coming up, each gives the mean of what is below at the same
points. What a split brings to its feature is the product above it times the difference of the two means below, added up over the points.

Rows are lanes: every row visits every node, so that all do the same to numbers that lie side by side, and what a row gets depends on
neither the others nor their number. The slow twin is in `tests/reference/naive_shap.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.predict.walk import CATEGORY_SHIFT, CHILD_MASK, MISSING_SHIFT, turn
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP


class Paths(NamedTuple):
    """What explaining needs to know of each split, beyond what a walk needs. Nodes are numbered through all trees.

    A place says which node of a depth is meant, of the two that can be on the way: 2 depth for a left child, 2 depth + 1 for a right
    one, 0 for the root.
    """

    column: Any  # int32[N]: which column decides; -1 at a leaf
    before: Any  # int32[N]: place of the last child above that a split by the same feature leads to; 0 for none
    share: Any  # float64[N]: of the cover, what goes left
    reach: Any  # float64[N]: share of the cover that splits above by the same feature let through; 1 for none
    distinct: Any  # int32[T]: largest number of features on the way to a leaf


class Points(NamedTuple):
    """Where polynomials are looked at: trees with d features on a way use count[d] points, at most Q."""

    count: Any  # int32[d + 1]
    at: Any  # float64[Q + 1, Q]: row m has m points between 0 and 1
    weight: Any  # float64[Q + 1, Q]: and how much each counts
    # The column of a feature that every coalition has, and 1.0, or that none has, and 0.0; -1 for no such feature. What the values of the
    # others differ by in these two games is twice their interaction with it.
    held: Any = (-1, 0.0)


class Desk(NamedTuple):
    """Room to work in, for B lanes, trees of depth D, Q points and values of L numbers."""

    above: Any  # float64[(2 D + 2) Q B]: by place and point, the product above
    below: Any  # float64[(2 D + 2) L Q B]: by place, number and point, the mean of the leaves below
    goes: Any  # float64[(2 D + 2) B]: by place, 1 where a row goes there, by this split and by those above of the same feature; else 0
    stops: Any  # float64[(D + 1) B]: by depth, 1 where a row stops that has gone every way above by the same feature; else 0
    total: Any  # float64[2 B]
    way: Any  # int64[D + 1, 4]: by depth the node on the way, its place, how far it is done, whether a row stops there


@kernel
def find_paths(roots: Any, feature: Any, child: Any, cover: Any, out_paths: Any, out_parent: Any) -> None:
    """Fill in the Paths of a forest, whose columns are there already.

    out_parent int64[N, 3]: for each node its parent, its place, and the number of features on the way to it
    """
    column, before, share, reach, distinct = out_paths.column, out_paths.before, out_paths.share, out_paths.reach, out_paths.distinct
    for tree in range(roots.shape[0] - 1):
        root = roots[tree]
        out_parent[root, 0], out_parent[root, 1], out_parent[root, 2] = root, 0, 0
        distinct[tree] = 0
        for node in range(root, roots[tree + 1]):
            if column[node] < 0:
                distinct[tree] = max(distinct[tree], out_parent[node, 2])
                continue
            left = root + child[node]
            whole = cover[left] + cover[left + 1]
            # As the mean of a node has it.
            share[node] = 1.0 - (cover[left + 1] / whole if whole > 0.0 else 0.5)
            before[node], reach[node] = 0, 1.0
            at = node
            while at != root:
                parent = out_parent[at, 0]
                if feature[parent] == feature[node]:
                    before[node] = out_parent[at, 1]
                    reach[node] = reach[parent] * (share[parent] if out_parent[at, 1] % 2 == 0 else 1.0 - share[parent])
                    break
                at = parent
            for side in range(2):
                out_parent[left + side, 0] = node
                out_parent[left + side, 1] = 2 * (out_parent[node, 1] // 2 + 1) + side
                out_parent[left + side, 2] = out_parent[node, 2] + (before[node] == 0)


@inner
def part_rows(split: Any, words: Any, x: Any, first: Any, n: Any, goes: Any, left: Any, right: Any) -> Any:
    """Write which way the values x[first : first + n] go, at left and right of goes: neither where a row stops. Whether one may.

    split: the two words of the node, the second as a number too, and whether any of the values is missing
    """
    word, second, threshold, gaps = split
    missing = (word >> np.uint64(MISSING_SHIFT)) & np.uint64(3)
    if (word >> np.uint64(CATEGORY_SHIFT)) & np.uint64(1) != np.uint64(0):
        for i in range(n):
            way = turn(word, second, x[first + i], words)
            goes[left + i] = 1.0 if way == np.uint64(LEFT) else 0.0
            goes[right + i] = 1.0 if way == np.uint64(RIGHT) else 0.0
        return True
    if gaps and missing != np.uint64(LEFT):
        for i in range(n):
            goes[left + i] = 1.0 if x[first + i] <= threshold else 0.0
            goes[right + i] = 1.0 if x[first + i] > threshold else 0.0
        if missing == np.uint64(STOP):
            return True
        for i in range(n):
            goes[right + i] = 1.0 - goes[left + i]
        return False
    for i in range(n):
        goes[left + i] = 0.0 if x[first + i] > threshold else 1.0
        goes[right + i] = 1.0 if x[first + i] > threshold else 0.0
    return False


@inner
def find_stops(goes: Any, left: Any, right: Any, n: Any, stops: Any, first: Any) -> Any:
    """Mark who goes neither way; whether anybody does."""
    some = False
    for i in range(n):
        stop = 1.0 - goes[left + i] - goes[right + i]
        stops[first + i] = stop
        some |= stop != 0.0
    return some


@inner
def keep_those(goes: Any, still: Any, n: Any, some: Any, first: Any) -> None:
    """Of some rows, from first on, keep those who have gone every way above by the same feature."""
    for i in range(n):
        some[first + i] *= goes[still + i]


@inner
def factor(t: float, share: float, reach: float) -> Any:
    """The factor of the left child at a point t: (what it has more where a row goes there, what it has where it is on the way, else).

    That of the right child is what is missing to 1, except where a row stops: there the first of these is missing as well.
    """
    if t == 0.0:
        return 0.0, share, share
    whole = t + (1.0 - t) * reach
    return t / whole, (1.0 - t) * reach * share / whole, share


@inner
def chance(t: float, column: Any, held: Any) -> Any:
    """The probability at a point t that the feature of a split takes part: t, unless it is held in or out. held: a column, and 1 or 0."""
    return held[1] if column == held[0] else t


@inner
def go_down(parts: Any, above: Any, at: Any, n: Any, goes: Any, ways: Any, to: Any) -> None:
    """From the product above a node, at one point, to those above its children. ways: who is still on the way, who goes left."""
    more, on_way, off_way = parts
    still, left = ways
    to_left, to_right = to
    if still == np.uint64(0):
        for i in range(n):
            product = above[at + i] * (on_way + more * goes[left + i])
            above[to_left + i] = product
            above[to_right + i] = above[at + i] - product
    else:
        for i in range(n):
            product = above[at + i] * (off_way + goes[still + i] * (on_way - off_way) + more * goes[left + i])
            above[to_left + i] = product
            above[to_right + i] = above[at + i] - product


@inner
def come_up(parts: Any, counts: float, n: Any, above: Any, goes: Any, below: Any, places: Any, total: Any) -> None:
    """Add what a split brings at one point to total, and write the mean below it.

    places: the product above; who is still on the way; who goes left; the means below the left child, the right child, the node
    """
    more, on_way, off_way = parts
    at, still, left, mean_left, mean_right, mean = places
    if still == np.uint64(0):
        for i in range(n):
            difference = below[mean_left + i] - below[mean_right + i]
            total[i] += counts * above[at + i] * difference
            below[mean + i] = below[mean_right + i] + (on_way + more * goes[left + i]) * difference
    else:
        for i in range(n):
            difference = below[mean_left + i] - below[mean_right + i]
            total[i] += counts * above[at + i] * difference
            part = off_way + goes[still + i] * (on_way - off_way) + more * goes[left + i]
            below[mean + i] = below[mean_right + i] + part * difference


@inner
def come_up_from_leaves(parts: Any, counts: float, n: Any, above: Any, goes: Any, below: Any, places: Any, total: Any) -> None:
    """The same where both children are leaves, with their values in places: half of all splits, at half of the cost."""
    more, on_way, off_way = parts
    at, still, left, value_left, value_right, mean = places
    difference = value_left - value_right
    if still == np.uint64(0):
        for i in range(n):
            total[i] += counts * above[at + i] * difference
            below[mean + i] = value_right + (on_way + more * goes[left + i]) * difference
    else:
        for i in range(n):
            total[i] += counts * above[at + i] * difference
            part = off_way + goes[still + i] * (on_way - off_way) + more * goes[left + i]
            below[mean + i] = value_right + part * difference


@inner
def fill(array: Any, first: Any, n: Any, value: float) -> None:
    """The same value in n lanes."""
    for i in range(n):
        array[first + i] = value


@inner
def enter(node: Any, at: Any, sizes: Any, x: Any, forest: Any, paths: Any, points: Any, desk: Any) -> Any:
    """Part the rows at a split, and write the products above its children; whether a row stops here.

    at: depth and place; points: where polynomials are looked at, and the feature that is held
    """
    depth, place = at
    n, lanes, most, size = sizes
    columns, gaps = x
    nodes, numbers, words = forest
    column, before, share, reach = paths
    above, goes, stops = desk
    one, to = np.uint64(1), (depth + np.uint64(1)) * np.uint64(2)
    left, right = to * lanes, (to + one) * lanes
    here = np.uint64(column[node])
    word = nodes[node + node]
    split = (word, nodes[node + node + one], numbers[node + node + one], gaps[here] != 0)
    some = part_rows(split, words, columns, here * lanes, n, goes, left, right)
    if some:
        some = find_stops(goes, left, right, n, stops, depth * lanes)
    still = np.uint64(before[node]) * lanes
    if still != np.uint64(0):
        keep_those(goes, still, n, goes, left)
        keep_those(goes, still, n, goes, right)
        if some:
            keep_those(goes, still, n, stops, depth * lanes)
    child = word & np.uint64(CHILD_MASK)
    if column[child] < 0 and column[child + one] < 0:
        return some
    for q in range(size):
        parts = factor(chance(points[0][q], column[node], points[1]), share[node], reach[node])
        product = (place * most + q) * lanes
        to_right = ((to + one) * most + q) * lanes
        go_down(parts, above, product, n, goes, (still, left), ((to * most + q) * lanes, to_right))
        if some:
            for i in range(n):
                above[to_right + i] -= parts[0] * stops[depth * lanes + i] * above[product + i]
    return some


@inner
def leave(node: Any, at: Any, sizes: Any, children: Any, values: Any, paths: Any, points: Any, desk: Any) -> None:
    """When all is done below a split: the mean below it, and what its feature gets for number k of its value; nothing if it is held.

    at: depth, place, k; points: where, their weights, and the feature that is held
    """
    depth, place, k, some = at
    n, lanes, most, size = sizes
    child, leaf_left, leaf_right = children
    value, width = values
    column, before, share, reach = paths
    above, below, goes, stops, total = desk
    one, to = np.uint64(1), (depth + np.uint64(1)) * np.uint64(2)
    ways = (np.uint64(before[node]) * lanes, to * lanes)
    fill(total, np.uint64(0), n, 0.0)
    fill(total, lanes, n, 0.0)
    for q in range(size):
        parts = factor(chance(points[0][q], column[node], points[2]), share[node], reach[node])
        whole = points[0][q] + (1.0 - points[0][q]) * reach[node]
        counts = 0.0 if column[node] == points[2][0] else points[1][q] * reach[node] / (whole * whole)
        product = (place * most + q) * lanes
        mean = ((place * width + k) * most + q) * lanes
        mean_left, mean_right = ((to * width + k) * most + q) * lanes, (((to + one) * width + k) * most + q) * lanes
        if leaf_right and (some or not leaf_left):
            fill(below, mean_right, n, value[child + one, k])
        if leaf_left and leaf_right:
            places = (product, *ways, value[child, k], value[child + one, k], mean)
            come_up_from_leaves(parts, counts, n, above, goes, below, places, total)
        else:
            if leaf_left:
                fill(below, mean_left, n, value[child, k])
            come_up(parts, counts, n, above, goes, below, (product, *ways, mean_left, mean_right, mean), total)
        if some:
            for i in range(n):
                difference = value[node, k] - below[mean_right + i]
                total[lanes + i] += counts * above[product + i] * difference
                below[mean + i] += parts[0] * stops[depth * lanes + i] * difference


@inner
def give(share: float, ways: Any, n: Any, desk: Any, lanes: Any, stop: Any, out: Any, to: Any) -> None:
    """Add what was added up over the points to what the feature has. stop: whether a row stops, and where that is written."""
    goes, stops, total = desk
    still, left = ways
    some, first = stop
    if still == np.uint64(0):
        for i in range(n):
            out[to + i] += (goes[left + i] - share) * total[i]
    else:
        for i in range(n):
            out[to + i] += (goes[left + i] - share * goes[still + i]) * total[i]
    if some:
        for i in range(n):
            out[to + i] += stops[first + i] * total[lanes + i]


@kernel
def explain_lanes(x: Any, sizes: Any, trees: Any, walk: Any, paths: Any, points: Any, desk: Any, out: Any) -> None:
    """Add the Shapley values of some rows in trees[0] to trees[1] of a forest.

    x     (float64[C B]: the rows as columns of B lanes, uint8[C]: whether a column has missing values)
    sizes (rows, at most B; B; Q; outputs K)
    walk, paths, points, desk: see Walk in `walk.py`, Paths, Points, Desk
    out   float64[C K B]: by column and output
    """
    nodes, words, value, roots = walk.nodes, walk.words, walk.value, walk.trees
    column, before, share, reach, distinct = paths.column, paths.before, paths.share, paths.reach, paths.distinct
    above, below, goes, stops, total, way = desk.above, desk.below, desk.goes, desk.stops, desk.total, desk.way
    forest, some_paths, down = (nodes, nodes.view(np.float64), words), (column, before, share, reach), (above, goes, stops)
    n, lanes, most, n_outputs = np.uint64(sizes[0]), np.uint64(sizes[1]), np.uint64(sizes[2]), np.uint64(sizes[3])
    one, two, width = np.uint64(1), np.uint64(2), np.uint64(value.shape[1])
    for tree in range(trees[0], trees[1]):
        size = np.uint64(points.count[distinct[tree]])
        rule = (points.at[size], points.weight[size], points.held)
        output = np.uint64(max(roots[tree, 1], 0))
        for q in range(size):
            fill(above, q * lanes, n, 1.0)
        way[0, 0], way[0, 1], way[0, 2] = roots[tree, 0], 0, 0
        depth = -1 if column[roots[tree, 0]] < 0 else 0
        while depth >= 0:
            node, place, done = np.uint64(way[depth, 0]), np.uint64(way[depth, 1]), way[depth, 2]
            at, child = np.uint64(depth), nodes[node + node] & np.uint64(CHILD_MASK)
            way[depth, 2] = done + 1
            if done == 0:
                way[depth, 3] = enter(node, (at, place), (n, lanes, most, size), x, forest, some_paths, (rule[0], points.held), down)
            if done < 2:
                if column[child + np.uint64(done)] >= 0:
                    depth += 1
                    way[depth, 0], way[depth, 1], way[depth, 2] = child + np.uint64(done), 2 * depth + done, 0
                continue
            children, some = (child, column[child] < 0, column[child + one] < 0), way[depth, 3] != 0
            ways, stop = (np.uint64(before[node]) * lanes, (at + one) * two * lanes), (some, at * lanes)
            for k in range(width):
                leave(
                    node, (at, place, k, some), (n, lanes, most, size), children, (value, width), some_paths, rule,
                    (above, below, goes, stops, total),
                )  # fmt: skip
                to = (np.uint64(column[node]) * n_outputs + output + k) * lanes
                give(share[node], ways, n, (goes, stops, total), lanes, stop, out, to)
            depth -= 1
