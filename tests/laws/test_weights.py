"""A weight of two is a row given twice, and a weight of zero is a row that is not there."""

import numpy as np
import pandas as pd
import pytest

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, GradientBoostingSurvivalAnalysis, losses

OPTIONS = {"n_estimators": 15, "learning_rate": 0.3, "max_leaf_nodes": 8, "min_samples_leaf": 4, "early_stopping": False, "random_state": 0}
N = 160


def table(seed=0):
    """Numbers, text, dates, truth values; missing cells in each; a column with more distinct values than bins."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=N),
            "few": rng.integers(0, 5, N).astype(float),
            "wood": rng.choice(["oak", "elm", "fig", "yew"], N),
            "when": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, N), unit="D"),
            "old": rng.random(N) < 0.5,
        }
    )
    y = frame["x"] + (frame["wood"] == "oak") + 0.3 * rng.normal(size=N)
    for column in ("x", "few", "wood", "when"):
        frame.loc[rng.random(N) < 0.1, column] = None
    return frame, y.to_numpy()


def target(y, kind):
    if kind == "numbers":
        return np.exp(y / 3)
    if kind == "times":
        time = np.ceil(5.0 * np.exp(y / 2))
        return np.array(list(zip(np.arange(len(y)) % 3 > 0, time, strict=True)), dtype=[("event", bool), ("time", float)])
    return np.array(["a", "b", "c", "d"])[np.digitize(y, [0.0] if kind == "two" else [-0.5, 0.5, 1.5])]


def model(kind, **more):
    estimators = {"numbers": GradientBoostingRegressor, "times": GradientBoostingSurvivalAnalysis}
    estimator = estimators.get(kind, GradientBoostingClassifier)
    return estimator(**{**OPTIONS, **more})


def weights(seed=1, most=4):
    return np.random.default_rng(seed).integers(0, most, N).astype(float)


def repeated(frame, y, weight, seed=2):
    """Each row as often as it weighs, in another order."""
    rows = np.repeat(np.arange(N), weight.astype(int))
    rows = np.random.default_rng(seed).permutation(rows)
    return frame.iloc[rows].reset_index(drop=True), y[rows]


KINDS = [
    ("numbers", {}),
    ("numbers", {"loss": "absolute_error"}),
    ("numbers", {"loss": "huber"}),
    ("numbers", {"loss": losses.Quantile(0.8)}),
    ("numbers", {"loss": "gamma"}),
    ("two", {}),
    ("two", {"loss": "exponential"}),
    ("times", {}),
    ("times", {"ties": "breslow"}),
    ("times", {"loss": "aft"}),
    ("four", {}),
    ("four", {"multiclass": "one_per_class"}),
]


@pytest.mark.parametrize(("kind", "more"), KINDS, ids=str)
def test_whole_weights_are_repetitions_bit_for_bit(kind, more):
    frame, y = table()
    y, weight = target(y, kind), weights()
    weighted = model(kind, **more).fit(frame, y, sample_weight=weight)
    given = model(kind, **more).fit(*repeated(frame, y, weight))
    assert weighted.forest_.digest() == given.forest_.digest()


@pytest.mark.parametrize("growth", ["level", "symmetric"])
def test_in_every_order_of_growth(growth):
    frame, y = table()
    weight = weights()
    weighted = model("numbers", growth=growth).fit(frame, y, sample_weight=weight)
    assert weighted.forest_.digest() == model("numbers", growth=growth).fit(*repeated(frame, y, weight)).forest_.digest()


@pytest.mark.parametrize("max_bins", [2, 7, 60])
def test_bins_are_cut_by_weight(max_bins):
    frame, y = table()
    weight = weights(most=7)
    weighted = model("numbers", max_bins=max_bins).fit(frame, y, sample_weight=weight)
    assert weighted.forest_.digest() == model("numbers", max_bins=max_bins).fit(*repeated(frame, y, weight)).forest_.digest()


@pytest.mark.parametrize("kind", ["numbers", "times", "two", "four"])
@pytest.mark.parametrize("early", [False, True, "auto"])
def test_rows_without_weight_are_absent(kind, early):
    frame, y = table()
    y, rng = target(y, kind), np.random.default_rng(5)
    weight = np.where(rng.random(N) < 0.3, 0.0, rng.random(N) + 0.1)
    there = weight > 0
    weighted = model(kind, early_stopping=early).fit(frame, y, sample_weight=weight)
    given = model(kind, early_stopping=early).fit(frame[there].reset_index(drop=True), y[there], sample_weight=weight[there])
    assert weighted.forest_.digest() == given.forest_.digest()
    assert np.array_equal(weighted.validation_score_, given.validation_score_)


def test_what_only_rows_without_weight_hold_is_not_known():
    frame, y = table()
    y, weight = target(y, "four"), np.ones(N)
    weight[(frame["wood"] == "yew") | (y == "d")] = 0.0
    fitted = model("four").fit(frame, y, sample_weight=weight)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    assert "yew" not in fitted.schema_.categories[2]


ONES = [np.ones(N), np.ones(N, int), [1] * N, pd.Series(np.ones(N)), 1.0, 1, np.ones(N, bool)]


@pytest.mark.parametrize("ones", ONES, ids=lambda value: type(value).__name__)
def test_a_weight_of_one_is_no_weight(ones):
    frame, y = table()
    assert model("numbers").fit(frame, y, sample_weight=ones).forest_.digest() == model("numbers").fit(frame, y).forest_.digest()


@pytest.mark.parametrize("class_weight", [{"a": 3.0}, {"a": 2, "b": 0.5}, {"a": 0.25, "b": 1.5, "c": 0.1, "d": 0.7}])
def test_class_weights_are_weights_of_rows(class_weight):
    frame, y = table()
    y = target(y, "four")
    of_row = np.array([class_weight.get(label, 1.0) for label in y])
    by_class = model("four", class_weight=class_weight).fit(frame, y)
    assert by_class.forest_.digest() == model("four").fit(frame, y, sample_weight=of_row).forest_.digest()
    weight = weights() + 0.25
    both = model("four", class_weight=class_weight).fit(frame, y, sample_weight=weight)
    assert both.forest_.digest() == model("four").fit(frame, y, sample_weight=of_row * weight).forest_.digest()
    whole = model("four", class_weight=class_weight).fit(frame, y, sample_weight=weights())
    assert whole.forest_.digest() == model("four", class_weight=class_weight).fit(*repeated(frame, y, weights())).forest_.digest()


def test_balanced_classes_have_the_same_total():
    frame, y = table()
    y = target(y, "four")
    fitted = model("four", class_weight="balanced").fit(frame, y)
    assert fitted.forest_.start == pytest.approx(np.zeros(4), abs=1e-9)
    weight = weights()
    weighted = model("four", class_weight="balanced").fit(frame, y, sample_weight=weight)
    given = model("four", class_weight="balanced").fit(*repeated(frame, y, weight))
    assert weighted.forest_.digest() == given.forest_.digest()


@pytest.mark.parametrize("kind", ["numbers", "two", "four"])
def test_only_the_ratio_of_weights_matters_without_penalties(kind):
    frame, y = table()
    y, weight = target(y, kind), np.random.default_rng(3).random(N) + 0.5
    free = {"l2_regularization": 0.0, "min_hessian_leaf": 0.0}
    frame = frame.drop(columns="wood")  # splits by category carry a penalty of their own
    first = model(kind, **free).fit(frame, y, sample_weight=weight)
    second = model(kind, **free).fit(frame, y, sample_weight=64.0 * weight)
    assert np.array_equal(first.forest_.value, second.forest_.value)
    assert np.array_equal(first.forest_.threshold, second.forest_.threshold)


def test_weights_next_to_whole_ones_are_next_to_repetitions():
    frame, y = table()
    weight = weights() + 1.0
    near = model("numbers", min_samples_leaf=1).fit(frame, y, sample_weight=weight * 1.000001)
    whole = model("numbers", min_samples_leaf=1).fit(frame, y, sample_weight=weight)
    assert np.corrcoef(near.predict(frame), whole.predict(frame))[0, 1] > 0.995


def test_where_rows_are_drawn_it_holds_on_average():
    frame, y = table()
    weight = weights()
    again, target_again = repeated(frame, y, weight)

    def mean(X, labels, sample_weight=None):
        made = (model("numbers", subsample=0.6, random_state=seed).fit(X, labels, sample_weight=sample_weight) for seed in range(25))
        return np.mean([one.predict(frame) for one in made], axis=0)

    weighted, given = mean(frame, y, weight), mean(again, target_again)
    present = weight > 0
    assert np.abs(weighted - given)[present].mean() < 0.06
    assert np.corrcoef(weighted[present], given[present])[0, 1] > 0.99


def test_early_stopping_weighs_the_rows_held_out():
    frame, y = table()
    weight = np.random.default_rng(4).random(N) + 0.1
    fitted = model("numbers", early_stopping=True, refit=False).fit(frame, y, sample_weight=weight)
    plain = model("numbers", early_stopping=True, refit=False).fit(frame, y)
    assert fitted.validation_score_[0] != plain.validation_score_[0]


def test_copies_of_a_row_are_held_out_together():
    """Else a copy in training would tell the target of the one held out."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, 3)), rng.normal(size=N)
    fitted = GradientBoostingRegressor(early_stopping=True, min_samples_leaf=1, max_leaf_nodes=64, random_state=0, n_iter_no_change=5)
    fitted.fit(X, y, sample_weight=np.full(N, 4))
    assert fitted.validation_score_.min() > 0.7 * fitted.validation_score_[0]
