"""By how much does `woodwind fit --time` over-run its time, on tables from 1,000 to 1,000,000 rows, and on tables of odd shapes?

Each call is a process of its own, timed from outside: the start of Python, the imports, the reading of the file, training, blending, the
facts of the report, and the writing of all files are counted. What the deadline promises is told apart from the start of Python and the
imports, which are over before the command can look at a clock: both are shown, and the goal is for the whole.
The kernels are compiled before (by a short call that is not counted): a first run ever takes longer, and says so.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import synthetic
from command import job_end, start, write_table
from common import Report, arguments, seconds

ALLOWED = 0.05
ALLOWED_SECONDS = 2.0  # beside it, for odd shapes

# Name: how the table is made from a number of rows, and how it is written.
TABLES: dict[str, tuple[Any, str]] = {
    "two classes, 28 numbers": (synthetic.collisions, "parquet"),
    "two classes, 28 numbers, CSV": (synthetic.collisions, "csv"),
    "a number, 200 columns": (synthetic.wide, "parquet"),
    "nine classes, 93 counts": (synthetic.counts, "parquet"),
    "two classes, text of 4,000 levels": (synthetic.journeys, "csv"),
}
# Odd shapes: very wide, long and narrow, many classes, many categories. Each with its number of rows.
SHAPES: dict[str, tuple[Any, str, int]] = {
    "200 x 20,000": (partial(synthetic.wide, features=20_000), "csv", 200),
    "1,000 x 50,000": (partial(synthetic.wide, features=50_000), "parquet", 1_000),
    "1,000,000 x 5": (partial(synthetic.small, features=5), "csv", 1_000_000),
    "100 classes": (partial(synthetic.counts, features=30, classes=100), "csv", 20_000),
    "100,000 categories": (synthetic.many_categories, "csv", 400_000),
}
# A million rows of 200 columns do not fit into a small machine.
LARGEST = {"a number, 200 columns": 100_000, "nine classes, 93 counts": 100_000, "two classes, 28 numbers, CSV": 100_000}


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", default="1000,10000,100000,1000000", help="numbers of rows")
    parser.add_argument("--times", default="10,60", help="seconds to ask for")
    parser.add_argument("--short-times", default="1,3,10,20,60", help="seconds to ask for on odd shapes")
    parser.add_argument("--tables", default="", help="parts of names of tables, separated by semicolons; all unless given")


def one_call(path: Path, asked: float, threads: int) -> dict[str, Any]:
    """What one call took, and what it made."""
    began = time.perf_counter()
    arguments_ = ["fit", path.name, "--target", "y", "--time", f"{asked:g}", "--json", "--threads", threads, "-o", "model.ww"]
    process = start([*arguments_, "--force"], path.parent, threads, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    taken = time.perf_counter() - began
    ended = job_end(out)
    board = [] if ended is None else ended["leaderboard"]
    members = [entry for entry in board if entry["family"] != "ensemble" and entry["score"] is not None]
    return {
        "asked": asked,
        "taken": taken,
        "over": taken / asked - 1.0,
        "code": process.returncode,
        "members": len(members),
        "ended": None if ended is None else ended["seconds"],
        "predicted": err.strip().splitlines()[-1:] if process.returncode else [],
    }


def cases(options: argparse.Namespace) -> Iterator[tuple[str, Any, str, int, list[float]]]:
    """Name, maker, form, number of rows and times of every table that is wanted."""
    sizes = [1_000, 10_000] if options.quick else [int(text) for text in options.rows.split(",") if text]
    given = (options.times, options.short_times)
    times, short_times = ([5.0] if options.quick else [float(text) for text in asked.split(",")] for asked in given)
    for name, (make, form) in TABLES.items():
        yield from ((name, make, form, n, times) for n in sizes if n <= LARGEST.get(name, n))
    for name, (make, form, n) in SHAPES.items():
        yield name, make, form, n, short_times


def main() -> None:
    options = arguments(__doc__.splitlines()[0], more)
    report = Report("deadline", "By how much a deadline is over-run", options)
    wanted = [part.strip() for part in options.tables.split(";") if part.strip()]
    rows, found, warm = [], [], set()
    with tempfile.TemporaryDirectory() as folder:
        for name, make, form, n, times in cases(options):
            if wanted and not any(part in name for part in wanted):
                continue
            path = write_table(Path(folder) / f"train.{form}", *make(n))
            if name not in warm:
                one_call(path, 5.0, options.threads)  # compiles what is not compiled yet
                warm.add(name)
            for asked in times:
                call = one_call(path, asked, options.threads)
                found.append({"table": name, "rows": n, **call})
                rows.append([
                    name, f"{n:,}", seconds(asked), seconds(call["taken"]), f"{call['over']:+.1%}",
                    "-" if call["ended"] is None else seconds(call["ended"]), call["members"], call["code"],
                ])  # fmt: skip
                print("  ", *rows[-1], *call["predicted"], flush=True)
            path.unlink()
    report.table(["table", "rows", "asked for", "taken, whole process", "over-run", "end of the job", "members", "exit code"], rows)
    ordinary = [call for call in found if call["table"] in TABLES]
    odd = [call for call in found if call["table"] in SHAPES]
    if ordinary:
        report.goal("largest over-run", max(call["over"] for call in ordinary), ALLOWED, unit="", at_most=True)
    if odd:
        beyond = max(call["taken"] - (1 + ALLOWED) * call["asked"] for call in odd)
        report.goal("largest over-run beyond 5 %, odd shapes", beyond, ALLOWED_SECONDS, unit=" s", at_most=True)
    report.goal("calls without a model", sum(call["code"] != 0 for call in found), 0, unit="", at_most=True)
    report.figures["calls"] = found
    report.save()


if __name__ == "__main__":
    main()
