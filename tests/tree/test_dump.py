"""Trees as a table and as JSON say what the trees predict, and importance is that of other libraries."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from woodwind import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    RandomForestClassifier,
)


def table(n=400, seed=0):
    """Numbers with missing values and infinities, and categories."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "colour": rng.choice(["red", "green", "blue"], n)})
    X.loc[rng.random(n) < 0.1, "a"] = np.nan
    X.loc[rng.random(n) < 0.05, "b"] = np.inf
    y = np.where(X["colour"] == "red", 1.0, -1.0) + X["a"].fillna(2.0) + rng.normal(size=n)
    return X, y.to_numpy()


def walk(whole, row):
    """A reader of the JSON that knows nothing of the library."""
    score = np.array(whole["start"])
    for tree in whole["trees"]:
        node = tree["nodes"][0]
        while "feature" in node:
            x = row[whole["feature_names"][node["feature"]]]
            if x is None or (isinstance(x, float) and math.isnan(x)):
                way = node["missing"]
            elif "threshold" in node:
                way = "left" if x <= float(node["threshold"]) else "right"
            else:
                way = "left" if x in node["left_categories"] else "right" if x in node["right_categories"] else "stop"
            if way == "stop":
                break
            node = tree["nodes"][node[way]]
        score[slice(None) if tree["output"] is None else tree["output"]] += node["value"] if tree["output"] is None else node["value"][0]
    return score


def models():
    X, y = table()
    classes = np.digitize(y, [-1.0, 1.0])
    few = {"n_estimators": 4, "early_stopping": False, "random_state": 0}
    return {
        "regression": (GradientBoostingRegressor(**few).fit(X, y), lambda model, X: model.predict(X)),
        "vector": (GradientBoostingClassifier(**few).fit(X, classes), lambda model, X: model.decision_function(X)),
        "one for each class": (
            GradientBoostingClassifier(multiclass="one_per_class", **few).fit(X, classes),
            lambda model, X: model.decision_function(X),
        ),
        "forest": (
            RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0).fit(X, classes),
            lambda model, X: model.predict_proba(X),
        ),
        "extra-trees": (ExtraTreesRegressor(n_estimators=3, max_depth=5, random_state=0).fit(X, y), lambda model, X: model.predict(X)),
        "tree": (DecisionTreeClassifier(max_depth=4).fit(X, classes), lambda model, X: model.predict_proba(X)),
    }


@pytest.fixture(scope="module")
def fitted():
    return models()


NAMES = ["regression", "vector", "one for each class", "forest", "extra-trees", "tree"]


@pytest.mark.filterwarnings("ignore::woodwind.base.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("name", NAMES)
def test_json_says_what_the_model_predicts(name, fitted):
    model, predict = fitted[name]
    X, _ = table(60, seed=1)
    X.loc[3, "colour"] = "violet"
    X.loc[4, "colour"] = None
    whole = json.loads(model.trees_to_json())
    rows = [dict(zip(X.columns, values, strict=True)) for values in X.itertuples(index=False)]
    expected = predict(model, X).reshape(len(X), -1)
    np.testing.assert_allclose(np.array([walk(whole, row) for row in rows]), expected, rtol=0, atol=1e-12)
    assert json.loads(model.trees_to_json(indent=2)) == whole


@pytest.mark.parametrize("name", NAMES)
def test_a_data_frame_has_a_row_for_each_node(name, fitted):
    model, _ = fitted[name]
    frame, forest = model.trees_to_dataframe(), model.forest_
    assert len(frame) == forest.n_nodes
    assert frame["tree_index"].nunique() == forest.n_trees
    split = frame["left_child"] >= 0
    np.testing.assert_array_equal(frame["split_feature"].notna(), split)
    by_node = frame.set_index(["tree_index", "node_index"])
    for (tree, node), row in by_node[by_node["left_child"] >= 0].iterrows():
        for child in (row["left_child"], row["right_child"]):
            below = by_node.loc[(tree, child)]
            assert (below["parent_index"], below["node_depth"]) == (node, row["node_depth"] + 1)
    gains = frame[split].groupby("split_feature")["split_gain"].sum().reindex(model.feature_names_in_).fillna(0.0)
    np.testing.assert_allclose(model.feature_importance("gain"), gains)
    np.testing.assert_allclose(model.feature_importance("cover"), frame[split].groupby("split_feature")["cover"].sum().reindex(gains.index))


def test_a_frame_is_of_the_library_that_was_asked_for(fitted):
    model, _ = fitted["vector"]
    assert model.trees_to_dataframe("polars")["value_2"].to_list() == model.trees_to_dataframe()["value_2"].to_list()
    assert model.trees_to_dataframe("pyarrow").num_rows == model.forest_.n_nodes
    with pytest.raises(ParameterError, match="backend must be one of 'pandas', 'polars', 'pyarrow', but it is 'spark'"):
        model.trees_to_dataframe("spark")


def test_importance_is_a_sum_a_number_or_a_mean(fitted):
    model, _ = fitted["regression"]
    gain, split, cover = (model.feature_importance(kind) for kind in ("gain", "split", "cover"))
    np.testing.assert_allclose(gain / gain.sum(), model.feature_importances_)
    np.testing.assert_array_equal(model.feature_importance("mean_gain"), gain / split)
    np.testing.assert_array_equal(model.feature_importance("mean_cover"), cover / split)
    for theirs, ours in (("weight", split), ("total_gain", gain), ("total_cover", cover)):
        np.testing.assert_array_equal(model.feature_importance(theirs), ours)
    with pytest.raises(ParameterError, match=r"importance_type must be one of 'gain', 'split'.*but it is 'frequency'"):
        model.feature_importance("frequency")


def test_a_column_that_no_tree_uses_has_no_importance():
    X = np.column_stack([np.arange(50.0), np.zeros(50)])
    model = GradientBoostingRegressor(n_estimators=2, early_stopping=False).fit(X, X[:, 0])
    for kind in ("gain", "split", "cover", "mean_gain", "mean_cover"):
        assert model.feature_importance(kind)[1] == 0.0
