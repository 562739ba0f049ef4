"""
Prediction intervals with a guarantee
=====================================

Intervals of new rows, sorted by their width. Nine of ten hold the truth; squares are rows for which they do not.
"""

import numpy as np
from sklearn.model_selection import train_test_split

from woodwind import ConformalRegressor
from woodwind.plots import IntervalWidthDisplay

rng = np.random.default_rng(0)
X = rng.uniform(0, 1, (1200, 3))
y = 5 * X[:, 0] + (0.2 + 2 * X[:, 1]) * rng.normal(size=1200)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
model = ConformalRegressor(random_state=0).fit(X, y)
IntervalWidthDisplay.from_estimator(model, X_new, y_new, coverage=0.9)
