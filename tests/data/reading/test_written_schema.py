"""Schemas that are written, edited and given back."""

import datetime as dt
import json

import pyarrow as pa
import pyarrow.parquet
import pytest

from woodwind.base.errors import TableError
from woodwind.data.reading.files import read_table, text_columns
from woodwind.data.reading.written_schema import WrittenColumn, WrittenSchema
from woodwind.data.tables.schema import Schema

TABLE = pa.table(
    {
        "age": [30, None, 50],
        "member": [True, False, None],
        "city": ["Rom", None, "Oslo"],
        "since": [dt.date(2020, 1, 2), None, dt.date(2021, 3, 4)],
        "at": [dt.time(8, 30), None, None],
        "took": pa.array([1, 2, None], pa.duration("s")),
        "levels": pa.array(["a", "b", None]).dictionary_encode(),
        "nothing": pa.nulls(3),
        "nested": pa.array([[1], [2], None]),
        "y": [0.5, 1.5, 2.5],
    }
)
TYPES = ["number", "boolean", "category", "date", "time of day", "duration", "category", "number", "ignore", "number"]


def csv(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def schema_of(*columns):
    return WrittenSchema.from_dict({"columns": [{"name": name, "type": kind, **more} for name, kind, more in columns]})


def column(folder, cells, kind, **more):
    path = csv(folder, "x,other\n" + "".join(f"{cell},0\n" for cell in cells))
    return read_table(path, schema=schema_of(("x", kind, more)))["x"]


def test_a_schema_says_what_the_columns_are_and_are_for():
    schema = WrittenSchema.of(TABLE, "y", group="city", time="since", weight="age", ignore=["took"])
    assert [one.type for one in schema.columns] == TYPES
    assert (schema.target, schema.role("group"), schema.role("time"), schema.role("weight")) == ("y", "city", "since", "age")
    assert schema.ignored == ("took", "nested")
    assert schema.columns[2].examples == ("Rom", "Oslo")
    assert WrittenSchema.of(TABLE).target is None
    with pytest.raises(TableError, match=r"WW-F011: .*'Y'"):
        WrittenSchema.of(TABLE, "Y")


def test_what_is_written_is_read_back(tmp_path):
    schema = WrittenSchema.of(TABLE, "y", group="city", ignore=["age"])
    path = tmp_path / "schema.json"
    schema.write(path)
    assert WrittenSchema.read(path) == schema
    assert WrittenSchema.from_dict(schema.to_dict()) == schema
    edited = WrittenSchema((WrittenColumn('odd "name"\n', "date", "time", "%d/%m/%Y", ("?", "ü"), ("x",)),))
    edited.write(path)
    assert WrittenSchema.read(path) == edited
    assert len(path.read_text(encoding="utf-8").splitlines()) == 6


def test_a_table_read_with_its_own_schema_is_the_same_table(tmp_path):
    path = csv(tmp_path, "a,b,c,d,e\n1,x,true,2026-01-31,08:30\n2.5,,false,2026-02-01,\n")
    table = read_table(path)
    assert read_table(path, schema=WrittenSchema.of(table)).equals(table)


def test_the_types_that_are_written_are_obeyed(tmp_path):
    assert column(tmp_path, ["1", "2", "", "1.50"], "category").to_pylist() == ["1", "2", None, "1.50"]
    assert column(tmp_path, ["NA", "None"], "category").to_pylist() == ["NA", "None"]
    assert column(tmp_path, ["NA", "None"], "category", missing=["NA"]).to_pylist() == [None, "None"]
    assert column(tmp_path, ["007", "+8", "NA"], "number").to_pylist() == [7, 8, None]
    assert column(tmp_path, ["1.5", "unknown", "-999"], "number", missing=["unknown", "-999"]).to_pylist() == [1.5, None, None]
    assert column(tmp_path, ["yes", "No", "?"], "boolean").to_pylist() == [True, False, None]
    assert column(tmp_path, ["1", "0"], "boolean").to_pylist() == [True, False]
    assert column(tmp_path, ["90", "1:30", "2 days 01:00:00", "-0:10"], "duration").to_pylist() == [
        dt.timedelta(seconds=90),
        dt.timedelta(hours=1, minutes=30),
        dt.timedelta(days=2, hours=1),
        -dt.timedelta(minutes=10),
    ]
    assert column(tmp_path, ["", ""], "date").type == pa.timestamp("us")


def test_how_dates_are_written_can_be_said(tmp_path):
    days = [dt.datetime.fromisoformat("2026-02-01"), dt.datetime.fromisoformat("2026-04-03"), None]
    assert column(tmp_path, ["01/02/2026", "03/04/2026", "NA"], "date", format="%d/%m/%Y").to_pylist() == days
    assert column(tmp_path, ["20260201", "20260403", ""], "date", format="%Y%m%d").to_pylist() == days
    assert column(tmp_path, ["1.2.26", "3.4.26", ""], "date", format="%d.%m.%y").to_pylist() == days
    assert column(tmp_path, ["2026-02-01", "2026-04-03"], "date").to_pylist() == [day.date() for day in days[:2]]
    assert column(tmp_path, ["0830", "1915"], "time of day", format="%H%M").to_pylist() == [dt.time(8, 30), dt.time(19, 15)]
    assert column(tmp_path, ["8:30", "19:15"], "time of day").to_pylist() == [dt.time(8, 30), dt.time(19, 15)]
    zoned = column(tmp_path, ["01/02/2026 +0100"], "date", format="%d/%m/%Y %z")
    assert zoned.type == pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("cells", "kind", "more", "predicted"),
    [
        (["1", "x", "2", "x"], "number", {}, r"2 cells that cannot be read as a number: 'x' .rows 2, 4"),
        (["1", "0x1F"], "number", {}, "0x1F"),
        (["yes", "maybe"], "boolean", {}, "maybe"),
        (["2026-01-31", "soon"], "date", {}, "soon"),
        (["01/02/2026", "03/04/2026"], "date", {}, "format"),
        (["31/02/2026"], "date", {"format": "%d/%m/%Y"}, "31/02/2026"),
        (["8:30", "late"], "time of day", {}, "late"),
        (["an hour"], "duration", {}, "an hour"),
    ],
)
def test_cells_that_are_not_what_is_written_are_named(tmp_path, cells, kind, more, predicted):
    with pytest.raises(TableError, match=f"(?s)WW-F013: .*'x'.*{predicted}"):
        column(tmp_path, cells, kind, **more)


