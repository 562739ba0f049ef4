"""
Quantiles that do not cross
===========================

One model for five quantiles. Where the spread grows, so does the distance between them.
"""

import matplotlib.pyplot as plt
import numpy as np

from woodwind import GradientBoostingRegressor

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, 1500)
y = x * np.sin(x) + x * rng.normal(size=1500)
levels = [0.05, 0.25, 0.5, 0.75, 0.95]
model = GradientBoostingRegressor(loss="quantile", quantile=levels, random_state=0).fit(x[:, None], y)
grid = np.linspace(0, 10, 300)
figure, ax = plt.subplots(layout="constrained")
ax.scatter(x, y, s=5, color="0.75")
for level, curve in zip(levels, model.predict(grid[:, None]).T, strict=True):
    ax.plot(grid, curve, label=f"{level:.0%}")
ax.set(xlabel="x", ylabel="y")
ax.legend(title="quantile")
