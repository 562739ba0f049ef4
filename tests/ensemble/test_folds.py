"""Boosters in step, and scores of rows that they do not learn from."""

import numpy as np
import pytest

from woodwind.data.binning.cuts import Cuts
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.early_stopping import RoundWatcher, WatchedInside, WatchedOutside, add_trees
from woodwind.ensemble.boosting.folds import in_step, rounds_in_step, trees_of_mean
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.losses import Multinomial, Squared
from woodwind.tree.settings import TreeSettings

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
_, TABLE = Schema.learn(X)
CUTS = Cuts.fit(TABLE, 32)
CODES = CUTS.encode(TABLE)
SETTINGS = TreeSettings(max_leaves=4, min_rows=3)


def booster(rows=None, loss=None, **more):
    loss = loss or Squared()
    wide = loss.width > 1
    y = np.digitize(X[:, 0], [-0.5, 0.5]).astype(np.int32) if wide else X[:, 0]
    raw = np.zeros((120, loss.width)) if wide else np.zeros(120)
    return TrainingRows(CODES, y, None, None).booster(BoostPlan(loss, SETTINGS, 0.3, **more), raw, rows)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_row_has_the_score_of_the_booster_that_never_saw_it(threads):
    held = [np.arange(0, 120, 2), np.arange(1, 120, 2)]
    alone = [booster(np.setdiff1d(np.arange(120), rows).astype(np.int32)) for rows in held]
    together = [booster(np.setdiff1d(np.arange(120), rows).astype(np.int32)) for rows in held]
    for one in alone:
        list(one.rounds(4))
    steps = list(rounds_in_step(together, held, 4, threads))
    assert [step.number for step in steps] == [0, 1, 2, 3]
    for rows, one in zip(held, alone, strict=True):
        assert np.array_equal(steps[-1].raw[rows], one.raw[rows])
    # A round has the trees of all, in the order of the boosters.
    for number, one in enumerate(together):
        raw = np.zeros(120)
        add_trees(raw, (step.trees[number] for step in steps), CODES)
        assert np.array_equal(raw, one.raw)


def test_shares_of_trees_add_up_to_their_mean():
    both = [booster(np.arange(60, dtype=np.int32)), booster(np.arange(60, 120, dtype=np.int32))]
    raw = np.zeros(120)
    for one in both:
        add_trees(raw, trees_of_mean((tree for step in one.rounds(3) for tree in step.trees), 2), CODES)
    assert raw == pytest.approx((both[0].raw + both[1].raw) / 2)


def test_it_ends_with_the_first_booster_that_ends():
    one, other = booster(), booster()
    assert len(list(in_step([one.rounds(2), other.rounds(5)], 2))) == 2


@pytest.mark.parametrize("more", [{}, {"one_per_class": True}], ids=["vector", "one_per_class"])
@pytest.mark.parametrize("loss", [Squared(), Multinomial(3)], ids=["one score", "three scores"])
def test_trees_added_later_give_the_scores_of_the_booster(loss, more):
    one = booster(loss=loss, **more)
    rounds = list(one.rounds(5))
    raw = np.zeros_like(one.raw)
    add_trees(raw, (tree for step in rounds for tree in step.trees), CODES)
    assert np.array_equal(raw, one.raw)


def test_rows_outside_are_watched_as_rows_inside_are():
    one = booster()
    rows = np.arange(100, 120)

    def evaluate(raw):
        return float(np.abs(raw - X[rows, 0]).mean())

    outside = CUTS.encode(Schema.learn(X[rows])[1])
    watcher = RoundWatcher(WatchedInside(rows, evaluate), WatchedOutside(outside, np.zeros(20), evaluate))
    losses = [watcher(step) for step in one.rounds(5)]
    assert all(inside == other for inside, other in losses)
    assert losses[-1][0] < losses[0][0]
    assert RoundWatcher()(None) == (None, None)
