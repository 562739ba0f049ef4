"""Quantiles and Huber steps of leaves against sorting with exact fractions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_quantiles as naive
from woodwind.kernels.losses import quantiles

VALUES = st.lists(st.one_of(st.floats(-100, 100), st.sampled_from([0.0, 1.0, -1.0])), min_size=1, max_size=60)
LEVELS = st.floats(0.001, 0.999)


def quantile_of(values, weight, level, unit=1.0):
    rows = np.arange(len(values), dtype=np.int32)
    return quantiles.quantile_of(rows, np.array(values), None if weight is None else np.array(weight), level, unit)


@given(VALUES, LEVELS)
def test_quantile_equals_its_twin(values, level):
    assert quantile_of(values, None, level) == naive.quantile(values, None, level)


@given(VALUES, LEVELS, st.randoms(use_true_random=False))
def test_weighted_quantile_equals_its_twin(values, level, random):
    weight = [random.choice([0.0, 1.0, 2.0, 0.5, random.random()]) for _ in values]
    assert quantile_of(values, weight, level, 2.0**50) == naive.quantile(values, np.rint(np.array(weight) * 2.0**50), level)


@given(VALUES, st.sampled_from([0.1, 0.25, 0.5, 0.9]))
def test_weight_of_two_equals_a_row_given_twice(values, level):
    weight = 1.0 + np.arange(len(values)) % 3
    repeated = np.repeat(values, weight.astype(int))
    assert quantile_of(values, weight, level) == quantile_of(repeated, None, level)


def test_unweighted_quantile_is_numpys_inverted_cdf():
    values = np.random.default_rng(0).normal(size=1001)
    for level in (0.05, 0.5, 0.77, 0.9):
        assert quantile_of(values, None, level) == np.quantile(values, level, method="inverted_cdf")


@pytest.mark.parametrize("shape", ["ascending", "descending", "constant", "organ pipe", "two values"])
def test_no_order_of_the_rows_is_slow_or_wrong(shape):
    n = 20_000
    i = np.arange(n)
    values = {
        "ascending": i,
        "descending": -i,
        "constant": np.zeros(n),
        "organ pipe": np.minimum(i, n - i),
        "two values": i % 2,
    }[shape].astype(np.float64)
    assert quantile_of(values, None, 0.5) == np.quantile(values, 0.5, method="inverted_cdf")


def test_rows_of_no_weight_are_absent():
    assert quantile_of([5.0, 1.0, 9.0], [1.0, 0.0, 0.0], 0.1) == 5.0
    assert quantile_of([5.0, 1.0], [0.0, 0.0], 0.5) == 0.0


def leaves(rng, n=400, n_leaves=7):
    rows = rng.permutation(n)[: n - 50].astype(np.int32)
    edges = np.sort(rng.choice(np.arange(1, n - 51), n_leaves - 1, replace=False))
    return rows, np.array([0, *edges]), np.array([*edges, n - 50])


@pytest.mark.parametrize("weighted", [False, True])
def test_each_leaf_has_its_own_value(weighted):
    rng = np.random.default_rng(3)
    rows, begins, ends = leaves(rng)
    residual = rng.normal(size=400)
    weight = rng.integers(0, 5, 400).astype(np.float64) if weighted else None
    out, steps = np.empty(7), np.empty(7)
    quantiles.leaf_quantiles(rows, begins, ends, residual, weight, 0.3, 1.0, out)
    quantiles.leaf_hubers(rows, begins, ends, residual, weight, 0.6, np.array([1.0, 2.0**27]), steps)
    for j in range(7):
        part = rows[begins[j] : ends[j]]
        w = None if weight is None else weight[part]
        assert out[j] == naive.quantile(residual[part], w, 0.3)
        assert steps[j] == pytest.approx(naive.huber(residual[part], w, 0.6), rel=1e-14)


def test_leaf_values_do_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(4)
    residual, weight = rng.normal(size=5000), rng.exponential(size=5000)
    units = np.array([2.0**40, 2.0**25])
    found = set()
    for _ in range(3):
        rows = rng.permutation(5000).astype(np.int32)
        out, steps = np.empty(1), np.empty(1)
        quantiles.leaf_quantiles(rows, np.array([0]), np.array([5000]), residual, weight, 0.42, units[0], out)
        quantiles.leaf_hubers(rows, np.array([0]), np.array([5000]), residual, weight, 0.5, units, steps)
        found.add((out[0], steps[0]))
    assert len(found) == 1


def test_huber_step_with_a_delta_of_zero_is_the_median():
    out = np.empty(1)
    rows = np.arange(4, dtype=np.int32)
    quantiles.leaf_hubers(rows, np.array([0]), np.array([4]), np.array([1.0, 2.0, 3.0, 9.0]), None, 0.0, np.ones(2), out)
    assert out[0] == 2.0
