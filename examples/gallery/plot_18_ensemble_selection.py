"""
Ensemble selection: fewer trees, as good
========================================

From two hundred trees members are added one by one, each the one that helps most on rows that the trees have not seen. The lowest
point is reached early.
"""

from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from woodwind import EnsembleSelectionClassifier, RandomForestClassifier
from woodwind.plots import EnsembleSizeDisplay

X, y = make_classification(1500, n_features=15, n_informative=6, flip_y=0.1, random_state=0)
X, X_choose, y, y_choose = train_test_split(X, y, random_state=0)
forest = RandomForestClassifier(n_estimators=200, max_depth=6, random_state=0).fit(X, y)
pruned = EnsembleSelectionClassifier(forest).fit(X_choose, y_choose)
print(f"{len(pruned.selected_)} of 200 trees are kept")
EnsembleSizeDisplay({"rows of the choice": -pruned.path_}, error_name="Log loss").plot()
