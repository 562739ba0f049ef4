"""Survival curves: steps are Kaplan and Meier's, thin lines are means of what was predicted."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from woodwind import DataError, GradientBoostingSurvivalAnalysis, ParameterError
from woodwind.base.errors import TargetError
from woodwind.metrics.survival import kaplan_meier_curve
from woodwind.plots import SurvivalCurvesDisplay


def patients(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    time, end = rng.exponential(np.exp(1.0 - X[:, 0])), rng.exponential(6.0, n)
    y = np.array(list(zip(time <= end, np.minimum(time, end), strict=True)), dtype=[("event", bool), ("time", float)])
    return X, y, GradientBoostingSurvivalAnalysis(n_estimators=10, random_state=0).fit(X, y)


def test_curves_of_groups_are_observed_and_predicted():
    X, y, model = patients()
    groups = np.where(X[:, 1] > 0, "old", "young")
    times = np.array([0.5, 1.0, 3.0])
    display = SurvivalCurvesDisplay.from_estimator(model, X, y, groups=groups, times=times)
    assert [text.get_text() for text in display.texts_] == ["old", "young"]
    for line, thin, name in zip(display.lines_, display.predicted_lines_, ("old", "young"), strict=True):
        rows = groups == name
        expected = kaplan_meier_curve(y[rows])
        assert np.allclose(line.get_xdata()[1:], expected[0])
        assert np.allclose(line.get_ydata(), np.append(1.0, expected[1]))
        assert np.allclose(thin.get_ydata(), model.predict_survival_function(X[rows])(times).mean(axis=0))


def test_without_groups_there_are_thirds_by_risk():
    X, y, model = patients()
    display = SurvivalCurvesDisplay.from_estimator(model, X, y)
    assert list(display.observed) == ["low risk", "middle risk", "high risk"]
    low, _, high = (curve[1].mean() for curve in display.predicted.values())
    assert low > high


def test_an_array_of_survival_and_other_axes():
    X, y, model = patients()
    figure, (left, _) = plt.subplots(1, 2)
    times = [1.0, 2.0]
    display = SurvivalCurvesDisplay.from_predictions(y, model.predict_survival_function(X)(times), times=times, ax=left)
    assert (display.ax_, display.figure_) == (left, figure)
    display.plot(ax=left)
    assert len({line.get_color() for line in left.lines}) == 6


def test_what_cannot_be_drawn_is_refused():
    X, y, model = patients()
    survival = model.predict_survival_function(X)
    with pytest.raises(ParameterError, match="has no predict_survival_function"):
        SurvivalCurvesDisplay.from_estimator(object(), X, y)
    with pytest.raises(ParameterError, match="Give times"):
        SurvivalCurvesDisplay.from_predictions(y, np.ones((120, 3)))
    with pytest.raises(DataError, match="of 120 rows and 2 times"):
        SurvivalCurvesDisplay.from_predictions(y, np.ones((120, 3)), times=[1.0, 2.0])
    with pytest.raises(DataError, match="one label for each of 120 rows"):
        SurvivalCurvesDisplay.from_predictions(y, survival, groups=[1, 2])
    with pytest.raises(ParameterError, match="120 labels, and 6 curves"):
        SurvivalCurvesDisplay.from_predictions(y, survival, groups=np.arange(120))
    with pytest.raises(TargetError, match="known within bounds"):
        SurvivalCurvesDisplay.from_predictions(np.array([[1.0, 3.0], [2.0, 2.0]]), survival[:2])
    with pytest.raises(DataError, match="at least one group"):
        SurvivalCurvesDisplay({})
    with pytest.raises(DataError, match="which was not observed"):
        SurvivalCurvesDisplay({"a": ([1.0], [0.5])}, {"b": ([1.0], [0.5])})
