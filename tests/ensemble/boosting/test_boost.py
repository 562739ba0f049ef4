"""Boosting: scores that are kept equal those of the forest, leaves are what their rows say, and weights are rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.boosted import boosted, fresh_scores
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.losses.classification import Exponential, LogLoss, Multinomial
from woodwind.losses.regression import Absolute, Huber, Poisson, Quantile, Squared
from woodwind.tree.assemble import assemble
from woodwind.tree.settings import TreeSettings


def numbers(n=300, seed=0, missing=0.0, dtype=np.float64):
    """Columns of numbers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5)).astype(dtype)
    x[rng.random(x.shape) < missing] = np.nan
    return x


def mixed(n=300, seed=0):
    """Numbers with gaps, and columns of words with gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(numbers(n, seed, missing=0.1), columns=list("abcde"))
    frame["colour"] = rng.choice(["red", "green", "blue", "grey", None], n)
    frame["town"] = [None if u < 0.05 else f"town {int(40 * u * u)}" for u in rng.random(n)]
    return frame


def target(loss, n=300, seed=0):
    """A target that the numbers of the same seed explain in part."""
    rng = np.random.default_rng(seed + 99)
    x = numbers(n, seed)
    score = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * rng.normal(size=n)
    if isinstance(loss, Multinomial):
        return np.digitize(score, np.linspace(-1.5, 1.5, loss.n_classes - 1)).astype(np.int32)
    if isinstance(loss, LogLoss | Exponential):
        return (score > 0).astype(np.float64)
    return np.floor(np.exp(0.5 * score)) if isinstance(loss, Poisson) else score


SMALL = TreeSettings(max_leaves=6, min_rows=5, category_smooth=1.0, category_l2=1.0)
SOME = np.flatnonzero(np.random.default_rng(1).random(300) < 0.4).astype(np.int32)
REPEATED = np.repeat(np.arange(300), np.arange(300) % 4).astype(np.int32)
WEIGHT = np.random.default_rng(2).uniform(0.1, 3.0, 300)

# Name: table, plan, what else the training is given.
CASES = {
    "squared": (numbers(), BoostPlan(Squared(), SMALL), {}),
    "singles": (numbers(dtype=np.float32), BoostPlan(Squared(), SMALL), {}),
    "few bins": (numbers(), BoostPlan(Squared(), SMALL), {"max_bins": 5}),
    "missing": (numbers(missing=0.3), BoostPlan(LogLoss(), SMALL), {}),
    "categories": (mixed(), BoostPlan(LogLoss(), SMALL), {}),
    "level by level": (mixed(), BoostPlan(LogLoss(), replace(SMALL, growth="level")), {}),
    "symmetric": (mixed(), BoostPlan(LogLoss(), replace(SMALL, growth="symmetric", max_depth=3)), {}),
    "one leaf": (mixed(), BoostPlan(LogLoss(), replace(SMALL, max_leaves=1)), {}),
    "pruned": (mixed(), BoostPlan(LogLoss(), replace(SMALL, prune=True, min_gain=3.0, max_leaves=20)), {}),
    "l1": (mixed(), BoostPlan(LogLoss(), replace(SMALL, l1=1.0)), {}),
    "monotonic": (numbers(missing=0.1), BoostPlan(Squared(), replace(SMALL, monotonic=np.array([1, -1, 0, 0, 1]))), {}),
    "noise": (mixed(), BoostPlan(LogLoss(), replace(SMALL, gradient_noise=0.5)), {}),
    "noise, some rows": (mixed(), BoostPlan(LogLoss(), replace(SMALL, gradient_noise=0.5), subsample=0.3), {"rows": SOME}),
    "noise, repeated rows": (mixed(), BoostPlan(LogLoss(), replace(SMALL, gradient_noise=0.5), bootstrap=True), {"rows": REPEATED}),
    "noise, symmetric": (mixed(), BoostPlan(LogLoss(), replace(SMALL, gradient_noise=0.5, growth="symmetric", max_depth=3)), {}),
    "noise, pruned": (mixed(), BoostPlan(LogLoss(), replace(SMALL, gradient_noise=0.5, prune=True, min_gain=3.0, max_leaves=20)), {}),
    "noise, absolute": (mixed(), BoostPlan(Absolute(), replace(SMALL, gradient_noise=0.5)), {"weight": WEIGHT}),
    "noise, monotonic": (numbers(), BoostPlan(Squared(), replace(SMALL, gradient_noise=0.5, monotonic=np.array([1, -1, 0, 0, 1]))), {}),
    "noise, classes together": (mixed(), BoostPlan(Multinomial(3), replace(SMALL, gradient_noise=0.5)), {}),
    "noise, classes, some rows": (mixed(), BoostPlan(Multinomial(3), replace(SMALL, gradient_noise=0.5), subsample=0.4), {"rows": SOME}),
    "noise, one tree per class": (mixed(), BoostPlan(Multinomial(4), replace(SMALL, gradient_noise=0.5), one_per_class=True), {}),
    "subsample": (mixed(), BoostPlan(LogLoss(), SMALL, subsample=0.3), {}),
    "bootstrap": (mixed(), BoostPlan(LogLoss(), SMALL, bootstrap=True), {}),
    "some rows": (mixed(), BoostPlan(LogLoss(), SMALL), {"rows": SOME}),
    "some of some rows": (mixed(), BoostPlan(LogLoss(), SMALL, subsample=0.2), {"rows": SOME}),
    "repeated rows": (mixed(), BoostPlan(LogLoss(), SMALL, bootstrap=True), {"rows": REPEATED}),
    "some rows, pruned": (mixed(), BoostPlan(LogLoss(), replace(SMALL, prune=True, min_gain=2.0)), {"rows": SOME}),
    "weights": (mixed(), BoostPlan(LogLoss(), SMALL), {"weight": WEIGHT}),
    "absolute": (mixed(), BoostPlan(Absolute(), SMALL), {}),
    "absolute, some rows": (mixed(), BoostPlan(Absolute(), SMALL, subsample=0.5), {"weight": WEIGHT}),
    "huber": (mixed(), BoostPlan(Huber(), SMALL), {}),
    "poisson": (mixed(), BoostPlan(Poisson(), SMALL), {}),
    "exponential": (mixed(), BoostPlan(Exponential(), SMALL), {}),
    "classes together": (mixed(), BoostPlan(Multinomial(4), SMALL), {}),
    "classes together, some rows": (mixed(), BoostPlan(Multinomial(3), SMALL, subsample=0.4), {"rows": REPEATED}),
    "classes together, pruned": (mixed(), BoostPlan(Multinomial(3), replace(SMALL, prune=True, min_gain=3.0)), {}),
    "one tree per class": (mixed(), BoostPlan(Multinomial(4), SMALL, one_per_class=True), {}),
    "one tree per class, some rows": (mixed(), BoostPlan(Multinomial(3), SMALL, subsample=0.4, one_per_class=True), {"rows": SOME}),
}  # fmt: skip


def has_an_exact_twin(plan):
    """Exact trees have thresholds of their own in every node, one output, and gradients as they are."""
    return plan.tree.growth != "symmetric" and (plan.loss.width == 1 or plan.one_per_class) and plan.tree.gradient_noise == 0.0


CASES |= {f"{name}, exact": (x, plan, {**given, "max_bins": None}) for name, (x, plan, given) in CASES.items() if has_an_exact_twin(plan)}


@pytest.mark.parametrize("case", CASES)
def test_scores_kept_while_training_are_those_of_the_forest_bit_for_bit(case):
    x, plan, given = CASES[case]
    done = boosted(x, target(plan.loss), plan, rounds=6, **given)
    assert_array_equal(done.forest.check().raw(done.table), done.booster.raw.reshape(300, -1))


DRAWN = ("some", "subsample", "bootstrap", "repeated")


@pytest.mark.parametrize("case", [case for case in CASES if not any(word in case for word in DRAWN)])
def test_replayed_on_the_same_rows_a_forest_reproduces_itself(case):
    x, plan, given = CASES[case]
    done = boosted(x, target(plan.loss), plan, **given)
    again = TrainingRows(done.codes, done.booster.y, given.get("weight"), None).booster(plan, fresh_scores(done.start, 300))
    trees = list(again.replay(done.trees))
    forest = assemble(trees, done.cuts, done.start, done.forest.value.shape[1])
    assert forest.digest() == done.forest.digest()
    assert_array_equal(again.raw, done.booster.raw)


def test_replayed_on_other_rows_leaves_are_what_those_rows_say():
    x, plan, _given = CASES["categories"]
    y = target(plan.loss)
    done = boosted(x, y, plan, rounds=1, rows=SOME)
    others = np.setdiff1d(np.arange(300), SOME).astype(np.int32)
    again = TrainingRows(done.codes, y, None, None).booster(plan, fresh_scores(done.start, 300), others)
    (tree,) = again.replay(done.trees)
    leaf = again.leaf_of(tree)
    p = 1.0 / (1.0 + np.exp(-done.start[0]))
    for node in range(len(tree.feature)):
        rows = others[leaf[others] == node]
        if tree.feature[node] < 0 and len(rows):
            assert tree.value[node, 0] == pytest.approx(-0.1 * (p - y[rows]).sum() / (p * (1 - p) * len(rows) + 1.0), rel=1e-6)
        elif tree.feature[node] < 0:
            assert tree.value[node, 0] == done.trees[0].value[node, 0]
    assert tree.cover[0] == len(others)


# -------------------------------------------------------------------------------------------------------------- leaves


def by_leaf(done, tree):
    """Rows of each leaf of a tree."""
    leaf = done.booster.leaf_of(tree)
    return {node: np.flatnonzero(leaf == node) for node in np.flatnonzero(tree.feature < 0)}


@pytest.mark.parametrize("l1", [0.0, 2.0])
def test_a_leaf_is_a_newton_step(l1):
    y = target(LogLoss())
    done = boosted(mixed(), y, BoostPlan(LogLoss(), replace(SMALL, l1=l1, l2=0.7), 0.3), rounds=1)
    p = 1.0 / (1.0 + np.exp(-done.start[0]))
    for node, rows in by_leaf(done, done.trees[0]).items():
        g, h = (p - y[rows]).sum(), p * (1 - p) * len(rows)
        shrunk = np.sign(g) * max(abs(g) - l1, 0.0)
        # The sums are of integers in steps of 2**-30 and 2**-32.
        assert done.trees[0].value[node, 0] == pytest.approx(-0.3 * shrunk / (h + 0.7), abs=1e-8)
        assert done.trees[0].cover[node] == len(rows)


@pytest.mark.parametrize(("loss", "step"), [(Absolute(), 0.5), (Quantile(0.8), 0.8)], ids=str)
def test_a_leaf_of_a_quantile_loss_is_a_quantile_of_its_residuals(loss, step):
    y = target(loss)
    done = boosted(mixed(), y, BoostPlan(loss, SMALL, 0.3), rounds=1)
    for node, rows in by_leaf(done, done.trees[0]).items():
        ordered = np.sort(y[rows] - done.start[0])
        assert done.trees[0].value[node, 0] == 0.3 * ordered[int(np.ceil(step * len(rows))) - 1]


@pytest.mark.parametrize("one_per_class", [False, True])
def test_a_leaf_has_a_newton_step_for_each_class(one_per_class):
    """The step of Friedman 2001 for classes that move together: (K - 1) / K of one alone."""
    loss = Multinomial(4)
    y = target(loss)
    done = boosted(mixed(), y, BoostPlan(loss, replace(SMALL, l2=0.7), 0.3, one_per_class=one_per_class), rounds=1)
    p = np.exp(done.start) / np.exp(done.start).sum()
    for tree in done.trees:
        for node, rows in by_leaf(done, tree).items():
            g = (p - np.eye(4)[y[rows]]).sum(axis=0)
            h = p * (1 - p) * len(rows) * 4 / 3
            expected = -0.3 * g / (h + 0.7)
            assert_allclose(tree.value[node], expected[tree.output : tree.output + 1] if one_per_class else expected, atol=1e-8)
    assert [tree.output for tree in done.trees] == ([0, 1, 2, 3] if one_per_class else [-1])


def test_inner_nodes_have_the_mean_of_the_leaves_below():
    done = boosted(mixed(), target(LogLoss()), BoostPlan(LogLoss(), SMALL), rounds=1)
    tree = done.trees[0]
    leaves = tree.feature < 0
    assert tree.value[0, 0] == pytest.approx(np.average(tree.value[leaves, 0], weights=tree.cover[leaves]))


def test_two_classes_as_many_are_two_classes():
    """Without a penalty, one tree for both classes makes the same splits and twice half the step."""
    x, y = numbers(400, missing=0.1), target(LogLoss(), 400)
    settings = TreeSettings(max_leaves=6, min_rows=20, l2=0.0)
    one = boosted(x, y, BoostPlan(LogLoss(), settings), rounds=5)
    two = boosted(x, y.astype(np.int32), BoostPlan(Multinomial(2), settings), rounds=5)
    assert_array_equal(one.forest.feature, two.forest.feature)
    assert_allclose(two.booster.raw[:, 1] - two.booster.raw[:, 0], one.booster.raw, atol=1e-6)


# ------------------------------------------------------------------------------------------------------------- weights


MANY = ["squared", "categories", "absolute", "huber", "poisson", "classes together", "one tree per class", "monotonic", "pruned"]


@pytest.mark.parametrize("case", MANY)
def test_rows_given_twice_are_two_rows(case):
    x, plan, _given = CASES[case]
    y = target(plan.loss)
    rows = np.repeat(np.arange(300), 1 + np.arange(300) % 3).astype(np.int32)
    repeated = boosted(x, y, plan, rows=rows)
    whole = boosted(x[rows] if isinstance(x, np.ndarray) else x.iloc[rows], y[rows], plan)
    assert repeated.forest.digest() == whole.forest.digest()


@pytest.mark.parametrize("case", ["squared", "categories", "absolute", "poisson", "classes together", "one tree per class"])
def test_whole_weights_are_repeated_rows(case):
    x, plan, _given = CASES[case]
    plan = replace(plan, tree=replace(plan.tree, min_rows=1))
    y, weight = target(plan.loss), 1.0 + np.arange(300) % 3
    weighted = boosted(x, y, plan, weight=weight, max_bins=12)
    repeated = boosted(x, y, plan, rows=np.repeat(np.arange(300), weight.astype(int)).astype(np.int32), max_bins=12)
    # Scales follow the largest derivative: the two are rounded in different places, at the 30th bit.
    assert_array_equal(weighted.forest.feature, repeated.forest.feature)
    assert_allclose(weighted.booster.raw, repeated.booster.raw, atol=1e-6)


# --------------------------------------------------------------------------------------------------------------- rounds


def test_a_run_in_two_parts_is_one_run():
    x, plan, _given = CASES["subsample"]
    y = target(plan.loss)
    done = boosted(x, y, plan, rounds=5)
    booster = TrainingRows(done.codes, y, None, None).booster(plan, fresh_scores(done.start, 300))
    trees = [tree for part in (booster.rounds(2), booster.rounds(3, first=2)) for finished in part for tree in finished.trees]
    assert assemble(trees, done.cuts, done.start, 1).digest() == done.forest.digest()


def test_draws_depend_on_the_seed_and_the_round():
    x, plan, _given = CASES["subsample"]
    booster = boosted(x, target(plan.loss), plan, rounds=1).booster
    first, second = booster._sampled_uniformly(0), booster._sampled_uniformly(1)
    assert not np.array_equal(first, second)
    assert_array_equal(first, booster._sampled_uniformly(0))
    other = boosted(x, target(plan.loss), replace(plan, seed=1), rounds=1).booster
    assert not np.array_equal(first, other._sampled_uniformly(0))
    sizes = [len(booster._sampled_uniformly(number)) for number in range(200)]
    assert abs(np.mean(sizes) - 90) < 4 * np.sqrt(300 * 0.3 * 0.7 / 200)


def test_a_bootstrap_draws_as_many_rows_as_there_are():
    x, plan, _given = CASES["bootstrap"]
    booster = boosted(x, target(plan.loss), plan, rounds=1).booster
    drawn = booster._sampled_uniformly(0)
    assert len(drawn) == 300
    assert len(set(drawn.tolist())) == pytest.approx(300 * (1 - np.exp(-1)), abs=30)
    assert_array_equal(drawn, np.sort(drawn))


def test_a_draw_of_nothing_is_a_draw_of_everything():
    booster = boosted(numbers(3), np.array([0.0, 1.0, 2.0]), BoostPlan(Squared(), SMALL, subsample=1e-9), rounds=1).booster
    assert booster._sampled_uniformly(0) is None


@pytest.mark.parametrize("case", ["squared", "categories", "poisson", "classes together", "one tree per class"])
def test_the_loss_falls_in_every_round(case):
    x, plan, _given = CASES[case]
    y = target(plan.loss)
    done = boosted(x, y, plan, rounds=0)
    losses = [plan.loss.value(y, done.booster.raw)]
    losses += [plan.loss.value(y, finished.raw) for finished in done.booster.rounds(8)]
    assert (np.diff(losses) < 0).all()


@pytest.mark.parametrize("loss", [Squared(), Absolute(), LogLoss(), Multinomial(3)], ids=str)
def test_a_constant_target_grows_nothing(loss):
    y = np.zeros(300, np.int32) if isinstance(loss, Multinomial) else np.full(300, 1.0)
    done = boosted(numbers(), y, BoostPlan(loss, SMALL), rounds=2)
    assert done.forest.n_nodes == 2
    assert_allclose(done.forest.value, 0.0, atol=1e-12)


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**30])
def test_units_of_the_target_do_not_matter(scale):
    x, plan, _given = CASES["squared"]
    y = target(plan.loss)
    one, other = boosted(x, y, plan), boosted(x, y * scale, plan)
    assert_array_equal(one.forest.feature, other.forest.feature)
    assert_array_equal(one.booster.raw * scale, other.booster.raw)
