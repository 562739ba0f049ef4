"""
Margins: how sure is the vote?
==============================

The margin of a row is the weight of votes for its class less that of votes against. Boosting pushes margins of training rows up
from zero.
"""

from sklearn.datasets import make_classification

from woodwind import AdaBoostClassifier, BaggingClassifier, DecisionTreeClassifier
from woodwind.plots import MarginDisplay

X, y = make_classification(1000, n_features=12, n_informative=6, flip_y=0.02, random_state=0)
models = {
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=50, random_state=0).fit(X, y),
    "AdaBoost": AdaBoostClassifier(n_estimators=50, max_depth=4).fit(X, y),
}
MarginDisplay.from_estimator(models, X, y)
