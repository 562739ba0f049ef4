"""Explanations and trees for the shap library: the same values."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import woodwind as ww
from reference.exported_models import random_case
from woodwind.base.errors import NotExportableError, ParameterError
from woodwind.estimators.export import shap_trees

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.normal(size=200), "b": RNG.normal(size=200).round(1), "c": RNG.choice(["ash", "elm", "fir", "yew"], 200)})
NEW = pd.DataFrame({"a": [0.5, np.nan, -1.0, 3.0], "b": [0.0, 1.0, np.nan, -2.0], "c": ["elm", "oak", None, "ash"]})
NUMBERS = np.nan_to_num(TABLE["a"]) * TABLE["b"] + (TABLE["c"] == "elm") * 1.5


def models() -> list[Any]:
    three = np.digitize(NUMBERS, [-0.5, 0.5])
    return [
        ww.DecisionTreeRegressor(max_depth=4).fit(TABLE, NUMBERS),
        ww.GradientBoostingRegressor(n_estimators=10, max_leaf_nodes=6, early_stopping=False, random_state=0).fit(TABLE, NUMBERS),
        ww.GradientBoostingClassifier(n_estimators=5, max_leaf_nodes=4, early_stopping=False, random_state=0).fit(TABLE, three),
        ww.RandomForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(TABLE, three),
        ww.AdaBoostClassifier(n_estimators=6, max_depth=2).fit(TABLE, NUMBERS > 0),
        ww.AdaBoostClassifier(n_estimators=4, max_depth=2, algorithm="mh").fit(TABLE, NUMBERS > 0),
    ]


@pytest.mark.parametrize("position", range(6))
def test_shap_explains_our_trees_as_we_do(position: int) -> None:
    shap = pytest.importorskip("shap")
    model = models()[position]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = model.explain(NEW)
        explainer = shap.TreeExplainer(model.to_shap())
        theirs = np.asarray(explainer.shap_values(model.shap_features(NEW), check_additivity=False))
        together = np.asarray(explainer.shap_interaction_values(model.shap_features(NEW)))
        own = model.shap_interaction_values(NEW)
    np.testing.assert_allclose(theirs.reshape(ours.values.shape), ours.values, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(np.ravel(explainer.expected_value), ours.base, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(together.reshape(own.shape), own, rtol=0.0, atol=1e-6)


def test_an_explanation_for_the_pictures_of_shap() -> None:
    shap = pytest.importorskip("shap")
    numbers, classes = models()[1], models()[2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, several = numbers.explain(NEW), classes.explain(NEW)
    made = ours.to_shap()
    assert isinstance(made, shap.Explanation)
    assert made.shape == (4, 3)
    assert made.feature_names == ["a", "b", "c"]
    assert np.array_equal(made.values, ours.values[:, :, 0])
    assert np.array_equal(made.base_values, np.full(4, ours.base[0]))
    assert made.display_data[1].tolist() == ["missing", "1", "a category never seen"]
    assert made.data[0, 0] == 0.5
    assert several.to_shap().shape == (4, 3, 3)


@pytest.mark.parametrize("seed", [2, 11, 17])
def test_interactions_of_random_models_add_up(seed: int) -> None:
    model, table = random_case(seed, 20)
    model = model if hasattr(model, "shap_interaction_values") else models()[3]
    table = table if hasattr(table, "columns") and list(table) == list(getattr(model, "feature_names_in_", ())) else NEW
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, values = model.shap_interaction_values(table), model.explain(table).values
    except ParameterError:  # what explain refuses
        return
    found = found.reshape(*found.shape[:3], -1)
    assert np.array_equal(found, found.transpose(0, 2, 1, 3))
    np.testing.assert_allclose(found.sum(axis=2), values, rtol=0.0, atol=1e-9)


def test_trees_in_the_format_of_shap_walk_as_ours_do() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models():
            made, rows = model.to_shap(), model.shap_features(NEW)
            total = np.zeros((len(rows), np.size(made["base_offset"]))) + made["base_offset"]
            for tree in made["trees"]:
                for number, row in enumerate(rows):
                    node = 0
                    while tree["children_left"][node] >= 0:
                        value = row[tree["features"][node]]
                        way = "default" if np.isnan(value) else "left" if value <= tree["thresholds"][node] else "right"
                        node = tree[f"children_{way}"][node]
                    total[number] += tree["values"][node]
            np.testing.assert_allclose(total, model.explain(NEW).scores, rtol=0.0, atol=1e-12)


def test_trees_that_would_become_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shap_trees, "MOST_NODES", 10)
    with pytest.raises(NotExportableError, match=r"Use explain\(\)"):
        models()[0].to_shap()
    linear = ww.GradientBoostingRegressor(n_estimators=3, linear_leaves=True, random_state=0).fit(TABLE[["a", "b"]], NUMBERS)
    with pytest.raises(NotExportableError, match="linear_leaves=False"):
        linear.to_shap()
