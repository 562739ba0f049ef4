"""
Learning rate and early stopping
================================

Validation loss by round for three learning rates. Large steps arrive early at a worse place; small ones need more trees. The mark
is where training stops.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1

from woodwind import GradientBoostingRegressor

X, y = make_friedman1(3000, noise=2.0, random_state=0)
figure, ax = plt.subplots(layout="constrained")
for rate in (0.5, 0.1, 0.03):
    model = GradientBoostingRegressor(n_estimators=300, learning_rate=rate, early_stopping=True, n_iter_no_change=30, random_state=0)
    model.fit(X[:2000], y[:2000], eval_set=(X[2000:], y[2000:]))
    curve = model.validation_score_
    (line,) = ax.plot(curve, label=f"learning_rate={rate}")
    ax.plot(model.best_iteration_, curve[model.best_iteration_], "o", color=line.get_color())
ax.set(xlabel="Rounds", ylabel="Validation loss", ylim=(None, 10))
ax.legend()
