"""Dates that are written as text, in files and in frames."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import woodwind
from woodwind.base.errors import TableError
from woodwind.data.quality.suspicions import suspicions
from woodwind.data.reading.files import read_table
from woodwind.data.reading.written_schema import WrittenSchema
from woodwind.data.tables.roles import split_roles
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.target_column import read_target
from woodwind.data.tables.text_types import written_moments, written_order

N = 60
MOMENTS = [dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=7 * row, minutes=37 * row) for row in range(N)]
WRITTEN = {
    "iso": [moment.date().isoformat() for moment in MOMENTS],
    "zoned": [moment.strftime("%Y-%m-%dT%H:%M:%S+0200") for moment in MOMENTS],
    "day first": [moment.strftime("%d/%m/%Y") for moment in MOMENTS],
    "american": [moment.strftime("%m/%d/%Y %I:%M %p") for moment in MOMENTS],
    "named": [moment.strftime("%B %d, %Y") for moment in MOMENTS],
    "clock": [moment.strftime("%H:%M") for moment in MOMENTS],
    "gaps": ["?" if row % 5 == 0 else moment.date().isoformat() for row, moment in enumerate(MOMENTS)],
    "word": ["a", "b"] * (N // 2),
    "y": [0, 1, 1] * (N // 3),
}


def _dictionary_of_views(cells):
    coded = pa.array(cells, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary.cast(pa.string_view()))


STORED = {
    "string": lambda cells: pa.array(cells, pa.string()),
    "large_string": lambda cells: pa.array(cells, pa.large_string()),
    "string_view": lambda cells: pa.array(cells, pa.string_view()),
    "dictionary": lambda cells: pa.array(cells, pa.string()).dictionary_encode(),
    "dictionary of views": _dictionary_of_views,
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "dates.csv"
    pd.DataFrame(WRITTEN).to_csv(path, index=False)
    return path


def features(schema, frame):
    table = schema.read(frame, beside=("y",))
    return np.column_stack([column.read(0, len(frame)) for column in table.columns])


@pytest.mark.parametrize("library", ["pandas", "pandas objects", "pandas nullable", "polars"])
def test_a_frame_has_the_dates_of_its_file(file, library):
    frame = pl.read_csv(file) if library == "polars" else pd.read_csv(file)
    if library != "polars":
        frame = {"pandas": frame, "pandas objects": frame.astype(object), "pandas nullable": frame.convert_dtypes()}[library]
        frame.index = np.arange(N)[::-1]  # whatever rows are called
    of_file, _ = Schema.learn(split_roles(read_table(file), "y").X)
    of_frame, _ = Schema.learn(split_roles(frame, "y").X)
    assert of_frame.feature_names == of_file.feature_names
    expected = features(of_file, read_table(file))
    for schema in (of_file, of_frame):
        np.testing.assert_array_equal(features(schema, frame), expected)
        np.testing.assert_array_equal(features(schema, read_table(file)), expected)


def test_tables_of_arrow_say_themselves_what_is_text():
    kept = split_roles(pa.table(WRITTEN), "y").X
    assert kept.schema.field("iso").type == pa.string()
    found = suspicions(kept, None, np.array(WRITTEN["y"]), True)
    assert {one.columns[0] for one in found if one.kind == "dates as text"} >= {"iso", "zoned", "day first", "american", "named"}


def test_a_time_column_of_a_frame_may_be_text(file):
    moments = split_roles(pd.read_csv(file), "y", time_column="zoned").moments
    assert (np.diff(moments) > 0).all()


def test_a_date_is_refused_where_it_cannot_be_told(file):
    schema, _ = Schema.learn(split_roles(read_table(file), "y").X)
    frame = pd.read_csv(file).head(2).assign(**{"day first": ["01/02/2024", "02/03/2024"]})
    with pytest.raises(TableError, match=r"WW-D014: column 'day first'.* '01/02/2024', '02/03/2024', where day and month cannot"):
        schema.read(frame, beside=("y",))


@pytest.mark.parametrize("how", ["file", "pandas", "polars", "schema"])
def test_a_model_remembers_whether_the_day_comes_first(file, tmp_path, how):
    table = {"file": lambda: file, "pandas": lambda: pd.read_csv(file), "polars": lambda: pl.read_csv(file), "schema": lambda: file}[how]()
    WrittenSchema.of(read_table(file)).write(tmp_path / "schema.json")
    model = woodwind.fit(table, "y", models=1, schema=tmp_path / "schema.json" if how == "schema" else None)
    model.save(tmp_path / "model.ww")
    whole = pd.read_csv(file).drop(columns="y")
    # A day and a month of at most 12 each: nothing in these rows says which is which.
    few = whole[(whole["day first"].str[:2] <= "12") & (whole["american"].str[3:5] <= "12")]
    assert 2 <= len(few) < 30
    assert written_order(pa.chunked_array([few["day first"].to_list()])) is None
    few.to_csv(tmp_path / "few.csv", index=False)
    for asked in (model, woodwind.load(tmp_path / "model.ww")):
        expected = asked.predict_proba(file)[few.index]
        for rows in (few, pl.from_pandas(few), tmp_path / "few.csv"):
            np.testing.assert_array_equal(asked.predict_proba(rows), expected)
    with pytest.raises(TableError, match=r"WW-F013: column 'day first'.* with the day first: '05/13/2024'"):
        model.predict(few.assign(**{"day first": "05/13/2024"}))


def test_what_comes_first_is_told_by_a_day_above_twelve():
    def order(*cells):
        return written_order(pa.chunked_array([list(cells)], pa.string()))

    assert order("1/2/2024", "13/2/2024", "?", None) == "day first"
    assert order("1-2-2024 10:00", "1-13-2024") == "month first"
    assert order("1/2/2024") is None
    assert order("2024-01-13") is None
    assert order("13.1.2024") is None  # in dates with points the day is first anyway
    assert order() is None


@pytest.mark.parametrize("name", [name for name in WRITTEN if name not in ("word", "y")])
@pytest.mark.parametrize("stored", ["string", "large_string"])
def test_text_of_any_type_is_read_as_the_same_dates(name, stored):
    expected, _ = written_moments(pa.chunked_array([pa.array(WRITTEN[name], pa.string())]))
    found, predicted = written_moments(pa.chunked_array([STORED[stored](WRITTEN[name]), STORED[stored](WRITTEN[name])]))
    assert found.to_pylist() == 2 * expected.to_pylist()
    assert predicted == ""


def test_text_that_is_no_date_stays_text():
    assert written_moments(pa.chunked_array([["a", "b"]])) == (None, "")
    assert written_moments(pa.chunked_array([["2024-01-31", "soon"]])) == (None, "")
    assert written_moments(pa.chunked_array([["?", ""]])) == (None, "")
    assert written_moments(pa.chunked_array([], pa.string())) == (None, "")
    assert written_moments(pa.chunked_array([["?", *["2024-01-31"] * 9]]))[0].null_count == 1


@pytest.mark.parametrize("stored", STORED)
def test_every_reader_takes_text_of_any_type(stored):
    cells = {"level": WRITTEN["word"], "number": [str(row) for row in range(N)], "iso": WRITTEN["iso"], "clock": WRITTEN["clock"]}
    typed = pa.table({**cells, "number": list(range(N)), "iso": [one.date() for one in MOMENTS], "clock": [one.time() for one in MOMENTS]})
    schema, expected = Schema.learn(typed)
    text = pa.table({name: STORED[stored](values) for name, values in cells.items()})
    if "dictionary" in stored:  # categories stay categories: a date that is one was not meant as a date
        text = text.set_column(2, "iso", typed["iso"]).set_column(3, "clock", typed["clock"])
    else:
        typed = typed.set_column(3, "clock", pa.array([moment.replace(second=0).time() for moment in MOMENTS]))
    read = schema.read(text)
    for one, other in zip(schema.read(typed).columns, read.columns, strict=True):
        np.testing.assert_array_equal(one.read(0, N), other.read(0, N))
    assert len(expected.columns) == len(read.columns)
    trained, _ = Schema.learn(text.select(["level"]))
    assert trained.categories == (("a", "b"),)
    target = read_target(text["level"], name="level")
    assert target.classes == ("a", "b")
    roles = split_roles(text.append_column("y", pa.array(WRITTEN["y"])), "y", group="level")
    assert roles.groups.tolist() == [0, 1] * (N // 2)
