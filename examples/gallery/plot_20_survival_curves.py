"""
Survival curves by group
========================

What was observed (Kaplan and Meier) and what Cox boosting predicts on average, for rows of high and of low risk.
"""

import numpy as np

from woodwind import GradientBoostingSurvivalAnalysis
from woodwind.plots import SurvivalCurvesDisplay

rng = np.random.default_rng(0)
X = rng.random((600, 3))
time, end = rng.exponential(np.exp(2.0 - 2.5 * X[:, 0])), rng.exponential(12.0, 600)
y = np.array(list(zip(time <= end, np.minimum(time, end), strict=True)), dtype=[("event", bool), ("time", float)])
model = GradientBoostingSurvivalAnalysis(n_estimators=50, random_state=0).fit(X[:400], y[:400])
groups = np.where(X[400:, 0] > 0.5, "high risk", "low risk")
SurvivalCurvesDisplay.from_estimator(model, X[400:], y[400:], groups=groups)
