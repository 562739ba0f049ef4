"""Frames of pandas, polars and Arrow, and whatever speaks Arrow's interface."""
# ruff: noqa: DTZ001  tables have dates without a zone

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from woodwind.base.errors import TableError
from woodwind.data.binning.cuts import Cuts
from woodwind.data.tables.schema import Schema

VALUES = {
    "whole": [3, None, -1, 3],
    "real": [0.5, None, float("inf"), 2.0],
    "flag": [True, None, False, True],
    "text": ["b", None, "", "ä"],
    "when": [dt.datetime(2024, 1, 31, 5), None, dt.datetime(2023, 2, 1), dt.datetime(2024, 1, 31, 5)],
    "day": [dt.date(2024, 1, 31), None, dt.date(2023, 2, 1), dt.date(1950, 1, 1)],
    "clock": [dt.time(5, 30), None, dt.time(0), dt.time(23, 59)],
    "span": [dt.timedelta(1), None, dt.timedelta(seconds=1), dt.timedelta(-1)],
    "money": [decimal.Decimal("1.25"), None, decimal.Decimal("-3.5"), decimal.Decimal(0)],
    "nothing": [None, None, None, None],
}


class Capsule:
    """Something that is known by nothing but Arrow's interface for streams."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class BatchCapsule:
    """Something that is known by nothing but Arrow's interface for arrays."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


LIBRARIES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda values: pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in values.items()}),
    "pandas nullable": lambda values: pd.DataFrame(values).convert_dtypes(),
    "pandas on Arrow": lambda values: pa.table(values).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars in chunks": lambda values: pl.concat([pl.DataFrame(values)[:1], pl.DataFrame(values)[1:]], rechunk=False),
    "Arrow": pa.table,
    "Arrow in chunks": lambda values: pa.concat_tables([pa.table(values).slice(0, 3), pa.table(values).slice(3)]),
    "Arrow batch": lambda values: pa.table(values).to_batches()[0],
    "stream": lambda values: Capsule(pa.table(values)),
    "batch": lambda values: BatchCapsule(pa.table(values).to_batches()[0]),
    "reader": lambda values: pa.table(values).to_reader(),
}


def blocks(table):
    return [np.asarray(column.block(0, table.n_rows), float) for column in table.columns]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_features(library):
    expected_schema, expected = Schema.learn(pa.table(VALUES))
    schema, table = Schema.learn(LIBRARIES[library](VALUES))
    assert schema.names == tuple(VALUES)
    assert schema.feature_names == expected_schema.feature_names
    assert schema.categories == expected_schema.categories
    for name, a, b in zip(schema.feature_names, blocks(table), blocks(expected), strict=True):
        assert np.array_equal(a, b, equal_nan=True), name
    cuts = Cuts.fit(table)
    assert (cuts.encode(table).by_row == cuts.encode(expected).by_row).all()
    # A model that was trained on one library's frame reads another's.
    again = expected_schema.read(LIBRARIES[library](VALUES))
    assert (cuts.encode(again).by_row == cuts.encode(expected).by_row).all()


@pytest.mark.parametrize("library", LIBRARIES)
def test_parts_of_columns_are_the_same_as_the_whole(library):
    table = Schema.learn(LIBRARIES[library](VALUES))[1]
    for column, whole in zip(table.columns, blocks(table), strict=True):
        for begin, end in [(0, 1), (1, 4), (2, 3), (3, 3)]:
            part = column.block(begin, end)
            assert np.array_equal(np.asarray(part, float), whole[begin:end], equal_nan=True)
            assert part.dtype in ((np.int32,) if column.category else (np.float32, np.float64))


ARROW_TYPES = {
    "int8": (pa.int8(), np.float32), "uint16": (pa.uint16(), np.float32), "int32": (pa.int32(), np.float64),
    "uint64": (pa.uint64(), np.float64), "float16": (pa.float16(), np.float32), "float32": (pa.float32(), np.float32),
    "float64": (pa.float64(), np.float64), "bool": (pa.bool_(), np.float32),
    "decimal128": (pa.decimal128(25, 2), np.float64), "decimal256": (pa.decimal256(40, 2), np.float64),
}  # fmt: skip


@pytest.mark.parametrize("name", ARROW_TYPES)
@pytest.mark.parametrize("missing", [False, True])
def test_a_column_of_arrow_has_one_size_of_float_whatever_is_missing(name, missing):
    kind, read = ARROW_TYPES[name]
    values = pa.array([1, 0, None if missing else 1, 1], pa.int64()).cast(pa.float32() if name == "float16" else kind).cast(kind)
    (column,) = Schema.learn(pa.table({"c": values}))[1].columns
    for begin in range(4):
        assert column.block(begin, begin + 1).dtype == read
    assert np.array_equal(column.block(0, 4), [1, 0, np.nan if missing else 1, 1], equal_nan=True)


