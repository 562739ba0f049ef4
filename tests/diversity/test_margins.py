"""Margins: the table of the slides, two and more classes, distributions, bounds, and how boosting widens them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer

from woodwind import AdaBoostClassifier, DataError, ParameterError
from woodwind.base.errors import WeightError
from woodwind.diversity import (
    adaboost_bound,
    adaboost_margin_bound,
    edges,
    hit_margins,
    hits_of,
    margin_bound,
    margin_distribution,
    probability_margins,
    vote_margins,
)

# Lessmann's slides, "Ensemble margin": the class, what four base models say, and the margin.
SLIDE = [
    (0, [0, 1, 0, 0], 0.5),
    (0, [1, 0, 0, 1], 0.0),
    (0, [0, 0, 0, 1], 0.5),
    (1, [1, 1, 1, 0], 0.5),
    (1, [0, 0, 1, 0], -0.5),
    (1, [1, 1, 1, 1], 1.0),
]


def pool(seed, n=60, m=5, n_classes=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    return truth, np.where(rng.random((n, m)) < 0.7, truth[:, None], rng.integers(0, n_classes, (n, m))), rng


def test_the_table_of_margins_of_the_slides():
    truth, labels, margins = (np.array(column) for column in zip(*SLIDE, strict=True))
    weights = [0.25] * 4
    assert hit_margins(hits_of(truth, labels), weights).tolist() == margins.tolist()
    assert vote_margins(truth, labels, weights).tolist() == margins.tolist()
    assert probability_margins(truth, np.eye(2)[labels], weights).tolist() == margins.tolist()
    assert margin_distribution(margins).mean == pytest.approx(1 / 3)


def slow_vote_margins(truth, labels, weights):
    out = []
    for true, row in zip(truth, labels, strict=True):
        total = {}
        for label, weight in zip(row, weights, strict=True):
            total[label] = total.get(label, 0.0) + weight / sum(weights)
        own = total.pop(true, 0.0)
        out.append(own - max(total.values(), default=0.0))
    return out


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_margins_are_the_true_class_less_the_best_other(n_classes):
    truth, labels, rng = pool(n_classes, n_classes=n_classes)
    weights = rng.random(5)
    assert vote_margins(truth, labels, weights) == pytest.approx(slow_vote_margins(truth, labels, weights), abs=1e-12)
    hits = hit_margins(hits_of(truth, labels), weights)
    if n_classes == 2:
        assert hits == pytest.approx(vote_margins(truth, labels, weights), abs=1e-12)
    else:
        assert (hits <= vote_margins(truth, labels, weights) + 1e-12).all()


def test_weights_may_differ_by_row():
    truth, labels, rng = pool(0)
    weights = rng.integers(0, 3, (60, 5)) + np.eye(5, dtype=int)[rng.integers(0, 5, 60)]
    each = [vote_margins(truth[[i]], labels[[i]], weights[i])[0] for i in range(60)]
    assert vote_margins(truth, labels, weights) == pytest.approx(each, abs=1e-12)
    assert probability_margins(truth, np.eye(3)[labels], weights) == pytest.approx(each, abs=1e-12)
    hits = hits_of(truth, labels)
    assert hit_margins(hits, weights) == pytest.approx([hit_margins(hits[[i]], weights[i])[0] for i in range(60)], abs=1e-12)
    with pytest.raises(WeightError, match="in each row some member must have one above zero"):
        vote_margins(truth, labels, np.zeros((60, 5)))
    with pytest.raises(WeightError, match=r"weights must be \(5,\), or \(60, 5\)"):
        vote_margins(truth, labels, np.ones((5, 60)))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_the_mean_margin_of_two_classes_is_one_less_twice_the_mean_error(n, m, seed):
    truth, labels, _ = pool(seed, n, m, 2)
    margins = vote_margins(truth, labels)
    assert margins.mean() == pytest.approx(1 - 2 * np.mean(labels != truth[:, None]), abs=1e-12)
    assert ((margins >= -1) & (margins <= 1)).all()
    assert edges(hits_of(truth, labels)) == pytest.approx(0.5 - np.mean(labels != truth[:, None], axis=0), abs=1e-12)


def test_margins_of_probabilities():
    probabilities = np.array([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]])
    assert probability_margins([0, 2], probabilities) == pytest.approx([0.3 - 0.55, 0.0])
    assert probability_margins([0, 2], probabilities, [3, 1]) == pytest.approx([0.4 - 0.425, -0.5])
    assert probability_margins(["x", "z"], probabilities.mean(axis=1), classes=["x", "y", "z"]) == pytest.approx([-0.25, 0.0])
    with pytest.raises(DataError, match=r"probability_margins: truth has .*'w'.* in row 1, which is none of the classes \['x', 'y', 'z'\]"):
        probability_margins(["x", "w"], probabilities, classes=["x", "y", "z"])
    with pytest.raises(ParameterError, match="probability_margins: weights are for members"):
        probability_margins([0, 2], probabilities.mean(axis=1), [1, 1])
    with pytest.raises(WeightError, match="weights must be finite, none negative"):
        probability_margins([0, 2], probabilities, [1, -1])


def test_a_distribution_counts_rows():
    _, _, rng = pool(0)
    margins, times = rng.integers(-3, 4, 40) / 3, rng.integers(0, 3, 40)
    found, repeated = margin_distribution(margins, sample_weight=times), np.repeat(margins, times)
    for theta in (-1.1, -1.0, -0.5, 0.0, 1 / 3, 0.9, 1.0, 2.0):
        assert found.share_below(theta) == pytest.approx(np.mean(repeated <= theta), abs=1e-12)
    assert found.share_below([0.0, 1.0]) == pytest.approx([np.mean(repeated <= 0), 1.0])
    assert found.mean == pytest.approx(repeated.mean())
    assert found.variance == pytest.approx(repeated.var())
    assert found.smallest == repeated.min()
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        expected = np.quantile(repeated, share, method="inverted_cdf")
        assert found.quantile(share) == expected
    with pytest.raises(ParameterError, match="share must be from 0 to 1"):
        found.quantile(1.5)


def test_the_bound_of_margins_is_the_best_of_its_formula():
    margins = np.linspace(-0.2, 1.0, 100_000)
    found = margin_bound(margins, 0.5, 100, delta=0.01)
    n = len(margins)
    every = [2 * np.exp(-N * 0.25 / 8) + np.sqrt((np.log(N * (N + 1) ** 2 / 0.01) + N * np.log(100)) / (2 * n)) for N in range(1, 2000)]
    assert found.complexity == pytest.approx(min(every), abs=1e-12)
    assert found.averaged == 1 + int(np.argmin(every))
    assert found.share == np.mean(margins <= 0.5)
    assert found.bound == found.share + found.complexity
    # More rows, larger margins and fewer hypotheses promise more.
    assert margin_bound(margins[::10], 0.5, 100).complexity > margin_bound(margins, 0.5, 100).complexity
    assert margin_bound(margins, 0.3, 100).complexity > margin_bound(margins, 0.5, 100).complexity
    assert margin_bound(margins, 0.5, 1000).complexity > margin_bound(margins, 0.5, 100).complexity
    for wrong in ({"theta": 0.0}, {"n_hypotheses": 0}, {"delta": 1.0}):
        with pytest.raises(ParameterError, match=f"margin_bound: {next(iter(wrong))}"):
            margin_bound(margins, **({"theta": 0.5, "n_hypotheses": 10} | wrong))


def test_the_largest_smallest_margin_is_the_smallest_largest_edge():
    """Von Neumann's theorem, by linear programming: members maximise the smallest margin, rows minimise the largest edge."""
    hits = np.random.default_rng(3).random((8, 5)) < 0.6
    A = np.where(hits, 1.0, -1.0)
    n, m = A.shape
    bounds, free = [(0, None)], [(None, None)]
    members = linprog(np.r_[np.zeros(m), -1], np.c_[-A, np.ones(n)], np.zeros(n), np.r_[np.ones(m), 0][None], [1], bounds * m + free)
    rows = linprog(np.r_[np.zeros(n), 1], np.c_[A.T, -np.ones(m)], np.zeros(m), np.r_[np.ones(n), 0][None], [1], bounds * n + free)
    largest_margin = hit_margins(hits, np.maximum(members.x[:m], 0)).min()
    smallest_edge = 2.0 * edges(hits, sample_weight=np.maximum(rows.x[:n], 0)).max()
    assert largest_margin == pytest.approx(-members.fun, abs=1e-9)
    assert smallest_edge == pytest.approx(rows.fun, abs=1e-9)
    assert largest_margin == pytest.approx(smallest_edge, abs=1e-9)


