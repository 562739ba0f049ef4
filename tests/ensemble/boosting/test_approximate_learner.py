"""Approximate split finding: proposed thresholds against a brute-force twin, against each other, and against every threshold."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reference.boosted import boosted
from reference.naive_candidates import NaiveApproximateTree
from reference.naive_tree import Limits
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError, load
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.boosting.approximate_learner import ApproximateLearner
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.losses.regression import Absolute, Poisson, Quantile, Squared
from woodwind.tree.exact_grower import ExactGrower, thresholds
from woodwind.tree.settings import TreeSettings

LEVEL = TreeSettings(growth="level", max_leaves=8, max_depth=3, min_rows=1, min_hessian=0.0, l2=1.0)
PLAIN = {"n_estimators": 4, "max_depth": 3, "growth": "level", "learning_rate": 0.3, "early_stopping": False, "subsample": 1.0}


def numbers(n=600, digits=None, missing=0.15, seed=0):
    """Numbers with gaps, and a target of which each column explains something else."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    x[rng.random(x.shape) < missing] = np.nan
    y = np.nan_to_num(x) @ [1.0, -0.7, 0.4, 0.0] + np.isnan(x[:, 1]) + np.sin(3 * np.nan_to_num(x[:, 0])) + 0.4 * rng.normal(size=n)
    return (x if digits is None else x.round(digits)), y


def words(n=500):
    x, y = numbers(n)
    frame = pd.DataFrame(x, columns=list("abcd"))
    town = np.random.default_rng(1).choice(["rome", "oslo", "lima", None], n)
    frame["town"] = town
    return frame, y + (town == "oslo")


# Against the twin.


def whole_statistics(n, seed):
    """Gradients and hessians in units that no engine rounds, heavy ones among them."""
    rng = np.random.default_rng(seed)
    return rng.integers(-100, 100, n) / 1.0, np.where(rng.random(n) < 0.1, 60, rng.integers(1, 9, n)) / 1.0


def as_naive(tree, threshold):
    """What the twin says of a tree: for each split its feature, threshold, side of missing values and gain."""
    split = np.flatnonzero(tree.feature >= 0)
    return [(int(tree.feature[k]), float(threshold[k]), int(tree.missing[k]), float(tree.gain[k])) for k in split]


def naive(x, gradient, hessian, n_bins, local, l2=1.0, depth=3):
    columns = [column.tolist() for column in x.T]
    stats = [(g, h, 1) for g, h in zip(gradient.tolist(), hessian.tolist(), strict=True)]
    limits = Limits(max_depth=depth, l2=l2, thorough=False)
    twin = NaiveApproximateTree(columns, [False] * len(columns), stats, list(range(len(stats))), limits, n_bins=n_bins, local=local)
    return [
        (node.found.feature, node.found.below, node.found.above, node.found.missing, node.found.gain)
        for node in twin.grow() if node.child
    ]  # fmt: skip


@pytest.mark.parametrize("n_bins", [3, 8, 20, 1000])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_local_candidates_are_those_of_the_twin(seed, n_bins):
    x, _ = numbers(90, digits=1 if seed == 2 else None, seed=seed)
    gradient, hessian = whole_statistics(len(x), seed)
    ranks = Ranks.of(Schema.learn(x)[1])
    tree = ExactGrower(ranks, replace(LEVEL, candidates="local", candidate_bins=n_bins)).grow_from(gradient, hessian, 1)
    found, expected = as_naive(tree, thresholds(tree, ranks)), naive(x, gradient, hessian, n_bins, True)
    assert [one[0] for one in found] == [one[0] for one in expected]
    for (_, threshold, side, gain), (_, below, above, way, better) in zip(found, expected, strict=True):
        assert side == way
        assert threshold == (np.inf if above is None else pytest.approx((below + above) / 2))
        assert gain == pytest.approx(better, rel=1e-9)


