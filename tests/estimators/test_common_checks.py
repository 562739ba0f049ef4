"""Every public estimator passes every common check of scikit-learn; no failure is expected."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from woodwind import GradientBoostingClassifier, GradientBoostingRegressor

ESTIMATORS = [
    GradientBoostingClassifier(),
    GradientBoostingRegressor(),
    GradientBoostingClassifier(n_estimators=20, loss="exponential", growth="symmetric", early_stopping=False),
    GradientBoostingRegressor(n_estimators=20, loss="huber", growth="level", early_stopping=False),
    GradientBoostingClassifier(n_estimators=20, max_bins=None, multiclass="one_per_class"),
    GradientBoostingRegressor(n_estimators=20, max_bins=None),
]


# Checks feed tables on which warnings are due: constant targets, many classes, columns without names.
@pytest.mark.filterwarnings("ignore::woodwind.WoodwindWarning")
@parametrize_with_checks(ESTIMATORS)
def test_the_common_check(estimator, check):
    check(estimator)
