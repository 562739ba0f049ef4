"""Is every file whole after a kill at a random moment of fit, save, predict -o and report?

Each call runs in a forked child that is killed (SIGKILL, which no program can catch): half of them at a moment drawn from the time that
the call takes undisturbed, the other half a few milliseconds after a file has begun to be written, the n-th one for an n that is drawn.
Then every file of the folder must be the whole old one or the whole new one, and what the user has put beside them must be as it was, in
the folder of the checkpoints too. Every fifth fit that was killed is resumed and must end with the leaderboard of one that never was
disturbed, and leave nothing behind.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from command import write_table
from common import Report, arguments, seconds

PART = re.compile(r"\..+\.[0-9a-f]{12}\.part")
# The quickest of all members, so that much of the time is spent on files.
OTHERS = ("boosting", "forest", "net", "neighbours")
FIT = ("fit", "new.parquet", "--target", "y", "--models", "1", "-q", *(f"--exclude={name}" for name in OTHERS))
NOTES = "remember the milk"
LONGEST = 60.0  # seconds of a call


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=500, help="how many (500): two fifths of them of fit, one fifth of each of the others")
    parser.add_argument("--rows", type=int, default=500, help="rows of the tables (500); predictions are of a hundred times as many")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")


def begin(act: Callable[[], Any], told: Path) -> int:
    """Run something in a child that is like a new process; what it says goes to a file."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            aside = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(aside, 1)
            os.dup2(aside, 2)
            code = act() or 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)
    return child


def finished(act: Callable[[], Any], folder: Path) -> float:
    """Run it to its end; the seconds that it took."""
    began = time.perf_counter()
    child = begin(act, folder / "told")
    check_code(os.waitpid(child, 0)[1], folder)
    return time.perf_counter() - began


def check_code(status: int, folder: Path) -> None:
    """Raise unless a call ended well."""
    if status:
        raise RuntimeError(f"a call ended with {os.waitstatus_to_exitcode(status)}: {(folder / 'told').read_text()[-300:].strip()}")


def parts_in(folder: Path) -> set[str]:
    """Files that are being written, or that a kill has left."""
    return {name for position in (folder, folder / "model.ww.checkpoint") for name in names_in(position) if PART.fullmatch(name)}


def killed(act: Callable[[], Any], folder: Path, after: float | None, which: int, delay: float) -> str:
    """Run it and kill it, after some seconds or so long after the n-th file has begun to be written: was it `killed`, or had it `ended`?"""
    written = parts_in(folder)
    which += len(written)
    child = begin(act, folder / "told")
    ends = time.perf_counter() + (LONGEST if after is None else after)
    status = None
    while time.perf_counter() < ends and status is None:
        if after is None:
            written |= parts_in(folder)
            if len(written) >= which:
                time.sleep(delay)
                break
        done, code = os.waitpid(child, os.WNOHANG)
        status = code if done else None
        time.sleep(0.0002)
    if status is None:
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "killed"
    check_code(status, folder)
    return "ended"


def names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def command(folder: Path, *given: str) -> Callable[[], int]:
    """A call of the command in a folder."""

    def act() -> int:
        from woodwind.cli.main import call

        os.chdir(folder)
        return call(list(given))

    return act


def saving(folder: Path, names: tuple[str, ...]) -> Callable[[], int]:
    """Models, saved to one file in turns."""

    def act() -> int:
        import woodwind

        models = [woodwind.load(folder / name) for name in names]
        for turn in range(40):
            models[turn % len(models)].save(folder / "saved.ww")
        return 0

    return act


def board_of(path: Path) -> list[tuple[str, float]]:
    """Names and scores of the leaderboard in a model file; loading it proves that it is whole."""
    from woodwind import store
    from woodwind.auto.model import AutoModel

    return [(entry["name"], entry["score"]) for entry in store.load(path, AutoModel).facts["leaderboard"]]


