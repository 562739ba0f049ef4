"""Weights: the best way wins, nested scores never use weights that have seen their fold, and members of no use get none."""

import numpy as np
import pytest

from woodwind.auto import blend as room
from woodwind.auto.blend import (
    GUESSING,
    WAYS,
    BlendEvidence,
    BlendWeights,
    best_alone,
    blend,
    by_loss,
    by_selection,
    by_stacking,
    nested_scores,
)
from woodwind.auto.members.link import probabilities
from woodwind.auto.scorer import BlendScorer
from woodwind.metrics.named import metric_named


def numbers(n=800, noises=(0.5, 0.5, 3.0), seed=0, metric="rmse", ordered=False):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    scores = np.stack([truth + noise * rng.normal(size=n) for noise in noises], axis=1)[:, :, None]
    return BlendEvidence(scores, BlendScorer(metric_named(metric, "regression"), truth, None, False), np.arange(n) % 5, ordered, 0, seed)


def classes(k, n=900, noises=(1.0, 1.0, 8.0), seed=0):
    rng = np.random.default_rng(seed)
    width = 1 if k == 2 else k
    true = 2.0 * rng.normal(size=(n, width))
    truth = true[:, 0] > rng.logistic(size=n) if k == 2 else (true + rng.gumbel(size=(n, k))).argmax(axis=1)
    truth = truth.astype(np.int32)
    scores = np.stack([true + noise * rng.normal(size=(n, width)) for noise in noises], axis=1)
    task = "binary" if k == 2 else "multiclass"
    return BlendEvidence(scores, BlendScorer(metric_named("log_loss", task), truth, None, True), np.arange(n) % 4, False, k, seed)


@pytest.mark.parametrize("seen", [numbers(), numbers(metric="mae"), classes(2), classes(4)], ids=["rmse", "mae", "two", "four"])
def test_the_blend_beats_every_member_and_is_honest_about_it(seen):
    found = blend(seen)
    alone = [seen.scorer.loss(seen.scores[:, member]) for member in range(3)]
    assert seen.scorer.loss(found.nested) < min(alone)
    assert found.final.weights.sum() > 0.0
    # The member of much noise counts least.
    assert found.final.weights.argmin() == 2
    assert set(found.losses) == set(WAYS)


@pytest.mark.parametrize("way", [by_selection, by_loss])
@pytest.mark.parametrize("seen", [numbers(), classes(2), classes(3)], ids=["numbers", "two", "three"])
def test_weights_are_shares(way, seen):
    weights, shift = way(seen)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0)
    assert not shift.any()


def test_stacking_mends_members_that_are_sure_of_too_much():
    seen = classes(2, noises=(0.3, 0.3, 0.3))
    too_sure = BlendEvidence(3.0 * seen.scores, seen.scorer, seen.fold, False, 2, 0)
    found = blend(too_sure)
    assert found.way == "stacking"
    assert found.final.weights.sum() < 0.6


def test_nested_scores_of_a_fold_do_not_depend_on_its_truth():
    seen = numbers()
    before = nested_scores(by_loss, seen)
    y = seen.scorer.y.copy()
    y[seen.parts() == 2] += 100.0
    other = BlendEvidence(seen.scores, BlendScorer(seen.scorer.metric, y, None, False), seen.fold, False, 0, 0)
    after = nested_scores(by_loss, other)
    part = seen.parts()
    assert np.array_equal(before[part == 2], after[part == 2])
    assert not np.array_equal(before[part == 1], after[part == 1])


def test_in_time_order_weights_come_from_earlier_folds():
    seen = numbers(ordered=True)
    before = nested_scores(by_loss, seen)
    y = seen.scorer.y.copy()
    y[seen.parts() == 2] += 100.0
    after = nested_scores(by_loss, BlendEvidence(seen.scores, BlendScorer(seen.scorer.metric, y, None, False), seen.fold, True, 0, 0))
    earlier = seen.parts() <= 2
    assert np.array_equal(before[earlier], after[earlier], equal_nan=True)
    assert not np.array_equal(before[~earlier], after[~earlier])


def test_in_time_order_every_block_has_the_same_say():
    # The first member is perfect in three blocks out of four, the second in the last one, where the first errs by far.
    truth = np.random.default_rng(2).normal(size=400)
    fold = np.arange(400) // 100
    wrong = truth + 100.0
    scores = np.stack([np.where(fold == 3, wrong, truth), np.where(fold == 3, truth, truth + 1.0)], axis=1)[:, :, None]
    scorer = BlendScorer(metric_named("rmse", "regression"), truth, None, False)
    found = room._found(by_loss, BlendEvidence(scores, scorer, fold, True, 0, 0))
    np.testing.assert_allclose(found.weights, [0.75, 0.25], atol=1e-3)
    at_once = room._found(by_loss, BlendEvidence(scores, scorer, fold, False, 0, 0))
    assert at_once.weights[0] < 0.05


def test_in_time_order_nothing_is_stacked():
    found = blend(numbers(ordered=True))
    assert set(found.losses) == set(WAYS) - {"stacking"}
    assert found.final.weights.sum() == pytest.approx(1.0)
    assert not found.final.shift.any()


def test_one_member_alone_must_be_better_by_far():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=600)
    # Members that err alike: blending brings nothing, and one of them is best by a little.
    first = truth + 0.1 * rng.normal(size=600)
    scores = np.stack([first, first + 0.01 * rng.normal(size=600)], axis=1)[:, :, None]
    scorer = BlendScorer(metric_named("rmse", "regression"), truth, None, False)
    found = blend(BlendEvidence(scores, scorer, np.arange(600) % 5, False, 0, 0))
    assert found.losses["best member"] < 1.02 * min(found.losses.values())
    assert found.way != "best member"


