"""Any table in Arrow: the values stay."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from woodwind.data.tables.frames import as_arrow, fingerprint

NUMBERS = np.array([[1.0, np.nan], [2.0, 0.0], [0.0, -5.0]])


WITHOUT_NAMES = {"array": NUMBERS, "list": NUMBERS.tolist(), "sparse": sparse.csr_matrix(NUMBERS), "fortran": np.asfortranarray(NUMBERS)}


@pytest.mark.parametrize("X", WITHOUT_NAMES.values(), ids=list(WITHOUT_NAMES))
def test_tables_without_names(X):
    table = as_arrow(X)
    assert table.column_names == ["x0", "x1"]
    assert np.array_equal(np.column_stack([column.to_numpy() for column in table.columns]), NUMBERS, equal_nan=True)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_names_text_and_gaps(kind):
    table = as_arrow(kind({"a": [1.0, 2.0], "b": ["x", None]}))
    assert table.column_names == ["a", "b"]
    assert table["b"].to_pylist() == ["x", None]


def test_categories_become_dictionaries():
    table = as_arrow(pd.DataFrame({"c": pd.Categorical(["u", None, "v"])}))
    assert table["c"].to_pylist() == ["u", None, "v"]
    assert pa.types.is_dictionary(table["c"].type)


def test_sparse_columns_of_pandas_become_dense():
    table = as_arrow(pd.DataFrame({"s": pd.arrays.SparseArray([0.0, 3.0, 0.0])}))
    assert table["s"].to_pylist() == [0.0, 3.0, 0.0]


def test_an_arrow_table_is_taken_as_it_is():
    table = pa.table({"a": [1]})
    assert as_arrow(table) is table


def test_fingerprints_tell_tables_apart():
    table = pa.table({"a": [1.0, 2.0], "b": ["x", None]})
    others = [
        pa.table({"a": [1.0, 2.0 + 1e-15], "b": ["x", None]}),
        pa.table({"a": [1.0, 2.0], "b": ["x", ""]}),
        pa.table({"a": [1.0, 2.0], "c": ["x", None]}),
        pa.table({"a": [1, 2], "b": ["x", None]}),
    ]
    marks = {fingerprint(one) for one in (table, *others)}
    assert len(marks) == 5
    assert fingerprint(pa.concat_tables([table.slice(0, 1), table.slice(1)])) == fingerprint(table)
