"""Ways of growing that have one score to a tree, with more classes than two."""

import numpy as np
import pytest

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.base.errors import ParameterError


def three_classes():
    x = np.random.default_rng(0).normal(size=(300, 3))
    return x, np.digitize(x[:, 0] + x[:, 1] * x[:, 2], [-0.5, 0.5])


def test_symmetric_trees_are_grown_for_each_class():
    x, y = three_classes()
    model = GradientBoostingClassifier(n_estimators=8, growth="symmetric", early_stopping=False).fit(x, y)
    assert model.forest_.n_trees == 24
    assert set(model.forest_.output.tolist()) == {0, 1, 2}
    assert model.score(x, y) > 0.7


def test_trees_with_monotonic_constraints_are_grown_for_each_class():
    x, y = three_classes()
    model = GradientBoostingClassifier(n_estimators=8, monotonic_cst=[1, 0, 0], early_stopping=False).fit(x, y)
    assert set(model.forest_.output.tolist()) == {0, 1, 2}
    assert GradientBoostingClassifier(n_estimators=2, monotonic_cst=[1, 0, 0], early_stopping=False).fit(x, y > 0).forest_.n_trees == 2


def test_monotonic_constraints_are_not_for_symmetric_trees():
    x, y = three_classes()
    with pytest.raises(ParameterError, match="monotonic_cst is not for growth='symmetric'"):
        GradientBoostingRegressor(growth="symmetric", monotonic_cst=[1, 0, 0]).fit(x, y)
