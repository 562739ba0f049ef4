"""Files of every kind as one table."""

import bz2
import datetime as dt
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from woodwind.base.errors import ReadingWarning, TableError
from woodwind.data.reading import csv_file
from woodwind.data.reading.files import is_path, read_table

TABLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "y"], "c": [0.5, None, -1.0]})
CSV = b"a,b,c\n1,x,0.5\n2,,\n3,y,-1\n"


def written(folder, content, name="table.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(folder, content, **how):
    return read_table(written(folder, content), **how)


def column(folder, *cells, separator=","):
    """What a column of these cells is read as, with a second column beside it."""
    lines = [f"a{separator}b", *(f"{cell}{separator}0" for cell in cells)]
    return read(folder, "\n".join(lines) + "\n")["a"]


def failure(folder, content, code, **how):
    with pytest.raises(TableError) as caught:
        read(folder, content, **how)
    text = str(caught.value)
    assert text.startswith(f"WW-{code}: ")
    assert "\nFix: " in text
    return text


# ------------------------------------------------------------------------------------------------------------- kinds of files


def zipped(content, *more):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("inside.csv", content)
        for name in more:
            archive.writestr(name, content)
    return out.getvalue()


def zstd(content):
    return pa.Codec("zstd").compress(content, asbytes=True)


def lz4(content):
    out = io.BytesIO()
    with pa.CompressedOutputStream(out, "lz4") as stream:
        stream.write(content)
        stream.close()
        return out.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zipped])
@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "arrow stream"])
def test_what_a_file_is_says_its_contents_not_its_name(tmp_path, kind, pack):
    sink = pa.BufferOutputStream()
    if kind == "csv":
        sink.write(CSV)
    elif kind == "parquet":
        pa.parquet.write_table(TABLE, sink)
    elif kind == "feather":
        pa.feather.write_feather(TABLE, sink)
    else:
        with pa.ipc.new_stream(sink, TABLE.schema) as stream:
            stream.write_table(TABLE)
    path = written(tmp_path, pack(bytes(sink.getvalue())), "data")
    assert read_table(path).equals(TABLE)


def test_an_index_of_pandas_without_a_name_is_no_column(tmp_path):
    table = TABLE.append_column("__index_level_0__", pa.array([7, 8, 9]))
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    pa.feather.write_feather(table, tmp_path / "t.feather")
    for name in ("t.parquet", "t.feather"):
        assert read_table(tmp_path / name).equals(TABLE)


def test_zstd_and_gzip_in_several_parts_are_read(tmp_path):
    assert read(tmp_path, zstd(CSV)).equals(TABLE)
    assert read(tmp_path, gzip.compress(CSV[:14]) + gzip.compress(CSV[14:])).equals(TABLE)


def test_an_archive_of_several_files_is_refused(tmp_path):
    assert "2 files" in failure(tmp_path, zipped(CSV, "other.csv"), "F003")


