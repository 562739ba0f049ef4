"""The rules behind 'auto': sensible at both ends and in between."""

import pytest

from woodwind.ensemble.boosting import auto_defaults
from woodwind.tree.settings import TreeSettings

SIZES = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]


def test_larger_tables_take_larger_steps_within_limits():
    rates = [auto_defaults.learning_rate(n) for n in SIZES]
    assert rates == sorted(rates)
    assert (rates[0], rates[-1]) == (auto_defaults.SMALL_STEP, auto_defaults.LARGE_STEP)


def test_patience_grows_as_steps_shrink():
    waits = [auto_defaults.patience(rate) for rate in (1.0, 0.3, 0.1, 0.03, 0.001)]
    assert waits == sorted(waits)
    assert waits[0] >= 10


@pytest.mark.parametrize("is_class", [True, False])
def test_leaves_of_small_tables_are_small_but_never_empty(is_class):
    rows = [auto_defaults.min_rows(is_class, n) for n in SIZES]
    assert rows == sorted(rows)
    assert rows[0] == 1


def test_small_tables_use_every_row():
    assert auto_defaults.subsample(40) == 1.0
    assert 0.5 <= auto_defaults.subsample(1_000_000) < 1.0


def test_what_is_held_out_depends_on_the_size():
    assert [auto_defaults.early_stopping(n) for n in (20, 500, 50_000)] == ["none", "folds", "share"]
    assert auto_defaults.early_stopping(2_000, 10, 1) == "folds"
    assert auto_defaults.early_stopping(2_000, 64, 10) == "share"
    assert auto_defaults.early_stopping(200, 5_000, 10) == "folds"


def test_penalties_of_categories_grow_with_the_rows():
    for rule in (auto_defaults.category_l2, auto_defaults.category_smooth):
        values = [rule(n) for n in SIZES]
        assert values == sorted(values)
        assert values[0] == auto_defaults.LEAST_CATEGORY_L2


def test_trees_of_whole_levels_are_as_wide_as_they_are_deep():
    assert auto_defaults.max_leaves(True, 100, "level", 5) == 32
    assert auto_defaults.max_leaves(True, 100, "symmetric", None) == 1 << auto_defaults.LEVELS
    assert auto_defaults.max_leaves(True, 1_000_000, "best_first", 5) == auto_defaults.CLASS_LEAVES


@pytest.mark.parametrize("is_class", [True, False])
def test_trees_of_larger_tables_have_more_leaves_within_limits(is_class):
    leaves = [auto_defaults.max_leaves(is_class, n, "best_first", None) for n in SIZES]
    assert leaves == sorted(leaves)
    assert leaves[0] == auto_defaults.LEAST_LEAVES
    assert leaves[-1] == (auto_defaults.CLASS_LEAVES if is_class else auto_defaults.REGRESSION_LEAVES)


def test_trees_of_wider_tables_see_a_smaller_share_of_more_features():
    probabilities = [auto_defaults.feature_share(p) for p in (1, 10, 100, 1_000, 10_000)]
    assert probabilities[:2] == [1.0, 1.0]
    assert probabilities == sorted(probabilities, reverse=True)
    seen = [int(auto_defaults.feature_share(p) * p) for p in (1, 10, 100, 1_000, 10_000)]
    assert seen == sorted(seen)


def test_bad_luck_is_possible_only_where_something_is_drawn():
    assert auto_defaults.split_patience(TreeSettings(), 1.0) == 1
    assert auto_defaults.split_patience(TreeSettings(), 0.9) > 1
    assert auto_defaults.split_patience(TreeSettings(), 1.0, bootstrap=True) > 1
    assert auto_defaults.split_patience(TreeSettings(features_per_node=2), 1.0) > 1
    assert auto_defaults.split_patience(TreeSettings(gradient_noise=0.5), 1.0) > 1
