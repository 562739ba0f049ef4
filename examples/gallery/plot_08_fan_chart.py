"""
Predictive distributions: a fan chart
=====================================

Natural-gradient boosting predicts a distribution for each row: the median, and bands that hold half, eight tenths and 95 of 100
rows.
"""

import numpy as np

from woodwind import DistributionBoostingRegressor
from woodwind.plots import FanChartDisplay

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 1000))
y = 3 * np.sin(x) + (0.3 + 0.2 * x) * rng.normal(size=1000)
model = DistributionBoostingRegressor(distribution="normal", n_estimators=200, random_state=0).fit(x[:, None], y)
FanChartDisplay.from_estimator(model, x[:, None], x, y)
