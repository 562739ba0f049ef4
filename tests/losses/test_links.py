"""Links between scores and means."""

import math

import numpy as np
import pytest

from woodwind.losses.links import Identity, Log, Logit, Softmax, log_of


def test_identity_gives_what_it_gets():
    values = np.array([1.0, -2.0])
    assert Identity().to_mean(values) is values
    assert Identity().to_score(values) is values


def test_log_link_is_the_exponential():
    score = np.linspace(-5, 5, 11)
    np.testing.assert_allclose(Log().to_mean(score), np.exp(score), rtol=1e-15)
    np.testing.assert_allclose(Log().to_score(np.exp(score)), score, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_logit_link_has_a_factor(factor):
    score = np.linspace(-5, 5, 11)
    np.testing.assert_allclose(Logit(factor).to_mean(score), 1 / (1 + np.exp(-factor * score)), rtol=1e-14)


def test_means_without_a_finite_score_saturate():
    assert np.isfinite(Log().to_score(np.array([0.0, math.inf]))).all()
    assert np.isfinite(Logit().to_score(np.array([0.0, 1.0]))).all()
    assert np.isfinite(Softmax().to_score(np.array([[0.0, 1.0]]))).all()


def test_scores_of_softmax_are_centred():
    share = np.random.default_rng(0).dirichlet(np.ones(4), size=10)
    score = Softmax().to_score(share)
    np.testing.assert_allclose(score.sum(axis=1), 0, atol=1e-13)
    np.testing.assert_allclose(Softmax().to_mean(score + 3.0), share, rtol=1e-13)


def test_shapes_are_kept():
    for shape in ((), (3,), (3, 1), (2, 5)):
        values = np.full(shape, 0.3)
        assert log_of(values).shape == shape
        assert Log().to_mean(values).shape == Logit().to_mean(values).shape == shape