def test_one_member_has_all_the_weight():
    seen = numbers(noises=(1.0,))
    found = blend(seen)
    assert found.final == BlendWeights(pytest.approx([1.0]), pytest.approx([0.0]))
    assert np.array_equal(found.nested, seen.scores[:, 0])


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("n_folds", [1, 2, 4, 6])
def test_an_ensemble_of_one_member_has_its_score(ordered, n_folds):
    seen = numbers(noises=(0.5,))
    seen = BlendEvidence(seen.scores, seen.scorer, np.sort(np.arange(800) % n_folds), ordered, 0, 0)
    found, rows = blend(seen), seen.estimated
    assert np.array_equal(found.nested[rows], seen.scores[rows, 0])
    assert np.isnan(found.nested[~rows]).all()
    assert rows.all() == (not ordered or n_folds == 1)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("bad", [3.0, 300.0])
@pytest.mark.parametrize("way", [by_selection, best_alone, by_loss])
def test_an_ensemble_that_is_one_member_in_all_blocks_has_its_score_however_bad_the_others_are(way, bad, ordered):
    # The others are what members are that were stopped after a few rounds.
    rng = np.random.default_rng(5)
    truth, fold = rng.normal(size=800), np.arange(800) // 200
    scores = np.stack([truth + 0.1 * rng.normal(size=800), truth + bad, truth + 2.0 * bad], axis=1)[:, :, None]
    seen = BlendEvidence(scores, BlendScorer(metric_named("rmse", "regression"), truth, None, False), fold, ordered, 0, 0)
    rows, alone = np.flatnonzero(seen.estimated), BlendWeights(pytest.approx([1.0, 0.0, 0.0]), pytest.approx([0.0]))
    assert room._found(way, seen) == alone
    assert all(room._found(way, seen.at(np.flatnonzero(fold == block))) == alone for block in range(4))
    scorer = seen.scorer.at(rows)
    assert scorer.loss(nested_scores(way, seen)[rows]) == pytest.approx(scorer.loss(scores[rows, 0]), rel=1e-12)
    if ordered:
        found = blend(seen)
        assert found.final == alone
        assert scorer.loss(found.nested[rows]) == found.losses[found.way] == pytest.approx(scorer.loss(scores[rows, 0]), rel=1e-12)


def test_the_earliest_block_has_no_estimate_and_all_ways_are_compared_by_the_others():
    seen = numbers(ordered=True)
    for way in (WAYS[name] for name in WAYS if name != "stacking"):
        nested = nested_scores(way, seen)
        assert np.isnan(nested[seen.parts() == 0]).all()
        assert np.isfinite(nested[seen.parts() > 0]).all()
    assert np.array_equal(seen.estimated, seen.parts() > 0)


def test_one_row_held_out_is_scored_by_weights_that_need_no_rows():
    scorer = BlendScorer(metric_named("rmse", "regression"), np.array([1.0]), None, False)
    found = blend(BlendEvidence(np.array([[[1.0], [3.0]]]), scorer, np.zeros(1, np.int64), True, 0, 0))
    assert found.final.weights.tolist() == [0.5, 0.5]
    assert found.nested.tolist() == [[2.0]]


def test_a_single_part_held_out_is_halved():
    seen = numbers()
    one = BlendEvidence(seen.scores, seen.scorer, np.zeros(800, np.int64), False, 0, 0)
    assert np.isfinite(blend(one).nested).all()


def test_many_rows_are_sampled_for_weights_and_all_are_scored(monkeypatch):
    monkeypatch.setattr(room, "MOST_SCORES", 300)
    monkeypatch.setattr(room, "ENOUGH_ROWS", 100)
    found = blend(numbers())
    assert found.nested.shape == (800, 1)
    assert np.isfinite(found.nested).all()
    assert room.by_stacking is by_stacking


@pytest.mark.parametrize("metric", ["rmse", "mae"])
@pytest.mark.parametrize("members", [1, 3])
def test_where_nobody_knows_anything_the_model_is_a_guess(metric, members):
    rng = np.random.default_rng(4)
    truth = rng.exponential(size=500)
    scores = truth.mean() + rng.normal(size=(500, members, 1))
    seen = BlendEvidence(scores, BlendScorer(metric_named(metric, "regression"), truth, None, False), np.arange(500) % 5, False, 0, 0)
    found = blend(seen)
    assert found.way == GUESSING
    assert not found.final.weights.any()
    assert found.final.shift == pytest.approx([truth.mean() if metric == "rmse" else np.median(truth)], rel=1e-2)
    # Every row by a guess that was made without its fold.
    others = truth[np.arange(500) % 5 != 4]
    assert found.nested[4, 0] == pytest.approx(others.mean() if metric == "rmse" else np.median(others), rel=1e-2)


@pytest.mark.parametrize("k", [2, 4])
def test_a_guess_of_classes_is_their_share(k):
    seen = classes(k, noises=(1.0,))
    drawn = np.random.default_rng(1).normal(size=seen.scores.shape)
    found = blend(BlendEvidence(drawn, seen.scorer, seen.fold, False, k, 0))
    assert found.way == GUESSING
    np.testing.assert_allclose(probabilities(found.final.shift[None])[0], np.bincount(seen.scorer.y) / len(seen.scorer.y), atol=1e-6)
