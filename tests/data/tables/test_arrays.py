"""Arrays, nested lists and sparse matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from woodwind.base.errors import ColumnTypeError, TableError
from woodwind.data.binning.cuts import Cuts
from woodwind.data.tables.schema import Schema


def read(X):
    """All blocks of all features."""
    table = Schema.learn(X)[1]
    return [column.block(0, table.n_rows).tolist() for column in table.columns]


def test_a_list_of_rows_keeps_numbers_and_text_apart():
    assert read([[1, "a"], [2.5, "b"], [None, None]]) == [[1.0, 2.5, pytest.approx(np.nan, nan_ok=True)], [0, 1, -1]]
    assert read(((1, 2), (3, 4))) == [[1.0, 3.0], [2.0, 4.0]]
    assert read([np.array([1, 2]), np.array([3, 4])]) == [[1.0, 3.0], [2.0, 4.0]]


def test_arrays_of_text_are_categories():
    for dtype in ("U3", object, np.dtypes.StringDType()):
        assert read(np.array([["b", "x"], ["a", "x"]]).astype(dtype)) == [[1, 0], [0, 0]]


def test_masked_values_are_missing():
    mask = [[False, True], [False, False]]
    assert np.array_equal(read(np.ma.array([[1, 2], [3, 4]], mask=mask)), [[1, 3], [np.nan, 4]], equal_nan=True)
    assert np.array_equal(read(np.ma.array([[1.5, 2], [3, 4]], mask=mask)), [[1.5, 3], [np.nan, 4]], equal_nan=True)
    assert read(np.ma.array([["a", "b"], ["c", "d"]], mask=mask)) == [[0, 1], [-1, 0]]


def test_matrices_and_objects_that_give_an_array_are_read():
    class Holder:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0], [2.0]])

    assert read(Holder()) == [[1.0, 2.0]]
    assert read(np.array([[1, 2], [3, 4]]).view(np.matrix)) == [[1.0, 3.0], [2.0, 4.0]]


FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_sparse_format_reads_as_the_dense_array(kind, name):
    dense = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0], [0.0, np.nan, 0.0]])
    X = getattr(sp, f"csr_{kind}")(dense).asformat(name)
    assert np.array_equal(read(X), dense.T, equal_nan=True)


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 4)), elements=st.sampled_from([0.0, 0.0, 1.0, -2.5, np.nan])))
def test_a_sparse_table_has_the_codes_of_the_dense_one(dense):
    _, full = Schema.learn(dense)
    _, thin = Schema.learn(sp.csr_array(dense))
    cuts = Cuts.fit(full, 3)
    assert [edge.tolist() for edge in Cuts.fit(thin, 3).edges] == [edge.tolist() for edge in cuts.edges]
    assert (cuts.encode(thin).by_row == cuts.encode(full).by_row).all()


def test_values_stored_twice_are_added_and_the_callers_matrix_stays_as_it_is():
    X = sp.csc_array((np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert read(X) == [[3.0, 0.0], [0.0, 3.0]]
    assert X.nnz == 3


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_indices_of_both_sizes_are_read(index):
    X = sp.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    assert read(X) == np.eye(3).tolist()


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float32, np.float64])
def test_sparse_matrices_of_any_real_type_are_read(dtype):
    assert read(sp.csr_array(np.eye(2).astype(dtype))) == [[1.0, 0.0], [0.0, 1.0]]


def test_blocks_of_a_sparse_column_are_parts_of_it():
    dense = np.random.default_rng(0).integers(0, 3, (50, 1)).astype(float)
    (column,) = Schema.learn(sp.csr_array(dense))[1].columns
    assert column.block(13, 31).tolist() == dense[13:31, 0].tolist()
    assert column.block(7, 7).tolist() == []


@pytest.mark.parametrize(
    ("X", "code"),
    [
        (None, "D001"), ("table.csv", "D001"), (b"x", "D001"), ({"a": [1]}, "D001"), ({1, 2}, "D001"), (7, "D001"), (object(), "D001"),
        ((i for i in range(3)), "D001"), (len, "D001"),
        (np.zeros(3), "D002"), ([1, 2, 3], "D002"), ([], "D002"), (np.array(["a"]), "D002"), (sp.coo_array(np.ones(3)), "D002"),
        (np.float64(1), "D003"), (np.zeros((2, 2, 2)), "D003"), ([[[1], [2]], [[3], [4]]], "D003"),
        (np.zeros((0, 3)), "D004"), (sp.csr_array((0, 3)), "D004"),
        (np.zeros((3, 0)), "D005"), ([[], []], "D005"), (sp.csr_array((3, 0)), "D005"),
        (np.ones((2, 2), complex), "D007"), (sp.csr_array(np.ones((2, 2), complex)), "D007"),
        (np.zeros(3, [("a", int)]), "D008"), (np.zeros((3, 1), [("a", int)]), "D008"),
        ([[1, 2], [3]], "D009"), ([[1, 2], 3], "D009"), ([[1, [2]], [3, 4]], "D009"),
        (np.array([[1, "a"], [2, 3]], object), "D010"), ([[1, "a"], ["b", "c"]], "D010"),
        (np.array([[b"a"]]), "D011"), (np.zeros((2, 2), "V4"), "D011"), (np.array([[{}]], object), "D011"),
        (np.array([["2024"]], "M8[ps]"), "D011"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_with_its_code(X, code):
    with pytest.raises(TableError, match=f"WW-{code}: (?s:.*)\nFix: "):
        Schema.learn(X)


def test_messages_that_scikit_learn_checks_for():
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required."):
        Schema.learn(np.zeros((0, 3)))
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required."):
        Schema.learn(np.zeros((3, 0)))
    with pytest.raises(ValueError, match="Reshape your data"):
        Schema.learn(np.zeros(3))
    with pytest.raises(ValueError, match="Complex data not supported"):
        Schema.learn(np.ones((3, 1)) * 1j)
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        Schema.learn(np.array([[1.0], [{"foo": "bar"}]], object))
    assert issubclass(ColumnTypeError, TableError)