@pytest.mark.parametrize("n_bins", [3, 8, 20, 255])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_global_candidates_are_those_of_the_twin(seed, n_bins):
    """Hessians are weights: with squared error the gradient of a row is its weight times its distance."""
    x, _ = numbers(90, digits=1 if seed == 2 else None, seed=seed)
    gradient, hessian = whole_statistics(len(x), seed)
    plan = BoostPlan(Squared(), replace(LEVEL, candidates="global", candidate_bins=n_bins))
    learner = ApproximateLearner(Ranks.of(Schema.learn(x)[1]), -gradient / hessian, hessian, plan, len(x), 1, lambda: None)
    learner.set_derivatives(Squared(), np.zeros(len(x)), hessian)
    tree = learner.grow(1, None, 0)
    found, expected = as_naive(tree, tree.threshold), naive(x, gradient, hessian, n_bins, False)
    assert [one[0] for one in found] == [one[0] for one in expected]
    for (feature, threshold, side, gain), (_, below, above, way, better) in zip(found, expected, strict=True):
        assert side == way
        assert gain == pytest.approx(better, rel=1e-4)  # histograms round gradients to 16 bits
        if above is None:
            assert threshold == np.inf
        else:  # at a border of bins between the neighbours of the cut
            assert below <= threshold < above
            ordered = np.unique(x[~np.isnan(x[:, feature]), feature])
            here = np.searchsorted(ordered, threshold, side="right")
            assert threshold == pytest.approx((ordered[here - 1] + ordered[here]) / 2)


# Against each other, and against every threshold.


def scores(x, y, loss, candidates, n_bins, depth, **given):
    tree = replace(LEVEL, candidates=candidates, candidate_bins=n_bins, max_depth=depth, max_leaves=1 << depth)
    return boosted(x, y, BoostPlan(loss, tree, learning_rate=0.3), 6, max_bins=None, **given)


@pytest.mark.parametrize("n_bins", [4, 33, 255])
@pytest.mark.parametrize("loss", [LogLoss(), Squared(), Poisson(), Absolute(), Multinomial(3)], ids=lambda loss: loss.name)
def test_local_equals_global_at_depth_one(loss, n_bins):
    x, y = words()
    if isinstance(loss, Multinomial):
        y = np.digitize(y, [-0.5, 1.0]).astype(np.int32)
    y = (y > 0).astype(float) if isinstance(loss, LogLoss) else np.floor(np.abs(y)) if isinstance(loss, Poisson) else y
    once, anew = (scores(x, y, loss, candidates, n_bins, 1) for candidates in ("global", "local"))
    assert once.forest.feature.tolist() == anew.forest.feature.tolist()
    np.testing.assert_array_equal(once.forest.threshold, anew.forest.threshold)
    # Statistics of the one are integers of 30 bits, of the other of 62.
    np.testing.assert_allclose(once.booster.raw, anew.booster.raw, rtol=0, atol=1e-7)


def test_they_differ_below_that():
    x, y = numbers()
    once, anew = (scores(x, y, Squared(), candidates, 6, 3) for candidates in ("global", "local"))
    assert once.forest.threshold.tolist() != anew.forest.threshold.tolist()


def test_local_candidates_of_all_values_are_every_threshold():
    x, y = words()
    local, exact = (scores(x, (y > 0).astype(float), LogLoss(), candidates, 600, 3) for candidates in ("local", None))
    assert local.forest.digest() == exact.forest.digest()


def test_global_candidates_of_all_values_split_as_every_threshold_does():
    x, y = words(220)
    once, exact = (scores(x, (y > 0).astype(float), LogLoss(), candidates, 255, 3) for candidates in ("global", None))
    assert once.forest.feature.tolist() == exact.forest.feature.tolist()
    np.testing.assert_allclose(once.booster.raw, exact.booster.raw, rtol=0, atol=1e-7)


