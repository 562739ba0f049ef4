"""The kernels of regions against their slow twins."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference import naive_regions
from woodwind.kernels.neighbours.regions import add_votes, count_hits, count_votes, meta_odds, unbroken_hits

EDGES = np.linspace(0.1, 1.0, 10)


@pytest.mark.parametrize(("n_members", "k"), [(1, 1), (5, 7), (70, 3)])
@pytest.mark.parametrize("name", ["count_hits", "unbroken_hits"])
def test_counts_of_hits_are_those_of_the_twin(name, n_members, k):
    rng = np.random.default_rng(k)
    hits, rows = (rng.uniform(size=(20, n_members)) < 0.7).astype(np.uint8), rng.integers(0, 20, (9, k))
    out = np.full((9, n_members), np.nan)
    {"count_hits": count_hits, "unbroken_hits": unbroken_hits}[name](hits, rows, out)
    assert_array_equal(out, getattr(naive_regions, name)(hits, rows))


@pytest.mark.parametrize("kind", [np.int16, np.int64])
@pytest.mark.parametrize(("n_members", "n_classes"), [(1, 2), (70, 2), (20, 3), (20, 4), (9, 5)])
def test_votes_are_counted_as_by_the_twin(n_members, n_classes, kind):
    rng = np.random.default_rng(n_members)
    votes, weights = rng.integers(0, n_classes, (12, n_members)).astype(kind), rng.normal(size=(12, n_members))
    out = np.full((12, n_classes), np.nan)
    add_votes(votes, weights, out)
    assert_array_equal(out, naive_regions.add_votes(votes, weights, n_classes))
    for count in (count_votes, add_votes):
        out[:] = np.nan
        count(votes, weights > 0.0, out)
        assert_array_equal(out, naive_regions.add_votes(votes, weights > 0.0, n_classes))


@pytest.mark.parametrize(("n_classes", "k", "p"), [(2, 7, 5), (4, 3, 1)])
def test_odds_are_those_of_the_twin(n_classes, k, p):
    rng = np.random.default_rng(k)
    hits, steps = rng.uniform(size=(15, 6)) < 0.6, rng.integers(0, 11, (15, 6)).astype(np.uint8)
    near, like = rng.integers(0, 15, (12, k)), rng.integers(0, 15, (12, p))
    shares = rng.dirichlet(np.full(n_classes, 0.3), (12, 6))
    shares[:10, 0, 0], shares[:10, 0, 1:] = EDGES, 0.0  # on the edges themselves
    weights = {"constant": 0.3, "accuracy": -0.7, "sure": 0.2}
    weights |= {"hit": rng.normal(size=k), "share": rng.normal(size=k), "similar": rng.normal(size=p)}
    places = np.zeros((k + p, 2))
    places[:, 0], places[:k, 1] = np.concatenate([weights["hit"], weights["similar"]]), weights["share"]
    accuracy = weights["constant"] + weights["accuracy"] * np.digitize(np.arange(k + 1) / k, EDGES)
    sure = np.stack([np.append(EDGES, np.inf), weights["sure"] * np.arange(11)])
    out = np.full((12, 6), np.nan)
    meta_odds(hits.astype(np.uint8) * 16 + steps, near, like, shares, places, accuracy, sure, out)
    assert out == pytest.approx(naive_regions.meta_odds(hits, steps, near, like, shares, weights | {"edges": EDGES}), rel=1e-12)
