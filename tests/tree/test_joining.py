"""Forests side by side."""

import numpy as np
import pandas as pd
import pytest

from woodwind import DecisionTreeClassifier, DecisionTreeRegressor
from woodwind.base.errors import DataError
from woodwind.tree.forest import joined, on_features, tree_of


def forests(count=4):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "wood": rng.choice(list("abcd"), 80), "z": rng.normal(size=80)})
    made = []
    for _ in range(count):
        tree = DecisionTreeRegressor(max_depth=4).fit(frame, rng.normal(size=80) + (frame["wood"] == "b"))
        made.append(tree.forest_)
    return made, tree.schema_.read(frame)


def test_many_are_one_after_the_other():
    made, table = forests()
    together = joined(made).check()
    pairwise = made[0].join(made[1]).join(made[2]).join(made[3])
    assert together.digest() == pairwise.digest()
    assert np.array_equal(together.raw(table), sum(forest.raw(table) for forest in made))


def test_a_tree_is_taken_out_again_without_a_copy():
    made, table = forests()
    together = joined(made)
    for number, forest in enumerate(made):
        one = tree_of(together, number).check()
        assert np.array_equal(one.raw(table), forest.raw(table))
        assert np.shares_memory(one.value, together.value)
        assert np.shares_memory(one.threshold, together.threshold)


def test_forests_of_other_outputs_do_not_join():
    made, _ = forests(2)
    classes = DecisionTreeClassifier().fit(np.arange(6.0).reshape(-1, 3), ["a", "b"])
    with pytest.raises(DataError, match="joined"):
        joined([made[0], classes.forest_])


def test_features_are_counted_anew():
    X = np.random.default_rng(1).normal(size=(60, 5))
    forest = DecisionTreeRegressor(max_depth=3).fit(X[:, [1, 4]], X[:, 1] + X[:, 4]).forest_
    wide = DecisionTreeRegressor(max_depth=3).fit(X * [0, 1, 0, 0, 1], X[:, 1] + X[:, 4]).forest_
    assert on_features(wide, np.array([1, 4])).check().digest() == forest.digest()
