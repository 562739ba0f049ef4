"""Predictions of a CompactForest: rows that walk, rows that are parted together, and the slow twin."""

import numpy as np
import pytest

from reference.naive_forest import end_of
from woodwind import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from woodwind.base.errors import UnseenCategoryWarning
from woodwind.tree import compact_forest as rooms


def table(n, seed):
    """Numbers, some of them missing, a category with missing and rare categories, a column without either."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    number = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    letters = rng.choice(list("abcdefgh"), n, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.04, 0.01])
    level = pd.Series(letters, dtype="object").where(rng.random(n) > 0.05)
    return pd.DataFrame({"number": number, "level": level, "whole": rng.normal(size=n), "few": rng.integers(0, 4, n)})


def fitted(kind, classes):
    X = table(400, 0)
    score = np.nan_to_num(X["number"]) + X["level"].isin(["a", "c"]) + X["few"]
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)) if classes else score
    return kind(n_estimators=7, random_state=1).fit(X, y)


CASES = [(RandomForestClassifier, 2), (RandomForestClassifier, 4), (RandomForestRegressor, 0), (ExtraTreesRegressor, 0)]


@pytest.mark.compiled
@pytest.mark.parametrize(("kind", "classes"), CASES)
def test_walking_and_parting_give_the_bits_of_each_other_and_end_where_the_twin_does(kind, classes, monkeypatch):
    model = fitted(kind, classes)
    new = table(900, 5)
    new.loc[::50, "level"] = "never seen"
    with pytest.warns(UnseenCategoryWarning):
        read = model._read(new)
    compact_forest = model.compact_forest_
    together = compact_forest.total(read, 2)
    monkeypatch.setattr(rooms, "MANY_ROWS", 10**9)
    np.testing.assert_array_equal(together, compact_forest.total(read, 1))
    x = rooms.rows_of(read, len(compact_forest.n_categories))[1](0, 60)
    _, block = next(iter(x))
    wanted = np.zeros((len(block), compact_forest.n_outputs))
    values, stops = compact_forest.leaf_values(), compact_forest.stops()
    for tree in range(compact_forest.n_trees):
        for i, row in enumerate(block.tolist()):
            is_leaf, position = end_of(compact_forest, tree, row)
            wanted[i] += values[position] if is_leaf else stops[position]
    np.testing.assert_allclose(together[: len(block)], wanted, rtol=1e-12, atol=1e-12)
