"""
Which members are alike?
========================

Correlation of what members get right, in an order that puts those side by side that are alike: trees of one family form blocks.
"""

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from woodwind import AdaBoostClassifier, ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from woodwind.plots import MemberCorrelationDisplay

X, y = make_classification(1200, n_features=12, n_informative=6, flip_y=0.05, random_state=0)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
members = {
    "linear": LogisticRegression(),
    "boosting": GradientBoostingClassifier(n_estimators=50, random_state=0),
    "bayes": GaussianNB(),
    "forest": RandomForestClassifier(random_state=0),
    "neighbours": KNeighborsClassifier(),
    "extra-trees": ExtraTreesClassifier(random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=50),
}
MemberCorrelationDisplay.from_estimator({name: model.fit(X, y) for name, model in members.items()}, X_new, y_new)
