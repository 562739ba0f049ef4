"""Summaries by counting: the bits are those of sorting, whatever the column and however its rows are split."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_encode as slow
from woodwind.data.binning import counting_sketch as room
from woodwind.data.binning import cuts as cuts_room
from woodwind.data.binning import sketch as sketch_room
from woodwind.data.binning.counting_sketch import CellForecast, CountingSketch, counted
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.sketch import Sketch, keys_of
from woodwind.data.tables.schema import Schema

N = 150_000
EXTREMES = [np.inf, -np.inf, np.nan, 0.0, -0.0]
OTHER_NANS = np.array([0x7FF0000000000001, 0xFFFF123456789ABC], np.uint64)
numbers = st.one_of(st.floats(width=64), st.sampled_from([*EXTREMES, 1.0, 1.5, -2.0]), st.integers(-30, 30).map(float))


def columns():
    """Columns of all sorts, by name."""
    draw = np.random.default_rng(1)
    normal, uniform, row = draw.normal(size=N), draw.random(N), np.arange(N)
    return {
        "normal": normal,
        "normal far from zero": normal + 1000,
        "exponential": draw.exponential(size=N),
        "uniform": uniform,
        "angle": uniform * 6.28 - 3.14,
        "lognormal": np.exp(normal),
        "many binades": np.exp(20 * normal),
        "heavy tails": draw.standard_cauchy(N),
        "any bits": draw.integers(0, 2**64, N, dtype=np.uint64).view(np.float64),
        "narrow": 1000 + uniform,
        "narrow with a mark": np.where(draw.random(N) < 0.1, -999, 1000 + uniform),
        "two narrow ones": np.where(draw.random(N) < 0.5, 1 + 1e-8 * normal, 1e8 + normal),
        "outliers": np.where(draw.random(N) < 1e-4, 1e300, normal),
        "tags": draw.integers(0, 3, N) * 1.1,
        "counts": draw.poisson(3, N) * 1.0,
        "long counts": np.floor(draw.pareto(1, N)),
        "hundreds": draw.integers(-500, 500, N) * 1.0,
        "50,000 categories": draw.integers(0, 50_000, N) * 1.0,
        "40,000 fractions": draw.integers(0, 40_000, N) / 100,
        "100,000 fractions": draw.integers(0, 100_000, N) / 100,
        "all different": draw.permutation(N) * 1.0,
        "ascending": row * 1.0,
        "sorted": np.sort(normal),
        "prices": np.exp(normal + 3).round(2),
        "times": (1.6e9 + uniform * 1e8).round(),
        "constant": np.full(N, 3.3),
        "zero": np.zeros(N),
        "zeros of both signs": np.where(draw.random(N) < 0.5, -0.0, 0.0),
        "mostly zero": np.where(draw.random(N) < 0.95, 0.0, uniform),
        "missing": np.full(N, np.nan),
        "half missing": np.where(draw.random(N) < 0.5, np.nan, normal),
        "extremes": np.where(draw.random(N) < 0.3, draw.choice(EXTREMES, N), normal),
        "other missing values": np.where(draw.random(N) < 0.3, draw.choice(OTHER_NANS, N).view(np.float64), np.inf),
        "denormal": uniform * 1e-310,
        "rare fractions": np.where(row % 50_000 == 7, 0.1, draw.integers(0, 1000, N)),
        "rare bits": np.where(row % 50_000 == 7, 1 + 2.0**-52, draw.integers(0, 1000, N)),
        "missing at first": np.where(row < N - 1000, np.nan, normal),
        "tags at first": np.where(row < N // 2, draw.integers(0, 5, N), normal),
        "tags and numbers": np.where(draw.random(N) < 0.7, draw.integers(0, 20, N), normal),
    }


COLUMNS = columns()
USUAL = ["normal", "exponential", "uniform", "angle", "lognormal", "heavy tails", "narrow with a mark", "tags", "counts", "times"]


def same(a, b):
    return a.shift == b.shift and all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in ((a.keys, b.keys), (a.counts, b.counts)))


def by_sorting(values, weight):
    total = Sketch.empty()
    for begin in range(0, len(values), 2**16):
        rows = slice(begin, begin + 2**16)
        total = total.merge(Sketch.of(values[rows], None if weight is None else weight[rows], total.shift))
    return total


def by_counting(values, weight, patch):
    """As a table of one column that is counted, whether that is faster or not."""
    patch.setattr(room, "_ROWS_PER_PAGE", 0)
    patch.setattr(room, "_WEIGHTED_ROWS_PER_PAGE", 0)
    ((feature, found),) = counted(Schema.learn(values[:, None])[1], np.array([0]), weight)
    assert feature == 0
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", COLUMNS)
def test_counting_gives_the_summary_that_sorting_gives(name, dtype, weighted, monkeypatch):
    with np.errstate(over="ignore", invalid="ignore"):
        values = COLUMNS[name].astype(dtype)
    weight = np.random.default_rng(2).integers(0, 2**30, N) if weighted else None
    assert same(by_counting(values, weight, monkeypatch), by_sorting(values, weight))


@pytest.mark.parametrize("name", USUAL)
def test_a_usual_column_is_counted_once(name):
    values = COLUMNS[name]
    forecast = CellForecast(values[:: N // 4096], N)
    shift = forecast.shift()
    tally = CountingSketch(shift, *forecast.pages(shift), np.int32)
    tally.add(values, None)
    assert tally.sketch() is not None


@pytest.mark.parametrize("name", ["normal", "exponential", "uniform", "lognormal", "narrow", "tags", "hundreds", "50,000 categories"])
def test_a_forecast_is_about_right(name):
    values = COLUMNS[name]
    forecast = CellForecast(values[:: N // 4096], N)
    for shift in range(30, 48, 3):
        real = np.unique(keys_of(values) >> np.uint64(shift)).size
        assert 0.7 * real < forecast.cells(shift) < 1.3 * real + 3


def small_tables(patch):
    """Few cells, few pages and a new table all the time."""
    patch.setattr(sketch_room, "MOST_CELLS", 8)
    patch.setattr(room, "_LEAST_PAGES", 2)
    patch.setattr(room, "_MOST_PAGES", 12)
    patch.setattr(room, "_MOST_COUNTERS", 2**11)


def in_parts(values, weight, bounds, plan, kind):
    tally = CountingSketch(*plan, kind)
    for begin, end in zip([0, *bounds], [*bounds, len(values)], strict=True):
        tally.add(values[begin:end], None if weight is None else weight[begin:end])
    return tally.sketch()


plans = st.tuples(st.integers(0, 48), st.sampled_from([0, 2, 8]), st.integers(0, 9)).filter(lambda plan: plan[0] + plan[1] <= 51)


@given(st.lists(numbers, max_size=120), st.lists(st.integers(0, 120), max_size=6), st.booleans(), plans, st.randoms())
def test_any_split_of_the_rows_and_any_plan_give_the_same_summary(values, cuts, weighted, plan, random):
    array = np.array(values, np.float64)
    weight = np.array([random.randint(0, 3) for _ in values], np.int64) if weighted else None
    kind = np.int64 if weighted else np.int32
    bounds = sorted(min(cut, len(values)) for cut in cuts)
    with pytest.MonkeyPatch.context() as patch:
        small_tables(patch)
        expected = Sketch.of(array, weight)
        found = in_parts(array, weight, bounds, plan, kind)
        from_zero = in_parts(array, weight, bounds, (0, 0, plan[2]), kind)
    assert same(from_zero, expected)
    # Only what begins too coarse is unproven.
    assert same(found, expected) if found is not None else plan[0] > 0 and expected.shift <= plan[0]


@given(st.lists(numbers, min_size=1, max_size=80))
def test_keys_are_those_of_the_twin(values):
    assert keys_of(np.array([v for v in values if v == v])).tolist() == [slow.key_of(v) for v in values if v == v]  # noqa: PLR0124


def frame_of_all():
    with np.errstate(over="ignore", invalid="ignore"):
        halves = {name: values.astype(np.float32) for name, values in list(COLUMNS.items())[::2]}
    frame = pd.DataFrame({**COLUMNS, **halves})
    frame.insert(3, "word", np.random.default_rng(3).choice(["a", "b", "c"], N))
    return frame


TABLES = {
    "a frame": frame_of_all,
    "C order": lambda: np.stack([COLUMNS[name] for name in USUAL], 1),
    "Fortran order": lambda: np.asfortranarray(np.stack([COLUMNS[name] for name in USUAL], 1).astype(np.float32)),
    "one column to sort": lambda: np.stack([COLUMNS["normal"], COLUMNS["40,000 fractions"], COLUMNS["tags"]], 1),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_cuts_are_the_same_whether_columns_are_sorted_or_counted(name, weighted, monkeypatch):
    table = Schema.learn(TABLES[name]())[1]
    weight = np.random.default_rng(4).random(N) if weighted else None
    counting = [Cuts.fit(table, weight=weight, threads=threads) for threads in (1, 2)]
    monkeypatch.setattr(cuts_room, "_COUNTED_ROWS", N + 1)
    sorting = Cuts.fit(table, weight=weight)
    for cuts in counting:
        assert [edge.tolist() for edge in cuts.edges] == [edge.tolist() for edge in sorting.edges]


def test_a_column_that_sorting_is_faster_for_is_left_to_it():
    table = Schema.learn(TABLES["one column to sort"]())[1]
    assert sorted(feature for feature, _ in counted(table, np.arange(3), None)) == [0, 2]


def test_small_tables_load_no_kernel_for_counting(monkeypatch):
    def refuse(*_arguments):
        raise AssertionError

    monkeypatch.setattr(cuts_room, "counted", refuse)
    Cuts.fit(Schema.learn(COLUMNS["normal"][: cuts_room._COUNTED_ROWS - 1, None])[1])


def test_counts_beyond_32_bits_are_kept():
    values = np.repeat([1.0, 2.0, np.nan], 1000)
    weight = np.full(3000, 2**40)
    tally = CountingSketch(0, 0, 4, np.int64)
    tally.add(values, weight)
    assert tally.sketch().counts.tolist() == [1000 * 2**40] * 2
