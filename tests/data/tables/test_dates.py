"""Dates, times and durations as numbers."""
# ruff: noqa: DTZ001  tables have dates without a zone

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from woodwind.data.tables.dates import part, seconds, varying_parts
from woodwind.data.tables.schema import Schema

DATES = [dt.datetime(2024, 2, 29, 13, 30), None, dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(2100, 1, 1)]


def read(X):
    schema, table = Schema.learn(X)
    return schema.feature_names, [np.asarray(column.block(0, table.n_rows), float).tolist() for column in table.columns]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_are_seconds_since_1970_in_any_unit(unit):
    values = pa.chunked_array([pa.array(DATES, pa.timestamp("s")).cast(pa.timestamp(unit))])
    expected = [1709213400.0, np.nan, -1.0, 4102444800.0]
    assert np.array_equal(seconds(values), expected, equal_nan=True)


def test_parts_of_dates_are_counted_as_people_do_except_that_monday_is_zero():
    values = pa.chunked_array([pa.array(DATES, pa.timestamp("us"))])
    for name, expected in {
        "month": [2, np.nan, 12, 1],
        "weekday": [3, np.nan, 2, 4],
        "day": [29, np.nan, 31, 1],
        "day_of_year": [60, np.nan, 365, 1],
        "hour": [13, np.nan, 23, 0],
        "minute": [30, np.nan, 59, 0],
    }.items():
        assert np.array_equal(part(values, name), np.array(expected, np.float32), equal_nan=True)


def test_only_parts_that_vary_become_features():
    frame = pd.DataFrame({"when": pd.to_datetime(["2024-01-01", "2024-01-08", None])})
    assert read(frame)[0] == ("when", "when:day")
    assert read(frame.iloc[:1])[0] == ("when",)
    assert varying_parts(pa.chunked_array([pa.nulls(3, pa.timestamp("s"))])) == ()


SOURCES = {
    "pandas": lambda d: pd.DataFrame({"when": pd.to_datetime(d)}),
    "pandas in nanoseconds": lambda d: pd.DataFrame({"when": pd.to_datetime(d).as_unit("ns")}),
    "pandas objects": lambda d: pd.DataFrame({"when": pd.Series(d, dtype=object)}),
    "polars": lambda d: pl.DataFrame({"when": d}),
    "arrow": lambda d: pa.table({"when": pa.array(d, pa.timestamp("ms"))}),
    "numpy": lambda d: np.array(d, "M8[s]")[:, None],
    "list": lambda d: [[value] for value in d],
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_library_gives_the_same_dates(source):
    names, columns = read(SOURCES[source](DATES))
    assert [name.partition(":")[2] for name in names] == ["", "month", "weekday", "day", "day_of_year", "hour", "minute"]
    assert np.array_equal(columns[0], [1709213400.0, np.nan, -1.0, 4102444800.0], equal_nan=True)
    assert np.array_equal(columns[5], [13, np.nan, 23, 0], equal_nan=True)


def test_days_have_no_hours():
    values = pa.chunked_array([pa.array([dt.date(2024, 2, 29), None, dt.date(1970, 1, 2)])])
    assert np.array_equal(seconds(values), [1709164800.0, np.nan, 86400.0], equal_nan=True)
    for name in ("hour", "minute"):
        assert np.array_equal(part(values, name), [0, np.nan, 0], equal_nan=True)
    assert varying_parts(values) == ("month", "weekday", "day", "day_of_year")


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_every_unit_of_numpy_is_read(unit):
    dates = np.array([["2024-02-29"], ["1970-01-01"]], f"M8[{unit}]")
    assert read(dates)[1][0] == dates.astype("M8[s]").astype(float)[:, 0].tolist()


def test_times_of_day_and_durations_are_seconds():
    frame = pl.DataFrame({"clock": [dt.time(1, 0, 1), None], "span": [dt.timedelta(days=-1), None]})
    assert np.array_equal(read(frame)[1], [[3601.0, np.nan], [-86400.0, np.nan]], equal_nan=True)
    assert read(pd.DataFrame({"span": pd.to_timedelta([90, 30], "s")}))[1] == [[90.0, 30.0]]
    assert read(pa.table({"clock": pa.array([5, 7], pa.time32("ms"))}))[1] == [[0.005, 0.007]]


def test_parts_go_by_the_clock_of_the_time_zone_and_seconds_do_not():
    here = pd.to_datetime(["2024-07-01 00:30", "2024-07-02 12:00"]).tz_localize("Europe/Berlin")
    schema, table = Schema.learn(pd.DataFrame({"when": here}))
    by_name = dict(zip(schema.feature_names, table.columns, strict=True))
    assert by_name["when:hour"].block(0, 2).tolist() == [0.0, 12.0]
    assert by_name["when"].block(0, 2).tolist() == [1719786600.0, 1719914400.0]
    # The same moments in another zone are the same rows.
    other = schema.read(pd.DataFrame({"when": here.tz_convert("Asia/Tokyo")}))
    for a, b in zip(table.columns, other.columns, strict=True):
        assert a.block(0, 2).tolist() == b.block(0, 2).tolist()


def test_periods_of_pandas_are_dates():
    frame = pd.DataFrame({"when": pd.period_range("2024-01", periods=2, freq="M")})
    assert read(frame)[1][0] == [1704067200.0, 1706745600.0]
