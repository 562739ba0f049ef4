"""What columns of Python objects hold."""
# ruff: noqa: DTZ001  tables have dates without a zone

import datetime as dt
import decimal
import fractions

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from woodwind.base.errors import ColumnTypeError, PrecisionWarning, TableError
from woodwind.data.tables.arrays import column_of_objects


def read(values):
    array = np.empty(len(values), object)
    array[:] = values
    return column_of_objects(array, "column 'c'")


def numbers(values):
    found = read(values)
    return np.asarray(found.to_numpy() if isinstance(found, pa.ChunkedArray) else found, float)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2.5, None], [1, 2.5, np.nan]),
        ([True, False, None], [1, 0, np.nan]),
        ([True, 2, 3.5], [1, 2, 3.5]),
        ([np.float32(0.5), np.int8(3), np.bool_(True)], [0.5, 3, 1]),
        ([1, pd.NA, float("nan")], [1, np.nan, np.nan]),
        ([fractions.Fraction(1, 4), 2], [0.25, 2]),
        ([decimal.Decimal("1.5"), 2, decimal.Decimal("NaN")], [1.5, 2, np.nan]),
        ([10**400, -(10**400), 1.0], [np.inf, -np.inf, 1.0]),
        ([np.inf, -np.inf, np.nan], [np.inf, -np.inf, np.nan]),
    ],
)
@pytest.mark.filterwarnings("ignore::woodwind.base.errors.PrecisionWarning")
def test_numbers_of_any_type_are_numbers(values, expected):
    assert np.array_equal(numbers(values), np.array(expected, float), equal_nan=True)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, decimal.Decimal("NaN")])
def test_every_marker_of_a_missing_value_is_known_beside_text(missing):
    assert read(["a", missing, "b"]).to_pylist() == ["a", None, "b"]


@pytest.mark.parametrize("missing", [None, pd.NaT, np.datetime64("NaT"), pd.NA, np.nan])
def test_every_marker_of_a_missing_value_is_known_beside_dates(missing):
    found = read([dt.datetime(2024, 1, 1), missing])
    assert pa.types.is_timestamp(found.type)
    assert found.null_count == 1


def test_dates_and_moments_may_be_mixed():
    found = read([dt.date(2024, 1, 1), dt.datetime(2024, 1, 2, 12)])
    assert pa.types.is_timestamp(found.type) or pa.types.is_date(found.type)


def test_a_column_of_nothing_has_no_kind():
    assert pa.types.is_null(read([None, np.nan, pd.NA]).type) or numbers([None, np.nan]).size == 2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, "a", 2], ["number in most rows", "text in 1", "rows 2", "'a'"]),
        (["a", "b", 3.5], ["text in most rows", "number in 1", "3.5"]),
        ([1, dt.date(2024, 1, 1), 2], ["date in 1"]),
        (["a", dt.timedelta(1), "b", "c"], ["duration in 1"]),
        ([dt.time(1), 5, 6], ["time of day in 1"]),
    ],
)
def test_a_mixture_is_an_error_that_names_column_rows_and_values(values, words):
    with pytest.raises(TableError, match="WW-D010") as error:
        read(values)
    for word in ["column 'c'", "Fix:", *words]:
        assert word in str(error.value)


@pytest.mark.parametrize("value", [[1], (1, 2), {"a": 1}, {1}, b"x", 1j, object(), np.ones(2), type])
def test_things_that_are_no_values_are_named(value):
    with pytest.raises(ColumnTypeError, match="WW-D011") as error:
        read([None, value, value])
    assert type(value).__name__ in str(error.value)
    assert "row 2" in str(error.value)


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(TableError) as error:
        read([1, "x" * 10_000, 2])
    assert len(str(error.value)) < 600


def test_text_that_is_no_unicode_is_an_error():
    with pytest.raises(TableError, match="WW-D017"):
        read(["\ud800", "a"])


def test_whole_numbers_too_large_for_a_double_stay_what_they_are():
    assert read([2**70, None, 1]).to_pylist() == [2**70, None, 1]
    with pytest.warns(PrecisionWarning, match="column 'c'"):
        assert read([10**400, 1])[0] == np.inf
    with pytest.warns(PrecisionWarning, match="column 'c'"):
        assert read([2**70, decimal.Decimal("0.5")])[0] == float(2**70)
