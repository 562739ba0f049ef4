"""
Monotone constraints
====================

Noise bends a curve that ought to rise. With ``monotonic_cst`` it cannot.
"""

import matplotlib.pyplot as plt
import numpy as np

from woodwind import GradientBoostingRegressor

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, 150)
y = np.log1p(x) + 0.4 * rng.normal(size=150)
grid = np.linspace(0, 10, 400)[:, None]
figure, ax = plt.subplots(layout="constrained")
ax.scatter(x, y, s=12, color="0.6")
for name, constraint in (("free", 0), ("may only rise", 1)):
    model = GradientBoostingRegressor(n_estimators=200, learning_rate=0.1, early_stopping=False, monotonic_cst=[constraint], random_state=0)
    ax.plot(grid, model.fit(x[:, None], y).predict(grid), label=name)
ax.set(xlabel="x", ylabel="prediction")
ax.legend()
