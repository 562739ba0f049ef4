"""
Gradient boosting, stage by stage
=================================

Each tree is trained on what those before it have left over. On one column this can be watched: the model so far, and what the
newest tree adds.
"""

import numpy as np

from woodwind import AdditiveRegressor
from woodwind.plots import BoostingStagesDisplay

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 200))[:, None]
y = np.sin(x[:, 0]) + 0.2 * rng.normal(size=200)
model = AdditiveRegressor(n_estimators=50, max_depth=2, learning_rate=0.3).fit(x, y)
BoostingStagesDisplay.from_estimator(model, x, y, stages=[1, 5, 50])
