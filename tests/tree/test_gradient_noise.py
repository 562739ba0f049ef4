"""Trees grown from disturbed gradients: the splits of the noise, the leaves of the truth."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference import naive_noise as naive
from reference.coded import SCALES, assert_same_sums, assert_same_tree, random_codes, random_stats
from reference.naive_growth import Growth, SymmetricGrowth, VectorGrowth
from reference.naive_histograms import coarse
from woodwind.base.random_streams import key
from woodwind.kernels.histogram.build_histograms import fill_rows
from woodwind.tree import code_layouts as listing
from woodwind.tree.gradient_noise import GradientNoise, factor_of, room_for
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")

SMALL = {"min_rows": 3, "min_hessian": 0.0, "max_leaves": 8, "category_smooth": 1.0, "category_l2": 0.5}
REPEATED = np.repeat(np.arange(80), np.arange(80) % 4).astype(np.int32)
SOME = np.flatnonzero(np.random.default_rng(1).random(80) < 0.6).astype(np.int32)


def roomy_stats(seed, codes, share, even=False):
    """Statistics with gradients so small that noise fits beside them."""
    stats = random_stats(seed, codes, even)
    gradient = np.rint((stats >> 32) / room_for(share)).astype(np.int64)
    return (gradient << 32) + (stats & 0xFFFFFFFF)


def noisy_stats(stats, name, share, rows=None):
    """The statistics that splits are looked for by, in the twin's words."""
    gradient, _hessian = coarse(stats)
    chosen = gradient if rows is None else gradient[rows]
    factor = factor_of(share, sum(int(g) ** 2 for g in chosen), len(chosen))
    words = [(row << 32) + (int(g) & 0xFFFF) * 65536 for row, g in enumerate(gradient)]
    disturbed = naive.disturb_rows(words, None, key(name, "gradient noise"), factor)
    fields = np.array([naive.gradient_in(word) for word in disturbed], np.int64)
    return (fields << 47) + (stats & 0xFFFFFFFF)


def grown(codes, stats, settings, name=1, rows=None):
    grower = HistogramGrower(codes, settings, 1, None if rows is None else len(rows))
    grower.stats_to_fill()[:] = stats
    return grower.grow(SCALES, name, rows)


@pytest.mark.parametrize("growth", ["best_first", "level", "symmetric"])
@pytest.mark.parametrize("rows", [None, SOME, REPEATED], ids=["all", "some", "repeated"])
def test_splits_are_those_of_disturbed_gradients_and_sums_those_of_the_given(growth, rows):
    for seed in range(3):
        codes = random_codes(seed, 80, (0, 5, 0))
        symmetric = growth == "symmetric"
        settings = TreeSettings(**SMALL, growth=growth, max_depth=3 if symmetric else None, gradient_noise=0.7)
        stats = roomy_stats(seed, codes, 0.7)
        tree = grown(codes, stats, settings, seed, rows)
        twin = (SymmetricGrowth if symmetric else Growth)(codes, settings, SCALES, seed)
        twin.take(noisy_stats(stats, seed, 0.7, rows))
        nodes = twin.grow(rows)
        assert len(nodes) > 5
        assert_same_tree(tree, nodes, 1e-12 if symmetric else 0.0)
        assert_same_sums(tree, nodes, stats, SCALES)


def test_monotonic_trees_take_part():
    codes = random_codes(4, 80, (0, 0, 0))
    settings = TreeSettings(**SMALL, monotonic=np.array([1, -1, 0]), gradient_noise=0.5)
    stats = roomy_stats(4, codes, 0.5)
    twin = Growth(codes, settings, SCALES, 1)
    twin.take(noisy_stats(stats, 1, 0.5))
    assert_same_tree(grown(codes, stats, settings), twin.grow())


@pytest.mark.parametrize("outputs", [2, 3])
@pytest.mark.parametrize("rows", [None, REPEATED], ids=["all", "repeated"])
def test_trees_of_several_outputs_are_those_of_disturbed_lanes(outputs, rows):
    scales = np.array([2.0**30, 2.0**31])
    for seed in range(3):
        codes, rng = random_codes(seed, 80, (0, 5, 0)), np.random.default_rng(seed)
        settings = TreeSettings(**SMALL, gradient_noise=0.6)
        stats = rng.integers(-(2**28), 2**28, (80, outputs + 1))
        stats[:, -1] = rng.integers(2**28, 2**30, 80)
        grower = HistogramGrower(codes, settings, 1, None if rows is None else len(rows), outputs)
        grower.fill(stats.astype(np.int32))
        tree = grower.grow(scales, seed, rows)
        shift = grower._lane_shift
        lanes = ((stats + (1 << (shift - 1))) >> shift).tolist()
        chosen = range(80) if rows is None else rows.tolist()
        factors = [factor_of(0.6, total, len(chosen)) for total in naive.square_lanes(lanes, chosen, outputs)]
        disturbed = naive.disturb_lanes(lanes, None, key(seed, "gradient noise"), factors, 1 << (30 - shift))
        twin = VectorGrowth(codes, settings, scales, seed, outputs, 0 if rows is None else len(rows))
        twin.take(np.array(disturbed, np.int64) << shift)
        assert_same_tree(tree, twin.grow(rows))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("rows", [None, SOME, REPEATED], ids=["all", "some", "repeated"])