def test_a_row_of_more_hessian_moves_the_candidates_of_the_next_tree():
    """Half of all hessians, a thousandth of the rows: half of the candidates are there."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.random((4000, 1)), axis=0)
    weight = np.where(np.arange(4000) >= 3996, 1000.0, 1.0)
    plan = BoostPlan(Squared(), replace(LEVEL, candidates="global", candidate_bins=10))
    learner = ApproximateLearner(Ranks.of(Schema.learn(x)[1]), x[:, 0], weight, plan, 4000, 1, lambda: None)
    for weights, first in ((np.ones(4000), 400), (weight, 800)):
        learner.set_derivatives(Squared(), np.zeros(4000), weights)
        learner.grow(1, None, 0)
        assert learner._ends[0][1, 0] == pytest.approx(first, abs=2)


# With everything else.


@pytest.mark.parametrize("candidates", ["global", "local"])
@pytest.mark.parametrize("loss", [Squared(), Quantile(0.7), LogLoss()], ids=lambda loss: loss.name)
def test_a_weight_of_two_is_a_row_given_twice(loss, candidates):
    x, y = words(300)
    y = (y > 0).astype(float) if isinstance(loss, LogLoss) else y
    often = np.random.default_rng(3).integers(1, 4, len(y))
    tree = replace(LEVEL, candidates=candidates, candidate_bins=12)
    rows = np.repeat(np.arange(len(y)), often)
    plan = BoostPlan(loss, tree)
    weighted = boosted(x, y, plan, 3, weight=often.astype(float), max_bins=None)
    repeated = boosted(x.iloc[rows], y[rows], plan, 3, max_bins=None)
    assert weighted.forest.feature.tolist() == repeated.forest.feature.tolist()
    np.testing.assert_array_equal(weighted.forest.threshold, repeated.forest.threshold)
    np.testing.assert_allclose(weighted.booster.raw, repeated.booster.raw[np.cumsum(often) - 1], atol=1e-7)


@pytest.mark.parametrize("candidates", ["global", "local"])
def test_rows_that_are_not_drawn_propose_nothing(candidates):
    x, y = numbers(400)
    some = np.flatnonzero(np.random.default_rng(5).random(400) < 0.5).astype(np.int32)
    tree = replace(LEVEL, candidates=candidates, candidate_bins=9)
    drawn = boosted(x, y, BoostPlan(Squared(), tree), 3, rows=some, max_bins=None)
    alone = boosted(x[some], y[some], BoostPlan(Squared(), tree), 3, max_bins=None)
    np.testing.assert_array_equal(drawn.forest.threshold, alone.forest.threshold)
    np.testing.assert_allclose(drawn.booster.raw[some], alone.booster.raw, atol=1e-7)


@pytest.mark.parametrize("options", [
    {"subsample": 0.6}, {"bootstrap": True}, {"max_features_tree": 2}, {"max_features": 2}, {"growth": "symmetric"},
    {"growth": "best_first", "max_leaf_nodes": 9}, {"sampling": "goss", "subsample": "auto"}, {"sampling": "mvs", "subsample": 0.5},
    {"monotonic_cst": {"a": 1}}, {"interaction_cst": [["a", "b"]]}, {"gradient_noise": 0.5}, {"boosting": "dart"}, {"boosting": "ordered"},
    {"early_stopping": True, "n_iter_no_change": 3}, {"linear_leaves": True}, {"n_parallel_trees": 2, "subsample": 0.5},
    {"prune": True, "min_gain": 0.5}, {"max_delta_step": 0.3}, {"path_smooth": 3.0},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("candidates", ["global", "local"])
def test_scores_of_training_are_those_of_the_model(candidates, options):
    """What trees are grown on are codes of the moment or lists of rows; what is left of them are thresholds."""
    if candidates == "local" and (options.get("growth") == "symmetric" or "gradient_noise" in options):
        pytest.skip("needs bins for all nodes")
    x, y = words(1200)
    seen = []
    settings = PLAIN | {"candidates": candidates, "sketch_eps": 0.07, "random_state": 1} | options
    model = GradientBoostingRegressor(**settings, callbacks=[lambda step: seen.append(step.round.raw.copy()) and None]).fit(x, y)
    assert model.score(x, y) > 0.2
    if not options.get("early_stopping"):
        np.testing.assert_allclose(model.predict(x), seen[-1], atol=1e-9)


@pytest.mark.parametrize("multiclass", ["vector", "one_per_class"])
def test_several_classes(multiclass):
    x, y = words(900)
    labels = np.digitize(y, [-0.5, 1.0])
    settings = PLAIN | {"multiclass": multiclass, "candidates": "global", "sketch_eps": 0.1}
    model = GradientBoostingClassifier(**settings).fit(x, labels)
    assert model.score(x, labels) > 0.7
    assert model.n_trees_per_iteration_ == (1 if multiclass == "vector" else 3)
    for more in ({"candidates": "local"}, {"candidates": None, "sketch_eps": None, "max_bins": None}):
        other = GradientBoostingClassifier(**settings | more).fit(x, labels)
        assert other.score(x, labels) > 0.7
        assert other.n_trees_per_iteration_ == model.n_trees_per_iteration_


def test_one_tree_for_all_classes_takes_the_hessian_that_they_share():
    x, y = numbers(500)
    plan = BoostPlan(Multinomial(3), replace(LEVEL, candidates="global", candidate_bins=7))
    done = boosted(x, np.digitize(y, [-0.5, 1.0]).astype(np.int32), plan, 3, max_bins=None)
    learner = done.booster.learner
    weight = learner._gradients[:, -1].astype(np.int64)
    order = learner.ranks.order[0][: np.count_nonzero(~np.isnan(x[:, 0]))]
    middle = (np.cumsum(weight[order]) - 0.5 * weight[order]) * 7 / weight[order].sum()
    assert learner._ends[0][1].tolist() == (np.searchsorted(middle, np.arange(1, 8)) - 1).tolist()


def test_weights_of_very_different_sizes_are_not_rounded():
    x, y = numbers(700)
    weight = np.where(np.random.default_rng(2).random(700) < 0.8, 1e-7, 1.0) * 1.0
    once, anew = (scores(x, y, Squared(), candidates, 20, 1, weight=weight) for candidates in ("global", "local"))
    np.testing.assert_array_equal(once.forest.threshold, anew.forest.threshold)


@pytest.mark.parametrize("way", [-1.0, 1.0])
@pytest.mark.parametrize("candidates", ["global", "local"])
def test_missing_values_take_the_better_side(candidates, way):
    """One split: missing values are like the smallest numbers, or like the largest."""
    x, _ = numbers(500, missing=0.3)
    y = np.sign(np.nan_to_num(x[:, 0], nan=9.0 * way))
    model = GradientBoostingRegressor(**PLAIN | {"max_depth": 1, "n_estimators": 1}, candidates=candidates, sketch_eps=0.1).fit(x, y)
    assert model.forest_.feature[0] == 0
    predicted = model.predict(x)
    assert len(np.unique(predicted)) == 2
    assert (predicted[np.isnan(x[:, 0])] == predicted[np.nanargmax(way * x[:, 0])]).all()


def test_a_column_without_values_is_never_chosen():
    x, y = numbers(300)
    x[:, 2] = np.nan
    for candidates in ("global", "local"):
        model = GradientBoostingRegressor(**PLAIN, candidates=candidates, sketch_eps=0.05).fit(x, y)
        assert 2 not in model.forest_.feature


def test_a_training_goes_on_and_a_model_is_saved(tmp_path):
    x, y = words(400)
    for candidates in ("global", "local"):
        settings = PLAIN | {"candidates": candidates, "sketch_eps": 0.1}
        whole = GradientBoostingRegressor(**settings).fit(x, y)
        begun = GradientBoostingRegressor(**settings | {"n_estimators": 2, "warm_start": True}).fit(x, y)
        begun.set_params(n_estimators=4).fit(x, y)
        np.testing.assert_allclose(begun.predict(x), whole.predict(x), atol=1e-12)
        whole.save(tmp_path / "model.ww")
        again = load(tmp_path / "model.ww")
        assert again.forest_.digest() == whole.forest_.digest()
        assert (again.candidates, again.sketch_eps) == (candidates, 0.1)


def test_bins_of_before_the_training_are_no_start_for_candidates():
    x, y = numbers(300)
    model = GradientBoostingRegressor(**PLAIN | {"n_estimators": 2, "warm_start": True}).fit(x, y)
    with pytest.raises(ParameterError, match="Set max_bins and candidates as they were"):
        model.set_params(n_estimators=4, candidates="global").fit(x, y)


def test_without_candidates_nothing_is_other_than_it_was():
    x, y = words(400)
    known = GradientBoostingRegressor(**PLAIN).fit(x, y)
    assert known.forest_.digest() == GradientBoostingRegressor(**PLAIN, candidates=None, sketch_eps=None).fit(x, y).forest_.digest()


def test_sketch_eps_says_how_many():
    x, y = numbers(2000, missing=0.0)
    for eps, most in ((0.2, 5), (0.03, 34), (1 / 255, 255)):
        model = GradientBoostingRegressor(**PLAIN | {"max_depth": 6, "n_estimators": 8}, candidates="global", sketch_eps=eps).fit(x, y)
        of_first = {float(t) for f, t in zip(model.forest_.feature, model.forest_.threshold, strict=True) if f == 0}
        assert len(of_first) <= most - 1  # hessians of squared error never change, so that all trees have the same candidates


def test_max_bins_says_how_many_where_sketch_eps_does_not():
    x, y = numbers(500)
    for candidates in ("global", "local"):
        by_bins = GradientBoostingRegressor(**PLAIN, candidates=candidates, max_bins=20).fit(x, y)
        by_eps = GradientBoostingRegressor(**PLAIN, candidates=candidates, sketch_eps=0.05).fit(x, y)
        assert by_bins.forest_.digest() == by_eps.forest_.digest()
