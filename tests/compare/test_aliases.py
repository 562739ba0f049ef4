"""The table of aliases against the libraries themselves: no parameter that they have is missing."""

import inspect

import pytest
import sklearn.ensemble

from woodwind.params.aliases import index


def missing(names, library):
    return [name for name in names if not any(name in row.names(library) for row in index().get(name, ()))]


def test_every_parameter_of_xgboost_is_in_the_table():
    xgboost = pytest.importorskip("xgboost")
    assert missing(set(inspect.signature(xgboost.XGBModel.__init__).parameters) - {"self", "kwargs"}, "xgboost") == []


def test_every_parameter_and_alias_of_lightgbm_is_in_the_table():
    lightgbm = pytest.importorskip("lightgbm")
    aliases = lightgbm.basic._ConfigAliases._get_all_param_aliases()
    assert missing([name for names in aliases.values() for name in names], "lightgbm") == []
    assert missing(set(inspect.signature(lightgbm.LGBMClassifier.__init__).parameters) - {"self", "kwargs"}, "lightgbm") == []


@pytest.mark.parametrize("family", ["HistGradientBoosting", "GradientBoosting"])
@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_every_parameter_of_scikit_learns_boosting_is_in_the_table(family, task):
    assert missing(inspect.signature(getattr(sklearn.ensemble, family + task)).parameters, "sklearn") == []