def test_listed_rows_have_the_noise_of_whole_ones(monkeypatch, outputs, rows):
    monkeypatch.setattr(listing, "LEAST_LISTED", 0)
    codes = random_codes(2, 80, (0, 4, 0, 0), common=0.8)
    found = []
    for most in (0.4, -1.0):
        monkeypatch.setattr(listing, "MOST_LISTED", most)
        monkeypatch.setattr(listing, "_made", {})
        grower = HistogramGrower(codes, TreeSettings(**SMALL, gradient_noise=0.5), 1, None if rows is None else len(rows), outputs)
        assert (grower._table.lists is not None) == (most > 0)
        if outputs > 1:
            stats = np.random.default_rng(3).integers(-(2**28), 2**28, (80, outputs + 1)).astype(np.int32)
            stats[:, -1] = 2**29
            grower.fill(stats)
        else:
            grower.stats_to_fill()[:] = roomy_stats(2, codes, 0.5)
        tree = grower.grow(SCALES, 7, rows)
        assert tree.n_nodes > 5
        seen = tree.leaf_of_row[np.arange(80) if rows is None else rows]
        found.append([tree.feature, tree.bin, tree.child, tree.missing, tree.gain, tree.gradient, tree.count, seen])
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)


@pytest.mark.compiled
@pytest.mark.parametrize("share", [0.1, 0.5, 2.0])
def test_noise_is_the_share_of_the_root_mean_square_and_none_of_it_is_cut_off(share):
    n = 60_000
    codes = random_codes(0, n, (0, 0))
    stats = roomy_stats(0, codes, share)
    grower = HistogramGrower(codes, TreeSettings(gradient_noise=share))
    grower.stats_to_fill()[:] = stats
    fill_rows(grower._space.directory, None, None, 0, n)
    before = (grower._space["rows"][:n] << 32) >> 48
    GradientNoise(grower._space, None, share).add_to_rows(1, n, 1)
    after = (grower._space["rows"][:n] << 32) >> 48
    added, root = after - before, np.sqrt((before**2.0).mean())
    assert added.std() == pytest.approx(share * root, rel=0.02)
    assert added.mean() == pytest.approx(0.0, abs=4 * share * root / np.sqrt(n))
    assert abs(np.corrcoef(before, added)[0, 1]) < 0.02
    assert abs(after).max() < 32767


@pytest.mark.compiled
def test_each_output_has_noise_of_its_own():
    n = 30_000
    codes = random_codes(0, n, (0, 0))
    gradients = np.random.default_rng(0).normal(size=(n, 4)) * [2**27, 2**25, 2**23, 0] + [0, 0, 0, 2**29]
    grower = HistogramGrower(codes, TreeSettings(gradient_noise=0.5), outputs=3)
    grower.fill(gradients.astype(np.int32))
    before = grower._space["lanes"].astype(np.int64)
    grower.grow(SCALES, 1)
    added = grower._space["lanes"] - before
    assert not added[:, 3:].any()
    # Lanes have steps of about a hundred and more, which the third output feels.
    np.testing.assert_allclose(added[:, :3].std(axis=0), 0.5 * np.sqrt((before[:, :3] ** 2.0).mean(axis=0)), rtol=0.03)
    np.testing.assert_allclose(np.corrcoef(added[:, :3].T), np.eye(3), atol=0.03)


def test_rows_that_a_tree_is_not_grown_from_have_no_say():
    codes = random_codes(3, 80)
    settings, stats = TreeSettings(**SMALL, gradient_noise=0.5), roomy_stats(3, codes, 0.5)
    others = stats.copy()
    out = np.setdiff1d(np.arange(80), SOME)
    others[out] = (np.int64(2**29) << 32) + (stats[out] & 0xFFFFFFFF)
    one, other = grown(codes, stats, settings, rows=SOME), grown(codes, others, settings, rows=SOME)
    for part in ("feature", "bin", "gain", "gradient"):
        assert_array_equal(getattr(one, part), getattr(other, part))


def test_statistics_are_still_there_afterwards_and_lanes_are_to_be_filled_again():
    codes = random_codes(0, 80)
    grower = HistogramGrower(codes, TreeSettings(**SMALL, gradient_noise=0.5))
    stats = roomy_stats(0, codes, 0.5)
    grower.stats_to_fill()[:] = stats
    first = grower.grow(SCALES, 1)
    assert_array_equal(grower.filled_stats, stats)
    assert_array_equal(grower.grow(SCALES, 1).gain, first.gain)
    grower = HistogramGrower(codes, TreeSettings(**SMALL, gradient_noise=0.5), outputs=2)
    grower.fill(np.full((80, 3), 2**28, np.int32))
    grower.grow(SCALES, 1)
    with pytest.raises(ValueError, match="fill them again"):
        grower.grow(SCALES, 1)


def test_room_is_enough_for_the_largest_gradient_and_the_largest_noise():
    assert room_for(0.0) == 1.0
    # Four pieces of 65,535 are twice that away from their mean.
    largest = 32767 / room_for(0.5)
    assert largest + 131070 * factor_of(0.5, int(largest**2) * 9, 9) / 65536 < 32767
    assert factor_of(0.5, 0, 0) == factor_of(0.0, 900, 9) == 0
