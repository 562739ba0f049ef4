"""Lambdas, listwise gradients and metrics of rankings equal their slow twins, whatever the threads and the order of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.reference import naive_ranking as naive
from woodwind.data.tables.queries import QueryRows, gains
from woodwind.losses.ranking import LambdaMART, ListwiseSoftmax, PairwiseLogistic
from woodwind.metrics.queries import QueryMetric

ROWS = 90


@pytest.fixture
def ranked():
    """Relevance, scores with ties and queries of one to eleven documents, interleaved."""
    rng = np.random.default_rng(5)
    number = rng.integers(0, 14, ROWS)
    relevance = rng.integers(0, 4, ROWS).astype(float)
    relevance[number == 3] = 0.0
    relevance[number == 4] = 2.0
    return relevance, np.round(rng.normal(size=ROWS), 1), number


def by_query(number):
    return [np.flatnonzero(number == one) for one in np.unique(number)]


@pytest.mark.parametrize("metric", ["ndcg", "map", "mrr"])
@pytest.mark.parametrize("truncation", [1, 3, 30])
@pytest.mark.parametrize("normalize", [False, True])
def test_lambdas_are_those_of_the_twin(ranked, metric, truncation, normalize):
    relevance, raw, number = ranked
    loss = LambdaMART(metric=metric, truncation=truncation, normalize=normalize)
    gradient, hessian = loss.bound(QueryRows.of(number), relevance).derivatives(relevance, raw)
    gain = gains(relevance, "exponential") if metric == "ndcg" else (relevance > 0).astype(float)
    for rows in by_query(number):
        expected = naive.lambdas(metric, raw[rows].tolist(), gain[rows].tolist(), truncation, normalize)
        assert_allclose(gradient[rows], expected[0], rtol=1e-12, atol=1e-14)
        assert_allclose(hessian[rows], expected[1], rtol=1e-12, atol=1e-14)


def test_lambdas_of_scores_that_are_very_far_apart_are_those_of_the_twin():
    scores, relevance = np.array([900.0, -900.0, 899.0, 0.0, 1.0]), np.array([0.0, 1.0, 3.0, 2.0, 0.0])
    gradient, hessian = LambdaMART(normalize=False).derivatives(relevance, scores)
    expected = naive.lambdas("ndcg", scores.tolist(), (2**relevance - 1).tolist(), 30)
    assert_allclose(gradient, expected[0], rtol=1e-12)
    assert_allclose(hessian, expected[1], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("loss", [LambdaMART(normalize=False), LambdaMART(metric="map"), PairwiseLogistic(), ListwiseSoftmax()])
def test_gradients_of_a_query_add_up_to_nothing(ranked, loss):
    relevance, raw, number = ranked
    gradient, hessian = loss.bound(QueryRows.of(number), relevance).derivatives(relevance, raw)
    sums = np.bincount(number, gradient)
    assert_allclose(sums, 0.0, atol=1e-14)
    assert (hessian >= 0).all()
    assert np.abs(gradient).max() > 0.01


@pytest.mark.parametrize(
    ("loss", "of_query"),
    [
        (PairwiseLogistic(), naive.pair_loss),
        (ListwiseSoftmax(), lambda raw, relevance: naive.softmax_loss(raw, (2**relevance - 0.5).tolist())),
        (ListwiseSoftmax(gamma=1.0, gain="linear"), lambda raw, relevance: naive.softmax_loss(raw, relevance.tolist())),
    ],
)
def test_gradients_are_slopes_of_the_loss_and_hessians_those_of_gradients(loss, of_query):
    rng = np.random.default_rng(1)
    relevance, raw = rng.integers(0, 4, 8).astype(float), rng.normal(size=8)
    assert_allclose(loss.value(relevance, raw), of_query(raw, relevance), rtol=1e-12)
    gradient, hessian = loss.derivatives(relevance, raw)
    step = 1e-5
    for i in range(8):
        up, down = raw + step * (np.arange(8) == i), raw - step * (np.arange(8) == i)
        slope = (of_query(up, relevance) - of_query(down, relevance)) / (2 * step)
        bend = (loss.derivatives(relevance, up)[0][i] - loss.derivatives(relevance, down)[0][i]) / (2 * step)
        assert_allclose(gradient[i], slope, rtol=1e-7, atol=1e-9)
        assert_allclose(hessian[i], bend, rtol=1e-7, atol=1e-9)


def test_lambdas_are_slopes_of_the_logistic_loss_of_pairs_whose_worth_is_held_fast():
    rng = np.random.default_rng(2)
    relevance, raw = rng.integers(0, 4, 7).astype(float), rng.normal(size=7)
    gain = (2**relevance - 1).tolist()
    order = naive.in_order(raw.tolist(), gain)
    ranked = [gain[i] for i in order]
    best = naive.dcg(sorted(gain, reverse=True))
    worth = {(order[i], order[j]): naive.change("ndcg", ranked, i, j, best) for i in range(7) for j in range(7) if ranked[i] > ranked[j]}

    def frozen(scores):
        return sum(w * np.log1p(np.exp(scores[low] - scores[high])) for (high, low), w in worth.items())

    gradient, _ = LambdaMART(normalize=False).derivatives(relevance, raw)
    for i in range(7):
        step = 1e-5 * (np.arange(7) == i)
        assert_allclose(gradient[i], (frozen(raw + step) - frozen(raw - step)) / 2e-5, rtol=1e-7, atol=1e-9)


def test_the_lambdas_of_five_documents_by_hand():
    """As docs/algorithms/learning-to-rank.md works them out; LightGBM gives the same leaf values."""
    gradient, hessian = LambdaMART(normalize=False).derivatives(np.array([3.0, 2, 1, 0, 0]), np.zeros(5))
    assert_allclose((-gradient / hessian)[2:], [-1.788092, -2.0, -2.0], atol=1e-6)
    assert_allclose(gradient.sum(), 0.0, atol=1e-15)


@pytest.mark.parametrize("loss", [LambdaMART(), LambdaMART(metric="mrr", normalize=True), PairwiseLogistic(), ListwiseSoftmax()])
def test_any_order_of_rows_and_any_number_of_threads_give_the_same_bits(loss):
    rng = np.random.default_rng(0)
    n = 20_000
    number, relevance = rng.integers(0, 700, n), rng.integers(0, 5, n).astype(float)
    raw = np.round(rng.normal(size=n), 1)
    gradient, hessian = loss.bound(QueryRows.of(number), relevance).derivatives(relevance, raw)
    again = loss.bound(QueryRows.of(number), relevance).derivatives(relevance, raw, None, 7)
    assert_array_equal(gradient, again[0])
    order = rng.permutation(n)
    new_names = rng.permutation(700)[number]
    moved = loss.bound(QueryRows.of(new_names[order]), relevance[order]).derivatives(relevance[order], raw[order])
    assert_array_equal(gradient[order], moved[0])
    assert_array_equal(hessian[order], moved[1])


@pytest.mark.parametrize("kind", ["ndcg", "map", "mrr"])
@pytest.mark.parametrize("cutoff", [None, 1, 2, 4])
def test_metrics_are_means_over_all_orders_of_equal_scores(kind, cutoff):
    rng = np.random.default_rng(3)
    for _ in range(12):
        n = int(rng.integers(1, 7))
        relevance, scores = rng.integers(0, 3, n).astype(float), rng.integers(0, 3, n).astype(float)
        gain = (2**relevance - 1).tolist()
        value = QueryMetric(kind, cutoff).value(relevance, scores, QueryRows.of(np.zeros(n, int)))
        assert_allclose(value, naive.expected(kind, scores.tolist(), gain, cutoff), rtol=1e-12, atol=1e-15)


def test_long_queries_are_sorted_like_short_ones():
    rng = np.random.default_rng(4)
    for n in (15, 16, 17, 31, 33, 64, 65, 500):
        scores, relevance = np.round(rng.normal(size=n), 1), rng.integers(0, 3, n).astype(float)
        gradient, _ = LambdaMART(truncation=5, normalize=True).derivatives(relevance, scores)
        expected = naive.lambdas("ndcg", scores.tolist(), (2**relevance - 1).tolist(), 5, True)[0]
        assert_allclose(gradient, expected, rtol=1e-10, atol=1e-13)
