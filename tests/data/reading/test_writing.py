"""Predictions as files."""

import gzip
import io
import os

import numpy as np
import pyarrow as pa
import pytest

from woodwind.base.errors import FormulaWarning, TableError
from woodwind.data.reading.files import read_table
from woodwind.data.reading.writing import write_predictions

COLUMNS = {
    "row": np.arange(4),
    "prediction": np.array(["a", "b,c", 'd"e', "line\nbreak"]),
    "probability": np.array([0.1, 1 / 3, np.nan, 1e-300]),
    "sure": [True, False, True, False],
}


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz", "p.TSV.GZ", "p.parquet", "p.feather", "p.arrow", "p.txt"])
def test_what_is_written_is_read_back(tmp_path, name):
    write_predictions(tmp_path / name, COLUMNS)
    table = read_table(tmp_path / name)
    assert table.column_names == list(COLUMNS)
    assert table["row"].to_pylist() == [0, 1, 2, 3]
    assert table["prediction"].to_pylist() == COLUMNS["prediction"].tolist()
    assert table["sure"].to_pylist() == COLUMNS["sure"]
    np.testing.assert_array_equal(table["probability"].to_numpy(), COLUMNS["probability"])
    assert os.listdir(tmp_path) == [name]


def test_packed_files_are_the_same_bytes_each_time(tmp_path):
    for name in ("1.csv.gz", "2.csv.gz"):
        write_predictions(tmp_path / name, COLUMNS)
    assert (tmp_path / "1.csv.gz").read_bytes() == (tmp_path / "2.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "1.csv.gz").read_bytes()).startswith(b"row,prediction,probability,sure\n0,a,0.1,true\n")


def test_a_dash_is_a_stream(capsys):
    out = io.StringIO()
    write_predictions("-", {"y": [1.5, float("nan")], "t": ["x", None]}, stream=out)
    assert out.getvalue() == "y,t\n1.5,x\n,\n"
    write_predictions("-", {"y": [1.5, None]})
    assert capsys.readouterr().out == 'y\n1.5\n""\n'


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "p.csv"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TableError, match=r"WW-F020: .*No space left"):
        write_predictions(path, COLUMNS)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["p.csv"]


def test_names_and_folders_are_checked(tmp_path):
    for name in ("p.xlsx", "p", "p.parquet.gz", "p.gz"):
        with pytest.raises(TableError, match="WW-F019"):
            write_predictions(tmp_path / name, COLUMNS)
    with pytest.raises(TableError, match="WW-F020"):
        write_predictions(tmp_path / "no" / "p.csv", COLUMNS)


def test_columns_of_different_lengths_are_refused(tmp_path):
    with pytest.raises(TableError, match="WW-F021"):
        write_predictions(tmp_path / "p.csv", {"a": [1], "b": [1, 2]})


def test_formulas_are_pointed_out_and_guarded_if_asked(tmp_path):
    columns = {"label": ["=cmd()", "@sum", "-1", "+2.5", "fine"], "number": [-1, -2, -3, -4, -5]}
    with pytest.warns(FormulaWarning, match="'label' holds text"):
        write_predictions(tmp_path / "p.csv", columns)
    assert read_table(tmp_path / "p.csv")["label"].to_pylist() == columns["label"]
    write_predictions(tmp_path / "p.csv", columns, guard_formulas=True)
    assert read_table(tmp_path / "p.csv")["label"].to_pylist() == ["'=cmd()", "'@sum", "-1", "+2.5", "fine"]
    write_predictions(tmp_path / "p.parquet", columns)


def test_values_of_any_type_are_written(tmp_path):
    write_predictions(tmp_path / "p.csv", {"a": np.array(["x", 1, None], object), "b": pa.array([1, None, 3])})
    assert read_table(tmp_path / "p.csv").to_pydict() == {"a": ["x", "1", None], "b": [1, None, 3]}
