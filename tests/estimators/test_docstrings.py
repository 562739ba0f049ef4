"""Examples in docstrings are run, and say what they say."""

import doctest
import importlib
import pkgutil

import pytest

import woodwind.ensemble
import woodwind.estimators

ROOMS = (woodwind.ensemble, woodwind.estimators)
NAMES = [info.name for room in ROOMS for info in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")]


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


ESTIMATORS = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AdditiveClassifier",
    "AdditiveRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_have_an_example_and_all_their_parameters(name):
    estimator = getattr(woodwind, name)
    assert ">>> " in estimator.__doc__
    assert "{parameters}" not in estimator.__doc__
    assert [f"\n{parameter} : " in estimator.__doc__ for parameter in estimator().get_params()] == [True] * len(estimator().get_params())
