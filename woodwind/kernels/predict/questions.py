"""Blocks of rows to scores: every node asks every row, many rows to an instruction.

Measured on one core with AVX2, for each row and tree: 4.9 ns with 255 leaves and 1.5 ns with 64, where walks of four rows
side by side cost 27 and 8. The plan is in `woodwind/kernels/predict/question_plan.py`.

A block of rows is first coded into bytes by the thresholds of the forest itself, at most 254 for a feature, so that
code > bound says the same as value > threshold. Two plans are kept: a block without missing numbers needs no
questions about them. Where a plan ends before the tree does, rows walk on by `woodwind/kernels/predict/walk.py`.
The slow twins are in `tests/reference/naive_traverse.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.predict.question_plan import BLOCK, BY_LEVEL, MISSING, TILE, WALKS, ask_levels, find_places, look_up
from woodwind.kernels.predict.walk import LANES, advance, deliver
from woodwind.kernels.runtime.jit import inner, kernel

# Categories of a column that have a code of their own, and the code of all others.
CODED_CATEGORIES = 254
UNSEEN = 126

# Columns of Encoder.columns.
FEATURE = 0
STEPS = 1  # steps of the search within a cell; -1 for a category
CELLS_AT = 2
EDGES_AT = 3
# Entries before the edges of a column: lower end of its grid, cells for each unit, last cell.
GRID = 3


class Encoder(NamedTuple):
    """How values become codes: a grid of equal cells gives the first candidate, a short search the rest.

    A cell is a monotonic function of the value, so edges in earlier cells are below it and edges in later ones are not,
    however the arithmetic rounds.
    """

    columns: Any  # int64[C, 4]
    cells: Any  # uint8: number of edges in earlier cells
    edges: Any  # as the values: three numbers of the grid, then sorted edges, padded with infinity
    lowest: Any  # int64[D]: columns that have a copy, behind the others, with missing values lowest


class Program(NamedTuple):
    """The plans of all trees: for blocks without missing numbers, and then for others."""

    questions: Any  # uint64
    ends: Any  # int64: twice the node of each place, plus 1 where rows have to walk on
    end_value: Any  # float64: value of each end; empty if values are vectors
    tables: Any  # int8[tables, 256]: what becomes of each category
    table_column: Any  # int64[tables]: the column that holds the categories
    at: Any  # int64[2 (T + 1), 4]: first question, end and table of each tree, and what is special about it: WALKS, BY_LEVEL or 0


@inner
def encode_column(values: Any, encoder: Any, c: Any, place: Any, target: Any, codes: Any) -> None:
    """Code values[TILE] of a number column into codes[target...]: the number of edges below each value.

    place uint32[TILE]: scratch. One step of the search for all rows, then the next: 0.5 ns for each, where a search row by row takes 1.6.
    """
    grid = np.uint64(encoder.columns[c, EDGES_AT])
    low, scale, top = encoder.edges[grid], encoder.edges[grid + np.uint64(1)], encoder.edges[grid + np.uint64(2)]
    zero = low - low
    for i in range(np.uint64(TILE)):
        z = (values[i] - low) * scale
        z = z if z > zero else zero  # for NaN too
        place[i] = np.uint32(np.int32(z if z < top else top))
    cells, edges = np.uint64(encoder.columns[c, CELLS_AT]), grid + np.uint64(GRID)
    for i in range(np.uint64(TILE)):
        place[i] = np.uint32(encoder.cells[cells + np.uint64(place[i])])
    half = np.uint32(1) << np.uint32(encoder.columns[c, STEPS])
    while half > np.uint32(1):
        half >>= np.uint32(1)
        ahead = edges + np.uint64(half) - np.uint64(1)
        for i in range(np.uint64(TILE)):
            k = place[i]
            place[i] = k + half if encoder.edges[ahead + np.uint64(k)] < values[i] else k
    for i in range(np.uint64(TILE)):
        codes[target + i] = np.int8(np.int64(place[i]) - 128) if values[i] == values[i] else np.int8(MISSING)


@inner
def encode_block(x: Any, n_features: Any, first: Any, last: Any, encoder: Any, codes: Any) -> bool:
    """Code rows first..last, at most BLOCK, into codes int8[columns * BLOCK]; returns whether a number is missing.

    Rows beyond the last repeat it, up to the end of a tile.
    """
    values = np.empty(TILE, x.dtype)
    place = np.empty(TILE, np.uint32)
    largest = np.int8(-128)
    n_columns = np.uint64(encoder.columns.shape[0])
    for tile in range(first, last, np.uint64(TILE)):
        for c in range(n_columns):
            at, target = tile * n_features + np.uint64(encoder.columns[c, FEATURE]), c * np.uint64(BLOCK) + tile - first
            rows = min(np.uint64(TILE), last - tile)
            for i in range(rows):
                values[i] = x[at + i * n_features]
            for i in range(rows, np.uint64(TILE)):
                values[i] = values[rows - np.uint64(1)]
            if encoder.columns[c, STEPS] >= 0:
                encode_column(values, encoder, c, place, target, codes)
            else:
                for i in range(np.uint64(TILE)):
                    v = values[i]
                    category = np.int64(v) - 128 if (v >= 0) & (v < CODED_CATEGORIES) else np.int64(UNSEEN)
                    codes[target + i] = MISSING if (v != v) | (v == -1) else category
    for c in range(n_columns):
        if encoder.columns[c, STEPS] >= 0:
            for i in range(c * np.uint64(BLOCK), (c + np.uint64(1)) * np.uint64(BLOCK)):
                largest = max(largest, codes[i])
    if largest == MISSING:
        for d in range(np.uint64(encoder.lowest.shape[0])):
            source, target = np.uint64(encoder.lowest[d]) * np.uint64(BLOCK), (n_columns + d) * np.uint64(BLOCK)
            for i in range(np.uint64(BLOCK)):
                code = codes[source + i]
                codes[target + i] = np.int8(-128) if code == MISSING else np.int8(code + 1)
    return largest == MISSING


@inner
def walk_on(places: Any, n: Any, first_end: Any, first_row: Any, ends: Any, table: Any, walk: Any, out_found: Any) -> None:
    """The nodes where the first n rows of a block end, of which some have to walk: out_found uint32[LANES]. table = (x, n_features)."""
    nodes, words = walk.nodes, walk.words
    x, n_features = table
    lanes, offsets, rows = np.empty(LANES, np.uint32), np.empty(LANES, np.uint64), np.empty(LANES, np.uint16)
    kept = np.uint64(0)
    for i in range(n):  # those who walk, without a branch: the place moves on only behind them
        end = np.uint64(ends[first_end + np.uint64(places[i])])
        out_found[i] = end >> np.uint64(1)
        lanes[kept], offsets[kept], rows[kept] = end >> np.uint64(1), (first_row + i) * n_features, i
        kept += end & np.uint64(1)
    advance(lanes, offsets, kept, x, nodes, words)
    for j in range(kept):
        out_found[np.uint64(rows[j])] = lanes[j]


@kernel
def predict_by_questions(x: Any, n_features: int, n_rows: int, trees: Any, tools: Any, out: Any, out_leaf: Any) -> None:
    """Send all rows of x float[n_rows * n_features] through trees[0]..trees[1]: the result of `walk_rows`, bit for bit.

    tools (walk, encoder, program, columns): the last says how many columns of codes a block has, answers of tables included.
    out and out_leaf as in `walk_rows`.
    """
    walk, encoder, program, n_columns = tools
    at, ends, end_value, roots = program.at, program.ends, program.end_value, walk.trees
    questions, tables, table_column = program.questions, program.tables, program.table_column
    codes = np.empty(n_columns * BLOCK, np.int8)
    narrow, places, found = np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.uint16), np.empty(LANES, np.uint32)
    first_table = encoder.columns.shape[0] + encoder.lowest.shape[0]
    for i in range(codes.shape[0]):
        codes[i] = 0
    for first in range(np.uint64(0), np.uint64(n_rows), np.uint64(BLOCK)):
        n = min(np.uint64(BLOCK), np.uint64(n_rows) - first)
        missing = encode_block(x, np.uint64(n_features), first, first + n, encoder, codes)
        for tree in range(trees[0], trees[1]):
            plan = tree + at.shape[0] // 2 if missing else tree
            begin, after = at[plan], at[plan + 1]
            for t in range(begin[2], after[2]):
                look_up(codes, table_column[t], tables, t, first_table + t - begin[2])
            if begin[3] == BY_LEVEL:
                ask_levels(codes, questions, begin[0], after[0], places)
            else:
                find_places(codes, questions, begin[0], after[0], after[1] - begin[1], narrow, places)
            first_end = np.uint64(begin[1])
            if out is not None and begin[3] != WALKS and end_value.shape[0] > 0:
                column = np.uint64(roots[tree, 1])
                for i in range(n):
                    out[first + i, column] += end_value[first_end + np.uint64(places[i])]
            else:
                walk_on(places, n, first_end, first, ends, (x, np.uint64(n_features)), walk, found)
                step = (np.uint64(1), np.uint64(0))
                deliver(found, n, (first, np.uint64(tree)), step, walk, np.uint64(trees[0]), out, out_leaf)
