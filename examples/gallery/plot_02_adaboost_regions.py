"""
AdaBoost on two columns
=======================

Rows that were wrong are drawn larger: the next stump turns to them. Dashed lines are those of the newest stump alone.
"""

from sklearn.datasets import make_moons

from woodwind import AdaBoostClassifier
from woodwind.plots import BoostingRegionsDisplay

X, y = make_moons(200, noise=0.25, random_state=0)
model = AdaBoostClassifier(n_estimators=40, max_depth=1).fit(X, y)
BoostingRegionsDisplay.from_estimator(model, X, y, stages=[1, 3, 40])
