"""Some trees of a forest."""

import numpy as np
import pandas as pd
import pytest

from woodwind import RandomForestClassifier, RandomForestRegressor
from woodwind.tree.compact_forest_parts import importance_share, predicted_by_trees, trees_of


def table(n=300, seed=0):
    """Numbers with gaps, and a category."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "wood": rng.choice(["oak", "elm", "ash", "fig"], n)})
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    y = np.where(frame["wood"].isin(["oak", "fig"]), frame["b"], frame["a"].fillna(1.0)) + 0.3 * rng.normal(size=n)
    return frame, y.to_numpy() if hasattr(y, "to_numpy") else y


def forests():
    X, y = table()
    labels = np.digitize(y, [-0.5, 0.5])
    yield RandomForestClassifier(n_estimators=7, random_state=0, min_samples_leaf=3).fit(X, labels)
    yield RandomForestClassifier(n_estimators=7, random_state=0, criterion="entropy", voting="hard").fit(X, labels)
    yield RandomForestRegressor(n_estimators=7, random_state=0).fit(X, y)


@pytest.mark.filterwarnings("ignore::woodwind.WoodwindWarning")
def test_each_tree_says_what_its_estimator_says():
    new = table(seed=1)[0]
    new.loc[:20, "wood"] = "yew"  # a category that training never saw: walks stop
    for forest in forests():
        predicted = predicted_by_trees(forest.compact_forest_, forest._read(new), 2)
        for position, tree in enumerate(forest.estimators_):
            wanted = tree.predict_proba(new) if forest.compact_forest_.n_classes else tree.predict(new)[:, None]
            np.testing.assert_allclose(predicted[:, position], wanted, rtol=0, atol=1e-12)


def test_some_trees_say_what_they_said():
    new = table(seed=1)[0]
    for forest in forests():
        predicted = predicted_by_trees(forest.compact_forest_, forest._read(new))
        chosen = [5, 0, 5, 3]
        part = trees_of(forest.compact_forest_, chosen)
        assert part.n_trees == 4
        assert np.array_equal(predicted_by_trees(part, forest._read(new)), predicted[:, chosen])
        np.testing.assert_allclose(part.mean(forest._read(new)), predicted[:, chosen].mean(axis=1), rtol=0, atol=1e-12)
        assert trees_of(forest.compact_forest_, [0]).nbytes < 0.4 * forest.compact_forest_.nbytes


def test_all_trees_are_the_forest_itself():
    for forest in forests():
        criterion = getattr(forest, "criterion", "gini")
        part = trees_of(forest.compact_forest_, range(7), criterion)
        assert part.forest().digest() == forest.compact_forest_.forest().digest()
        assert part.importance == pytest.approx(forest.compact_forest_.importance, abs=1e-9)
        assert sum(importance_share(tree, criterion) for tree in forest.compact_forest_.separate()) == pytest.approx(part.importance)
