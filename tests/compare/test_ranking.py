"""Rankings against LightGBM and scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import ndcg_score

from woodwind.data.tables.queries import QueryRows
from woodwind.losses.ranking import LambdaMART
from woodwind.metrics.queries import QueryMetric


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_ndcg_is_that_of_scikit_learn_with_equal_scores_and_without(k):
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(2, 30))
        relevance, scores = rng.integers(0, 4, n).astype(float), rng.integers(0, 6, n) / 3.0
        one = QueryRows.of(np.zeros(n))
        assert_allclose(QueryMetric("ndcg", k, "linear").value(relevance, scores, one), ndcg_score([relevance], [scores], k=k), atol=1e-12)


@pytest.mark.parametrize("norm", [False, True])
def test_leaf_values_of_documents_in_leaves_of_their_own_are_those_of_lightgbm(norm):
    """One round, a leaf for one document or few: -g / h. LightGBM looks sigmoids up in a table, so it is right to some five digits.

    Scores to start from are all different: of equal ones LightGBM takes the order of the rows.
    """
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(1)
    n = 12
    relevance, start = rng.integers(0, 4, n), rng.normal(size=n)
    data = lightgbm.Dataset(np.arange(n)[:, None].astype(float), relevance, group=[n], init_score=start)
    settings = {
        "objective": "lambdarank", "lambdarank_norm": norm, "num_leaves": n, "min_data_in_leaf": 1, "min_data_in_bin": 1, "verbose": -1,
        "min_sum_hessian_in_leaf": 0.0, "learning_rate": 1.0, "lambda_l2": 0.0, "feature_pre_filter": False, "num_threads": 1,
    }  # fmt: skip
    theirs = lightgbm.train(settings, data, 1).predict(np.arange(n)[:, None].astype(float))
    gradient, hessian = LambdaMART(normalize=norm).derivatives(relevance.astype(float), start)
    values, leaf = np.unique(theirs, return_inverse=True)
    assert len(values) >= n // 2  # documents that LightGBM leaves together are where no split gains anything
    assert_allclose(values, -np.bincount(leaf, gradient) / np.bincount(leaf, hessian), rtol=1e-4)
