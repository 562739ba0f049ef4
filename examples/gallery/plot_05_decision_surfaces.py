"""
Decision surfaces of ensembles
==============================

One deep tree has corners that are noise. Bagging smooths them, extra-trees even more; boosting builds its line from many small
steps.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from woodwind import BaggingClassifier, DecisionTreeClassifier, ExtraTreesClassifier, GradientBoostingClassifier

X, y = make_moons(300, noise=0.3, random_state=0)
models = {
    "one tree": DecisionTreeClassifier(),
    "bagging": BaggingClassifier(DecisionTreeClassifier(), n_estimators=50, random_state=0),
    "extra-trees": ExtraTreesClassifier(n_estimators=100, random_state=0),
    "gradient boosting": GradientBoostingClassifier(random_state=0),
}
figure, axes = plt.subplots(2, 2, figsize=(8, 7), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    surface = DecisionBoundaryDisplay.from_estimator(
        model.fit(X, y), X, response_method="predict_proba", plot_method="pcolormesh", ax=ax, alpha=0.8, cmap="RdBu", class_of_interest=1
    )
    ax.scatter(*X.T, c=y, cmap="RdBu", s=12, edgecolor="white", linewidth=0.4)
    ax.set_title(name)
