"""Intervals and sets of labels of the main job: what they hold, what they promise, and what is stored of them."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import woodwind
from tests.auto.fake_outcome import fake
from woodwind.auto.calibration import MOST_SCORES, IntervalEvidence, conformal_intervals, nested_intervals
from woodwind.auto.facts.collection import collect
from woodwind.auto.intervals import PredictionIntervals, answers, measured_coverage
from woodwind.base.errors import DataError, FoldWarning, ParameterError
from woodwind.ensemble.conformal import ConformityScores, interval
from woodwind.report import page


def errors_that_grow(n, seed=0):
    """Predictions, and numbers whose distance to them grows with the prediction."""
    rng = np.random.default_rng(seed)
    predicted = rng.uniform(0.0, 10.0, n)
    return predicted, predicted + (0.1 + predicted) * rng.normal(size=n)


def evidence(predicted, y, held_out="random", folds=4, **more):
    given = {"weight": None, "fold": np.arange(len(y)) % folds, "classifies": False, **more}
    return IntervalEvidence(y, predicted[:, None], held_out=held_out, **given)


def test_a_new_row_is_inside_as_often_as_asked_for_whatever_the_size_of_its_prediction():
    known = conformal_intervals(evidence(*errors_that_grow(4000)))
    predicted, y = errors_that_grow(20_000, seed=1)
    low, high = known.bounds(predicted, 0.9)
    inside = (low <= y) & (y <= high)
    assert inside.mean() == pytest.approx(0.9, abs=0.015)
    for part in np.array_split(np.argsort(predicted), 5):
        assert inside[part].mean() == pytest.approx(0.9, abs=0.05)
    assert (high - low)[predicted > 9].mean() > 5 * (high - low)[predicted < 1].mean()


def test_with_few_rows_the_interval_is_that_of_the_definition():
    """Errors of 3, 1, 2 and 5: for 0.8 the fourth of five counts, as on the page of conformal prediction."""
    known = conformal_intervals(evidence(np.zeros(4), np.array([3.0, -1.0, 2.0, -5.0])))
    low, high = known.bounds(np.array([10.0]), 0.8)
    assert (low[0], high[0]) == (5.0, 15.0)
    low, high = known.bounds(np.array([10.0]), 0.9)
    assert (low[0], high[0]) == (-np.inf, np.inf)


def test_what_is_stored_is_small_and_never_covers_less():
    rng = np.random.default_rng(0)
    scores = np.sort(np.abs(rng.normal(size=50_000)))
    known = ConformityScores.of([(scores, np.ones(len(scores)))])
    thin = known.thinned(MOST_SCORES).check()
    assert len(thin.scores) <= MOST_SCORES + 2
    assert thin.weights.sum() == len(scores)
    zero, one = np.zeros((1, 1)), np.ones((1, 1))
    for coverage in (0.1, 0.5, 0.9, 0.99, 0.999, 0.9999):
        (_, wide), (_, all_of_them) = (interval(zero, zero, one, which, coverage) for which in (thin, known))
        place = np.searchsorted(scores, wide[0], "right") / len(scores)
        assert wide[0] >= all_of_them[0]
        assert place <= coverage + 0.0011


def test_a_row_of_weight_two_is_a_row_given_twice():
    predicted, y = errors_that_grow(30)
    fold, weight = np.arange(30) % 3, 1.0 + np.arange(30) % 2
    twice = np.repeat(np.arange(30), weight.astype(int))
    weighed = conformal_intervals(evidence(predicted, y, fold=fold, weight=weight))
    repeated = conformal_intervals(evidence(predicted[twice], y[twice], fold=fold[twice]))
    for coverage in (0.3, 0.8, 0.95):
        np.testing.assert_allclose(weighed.bounds(predicted, coverage), repeated.bounds(predicted, coverage))


def test_sets_hold_the_truth_as_often_as_asked_for_and_the_predicted_label_always():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=2.0, size=(6000, 4))
    chance = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = (chance.cumsum(axis=1) > rng.random((6000, 1))).argmax(axis=1)
    half = np.arange(6000) < 3000
    known = conformal_intervals(IntervalEvidence(y[half], scores[half], None, np.arange(3000) % 4, True, "random"))
    inside, sizes = answers(known, y[~half], scores[~half], True, 0.9)
    assert inside.mean() == pytest.approx(0.9, abs=0.02)
    assert 1.0 <= sizes.min() <= sizes.max() <= 4.0
    decided = np.zeros(3000, np.int64)
    assert known.sets(chance[~half], 0.2, decided)[:, 0].all()


def test_coverage_is_measured_by_rows_that_did_not_set_it():
    """With a row in each of two parts, the bounds of one come from the other alone."""
    seen = evidence(np.zeros(20), np.repeat([1.0, 100.0], 10), fold=np.repeat([0, 1], 10))
    parts = nested_intervals(seen)
    found = {int(rows[0]): answers(known, seen.y[rows], seen.scores[rows], False, 0.8)[0].mean() for rows, known in parts}
    assert found == {0: 1.0, 10: 0.0}


def test_in_the_order_of_time_only_earlier_rows_set_bounds():
    seen = evidence(np.zeros(40), np.arange(40.0), "time", fold=np.repeat([0, 1, 2, 3], 10))
    parts = nested_intervals(seen)
    assert [rows.tolist() for rows, _ in parts] == [list(range(begin, begin + 10)) for begin in (10, 20, 30)]
    assert [known.known.scores.max() for _, known in parts] == [9.0, 19.0, 29.0]


def test_the_error_of_a_coverage_counts_clusters_not_rows():
    inside, sizes = np.repeat([True, False, True, True], 25), np.ones(100)
    alone = measured_coverage(0.9, inside, sizes, None)
    together = measured_coverage(0.9, inside, sizes, None, np.repeat(np.arange(4), 25))
    assert alone.coverage == together.coverage == 0.75
    assert together.standard_error == pytest.approx(np.std([1, 0, 1, 1], ddof=1) / 2.0)
    assert alone.standard_error < 0.05
    assert (alone.size, alone.size_error) == (1.0, 0.0)


def test_numbers_too_large_for_errors_give_no_intervals_instead_of_wrong_ones():
    y = np.full(50, 1.7e308)
    assert conformal_intervals(evidence(-y, y)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"knots": np.array([1.0, 1.0]), "spreads": np.ones(2)}, {"knots": np.array([1.0]), "spreads": np.ones(2)},
        {"knots": np.array([0.0, 1.0]), "spreads": np.array([1.0, 0.0])}, {"knots": np.array([0.0, np.nan]), "spreads": np.ones(2)},
        {"held_out": "somehow"}, {"known": ConformityScores.of([(np.array([-1.0]), np.ones(1))])},
        {"known": ConformityScores.of([(np.empty(0), np.empty(0))])}, {"known": ConformityScores.of([(np.ones(1), np.ones(1))] * 2)},
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_together_are_refused(change):
    honest = PredictionIntervals(ConformityScores.of([(np.arange(3.0), np.ones(3))]), np.empty(0), np.empty(0), "random").check()
    with pytest.raises(DataError):
        replace(honest, **change).check()


# The job, its estimators and its report.


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.random((700, 3))
    y = 5.0 * X[:, 0] + (0.2 + X[:, 1]) * rng.normal(size=700)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, when=np.arange(700), who=np.arange(700) % 30)
    return frame.assign(label=np.array(["low", "mid", "high"])[np.digitize(y, [1.5, 3.5])])


@pytest.fixture(scope="module")
def fitted(table):
    ignore = ["when", "who", "label"]
    return woodwind.fit(table[:400], "y", ignore=ignore, models=2, exclude=["net", "neighbours", "forest"], seed=0)


def test_a_fitted_regressor_predicts_intervals_that_survive_the_file(fitted, table, tmp_path):
    low, high = fitted.predict_interval(table[400:], 0.8)
    y = table["y"][400:].to_numpy()
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.8, abs=0.07)
    fitted.save(tmp_path / "model.ww")
    np.testing.assert_array_equal(woodwind.load(tmp_path / "model.ww").predict_interval(table[400:], 0.8), [low, high])
    assert len(fitted.model_.intervals.known.scores) == 400


def test_a_fitted_classifier_predicts_sets(table):
    model = woodwind.fit(table[:400], "label", ignore=["when", "y"], group="who", models=1, exclude=["net", "neighbours", "forest"])
    sets = model.predict_set(table[400:], 0.9)
    truth = np.searchsorted(model.classes_, table["label"][400:])
    assert sets.shape == (300, 3)
    assert sets[np.arange(300), truth].mean() > 0.83
    assert model.model_.intervals.held_out == "groups"
    assert "new groups" in model.model_.intervals.promise
    assert model.facts_["intervals"]["groups"]["count"] == 30


def test_in_the_order_of_time_nothing_is_promised(table):
    model = woodwind.fit(table[:400], "y", ignore=["label", "who"], time_column="when", models=1, exclude=["net", "neighbours", "forest"])
    assert model.model_.intervals.held_out == "time"
    assert "Nothing is promised" in model.model_.intervals.promise


def test_a_model_without_scores_refuses_in_one_line_with_the_remedy(fitted, table):
    bare = woodwind.AutoEnsembleRegressor()
    bare.__dict__.update(fitted.__dict__)
    bare.model_ = replace(fitted.model_, intervals=None)
    with pytest.raises(DataError, match="no conformity scores") as caught:
        bare.predict_interval(table, 0.9)
    assert "woodwind fit" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90, True, None, "0.9", np.nan])
def test_a_coverage_that_is_no_share_is_refused(fitted, table, coverage):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        fitted.predict_interval(table, coverage)


def test_a_coverage_that_needs_more_rows_is_said_and_everything_is_inside(fitted, table):
    with pytest.warns(FoldWarning, match="at least 9,999 rows that are held out, and there are 400"):
        low, high = fitted.predict_interval(table, 0.9999)
    assert np.isinf(low).all()
    assert np.isinf(high).all()


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_report_shows_what_was_measured(task):
    facts = collect(fake(task, n=240, rounds=15), 60.0)
    found = facts["intervals"]
    assert [one["level"] for one in found["levels"]] == [0.5, 0.8, 0.9, 0.95, 0.99]
    nine = found["levels"][2]
    assert nine["coverage"] == pytest.approx(0.9, abs=0.06)
    assert (found["shown"], found["rows"], found["held_out"]) == (0.9, 240, "random")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = page(facts)
    assert 'id="intervals"' in text
    assert "Prediction intervals" in text
    assert ("Mean width" in text) == (task == "regression")
    assert sum(one["count"] for one in found["classes" if task != "regression" else "deciles"]) == 240
