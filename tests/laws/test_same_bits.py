"""The same data, parameters and seed give the same forest, byte for byte, for any number of threads.

Threads are made to take part however small the work is, so that every hand-over is passed.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reference.boosted import boosted
from woodwind.base import pool
from woodwind.ensemble.boosting import histogram_learner, ordered_boosting
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.gradient_sampling import GradientSampling
from woodwind.losses.classification import Exponential, LogLoss, Multinomial
from woodwind.losses.first_order import FirstOrder
from woodwind.losses.regression import Absolute, Huber, Poisson, Quantile, Quantiles, Squared
from woodwind.losses.survival import AcceleratedFailureTime, CoxPartialLikelihood, SurvivalLoss
from woodwind.tree import exact_grower, histogram_grower, workspace
from woodwind.tree.settings import TreeSettings

THREADS = (1, 2, 3, 4, 8)
TREE = TreeSettings(min_rows=5, max_leaves=20)
DEEP = TreeSettings(min_rows=2, max_leaves=150)


def numbers(n, features=9, missing=0.1, ties=False):
    """Numbers with gaps; `ties`: few distinct ones."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, features))
    x = np.rint(x * 2) if ties else x
    x[rng.random(x.shape) < missing] = np.nan
    return x


def words(n):
    """Numbers and columns of words, with gaps."""
    rng = np.random.default_rng(n)
    frame = pd.DataFrame(numbers(n, 4), columns=list("abcd"))
    frame["colour"] = rng.choice(["red", "green", "blue", None], n)
    frame["town"] = [f"town {int(90 * u * u)}" for u in rng.random(n)]
    return frame


def counts(n):
    """Mostly zeros: rows become lists."""
    rng = np.random.default_rng(n)
    return np.where(rng.random((n, 40)) < 0.9, 0.0, rng.integers(1, 9, (n, 40)))


def tree(**options):
    return replace(TREE, **options)


def some(n, share):
    return np.flatnonzero(np.random.default_rng(n + 1).random(n) < share).astype(np.int32)


def repeated(n):
    return np.repeat(np.arange(n), np.random.default_rng(n + 2).integers(0, 4, n)).astype(np.int32)


def uneven(n):
    return np.random.default_rng(n + 3).uniform(0.01, 3.0, n)


