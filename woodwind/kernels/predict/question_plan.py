"""A tree as a list of questions that can be put to all rows at once: which nodes, in which order; and the asking.

Number the places where a row may end, from left to right: leaves, nodes where it stops, nodes from which it walks on.
A row's place is a byte, or two in the largest trees that are planned. Every row starts at place 0. A node whose places are
s..e asks every row "are you at s, and does your code exceed my bound?", and those that say yes move to m, the first place
of the right child:

            s..e                      row:   place = m   if place == s and code > bound   else place
           /    \\
       s..m-1    m..e                 (parents ask before their children; a third way out, STOP, is asked first)

In a symmetric tree all nodes of a level ask the same, and one question does for them: those that say yes have the bit of the level
added to their place.

No row follows a pointer, and one vector instruction asks 32 rows or more. Rows of raw values are coded for it by
`woodwind/kernels/predict/questions.py`, rows of a training table are codes already: `woodwind/kernels/predict/walk_codes.py`.
The slow twin is `place_of` in `tests/reference/naive_traverse.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inner, kernel

# Places of a byte. Beyond them a plan takes two, and a question three times as long; beyond WIDE_PLACES it ends before the tree does.
PLACES = 256
WIDE_PLACES = 512
# Rows of a block: 28 columns of them fit into the first cache, and what four questions cost once is spread over 16 vectors.
BLOCK = 512
# Rows that are coded together, so that their values stay in the first cache while all columns are done.
TILE = 64
# Questions are asked four at a time: more keep their constants in memory instead of registers.
TOGETHER = 4

# Ways out of a node, as the plan sees it.
END = 0  # a leaf, or a node that questions leave to the walk
TWO = 1
THREE = 2  # left, right and STOP
CATEGORY = 4  # flag: the question is put to a table of categories

# The code of a missing value, and the bound that only it exceeds. Codes are signed: AVX2 compares signed bytes only.
MISSING = 127
MISSING_BOUND = 126
# A table of categories answers 0 for left, 1 for right, 2 for stop.
STOP_BOUND = 1
NEVER = 127  # no code exceeds it

# What may be special about a tree: rows have to walk on from some of its ends; it is asked level by level.
WALKS = 1
BY_LEVEL = 2
MOST_LEVELS = WIDE_PLACES.bit_length() - 1  # of a tree that is: a larger plan has lost its lowest levels

# A question in one word: the column in the low 24 bits, then the bound (plus 128), the source and the target.
COLUMN_MASK = 0xFFFFFF
BOUND_SHIFT = 24
SOURCE_SHIFT = 32
TARGET_SHIFT = 48
PLACE_MASK = 0xFFFF

# A node that fewer rows reach is cheaper to walk than to ask of every row: 0.02 ns for a question, 2.5 ns for a step.
LEAST_SHARE = 1.0 / 128.0
# A table of categories costs some 20 questions: where a tree has many, only those at the top are asked.
FEW_TABLES = 16
LEAST_TABLE_SHARE = 1.0 / 32.0


@kernel
def choose(child: Any, cover: Any, begin: int, end: int, share: Any, ways: Any) -> None:
    """Keep of one tree, nodes begin..end, what is worth asking of every row and fits into a plan.

    child int32[N], cover float64[N] or None, share float64[>= end - begin] (scratch),
    ways uint8[N]: in, what each node could be; out, END where questions stop.
    Without cover, half of a node's rows are taken to go either way.
    """
    n = end - begin
    tables = 0
    for i in range(n):
        share[i] = 0.0
        tables += ways[begin + i] >= CATEGORY
    least_table = LEAST_TABLE_SHARE if tables > FEW_TABLES else 0.0
    share[0] = 1.0
    places = np.int64(1)
    for i in range(n):
        way = ways[begin + i]
        if way == END or share[i] == 0.0 or (way >= CATEGORY and share[i] < least_table):
            ways[begin + i] = END
            continue
        places += np.int64(way & 3)
        for c in range(child[begin + i], child[begin + i] + 2):
            share[c] = 0.5 * share[i]
            if cover is not None:
                # No child may count for more than its parent: the top of the tree has to stay in one piece.
                share[c] = min(share[i], cover[begin + c] / cover[begin]) if cover[begin] > 0.0 else share[c]
    # The smallest share for which the places suffice, to four digits; a share above one leaves the root alone.
    low, high, threshold = 0.0, 2.0, LEAST_SHARE
    while places > WIDE_PLACES and high - low > 1e-4:
        count = np.int64(1)
        for i in range(n):
            count += np.int64(ways[begin + i] & 3) if share[i] >= threshold else np.int64(0)
        if count <= PLACES:
            high = threshold
            low = threshold if threshold == LEAST_SHARE else low
        else:
            low = threshold
        threshold = 0.5 * (low + high)
    if places > WIDE_PLACES:
        for i in range(n):
            ways[begin + i] = ways[begin + i] if share[i] >= high else END


@inner
def question(column: Any, bound: Any, source: Any, target: Any) -> Any:
    """One question as a word."""
    return (
        np.uint64(column)
        | (np.uint64(np.int64(bound) + 128) << np.uint64(BOUND_SHIFT))
        | (np.uint64(source) << np.uint64(SOURCE_SHIFT))
        | (np.uint64(target) << np.uint64(TARGET_SHIFT))
    )


@kernel
def write_questions(child: Any, ways: Any, asked: Any, begin: int, end: int, out_questions: Any, out_ends: Any, scratch: Any) -> bool:
    """Write the questions and the ends of one tree, nodes begin..end; returns whether rows may have to walk on from an end.

    child         int32[N]; ways uint8[N] after `choose`
    asked         int32[2, N]: column and bound of each node
    out_questions uint64: filled up to a multiple of TOGETHER with questions that move nobody
    out_ends      int64[places]: twice the node of each place, plus 1 where rows have to walk on
    scratch       int64[2, >= end - begin]
    """
    n = end - begin
    q = 0
    walks = False
    for i in range(n - 1, -1, -1):
        scratch[0, i] = -1
        scratch[1, i] = 1
        if ways[begin + i] != END:
            left = child[begin + i]
            scratch[1, i] = scratch[1, left] + scratch[1, left + 1] + (ways[begin + i] & 3) - 1
    scratch[0, 0] = 0
    for i in range(n):
        first, way, left = scratch[0, i], ways[begin + i], child[begin + i]
        if first < 0:
            continue
        if way == END:
            out_ends[first] = 2 * (begin + i) + (left != 0)
            walks |= left != 0
            continue
        middle = first + scratch[1, left]
        scratch[0, left], scratch[0, left + 1] = first, middle
        if way & 3 == THREE:
            stop = middle + scratch[1, left + 1]
            out_ends[stop] = 2 * (begin + i)
            out_questions[q] = question(asked[0, begin + i], np.int32(STOP_BOUND if way >= CATEGORY else MISSING_BOUND), first, stop)
            q += 1
        out_questions[q] = question(asked[0, begin + i], asked[1, begin + i], first, middle)
        q += 1
    while q % TOGETHER != 0:
        out_questions[q] = question(np.int32(0), np.int32(NEVER), np.int64(0), np.int64(0))
        q += 1
    return walks


@inner
def read_question(word: Any) -> Any:
    """Where the column of a question begins in a block, its bound, its source and its target."""
    bound = np.int8(np.int64((word >> np.uint64(BOUND_SHIFT)) & np.uint64(255)) - 128)
    source, target = (word >> np.uint64(SOURCE_SHIFT)) & np.uint64(PLACE_MASK), word >> np.uint64(TARGET_SHIFT)
    return (word & np.uint64(COLUMN_MASK)) * np.uint64(BLOCK), bound, np.uint16(source), np.uint16(target)


@inner
def ask(codes: Any, questions: Any, begin: Any, end: Any, places: Any) -> None:
    """Put questions begin..end to a block of rows: codes int8[columns * BLOCK], places uint8[BLOCK] in and out."""
    for q in range(np.uint64(begin), np.uint64(end), np.uint64(TOGETHER)):
        c0, b0, source, target = read_question(questions[q])
        s0, t0 = np.uint8(source), np.uint8(target)
        c1, b1, source, target = read_question(questions[q + np.uint64(1)])
        s1, t1 = np.uint8(source), np.uint8(target)
        c2, b2, source, target = read_question(questions[q + np.uint64(2)])
        s2, t2 = np.uint8(source), np.uint8(target)
        c3, b3, source, target = read_question(questions[q + np.uint64(3)])
        s3, t3 = np.uint8(source), np.uint8(target)
        for i in range(np.uint64(BLOCK)):
            place = places[i]
            place = t0 if (codes[c0 + i] > b0) & (place == s0) else place
            place = t1 if (codes[c1 + i] > b1) & (place == s1) else place
            place = t2 if (codes[c2 + i] > b2) & (place == s2) else place
            place = t3 if (codes[c3 + i] > b3) & (place == s3) else place
            places[i] = place


@inner
def ask_wide(codes: Any, questions: Any, begin: Any, end: Any, places: Any) -> None:
    """The same with places uint16[BLOCK], one question at a time: rare enough to be compiled quickly instead."""
    for q in range(np.uint64(begin), np.uint64(end)):
        column, bound, source, target = read_question(questions[q])
        for i in range(np.uint64(BLOCK)):
            place = places[i]
            places[i] = target if (codes[column + i] > bound) & (place == source) else place


@inner
def ask_levels(codes: Any, questions: Any, begin: Any, end: Any, out_places: Any) -> None:
    """Put questions begin..end, one for each level of a tree, to a block of rows: who exceeds the bound has the target added."""
    for i in range(np.uint64(BLOCK)):
        out_places[i] = 0
    for q in range(np.uint64(begin), np.uint64(end)):
        column, bound, _source, target = read_question(questions[q])
        for i in range(np.uint64(BLOCK)):
            out_places[i] |= target if codes[column + i] > bound else np.uint16(0)


@inner
def look_up(codes: Any, column: Any, tables: Any, table: Any, target: Any) -> None:
    """Write what a table int8[256] answers for the categories of a column into the column `target`."""
    source, goal = np.uint64(column) * np.uint64(BLOCK), np.uint64(target) * np.uint64(BLOCK)
    for i in range(np.uint64(BLOCK)):
        codes[goal + i] = tables[np.uint64(table), np.uint64(np.int64(codes[source + i]) + 128)]


@inner
def find_places(codes: Any, questions: Any, begin: Any, end: Any, n_places: Any, narrow: Any, out_places: Any) -> None:
    """Put questions begin..end to rows that all start at place 0: out_places uint16[BLOCK], narrow uint8[BLOCK] is scratch."""
    if n_places > PLACES:
        for i in range(np.uint64(BLOCK)):
            out_places[i] = 0
        ask_wide(codes, questions, begin, end, out_places)
        return
    for i in range(np.uint64(BLOCK)):
        narrow[i] = 0
    ask(codes, questions, begin, end, narrow)
    for i in range(np.uint64(BLOCK)):
        out_places[i] = narrow[i]
