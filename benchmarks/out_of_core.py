"""Training from disk: 20,000,000 x 28 from Parquet, 100 trees of depth 8, within a limit of resident memory.

    python benchmarks/out_of_core.py make --rows 20000000        write the table, once, in row groups of 250,000
    python benchmarks/out_of_core.py blocks                      prepare and train on blocks; prints time by phase, bytes read, peak
    python benchmarks/out_of_core.py memory                      the same from memory, for time and for the same digest
    python benchmarks/out_of_core.py xgboost                     XGBoost's external memory, with the same bins and trees

Each is a process of its own, so that a limit can be put around it (systemd-run --scope -p MemoryMax=1G, or a cgroup by hand); peaks are
the kernel's high-water mark. Bytes read are what the process asked of the system, from its cache or from the disk.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FEATURES, GROUP = 28, 250_000
TREES = {"n_estimators": 100, "max_depth": 8, "learning_rate": 0.1}


def rows(number: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Some rows of the table, by their number."""
    rng = np.random.default_rng(number)
    x = rng.normal(size=(size, FEATURES)).astype(np.float32)
    score = x[:, 0] + x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) + x[:, 4]
    return x, (score + rng.normal(size=size) > 0).astype(np.int8)


def make(path: Path, n: int) -> None:
    """Write the table."""
    writer = None
    for begin in range(0, n, GROUP):
        x, y = rows(begin, min(GROUP, n - begin))
        part = pa.table({**{f"x{k}": x[:, k] for k in range(FEATURES)}, "y": y})
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    assert writer is not None
    writer.close()


def peak() -> float:
    """The largest resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read_so_far() -> int:
    """Bytes that this process has asked the system for."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("rchar")))


def settings(trees: int) -> dict[str, Any]:
    """Woodwind's parameters of the race."""
    return {**TREES, "n_estimators": trees, "growth": "level", "max_leaf_nodes": None, "early_stopping": False, "subsample": 1.0,
            "min_samples_leaf": 1, "random_state": 0}  # fmt: skip


def warm(folder: Path, trees: dict[str, Any]) -> None:
    """Compile and load kernels, so that no phase pays for them."""
    import woodwind

    x, y = rows(1, 5000)
    small = pa.table({**{f"x{k}": x[:, k] for k in range(FEATURES)}, "y": y})
    blocks = woodwind.BlockTable.write(folder / "warm", small, target="y", overwrite=True)
    woodwind.GradientBoostingClassifier(**{**trees, "n_estimators": 1}).fit(blocks)


def blocks(path: Path, folder: Path, trees: int) -> dict[str, Any]:
    """Prepare and train on blocks."""
    import woodwind

    warm(folder, settings(trees))
    before, began = read_so_far(), time.perf_counter()
    table = woodwind.BlockTable.write(folder / "cache", path, target="y", overwrite=True)
    prepared, read = time.perf_counter() - began, read_so_far() - before
    before, began = read_so_far(), time.perf_counter()
    model = woodwind.GradientBoostingClassifier(**settings(trees)).fit(table)
    return {
        "prepare_seconds": prepared, "prepare_bytes_read": read, "train_seconds": time.perf_counter() - began,
        "train_bytes_read": read_so_far() - before, "codes_to_disk": table.n_rows * FEATURES / table.n_bytes,
        "bytes_on_disk": table.n_bytes, "peak_mb": peak(), "digest": model.forest_.digest(),
    }  # fmt: skip


def memory(path: Path, folder: Path, trees: int) -> dict[str, Any]:
    """Train from memory."""
    import woodwind

    warm(folder, settings(trees))
    table = pq.read_table(path)
    x = np.empty((table.num_rows, FEATURES), np.float32)
    for k in range(FEATURES):
        x[:, k] = table.column(k).to_numpy()
    y = table.column("y").to_numpy()
    del table
    names = pa.table({f"x{k}": x[:, k] for k in range(FEATURES)})
    began = time.perf_counter()
    model = woodwind.GradientBoostingClassifier(**settings(trees)).fit(names, y)
    return {"train_seconds": time.perf_counter() - began, "peak_mb": peak(), "digest": model.forest_.digest()}


def xgboost(path: Path, folder: Path, trees: int) -> dict[str, Any]:
    """XGBoost's external memory, from the same row groups."""
    import xgboost as xgb

    file = pq.ParquetFile(path)

    class Groups(xgb.DataIter):
        """Row groups, four at a time."""

        def __init__(self) -> None:
            self.at = 0
            super().__init__(cache_prefix=str(folder / "xgboost"))

        def next(self, input_data: Any) -> bool:
            if self.at >= file.num_row_groups:
                return False
            part = file.read_row_groups(range(self.at, min(self.at + 4, file.num_row_groups)))
            self.at += 4
            x = np.column_stack([part.column(k).to_numpy() for k in range(FEATURES)])
            input_data(data=x, label=part.column("y").to_numpy())
            return True

        def reset(self) -> None:
            self.at = 0

    began = time.perf_counter()
    data = xgb.ExtMemQuantileDMatrix(Groups(), max_bin=255)
    prepared = time.perf_counter() - began
    began = time.perf_counter()
    options = {"objective": "binary:logistic", "max_depth": 8, "eta": 0.1, "tree_method": "hist", "max_bin": 255, "lambda": 1.0}
    xgb.train(options, data, num_boost_round=trees)
    return {"prepare_seconds": prepared, "train_seconds": time.perf_counter() - began, "peak_mb": peak()}


def parts() -> Iterator[str]:
    """What can be asked for."""
    yield from ("make", "blocks", "memory", "xgboost")


def main() -> None:
    """One part of the race."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(parts()))
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--trees", type=int, default=TREES["n_estimators"])
    parser.add_argument("--folder", type=Path, default=Path("/tmp/out_of_core"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    path = given.folder / "table.parquet"
    if given.what == "make":
        make(path, given.rows)
        return
    run = {"blocks": blocks, "memory": memory, "xgboost": xgboost}[given.what]
    found = run(path, given.folder, given.trees)
    print(json.dumps({"what": given.what, "trees": given.trees, "free": shutil.disk_usage(given.folder).free, **found}, indent=1))


if __name__ == "__main__":
    main()
