"""
Bias and variance
=================

Trained again and again on other rows, a stump is mostly biased, a deep tree varies, and bagging takes the variance away and
leaves the bias. The parts add up to the error.
"""

from sklearn.datasets import make_friedman1

from woodwind import DecisionTreeRegressor, GradientBoostingRegressor, RandomForestRegressor
from woodwind.plots import BiasVarianceDisplay

X, y = make_friedman1(800, noise=1.0, random_state=0)
learners = {
    "stump": DecisionTreeRegressor(max_depth=1),
    "deep tree": DecisionTreeRegressor(),
    "30 bagged deep trees": RandomForestRegressor(n_estimators=30),
    "boosting": GradientBoostingRegressor(n_estimators=100, early_stopping=False),
}
BiasVarianceDisplay.from_estimator(learners, X[:400], y[:400], X[400:], y[400:], n_rounds=15, random_state=0)