def table(rows: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    return X, X @ rng.normal(size=4) + np.sin(3 * X[:, 0]) + (0.2 + seed) * rng.normal(size=rows)


class Trial:
    """A folder, the files that it should have, and what kills have done to them."""

    def __init__(self, home: Path, options: argparse.Namespace) -> None:
        self.home, self.chance = home, random.Random(options.seed)
        self.seen: dict[str, Counter[str]] = {}
        self.wrong: list[str] = []
        for name, rows, seed in (("old", options.rows, 1), ("new", options.rows, 0), ("many", 100 * options.rows, 2)):
            write_table(home / f"{name}.parquet", *table(rows, seed))
        self.truth = {}
        for name in ("new", "old"):  # the folder is left with the old ones
            finished(command(home, "fit", f"{name}.parquet", *FIT[2:], "--force"), home)
            self.truth[name] = board_of(home / "model.ww")
            for ending in ("ww", "html"):
                (home / f"model.{ending}").rename(home / f"{name}.{ending}")
            finished(command(home, "predict", f"{name}.ww", "many.parquet", "-o", f"{name}.csv", "--force"), home)
            finished(command(home, "report", f"{name}.ww", "-o", f"{name}-report.html", "--force"), home)
        (home / "notes.txt").write_text(NOTES)

    def kills(
        self, kind: str, number: int, files: int,
        act: Callable[[], Callable[[], int]], prepare: Callable[[], None], check: Callable[[], str],
    ) -> float:  # fmt: skip
        """Kill calls of one kind, which write so many files; `check` names what is there, or raises. Returns the seconds of a whole one."""
        prepare()
        taken = finished(act(), self.home)
        counts = self.seen.setdefault(kind, Counter())
        for turn in count():  # those that had ended when they were to be killed do not count
            if counts["killed"] + counts["wrong"] >= number:
                break
            prepare()
            after = self.chance.uniform(0.0, taken) if turn % 2 == 0 else None
            before = parts_in(self.home)
            try:
                how = killed(act(), self.home, after, self.chance.randint(1, files), self.chance.uniform(0.0, 0.004))
                counts[how] += 1
                counts["parts"] += bool(parts_in(self.home) - before)
                if (self.home / "notes.txt").read_text() != NOTES:
                    raise ValueError("the notes of the user are not what they were")
                counts[check()] += 1
            except Exception as error:
                counts["wrong"] += 1
                self.wrong.append(f"{kind}, kill {turn}: {type(error).__name__}: {error}")
                print("  ", self.wrong[-1], flush=True)
            for name in filter(PART.fullmatch, names_in(self.home)):
                (self.home / name).unlink()
        print(f"  {kind}: {dict(counts)}", flush=True)
        return taken

    def is_one_of(self, name: str, *allowed: str) -> str:
        """`old` or `new`: of which of these files a file has all bytes."""
        content = (self.home / name).read_bytes()
        for word, other in zip(("old", "new"), allowed, strict=True):
            if content == (self.home / other).read_bytes():
                return word
        raise ValueError(f"{name} is neither the old one nor the new one")

    def copy(self, source: str, name: str) -> None:
        (self.home / name).write_bytes((self.home / source).read_bytes())

    def fit_act(self) -> Callable[[], int]:
        return command(self.home, *FIT, *(["--resume"] if self.chance.random() < 0.7 else []))

    def fit_prepare(self) -> None:
        for ending in ("ww", "html"):
            self.copy(f"old.{ending}", f"model.{ending}")

    def fit_check(self) -> str:
        """The model and its page; now and then the job is resumed to its end."""
        board = board_of(self.home / "model.ww")
        word = "old" if board == self.truth["old"] else "new" if board == self.truth["new"] else "mixed"
        if word == "mixed":
            raise ValueError(f"the leaderboard is neither the old nor the new one: {board}")
        page = (self.home / "model.html").read_bytes()
        is_page = page.startswith(b"<!DOCTYPE html") and page.rstrip().endswith(b"</html>")
        if page != (self.home / "old.html").read_bytes() and not is_page:
            raise ValueError("the page is not whole")
        kept = self.home / "model.ww.checkpoint"
        inside = kept / "notes.txt"
        if inside.exists() and inside.read_text() != NOTES:
            raise ValueError("the notes in the folder of checkpoints are not what they were")
        if sum(self.seen["fit"].values()) % 5 == 0:
            had_notes = inside.exists()
            finished(command(self.home, *FIT, "--resume"), self.home)
            if board_of(self.home / "model.ww") != self.truth["new"]:
                raise ValueError("the resumed job ended otherwise")
            left = names_in(kept)
            if sorted(left) != (["job.ww", "notes.txt"] if had_notes else []):
                raise ValueError(f"the folder of checkpoints holds {left}")
            self.seen["fit"]["resumed"] += 1
            if had_notes:
                inside.unlink()
        elif (kept / "job.ww").exists() and self.chance.random() < 0.2:
            inside.write_text(NOTES)  # somebody puts something of hers there
        return word


def main() -> None:
    options = arguments(__doc__.splitlines()[0], more)
    if options.quick:
        options.kills = 25
    report = Report("kills", "Killed while writing", options)
    fifth = options.kills // 5
    import woodwind.cli.commands.fit
    import woodwind.cli.commands.predict
    import woodwind.cli.commands.report  # noqa: F401  the children need not import it again

    with tempfile.TemporaryDirectory() as position:
        trial = Trial(Path(position), options)
        home = trial.home
        taken = {
            "fit": trial.kills("fit", options.kills - 3 * fifth, 14, trial.fit_act, trial.fit_prepare, trial.fit_check),
            "save": trial.kills(
                "save", fifth, 40, lambda: saving(home, ("old.ww", "new.ww")), lambda: trial.copy("estimator-old.ww", "saved.ww"),
                lambda: trial.is_one_of("saved.ww", "estimator-old.ww", "estimator-new.ww"),
            ) if make_estimators(home) else 0.0,
            "predict -o": trial.kills(
                "predict -o", fifth, 1, lambda: command(home, "predict", "new.ww", "many.parquet", "-o", "said.csv", "--force"),
                lambda: trial.copy("old.csv", "said.csv"), lambda: trial.is_one_of("said.csv", "old.csv", "new.csv"),
            ),
            "report": trial.kills(
                "report", fifth, 1, lambda: command(home, "report", "new.ww", "-o", "page.html", "--force"),
                lambda: trial.copy("old-report.html", "page.html"),
                lambda: trial.is_one_of("page.html", "old-report.html", "new-report.html"),
            ),
        }  # fmt: skip
    columns = ["call", "takes", "killed", "had ended", "in the middle of a file", "old files", "new files", "resumed to the end", "wrong"]
    fields = ("killed", "ended", "parts", "old", "new", "resumed", "wrong")
    report.table(columns, [[kind, seconds(taken[kind]), *(counts[field] for field in fields)] for kind, counts in trial.seen.items()])
    for words in trial.wrong[:20]:
        report.say(f"- {words}")
    report.goal("kills after which a file was neither the old nor the new one", len(trial.wrong), 0, "", at_most=True)
    report.figures["calls"] = {kind: {"seconds": taken[kind], **counts} for kind, counts in trial.seen.items()}
    report.save()
    if trial.wrong:
        sys.exit(1)


def make_estimators(home: Path) -> bool:
    """Two files as `save` writes them, whose bytes are known."""

    def act() -> int:
        import woodwind

        for name in ("old", "new"):
            woodwind.load(home / f"{name}.ww").save(home / f"estimator-{name}.ww")
        return 0

    finished(act, home)
    return True


if __name__ == "__main__":
    main()