@pytest.mark.parametrize(
    ("content", "predicted"),
    [
        (b'{"a": [1, 2]}', "JSON"),
        (b'[{"a": 1}]', "JSON"),
        (b"\n<!DOCTYPE html><html></html>", "HTML"),
        (zipped(b"", "[Content_Types].xml"), "Excel"),
        (b"SQLite format 3\0" + bytes(50), "SQLite"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"),
        (b"\x80\x04\x95abc", "pickle"),
        (b"@RELATION iris\n", "ARFF"),
    ],
)
def test_other_kinds_of_files_are_told_what_they_are(tmp_path, content, predicted):
    assert predicted in failure(tmp_path, content, "F003")


@pytest.mark.parametrize("kind", ["gzip", "parquet", "feather", "zip", "xz"])
def test_a_damaged_file_is_named(tmp_path, kind):
    sink = pa.BufferOutputStream()
    if kind == "parquet":
        pa.parquet.write_table(TABLE, sink)
    elif kind == "feather":
        pa.feather.write_feather(TABLE, sink)
    whole = bytes(sink.getvalue()) or {"gzip": gzip.compress, "zip": zipped, "xz": lzma.compress}[kind](CSV * 1000)
    assert "table.csv" in failure(tmp_path, whole[:-30], "F005")


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow stream"])
def test_damaged_files_of_columns_are_read_or_refused(tmp_path, kind):
    sink = pa.BufferOutputStream()
    if kind == "parquet":
        pa.parquet.write_table(TABLE, sink)
    elif kind == "feather":
        pa.feather.write_feather(TABLE, sink, compression="uncompressed")
    else:
        with pa.ipc.new_stream(sink, TABLE.schema) as stream:
            stream.write_table(TABLE)
    whole = bytes(sink.getvalue())
    draw = np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for position in draw.integers(8, len(whole) - 4, draw.integers(1, 4)):
            damaged[position] = draw.integers(0, 256)
        try:
            read(tmp_path, bytes(damaged)).validate(full=True)
        except TableError:
            refused += 1
    assert refused > 20


# ------------------------------------------------------------------------------------------------------------- several files


def test_a_pattern_a_list_and_standard_input(tmp_path, monkeypatch):
    written(tmp_path, "a,b\n1,2\n", "part1.csv")
    written(tmp_path, "b;a\n20;10\n", "part2.csv")
    expected = pa.table({"a": [1, 10], "b": [2, 20]})
    assert read_table(tmp_path / "part*.csv").equals(expected)
    assert read_table([tmp_path / "part1.csv", str(tmp_path / "part2.csv")]).equals(expected)
    assert read_table([tmp_path / "part2.csv", str(tmp_path / "part1.csv")]).to_pydict() == {"b": [20, 2], "a": [10, 1]}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a,b\n1,2\n3,4\n"))))
    assert read_table("-").equals(pa.table({"a": [1, 3], "b": [2, 4]}))


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    assert read_table(written(tmp_path, CSV, "table[1].csv")).equals(TABLE)


def test_the_type_of_a_column_is_that_of_all_files(tmp_path):
    written(tmp_path, "a,b,c\n1,7,\n", "1.csv")
    written(tmp_path, "a,b,c\n2.5,x,\n", "2.csv")
    written(tmp_path, "a,b,c\nNA,8,z\n", "3.csv")
    table = read_table(tmp_path / "*.csv")
    assert table.to_pydict() == {"a": [1.0, 2.5, None], "b": ["7", "x", "8"], "c": [None, None, "z"]}


def test_files_of_several_kinds_keep_their_order(tmp_path):
    written(tmp_path, "a,b\n1,x\n", "1.csv")
    pa.parquet.write_table(pa.table({"b": ["y", "z"], "a": pa.array([2, 3], pa.int32())}), tmp_path / "2.parquet")
    written(tmp_path, "a,b\n4,w\n5,v\n", "3.csv")
    assert read_table(tmp_path / "*").to_pydict() == {"a": [1, 2, 3, 4, 5], "b": ["x", "y", "z", "w", "v"]}


def test_a_file_that_lacks_a_column_or_has_another_is_named(tmp_path):
    written(tmp_path, "a,b\n1,2\n", "1.csv")
    written(tmp_path, "a,bb\n1,2\n", "2.csv")
    with pytest.raises(TableError, match=r"WW-F010: '.*2\.csv' lacks 'b' and has 'bb', unlike '.*1\.csv'"):
        read_table(tmp_path / "*.csv")
    assert read_table(tmp_path / "*.csv", columns=["a"]).to_pydict() == {"a": [1, 1]}


def test_types_that_cannot_be_one_are_named(tmp_path):
    written(tmp_path, "a\nx\ny\n", "1.csv")
    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"WW-F018: .*'a' is int64 or string"):
        read_table(tmp_path / "*")


def test_only_the_columns_asked_for_are_read_in_the_order_asked(tmp_path):
    assert read(tmp_path, CSV, columns=["c", "a"]).column_names == ["c", "a"]
    assert "did you mean 'a'" in failure(tmp_path, CSV.replace(b"a,", b"age,"), "F011", columns=["Age"]).replace("'age'", "'a'")


@pytest.mark.parametrize("position", ["nothing.csv", "nothing*.csv", "https://example.org/table.csv", "no/such/folder/x.csv", "a\0b"])
def test_a_place_without_a_file_says_what_is_there(tmp_path, monkeypatch, position):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, CSV)
    with pytest.raises(TableError, match="WW-F001"):
        read_table(position)


def test_folders_and_things_that_are_no_places(tmp_path):
    with pytest.raises(TableError, match=r"WW-F002.*folder"):
        read_table(tmp_path)
    for wrong in (5, None, [], [5]):
        with pytest.raises(TableError, match="WW-F016"):
            read_table(wrong)
    assert all(map(is_path, ("x", tmp_path, ["x"])))
    assert not any(map(is_path, ([], [[1]], TABLE)))


# ------------------------------------------------------------------------------------------------------------- shape of text