# Name: table, plan, what else the training is given.
CASES = {
    "squared": (numbers(700), BoostPlan(Squared(), TREE), {}),
    "ties": (numbers(700, ties=True), BoostPlan(Squared(), TREE), {}),
    "one feature": (numbers(700, 1), BoostPlan(Squared(), TREE), {}),
    "few rows": (numbers(9), BoostPlan(Squared(), tree(min_rows=1)), {}),
    "many leaves": (numbers(2000), BoostPlan(LogLoss(), DEEP), {}),
    "many features": (numbers(300, 90), BoostPlan(LogLoss(), TREE), {}),
    "log loss": (numbers(700), BoostPlan(LogLoss(), TREE), {}),
    "poisson": (numbers(700), BoostPlan(Poisson(), TREE), {}),
    "exponential": (numbers(700), BoostPlan(Exponential(), TREE), {}),
    "absolute": (words(700), BoostPlan(Absolute(), TREE), {}),
    "quantile": (words(700), BoostPlan(Quantile(0.9), TREE), {"weight": uneven(700)}),
    "several quantiles": (words(700), BoostPlan(Quantiles((0.1, 0.9)), TREE), {"weight": uneven(700)}),
    "several quantiles, many rows": (numbers(9000), BoostPlan(Quantiles(), DEEP, subsample=0.5), {}),
    "huber": (words(700), BoostPlan(Huber(), TREE), {"rows": repeated(700)}),
    "cox": (words(700), BoostPlan(CoxPartialLikelihood(), TREE), {}),
    "cox, rows held out": (words(700), BoostPlan(CoxPartialLikelihood("breslow"), TREE, subsample=0.7), {"rows": some(700, 0.8)}),
    "cox, goss": (words(700), BoostPlan(CoxPartialLikelihood(), TREE, 1.0, sampling=GradientSampling("goss")), {"weight": uneven(700)}),
    "failure times": (words(700), BoostPlan(AcceleratedFailureTime(), TREE), {"weight": uneven(700)}),
    "failure times, extreme": (words(700), BoostPlan(AcceleratedFailureTime("extreme", 0.7), TREE, bootstrap=True), {}),
    "categories": (words(700), BoostPlan(LogLoss(), TREE), {}),
    "categories, many rows": (words(9000), BoostPlan(LogLoss(), DEEP), {}),
    "level by level": (words(700), BoostPlan(LogLoss(), tree(growth="level")), {}),
    "level by level, deep": (numbers(6000), BoostPlan(LogLoss(), replace(DEEP, growth="level")), {}),
    "symmetric": (words(700), BoostPlan(LogLoss(), tree(growth="symmetric", max_depth=4)), {}),
    "symmetric, many rows": (words(9000), BoostPlan(LogLoss(), tree(growth="symmetric", max_depth=7)), {}),
    "depth": (numbers(700), BoostPlan(LogLoss(), tree(max_depth=3)), {}),
    "pruned": (words(700), BoostPlan(LogLoss(), tree(prune=True, min_gain=1.0)), {}),
    "l1": (words(700), BoostPlan(LogLoss(), tree(l1=1.0)), {}),
    "monotonic": (numbers(700), BoostPlan(Squared(), tree(monotonic=np.array([1, -1, 0] * 3))), {}),
    "monotonic, many rows": (numbers(9000), BoostPlan(LogLoss(), tree(monotonic=np.array([1, -1, 0] * 3))), {}),
    "interaction": (numbers(700), BoostPlan(Squared(), tree(groups=((0, 1, 2), (2, 3), (4, 5, 6, 7)))), {}),
    "features of a tree": (numbers(700), BoostPlan(Squared(), tree(features_per_tree=4)), {}),
    "features of a level": (numbers(700), BoostPlan(Squared(), tree(features_per_level=3)), {}),
    "features of a node": (words(700), BoostPlan(LogLoss(), tree(features_per_node=2)), {}),
    "features of all": (numbers(700, 30), BoostPlan(LogLoss(), tree(features_per_tree=20, features_per_level=9, features_per_node=3)), {}),
    "noise": (words(700), BoostPlan(LogLoss(), tree(gradient_noise=0.5)), {}),
    "noise, drawn": (words(700), BoostPlan(Squared(), tree(gradient_noise=0.5), subsample=0.5), {"weight": uneven(700)}),
    "noise, repeated rows": (words(700), BoostPlan(LogLoss(), tree(gradient_noise=2.0), bootstrap=True), {"rows": repeated(700)}),
    "noise, level by level": (words(700), BoostPlan(LogLoss(), tree(gradient_noise=0.5, growth="level")), {"rows": some(700, 0.8)}),
    "noise, symmetric": (words(9000), BoostPlan(LogLoss(), tree(gradient_noise=0.5, growth="symmetric", max_depth=5)), {}),
    "noise, monotonic": (numbers(9000), BoostPlan(Squared(), tree(gradient_noise=0.5, monotonic=np.array([1, -1, 0] * 3))), {}),
    "noise, absolute": (words(700), BoostPlan(Absolute(), tree(gradient_noise=0.5)), {}),
    "noise, larger nodes": (numbers(70_000, 4), BoostPlan(LogLoss(), tree(gradient_noise=0.5)), {}),
    "noise, lists": (counts(3000), BoostPlan(LogLoss(), tree(gradient_noise=0.5), subsample=0.7), {}),
    "noise, classes together": (words(700), BoostPlan(Multinomial(4), tree(gradient_noise=0.5), subsample=0.5), {}),
    "noise, classes together, lists": (counts(3000), BoostPlan(Multinomial(3), tree(gradient_noise=0.5)), {}),
    "noise, one tree per class": (words(700), BoostPlan(Multinomial(4), tree(gradient_noise=0.5), one_per_class=True), {}),
    "parallel trees": (words(700), BoostPlan(LogLoss(), tree(features_per_node=3), subsample=0.6, parallel_trees=3), {}),
    "parallel trees, classes": (words(700), BoostPlan(Multinomial(3), TREE, bootstrap=True, one_per_class=True, parallel_trees=2), {}),
    "parallel trees, classes together": (words(700), BoostPlan(Multinomial(3), TREE, subsample=0.5, parallel_trees=2), {}),
    "parallel trees, mvs": (words(700), BoostPlan(LogLoss(), TREE, sampling=GradientSampling("mvs", 0.5), parallel_trees=2), {}),
    "a largest step": (words(700), BoostPlan(LogLoss(), tree(max_step=0.3)), {}),
    "a largest step, symmetric": (words(9000), BoostPlan(LogLoss(), tree(max_step=0.3, growth="symmetric", max_depth=5)), {}),
    "smoothed": (words(700), BoostPlan(LogLoss(), tree(path_smooth=4.0, min_split=30), subsample=0.7), {"weight": uneven(700)}),
    "smoothed, larger nodes": (numbers(70_000, 4), BoostPlan(LogLoss(), tree(path_smooth=40.0, max_step=0.5)), {}),
    "first order": (words(700), BoostPlan(FirstOrder(LogLoss()), TREE), {"weight": uneven(700)}),
    "first order, classes together": (words(700), BoostPlan(FirstOrder(Multinomial(4)), TREE, subsample=0.5), {}),
    "classes, monotonic": (numbers(700), BoostPlan(Multinomial(3), tree(monotonic=np.array([1, -1, 0] * 3)), one_per_class=True), {}),
    "subsample": (words(700), BoostPlan(LogLoss(), TREE, subsample=0.4), {}),
    "bootstrap": (words(700), BoostPlan(LogLoss(), TREE, bootstrap=True), {}),
    "bootstrap of a share": (words(700), BoostPlan(Squared(), TREE, bootstrap=True, subsample=0.3), {}),
    "goss": (words(700), BoostPlan(LogLoss(), TREE, learning_rate=1.0, sampling=GradientSampling("goss")), {}),
    "goss, repeated rows": (words(700), BoostPlan(Squared(), TREE, 1.0, sampling=GradientSampling("goss")), {"rows": repeated(700)}),
    "mvs": (words(700), BoostPlan(LogLoss(), TREE, sampling=GradientSampling("mvs", 0.4)), {"weight": uneven(700)}),
    "mvs, absolute": (words(700), BoostPlan(Absolute(), TREE, sampling=GradientSampling("mvs", 0.4)), {"rows": some(700, 0.8)}),
    "mvs, larger nodes": (numbers(70_000, 4), BoostPlan(LogLoss(), TREE, sampling=GradientSampling("mvs", 0.5)), {}),
    "mvs, lists": (counts(3000), BoostPlan(LogLoss(), TREE, sampling=GradientSampling("mvs", 0.5)), {}),
    "mvs, classes together": (words(700), BoostPlan(Multinomial(4), TREE, sampling=GradientSampling("mvs", 0.5)), {}),
    "mvs, one tree per class": (words(700), BoostPlan(Multinomial(4), TREE, one_per_class=True, sampling=GradientSampling("mvs", 0.5)), {}),
    "weights": (words(700), BoostPlan(LogLoss(), TREE), {"weight": uneven(700)}),
    "repeated rows": (words(700), BoostPlan(LogLoss(), TREE), {"rows": repeated(700)}),
    "rows held out": (words(700), BoostPlan(LogLoss(), TREE, subsample=0.7), {"rows": some(700, 0.8)}),
    "large nodes": (numbers(9000, 5), BoostPlan(LogLoss(), TREE), {}),
    "large nodes, many rows in a leaf": (numbers(9000, 5), BoostPlan(LogLoss(), tree(min_rows=700)), {"weight": uneven(9000) ** 4}),
    "large nodes, equal hessians": (numbers(9000, 5), BoostPlan(Squared(), tree(min_rows=700)), {}),
    "larger nodes": (numbers(70_000, 4), BoostPlan(LogLoss(), TREE), {}),
    "larger nodes, uneven": (words(70_000), BoostPlan(LogLoss(), tree(min_rows=5000)), {"weight": uneven(70_000) ** 4}),
    "lists": (counts(3000), BoostPlan(LogLoss(), TREE), {}),
    "lists, larger nodes": (counts(70_000)[:, :6], BoostPlan(Squared(), TREE), {}),
    "classes together": (words(700), BoostPlan(Multinomial(4), TREE), {}),
    "classes together, many rows": (numbers(9000), BoostPlan(Multinomial(5), DEEP), {}),
    "classes together, lists": (counts(3000), BoostPlan(Multinomial(3), TREE, subsample=0.5), {}),
    "classes together, level": (words(700), BoostPlan(Multinomial(3), tree(growth="level", features_per_node=3)), {"rows": repeated(700)}),
    "one tree per class": (words(700), BoostPlan(Multinomial(4), TREE, one_per_class=True), {"weight": uneven(700)}),
    "one tree per class, drawn": (words(700), BoostPlan(Multinomial(3), tree(features_per_tree=3), one_per_class=True, bootstrap=True), {}),
    "many trees side by side": (words(700), BoostPlan(Multinomial(9), TREE, one_per_class=True, subsample=0.7), {}),
    "many trees side by side, lists": (counts(3000), BoostPlan(Multinomial(16), TREE, one_per_class=True), {"rows": some(3000, 0.8)}),
}  # fmt: skip

