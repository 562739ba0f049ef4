"""Ordered boosting: gradients of a row from models that have not seen it (Prokhorenkova et al. 2018)."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.boosted import boosted
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.boosting.boost import Booster
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.ordered_boosting import SupportingModels, drawn_order, prefix_lengths, prefix_start
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.losses.regression import Absolute, Huber, Poisson, Squared
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.settings import TreeSettings

STUMP = TreeSettings(max_leaves=2, max_depth=1, min_rows=1, min_hessian=0.0, l2=0.0)
TREE = TreeSettings(max_leaves=6, min_rows=3)
SYMMETRIC = TreeSettings(max_leaves=8, max_depth=3, min_rows=3, growth="symmetric")


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    return x, x[:, 0] + np.sin(2 * x[:, 1]) + rng.normal(size=n)


def target(loss, y):
    if isinstance(loss, Multinomial):
        return np.digitize(y, [-0.7, 0.7]).astype(np.int32)
    if isinstance(loss, LogLoss):
        return (y > 0).astype(np.uint8)
    return np.floor(np.exp(0.5 * y)) if isinstance(loss, Poisson) else y


def stump(values=(0.0, 0.0), output=0):
    """A tree of one split, whose leaves are nodes 1 and 2."""
    ones = np.ones(3)
    return ValuedTree(
        feature=np.array([0, -1, -1], np.int32), bin=np.zeros(3, np.int64), child=np.array([1, 0, 0], np.int32),
        missing=np.full(3, 2, np.uint8), set=np.full(3, -1), sets=np.zeros((0, 8), np.uint64), gain=ones, cover=ones,
        low=-np.inf * ones, high=np.inf * ones, value=np.array([0.0, *values]).reshape(3, 1), output=output,
    )  # fmt: skip


def test_prefixes_double_and_the_last_is_shorter_than_the_table():
    assert prefix_lengths(1) == []
    assert prefix_lengths(4) == [1, 2]
    assert prefix_lengths(5) == [1, 2, 4]
    assert prefix_lengths(1000) == [16, 32, 64, 128, 256, 512]
    assert prefix_lengths(100_000)[0] == 64  # rows without a model are few


def test_the_case_of_the_page():
    """docs/algorithms/ordered-boosting.md: rows A, B, C and D in this order; x is 0, 1, 0, 1 and y is 1, 3, 2, 6."""
    y, leaf = np.array([1.0, 3.0, 2.0, 6.0]), np.array([1, 2, 1, 2], np.int32)
    models = SupportingModels(np.arange(4, dtype=np.int32), y, None, Squared(), None)
    nobody = np.full(4, np.nan)
    assert_array_equal(models.scored, [1, 2, 3])
    assert_array_equal(models.scores(nobody), [np.nan, 1.0, 2.0, 2.0])
    plan = BoostPlan(Squared(), STUMP, learning_rate=1.0)
    models.add(Squared(), [(stump(), leaf)], 1.0, plan)
    assert_array_equal(models.scores(nobody), [np.nan, 1.0, 1.0, 3.0])


def test_every_class_has_a_row_more_in_the_start_of_a_prefix():
    y = np.array([1, 1, 0, 1], np.uint8)
    assert_allclose(prefix_start(LogLoss(), y, None, 2), np.log([3.0]))
    assert_allclose(np.diff(prefix_start(Multinomial(3), y.astype(np.int32), np.array([2.0, 1, 1, 1]), 2)), np.log([4.0, 0.25]))


class SlowModel:
    """A supporting model, one row after the other: trees with values from the rows of its prefix."""

    def __init__(self, loss, y, prefix, start):
        self.loss, self.y, self.prefix = loss, y, prefix
        self.raw = np.tile(start, (len(y), 1))

    def add(self, loss, trees, rate, l2):
        raw = self.raw[:, 0] if self.raw.shape[1] == 1 else self.raw
        gradient, hessian = (part.reshape(self.raw.shape) for part in loss.derivatives(self.y, raw))
        width = self.raw.shape[1]
        residual = self.y - self.raw[:, 0]
        for tree, leaf in trees:
            for k in range(width) if tree.output < 0 else [tree.output]:
                for node in range(len(tree.feature)):
                    rows = [row for row in self.prefix if leaf[row] == node]
                    if not rows:
                        continue
                    if not loss.refits:
                        scale = width / (width - 1.0) if width > 1 else 1.0
                        value = -sum(gradient[rows, k]) / (scale * sum(hessian[rows, k]) + l2)
                    else:
                        begin, end = np.array([0]), np.array([len(rows)])
                        value = loss.refits[0].values(np.array(rows, np.int32), begin, end, residual, None)[0]
                    self.raw[leaf == node, k] += rate * value


@pytest.mark.parametrize("settings", [TREE, SYMMETRIC], ids=["best first", "symmetric"])
@pytest.mark.parametrize("loss", [Squared(), LogLoss(), Multinomial(3), Absolute(), Huber(), Poisson()], ids=lambda loss: loss.name)
def test_supporting_models_are_plain_boosting_on_prefixes_with_the_trees_of_all(loss, settings):
    x, y = table()
    y = target(loss, y)
    plan = BoostPlan(loss, settings, 0.3, permutations=2, one_per_class=settings.growth == "symmetric")
    done = boosted(x, y, plan, 0)
    order = drawn_order(0, 1, np.arange(len(y), dtype=np.int32))
    lengths = prefix_lengths(len(y))
    slow = [SlowModel(loss, y, order[:length], prefix_start(loss, y[order], None, length)) for length in lengths]
    for finished in done.booster.rounds(4):
        now = done.booster.raw.copy()
        trees = [(tree, done.booster.leaf_of(tree)) for tree in finished.trees]
        before = now - sum_of(trees, now)
        resolved = loss.resolved(y, before)
        for model in slow:
            model.add(resolved, trees, 0.3, settings.l2)
    fast, _ = done.booster.supports[1]
    ordered = fast.scores(done.booster.raw)
    for length, model in zip(lengths, slow, strict=True):
        for row in order[length : 2 * length]:
            assert_allclose(ordered[row], model.raw[row] if loss.width > 1 else model.raw[row, 0], atol=1e-7)


def sum_of(trees, like):
    found = np.zeros_like(like)
    for tree, leaf in trees:
        if tree.output < 0:
            found += tree.value[leaf]
        elif found.ndim == 1:
            found += tree.value[leaf, 0]
        else:
            found[:, tree.output] += tree.value[leaf, 0]
    return found


@pytest.mark.parametrize("loss", [Squared(), LogLoss(), Multinomial(3), Absolute()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("settings", [TREE, SYMMETRIC], ids=["best first", "symmetric"])
def test_the_model_has_the_values_of_plain_boosting_with_its_splits(loss, settings):
    x, y = table()
    y = target(loss, y)
    plan = BoostPlan(loss, settings, 0.3, permutations=3, subsample=0.7, one_per_class=settings.growth == "symmetric")
    done = boosted(x, y, plan, 5)
    plain = TrainingRows(done.codes, y, None, None).booster(
        BoostPlan(loss, settings, 0.3, one_per_class=plan.one_per_class), np.tile(done.start, (len(y), 1)).squeeze()
    )
    assert type(plain) is Booster
    for ours, again in zip(done.trees, plain.replay(done.trees), strict=True):
        assert_array_equal(ours.value, again.value)
        assert_array_equal(ours.cover, again.cover)
    assert_array_equal(done.booster.raw, plain.raw)


def ordered_scores(x, y, plan, rounds):
    """The scores of the first order after every round, and the order."""
    done = boosted(x, y, plan, 0)
    models, _ = done.booster.supports[0]
    found = [models.scores(done.booster.raw)]
    found += [models.scores(done.booster.raw) for _ in done.booster.rounds(rounds)]
    return found, models


@pytest.mark.parametrize("loss", [Squared(), LogLoss(), Multinomial(3)], ids=lambda loss: loss.name)
def test_no_row_knows_its_own_target_nor_those_behind_it(loss):
    """The splits must not change: there is one, by the one column. Then scores before a row, and its own, have the same bits."""
    rng = np.random.default_rng(3)
    x = (np.arange(60) % 2).astype(np.float64)[:, None]
    y = target(loss, 4.0 * (x[:, 0] - 0.5) + rng.normal(size=60))
    plan = BoostPlan(loss, STUMP, 0.5, permutations=2)
    known, models = ordered_scores(x, y, plan, 6)
    for position in (1, 2, 17, 40, 59):
        row = models.order[position]
        changed = y.copy()
        changed[row] = {1: 7.5, 2: 1 - y[row], 3: (y[row] + 1) % 3}[1 if isinstance(loss, Squared) else 2 if loss.width == 1 else 3]
        other, _ = ordered_scores(x, changed, plan, 6)
        scored = models.order[1 : position + 1]
        assert all(np.array_equal(a[scored], b[scored]) for a, b in zip(known, other, strict=True))
        # It is the longest prefix before a row that counts: rows behind the next power of two know the target.
        behind = models.order[2 ** int(np.log2(position) + 1) :]
        assert len(behind) == 0 or any(not np.array_equal(a[behind], b[behind]) for a, b in zip(known, other, strict=True))


def plain_scores(x, y, plan, rounds):
    done = boosted(x, y, plan, 0)
    return [done.booster.raw.copy() for _ in done.booster.rounds(rounds)]


def test_of_plain_boosting_every_row_knows_its_own_target():
    """The other side of the test before this one."""
    x = (np.arange(60) % 2).astype(np.float64)[:, None]
    y = 4.0 * x[:, 0] + np.random.default_rng(3).normal(size=60)
    changed = y.copy()
    changed[7] += 3.0
    known, other = plain_scores(x, y, BoostPlan(Squared(), STUMP, 0.5), 3), plain_scores(x, changed, BoostPlan(Squared(), STUMP, 0.5), 3)
    assert all(a[7] != b[7] for a, b in zip(known, other, strict=True))


# ------------------------------------------------------------------------------------------------- the toy of theorem 1


def tables(n, count, seed=0):
    """Tables of two coins, and a target that is known of both; those on which a stump has an empty leaf are left out."""
    rng = np.random.default_rng((n, seed))
    for _ in range(count):
        x = rng.integers(0, 2, (n, 2))
        if 0 < x[:, 0].sum() < n and 0 < x[:, 1].sum() < n:
            yield x, x[:, 0] + x[:, 1].astype(np.float64)


def slope(x, residual):
    """How much residuals rise with the second column, on average."""
    return residual[x[:, 1] == 1].mean() - residual[x[:, 1] == 0].mean()


def second_stump(x, y, other=None):
    """How much the second stump of plain boosting rises; the first is of the first column alone, and of another table if one is given.

    Scores start from zero. Without a split both leaves have the same mean.
    """
    plan, scores = BoostPlan(Squared(), STUMP, learning_rate=1.0), np.zeros(len(y))
    if other is not None:
        scores = first_stump(*other)[x[:, 0]]
    for column in (0, 1) if other is None else (1,):
        codes = boosted(x[:, [column]].astype(float), y, plan, 0).codes
        booster = TrainingRows(codes, y, None, np.zeros(len(y))).booster(plan, scores)
        (tree,) = next(booster.rounds(1)).trees
        scores = booster.raw
    return tree.value[2, 0] - tree.value[1, 0] if len(tree.feature) > 1 else 0.0


def first_stump(x, y):
    return np.array([y[x[:, 0] == value].mean() for value in (0, 1)])


def plain_residuals(x, y):
    return x, y - first_stump(x, y)[x[:, 0]]


def ordered_residuals(x, y, number=0):
    """Of the rows that some supporting model has not seen, after a stump of the first column."""
    models = SupportingModels(drawn_order(0, number, np.arange(len(y), dtype=np.int32)), y, None, Squared(), np.zeros(len(y)))
    models.add(Squared(), [(stump(), (x[:, 0] + 1).astype(np.int32))], 1.0, BoostPlan(Squared(), STUMP, 1.0))
    return x[models.scored], (y - models.scores(np.zeros(len(y))))[models.scored]


def mean_and_error(found):
    return np.mean(found), np.std(found) / np.sqrt(len(found))


def slope_of_rows(residuals, n, blocks=30, size=40):
    """Of the residuals of rows of many tables; tables of one block are taken together, so that no leaf is a mean of few rows."""
    found = []
    for block in range(blocks):
        parts = [residuals(x, y) for x, y in tables(n, size, seed=block)]
        found.append(slope(np.concatenate([x for x, _ in parts]), np.concatenate([own for _, own in parts])))
    return mean_and_error(found)


def test_plain_boosting_is_biased_in_the_toy_of_theorem_1():
    """y = x1 + x2, a stump of x1, then one of x2. The second is too flat by 1 / (n - 1), but not where the first is of other rows."""
    n = 8
    mean, error = mean_and_error([second_stump(x, y) for x, y in tables(n, 600)])
    assert error < 0.1 / (n - 1)
    assert abs(mean - (1.0 - 1.0 / (n - 1))) < 3 * error
    mean, error = mean_and_error([second_stump(*own, other) for own, other in zip(tables(n, 600), tables(n, 600, seed=1), strict=False)])
    assert error < 0.2 / (n - 1)
    assert abs(mean - 1.0) < 3 * error


def test_gradients_are_shifted_in_plain_boosting_and_not_in_ordered_boosting():
    """The same toy, row by row. A row is 1 / k of the mean of the k rows of its leaf, and on average 1 / k is nearly 2 / n."""
    n = 8
    mean, error = slope_of_rows(plain_residuals, n)
    assert error < 0.01
    assert abs(mean - (1.0 - 2.0 / n)) < 3 * error + 2.0**-n
    mean, error = slope_of_rows(ordered_residuals, n)
    assert error < 0.02
    assert abs(mean - 1.0) < 3 * error


def test_the_bias_vanishes_with_the_number_of_rows():
    plain, ordered = zip(*[(second_stump(x, y), slope(*ordered_residuals(x, y))) for x, y in tables(4000, 5)], strict=True)
    assert_allclose(plain, 1.0, atol=2e-3)
    assert_allclose(ordered, 1.0, atol=2e-2)


def test_with_many_rows_plain_and_ordered_boosting_make_the_same_model():
    """Columns of few values: then there are few splits, and from some number of rows on the same ones are the best."""
    distance = {}
    for n in (100, 20_000):
        rng = np.random.default_rng(0)
        x = rng.integers(0, 3, (n, 3)).astype(float)
        y = 3 * x[:, 0] + 2 * (x[:, 1] > 0) + x[:, 2] * (x[:, 0] > 1) + rng.normal(size=n)
        models = [boosted(x, y, BoostPlan(Squared(), replace(TREE, max_leaves=4), 0.5, permutations=count), 4) for count in (0, 4)]
        plain, ordered = (model.booster.raw for model in models)
        distance[n] = np.sqrt(np.mean((plain - ordered) ** 2)) / plain.std()
    assert distance[100] > 0.01
    assert distance[20_000] < 1e-9


def test_a_prefix_of_zeros_starts_from_the_mean_of_all_rows():
    y = np.array([0.0, 0.0, 3.0, 1.0])
    models = SupportingModels(np.arange(4, dtype=np.int32), y, None, Poisson(), None)
    assert_allclose(models.scores(np.zeros(4))[1:], np.log(1.0), atol=1e-12)


@pytest.mark.parametrize("candidates", [None, "global", "local"])
def test_a_tree_without_bins_cuts_at_the_values_of_the_codes_that_it_was_grown_from(candidates):
    """Codes of an order have other values for the same ranks: here those of numbers twice as large."""
    x, y = table()
    known, doubled = (Ranks.of(Schema.learn(numbers)[1]) for numbers in (x, 2.0 * x))
    plan = BoostPlan(Squared(), replace(TREE, candidates=candidates, candidate_bins=20), permutations=2)
    rows = TrainingRows(known, y, None, None, codes_in=lambda _order: doubled)
    trees = [tree for finished in rows.booster(plan, np.zeros(len(y))).rounds(3) for tree in finished.trees]
    for tree in trees:
        for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
            ordered = np.sort(2.0 * x[:, feature])
            if feature >= 0:
                assert np.abs((ordered[1:, None] + ordered[:-1]) / 2 - threshold).min() < 1e-12
