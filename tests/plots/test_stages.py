"""Pictures of stages: what is drawn is what the model predicts after each of them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from sklearn.ensemble import GradientBoostingRegressor as SklearnBoosting

from woodwind import (
    AdaBoostClassifier,
    AdditiveRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    RandomForestClassifier,
)
from woodwind.plots import BoostingRegionsDisplay, BoostingStagesDisplay, EnsembleSizeDisplay


def curve(n=60):
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, n)
    return x[:, None], np.sin(x) + rng.normal(0, 0.1, n)


def moons(n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, np.where((X**2).sum(axis=1) > 1.2, "far", "near")


def test_curves_by_size_are_errors_of_stages_and_out_of_bag():
    X, y = moons()
    forest = RandomForestClassifier(n_estimators=20, oob_score=True, random_state=0).fit(X[::2], y[::2])
    display = EnsembleSizeDisplay.from_estimator(forest, X[1::2], y[1::2], training=(X[::2], y[::2]))
    assert list(display.errors) == ["given rows", "training rows", "out of bag"]
    assert display.errors["given rows"][-1] == pytest.approx(1 - forest.score(X[1::2], y[1::2]))
    assert display.errors["out of bag"][-1] == pytest.approx(1 - forest.oob_score_)
    for line, values in zip(display.lines_, display.errors.values(), strict=True):
        assert np.array_equal(line.get_xydata(), np.column_stack([np.arange(1, 21), values]))


def test_curves_by_size_from_predictions_and_with_an_error_of_ones_own():
    truth = np.array([0, 1, 1, 0])
    display = EnsembleSizeDisplay.from_predictions(truth, [[0, 0, 0, 0], truth])
    assert display.errors["given rows"].tolist() == [0.5, 0.0]
    numbers = EnsembleSizeDisplay.from_predictions(
        [0.0, 0.0], {"a": [[3.0, 4.0]]}, error=lambda y, predicted: float(np.max(np.abs(y - predicted)))
    )
    assert numbers.errors["a"].tolist() == [4.0]


@pytest.mark.parametrize("table", ["array", "pandas", "arrow"])
def test_stages_on_one_feature_add_up(table):
    X, y = curve()
    make = {"array": lambda x: x, "pandas": lambda x: pd.DataFrame({"age": x[:, 0]}), "arrow": lambda x: pa.table({"age": x[:, 0]})}
    model = AdditiveRegressor(n_estimators=4, max_depth=2).fit(make[table](X), y)
    display = BoostingStagesDisplay.from_estimator(model, make[table](X), y, stages=[1, 4])
    staged = list(model.staged_predict(make[table](X)))
    assert np.allclose(display.on_rows[1:], staged)
    assert np.allclose(display.on_rows[0], y.mean())
    assert np.allclose(display.points_[1][1].get_ydata(), y - staged[2])
    on_grid = list(model.staged_predict(make[table](display.grid[:, None])))
    assert np.allclose(display.sums_[1].get_ydata(), on_grid[3])
    assert np.allclose(display.steps_[1].get_ydata(), on_grid[3] - on_grid[2])
    assert display.axes_[1, 0].get_xlabel() == ("feature 0" if table == "array" else "age")


@pytest.mark.parametrize("model", [GradientBoostingRegressor(n_estimators=3, early_stopping=False), SklearnBoosting(n_estimators=3)])
def test_stages_begin_where_the_model_does(model):
    X, y = curve()
    display = BoostingStagesDisplay.from_estimator(model.fit(X, y), X, y)
    assert np.allclose(display.on_rows[0], y.mean())
    assert display.axes_.shape == (3, 2)


def test_regions_are_what_is_predicted_after_a_stage_and_rows_are_as_large_as_they_weigh():
    X, y = moons()
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    display = BoostingRegionsDisplay.from_estimator(model, X, y, stages=[1, 2, 6])
    side = display.regions.shape[1]
    left, right, low, high = display.extent
    x, up = left + (right - left) * 10.5 / side, low + (high - low) * 90.5 / side
    predicted = list(model.staged_predict([[x, up]]))
    assert [model.classes_[display.regions[position, 90, 10]] for position in range(3)] == [
        predicted[0][0],
        predicted[1][0],
        predicted[5][0],
    ]
    wrong = model.estimators_[0].predict(X) != y
    weight = np.where(wrong, np.exp(model.estimator_weights_[0]), 1.0)
    assert np.allclose(display.weights[1], weight / weight.sum())
    assert np.allclose(display.weights[0], 1 / len(y))
    sizes = np.concatenate([display.scatters_[1][number].get_sizes() for number in range(2)])
    ordered = np.concatenate([wrong[y == label] for label in model.classes_])
    assert sizes[ordered].min() > sizes[~ordered].max()


@pytest.mark.parametrize("algorithm", ["samme", "samme.r"])
def test_replayed_weights_give_the_errors_of_the_rounds(algorithm):
    X, y = moons()
    model = AdaBoostClassifier(n_estimators=5, algorithm=algorithm, max_depth=2).fit(X, y)
    display = BoostingRegionsDisplay.from_estimator(model, X, y, stages=5)
    for weight, member, error in zip(display.weights, model.estimators_, model.estimator_errors_, strict=True):
        assert weight[member.predict(X) != y].sum() == pytest.approx(error)


def test_regions_of_other_boosting_have_rows_of_one_size_and_three_classes():
    X, _ = moons()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = GradientBoostingClassifier(n_estimators=3, early_stopping=False).fit(X, y)
    display = BoostingRegionsDisplay.from_estimator(model, X, y)
    assert display.weights is None
    assert len(display.texts_) == 3


def test_pictures_of_stages_go_where_they_are_told():
    X, y = curve()
    model = AdditiveRegressor(n_estimators=2).fit(X, y)
    figure, axes = plt.subplots(2, 2)
    assert BoostingStagesDisplay.from_estimator(model, X, y, stages=2, ax=axes).figure_ is figure
    figure, ax = plt.subplots()
    display = BoostingStagesDisplay.from_estimator(model, X, y, stages=2, ax=ax)
    assert len(figure.axes) == 5
    assert not ax.axison
    assert BoostingStagesDisplay.from_predictions(X, y, model.staged_predict(X), start=y.mean(), stages=[2]).axes_.shape == (1, 2)
    assert np.allclose(display.added[0], display.on_grid[1] - display.on_grid[0])


def test_regions_may_be_given():
    X, y = moons(20)
    regions = np.where(np.arange(16).reshape(1, 4, 4) % 2, "far", "near")
    assert BoostingRegionsDisplay.from_predictions(X, y, regions, extent=(-3, 3, -3, 3)).axes_.size == 1


CURVE, MOONS = curve(), moons()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: EnsembleSizeDisplay({}), "at least one curve"),
        (lambda: EnsembleSizeDisplay.from_estimator(RandomForestClassifier(n_estimators=2).fit(*MOONS)), "no rows to measure"),
        (lambda: EnsembleSizeDisplay.from_predictions([0, 1], [[0, 1], [0]]), "stage 2 of 'given rows'"),
        (lambda: BoostingStagesDisplay.from_estimator(AdaBoostClassifier().fit(*MOONS), *MOONS), "BoostingRegionsDisplay shows"),
        (lambda: BoostingStagesDisplay.from_estimator(AdditiveRegressor().fit(MOONS[0], MOONS[0][:, 0]), *MOONS), "1 column of X"),
        (lambda: BoostingStagesDisplay.from_estimator(AdditiveRegressor(n_estimators=2).fit(*CURVE), *CURVE, stages=[3]), "from 1 to 2"),
        (lambda: BoostingStagesDisplay.from_estimator(AdditiveRegressor(n_estimators=2).fit(*CURVE), *CURVE, ax=[]), "one axes, or 4"),
        (lambda: BoostingRegionsDisplay.from_estimator(AdditiveRegressor(n_estimators=2).fit(*CURVE), *CURVE), "no trained classifier"),
        (lambda: BoostingRegionsDisplay.from_predictions([[0, 1]], ["a"], [["a"]], extent=(0, 1, 0, 1)), "points must be"),
        (lambda: BoostingStagesDisplay.from_estimator(AdditiveRegressor().fit(*CURVE), [["a"]], [1.0]), "must be numbers"),
        (lambda: BoostingStagesDisplay.from_estimator(AdditiveRegressor().fit(*CURVE), [[np.nan]], [1.0]), "missing or infinite"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, told):
    with pytest.raises((DataError, ParameterError), match=told):
        call()