# Ordered boosting: supporting models are side by side.
ORDERED = (
    "squared",
    "few rows",
    "quantile",
    "huber",
    "categories",
    "symmetric",
    "pruned",
    "monotonic",
    "noise, drawn",
    "bootstrap",
    "goss",
)
ORDERED += ("mvs", "rows held out", "large nodes", "classes together", "one tree per class", "many trees side by side")
CASES |= {f"{name}, ordered": (CASES[name][0], replace(CASES[name][1], permutations=3), CASES[name][2]) for name in ORDERED}

# Exact trees have thresholds of their own in every node, and gradients as they are.
CASES |= {
    f"{name}, exact": (x, plan, {**given, "max_bins": None})
    for name, (x, plan, given) in CASES.items()
    if len(x) < (5000 if plan.loss.width == 1 else 1000) and plan.tree.growth != "symmetric" and not plan.tree.gradient_noise
}

# Thresholds that are proposed for each tree, and for each node.
APPROXIMATE = (
    "squared",
    "few rows",
    "quantile",
    "categories",
    "symmetric",
    "monotonic",
    "noise, drawn",
    "bootstrap",
    "goss",
    "mvs",
    "rows held out",
    "large nodes",
    "features of a tree",
    "classes together",
    "one tree per class",
    "one tree per class, drawn",
)
CASES |= {
    f"{name}, {candidates}": (
        x,
        replace(plan, tree=replace(plan.tree, candidates=candidates, candidate_bins=20)),
        {**given, "max_bins": None},
    )
    for name, (x, plan, given) in CASES.items()
    for candidates in ("global", "local")
    if name in APPROXIMATE and (candidates == "global" or f"{name}, exact" in CASES)
}


