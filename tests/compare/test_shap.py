"""Shapley values against those of the shap package, on the very same trees."""

import numpy as np
import pytest

from reference.forests import random_forest
from woodwind.tree.shap import explain

shap = pytest.importorskip("shap")


def as_shap(forest):
    """The trees as shap takes them; it knows thresholds alone, and sends what is missing to the left."""
    trees = []
    for begin, end in zip(forest.roots[:-1], forest.roots[1:], strict=True):
        left = np.where(forest.feature[begin:end] >= 0, forest.child[begin:end], -1).astype(np.int32)
        trees.append({
            "children_left": left, "children_right": np.where(left >= 0, left + 1, -1).astype(np.int32), "children_default": left,
            "features": forest.feature[begin:end], "thresholds": forest.threshold[begin:end], "values": forest.value[begin:end],
            "node_sample_weight": forest.cover[begin:end],
        })  # fmt: skip
    return {"trees": trees}


@pytest.mark.parametrize("max_leaves", [2, 8, 60])
@pytest.mark.parametrize("seed", range(5))
def test_values_and_base_are_those_of_shap(seed, max_leaves):
    forest = random_forest(seed, (0,) * 6, 12, max_leaves, wide=True)
    rows = np.random.default_rng(seed).normal(size=(50, 6))
    explainer = shap.TreeExplainer(as_shap(forest))
    values, base = explain(forest, rows)
    theirs = np.asarray(explainer.shap_values(rows, check_additivity=False)).reshape(50, 6)
    np.testing.assert_allclose(values[:, :, 0], theirs, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(base - forest.start, np.ravel(explainer.expected_value), rtol=0.0, atol=1e-12)
