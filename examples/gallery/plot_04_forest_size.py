"""
How many trees does a forest need?
==================================

More trees make a forest better up to a point, and never worse but by luck. Rows out of the bag tell where that point is without
costing any.
"""

from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from woodwind import RandomForestClassifier
from woodwind.plots import EnsembleSizeDisplay

X, y = make_classification(1500, n_features=15, n_informative=6, flip_y=0.05, random_state=0)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
forest = RandomForestClassifier(n_estimators=100, random_state=0).fit(X, y)
EnsembleSizeDisplay.from_estimator(forest, X_new, y_new, training=(X, y))
