"""The verbs of histogram growth, each called alone on blocks of rows, against slow twins."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.coded import SCALES, categories_in, random_codes, random_stats
from reference.naive_growth import Growth
from reference.naive_growth import Node as Twin
from reference.naive_histograms import histogram, split_rows
from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.blocks import build_histograms, find_splits, partition_rows
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, WIDE2
from woodwind.kernels.tree import constraints, nodes
from woodwind.kernels.tree import memory as common
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")


def built(codes, stats, slots, layouts, blocks=1):
    """Histograms of some nodes, of rows that come in so many blocks."""
    starts = np.arange(codes.n_features + 1, dtype=np.int64) * codes.width
    out = np.zeros((len(layouts), 2 * int(starts[-1])), np.int64)
    for rows in np.array_split(np.arange(codes.n_rows), blocks):
        part = (np.ascontiguousarray(array[rows]) for array in (codes.by_row, stats, slots))
        by_row, of_rows, of_slots = part
        build_histograms(by_row, codes.places, starts, of_rows, of_slots, np.asarray(layouts, np.int64), out)
    return out


def test_histograms_of_blocks_add_up_to_the_sums_over_rows():
    codes = random_codes(1, 120)
    stats = random_stats(1, codes)
    slots = np.random.default_rng(2).integers(-1, 3, 120).astype(np.int32)
    layouts = [PACKED3, PACKED2, WIDE2]
    found_tables = built(codes, stats, slots, layouts, blocks=3)
    for slot, layout in enumerate(layouts):
        twin = histogram(codes.by_column, codes.width, np.flatnonzero(slots == slot), stats, layout)
        assert_array_equal(found_tables[slot, : len(twin)], twin)
        assert not found_tables[slot, len(twin) :].any()


@pytest.mark.parametrize("levels", [(0, 0, 0), (0, 5, 7)], ids=["numbers", "categories"])
def test_splits_are_found_from_histograms_alone(levels):
    codes = random_codes(3, 150, levels)
    stats, settings = random_stats(3, codes), TreeSettings(min_rows=3)
    slots = np.random.default_rng(4).integers(0, 2, 150).astype(np.int32)
    tables = built(codes, stats, slots, [PACKED3, PACKED3])
    grower = HistogramGrower(codes, settings)
    space, column, value = grower._space, nodes.COLUMNS.at, constraints.VALUES.at
    for node in range(2):
        space["tables"][node] = tables[node, : space["tables"].shape[1]]
        space["node_i"][node, [column["depth"], column["key"], memory.SLOT, memory.LAYOUT_OF_NODE]] = 0, 7, node, PACKED3
        space["node_f"][node, [value["low"], value["high"]]] = -np.inf, np.inf
    find_splits(space.directory, grower._rule(SCALES, 7, False), np.arange(2))
    growth = Growth(codes, settings, SCALES, 7)
    growth.take(stats)
    for node in range(2):
        split = growth.find_split(Twin(np.flatnonzero(slots == node), 0, 7, PACKED3))
        assert space["split_i"][node, common.SPLITS.at["feature"]] == split.feature
        assert space["split_f"][node, common.SPLIT_VALUES.at["gain"]] == split.gain
        if split.categories is None:
            assert space["split_i"][node, common.SPLITS.at["bin"]] == split.bin
            assert space["split_i"][node, common.SPLITS.at["missing"]] == split.side
        else:
            assert categories_in(space["split_sets"][node]) == set(split.categories) - {codes.missing}


def test_rows_go_to_the_children_of_their_nodes():
    codes = random_codes(5, 90)
    rng = np.random.default_rng(6)
    before = rng.integers(-1, 3, 90).astype(np.int32)
    features, children = np.array([2, -1, 0], np.int32), np.array([3, 0, 5], np.int32)
    goes_left = rng.integers(0, 2, (3, 256)).astype(np.uint8)
    after = before.copy()
    partition_rows(codes.by_row, codes.places, features, goes_left, children, after)
    for node, feature in enumerate(features.tolist()):
        rows = np.flatnonzero(before == node).tolist()
        if feature < 0:
            assert (after[rows] == node).all()
            continue
        moved, n_left, _ = split_rows(codes.by_column[feature], goes_left[node], rows)
        assert_array_equal(np.flatnonzero(after == children[node]), moved[:n_left])
        assert_array_equal(np.flatnonzero(after == children[node] + 1), moved[n_left:][::-1])
    assert (after[before < 0] == -1).all()
