"""Columns of more categories than trees tell apart are never merged silently."""

import numpy as np
import pandas as pd
import pytest

from woodwind import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
    RandomStructureForestClassifier,
    StackingClassifier,
)
from woodwind.base.errors import ManyCategoriesWarning

FEW = {"n_estimators": 2}
OF_TREES = [
    GradientBoostingClassifier(**FEW, categorical_encoding="sets"),
    GradientBoostingRegressor(**FEW, categorical_encoding="sets", max_bins=None),
    RandomForestRegressor(**FEW),
    ExtraTreesClassifier(**FEW),
    RandomStructureForestClassifier(**FEW),
    DecisionTreeClassifier(max_depth=2),
    DecisionTreeRegressor(max_depth=2, max_bins=32),
    AdaBoostClassifier(**FEW),
    BaggingClassifier(**FEW),
    StackingClassifier(estimators=[DecisionTreeClassifier(max_depth=2), GradientBoostingClassifier(**FEW)], cv=2),
]


def table(n_categories):
    position = np.arange(2 * n_categories) % n_categories
    return pd.DataFrame({"wood": [f"w{number}" for number in position], "size": position % 7}), (
        np.arange(2 * n_categories) % 3 == 0
    ).astype(int)


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("estimator", OF_TREES, ids=lambda one: type(one).__name__)
def test_categories_that_are_merged_are_told_with_their_column_their_number_and_a_remedy(estimator):
    X, y = table(300)
    with pytest.warns(ManyCategoriesWarning, match=r"column 'wood' has 300 categories.* the other 48 are taken as one. Give means of the"):
        estimator.fit(X, y)


@pytest.mark.parametrize("settings", [{}, {"max_bins": None}])
def test_boosting_merges_none(settings):
    GradientBoostingClassifier(**FEW, **settings).fit(*table(300))
    GradientBoostingRegressor(**FEW, **settings).fit(*table(300))


@pytest.mark.parametrize("estimator", OF_TREES[:6], ids=lambda one: type(one).__name__)
def test_as_many_as_there_are_codes_are_no_news(estimator):
    estimator.fit(*table(253))
