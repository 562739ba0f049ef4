"""Columns and tables: what is a view and what is cast."""

import numpy as np
import pytest

from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import ArrayReader, Column, as_numbers, brought, for_kernel


def table_of(X, **more):
    return Schema.learn(X, **more)[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_of_the_right_type_are_not_copied(dtype, order):
    X = np.asarray(np.arange(12).reshape(4, 3), dtype, order)
    table = table_of(X)
    assert table.matrix is not None
    assert np.shares_memory(table.matrix, X)
    block = table.columns[1].block(1, 3)
    assert np.shares_memory(block, X)
    assert block.tolist() == [4.0, 7.0]


@pytest.mark.parametrize("X", [np.ones((2, 2), np.int64), np.ones((2, 2), ">f8"), [["a", 1.0]]], ids=["whole", "big-endian", "text"])
def test_there_is_no_matrix_of_other_types(X):
    assert table_of(X).matrix is None


def test_there_is_no_matrix_when_a_column_became_a_category():
    assert table_of(np.ones((2, 2)), categorical_features=[1]).matrix is None


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64), (np.longdouble, np.float64),
        (np.int8, np.float32), (np.uint16, np.float32), (np.int32, np.float64), (np.int64, np.float64), (np.bool_, np.float32),
    ],
)  # fmt: skip
def test_a_type_is_read_in_the_smaller_float_that_holds_all_of_it(given, read):
    assert as_numbers(np.ones(3, given)).dtype == read


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("features", [[0, 1, 2], [1], [3, 1], [0, 4]])
def test_gathered_columns_are_the_columns(order, dtype, features):
    X = np.asarray(np.arange(40).reshape(8, 5), dtype, order)
    table = table_of(X)
    for room in (None, np.empty(4 * len(features)), np.empty(100)):
        found = [block.tolist() for block in table.gather(np.array(features), 2, 6, room)]
        assert found == [X[2:6, feature].astype(float).tolist() for feature in features]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ">f8", np.int64, np.uint16, np.bool_])
def test_a_block_is_brought_to_a_room_as_the_numbers_that_it_is_read_as(dtype):
    X = np.arange(6).reshape(3, 2).astype(dtype)
    X.flags.writeable = False
    room = np.empty(7)
    for block in (X, X.T, X[::-1]):
        found = brought(block, room)
        assert np.shares_memory(found, room)
        assert found.dtype == as_numbers(block).dtype
        assert found.flags.c_contiguous
        assert found.flags.writeable
        assert found.tolist() == block.tolist()


def test_a_column_is_a_category_when_it_has_levels():
    read = ArrayReader(np.zeros(3))
    assert not Column("x", read).category
    assert Column("x", read, ()).category


@pytest.mark.parametrize("X", [np.arange(6.0), np.arange(6.0)[::2], np.frombuffer(np.arange(6.0).tobytes())])
def test_a_kernel_sees_one_kind_of_array(X):
    block = for_kernel(X)
    assert block.flags.c_contiguous
    assert block.flags.writeable
    assert block.tolist() == X.tolist()
    assert np.shares_memory(block, X) == (X.flags.c_contiguous and X.flags.writeable)
