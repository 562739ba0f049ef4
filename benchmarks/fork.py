"""Does a forked child train after its parent has trained, without hanging?

The parent trains with several threads, forks, and the child trains the same model and compares it with the parent's; fifty times,
each child with a deadline. Libraries that keep threads across a fork hang here.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import synthetic
from common import Report, arguments, seconds, woodwind_is_here
from contestants import ALL, Settings
from same_bits import digests

SAME, OTHER, RAISED = 0, 3, 4


def in_child(train: Callable[[], Any], expected: Any, deadline: float) -> tuple[str, float]:
    """Fork, train in the child, and wait at most `deadline` seconds for it."""
    sys.stdout.flush()
    begin = time.perf_counter()
    child = os.fork()
    if child == 0:
        code = RAISED
        try:
            code = SAME if train() == expected else OTHER
        finally:
            os._exit(code)
    while time.perf_counter() - begin < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            words = {SAME: "trained", OTHER: "another model", RAISED: "raised"}
            return words.get(code, f"ended with {code}"), time.perf_counter() - begin
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hung", deadline


def woodwind_trainer(rows: int, threads: int) -> Callable[[], Any]:
    """Trains one model and returns its digests."""
    import woodwind

    X, y = synthetic.collisions(rows)

    def train() -> Any:
        model = woodwind.GradientBoostingClassifier(n_estimators=5, max_leaf_nodes=63, early_stopping=False, n_jobs=threads, random_state=0)
        return digests(model.fit(X, y), X)

    return train


def peer_trainer(name: str, rows: int, threads: int) -> Callable[[], Any]:
    """Trains one model of another library; only that it ends is looked at."""
    X, y = synthetic.collisions(rows)
    prepared, settings = ALL[name].prepare(X), Settings(leaves=63, trees=5, threads=threads)

    def train() -> Any:
        ALL[name].fit(prepared, y, settings)
        return True

    return train


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--peer", default="", help="run the same with another library, to see what the test is about")
        parser.add_argument("--deadline", type=float, default=20.0, help="seconds for one child (20)")

    options = arguments(__doc__ or "", more)
    report = Report("fork", "Training in a forked child", options)
    if not options.peer and not woodwind_is_here():
        print("Woodwind's estimators cannot be imported: nothing to fork")
        return
    name = options.peer or "woodwind"
    # Large enough that threads are really used.
    rows = 50_000
    train = peer_trainer(name, rows, options.threads) if options.peer else woodwind_trainer(rows, options.threads)
    times, count = 5 if options.quick else 50, dict[str, int]()
    longest = 0.0
    for _ in range(times):
        expected = train()
        outcome, taken = in_child(train, expected, options.deadline)
        count[outcome] = count.get(outcome, 0) + 1
        longest = max(longest, taken)
        if count.get("hung", 0) >= 3:
            print("three children hung: stopping")
            break
    outcomes = ", ".join(f"{n} {what}" for what, n in count.items())
    report.say(f"{name}: {options.threads} threads, {rows:,} x 28; children: {outcomes}; longest {seconds(longest)}.\n")
    report.figures |= {"children": count, "longest": longest}
    if not options.peer:
        report.goal("children that trained the same model", count.get("trained", 0), times, "")
        report.save()
    if count.get("trained", 0) != times:
        sys.exit(1)


if __name__ == "__main__":
    main()
