"""Processes without pandas."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent

CODE = """
import json, os, sys
{first}
from woodwind.data.reading.without_pandas import keep_pandas_out
keep_pandas_out()
from woodwind.data.reading.files import read_table
from woodwind.data.tables.target_column import read_target
from woodwind.data.reading.writing import write_predictions
os.chdir(sys.argv[1])
table = read_table("table.csv")
read_target(table["a"])
for name in ("out.csv", "out.parquet", "out.feather"):
    write_predictions(name, {{"a": table["a"].to_numpy(), "b": table["b"]}})
    assert read_table(name).equals(table)
json.dump([name for name in ("pandas", "polars", "scipy", "sklearn", "numba") if name in sys.modules], sys.stdout)
import pandas
{last}
"""


def run(folder, first="", last=""):
    (folder / "table.csv").write_text("a,b\n1,x\n0,\n")
    command = [sys.executable, "-c", CODE.format(first=first, last=last), str(folder)]
    return json.loads(subprocess.check_output(command, cwd=ROOT, timeout=120, text=True))


def test_files_are_read_and_written_without_pandas(tmp_path):
    assert run(tmp_path, last="pandas.DataFrame({'a': [1]})") == []


def test_who_has_pandas_keeps_it(tmp_path):
    assert run(tmp_path, "import pandas", "import pyarrow as pa; pa.table({'a': [1]}).to_pandas()") == ["pandas"]