def test_separators_are_found(tmp_path):
    for sign in ",;\t|":
        rows = [["a", "b", "c"], ["1", "x y", "2.5"], ["2", f'"p{sign}q"', ""]]
        table = read(tmp_path, "\n".join(sign.join(row) for row in rows))
        assert table.to_pydict() == {"a": [1, 2], "b": ["x y", f"p{sign}q"], "c": [2.5, None]}
    assert read(tmp_path, "a b:c\n1:2\n", separator=":").column_names == ["a b", "c"]


def test_a_line_that_names_the_separator_is_obeyed(tmp_path):
    for start in ("", "\ufeff"):
        assert read(tmp_path, f"{start}sep=;\r\na;b\r\n1,5;x\r\n".replace("1,5", "1.5")).to_pydict() == {"a": [1.5], "b": ["x"]}


def test_cells_that_blanks_seem_to_separate_are_pointed_out(tmp_path):
    with pytest.warns(ReadingWarning, match="read as one column"):
        assert read(tmp_path, "a b c\n1 2 3\n4 5 6\n").num_columns == 1
    assert read(tmp_path, "name\nNew York\nOslo\n").num_columns == 1


def test_a_single_column_keeps_its_blank_lines(tmp_path):
    assert read(tmp_path, "\na\n1\n\n3\n\n\n").to_pydict() == {"a": [1, None, 3]}
    assert read(tmp_path, "a,b\n\n1,2\n\n\n").to_pydict() == {"a": [1], "b": [2]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_quotes(tmp_path, end):
    text = end.join(["a,b", '"1","x ""y"", z"', f'2,"line{end}break"', '3,5" pipe'])
    assert read(tmp_path, text).to_pydict() == {"a": [1, 2, 3], "b": ['x "y", z', f"line{end}break", '5" pipe']}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark_and_without(tmp_path, encoding):
    assert read(tmp_path, "é,ü\n1,日本\n".encode(encoding)).to_pydict() == {"é": [1], "ü": ["日本"]}


def test_other_encodings_are_guessed_and_said(tmp_path):
    with pytest.warns(ReadingWarning, match=r"not UTF-8 \(line 3\); it is read as Windows-1252"):
        assert read(tmp_path, "a,b\n1,x\n2,€ü\n".encode("cp1252"))["b"].to_pylist() == ["x", "€ü"]
    with pytest.warns(ReadingWarning, match="Latin-1"):
        assert read(tmp_path, b"a,b\xfc\n1,\x81\n").column_names == ["a", "bü"]


def test_late_wrong_bytes_are_met_too(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "_BLOCK", 4096)
    content = b"a,b\n" + b"1,x\n" * 100_000 + b"2,\xe4\n"
    with pytest.warns(ReadingWarning, match="line 100,002"):
        assert read(tmp_path, content)["b"].to_pylist()[-1] == "ä"


def test_broken_utf_16_is_an_error(tmp_path):
    failure(tmp_path, "a,b\n1,2\n".encode("utf-16")[:-1], "F015")


@pytest.mark.parametrize(
    ("content", "code", "predicted"),
    [
        (b"", "F004", "byte"),
        (b"\n\r\n \n".replace(b" ", b""), "F004", "blank"),
        (b"a,b\n", "F014", "row"),
        (b"a,b\n1,2\n3\n4,5,6\n", "F006", "line 3"),
        (b'a,b\n1,"x\ny"\n2,"z"\n4,5,6\n', "F006", "line 5"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "F007", "line 3"),
        (b'a,b\n1,2\n3,"4\n5,6,7\n', "F007", "line 3"),
        (b"a,b,a\n1,2,3\n", "F008", "'a'"),
        (b"a,b\n1,2\n3,x\0y\n", "F009", "line 3"),
        (b"a,b\0\n1,2\n", "F009", "line 1"),
        ("a,b\n1,2\n".encode("utf-16-le"), "F009", "UTF-16"),
        (b"Title\na,b,c\n1,2,3\n", "F006", "title"),
        (b"a,b\nx,1,2\ny,3,4\n", "F006", "name of its row"),
        (b"sep=;\na;b\n1;2\n3\n", "F006", "line 4"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, content, code, predicted):
    assert predicted in failure(tmp_path, content, code)


def test_names_are_trimmed_and_those_without_go_by_their_places(tmp_path):
    assert read(tmp_path, " x ,,column_2,\n1,2,3,4\n").column_names == ["x", "column_2_", "column_2", "column_4"]


def test_very_long_cells_and_very_wide_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "_BLOCK", 4096)
    monkeypatch.setattr(csv_file, "_HEAD", 4096)
    long = "x" * 300_000
    assert read(tmp_path, f'a,b\n1,{long}\n2,"{long}\n{long}"\n3,\n')["b"].to_pylist() == [long, f"{long}\n{long}", None]
    wide = ",".join(f"column{position}" for position in range(3_000))
    assert read(tmp_path, f"{wide}\n{','.join(['1'] * 3_000)}\n").num_columns == 3_000


@pytest.mark.parametrize(
    ("first", "header"),
    [
        ("5.1,3.5,setosa", False),
        ("39,State-gov,77516,13", False),
        ("-1,x,2", False),
        ("1,1,1", False),
        ("a,b,c", True),
        ("country,1990,1995,2000", True),
        ("0,1,2", True),
        ("id,,x", True),
    ],
)
def test_a_first_line_of_data_is_no_header(tmp_path, first, header):
    content = f"{first}\n{first}\n"
    if header:
        table = read(tmp_path, content)
    else:
        with pytest.warns(ReadingWarning, match="no header"):
            table = read(tmp_path, content)
    assert table.num_rows == (1 if header else 2)
    assert table.column_names[0] == (first.split(",")[0] if header else "column_1")
    assert read(tmp_path, content, header=False).num_rows == 2


# ------------------------------------------------------------------------------------------------------------- types of cells


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "+2", "-3"], pa.int64(), [1, 2, -3]),
        (["1", "2.5"], pa.float64(), [1.0, 2.5]),
        (["1", "1e+05"], pa.float64(), [1.0, 1e5]),
        ([".5", "5.", "+.25", "-1E-3"], pa.float64(), [0.5, 5.0, 0.25, -0.001]),
        (["inf", "-Infinity", "1"], pa.float64(), [np.inf, -np.inf, 1.0]),
        ([" 1", "2 ", "  "], pa.int64(), [1, 2, None]),
        (["9007199254740993", "1"], pa.int64(), [9007199254740993, 1]),
        (["12345678901234567890", "1"], pa.string(), ["12345678901234567890", "1"]),
        (["1e19", "1"], pa.float64(), [1e19, 1.0]),
        (["007", "123"], pa.string(), ["007", "123"]),
        (["-01", "1"], pa.string(), ["-01", "1"]),
        (["0x1F", "1"], pa.string(), ["0x1F", "1"]),
        (["0", "0.5", "0e1", "-0.5"], pa.float64(), [0.0, 0.5, 0.0, -0.5]),
        (["1_000", "2"], pa.string(), ["1_000", "2"]),
        (["--5", "2"], pa.string(), ["--5", "2"]),
        (["++5", "2"], pa.string(), ["++5", "2"]),
        (["1", "x"], pa.string(), ["1", "x"]),
        (["True", "false", "NA"], pa.bool_(), [True, False, None]),
        (["true", "1"], pa.string(), ["true", "1"]),
        (["yes", "no"], pa.string(), ["yes", "no"]),
        (["5 %", "6 %"], pa.string(), ["5 %", "6 %"]),
    ],
)
def test_types_come_from_all_cells(tmp_path, cells, kind, values):
    found = column(tmp_path, *cells)
    assert found.type == kind
    assert found.to_pylist() == values


