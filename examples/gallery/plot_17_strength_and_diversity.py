"""
Strength and diversity of members
=================================

A member is worth having if it is good, or if it differs from the others: the upper right is where one wants to be.
"""

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from woodwind import DecisionTreeClassifier, GradientBoostingClassifier, RandomForestClassifier
from woodwind.plots import StrengthDiversityDisplay

X, y = make_classification(1200, n_features=12, n_informative=6, flip_y=0.05, random_state=1)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
members = {
    "linear": LogisticRegression(),
    "boosting": GradientBoostingClassifier(n_estimators=50, random_state=0),
    "bayes": GaussianNB(),
    "forest": RandomForestClassifier(random_state=0),
    "neighbours": KNeighborsClassifier(),
    "tree": DecisionTreeClassifier(max_depth=5),
}
StrengthDiversityDisplay.from_estimator({name: model.fit(X, y) for name, model in members.items()}, X_new, y_new)
