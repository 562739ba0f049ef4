"""Linear leaves against a general solver, and what they add to scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.naive_linear import ridge_leaf
from woodwind.tree.linear_leaves import LinearLeaves, LinearPlan, add_linear, fitted_terms, path_terms

# A root that is split by feature 1, and its left child by feature 0: three leaves, 2 has feature 1, 3 and 4 have both.
FEATURE, CHILD = np.array([1, 0, -1, -1, -1], np.int32), np.array([1, 3, 0, 0, 0], np.int32)


def rows_of(leaf):
    order = np.argsort(leaf, kind="stable").astype(np.int32)
    sizes = np.bincount(leaf, minlength=5)
    return order, np.cumsum(sizes) - sizes, np.cumsum(sizes)


def example(seed, n=60):
    rng = np.random.default_rng(seed)
    leaf = rng.choice([2, 3, 4], n).astype(np.int32)
    return rng.normal(size=(n, 3)), rng.normal(size=n), rng.uniform(0.5, 2.0, n), leaf


def fitted(x, gradient, hessian, leaf, l2=0.0, linear_l2=0.0, rate=1.0, scale=(1.0, 1.0, 1.0)):
    sums = [np.bincount(leaf, part, minlength=5) for part in (gradient, hessian)]
    with np.errstate(invalid="ignore"):
        value = np.nan_to_num(-sums[0] / (sums[1] + l2)) * rate
    terms = path_terms(FEATURE, CHILD, value, np.array(scale))
    return fitted_terms(terms, x, (gradient, hessian), rows_of(leaf), value, LinearPlan(linear_l2, (0.0, l2, rate)), 1), value


def scores(linear, value, x, leaf):
    out = np.zeros((len(x), 1))
    add_linear(out, [0], leaf[:, None], [0], value, linear, x, 1)
    return out[:, 0]


def test_a_leaf_has_the_numbers_of_its_path():
    linear = path_terms(FEATURE, CHILD, np.zeros(5), np.array([1.0, 2.0, 3.0]))
    assert [linear.feature[linear.first[node] : linear.first[node + 1]].tolist() for node in range(5)] == [[], [], [1], [0, 1], [0, 1]]
    without = path_terms(FEATURE, CHILD, np.zeros(5), np.array([1.0, 0.0, 3.0]))
    assert [without.feature[without.first[node] : without.first[node + 1]].tolist() for node in range(5)] == [[], [], [], [0], [0]]


@pytest.mark.parametrize(("l2", "linear_l2", "rate"), [(0.0, 0.0, 1.0), (0.0, 2.5, 0.3), (3.0, 0.0, 1.0), (1.0, 4.0, 0.1)])
def test_coefficients_are_those_of_a_general_solver(l2, linear_l2, rate):
    for seed in range(5):
        x, gradient, hessian, leaf = example(seed)
        linear, _value = fitted(x, gradient, hessian, leaf, l2, linear_l2, rate, (1.0, 0.5, 2.0))
        for node, features in ((2, [1]), (3, [0, 1]), (4, [0, 1])):
            rows, at = leaf == node, slice(linear.first[node], linear.first[node + 1])
            spread = linear_l2 * np.array([1.0, 0.5, 2.0])[features] ** 2
            constant, found = ridge_leaf(x[rows][:, features], gradient[rows], hessian[rows], spread, l2)
            assert_allclose(linear.coefficient[at], rate * found, rtol=1e-9, atol=1e-12)
            assert_allclose(linear.constant[node], rate * constant, rtol=1e-9, atol=1e-12)
            predicted = linear.constant[node] + x[rows][:, features] @ linear.coefficient[at]
            assert_allclose([linear.low[node], linear.high[node]], [predicted.min(), predicted.max()])


def test_a_row_with_a_missing_number_has_the_constant_and_teaches_no_slope():
    x, gradient, hessian, leaf = example(0)
    x[::4, 1] = np.nan
    x[1::9, 0] = np.inf
    linear, value = fitted(x, gradient, hessian, leaf, 1.0)
    there = np.isfinite(x[:, :2]).all(axis=1)
    for node in (3, 4):
        rows = (leaf == node) & there
        at = slice(linear.first[node], linear.first[node + 1])
        constant, found = ridge_leaf(x[rows][:, :2], gradient[rows], hessian[rows], np.zeros(2), 1.0)
        assert_allclose(linear.coefficient[at], found, rtol=1e-9)
        assert_allclose(linear.constant[node], constant, rtol=1e-9)
    lost = (leaf != 2) & ~there
    assert_array_equal(scores(linear, value, x, leaf)[lost], value[leaf[lost]])


def test_what_depends_on_others_is_left_out():
    x, gradient, hessian, leaf = example(0)
    x[:, 1] = 3.0 * x[:, 0] - 2.0
    linear, value = fitted(x, gradient, hessian, leaf)
    alone = ridge_leaf(x[leaf == 3][:, :1], gradient[leaf == 3], hessian[leaf == 3], np.zeros(1), 0.0)
    assert_allclose(scores(linear, value, x, leaf)[leaf == 3], alone[0] + x[leaf == 3, 0] * alone[1][0], rtol=1e-8)
    x[:, 1] = 7.0  # a constant has no slope
    linear, value = fitted(x, gradient, hessian, leaf)
    assert_array_equal(scores(linear, value, x, leaf)[leaf == 2], value[leaf[leaf == 2]])


def test_few_rows_are_constant():
    x, gradient, hessian, leaf = example(0)
    leaf[:] = 2
    leaf[:2], leaf[2:5] = 3, 4
    linear, value = fitted(x, gradient, hessian, leaf)
    assert (linear.coefficient[linear.first[3] : linear.first[4]] == 0.0).all()
    assert (linear.coefficient[linear.first[4] : linear.first[5]] != 0.0).all()
    assert_array_equal(scores(linear, value, x, leaf)[:2], value[[3, 3]])


def test_a_node_without_rows_stays_as_it_was():
    x, gradient, hessian, leaf = example(0)
    linear, value = fitted(x, gradient, hessian, leaf)
    leaf[leaf == 4] = 3
    again = fitted_terms(linear, x, (gradient, hessian), rows_of(leaf), value, LinearPlan(0.0, (0.0, 0.0, 1.0)), 1)
    at = slice(linear.first[4], linear.first[5])
    assert_array_equal(again.coefficient[at], linear.coefficient[at])
    assert again.constant[4] == linear.constant[4]
    assert not np.array_equal(again.coefficient, linear.coefficient)


def test_scores_stay_within_those_of_the_training_rows():
    x, gradient, hessian, leaf = example(0)
    linear, value = fitted(x, gradient, hessian, leaf)
    far = 1e6 * x
    found = scores(linear, value, far, leaf)
    assert ((found >= linear.low[leaf]) & (found <= linear.high[leaf])).all()
    assert (found == linear.high[leaf]).any()
    assert_array_equal(scores(linear, value, np.full_like(x, 1e101), leaf), value[leaf])


def test_single_precision_is_read_as_it_is():
    x, gradient, hessian, leaf = example(0)
    linear, value = fitted(x, gradient, hessian, leaf)
    single = x.astype(np.float32)
    assert_array_equal(scores(linear, value, single, leaf), scores(linear, value, single.astype(np.float64), leaf))


def test_parts_and_multiples():
    x, gradient, hessian, leaf = example(0)
    linear, value = fitted(x, gradient, hessian, leaf)
    assert_allclose(scores(linear.scaled(-0.5), -0.5 * value, x, leaf), -0.5 * scores(linear, value, x, leaf))
    assert linear.part(2, 4).feature.tolist() == [1, 0, 1]
    mixed = linear.mixed(0.25, linear.scaled(3.0))
    assert_allclose(scores(mixed, value, x, leaf), 2.5 * scores(linear, value, x, leaf))
    assert LinearLeaves.none(4, np.ones(3)).check().largest.tolist() == [0.0] * 4
