"""Which columns of a large table are kept in one piece, and that trees do not depend on it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.coded import SCALES, random_codes, random_stats
from woodwind import GradientBoostingClassifier
from woodwind.tree import code_layouts
from woodwind.tree.code_layouts import ColumnCache
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")


@pytest.fixture
def large(monkeypatch):
    """Every table is a large one."""
    monkeypatch.setattr(code_layouts, "WHOLE_BYTES", 0)


def assert_in_place(columns, codes):
    kept = np.flatnonzero(columns.at >= 0)
    assert len(set(columns.at[kept].tolist())) == len(kept) <= len(columns.by_column)
    assert_array_equal(columns.by_column[columns.at[kept]], codes.by_column[kept])


def used(columns, rows):
    """One tree that has split so many rows by each column."""
    columns.note(np.append(np.arange(len(rows)), -1).astype(np.int32), np.append(rows, 100))


def test_all_columns_of_a_small_table_are_kept():
    codes = random_codes(0, 300, (0, 3, 0, 0))
    columns = ColumnCache(codes, None, 2)
    assert columns.all
    assert columns.at.tolist() == [0, 1, 2, 3]
    assert_array_equal(columns.by_column, codes.by_column)


def test_half_the_columns_of_a_large_one_are_those_that_split_most_rows(large):
    codes = random_codes(0, 100, (0, 3, 0, 0, 0, 4))
    columns = ColumnCache(codes, None, 1)
    assert not columns.all
    assert columns.by_column.shape == (3, 100)
    assert columns.at.tolist() == [-1] * 6
    used(columns, [50, 900, 100, 300, 200, 101])
    columns.renew(1)
    assert set(np.flatnonzero(columns.at >= 0).tolist()) == {1, 3, 4}
    assert_in_place(columns, codes)


def test_a_column_comes_in_when_it_has_been_used_for_a_table_of_rows_more_than_the_least_of_those_kept(large):
    codes = random_codes(0, 100, (0, 0, 0, 0))
    columns = ColumnCache(codes, None, 1)
    used(columns, [500, 400, 0, 0])
    columns.renew(1)
    before = columns.at.copy()
    used(columns, [0, 0, 455, 0])  # 400 rows of the tree before are 360 now
    columns.renew(1)
    assert_array_equal(columns.at, before)
    used(columns, [0, 0, 60, 0])
    columns.renew(1)
    assert columns.at.tolist() == [before[0], -1, before[1], -1]
    assert_in_place(columns, codes)
    used(columns, [0, 0, 0, 9000])
    columns.renew(1)
    assert columns.at[3] == before[0]
    assert_in_place(columns, codes)


@pytest.mark.parametrize(("growth", "outputs"), [("best_first", 1), ("level", 1), ("symmetric", 1), ("best_first", 3), ("level", 3)])
def test_trees_are_the_same_wherever_codes_are_read(growth, outputs, monkeypatch):
    codes = random_codes(3, 700, (0, 0, 5, 0, 30, 0), bins=12)
    settings = TreeSettings(min_rows=3, max_leaves=30, max_depth=4, growth=growth)

    def trees():
        grower = HistogramGrower(codes, settings, 1, outputs=outputs)
        for seed in range(3):
            if outputs > 1:
                gradients = [np.where(codes.by_column[seed + k] < 4 + k, 2**28, -(2**28)) for k in range(outputs)]
                grower.fill(np.stack([*gradients, np.full(700, 2**29)], axis=1).astype(np.int32))
            else:
                grower.stats_to_fill()[:] = random_stats(seed, codes)
            grower.renew_columns()
            tree = grower.grow(SCALES, seed)
            yield [np.array(field) for field in (tree.feature, tree.bin, tree.missing, tree.gain, tree.leaf_of_row, tree.sets)]
        if not grower._columns.all:
            assert_in_place(grower._columns, codes)
            assert (grower._columns.at >= 0).any()

    expected = list(trees())
    monkeypatch.setattr(code_layouts, "WHOLE_BYTES", 0)
    found = list(trees())
    assert len(expected[0][0]) > 3
    for one, other in zip(expected, found, strict=True):
        for a, b in zip(one, other, strict=True):
            assert_array_equal(a, b)


def test_growers_beside_each_other_keep_the_same_columns(large):
    codes = random_codes(0, 100, (0, 0, 0, 0))
    first = HistogramGrower(codes, TreeSettings())
    assert HistogramGrower(codes, TreeSettings(), beside=first)._columns is first._columns


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 3])
def test_large_nodes_are_split_the_same_wherever_codes_are_read(threads, monkeypatch):
    """Nodes that are counted first and placed then, by several threads, from rows that come in order, drawn or twice."""
    n = 70_000
    codes = random_codes(5, n, (0, 0, 5, 0, 30, 0), bins=40)
    rng = np.random.default_rng(0)
    given = [None, np.flatnonzero(rng.random(n) < 0.8).astype(np.int32), np.sort(rng.integers(0, n, n)).astype(np.int32)]

    def trees():
        grower = HistogramGrower(codes, TreeSettings(min_rows=20, max_leaves=40), threads)
        for seed, rows in enumerate(given * 2):
            grower.renew_columns()
            grower.stats_to_fill()[:] = random_stats(seed, codes)
            tree = grower.grow(SCALES, seed, rows)
            leaf = tree.leaf_of_row if rows is None else tree.leaf_of_row[rows]
            yield [np.array(field) for field in (tree.feature, tree.bin, tree.gradient, tree.hessian, tree.count, leaf)]
        if not grower._columns.all:
            assert (grower._columns.at >= 0).any()
            assert (grower._columns.at < 0).any()
            assert_in_place(grower._columns, codes)

    expected = list(trees())
    monkeypatch.setattr(code_layouts, "WHOLE_BYTES", 0)
    for one, other in zip(expected, trees(), strict=True):
        assert len(one[0]) > 50
        for a, b in zip(one, other, strict=True):
            assert_array_equal(a, b)


@pytest.mark.compiled
def test_classes_side_by_side_share_columns_that_change_between_rounds(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 10))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3], [-1.0, 1.0])
    model = GradientBoostingClassifier(
        n_estimators=6, multiclass="one_per_class", early_stopping=False, subsample=1.0, n_jobs=2, random_state=0
    )
    expected = model.fit(X, y).predict_proba(X)
    monkeypatch.setattr(code_layouts, "WHOLE_BYTES", 0)
    assert_array_equal(model.fit(X, y).predict_proba(X), expected)