def target(loss, x):
    """A target that some numbers explain in part; a missing number counts as zero."""
    rng, loss = np.random.default_rng(len(x) + 9), loss.of if isinstance(loss, FirstOrder) else loss
    columns = np.nan_to_num((x.iloc[:, :4] if isinstance(x, pd.DataFrame) else pd.DataFrame(x)).to_numpy())
    score = columns[:, 0] + columns[:, -1] * columns[:, columns.shape[1] // 2] + 0.5 * rng.normal(size=len(x))
    if isinstance(loss, SurvivalLoss):
        time = np.ceil(4.0 * np.exp(np.clip(-0.5 * score, -3, 3)))
        return np.column_stack([time, np.where(rng.random(len(x)) < 0.6, time, np.inf)])
    if isinstance(loss, Multinomial):
        return np.digitize(score, np.linspace(-1.5, 1.5, loss.n_classes - 1)).astype(np.int32)
    if isinstance(loss, LogLoss | Exponential):
        return (score > 0).astype(np.float64)
    return np.floor(np.exp(np.clip(0.5 * score, -3, 3))) if isinstance(loss, Poisson) else score


@pytest.fixture
def all_threads_take_part(monkeypatch):
    monkeypatch.setattr(pool, "LEAST_WORK", 1)
    monkeypatch.setattr(histogram_grower, "LEAST_WORK", 0)
    monkeypatch.setattr(exact_grower, "LEAST_WORK", 0)
    monkeypatch.setattr(histogram_learner, "LEAST_WORK", 0)
    monkeypatch.setattr(ordered_boosting, "LEAST_WORK", 0)


def digests(x, plan, given, rounds=3):
    """The digest of the forest for each number of threads."""
    found = {}
    for threads in THREADS:
        done = boosted(x, target(plan.loss, x), replace(plan, threads=threads), rounds, **given)
        learner = done.booster.learner
        assert learner.grower.threads == threads
        side_by_side = type(learner) is histogram_learner.HistogramLearner
        many = plan.one_per_class and plan.loss.width >= threads and side_by_side
        assert learner.n_workers == (threads if many else 1)
        assert done.forest.n_nodes > 3 * rounds
        found[threads] = done.forest.digest()
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_forest_does_not_depend_on_the_number_of_threads(all_threads_take_part, case):
    x, plan, given = CASES[case]
    assert len(set(digests(x, plan, given).values())) == 1


def test_nor_does_it_where_histograms_have_to_be_dropped(all_threads_take_part, monkeypatch):
    x, plan = numbers(12_000, 5), BoostPlan(LogLoss(), TreeSettings(min_rows=1, max_leaves=1500, l2=0.0))
    known = boosted(x, target(plan.loss, x), plan, 1).forest.digest()
    monkeypatch.setattr(workspace, "MOST_HISTOGRAM_BYTES", 1)
    assert set(digests(x, plan, {}, rounds=1).values()) == {known}


def test_another_seed_draws_another_forest(all_threads_take_part):
    x, plan, given = CASES["features of a node"]
    y = target(plan.loss, x)
    assert len({boosted(x, y, replace(plan, seed=seed), **given).forest.digest() for seed in range(3)}) == 3
