"""
Calibration: can probabilities be believed?
===========================================

Of rows with a probability of 0.3, three in ten should be positive: the diagonal. Boosting that stops in time is near it. The same
boosting without early stopping and with large steps is far too sure of itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay

from woodwind import GradientBoostingClassifier, RandomForestClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 8))
y = rng.random(6000) < 1 / (1 + np.exp(-1.5 * X[:, 0] - X[:, 1] * X[:, 2]))
models = {
    "boosting": GradientBoostingClassifier(random_state=0),
    "boosting, never stopped": GradientBoostingClassifier(n_estimators=300, learning_rate=0.3, early_stopping=False, random_state=0),
    "random forest": RandomForestClassifier(random_state=0),
}
figure, ax = plt.subplots(layout="constrained")
for name, model in models.items():
    CalibrationDisplay.from_estimator(model.fit(X[:3000], y[:3000]), X[3000:], y[3000:], n_bins=8, name=name, ax=ax)