MARKS = ["", "NA", "n/a", "NaN", "nan", "-nan", "NULL", "None", "?", "-", ".", "#N/A", "<NA>", "\\N", "#DIV/0!", "missing"]


@pytest.mark.parametrize("mark", MARKS)
def test_marks_of_absence_among_numbers_and_dates_are_missing_and_among_text_are_text(tmp_path, mark):
    assert column(tmp_path, "1", mark, "3").to_pylist() == [1, None, 3]
    assert column(tmp_path, mark, "1.5", mark).to_pylist() == [None, 1.5, None]
    assert column(tmp_path, "2026-01-31", mark).to_pylist() == [dt.date(2026, 1, 31), None]
    assert column(tmp_path, "x", mark).to_pylist() == ["x", mark or None]


def test_a_column_of_nothing_but_marks_is_empty(tmp_path):
    assert pa.types.is_null(column(tmp_path, "NA", "?", "").type)
    assert pa.types.is_null(column(tmp_path, "", "").type)


NIGHT = dt.datetime.fromisoformat("2026-01-31")
NOON = dt.datetime.fromisoformat("2026-01-31T12:00")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["2026-01-31", "1999-12-01"], [dt.date(2026, 1, 31), dt.date(1999, 12, 1)]),
        (["2026-01-31T12:00:00", "2026-01-31"], [NOON, NIGHT]),
        (["2026-01-31 12:00"], [NOON]),
        (["2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00"], [NOON.replace(tzinfo=dt.UTC)] * 2),
        (["2026/1/31", "2026/01/02"], [dt.date(2026, 1, 31), dt.date(2026, 1, 2)]),
        (["31.1.2026", "01.02.2026"], [dt.date(2026, 1, 31), dt.date(2026, 2, 1)]),
        (["31.01.2026 12:00:00"], [NOON]),
        (["31/01/2026", "01/02/2026"], [dt.date(2026, 1, 31), dt.date(2026, 2, 1)]),
        (["01/31/2026", "01/02/2026"], [dt.date(2026, 1, 31), dt.date(2026, 1, 2)]),
        (["1/31/2026 12:05 AM", "1/31/2026 1:05 pm", "1/31/2026 12:05 PM"], [NIGHT.replace(hour=hour, minute=5) for hour in (0, 13, 12)]),
        (["31-Jan-2026", "1-February-2026"], [dt.date(2026, 1, 31), dt.date(2026, 2, 1)]),
        (['"Jan 31, 2026"', "Feb 1 2026"], [dt.date(2026, 1, 31), dt.date(2026, 2, 1)]),
        (["2026-01", "2025-12"], [dt.date(2026, 1, 1), dt.date(2025, 12, 1)]),
        (["12:30", "07:05:09", "7:05"], [dt.time(12, 30), dt.time(7, 5, 9), dt.time(7, 5)]),
        (["12:30:01.5"], [dt.time(12, 30, 1, 500_000)]),
    ],
)
def test_dates_and_times_of_day(tmp_path, cells, values):
    assert column(tmp_path, *cells).to_pylist() == values


