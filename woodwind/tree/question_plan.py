"""The plan of questions: which nodes of a forest are asked, by which codes, and what stands at each place.

`woodwind/kernels/predict/question_plan.py` says what a plan is and `woodwind/kernels/predict/questions.py` carries it out.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.predict.question_plan import (
    BOUND_SHIFT,
    BY_LEVEL,
    CATEGORY,
    END,
    MOST_LEVELS,
    TARGET_SHIFT,
    THREE,
    TOGETHER,
    TWO,
    choose,
    write_questions,
)
from woodwind.kernels.predict.questions import CODED_CATEGORIES, GRID, Encoder, Program
from woodwind.kernels.predict.walk import Walk
from woodwind.kernels.tree.layout import LEFT, SET_WORDS, STOP

# Edges of one feature: codes are 0 to 254, and one value is for what is missing.
EDGES = 254
# Up to this many edges are searched directly; more get a grid of four cells for each, at most CELLS.
FEW_EDGES = 15
CELLS = 1024


class ForestPlan(NamedTuple):
    """What `predict_by_questions` needs beside the rows."""

    walk: Walk
    encoder: Encoder
    program: Program
    n_columns: int  # of a block


class QuestionPlan(NamedTuple):
    """One of the two plans: the ways out of each node, and what it asks."""

    ways: NDArray[np.uint8]
    column: NDArray[np.int64]
    bound: NDArray[np.int64]


def make_plan(arrays: Any, walk: Walk, dtype: np.dtype[Any]) -> ForestPlan:
    """The plans for rows of one type of float."""
    number = (arrays.feature >= 0) & (arrays.sets < 0)
    clean = np.where(number, TWO, np.where(small_sets(arrays), THREE | CATEGORY, END)).astype(np.uint8)
    full = np.where(number & (arrays.missing == STOP), THREE, clean).astype(np.uint8)
    keep_top(arrays, clean)
    keep_top(arrays, full)
    edges = shared_edges(arrays, clean, full)
    features = np.array(sorted(edges), np.int64)
    column = np.searchsorted(features, arrays.feature)
    bound = np.zeros(arrays.feature.size, np.int64)
    for f in features:
        here = number & (arrays.feature == f)
        bound[here] = np.searchsorted(edges[f], arrays.threshold[here])
    # Where missing goes left, a copy of the column is asked in which it is lowest and all codes are one higher.
    goes_left = number & (full != END) & (arrays.missing == LEFT)
    lowest = np.unique(column[goes_left])
    copied = np.where(goes_left, features.size + np.searchsorted(lowest, column), column)
    plans = (QuestionPlan(clean, column, bound - 128), QuestionPlan(full, copied, bound + goes_left - 128))
    first_table = features.size + lowest.size
    program = write_program(arrays, plans, column, first_table)
    most_tables = int((program.at[1:, 2] - program.at[:-1, 2]).max(initial=0))
    encoder = make_encoder([edges[f] for f in features], features, lowest, dtype)
    return ForestPlan(walk, encoder, program, max(1, first_table + most_tables))


def small_sets(arrays: Any) -> NDArray[np.bool_]:
    """Category splits whose categories all have a code of their own."""
    fits = arrays.sets >= 0
    words = np.where(fits, arrays.set_words[arrays.feature], 0)
    fits &= words <= SET_WORDS
    full = np.flatnonzero(fits & (words == SET_WORDS))
    for last in (SET_WORDS - 1, 2 * SET_WORDS - 1):
        spare = arrays.words[arrays.sets[full] + last] >> np.uint64(CODED_CATEGORIES - 64 * (SET_WORDS - 1))
        fits[full[spare != 0]] = False
    return np.asarray(fits, bool)


def keep_top(arrays: Any, ways: NDArray[np.uint8]) -> None:
    """Cut each tree where rows had better walk on."""
    share = np.empty(int(np.diff(arrays.roots).max(initial=1)), np.float64)
    for begin, end in zip(arrays.roots[:-1].tolist(), arrays.roots[1:].tolist(), strict=True):
        choose(arrays.child, arrays.cover, begin, end, share, ways)


def shared_edges(arrays: Any, clean: NDArray[np.uint8], full: NDArray[np.uint8]) -> dict[int, NDArray[np.float64]]:
    """Sorted thresholds of every feature that is asked, at most EDGES, and none for a category.

    Cuts the trees at thresholds beyond that.
    """
    asked = (clean != END) | (full != END)
    number = asked & (arrays.sets < 0)
    edges = {}
    cut = False
    for f in np.unique(arrays.feature[asked]).tolist():
        here = np.flatnonzero(number & (arrays.feature == f))
        values, inverse = np.unique(arrays.threshold[here], return_inverse=True)
        if values.size > EDGES:
            # The thresholds that most rows meet stay.
            weight = np.bincount(inverse, weights=arrays.cover[here])
            stay = np.sort(np.argsort(-weight, kind="stable")[:EDGES])
            gone = here[~np.isin(inverse, stay)]
            clean[gone], full[gone] = END, END
            values, cut = values[stay], True
        edges[f] = values
    if cut:
        keep_top(arrays, clean)
        keep_top(arrays, full)
    return edges


def write_program(arrays: Any, plans: tuple[QuestionPlan, QuestionPlan], column: NDArray[np.int64], first_table: int) -> Program:
    """Both plans of all trees, one after the other. Answers of tables stand behind the columns of a block."""
    n_trees, begin = arrays.output.size, arrays.roots[:-1]
    at = np.zeros((2, n_trees + 1, 4), np.int64)
    tables = [np.flatnonzero(plan.ways & CATEGORY) for plan in plans]
    for own, before, plan in zip(at, (at[0, 0], at[0, -1]), plans, strict=True):
        asks = np.add.reduceat((plan.ways & 3).astype(np.int64), begin) if n_trees else begin
        n_tables = np.add.reduceat((plan.ways & CATEGORY != 0).astype(np.int64), begin) if n_trees else begin
        levels = tree_levels(arrays, plan)
        ends = np.where(levels > 0, 1 << levels, asks + 1)
        asks = np.where(levels > 0, levels, -(-asks // TOGETHER) * TOGETHER)
        own[0] = before
        own[1:, :3] = own[0, :3] + np.cumsum(np.stack([asks, ends, n_tables], axis=1), axis=0)
        own[:-1, 3] = np.where(levels > 0, BY_LEVEL, 0)
    questions, ends = np.zeros(at[1, -1, 0], np.uint64), np.zeros(at[1, -1, 1], np.int64)
    scratch = np.zeros((2, int(np.diff(arrays.roots).max(initial=1))), np.int64)
    for own, plan, table in zip(at, plans, tables, strict=True):
        asked = np.stack([plan.column, plan.bound]).astype(np.int32)
        asked[0, table] = first_table + np.arange(own[0, 2], own[-1, 2]) - np.repeat(own[:-1, 2], np.diff(own[:, 2]))
        asked[1, table] = 0
        for tree in range(n_trees):
            first, last = own[tree], own[tree + 1]
            nodes = int(arrays.roots[tree]), int(arrays.roots[tree + 1])
            parts = questions[first[0] : last[0]], ends[first[1] : last[1]]
            if own[tree, 3] == BY_LEVEL:
                write_levels(plan, nodes[0], *parts)
            else:
                own[tree, 3] = write_questions(arrays.child, plan.ways, asked, *nodes, *parts, scratch)
    both = np.concatenate(tables)
    scalar = arrays.value.shape[1] == 1
    return Program(
        questions=questions,
        ends=ends,
        end_value=arrays.value[ends >> 1, 0] if scalar else np.zeros(0),
        tables=level_tables(arrays, both),
        table_column=column[both],
        at=at.reshape(-1, 4),
    )


def tree_levels(arrays: Any, plan: QuestionPlan) -> NDArray[np.int64]:
    """The depth of each tree whose nodes of one level all ask the same number of the same column; 0 for other trees.

    Such a tree is complete and has its nodes level by level. Nodes that no row reaches have been cut away from the plan; others of
    their level ask for them.
    """
    out = np.zeros(arrays.output.size, np.int64)
    for tree, (begin, end) in enumerate(zip(arrays.roots[:-1].tolist(), arrays.roots[1:].tolist(), strict=True)):
        depth = ((end - begin) // 2).bit_length()
        if 1 <= depth <= MOST_LEVELS and end - begin == (2 << depth) - 1:
            inner = np.arange(begin, begin + (1 << depth) - 1)
            first = begin + (1 << np.repeat(np.arange(depth), 1 << np.arange(depth))) - 1  # of the level of each node
            complete = np.array_equal(arrays.child[inner], 2 * (inner - begin) + 1) and bool(np.isin(plan.ways[inner], (TWO, END)).all())
            alike = all(np.array_equal(own[inner], own[first]) for own in (arrays.feature, arrays.threshold, arrays.missing))
            if complete and alike and (level_nodes(plan, begin, depth) >= 0).all():
                out[tree] = depth
    return out


def level_nodes(plan: QuestionPlan, begin: int, depth: int) -> NDArray[np.int64]:
    """The node that asks for each level of a complete tree; -1 where all have been cut away."""
    out = np.full(depth, -1)
    for level in range(depth):
        first = begin + (1 << level) - 1
        asking = np.flatnonzero(plan.ways[first : first + (1 << level)] == TWO)
        out[level] = first + asking[0] if asking.size else -1
    return out


def write_levels(plan: QuestionPlan, begin: int, out_questions: NDArray[np.uint64], out_ends: NDArray[np.int64]) -> None:
    """One question for each level of a tree, and its ends from left to right."""
    depth = len(out_ends).bit_length() - 1
    for level, node in enumerate(level_nodes(plan, begin, depth)):
        bit = 1 << (depth - 1 - level)
        out_questions[level] = int(plan.column[node]) | (int(plan.bound[node]) + 128) << BOUND_SHIFT | bit << TARGET_SHIFT
    out_ends[:] = 2 * (begin + len(out_ends) - 1 + np.arange(len(out_ends)))


def level_tables(arrays: Any, nodes: NDArray[np.int64]) -> NDArray[np.int8]:
    """For each category split what becomes of a code: 0 left, 1 right, 2 stop; (nodes, 256)."""
    size = arrays.set_words[arrays.feature[nodes]].astype(np.int64)
    sides = []
    for side in (0, 1):
        words = np.zeros((nodes.size, SET_WORDS), "<u8")
        for k in range(SET_WORDS):
            has = np.flatnonzero(size > k)
            words[has, k] = arrays.words[arrays.sets[nodes[has]] + side * size[has] + k]
        sides.append(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool))
    table = np.where(sides[0], 0, np.where(sides[1], 1, 2)).astype(np.int8)
    table[:, CODED_CATEGORIES] = 2  # unseen
    table[:, CODED_CATEGORIES + 1] = arrays.missing[nodes]
    return table


def make_encoder(edges: list[Any], features: NDArray[np.int64], lowest: NDArray[np.int64], dtype: np.dtype[Any]) -> Encoder:
    """How values of this type become codes: the number of edges below them."""
    columns = np.zeros((features.size, 4), np.int64)
    cells: list[NDArray[np.uint8]] = []
    numbers: list[NDArray[Any]] = []
    for c, own in enumerate(edges):
        own = round_down(own, dtype)
        grid = make_grid(own)
        columns[c] = features[c], grid.steps if own.size else -1, sum(map(len, cells)), sum(map(len, numbers))
        cells.append(grid.cells)
        head = np.array([grid.low, grid.scale, grid.cells.size - 1], dtype)
        # The search looks up to its first step beyond the last edge.
        numbers.append(np.concatenate([head, own, np.full(1 << grid.steps, np.inf, dtype)]))
    return Encoder(
        columns=columns,
        cells=np.concatenate([*cells, np.zeros(1, np.uint8)]),
        edges=np.concatenate([*numbers, np.zeros(GRID, dtype)]),
        lowest=lowest,
    )


class EdgeGrid(NamedTuple):
    """Equal cells over the range of the edges."""

    low: Any
    scale: Any
    cells: NDArray[np.uint8]  # edges in earlier cells
    steps: int  # of a search among the edges of one cell


def make_grid(edges: NDArray[Any]) -> EdgeGrid:
    """A grid for sorted edges; a single cell where they are few or where no grid can tell them apart."""
    kind = edges.dtype.type
    finite = edges[np.isfinite(edges)]
    n_cells, low, scale = 1, kind(0), kind(0)
    if edges.size > FEW_EDGES and finite.size > 1:
        wanted = min(CELLS, 4 << int(edges.size - 1).bit_length())
        with np.errstate(over="ignore", divide="ignore"):
            steep = kind(wanted - 1) / (finite[-1] - finite[0])
        if np.isfinite(steep) and steep > 0:
            n_cells, low, scale = wanted, finite[0], kind(steep)
    with np.errstate(over="ignore", invalid="ignore"):
        z = (edges - low) * scale
    z = np.where(z > 0, z, kind(0))
    cell = np.where(z < n_cells - 1, z, kind(n_cells - 1)).astype(np.int64)
    counts = np.bincount(cell, minlength=n_cells)
    before = np.cumsum(counts) - counts
    return EdgeGrid(low, scale, before.astype(np.uint8), int(counts.max()).bit_length())


def round_down(edges: NDArray[np.float64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The largest value of the type that is not above each edge: x <= edge means the same for every x of that type."""
    with np.errstate(over="ignore"):
        near = edges.astype(dtype)
    return np.where(near > edges, np.nextafter(near, dtype.type(-np.inf)), near).astype(dtype)
