"""The command `woodwind` as a process, for benchmarks that time, stop or kill it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from common import HERE


def start(arguments: Sequence[str | Path], folder: Path, threads: int = 2, **more: Any) -> subprocess.Popen[str]:
    """Begin a call in a folder. Its output goes where `more` says."""
    path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(threads), "WOODWIND_QUIET": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.Popen([sys.executable, "-m", "woodwind", *map(str, arguments)], cwd=folder, env=environment, text=True, **more)


def events(output: str) -> list[dict[str, Any]]:
    """The lines of --json; the last one is left out where a kill has cut it."""
    found = []
    for line in output.splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return found


def job_end(output: str) -> dict[str, Any] | None:
    """The last event of a job with its leaderboard; None where it was killed before."""
    return next((event for event in events(output) if event["event"] == "job_ended"), None)


def write_table(path: Path, X: Any, y: Any) -> Path:
    """A table with the target `y`, as CSV or Parquet by the name of the file."""
    if isinstance(X, np.ndarray):
        columns = {f"x{position}": np.ascontiguousarray(X[:, position]) for position in range(X.shape[1])}
    else:
        columns = {name: pa.array(X[name], from_pandas=True) for name in X.columns}
    table = pa.table({**columns, "y": y})
    if path.suffix == ".csv":
        for position, field in enumerate(table.schema):
            if pa.types.is_dictionary(field.type):
                table = table.set_column(position, field.name, table.column(position).cast(pa.string()))
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path)
    return path
