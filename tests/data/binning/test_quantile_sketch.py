"""The weighted quantile sketch: its bounds enclose the true ranks whatever comes, and its error keeps what it promises."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from woodwind.data.binning.quantile_sketch import QuantileSketch, merged_sketches
from woodwind.kernels.binning.candidates import bins_of_values

N = 3000


def streams():
    """Values and weights that sketches have trouble with."""
    rng = np.random.default_rng(0)
    usual, some = rng.normal(size=N), rng.integers(1, 1 << 20, N)
    return {
        "as they come": (usual, some),
        "sorted": (np.sort(usual), some),
        "reversed": (np.sort(usual)[::-1], some),
        "constant": (np.full(N, 2.5), some),
        "many ties": (rng.integers(0, 7, N).astype(float), some),
        "one heavy value": (usual, np.where(np.arange(N) == 17, 1 << 40, 1)),
        "few rows have nearly all weight": (usual, np.where(rng.random(N) < 0.003, 1 << 40, 1)),
        "weights rise with values": (np.sort(usual), np.arange(N) ** 3),
        "weights fall with values": (np.sort(usual)[::-1], np.arange(N) ** 3),
        "gaps and weights of zero": (np.where(rng.random(N) < 0.4, np.nan, usual), np.where(rng.random(N) < 0.5, 0, some)),
        "two far clusters": (np.where(np.arange(N) % 2 == 0, 1e300 + usual, usual * 1e-300), some),
        "zoomed in": (np.cumsum(np.ldexp(1.0, -np.arange(N) // 60)), some),
    }  # fmt: skip


STREAMS = streams()


def truth(values, weight, at):
    """Weight before and up to each of some values."""
    there = ~np.isnan(values)
    values, weight = values[there], weight[there]
    return np.array([(int(weight[values < one].sum()), int(weight[values <= one].sum())) for one in at], np.int64).reshape(-1, 2).T


def check(sketch, values, weight, eps):
    """Bounds enclose true ranks, at the values of the sketch and at others, and are no further apart than they may be."""
    total = int(weight[~np.isnan(values)].sum())
    assert sketch.total == total
    assert sketch.error <= eps * total
    others = values[~np.isnan(values)][::37]
    for at in (sketch.values, others, others - 1e-3):
        low, high, own = sketch.bounds(np.asarray(at, np.float64))
        before, upto = truth(values, weight, at)
        assert (low <= before).all()
        assert (upto <= high).all()
        assert (own <= upto - before).all()
    ends = values[~np.isnan(values) & (weight > 0)]
    assert (sketch.values[0], sketch.values[-1]) == (ends.min(), ends.max())


def parts_of(values, weight, n_parts):
    return [QuantileSketch.of(*part) for part in zip(np.array_split(values, n_parts), np.array_split(weight, n_parts), strict=True)]


@pytest.mark.parametrize("eps", [0.2, 0.03, 0.004])
@pytest.mark.parametrize("stream", STREAMS)
def test_the_bounds_hold_on_any_stream_in_parts(stream, eps):
    values, weight = STREAMS[stream]
    merged = merged_sketches(parts_of(values, weight, 23), eps)
    check(merged, values, weight, eps)
    assert len(merged.values) <= 5 / eps + 2  # of 23 parts there are five levels


@pytest.mark.parametrize("stream", STREAMS)
def test_they_hold_where_one_part_after_the_other_is_added_and_pruned(stream):
    values, weight = STREAMS[stream]
    running, size = QuantileSketch.of(np.empty(0), np.empty(0, np.int64)), 500
    for part in parts_of(values, weight, 12):
        running = running.merge(part).prune(size)
    check(running, values, weight, 12 / size)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2**40)), max_size=50), st.lists(st.integers(0, 50), max_size=5))
def test_merging_without_pruning_is_exact_for_any_split_and_order(pairs, cuts):
    values, weight = np.array([pair[0] for pair in pairs], float), np.array([pair[1] for pair in pairs], np.int64)
    whole = QuantileSketch.of(values, weight)
    parts = [QuantileSketch.of(*part) for part in zip(np.split(values, sorted(cuts)), np.split(weight, sorted(cuts)), strict=True)]
    for order in (parts, parts[::-1]):
        running = order[0]
        for part in order[1:]:
            running = running.merge(part)
        assert running.error == 0
        for name in ("values", "low", "high", "own"):
            assert getattr(running, name).tolist() == getattr(whole, name).tolist()


@pytest.mark.parametrize("stream", STREAMS)
def test_parts_may_come_in_any_order(stream):
    values, weight = STREAMS[stream]
    parts = parts_of(values, weight, 9)
    known = merged_sketches(parts, 0.05)
    for seed in range(3):
        other = merged_sketches([parts[k] for k in np.random.default_rng(seed).permutation(9)], 0.05)
        for name in ("values", "low", "high", "own"):
            assert getattr(other, name).tolist() == getattr(known, name).tolist()
    one, another = parts[0].merge(parts[1]), parts[1].merge(parts[0])
    assert one.high.tolist() == another.high.tolist()


@pytest.mark.parametrize("eps", [0.2, 0.03])
@pytest.mark.parametrize("stream", STREAMS)
def test_candidates_leave_little_weight_between_them(stream, eps):
    """Strictly between two neighbours, and without the first value behind the lower one, is one part, and twice the error of the sketch."""
    values, weight = STREAMS[stream]
    sketch = merged_sketches(parts_of(values, weight, 23), eps / 4)
    total = sketch.total
    ends = np.concatenate([[-np.inf], sketch.candidates(eps), [np.inf]])
    assert len(ends) <= 1 / eps + 2
    there = ~np.isnan(values) & (weight > 0)
    for lower, upper in pairwise(ends):
        inside = there & (values > lower) & (values < upper)
        if upper == np.inf:  # the largest value is an end as well
            inside &= values < values[there].max()
        behind = sketch.values[sketch.values > lower]
        inside &= values != behind[0]
        assert weight[inside].sum() <= (eps + 2 * eps / 4) * total


@pytest.mark.parametrize("stream", STREAMS)
def test_candidates_of_the_exact_sketch_are_those_of_the_kernel(stream):
    values, weight = STREAMS[stream]
    sketch = QuantileSketch.of(values, weight)
    ends = np.zeros((2, 34), np.int32)
    used = bins_of_values(sketch.own, 34, np.empty(len(sketch.values) + 1, np.uint8), ends)
    assert sketch.candidates(0.03).tolist() == sketch.values[ends[1, : used - 1]].tolist()
