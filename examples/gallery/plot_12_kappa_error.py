"""
The kappa-error diagram
=======================

A point for each pair of members: to the left if they differ, below if they are good. Boosting makes members that differ far more
than those of bagging, and each of them worse.
"""

from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from woodwind import AdaBoostClassifier, BaggingClassifier, DecisionTreeClassifier
from woodwind.plots import KappaErrorDisplay

X, y = make_classification(1000, n_features=12, n_informative=6, flip_y=0.05, random_state=0)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
bagged = BaggingClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=30, random_state=0).fit(X, y)
boosted = AdaBoostClassifier(n_estimators=30, max_depth=4).fit(X, y)
display = KappaErrorDisplay.from_estimator(bagged, X_new, y_new, name="bagging")
KappaErrorDisplay.from_estimator(boosted, X_new, y_new, name="AdaBoost", ax=display.ax_)
