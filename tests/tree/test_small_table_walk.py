"""A walk node by node ends where the forest says."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from woodwind import DecisionTreeRegressor
from woodwind.tree import small_table_walk
from woodwind.tree.small_table_walk import SmallTableWalk


def frame(n, seed, categories):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n).astype(np.float32), "c": rng.choice(categories, n)})
    table.loc[rng.random(n) < 0.2, "a"] = np.nan
    table.loc[rng.random(n) < 0.2, "c"] = None
    table["few"] = rng.integers(0, 3, n)
    return table, rng


@pytest.mark.filterwarnings("ignore::woodwind.WoodwindWarning")
@pytest.mark.parametrize("n_categories", [3, 100])
@pytest.mark.parametrize("max_bins", [None, 16])
def test_rows_end_where_the_forest_says_also_new_levels_and_missing_values(n_categories, max_bins):
    categories = [f"level {k}" for k in range(n_categories)]
    table, rng = frame(300, 0, categories)
    y = rng.normal(size=300) + table["a"].fillna(1.0) + table["c"].map({level: k % 7 for k, level in enumerate(categories)}).fillna(0)
    model = DecisionTreeRegressor(max_depth=5, max_bins=max_bins).fit(table, y)
    other, _ = frame(400, 1, [*categories, "new"])
    other.loc[::5, "few"] = np.nan
    for given in (table, other):
        read = model.schema_.read(given)
        assert_array_equal(SmallTableWalk(read).leaves(model.forest_), model.forest_.leaves(read)[:, 0])


def test_many_rows_are_left_to_the_compiled_walk(monkeypatch):
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    few = SmallTableWalk(model.schema_.read(X)).leaves(model.forest_)
    monkeypatch.setattr(small_table_walk, "FEW_ROWS", 10)
    assert_array_equal(SmallTableWalk(model.schema_.read(X)).leaves(model.forest_), few)
