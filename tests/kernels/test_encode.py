"""The kernels that turn values into codes, against their slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference import naive_encode as slow
from woodwind.kernels.binning import encode as fast
from woodwind.kernels.histogram.sparse_rows import columns_from_rows

doubles = st.floats(allow_nan=False, width=64)
singles = st.floats(allow_nan=False, width=32)
few = st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1.7e308, 2.5])
keys = st.integers(0, 2**64 - 1)
summaries = st.dictionaries(st.one_of(keys, st.integers(0, 20)), st.integers(1, 1000), max_size=60)


def as_arrays(summary):
    return np.array(sorted(summary), np.uint64), np.array([summary[key] for key in sorted(summary)], np.int64)


def as_dict(found, found_counts, n):
    assert (np.diff(found[:n].astype(object)) > 0).all()
    return dict(zip(found[:n].tolist(), found_counts[:n].tolist(), strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_summary_of_a_sorted_block_counts_the_cells(dtype, data):
    values = data.draw(st.lists(st.one_of(few if dtype == np.float64 else singles, singles), max_size=200))
    shift = data.draw(st.sampled_from([0, 1, 13, 29, 40, 52, 63]))
    block = np.sort(np.array(values, dtype))
    out_keys, out_counts = np.full(block.size, 7, np.uint64), np.full(block.size, 7, np.int64)
    n = fast.summarise(block, np.uint64(shift), out_keys, out_counts)
    assert as_dict(out_keys, out_counts, n) == slow.summarise(block.tolist(), shift)


@given(st.lists(st.one_of(few, doubles), min_size=2, max_size=50))
def test_keys_keep_the_order_of_the_numbers(values):
    ordered = sorted(values)
    found = [slow.key_of(value) for value in ordered]
    assert found == sorted(found)
    assert len(set(found)) == len(set(ordered))


@given(st.lists(st.tuples(st.one_of(few, doubles, st.just(np.nan)), st.integers(0, 5)), max_size=200), st.integers(0, 63))
def test_weighted_summary_adds_the_weights_of_the_cells(pairs, shift):
    values, weight = np.array([value for value, _ in pairs], np.float64), np.array([w for _, w in pairs], np.int64)
    out_keys, out_weight = np.empty(values.size, np.uint64), np.empty(values.size, np.int64)
    n = fast.weigh(values, weight, np.uint64(shift), out_keys, out_weight)
    spare_keys, spare_weight = np.empty(n, np.uint64), np.empty(n, np.int64)
    if fast.sort_pairs(out_keys[:n], out_weight[:n], spare_keys, spare_weight):
        out_keys, out_weight = spare_keys, spare_weight
    n = fast.shrink(out_keys[:n], out_weight[:n], np.uint64(0), out_keys, out_weight)
    assert as_dict(out_keys, out_weight, n) == slow.weigh(pairs, shift)


@given(st.lists(st.tuples(st.one_of(keys, st.integers(0, 5)), st.integers(-9, 9)), max_size=200))
def test_pairs_are_sorted_and_equal_keys_keep_their_order(pairs):
    first, second = np.array([key for key, _ in pairs], np.uint64), np.array([load for _, load in pairs], np.int64)
    spare_first, spare_second = np.empty_like(first), np.empty_like(second)
    in_spare = fast.sort_pairs(first, second, spare_first, spare_second)
    found = (spare_first, spare_second) if in_spare else (first, second)
    assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == slow.sort_pairs(*zip(*pairs, strict=True)) if pairs else True


@given(summaries, st.integers(0, 63))
def test_shrinking_adds_the_counts_of_keys_that_become_equal(summary, shift):
    given_keys, counts = as_arrays(summary)
    assert fast.count_distinct(given_keys, np.uint64(shift)) == slow.count_distinct(summary, shift)
    out_keys, out_counts = np.empty_like(given_keys), np.empty_like(counts)
    n = fast.shrink(given_keys, counts, np.uint64(shift), out_keys, out_counts)
    assert as_dict(out_keys, out_counts, n) == slow.shrink(summary, shift)


@given(summaries, summaries)
def test_merging_adds_the_counts_of_equal_keys(a, b):
    size = len(a) + len(b)
    out_keys, out_counts = np.empty(size, np.uint64), np.empty(size, np.int64)
    n = fast.merge_counts(*as_arrays(a), *as_arrays(b), out_keys, out_counts)
    assert as_dict(out_keys, out_counts, n) == slow.merge_counts(a, b)


count_lists = st.lists(st.one_of(st.integers(1, 3), st.integers(1, 10_000)), min_size=2, max_size=60)


@given(count_lists, st.integers(2, 20))
def test_cuts_are_placed_as_in_the_slow_version(counts, max_bins):
    out = np.empty(max_bins, np.int64)
    n = fast.place_cuts(np.array(counts, np.int64), max_bins, out)
    assert out[:n].tolist() == slow.place_cuts(counts, max_bins)


@given(count_lists, st.integers(2, 20), st.integers(0, 35))
def test_counts_times_a_power_of_two_give_the_same_cuts(counts, max_bins, power):
    out, scaled = np.empty(max_bins, np.int64), np.empty(max_bins, np.int64)
    n = fast.place_cuts(np.array(counts, np.int64), max_bins, out)
    m = fast.place_cuts(np.array(counts, np.int64) << power, max_bins, scaled)
    assert out[:n].tolist() == scaled[:m].tolist()


@given(count_lists, st.integers(2, 20))
def test_there_are_never_too_many_cuts_and_none_after_the_last_cell(counts, max_bins):
    cuts = slow.place_cuts(counts, max_bins)
    assert len(cuts) <= max_bins - 1
    assert cuts == sorted(set(cuts))
    assert not cuts or cuts[-1] < len(counts) - 1


def test_a_heavy_cell_between_light_ones_has_a_bin_of_its_own():
    counts = [1] * 50 + [1000] + [1] * 50
    cuts = slow.place_cuts(counts, 11)
    assert {49, 50} <= set(cuts)
    assert len(cuts) == 10


def test_no_weight_overflows_where_the_sum_is_largest():
    counts = np.full(2**10, 2**41 - 1, np.int64)  # the sum stays below 2**51
    out = np.empty(255, np.int64)
    n = fast.place_cuts(counts, 255, out)
    assert out[:n].tolist() == slow.place_cuts(counts.tolist(), 255)
    assert n == 254


def borders_of(edges, dtype):
    out = np.full((len(edges), fast.BORDERS), np.inf, dtype)
    for feature, edge in enumerate(edges):
        out[feature, : len(edge)] = edge
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@given(data=st.data())
def test_codes_are_the_number_of_edges_below_the_value(dtype, order, data):
    n, n_columns = data.draw(st.integers(1, 150)), data.draw(st.integers(1, 4))
    numbers = st.floats(width=np.dtype(dtype).itemsize * 8)
    values = data.draw(hnp.arrays(dtype, (n, n_columns), elements=numbers))
    edges = [
        np.sort(np.array(data.draw(st.lists(singles, max_size=255 if feature == 0 else 9)), dtype)) for feature in range(n_columns + 1)
    ]
    begin = data.draw(st.integers(0, n - 1))
    end = data.draw(st.integers(begin, n))
    steps = np.array([(1 << len(edge).bit_length()) // 2 for edge in edges])
    flat = np.ravel(values, order)
    strides = (n_columns, 1) if order == "C" else (1, n)
    # The last column goes to the first feature and so on, and one feature has no column: it keeps what was there.
    wanted = np.array([np.arange(n_columns)[::-1], np.arange(n_columns)])
    out = np.full((n_columns + 1, n), 77, np.uint8)
    layout = fast.EncodeLayout(*strides, 0, n, 255)
    fast.encode_numbers(flat, layout, wanted, borders_of(edges, dtype).reshape(-1), steps, begin, end, out.reshape(-1))
    for feature in range(n_columns):
        column = values[begin:end, n_columns - 1 - feature]
        assert out[feature, begin:end].tolist() == slow.encode_numbers(column.tolist(), edges[feature].tolist(), 255)
    untouched = np.ones(out.shape, bool)
    untouched[:n_columns, begin:end] = False
    assert (out[untouched] == 77).all()


def test_a_block_of_rows_is_encoded_where_its_first_row_belongs():
    block = np.array([[0.5], [1.5], [np.nan]])
    out = np.full((1, 10), 77, np.uint8)
    fast.encode_numbers(
        block.reshape(-1),
        fast.EncodeLayout(1, 1, 4, 10, 3),
        np.zeros((2, 1), np.int64),
        borders_of([[1.0]], np.float64).reshape(-1),
        np.array([1]),
        4,
        7,
        out.reshape(-1),
    )
    assert out.tolist() == [[77, 77, 77, 77, 0, 1, 3, 77, 77, 77]]


@given(st.integers(1, 20), st.integers(1, 200), st.data())
def test_rows_are_the_columns_turned_and_padded_with_zeros(n_features, n, data):
    by_column = np.arange(n_features * n, dtype=np.uint8).reshape(n_features, n) * 37
    stride = -(-n_features // 8) * 8 + 8 * data.draw(st.integers(0, 2))
    begin = data.draw(st.integers(0, n - 1))
    end = data.draw(st.integers(begin, n))
    order = data.draw(st.permutations(range(n_features)))
    out = np.full((n, stride), 99, np.uint8)
    fast.rows_from_columns(by_column, np.array(order), begin, end, 0, out)
    assert (out[begin:end] == slow.rows_from_columns(by_column, order, stride)[: end - begin]).all()
    assert (out[:begin] == 99).all()
    assert (out[end:] == 99).all()


@given(st.integers(1, 20), st.integers(1, 200), st.data())
def test_columns_are_some_of_the_rows_turned(n_features, n, data):
    by_column = np.arange(n_features * n, dtype=np.uint8).reshape(n_features, n) * 37
    by_row = slow.rows_from_columns(by_column, range(n_features), -(-n_features // 8) * 8)
    begin = data.draw(st.integers(0, n - 1))
    end = data.draw(st.integers(begin, n))
    features = data.draw(st.lists(st.integers(0, n_features - 1), min_size=1, unique=True))
    places = data.draw(st.permutations(range(len(features) + 1)))[: len(features)]
    out = np.full((len(features) + 1, n), 99, np.uint8)
    columns_from_rows(by_row, np.array(features), np.array(places), begin, end, out)
    expected = slow.columns_from_rows(by_row, features, places, begin, end, np.full_like(out, 99))
    assert (out == expected).all()
