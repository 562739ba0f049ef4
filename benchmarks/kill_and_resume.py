"""Does `woodwind fit --models N` end the same after it was killed and resumed?

One call runs undisturbed: its leaderboard, without times, is the truth. Then others are killed (SIGKILL, which no program can catch) at
random moments, resumed with --resume, and compared: the leaderboard and the bytes of the predictions must be the same.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import synthetic
from command import events, job_end, start, write_table
from common import Report, arguments, seconds

TIMES = ("seconds", "row_microseconds")  # of an entry: these may differ


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=20, help="how many runs are killed (20)")
    parser.add_argument("--models", type=int, default=6, help="models of a run (6)")
    parser.add_argument("--rows", type=int, default=5_000, help="rows of the table (5,000)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    parser.add_argument("--twice", action="store_true", help="kill the resumed run once more before it may end")


def call_of(options: argparse.Namespace, *others: str) -> list[str]:
    """The arguments of a run."""
    fixed = ["fit", "train.csv", "--target", "y", "--models", str(options.models), "--threads", str(options.threads), "--json"]
    return [*fixed, "--no-report", *others]


def finished(options: argparse.Namespace, folder: Path, *others: str) -> tuple[Any, float, int]:
    """Run to the end: the leaderboard without times, the seconds, and how many folds came from a checkpoint."""
    began = time.perf_counter()
    process = start(call_of(options, *others), folder, options.threads, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {' '.join(err.split())[-300:]}")

    ended = job_end(out)
    assert ended is not None
    board = [{key: value for key, value in entry.items() if key not in TIMES} for entry in ended["leaderboard"]]
    return board, time.perf_counter() - began, sum(bool(event.get("resumed")) for event in events(out))


def killed(options: argparse.Namespace, folder: Path, after: float, *others: str) -> tuple[bool, list[str]]:
    """Begin a run and kill it: whether it was still running, and what is in the folder."""
    with (folder / "told").open("w") as told:
        process = start(call_of(options, *others), folder, options.threads, stdout=told, stderr=subprocess.DEVNULL)
        try:
            process.wait(after)
            return False, []
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    (folder / "told").unlink()
    return True, sorted(path.name for path in folder.iterdir())


def predictions(options: argparse.Namespace, folder: Path) -> str:
    """What the model predicts for its own table."""
    process = start(["predict", "model.ww", "train.csv"], folder, options.threads, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    if process.returncode:
        raise RuntimeError(f"predict: exit code {process.returncode}: {' '.join(err.split())[-300:]}")
    return out


def main() -> None:
    options = arguments(__doc__.splitlines()[0], more)
    if options.quick:
        options.kills, options.models, options.rows = 2, 3, 1_000
    report = Report("kill_and_resume", "Killed, and resumed", options)
    chance = random.Random(options.seed)
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as home:
        table = write_table(Path(home) / "train.csv", *synthetic.small(options.rows, 12))

        def fresh(name: str) -> Path:
            folder = Path(home) / name
            folder.mkdir()
            shutil.copy(table, folder)
            return folder

        finished(options, fresh("warm"))  # compiles what is not compiled yet
        truth, undisturbed, _ = finished(options, fresh("whole"))
        expected = predictions(options, Path(home) / "whole")
        report.say(f"Undisturbed: {len(truth)} entries in {seconds(undisturbed)}.\n")
        for number in range(options.kills):
            after = chance.uniform(0.3, undisturbed)
            while True:
                folder = fresh(f"killed{number}")
                was_running, left = killed(options, folder, after)
                if was_running:
                    break
                after *= 0.8  # it was quicker than the first run, and had ended
                shutil.rmtree(folder)
            if options.twice:
                killed(options, folder, chance.uniform(0.3, undisturbed), "--resume")
            try:
                board, taken, resumed = finished(options, folder, "--resume")
                same, same_rows, trouble = board == truth, predictions(options, folder) == expected, ""
            except RuntimeError as error:
                taken, resumed, same, same_rows, trouble = float("nan"), 0, False, False, str(error)
            row = {"after": after, "left": left, "resumed_folds": resumed, "seconds": taken}
            found.append({**row, "same_leaderboard": same, "same_predictions": same_rows, "trouble": trouble})
            print("  ", {key: value for key, value in found[-1].items() if key != "left"}, flush=True)
            shutil.rmtree(folder)
    report.table(
        ["killed after", "folds kept", "resumed run", "same leaderboard", "same predictions"],
        [
            [seconds(one["after"]), one["resumed_folds"], seconds(one["seconds"]), one["same_leaderboard"],
             one["same_predictions"]]
            for one in found
        ],
    )  # fmt: skip
    otherwise = sum(not (one["same_leaderboard"] and one["same_predictions"]) for one in found)
    report.goal("runs that ended otherwise", otherwise, 0, "", at_most=True)
    report.figures["kills"] = found
    report.save()
    if otherwise:
        sys.exit(1)


if __name__ == "__main__":
    main()