def test_ignored_columns_are_not_read_and_others_are_found_out_about(tmp_path):
    path = csv(tmp_path, "a,b,c\n1,2,x\n")
    schema = schema_of(("a", "ignore", {}), ("b", "category", {"role": "ignore"}))
    assert read_table(path, schema=schema).to_pydict() == {"c": ["x"]}
    with pytest.raises(TableError, match="WW-F011"):
        read_table(path, schema=schema_of(("d", "number", {})))


def test_other_files_obey_too(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(TABLE, path)
    schema = schema_of(
        *((name, "category", {}) for name in ("age", "y", "since", "levels", "nothing")),
        ("member", "number", {}),
        ("city", "category", {"missing": ["Rom"]}),
        ("nested", "ignore", {}),
    )
    read = read_table(path, schema=schema).to_pydict()
    assert read["member"] == [1, 0, None]
    assert read["age"] == ["30", None, "50"]
    assert read["y"] == ["0.5", "1.5", "2.5"]
    assert read["city"] == [None, None, "Oslo"]
    assert read["since"] == ["2020-01-02", None, "2021-03-04"]
    assert read["levels"] == ["a", "b", None]
    assert "nested" not in read
    with pytest.raises(TableError, match=r"WW-F013: .*list"):
        read_table(path, schema=schema_of(("nested", "category", {})))


def test_numbers_as_categories_are_written_as_people_write_them(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"x": [1.0, 2.5, float("nan"), -0.0, 1e300, float("inf")]}), path)
    assert read_table(path, schema=schema_of(("x", "category", {})))["x"].to_pylist() == ["1", "2.5", None, "0", "1e+300", "inf"]


GOOD = {"name": "a", "type": "number"}


@pytest.mark.parametrize(
    ("given", "predicted"),
    [
        ("[]", "columns"),
        ('{"columns": {}}', "columns"),
        ('{"columns": [', "no JSON"),
        (b"\xff\xfe\x00", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ({"columns": [GOOD], "colums": 1}, "did you mean 'columns'"),
        ({"columns": [GOOD], "woodwind_schema": 2}, "version 2"),
        ({"columns": ["a"]}, 'no "name"'),
        ({"columns": [{"type": "number"}]}, 'no "name"'),
        ({"columns": [{"name": "a"}]}, "type of column 'a' is None"),
        ({"columns": [{"name": "a", "type": "string"}]}, "did you mean 'category'"),
        ({"columns": [{"name": "a", "type": "nubmer"}]}, "did you mean 'number'"),
        ({"columns": [{**GOOD, "role": "targte"}]}, "did you mean 'target'"),
        ({"columns": [{**GOOD, "rol": "target"}]}, "did you mean 'role'"),
        ({"columns": [{**GOOD, "format": "%d"}]}, "format of column 'a'"),
        ({"columns": [{"name": "a", "type": "date", "format": "dd"}]}, "format of column 'a'"),
        ({"columns": [{**GOOD, "missing": "NA"}]}, "missing in column 'a'"),
        ({"columns": [GOOD, GOOD]}, "more than once: 'a'"),
        ({"columns": [{**GOOD, "role": "target"}, {**GOOD, "name": "b", "role": "target"}]}, "'a', 'b' all have the role 'target'"),
    ],
)
def test_what_is_wrong_with_a_schema_is_said(tmp_path, given, predicted):
    path = tmp_path / "schema.json"
    path.write_bytes(given if isinstance(given, bytes) else (given if isinstance(given, str) else json.dumps(given)).encode())
    with pytest.raises(TableError, match="WW-F012") as caught:
        WrittenSchema.read(path)
    assert predicted in str(caught.value)


def test_places_where_no_schema_is(tmp_path):
    with pytest.raises(TableError, match="WW-F002"):
        WrittenSchema.read(tmp_path / "none.json")
    with pytest.raises(TableError, match="WW-F020"):
        WrittenSchema.of(TABLE).write(tmp_path / "no" / "schema.json")


def test_what_a_model_knows_as_text_can_be_read_as_text(tmp_path):
    training = pa.table({"size": ["7", "None", "x"], "age": [1, 2, 3]})
    schema, _ = Schema.learn(training)
    assert text_columns(schema) == ("size",)
    path = csv(tmp_path, "age,size\n1,None\n")
    assert read_table(path)["size"].to_pylist() == [None]
    assert read_table(path, as_text=[*text_columns(schema), "absent"]).to_pydict() == {"age": [1], "size": ["None"]}
