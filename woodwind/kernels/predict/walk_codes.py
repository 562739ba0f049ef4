"""Rows to leaves in one tree while it trains, on the byte codes of the training table.

Boosting asks this of every validation row in every round. Questions are asked (`woodwind/kernels/predict/question_plan.py`) by a plan
made on the spot, from bins instead of thresholds: the code of a bin is the code that is asked for.
The slow twin is `walk_codes` in `tests/reference/naive_traverse.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.predict.question_plan import (
    BLOCK,
    CATEGORY,
    END,
    MISSING,
    NEVER,
    THREE,
    TILE,
    TOGETHER,
    TWO,
    WIDE_PLACES,
    choose,
    find_places,
    look_up,
    write_questions,
)
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.tree.layout import LEFT, STOP

# Below this number of rows a plan costs more than it saves.
FEW_ROWS = 64
# Most tables in a plan: each has two questions, and every question a place.
TABLES = WIDE_PLACES // 2


class CodeTree(NamedTuple):
    """One tree over codes."""

    feature: Any  # int32[N]: -1 at a leaf
    bin: Any  # uint8[N]: number split: left when code <= bin
    child: Any  # int32[N]: the left child, the right one follows; 0 at a leaf
    missing: Any  # uint8[N]: LEFT, RIGHT or STOP
    set_index: Any  # int32[N]: row of `sets` for a category split, -1 otherwise
    sets: Any  # uint64[n_sets, 8]: four words of categories that go left, four of categories that go right
    missing_code: int


@inner
def turn_code(tree: Any, node: Any, code: Any) -> Any:
    """Where a code goes at an inner node: LEFT, RIGHT or STOP."""
    if code == tree.missing_code:
        return np.int64(tree.missing[node])
    if tree.set_index[node] < 0:
        return np.int64(code > tree.bin[node])
    own = tree.sets[tree.set_index[node]]
    word, bit = np.uint64(code) >> np.uint64(6), np.uint64(code) & np.uint64(63)
    left = (own[word] >> bit) & np.uint64(1)
    right = (own[word + np.uint64(4)] >> bit) & np.uint64(1)
    return STOP - 2 * np.int64(left) - np.int64(right)


@inner
def walk_on(codes: Any, row_at: Any, column_step: Any, tree: Any, node: Any) -> int:
    """Walk one row from a node to where it ends."""
    while tree.feature[node] >= 0:
        way = turn_code(tree, node, np.int64(codes[row_at + np.uint64(tree.feature[node]) * column_step]))
        if way == STOP:
            break
        node = np.int64(tree.child[node]) + way
    return node


@inner
def gather(codes: Any, rows_at: Any, in_line: bool, column_step: Any, features: Any, out: Any) -> None:
    """Codes of BLOCK rows, one column after another: out uint8[columns * BLOCK].

    rows_at uint64[BLOCK]: where each row begins in codes; in_line: one after another, without a gap.
    """
    n_columns = np.uint64(features.shape[0])
    if in_line:
        for c in range(n_columns):
            source, target = np.uint64(features[c]) * column_step + rows_at[0], c * np.uint64(BLOCK)
            for i in range(np.uint64(BLOCK)):
                out[target + i] = codes[source + i]
        return
    for first in range(np.uint64(0), np.uint64(BLOCK), np.uint64(TILE)):  # so that rows stay in the first cache for all columns
        for c in range(n_columns):
            source, target = np.uint64(features[c]) * column_step, c * np.uint64(BLOCK)
            for i in range(first, first + np.uint64(TILE)):
                out[target + i] = codes[source + rows_at[i]]


@inner
def prepare(codes: Any, n: Any, missing_code: Any) -> bool:
    """Turn the first n codes uint8 into what questions want, bytes that are signed, missing 127; whether any is missing."""
    largest = np.uint8(0)
    for i in range(n):
        code = codes[i]
        largest = max(largest, code)  # no code is above that of a missing value
        code = np.uint8(255) if code == missing_code else code
        codes[i] = code ^ np.uint8(128)  # the same bits as the signed byte that is less by 128
    return largest == missing_code


@inner
def used_features(tree: Any, columns: Any) -> int:
    """Number the features that the tree asks: columns int32[2 * F]; their count.

    The first half of `columns` gives the column of each feature, or -1; the second half the feature of each column.
    """
    n_features, used = columns.shape[0] // 2, 0
    for f in range(n_features):
        columns[f] = -1
    for node in range(tree.feature.shape[0]):
        f = tree.feature[node]
        if f >= 0 and columns[f] < 0:
            columns[f] = used
            columns[n_features + used] = f
            used += 1
    return used


@inner
def plan_codes(tree: Any, columns: Any, used: int, full: bool, questions: Any, ends: Any, tables: Any, table_column: Any) -> Any:
    """The questions of one tree over codes, for rows with missing codes if `full`.

    Returns how many, which is one less than there are places, and how many tables.

    questions uint64[2 N + 4], ends int64[WIDE_PLACES], tables int8[TABLES, 256], table_column int32[TABLES].
    In a full plan every column has a copy with missing codes lowest, `used` places behind it.
    """
    n = tree.feature.shape[0]
    ways = np.empty(n, np.uint8)
    asked = np.empty((2, n), np.int32)
    for node in range(n):
        f = tree.feature[node]
        if f < 0:
            ways[node] = END
            continue
        stops = full and tree.missing[node] == STOP
        copied = full and tree.missing[node] == LEFT
        ways[node] = THREE | CATEGORY if tree.set_index[node] >= 0 else (THREE if stops else TWO)
        asked[0, node] = columns[f] + (used if copied else 0)
        asked[1, node] = min(np.int64(tree.bin[node]) + np.int64(copied) - 128, NEVER)
    choose(tree.child, None, 0, n, np.empty(n, np.float64), ways)
    n_tables, n_questions = 0, np.int64(0)
    for node in range(n):
        n_questions += np.int64(ways[node] & 3)
        if ways[node] >= CATEGORY:
            for code in range(255):
                tables[n_tables, code] = turn_code(tree, np.int64(node), np.int64(code))
            tables[n_tables, 255] = tree.missing[node]
            table_column[n_tables] = columns[tree.feature[node]]
            asked[0, node] = 2 * used + n_tables
            asked[1, node] = 0
            n_tables += 1
    write_questions(tree.child, ways, asked, 0, n, questions, ends, np.empty((2, n), np.int64))
    return n_questions, n_tables


@kernel
def walk_codes(codes: Any, steps: Any, rows: Any, begin: int, end: int, tree: Any, out_leaf: Any) -> None:
    """Write the node where each of the rows begin..end ends into out_leaf int32[begin..end].

    codes uint8, flat, and steps (from one row to the next, from one column to the next): by row (stride, 1) or by column (1, n)
    rows  int32: entry i of out_leaf is about row rows[i]; None: about row i
    """
    row_step, column_step = np.uint64(steps[0]), np.uint64(steps[1])
    if end - begin < FEW_ROWS or tree.feature[0] < 0:
        for i in range(begin, end):
            row = np.uint64(i if rows is None else rows[i])
            out_leaf[i] = walk_on(codes, row * row_step, column_step, tree, np.int64(0))
        return
    n_nodes, most = tree.feature.shape[0], 0
    for node in range(n_nodes):
        most = max(most, tree.feature[node])
    columns = np.empty(2 * (most + 1), np.int32)
    used = used_features(tree, columns)
    features = columns[most + 1 : most + 1 + used]
    questions, ends = np.empty(2 * n_nodes + TOGETHER, np.uint64), np.empty(WIDE_PLACES, np.int64)
    tables, table_column = np.empty((TABLES, 256), np.int8), np.empty(TABLES, np.int32)
    block = np.empty((2 * used + TABLES) * BLOCK, np.int8)
    raw, used_codes = block.view(np.uint8), np.uint64(used * BLOCK)
    rows_at, narrow, places = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.uint16)
    full = end < begin  # no; written as False it would have another type, and be compiled twice
    n_questions, n_tables = plan_codes(tree, columns, used, full, questions, ends, tables, table_column)
    for first in range(begin, end, BLOCK):
        n = min(BLOCK, end - first)
        for i in range(BLOCK):
            j = first + min(i, n - 1)
            rows_at[i] = np.uint64(j if rows is None else rows[j]) * row_step
        in_line = rows is None and row_step == np.uint64(1) and n == BLOCK
        gather(codes, rows_at, in_line, column_step, features, raw)
        if prepare(raw, used_codes, np.uint8(tree.missing_code)) and not full:
            full = begin < end  # yes, and it stays: a plan costs as much as some hundred rows
            n_questions, n_tables = plan_codes(tree, columns, used, full, questions, ends, tables, table_column)
        if full:
            for i in range(used_codes):
                code = block[i]
                block[used_codes + i] = np.int8(-128) if code == MISSING else np.int8(code + 1)
        for t in range(n_tables):
            look_up(block, np.int64(table_column[t]), tables, t, 2 * used + t)
        find_places(block, questions, np.int64(0), n_questions, n_questions + 1, narrow, places)
        for i in range(n):
            end_of_row = ends[places[i]]
            node = end_of_row >> 1
            out_leaf[first + i] = walk_on(codes, rows_at[i], column_step, tree, node) if end_of_row & 1 else node


@kernel
def walk_sparse_codes(starts: Any, features: Any, codes: Any, absent: Any, begin: int, end: int, tree: Any, out_leaf: Any) -> None:
    """Write the node of a `CodeTree` where each of the rows begin..end ends into out_leaf int32[n]; see `walk_sparse_rows` in walk.py.

    The cells of row i are starts[i] to starts[i + 1]: features int32[m], codes uint8[m]; all others have absent uint8[F].
    """
    line = np.empty(len(absent), np.uint8)
    for f in range(len(absent)):
        line[f] = absent[f]
    for i in range(begin, end):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            line[np.uint64(features[k])] = codes[k]
        out_leaf[i] = walk_on(line, np.uint64(0), np.uint64(1), tree, np.int64(0))
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            line[np.uint64(features[k])] = absent[np.uint64(features[k])]
