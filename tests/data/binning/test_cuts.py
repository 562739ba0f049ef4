"""Cuts of a table and the codes they give."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference import naive_encode as slow
from woodwind.data.binning import counting_sketch as tally_room
from woodwind.data.binning import cuts as room
from woodwind.data.binning.cuts import Cuts, round_down
from woodwind.data.tables.schema import Schema
from woodwind.kernels.binning.counting_sketch import read_pages, tally
from woodwind.kernels.binning.encode import encode_numbers, summarise, weigh

doubles = st.floats(width=64)
few = st.sampled_from([0.0, 1.0, 2.0, np.nan, np.inf, -np.inf])


def table_of(X, **more):
    return Schema.learn(X, **more)[1]


def small_blocks(patch, counted=False):
    """Many blocks and groups, even for a small table, and columns that are counted instead of sorted."""
    patch.setattr(room, "_SKETCH_ROWS", 7)
    patch.setattr(room, "_COUNTED_ROWS", 1 if counted else 2**17)
    patch.setattr(tally_room, "_BLOCK_ROWS", 7)
    patch.setattr(tally_room, "_ROWS_PER_PAGE", 0)
    patch.setattr(tally_room, "_WEIGHTED_ROWS_PER_PAGE", 0)
    patch.setattr(room, "_ENCODE_ROWS", 65)
    patch.setattr(room, "_CAST_BYTES", 200)
    patch.setattr(room, "_GROUP", 2)


def check_codes(cuts, codes, X):
    """The codes of a table of numbers, one by one."""
    for feature in range(X.shape[1]):
        expected = slow.encode_numbers(X[:, feature].tolist(), cuts.edges[feature].tolist(), codes.missing)
        assert codes.by_column[feature].tolist() == expected
    assert sorted(codes.places.tolist()) == list(range(X.shape[1]))
    assert (codes.by_row[:, X.shape[1] :] == 0).all()


tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 150), st.integers(1, 5)), elements=st.one_of(doubles, few))


@given(tables, st.integers(2, 30), st.booleans())
def test_codes_count_the_edges_below_each_value(X, max_bins, counted):
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch, counted)
        cuts = Cuts.fit(table_of(X), max_bins)
        codes = cuts.encode(table_of(X))
    check_codes(cuts, codes, X)
    assert (codes.n_bins <= max_bins).all()
    assert (codes.n_bins < codes.width).all()


VIEWS = {
    "C order": lambda X: X,
    "Fortran order": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "columns of a wider array": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda X: X.astype(X.dtype.newbyteorder(">")),
    "long double": lambda X: X.astype(np.longdouble),
    "list of rows": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "pandas": pd.DataFrame,
    "read-only": lambda X: np.frombuffer(X.tobytes(), X.dtype).reshape(X.shape),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("counted", [False, True])
def test_the_layout_of_the_array_has_no_influence(view, dtype, counted):
    random = np.random.default_rng(3)
    X = np.ascontiguousarray(random.normal(size=(300, 5)).astype(dtype))
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 4] = np.round(X[:, 4])
    expected = Cuts.fit(table_of(X), 40)
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch, counted)
        table = table_of(VIEWS[view](X))
        cuts = Cuts.fit(table, 40)
        codes = cuts.encode(table)
    assert [edge.tolist() for edge in cuts.edges] == [edge.tolist() for edge in expected.edges]
    check_codes(cuts, codes, X.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16])
def test_every_type_of_number_is_cast_without_loss(dtype):
    X = np.random.default_rng(4).integers(0, 120, (200, 3)).astype(dtype)
    table = table_of(X)
    cuts = Cuts.fit(table)
    check_codes(cuts, cuts.encode(table), X.astype(np.float64))
    assert cuts.n_bins.tolist() == [np.unique(X[:, j]).size for j in range(3)]


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_number_of_threads_has_no_influence(threads):
    random = np.random.default_rng(5)
    X = random.normal(size=(120_000, 7)).astype(np.float32)
    weight = random.integers(0, 3, 120_000).astype(float)
    for given_weight in (None, weight):
        one, many = Cuts.fit(table_of(X), weight=given_weight), Cuts.fit(table_of(X), weight=given_weight, threads=threads)
        assert [edge.tolist() for edge in one.edges] == [edge.tolist() for edge in many.edges]
    assert (one.encode(table_of(X)).by_row == many.encode(table_of(X), threads).by_row).all()


def test_singles_have_the_codes_that_their_doubles_have():
    X = np.random.default_rng(6).normal(size=(5000, 2)).astype(np.float32)
    cuts = Cuts.fit(table_of(X), 100)
    assert (cuts.encode(table_of(X)).by_row == cuts.encode(table_of(X.astype(float))).by_row).all()


@given(st.floats(allow_nan=False), st.floats(width=32, allow_nan=False))
def test_a_single_is_below_a_double_when_it_is_below_the_single_that_stands_for_it(edge, value):
    stand_in = round_down(np.array([edge]))[0]
    assert (value <= edge) == (np.float32(value) <= stand_in)


def test_a_weight_of_two_equals_a_row_given_twice():
    random = np.random.default_rng(7)
    X = random.normal(size=(3000, 3))
    weight = random.integers(0, 4, 3000)
    by_weight = Cuts.fit(table_of(X), 50, weight=weight / 4)
    repeated = Cuts.fit(table_of(np.repeat(X, weight, axis=0)), 50)
    assert [edge.tolist() for edge in by_weight.edges] == [edge.tolist() for edge in repeated.edges]


def test_rows_of_weight_zero_are_absent():
    X = np.array([[1.0], [2.0], [1000.0]])
    assert Cuts.fit(table_of(X), weight=np.array([1.0, 1.0, 0.0])).edges[0].tolist() == [1.5]


def test_infinities_are_ordinary_extremes():
    X = np.array([[-np.inf], [0.0], [np.inf], [np.nan]])
    table = table_of(X)
    cuts = Cuts.fit(table)
    assert np.isfinite(cuts.edges[0]).all()
    assert cuts.encode(table).by_column.tolist() == [[0, 1, 2, 3]]
    more = table_of(np.array([[1e300], [-1e300]]))
    assert cuts.encode(more).by_column.tolist() == [[1, 1]]  # large, but finite


def test_constant_and_empty_columns_have_one_bin():
    X = np.array([[7.0, np.nan], [7.0, np.nan]])
    table = table_of(X)
    cuts = Cuts.fit(table)
    assert cuts.n_bins.tolist() == [1, 1]
    assert cuts.encode(table).by_column.tolist() == [[0, 0], [3, 3]]


def test_categories_keep_a_code_for_each_level_whatever_max_bins_says():
    categories = [f"category {i:03d}" for i in range(100)]
    frame = pd.DataFrame({"x": np.arange(100.0), "c": categories})
    schema, table = Schema.learn(frame)
    cuts = Cuts.fit(table, max_bins=4)
    codes = cuts.encode(table)
    assert cuts.n_bins.tolist() == [4, 100]
    assert codes.width == 128
    assert codes.by_column[1].tolist() == list(range(100))
    with pytest.warns(UserWarning, match="never saw"):
        other = schema.read(pd.DataFrame({"x": [1.0, np.nan], "c": ["new", None]}))
    assert cuts.encode(other).by_column.tolist() == [[0, 127], [126, 127]]


def test_marked_columns_of_an_array_are_categories_and_the_others_numbers():
    X = np.array([[5.0, 1.5], [7.0, 2.5], [5.0, np.nan]])
    table = table_of(X, categorical_features=[0])
    cuts = Cuts.fit(table)
    codes = cuts.encode(table)
    assert codes.is_category.tolist() == [True, False]
    assert codes.by_column.tolist() == [[0, 1, 0], [0, 1, 3]]


@pytest.mark.parametrize("max_bins", [0, 1, 256])
def test_the_number_of_bins_must_fit_in_a_byte(max_bins):
    with pytest.raises(ValueError, match="max_bins"):
        Cuts.fit(table_of([[1.0]]), max_bins)


def test_the_callers_array_is_never_written_to():
    X = np.random.default_rng(8).normal(size=(500, 3))
    before = X.copy()
    cuts = Cuts.fit(table_of(X))
    cuts.encode(table_of(X))
    assert (before == X).all()


@pytest.mark.skipif(not hasattr(encode_numbers, "signatures"), reason="the compiler is off")
def test_each_kernel_is_compiled_for_singles_and_doubles_only(monkeypatch):
    X = np.random.default_rng(9).normal(size=(200, 3))
    weight = np.ones(200)
    for view in VIEWS.values():
        for dtype in (np.float32, np.float64):
            table = table_of(view(X.astype(dtype)))
            Cuts.fit(table).encode(table)
            Cuts.fit(table, weight=weight)
            with monkeypatch.context() as patch:
                small_blocks(patch, counted=True)
                Cuts.fit(table)
                Cuts.fit(table, weight=weight)
    assert len(encode_numbers.signatures) == 2
    assert len(summarise.signatures) == 2
    assert len(weigh.signatures) == 2
    assert len(tally.signatures) == 4  # with weights and without
    assert len(read_pages.signatures) == 2  # the same, since counters are wider for weights
