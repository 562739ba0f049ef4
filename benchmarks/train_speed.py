"""How long does training take, against the other libraries at the same settings?

The time is that of the whole fit call from the raw arrays, binning included, after a warm-up; held-out scores stand beside it,
with the distance to the best score in standard errors of the paired difference. That is the noise of the rows that are scored.
Two trainings on other rows of the same kind differ by more: train_accuracy.py takes the mean over several.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import scores
import synthetic
import tables
from common import Report, arguments, chosen, race, seconds, woodwind_is_here
from contestants import ALL, PLAIN, Contestant, Settings


@dataclass
class Data:
    """A training and a test part."""

    about: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any


@dataclass(frozen=True)
class Case:
    """One race."""

    name: str
    make: Callable[[argparse.Namespace], Data]
    settings: Settings
    goal: float
    rounds: int = 3
    others: tuple[str, ...] = ()
    ours: str = "woodwind"  # the one that builds what the peers build


def _rows(options: argparse.Namespace, n: int) -> int:
    return max(1_000, n // 20) if options.quick else n


def _cut(about: str, X: Any, y: Any, n: int) -> Data:
    return Data(about, X[:n], y[:n], X[n:], y[n:])


def _collisions(n: int, options: argparse.Namespace) -> Data:
    n = _rows(options, n)
    return _cut("synthetic collider events", *synthetic.collisions(n + max(n // 5, 20_000)), n)


def _small(n: int, features: int, _: argparse.Namespace) -> Data:
    return _cut("synthetic numbers", *synthetic.small(n + 20_000, features), n)


def _wide(options: argparse.Namespace) -> Data:
    n = _rows(options, 100_000)
    return _cut("synthetic numbers", *synthetic.wide(n + n // 5), n)


def _narrow(options: argparse.Namespace) -> Data:
    n = _rows(options, 2_000_000)
    return _cut("synthetic numbers", *synthetic.small(n + n // 10, 10), n)


def _very_wide(_: argparse.Namespace) -> Data:
    return _cut("synthetic numbers", *synthetic.wide(300, 20_000), 200)


def _products(options: argparse.Namespace) -> Data:
    table = tables.read("otto", options.data)
    if table is None:
        n = _rows(options, 61_878)
        return _cut("synthetic counts (the Otto table is not at hand)", *synthetic.counts(n + n // 5), n)
    # All 61,878 rows would leave none to score on; the shape named in the title is that of the whole table.
    X = np.ascontiguousarray(table.X.to_numpy(np.float32))
    order = np.random.default_rng(0).permutation(len(X))
    if options.quick:
        order = order[:5_000]
    n = int(0.8 * len(order))
    train, test = order[:n], order[n:]
    return Data("Otto products, 80 % of the rows", X[train], table.y[train], X[test], table.y[test])


def _categories(options: argparse.Namespace) -> Data:
    folder = tables.folder(options.data)
    if folder is None or not (folder / "nycflights13").is_dir():
        n = _rows(options, 260_000)
        X, y = synthetic.journeys(n + n // 5)
        return Data("synthetic journeys (the flights table is not at hand)", X[:n], y[:n], X[n:].reset_index(drop=True), y[n:])
    table = tables.nycflights13(folder, rows=20_000 if options.quick else 10**9)
    train, test = table.splits(1)[0]
    X, X_test = (table.X.iloc[rows].reset_index(drop=True) for rows in (train, test))
    return Data("New York flights of 2013, late or not; 80 % of the rows", X, table.y[train], X_test, table.y[test])


# The smallest leaf by hessian, not by rows: XGBoost knows no other. The regression has hessians of one, where the two are the same.
LEAF = {"min_rows": 1, "min_hessian": 1.0}
LEVEL = Settings(growth="level", depth=8, **LEAF)
CLASSES = Settings(task="classes", classes=9, **LEAF)
PER_CLASS = ("woodwind-per-class", "xgboost-vector")
NOISE = ("woodwind-noise",)
CASES = (
    Case("1,000,000 x 28, depth 8", partial(_collisions, 1_000_000), LEVEL, 2.0, others=("woodwind-symmetric", "catboost-symmetric")),
    Case("1,000,000 x 28, 255 leaves", partial(_collisions, 1_000_000), Settings(leaves=255, **LEAF), 2.0, others=NOISE),
    Case("100,000 x 28, 31 leaves", partial(_collisions, 100_000), Settings(**LEAF), 1.5, rounds=5, others=NOISE),
    Case("10,000 x 20, 31 leaves", partial(_small, 10_000, 20), Settings(**LEAF), 1.5, rounds=9, others=NOISE),
    Case("1,000 x 10, 31 leaves", partial(_small, 1_000, 10), Settings(**LEAF), 1.5, rounds=15, others=NOISE),
    Case("100,000 x 200, regression", _wide, Settings(task="regression"), 1.5),
    Case("61,878 x 93, 9 classes", _products, CLASSES, 1.5, others=PER_CLASS, ours="woodwind-per-class"),
    Case("categories of many categories", _categories, Settings(**LEAF), 1.5),
    Case("2,000,000 x 10, 255 leaves", _narrow, Settings(leaves=255, **LEAF), 1.0),
    Case("200 x 20,000, regression, 10 trees", _very_wide, Settings(task="regression", trees=10), 1.0, rounds=5),
)


def run(case: Case, report: Report, options: argparse.Namespace) -> None:
    """One race: prepare, warm up, time, score, print."""
    data = case.make(options)
    settings = replace(case.settings, threads=options.threads, trees=20 if options.quick else case.settings.trees)
    names = [name for name in chosen(options, ALL) if name in PLAIN + case.others]
    entrants = [ALL[name] for name in names if ALL[name].here() and (ALL[name].library != "woodwind" or woodwind_is_here())]
    prepared = {c.name: (c.prepare(data.X), c.prepare(data.X_test)) for c in entrants}

    def fit(c: Contestant, s: Settings) -> Any:
        return c.fit(prepared[c.name][0], data.y, s)

    report.say(f"## {case.name}\n")
    times = race(
        {c.name: partial(fit, c, settings) for c in entrants},
        rounds=options.rounds or (1 if options.quick else case.rounds),
        warm={c.name: partial(fit, c, settings.first(2)) for c in entrants},
        patience=20.0,  # for two trees, that is
    )
    losses, aucs = {}, {}
    for name, timing in times.items():
        prediction = np.asarray(ALL[name].predict(timing.result, prepared[name][1], settings))
        losses[name] = scores.row_losses(settings.task, data.y_test, prediction)
        if settings.task == "binary":
            aucs[name] = scores.auc(data.y_test, prediction)
        timing.result = None
    _show(case, data, settings, times, losses, aucs, report)


def _least(settings: Settings) -> str:
    """The smallest leaf, in words."""
    return f"{settings.min_rows} rows" if settings.min_rows > 1 else f"hessian {settings.min_hessian:g}"


def _show(case: Case, data: Data, settings: Settings, times: dict, losses: dict, aucs: dict, report: Report) -> None:
    shape = f"{data.X.shape[0]:,} x {data.X.shape[1]}"
    size = f"{settings.leaves} leaves" if settings.growth == "best_first" else f"depth {settings.depth}"
    report.say(
        f"{data.about}: {shape} to train on, {len(data.y_test):,} rows to score; {settings.trees} trees, {size}, learning rate "
        f"{settings.learning_rate}, {settings.bins} bins, leaves of at least {_least(settings)}, L2 {settings.l2:g}.\n"
    )
    if not times:
        report.say("nobody to race\n")
        return
    # Trees of another shape are shown, but they do not decide who is fastest or best.
    peers = [name for name in times if not name.startswith("woodwind") and name in PLAIN]
    fastest = min(peers, key=lambda name: times[name].best, default=None)
    best = min((n for n in losses if n in PLAIN), key=lambda name: losses[name].mean(), default=None)
    score_name = "RMSE" if settings.task == "regression" else "log loss"
    rows = []
    for name in sorted(times, key=lambda name: times[name].best):
        t = times[name]
        away = scores.in_standard_errors(losses[name], losses[best]) if best else float("nan")
        rows.append(
            [
                name,
                seconds(t.best),
                len(t.wall),
                seconds(sum(t.wall) / len(t.wall)),
                f"{t.best / times[fastest].best:.2f}" if fastest else "-",
                f"{scores.summary(settings.task, losses[name]):.5f}",
                f"{aucs[name]:.5f}" if name in aucs else "-",
                f"{away:+.1f}",
            ]
        )
    report.table(["contestant", "best", "runs", "mean", "to the fastest peer", score_name, "AUC", "behind the best, s.e."], rows)
    report.figures[case.name] = {
        name: {"seconds": t.wall, "cpu_seconds": t.cpu, score_name: scores.summary(settings.task, losses[name]), "auc": aucs.get(name)}
        for name, t in times.items()
    }
    runs = [len(t.wall) for t in times.values()]
    if min(runs) == 1 < max(runs):
        report.say("Contestants with one run took more than three times the fastest and were not run again.\n")
    if fastest and case.ours in times:
        report.goal(f"{case.name}: {case.ours}, times faster than {fastest}", times[fastest].best / times[case.ours].best, case.goal)


def _options(parser: argparse.ArgumentParser) -> None:
    races = "; ".join(f"{i} {c.name}" for i, c in enumerate(CASES, 1))
    parser.add_argument("--cases", default="", help=f"numbers of the races, separated by commas: {races}")
    parser.add_argument("--rounds", type=int, default=0, help="runs of each contestant")


def main() -> None:
    options = arguments(__doc__ or "", _options)
    report = Report("train_speed", "Training speed", options)
    wanted = {int(number) for number in options.cases.split(",") if number}
    for number, case in enumerate(CASES, 1):
        if not wanted or number in wanted:
            run(case, report, options)
    report.save()


if __name__ == "__main__":
    main()
