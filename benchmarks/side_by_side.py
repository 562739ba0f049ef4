"""Do two to eight calls of `woodwind fit` at once in one folder, on different data, ever mix their members?

Each call has a table of its own, made from its own seed, and its leaderboard is known from a call that ran alone. Then so many calls are
started at the same moment: all with one model file, or each with its own. A call may end well, with its own leaderboard, or be refused
because another one is at work; the model file must be the whole work of one that ended well. Every second call says --resume.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from command import job_end, start, write_table
from common import Report, arguments

FIXED = ("--target", "y", "--models", "2", "--json", *(f"--exclude={name}" for name in ("forest", "net", "neighbours")))
MOST = 8
WRONG_CALL = 2


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3, help="how often for each number of calls and either kind of output (3)")
    parser.add_argument("--rows", type=int, default=1_000, help="rows of a table (1,000)")
    parser.add_argument("--most", type=int, default=MOST, help="calls at once (8)")


def table(rows: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    return X, X @ rng.normal(size=5) + (0.2 + 0.3 * seed) * rng.normal(size=rows)


def call(folder: Path, number: int, output: str, *others: str) -> subprocess.Popen[str]:
    given = ["fit", f"{number}.parquet", *FIXED, "-o", output, "--threads", "1", *others]
    return start(given, folder, 1, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def scores(entries: list[dict[str, Any]]) -> list[tuple[str, float]]:
    return [(entry["name"], entry["score"]) for entry in entries]


def ended(process: subprocess.Popen[str]) -> tuple[int, list[tuple[str, float]] | None, str]:
    """Exit code, leaderboard and what was said."""
    out, err = process.communicate(timeout=900)
    found = job_end(out)
    return process.returncode, scores(found["leaderboard"]) if found else None, err


def board_of(path: Path) -> list[tuple[str, float]]:
    from woodwind import store
    from woodwind.auto.model import AutoModel

    return scores(store.load(path, AutoModel).facts["leaderboard"])


def tried(folder: Path, at_once: int, one_output: bool, truth: list[Any], turn: int) -> tuple[Counter[str], list[str]]:
    """Start calls at once, and look at how each ended and at what they have written."""
    counts, wrong = Counter({"calls": at_once}), []
    outputs = ["model.ww" if one_output else f"model{number}.ww" for number in range(at_once)]
    resume = [["--resume"] if (number + turn) % 2 else [] for number in range(at_once)]
    processes = [call(folder, number, outputs[number], *resume[number]) for number in range(at_once)]
    well: list[int] = []
    for number, process in enumerate(processes):
        code, board, err = ended(process)
        if code == 0 and board == truth[number]:
            counts["ended well"] += 1
            well.append(number)
        elif code == WRONG_CALL and "is in use by process" in err and board is None:
            counts["refused"] += 1
        else:
            counts["mixed" if code == 0 else "failed"] += 1
            wrong.append(f"{at_once} at once, call {number}: code {code}, {' '.join(err.split())[-200:]}, {board}")
    for output in dict.fromkeys(outputs):
        allowed = [truth[number] for number in well if outputs[number] == output]
        try:
            if board_of(folder / output) not in allowed:
                wrong.append(f"{at_once} at once: {output} is the work of none that ended well")
        except Exception as error:
            wrong.append(f"{at_once} at once: {output}: {type(error).__name__}: {error}")
    left = [path.name for path in folder.iterdir() if path.suffix not in (".parquet", ".ww", ".html")]
    wrong += [f"{at_once} at once: {name} is left" for name in left]
    for path in folder.glob("*.ww"):
        path.unlink()
    return counts, wrong


def main() -> None:
    options = arguments(__doc__.splitlines()[0], more)
    if options.quick:
        options.rounds, options.rows, options.most = 1, 300, 3
    report = Report("side_by_side", "Several jobs at once", options)
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as position:
        folder = Path(position)
        truth = []
        for number in range(options.most):
            write_table(folder / f"{number}.parquet", *table(options.rows, number))
            code, board, err = ended(call(folder, number, "alone.ww"))
            if code:
                raise SystemExit(f"a call that ran alone ended with {code}: {err}")
            truth.append(board)
        assert len({str(board) for board in truth}) == options.most  # so that a mixed one would be seen
        (folder / "alone.ww").unlink()
        for one_output in (True, False):
            for at_once in range(2, options.most + 1):
                total: Counter[str] = Counter()
                for turn in range(options.rounds):
                    counts, faults = tried(folder, at_once, one_output, truth, turn)
                    total += counts
                    wrong += faults
                rows.append({"output": "one model file" if one_output else "one each", "at_once": at_once, **total})
                print("  ", rows[-1], flush=True)
    fields = ("calls", "ended well", "refused", "mixed", "failed")
    cells = [[one["output"], one["at_once"], *(one.get(field, 0) for field in fields)] for one in rows]
    report.table(["output", "at once", *fields], cells)
    for words in wrong[:20]:
        report.say(f"- {words}")
    report.goal("calls with a mixed leaderboard", sum(one.get("mixed", 0) for one in rows), 0, "", at_most=True)
    report.goal("calls, model files and folders that were otherwise wrong", len(wrong), 0, "", at_most=True)
    report.figures["calls"] = rows
    report.save()
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
