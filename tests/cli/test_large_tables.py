"""woodwind predict and evaluate, a part at a time: what is written is what reading the table at once gives."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from models import table

from woodwind.auto import table_rows
from woodwind.cli import batches as told
from woodwind.data.blocks import batches


@pytest.fixture
def new(folder):
    pa.csv.write_csv(table(), folder / "new.csv")
    pa.parquet.write_table(table(), folder / "new.parquet", row_group_size=17)
    pa.csv.write_csv(table().slice(0, 30), folder / "part1.csv")
    pa.csv.write_csv(table().slice(30), folder / "part2.csv")
    return folder


@pytest.fixture
def in_parts(monkeypatch):
    """Every table is large, and parts are small."""
    monkeypatch.setattr(table_rows, "LARGE_BYTES", 0)
    monkeypatch.setattr(batches, "FEWEST_ROWS", 7)
    monkeypatch.setattr(batches, "BATCH_VALUES", 1)


@pytest.mark.parametrize("source", [["new.csv"], ["new.parquet"], ["part1.csv", "part2.csv"]], ids=["csv", "parquet", "several"])
@pytest.mark.parametrize("options", [[], ["--proba", "--keep", "age,plan"], ["--json", "--keep", "plan"]], ids=["plain", "all", "json"])
@pytest.mark.parametrize("stored", ["binary", "regression"], indirect=True)
def test_standard_output_is_the_same(new, stored, run, request, source, options):
    options = [option for option in options if stored.task != "regression" or option != "--proba"]
    known = run("predict", "model.ww", *source, *options)
    request.getfixturevalue("in_parts")
    found = run("predict", "model.ww", *source, *options)
    assert found.code == known.code == 0
    assert found.out == known.out


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow", "feather"])
def test_files_hold_the_same(new, stored, run, request, ending):
    options = ["--proba", "--keep", "age"]
    run("predict", "model.ww", "new.parquet", "-o", f"known.{ending}", *options)
    request.getfixturevalue("in_parts")
    done = run("predict", "model.ww", "new.parquet", "-o", f"found.{ending}", *options)
    assert done.code == 0
    assert f"{table().num_rows} rows in found.{ending}" in done.err
    known, found = new / f"known.{ending}", new / f"found.{ending}"
    if ending == "parquet":
        assert pa.parquet.read_table(found).equals(pa.parquet.read_table(known))
    elif ending in ("arrow", "feather"):
        assert pa.feather.read_table(found).equals(pa.feather.read_table(known))
    elif ending == "csv.gz":
        assert pa.csv.read_csv(found).equals(pa.csv.read_csv(known))
    else:
        assert found.read_bytes() == known.read_bytes()


@pytest.mark.parametrize("source", ["new.csv", "new.parquet"])
def test_a_trial_is_the_same(new, stored, run, request, source):
    late = pa.array([None if row == 5 else "yes" if row % 3 else "no" for row in range(table().num_rows)])
    known_rows = table().append_column("late", late).append_column("w", pa.array(np.arange(1.0, 1.0 + len(late))))
    pa.csv.write_csv(known_rows, new / "new.csv")
    pa.parquet.write_table(known_rows, new / "new.parquet")
    options = ["--json", "--weight", "w", "--drop-missing-target"]
    known = run("evaluate", "model.ww", source, *options)
    request.getfixturevalue("in_parts")
    found = run("evaluate", "model.ww", source, *options)
    assert found.code == known.code == 0
    assert json.loads(found.out) == json.loads(known.out)
    assert found.err == known.err


def test_warnings_are_told_once_with_the_rows_that_they_are_of(new, stored, run, in_parts):
    odd = table().set_column(table().column_names.index("plan"), "plan", pa.array(["other"] * table().num_rows))
    pa.parquet.write_table(odd, new / "odd.parquet")
    done = run("predict", "model.ww", "odd.parquet", "-o", "out.csv")
    assert done.code == 0
    assert done.err.count("never saw") == 1
    assert "This is of rows 1 to 7" in done.err


def test_a_mistake_in_the_last_part_leaves_the_old_file(new, stored, run, in_parts):
    (new / "out.csv").write_text("old")
    raw = (new / "new.parquet").read_bytes()
    (new / "new.parquet").write_bytes(raw[: len(raw) // 2] + bytes(64) + raw[len(raw) // 2 + 64 :])
    done = run("predict", "model.ww", "new.parquet", "-o", "out.csv", "--force")
    assert done.code != 0
    assert (new / "out.csv").read_text() == "old"
    assert [path.name for path in new.iterdir() if path.name.endswith(".part")] == []


def test_progress_says_what_is_left():
    assert told.progress(1000, 4000, 10.0, "predicted") == "1,000 of 4,000 rows predicted, 10 s, about 30 s left"
    assert told.progress(1000, None, 10.0, "predicted") == "1,000 rows predicted, 10 s"


def test_memory_does_not_grow_with_rows(new, stored):
    """Four times the rows take no more than a few MB more."""
    script = """
import resource, sys
from woodwind.auto import table_rows
from woodwind.cli.main import call
table_rows.LARGE_BYTES = 0
assert call(["predict", "model.ww", sys.argv[1], "-o", "out.csv", "--force"]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    peaks = []
    for times in (600, 2400):
        pa.parquet.write_table(pa.concat_tables([table()] * times), new / "many.parquet", row_group_size=50_000)
        done = subprocess.run(
            [sys.executable, "-c", script, "many.parquet"], cwd=new, capture_output=True, text=True, timeout=170, check=True
        )
        peaks.append(int(done.stdout.split()[-1]))
    assert peaks[1] < peaks[0] + 60_000, peaks
    assert np.min(peaks) > 0


def test_it_is_told_that_columns_are_looked_at_before_the_first_row(new, stored, run, in_parts, monkeypatch):
    monkeypatch.setattr(told, "TELL_SECONDS", 0.0)
    done = run("predict", "model.ww", "new.csv", "-o", "found.csv")
    assert done.code == 0, done.err
    assert "120 rows looked at to find out what the columns are" in done.err
    assert done.err.index("looked at") < done.err.index("left")