@pytest.mark.parametrize("cell", ["2026-02-30", "31.02.2026", "25:00", "12:61", "2026-13", "4711-03", "13/13/2026", "0000-01-01"])
def test_what_only_looks_like_dates_stays_text(tmp_path, cell):
    assert column(tmp_path, cell).to_pylist() == [cell]


def test_days_and_months_that_cannot_be_told_apart_stay_text_and_are_said(tmp_path):
    with pytest.warns(ReadingWarning, match="'a' looks like dates of which the day and the month cannot be told apart"):
        assert column(tmp_path, "01/02/2026", "03/04/2026").to_pylist() == ["01/02/2026", "03/04/2026"]


def test_commas_in_numbers(tmp_path):
    with pytest.warns(ReadingWarning, match="'a' read with commas between thousands"):
        assert column(tmp_path, '"1,234"', '"1,234,567.5"', "12").to_pylist() == [1234.0, 1234567.5, 12.0]
    with pytest.warns(ReadingWarning, match="'a' read with decimal commas"):
        assert column(tmp_path, "1,5", "-1.234,25", "3", "1.234", separator=";").to_pylist() == [1.5, -1234.25, 3.0, 1234.0]
    assert column(tmp_path, '"1,23"', "4").to_pylist() == ["1,23", "4"]


def test_what_goes_for_several_columns_is_said_once(tmp_path):
    names = [f"c{number}" for number in range(7)]
    (tmp_path / "t.csv").write_text("\n".join([";".join(names), ";".join(["1,5"] * 7), ""]), encoding="utf-8")
    with pytest.warns(ReadingWarning) as told:
        read_table(tmp_path / "t.csv")
    assert str(told[0].message).endswith("t.csv': each of the columns 'c0', 'c1', 'c2', 'c3', 'c4' and 2 more read with decimal commas.")
    assert len(told) == 1


@pytest.mark.parametrize("last", ["x", "2.5", "1e+05", "", "NA", "true", "2026-01-31", "007", "日本"])
@pytest.mark.parametrize("usual", ["7", "", "NA", "0.5", "x"])
def test_the_last_line_may_change_the_type(tmp_path, monkeypatch, usual, last):
    """Every block but the last says one thing, and the last another."""
    monkeypatch.setattr(csv_file, "_BLOCK", 4096)
    n = 20_000
    found = column(tmp_path, *[usual] * n, last)
    alone = column(tmp_path, usual, last)
    assert found.type == alone.type
    assert found.to_pylist() == alone.to_pylist()[:1] * n + alone.to_pylist()[1:]


def test_random_tables_come_back_as_they_were(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "whole": rng.integers(-(10**12), 10**12, 5_000),
            "number": rng.normal(size=5_000) * 10.0 ** rng.integers(-300, 300, 5_000),
            "text": rng.choice(["a", 'quo"ted', "line\nbreak", "com,ma", " blank ", "ü", "NA"], 5_000),
        }
    )
    pa.csv.write_csv(table, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").equals(table)
