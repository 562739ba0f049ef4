"""Is what a job of a minute claims true? For every real table of at least 1,000 rows: its claimed score beside that of rows held out.

A fifth of the rows is held out (the given split, or by group or by time where tables.py says so), `woodwind fit --time` learns the others,
and `woodwind evaluate` scores those held out. A claim holds when it is within two standard errors of the score held out, where the error is
that of both together. The report must be complete: nothing failed, and nothing was left out for want of time.

Losses are skewed: few rows held out without one of the rare large losses have a small score and a small standard error at once, and seem
further apart than they are. So the same is told with the spread of a row taken from all rows, those of the claim and those held out.
Results are written after every table: a run that is stopped is not lost.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import tables
from command import job_end, start
from common import Report, arguments, markdown, seconds

LEAST_ROWS = 1_000
TARGET, GROUP, ORDER = "target of the benchmark", "group of the benchmark", "order of the benchmark"


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--time", type=float, default=60.0, help="seconds for each job (60)")
    parser.add_argument("--tables", default="", help="names of tables, separated by commas; all unless given")
    parser.add_argument("--split", type=int, default=0, help="which rows are held out: 0 (the first) to 2")


def written(folder: Path, table: tables.Table, split: int) -> list[str]:
    """Training and test rows as files; and the options that say how rows belong together."""
    train, test = table.splits(3)[split] if split else table.splits(1)[0]
    data = table.X.copy()
    data[TARGET] = table.y if table.task == "regression" else [f"class {label}" for label in table.y]
    options: list[str] = []
    if table.groups is not None:
        data[GROUP], options = table.groups, ["--group", GROUP]
    if table.by_time:
        data[ORDER], options = np.arange(len(data)), ["--time-column", ORDER]
    data.iloc[train].reset_index(drop=True).to_parquet(folder / "train.parquet")
    data.iloc[test].reset_index(drop=True).to_parquet(folder / "test.parquet")
    return options


def one(table: tables.Table, asked: float, threads: int, split: int) -> dict[str, Any]:
    """What a job claims, and what is true."""
    import woodwind

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = written(folder, table, split)
        task = {"regression": "regression", "binary": "binary", "classes": "multiclass"}[table.task]
        call = ["fit", "train.parquet", "--target", TARGET, "--task", task, "--time", f"{asked:g}", "--json", "--threads", threads]
        began = time.perf_counter()
        process = start([*call, *options], folder, threads, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate()
        taken = time.perf_counter() - began
        if process.returncode:
            return {"stopped": err.strip().splitlines()[-1], "taken": taken}
        ended = job_end(out)
        assert ended is not None
        board, estimate = ended["leaderboard"], ended["estimate"] or {}
        ensemble = next(entry for entry in board if entry["family"] == "ensemble")
        claim = estimate if "score" in estimate else ensemble
        call = ["evaluate", "model.ww", "test.parquet", "--json", "--threads", threads]
        process = start(call, folder, threads, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        found = json.loads(process.communicate()[0])
        facts = woodwind.load(folder / "model.ww").facts_
        page = (folder / "model.html").read_text()
    errors, rows = [claim["standard_error"], found["standard_error"]], [facts["split"]["scored"], found["rows"]]
    error, apart = float(np.hypot(*errors)), claim["score"] - found["score"]
    return {
        "metric": facts["metric"]["name"], "out_of_fold": ensemble["score"], "claimed": claim["score"], "held_out": found["score"],
        "error": error, "estimated": claim is estimate,
        "off": apart / error, "off_pooled": apart / pooled(errors, rows), "members": len(board) - 1, "taken": taken,
        "left_out": [f"{part['part']}: {part['why']}" for part in facts["left_out"]], "page": len(page),
        "failed": [entry["name"] for entry in board if (entry["note"] or "").startswith("failed")],
    }  # fmt: skip


def pooled(errors: list[float], rows: list[int]) -> float:
    """The standard error of the difference of two scores of so many rows, where the spread of a row is taken from all of them."""
    row = sum((error * n) ** 2 for error, n in zip(errors, rows, strict=True)) / sum(rows)
    return float(np.sqrt(row * sum(1.0 / n for n in rows)))


COLUMNS = ["table", "rows", "metric", "out of fold", "claimed", "held out", "errors apart", "pooled", "taken", "report"]


def main() -> None:
    options = arguments((__doc__ or "").splitlines()[0], more)
    report = Report("claims", "What jobs claim, and what is true", options)
    wanted = [part for part in options.tables.split(",") if part]
    rows, found = [], {}
    for name in tables.READERS:
        if wanted and name not in wanted:
            continue
        table = tables.read(name, options.data)
        if table is None or len(table.y) < LEAST_ROWS:
            continue
        done = found[name] = one(table, options.time, options.threads, options.split)
        if "stopped" in done:
            rows.append([name, f"{len(table.y):,}", "", "", "", "", "", "", seconds(done["taken"]), done["stopped"][:80]])
        else:
            complete = "; ".join([*done["left_out"], *(f"{one} failed" for one in done["failed"])]) or "complete"
            rows.append([
                name, f"{len(table.y):,}", done["metric"], f"{done['out_of_fold']:.4g}", f"{done['claimed']:.4g}",
                f"{done['held_out']:.4g}", f"{done['off']:+.1f}", f"{done['off_pooled']:+.1f}", seconds(done["taken"]), complete,
            ])  # fmt: skip
        print("  ", *rows[-1], flush=True)
        report.figures["tables"], report.parts = found, [markdown(COLUMNS, rows) + "\n"]
        report.save(aloud=False)
    report.parts = []
    report.table(COLUMNS, rows)
    honest = [name for name, done in found.items() if abs(done.get("off", np.inf)) <= 2.0]
    report.goal("tables whose claim is within two standard errors", len(honest) / max(len(found), 1), 0.9, "")
    skewed = [name for name, done in found.items() if abs(done.get("off_pooled", np.inf)) <= 2.0]
    report.say(f"With the spread of a row from all rows: {len(skewed)} of {len(found)} within two standard errors.\n")
    report.goal("tables whose report is complete", sum(row[-1] == "complete" for row in rows) / max(len(rows), 1), 1.0, "")
    report.save()


if __name__ == "__main__":
    main()
