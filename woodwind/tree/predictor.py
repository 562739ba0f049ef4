"""Scores from a forest: which kernel gets which rows, and the forest in the form that each of them wants.

Few rows walk (`kernels/predict/walk.py`); blocks of rows are asked questions (`kernels/predict/questions.py`). The results are the
same, bit for bit. What a kernel needs is made from the forest's arrays on first use and kept.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TableError
from woodwind.base.pool import run_ranges
from woodwind.data.binning.sparse_cuts import is_thin
from woodwind.data.tables.table import SparseMatrix, Table
from woodwind.kernels.predict.questions import predict_by_questions
from woodwind.kernels.predict.walk import (
    CATEGORY_SHIFT,
    FEATURE_MASK,
    FEATURE_SHIFT,
    MISSING_SHIFT,
    SET_SHIFT,
    Walk,
    direct,
    walk_rows,
    walk_sparse_rows,
)
from woodwind.kernels.runtime.jit import read_only
from woodwind.tree.question_plan import ForestPlan, make_plan

# Asking a block of rows costs the same for one row as for 512: below this number of rows a walk is faster.
LEAST_ASKED = 32
# Planning the questions of a forest takes as long as walking some thousand rows through it: before so many have come, rows walk. A process
# that predicts a thousand rows and ends, as `woodwind predict` may, never plans.
LEAST_PLANNED = 4096
# What kernels read without a copy.
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
# Rows that are copied together where the input is not one array in C order.
CHUNK = 4096
CHUNK_BYTES = 1 << 22
# What a row costs in one tree, in the units of the pool.
WORK_PER_TREE = 8


class Arrays(NamedTuple):
    """The arrays of a forest that decide where rows go. See `woodwind.tree.forest.Forest`."""

    roots: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    child: NDArray[np.int32]
    missing: NDArray[np.uint8]
    sets: NDArray[np.int64]
    words: NDArray[np.uint64]
    set_words: NDArray[np.int32]
    value: NDArray[np.float64]
    cover: NDArray[np.float64]
    output: NDArray[np.int32]


def pack(arrays: Arrays) -> Walk:
    """The forest with two words for each node."""
    if arrays.set_words.size > FEATURE_MASK:
        raise TableError(f"a forest can have at most {FEATURE_MASK} features, this one has {arrays.set_words.size}")
    split, category = arrays.feature >= 0, arrays.sets >= 0
    left = np.where(split, np.repeat(arrays.roots[:-1], np.diff(arrays.roots)) + arrays.child, np.arange(split.size))
    first = left.astype(np.uint64)
    for flag, shift in (
        (np.where(split, arrays.feature, 0), FEATURE_SHIFT),
        (np.where(split, arrays.missing, 0), MISSING_SHIFT),
        (category, CATEGORY_SHIFT),
    ):
        first |= flag.astype(np.uint64) << np.uint64(shift)
    # Nothing is beyond infinity, and what is missing goes left there: a leaf leads to itself.
    second = np.where(split, arrays.threshold, np.inf).view(np.uint64)
    words = arrays.set_words[arrays.feature[category]].astype(np.uint64)
    second[category] = arrays.sets[category].astype(np.uint64) | words << np.uint64(SET_SHIFT)
    trees = np.zeros((arrays.roots.size, 2), np.int64)
    trees[:, 0] = arrays.roots
    # A value of one number always has a column, so that it is added the short way.
    trees[:-1, 1] = np.maximum(arrays.output, 0) if arrays.value.shape[1] == 1 else arrays.output
    return Walk(
        nodes=np.stack([first, second], axis=1).reshape(-1),
        words=np.array(arrays.words),
        value=np.array(arrays.value),
        trees=trees,
    )


class BatchPredictor:
    """Everything that prediction makes of a forest and keeps."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.n_trees = arrays.roots.size - 1
        self.n_features = arrays.set_words.size
        self._question_plans: dict[Any, ForestPlan] = {}
        self._seen = 0  # rows, or a few less where threads count at the same moment: it only decides how they are scored

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchPredictor, (self.arrays,)  # what was made from the arrays can be made again

    @cached_property
    def walk(self) -> Walk:
        """The forest for the kernels that walk."""
        return pack(self.arrays)

    def question_plan(self, dtype: Any) -> ForestPlan:
        """The forest for the kernel that asks questions of values of this type."""
        if dtype not in self._question_plans:
            self._question_plans[dtype] = make_plan(self.arrays, self.walk, np.dtype(dtype))
        return self._question_plans[dtype]

    def run(self, x: Any, trees: tuple[int, int], out: NDArray[np.float64] | None, leaf: NDArray[np.int32] | None, threads: int) -> None:
        """Send all rows of a table or matrix through some trees: add to `out`, or write nodes into `leaf`."""
        n, blocks = rows_of(x, self.n_features)
        if n == 0 or trees[0] >= trees[1]:
            return
        self._seen += n
        if isinstance(x, Table) and x.sparse is not None and is_thin(x):
            self._run_stored(x.sparse, trees, out, leaf, threads)
            return

        def work(begin: int, end: int) -> None:
            for first, block in blocks(begin, end):
                last = first + block.shape[0]
                self.block(block, trees, None if out is None else out[first:last], None if leaf is None else leaf[first:last])

        run_ranges(work, n, threads, work_per_row=WORK_PER_TREE * (trees[1] - trees[0]))

    def _run_stored(
        self, x: SparseMatrix, trees: tuple[int, int], out: NDArray[np.float64] | None, leaf: NDArray[np.int32] | None, threads: int
    ) -> None:
        """The same for rows of stored cells, each by itself: no more is made of them than one row has."""
        stored, n = x.by_row, x.shape[0]
        absent = stored.values.dtype.type(x.absent)

        def work(begin: int, end: int) -> None:
            line = np.full(self.n_features, absent, stored.values.dtype)
            for first in range(begin, end, CHUNK):
                last = min(first + CHUNK, end)
                parts = (None if out is None else out[first:last], None if leaf is None else leaf[first:last])
                walk_sparse_rows(stored, (first, last), line, absent, trees, self.walk, *parts)

        run_ranges(work, n, threads, work_per_row=WORK_PER_TREE * (trees[1] - trees[0]) + 2 * len(stored.at) // n)

    def block(self, x: NDArray[Any], trees: tuple[int, int], out: NDArray[np.float64] | None, leaf: NDArray[np.int32] | None) -> None:
        """The same for a float32 or float64 array in C order, on this thread."""
        flat = read_only(x.reshape(-1))
        if x.shape[0] < LEAST_ASKED or (self._seen < LEAST_PLANNED and x.dtype.type not in self._question_plans):
            walk_rows(flat, x.shape[1], x.shape[0], trees, self.walk, out, leaf)
        else:
            predict_by_questions(flat, x.shape[1], x.shape[0], trees, self.question_plan(x.dtype.type), out, leaf)


class Predictor:
    """Raw scores of one row or of a block of rows, without looking twice at what was given.

    Give it a sequence of numbers in the order of the engine's features (categories as their numbers, NaN for missing),
    or a two-dimensional array of them. It answers with (n_outputs,) or (n, n_outputs). Threads may share it.
    """

    def __init__(self, batch: BatchPredictor, start: NDArray[np.float64]) -> None:
        self._batch = batch
        self._walk = batch.walk
        self._start = start.reshape(1, -1).copy()
        self._trees = (0, batch.n_trees)
        self._n_features = batch.n_features
        self._calls: dict[Any, Callable[..., None]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Predictor, (self._batch, self._start[0])  # compiled code stays behind

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """The raw score of each row."""
        x = rows if type(rows) is np.ndarray else np.asarray(rows, np.float64)
        if x.dtype not in FLOATS:
            x = x.astype(np.float64)
        if x.shape[-1] != self._n_features:
            raise TableError(f"a row has {self._n_features} features, not {x.shape[-1]}")
        if not (x.flags.c_contiguous and x.flags.aligned):
            x = x.copy()
        if x.ndim > 1:
            out = np.repeat(self._start, x.shape[0], axis=0)
            self._batch._seen += x.shape[0]
            self._batch.block(x, self._trees, out, None)
            return out
        out = self._start.copy()
        call = self._calls.get(x.dtype) or self._compile(x, out)
        call(x, self._n_features, 1, self._trees, self._walk, out, None)
        row: NDArray[np.float64] = out[0]
        return row

    def _compile(self, x: NDArray[Any], out: NDArray[np.float64]) -> Callable[..., None]:
        """The kernel for one row of this type."""
        x = read_only(x)
        call: Callable[..., None] = direct(walk_rows, x, self._n_features, 1, self._trees, self._walk, out, None)
        self._calls[x.dtype] = call
        return call


Blocks = Callable[[int, int], Iterator[tuple[int, NDArray[Any]]]]


def rows_of(x: Any, n_features: int) -> tuple[int, Blocks]:
    """The number of rows, and a way to go over any range of them in blocks in C order, with their first row."""
    if isinstance(x, np.ndarray):
        return x.shape[0], matrix_blocks(x, n_features)
    matrix = x.matrix
    if matrix is not None:
        return x.n_rows, matrix_blocks(matrix, n_features)
    if len(x.columns) != n_features:
        raise TableError(f"the forest has {n_features} features, the table has {len(x.columns)} columns")

    # Of a sparse matrix, a row may be long.
    sparse = x.sparse if isinstance(x, Table) else None
    step = CHUNK if sparse is None else max(min(CHUNK_BYTES // (8 * n_features), CHUNK), 1)

    def blocks(begin: int, end: int) -> Iterator[tuple[int, NDArray[Any]]]:
        for first in range(begin, end, step):
            last = min(first + step, end)
            yield first, column_block(x.columns, first, last) if sparse is None else sparse.block(first, last)

    return x.n_rows, blocks


def matrix_blocks(matrix: NDArray[Any], n_features: int) -> Blocks:
    """Blocks of a matrix: itself where a kernel can read it, else copies of some thousand rows."""
    if matrix.ndim != 2 or matrix.shape[1] != n_features:
        raise TableError(f"the forest needs an array of shape (n, {n_features}), not {matrix.shape}")
    if matrix.dtype.kind not in "fiub":
        raise TableError(f"the forest needs an array of numbers, not of {matrix.dtype}")
    dtype = np.float32 if matrix.dtype == np.float32 else np.float64
    direct = matrix.dtype == dtype and matrix.dtype.isnative and matrix.flags.c_contiguous and matrix.flags.aligned

    def blocks(begin: int, end: int) -> Iterator[tuple[int, NDArray[Any]]]:
        if direct:
            yield begin, matrix[begin:end]
            return
        for first in range(begin, end, CHUNK):
            yield first, np.array(matrix[first : min(first + CHUNK, end)], dtype=dtype, order="C")

    return blocks


def column_block(columns: Any, begin: int, end: int) -> NDArray[Any]:
    """Rows begin to end of some columns as one array; float32 if all numbers are, since categories fit into it."""
    parts = [column.block(begin, end) for column in columns]
    small = all(column.category or part.dtype == np.float32 for part, column in zip(parts, columns, strict=True))
    block = np.empty((end - begin, len(parts)), np.float32 if small else np.float64)
    for j, part in enumerate(parts):
        # A missing category is -1 there and NaN here; kernels take both.
        block[:, j] = part
    return block