def test_boosting_widens_the_smallest_margin_and_keeps_its_bounds():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::3, :6], y[::3]
    model = AdaBoostClassifier(n_estimators=150, random_state=0).fit(X, y)
    labels = np.stack([member.predict(X) for member in model.estimators_], axis=1)
    errors, weights = np.asarray(model.estimator_errors_), np.asarray(model.estimator_weights_)
    smallest = []
    for rounds in (10, 50, len(errors)):
        margins = margin_distribution(vote_margins(y, labels[:, :rounds], weights[:rounds]))
        smallest.append(margins.smallest)
        assert margins.share_below(0.0) <= adaboost_bound(errors[:rounds])[-1] + 1e-12
        for theta in (0.0, 0.05, 0.2):
            assert margins.share_below(theta) <= adaboost_margin_bound(errors[:rounds], theta) + 1e-12
    assert smallest == sorted(smallest)
    assert smallest[-1] > 0.0 > smallest[0]


def test_the_bound_of_boosting_is_the_product_of_its_rounds():
    errors = [0.2, 0.35, 0.5]
    assert adaboost_margin_bound(errors) == pytest.approx(np.prod([2 * (e * (1 - e)) ** 0.5 for e in errors]))
    assert adaboost_margin_bound(errors) == pytest.approx(adaboost_bound(errors)[-1])
    assert adaboost_margin_bound(errors, -0.1) < adaboost_margin_bound(errors) < adaboost_margin_bound(errors, 0.1)
    with pytest.raises(ParameterError, match="errors must be from 0 to 1"):
        adaboost_margin_bound([1.2])