def test_numbers_without_missing_values_are_views_of_the_frame():
    frame = pd.DataFrame({"a": np.arange(5.0), "b": np.arange(5.0, dtype=np.float32)})
    table = Schema.learn(frame)[1]
    for name, column in zip("ab", table.columns, strict=True):
        assert np.shares_memory(column.block(0, 5), frame[name].to_numpy())
    arrow = pa.array([1.0, 2.0])
    (column,) = Schema.learn(pa.table({"a": arrow}))[1].columns
    assert column.block(0, 2).ctypes.data == arrow.buffers()[1].address


def test_sparse_columns_of_pandas_are_read():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.5, 0.0]), "b": pd.arrays.SparseArray([0, 0, 7])})
    assert [block.tolist() for block in blocks(Schema.learn(frame)[1])] == [[0, 1.5, 0], [0, 0, 7]]


def test_ways_of_storing_are_looked_through():
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"])
    view = pa.array(["b", None, "a"], pa.string_view())
    schema, table = Schema.learn(pa.table({"runs": runs, "view": view}))
    assert schema.categories == (("a", "b"), ("a", "b"))
    assert [block.tolist() for block in blocks(table)] == [[0, 0, 1], [1, -1, 0]]


def test_integers_of_128_bits_and_objects_of_polars_are_read():
    frame = pl.DataFrame({"a": pl.Series([1, None, -5], dtype=pl.Int128), "b": pl.Series([1, None, 2.5], dtype=pl.Object)})
    for block, expected in zip(blocks(Schema.learn(frame)[1]), [[1, np.nan, -5], [1, np.nan, 2.5]], strict=True):
        assert np.array_equal(block, expected, equal_nan=True)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (["a", "b"], ("a", "b")),
        (['[x] < "1": {y}', "ä\n"], ('[x] < "1": {y}', "ä\n")),
        ([0, 1], None),
        ([10, 3], None),
        (["a", 1], ("a", "1")),
        ([("a", 1), ("a", 2)], ("('a', 1)", "('a', 2)")),
        ([True, False], ("True", "False")),
        ([1.5, "b"], ("1.5", "b")),
    ],
)
def test_any_column_names_will_do_and_places_are_no_names(columns, names):
    frame = pd.DataFrame([[1, 2]])
    frame.columns = pd.Index(columns, dtype=object, tupleize_cols=False)
    schema, _ = Schema.learn(frame)
    assert schema.names == names
    assert schema.feature_names == (names or ("x0", "x1"))


def one(kind, values):
    return pa.table({"it": pa.array(values, kind)})


@pytest.mark.parametrize(
    ("X", "code", "word"),
    [
        (pd.Series([1, 2]), "D002", "1D"),
        (pl.Series([1, 2]), "D002", "1D"),
        (pa.array([1, 2]), "D002", "1D"),
        (Capsule(pa.chunked_array([[1, 2]])), "D001", "Capsule"),
        (pd.DataFrame(), "D004", "0 sample"),
        (pd.DataFrame({"a": []}), "D004", "0 sample"),
        (pl.DataFrame(), "D004", "0 sample"),
        (pd.DataFrame(index=range(3)), "D005", "0 feature"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), "D006", "'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "D006", "'1'"),
        (pa.table({"a": [1], "b": [2]}).rename_columns(["z", "z"]), "D006", "'z'"),
        (pd.DataFrame({"it": [1j, 2]}), "D007", "column 'it'"),
        (pd.DataFrame({"it": [1, "a", 2]}), "D010", "column 'it'"),
        (pd.DataFrame({"it": [[1], [2]]}), "D011", "column 'it'"),
        (pd.DataFrame({"it": [b"x"]}), "D011", "column 'it'"),
        (pd.DataFrame({"it": pd.arrays.IntervalArray.from_breaks([0, 1])}), "D011", "column 'it'"),
        (pl.DataFrame({"it": [[1], [2]]}), "D011", "column 'it'"),
        (pl.DataFrame({"it": [{"a": 1}]}), "D011", "column 'it'"),
        (pl.DataFrame({"it": [b"x"]}), "D011", "column 'it'"),
        (pl.DataFrame({"it": pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2))}), "D011", "column 'it'"),
        (pl.DataFrame({"it": pl.Series([object()], dtype=pl.Object)}), "D011", "column 'it'"),
        (one(pa.list_(pa.int8()), [[1]]), "D011", "column 'it'"),
        (one(pa.map_(pa.string(), pa.int8()), [[("a", 1)]]), "D011", "column 'it'"),
        (one(pa.binary(3), [b"abc"]), "D011", "column 'it'"),
        (one(pa.month_day_nano_interval(), [(1, 2, 3)]), "D011", "column 'it'"),
        (pa.table({"it": pa.array([b"x"]).dictionary_encode()}), "D011", "column 'it'"),
        (pl.LazyFrame({"a": [1]}), "D015", "collect"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_it(X, code, word):
    with pytest.raises(TableError, match=f"WW-{code}: (?s:.*)\nFix: ") as error:
        Schema.learn(X)
    assert word in str(error.value)
