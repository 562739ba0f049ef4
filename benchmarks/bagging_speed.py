"""How long does bagging take, how good is it, and how much memory does it take, against scikit-learn?

50 fully grown trees on 20,000 x 20, two jobs each. The out-of-bag error stands beside that of 20,000 rows that nobody has seen. Memory is
counted in a process for each contestant, with the processes that it starts.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np

import synthetic
from common import Report, arguments, chosen, race, seconds, short, woodwind_is_here
from memory import MEGABYTE, settle

N, F = 20_000, 20
NAMES = ("woodwind", "woodwind with their tree", "scikit-learn")


def tables(n: int) -> tuple[Any, Any, Any, Any]:
    """Rows to train on and as many to test."""
    X, y = synthetic.collisions(2 * n)
    X = np.ascontiguousarray(X[:, 6 : 6 + F], np.float64)
    return X[:n], y[:n], X[n:], y[n:]


def maker(name: str, members: int, threads: int) -> Any:
    """A contestant, not trained."""
    from sklearn.ensemble import BaggingClassifier as TheirBagging
    from sklearn.tree import DecisionTreeClassifier as TheirTree

    if name == "scikit-learn":
        return TheirBagging(TheirTree(), n_estimators=members, n_jobs=threads, random_state=0)
    from woodwind import BaggingClassifier

    estimator = TheirTree() if "their" in name else None
    return BaggingClassifier(estimator=estimator, n_estimators=members, n_jobs=threads, random_state=0)


def resident() -> int:
    """Memory of this process and of all that it has started, in bytes; pages that they share are shared out."""
    total, waiting = 0, [os.getpid()]
    while waiting:
        process = Path(f"/proc/{waiting.pop()}")
        try:
            lines = (process / "smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
            waiting += [int(pid) for task in (process / "task").iterdir() for pid in (task / "children").read_text().split()]
        except OSError:
            continue  # it has ended meanwhile
    return total


class Peak:
    """The largest of that while inside, by samples."""

    def __enter__(self) -> Self:
        self.value, self._stop = 0, threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._stop.is_set():
            self.value = max(self.value, resident())
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def child(name: str, n: int, members: int, threads: int) -> dict[str, float]:
    """Memory that one contestant takes."""
    X, y, *_ = tables(n)
    maker(name, 2, 1).fit(X[:1000], y[:1000])
    settle()
    before = resident()
    with Peak() as peak:
        model = maker(name, members, threads).fit(X, y)
    return {"peak": (peak.value - before) / MEGABYTE, "pickle": len(pickle.dumps(model)) / MEGABYTE}


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--child", default="", help=argparse.SUPPRESS)

    options = arguments(__doc__ or "", more)
    n, members = (2_000, 10) if options.quick else (N, 50)
    if options.child:
        print(json.dumps(child(options.child, n, members, options.threads)))
        return
    report = Report("bagging_speed", "Bagging against scikit-learn", options)
    names = [name for name in chosen(options, NAMES) if name == "scikit-learn" or woodwind_is_here()]
    X, y, new, truth = tables(n)

    def fitting(name: str, count: int) -> Callable[[], Any]:
        return lambda: maker(name, count, options.threads).fit(X, y)

    warm = {name: fitting(name, 2) for name in names}
    times = race({name: fitting(name, members) for name in names}, 1 if options.quick else 3, warm, slow=30.0)
    rows = []
    for name, timing in times.items():
        start = time.perf_counter()
        wrong = timing.result.predict(new) != truth
        predicted = time.perf_counter() - start
        command = [sys.executable, __file__, "--child", name, "--threads", str(options.threads), *(["--quick"] if options.quick else [])]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
        space = json.loads(done.stdout.strip().splitlines()[-1])
        report.figures[name] = {"seconds": timing.wall, "error": float(wrong.mean()), "predict": predicted, **space}
        error = f"{wrong.mean():.4f} ± {wrong.std() / len(wrong) ** 0.5:.4f}"
        rows.append([name, seconds(timing.best), error, seconds(predicted), short(space["peak"]), short(space["pickle"])])
    report.say(f"{members} trees, {n:,} x {F} float64 ({n * F * 8 / MEGABYTE:.1f} MB); the best of several fits in turn.\n")
    report.table(["contestant", "fit", "error on new rows", "predict as many", "peak of fit, MB", "pickle, MB"], rows)
    if {"woodwind", "scikit-learn"} <= times.keys():
        report.goal("fit, times as fast as scikit-learn", times["scikit-learn"].best / times["woodwind"].best, 3.0)
        bag = maker("woodwind", members, options.threads).set_params(oob_score=True).fit(X, y)
        # A row is scored by the members that have not seen it: a bag of 0.368 as many.
        voters = round(members * (1 - 1 / n) ** n)
        fewer = next(predictions for number, predictions in enumerate(bag.staged_predict(new), 1) if number == voters)
        inside, outside = 1.0 - bag.oob_score_, float((fewer != truth).mean())
        noise = (inside * (1 - inside) / n + outside * (1 - outside) / n) ** 0.5
        report.say(f"Out-of-bag error {inside:.4f}; on new rows {outside:.4f} with {voters} members: so many score a row out of bag.\n")
        report.goal("out-of-bag error off by, in standard errors", abs(inside - outside) / noise, 2.0, "", at_most=True)
    report.save()


if __name__ == "__main__":
    main()
