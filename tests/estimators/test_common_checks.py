"""Every public estimator passes every common check of scikit-learn; no failure is expected."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as TheirTree
from sklearn.utils.estimator_checks import parametrize_with_checks

import woodwind
from woodwind import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

# Taken from what the package shows, so that none can be forgotten.
NAMES = [getattr(woodwind, name) for name in woodwind.__all__]
PUBLIC = [named for named in NAMES if inspect.isclass(named) and issubclass(named, BaseEstimator)]

# Other ways through the engines.
VARIANTS = [
    GradientBoostingClassifier(n_estimators=20, loss="exponential", growth="symmetric", early_stopping=False),
    GradientBoostingRegressor(n_estimators=20, loss="huber", growth="level", early_stopping=False),
    GradientBoostingClassifier(n_estimators=20, max_bins=None, multiclass="one_per_class"),
    GradientBoostingRegressor(n_estimators=20, max_bins=None),
    DecisionTreeClassifier(criterion="gain_ratio", max_leaf_nodes=9, max_bins=32),
    DecisionTreeRegressor(max_depth=6, max_features=0.8, ccp_alpha=1e-4, random_state=0),
    BaggingClassifier(n_estimators=9, voting="hard", max_samples=0.8, flip_rate=0.1, n_jobs=2),
    BaggingClassifier(n_estimators=9, max_features=0.7, smear=0.1, n_jobs=2),
    BaggingRegressor(n_estimators=9, smear=0.1, bootstrap_features=True, param_distributions={"max_depth": [3, 4, None]}, n_jobs=2),
    BaggingClassifier(n_estimators=5, estimator=GaussianNB(), max_features=0.7),
    BaggingClassifier(n_estimators=5, estimator=KNeighborsClassifier(1), voting="hard"),
    BaggingRegressor(n_estimators=5, estimator=TheirTree(max_depth=4), smear=0.1),
    BaggingRegressor(n_estimators=5, estimator=KNeighborsRegressor(2), max_features=0.7, bootstrap=False),
    BaggingRegressor(n_estimators=5, estimator=LinearRegression(), max_samples=0.7),
]

# Rows drawn at random make a weight of two a row given twice in distribution only: tests/laws/test_bagging_weights.py.
IN_DISTRIBUTION = (BaggingClassifier, BaggingRegressor)
WEIGHTS_ARE_ROWS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def replaced(estimator):
    """The checks that another test stands for."""
    drawn = isinstance(estimator, IN_DISTRIBUTION) and (estimator.bootstrap or estimator.max_samples != 1.0)
    return dict.fromkeys(WEIGHTS_ARE_ROWS, "rows are drawn at random") if drawn else {}


def test_the_list_of_public_estimators_is_not_empty():
    assert {"GradientBoostingClassifier", "DecisionTreeRegressor"} <= {estimator.__name__ for estimator in PUBLIC}


# Checks feed tables on which warnings are due: constant targets, many classes, columns without names.
@pytest.mark.filterwarnings("ignore::woodwind.WoodwindWarning")
@parametrize_with_checks([estimator() for estimator in PUBLIC] + VARIANTS, expected_failed_checks=replaced)
def test_the_common_check(estimator, check):
    check(estimator)
