"""What a block of rows is asked, against slow twins: splits applied, rows brought together, statistics summed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.coded import SCALES, random_codes, random_stats
from reference.naive_histograms import histogram, split_rows
from woodwind.kernels.histogram.layout import PACKED3, WIDE2
from woodwind.kernels.histogram.shards import COARSE, COUNTS, FINE, Splits, apply_splits, sort_rows
from woodwind.shards.block_worker import BlockWorker
from woodwind.shards.requests import ShardRequest, SumRequest, TreeRows
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")


@pytest.mark.parametrize("repeated", [False, True])
def test_rows_go_to_the_sides_of_their_splits(repeated):
    codes, rng = random_codes(5, 90), np.random.default_rng(6)
    before = rng.integers(-1, 3, 90).astype(np.int32)
    times = rng.integers(0, 4, 90).astype(np.int32) if repeated else None
    features = np.array([2, 0])
    goes_left = rng.integers(0, 2, (2, 256)).astype(np.uint8)
    # Rows of place 0 go by the first split, those of place 2 by the second, those of place 1 stay.
    splits = Splits(np.array([0, -1, 1], np.int32), codes.places[features], goes_left, np.array([3, 5], np.int32))
    after, left, met = before.copy(), np.zeros(2, np.int64), np.zeros((2, 256), np.uint8)
    for begin, end in ((0, 40), (40, 40), (40, 90)):
        apply_splits(codes.by_row[begin:end], after[begin:end], None if times is None else times[begin:end], splits, left, met)
    assert_array_equal(after[before == 1], 1)
    assert_array_equal(after[before == -1], -1)
    for split, place in enumerate((0, 2)):
        rows = np.flatnonzero(before == place)
        moved, n_left, _ = split_rows(codes.by_column[features[split]], goes_left[split], rows.tolist())
        going = np.sort(np.array(moved[:n_left], np.int64))
        assert_array_equal(np.flatnonzero(after == 3 + 2 * split), going)
        assert_array_equal(np.flatnonzero(after == 4 + 2 * split), np.setdiff1d(rows, going))
        assert left[split] == (n_left if times is None else times[going].sum())
        assert_array_equal(np.flatnonzero(met[split]), np.unique(codes.by_column[features[split]][rows]))


@pytest.mark.parametrize("repeated", [False, True])
def test_rows_are_brought_together_by_what_they_are_summed_in(repeated):
    rng = np.random.default_rng(8)
    places = rng.integers(-1, 4, 60).astype(np.int32)
    times = rng.integers(0, 3, 60).astype(np.int32) if repeated else None
    slot_of = np.array([2, 0, 2, 1, 0], np.int32)  # the first is of rows in no tree; the last slot is for those that are not summed
    often = np.ones(60, np.int64) if times is None else times
    ends, out = np.zeros(4, np.int64), np.zeros(int(often.sum()), np.int64)
    sort_rows(places, times, None, slot_of, ends, out)
    slots = slot_of[places + 1]
    for slot in range(3):
        known = np.repeat(np.arange(60), often)[np.repeat(slots, often) == slot]
        assert_array_equal(out[ends[slot] : ends[slot + 1]] >> 32, known)


def test_sums_of_blocks_add_up_to_the_sums_over_rows():
    codes = random_codes(1, 150)
    stats, rng = random_stats(1, codes), np.random.default_rng(2)
    places = rng.integers(-1, 4, 150).astype(np.int32)
    rule = HistogramGrower(codes, TreeSettings())._rule(SCALES, 7, False)
    starts = np.arange(codes.n_features + 1, dtype=np.int64) * codes.width
    worker = BlockWorker(codes, starts, 0)
    forms = np.array([FINE, COARSE, COUNTS])
    worker.begin(ShardRequest(None, SumRequest(np.array([0, 1, -1, 2], np.int32), forms)))
    rows = TreeRows(places, None, stats, rule, 0)
    for begin, end in ((0, 60), (60, 60), (60, 61), (61, 150)):
        worker.block(codes.by_row[begin:end], rows.part(begin, end))
    found = worker.result()
    by_column = codes.by_column
    assert_array_equal(found.table(0, False), histogram(by_column, codes.width, np.flatnonzero(places == 0), stats, PACKED3))
    assert_array_equal(found.table(1, True), histogram(by_column, codes.width, np.flatnonzero(places == 1), stats, WIDE2))
    counted = [np.bincount(column[places == 3], minlength=codes.width) for column in by_column]
    assert_array_equal(found.table(2, False), np.concatenate(counted))


@pytest.mark.compiled
def test_packed_sums_are_widened_before_they_overflow():
    codes = random_codes(3, 300_000)
    stats = np.full(300_000, ((1 << 30) << 32) + (1 << 30))  # the largest that there are
    rule = HistogramGrower(codes, TreeSettings())._rule(SCALES, 7, False)
    starts = np.arange(codes.n_features + 1, dtype=np.int64) * codes.width
    worker = BlockWorker(codes, starts, 0)
    worker.begin(ShardRequest(None, SumRequest(np.zeros(1, np.int32), np.array([COARSE]))))
    rows = TreeRows(np.zeros(300_000, np.int32), None, stats, rule, 0)
    for begin, end in ((0, 65_535), (65_535, 65_536), (65_536, 300_000)):
        worker.block(codes.by_row[begin:end], rows.part(begin, end))
    found = worker.result().table(0, True).reshape(2, codes.n_features, -1)
    known = np.stack([np.bincount(column, minlength=codes.width) for column in codes.by_column])
    assert_array_equal(found[0], known * 32767)
    assert_array_equal(found[1], known * 32768)
