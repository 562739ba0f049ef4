"""Which columns share bytes, and that trees do not depend on it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.coded import SCALES, assert_same_tree, coded, random_stats
from reference.naive_growth import Growth, SymmetricGrowth
from reference.naive_histograms import histogram
from woodwind import GradientBoostingClassifier
from woodwind.data.binning.codes import FEW_BINS, positions_in_row, row_stride, shared_stride
from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.build_histograms import accumulate
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, WIDE2
from woodwind.kernels.runtime.jit import kernel
from woodwind.tree import code_layouts
from woodwind.tree.code_layouts import NEVER, SharedBytes
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings
from woodwind.tree.stump import Stumps

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")


@kernel
def sum_rows(growing: Any, rule: Any, n: Any, layout: Any, table: Any) -> None:
    """Add the first n rows of the first buffer to a table."""
    accumulate(growing, rule, 0, n, memory.rows(growing), layout, table, 0)


@pytest.fixture
def always(monkeypatch):
    """Every table is worth it, and every node."""
    monkeypatch.setattr(code_layouts, "FEWEST_ROWS", 0)
    plain = SharedBytes.__init__

    def shared(self, *args):
        plain(self, *args)
        self.rows = min(self.rows, 1) if self.n_bytes else self.rows

    monkeypatch.setattr(SharedBytes, "__init__", shared)


def table(seed, n, sizes, missing=0.1, category=(), words=0):
    """Codes of columns with so many values each; some are missing. Rows have so many words more than the codes need."""
    rng = np.random.default_rng(seed)
    by_column = np.stack([rng.integers(0, size, n) for size in sizes]).astype(np.uint8)
    is_category = np.isin(np.arange(len(sizes)), category)
    n_bins = np.array(sizes, np.int32)
    width = 1 << (int((n_bins + 1 + is_category).max(initial=4)) - 1).bit_length()
    by_column[rng.random(by_column.shape) < missing] = width - 1
    codes = coded(by_column, n_bins, is_category)
    return replace(codes, by_row=np.hstack([codes.by_row, np.zeros((n, 8 * words), np.uint8)]))


def shared_by(codes, threads=1):
    return SharedBytes(codes, np.arange(codes.n_features + 1) * codes.width, code_layouts.sharing(codes, threads), threads)


def groups(codes):
    """The features that share each byte."""
    found = code_layouts.sharing(codes, 1)
    return [sorted(one.feature for one in found if one.byte == byte) for byte in range(1 + max((one.byte for one in found), default=-1))]


# ------------------------------------------------------------------------------------------------------- who shares


def test_four_columns_of_three_values_are_one_of_81(always):
    codes = table(0, 500, (100, 3, 3, 100, 3, 3), missing=0.0)
    assert groups(codes) == [[1, 2, 4, 5]]
    assert shared_by(codes).sharers[:, 1].tolist() == [81] * 4


def test_a_byte_has_room_for_256_combinations(always):
    assert groups(table(0, 900, (2,) * 9 + (100,), missing=0.0)) == [list(range(8))]  # the ninth would be alone
    assert groups(table(0, 900, (2,) * 10 + (100,), missing=0.0)) == [list(range(8)), [8, 9]]
    assert groups(table(0, 900, (16, 16, 100), missing=0.0)) == [[0, 1]]
    assert groups(table(0, 900, (16, 16, 100), missing=0.1)) == []  # with missing values, each has 17


def test_columns_that_are_constant_cost_nothing(always):
    codes = table(0, 300, (1, 1, 2, 1, 90), missing=0.0)
    assert groups(codes) == [[0, 1, 2, 3]]
    assert shared_by(codes).sharers[:, 1].tolist() == [2] * 4


@pytest.mark.parametrize("sizes", [(100, 3), (3,) * 8, (100,) * 9, (FEW_BINS + 1,) * 3])
def test_nobody_shares_where_nothing_is_gained_or_there_is_no_room(sizes, always):
    codes = table(0, 300, sizes)
    assert groups(codes) == []
    shared = shared_by(codes)
    assert (shared.n_bytes, shared.rows) == (0, NEVER)
    assert_array_equal(shared.steps_at[1] - shared.steps_at[1, 0], shared.steps_at[0])


def test_padding_limits_how_many_bytes_there_are(always):
    codes = table(0, 900, (2,) * 30 + (100,), missing=0.0)
    assert row_stride(31) - 31 == 1
    assert groups(codes) == [list(range(8))]


def test_a_small_table_is_not_looked_through():
    assert shared_by(table(0, 500, (100, 3, 3))).n_bytes == 0
    assert shared_by(table(0, code_layouts.FEWEST_ROWS, (100, 3, 3))).n_bytes == 1


def test_features_of_few_bins_stand_last_in_a_row():
    assert positions_in_row(np.array([9, 200, 3, 200, FEW_BINS + 1, FEW_BINS], np.int32), 8).tolist() == [3, 0, 4, 1, 2, 5]
    assert positions_in_row(np.array([9, 200, 200], np.int32), 8).tolist() == [0, 1, 2]  # one alone shares with nobody
    assert positions_in_row(np.array([3] * 7 + [200], np.int32), 8).tolist() == list(range(8))  # no room, no byte


@pytest.mark.parametrize(
    ("sizes", "stride"),
    [
        ((3,) * 8, 8),  # a byte for two of eight would be a word more for each row
        ((200,) * 24 + (3,) * 4, 32),  # padding is room enough
        ((200,) * 16 + (2,) * 16, 40),
        ((200,) * 62 + (3, 3), 72),
        ((2,) * 120, 136),
        ((2,) * 100 + (200,) * 20, 128 + 8),
        ((200,) * 64, 64),
    ],
)
def test_rows_have_room_for_shared_bytes_where_it_is_worth_it(sizes, stride):
    assert shared_stride(np.array(sizes, np.int32)) == stride


# ------------------------------------------------------------------------------------------------- nothing else changes


WIDE = (2,) * 70 + (50,) * 2  # nine shared bytes, of which eight fill a word
SIZES = [WIDE, (100, 3, 3, 60, 4), (2,) * 10 + (50,), (3, 1, 2, *(200,) * 8, 5), (7, 30, 16, 30, 2, 2, 30, 30, 30)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("layout", [PACKED3, PACKED2, WIDE2])
def test_a_histogram_is_the_sum_over_rows(sizes, layout, always):
    missing, words = (0.0, 2) if sizes is WIDE else (0.1, 0)
    codes = table(1, 400, sizes, missing=missing, words=words)
    stats = random_stats(1, codes)
    grower = HistogramGrower(codes, TreeSettings())
    assert grower._shared.n_bytes == 9 if sizes is WIDE else grower._shared.n_bytes > 0
    grower.stats_to_fill()[:] = stats
    grower._fill_rows(np.arange(400, dtype=np.int32), 400, 1)
    rule = grower._rule(SCALES, 0, False)
    found = np.zeros(2 * rule.n_cells if layout == WIDE2 else rule.n_cells, np.int64)
    sum_rows(grower._space.directory, rule, 400, layout, found)
    assert_array_equal(found, histogram(codes.by_column, codes.width, range(400), stats, layout))


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("growth", ["best_first", "level", "symmetric"])
def test_trees_are_those_of_the_twin(sizes, growth, always):
    codes = table(2, 700, sizes, category=(4,), words=2)
    stats = random_stats(2, codes)
    settings = TreeSettings(growth=growth, max_leaves=12, max_depth=4, min_rows=5)
    grower = HistogramGrower(codes, settings, 2)
    grower.stats_to_fill()[:] = stats
    twin = (SymmetricGrowth if growth == "symmetric" else Growth)(codes, settings, SCALES, 7)
    twin.take(stats)
    assert_same_tree(grower.grow(SCALES, 7), twin.grow(), rtol=1e-13)


def test_a_model_does_not_depend_on_who_shares(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(9000, 3)), rng.integers(0, 3, (9000, 5)), rng.normal(size=(9000, 2))])
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nansum(X[:, :5], axis=1) + rng.normal(size=9000) > 2).astype(int)

    def predicted(threads=2, **more):
        model = GradientBoostingClassifier(n_estimators=8, early_stopping=False, random_state=0, n_jobs=threads, **more).fit(X, y)
        return model.predict_proba(X).tobytes()

    with_bytes = [predicted(threads, growth=growth) for growth in ("best_first", "level", "symmetric") for threads in (1, 3)]
    monkeypatch.setattr(code_layouts, "FEWEST_ROWS", 1 << 40)
    without = [predicted(threads, growth=growth) for growth in ("best_first", "level", "symmetric") for threads in (1, 3)]
    assert with_bytes == without


@pytest.mark.parametrize("words", [0, 1])
def test_stumps_on_the_same_table_do_not_see_shared_bytes(words, always):
    codes = table(5, 400, (3, 3, 60), words=words)
    rng = np.random.default_rng(5)
    label, whole = rng.integers(0, 2, 400).astype(np.int32), rng.integers(1, 2**40, 400)
    before = Stumps(codes, None, 1).best(whole, label, 2)
    HistogramGrower(codes, TreeSettings())
    assert (codes.by_row[:, 3] > 0).any()
    after = Stumps(codes, None, 1).best(whole, label, 2)
    assert (before.feature, before.bin, before.missing, before.gain) == (after.feature, after.bin, after.missing, after.gain)
    assert_array_equal(before.weights, after.weights)
