"""How fast are forests trained and asked, beside scikit-learn and sklearnex, and are they as accurate?

    python benchmarks/forest_speed.py             all cases, some minutes
    python benchmarks/forest_speed.py --quick     small sizes: does it run

Contestants take turns on the same rows with the same number of threads; the best of their runs counts. Goals are ratios of times.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from common import Report, arguments, chosen, race, seconds, short, timed
from synthetic import collisions, small

OWN = "woodwind"
PEERS = ("scikit-learn", "sklearnex")


@dataclass
class Case:
    """What is trained on, what is scored, and how large the forest is."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    trees: int
    rounds: int


def main() -> None:
    options = arguments(__doc__ or "")
    names = chosen(options, (OWN, *PEERS))
    report = Report("forest_speed", "Forests: training, prediction, size", options)
    n = 10_000 if options.quick else 100_000
    X, y = collisions(n + n // 4)
    train, test = slice(0, n), slice(n, None)
    amount = (X[:, 6] + X[:, 8] * X[:, 9] + np.abs(X[:, 10]) + 0.5 * np.random.default_rng(0).standard_normal(len(y))).astype(np.float64)
    rounds = 1 if options.quick else 3

    classes = Case(X[train], y[train], X[test], y[test], 100, rounds)
    numbers = Case(X[train], amount[train], X[test], amount[test], 20, rounds)
    rows, label = small(2_000, 20)
    many = Case(rows[:1000], label[:1000], rows[1000:], label[1000:], 1000, 3)
    fitted = training(report, names, "random forest, classes", "RandomForestClassifier", classes, 3.0)
    training(report, names, "extra-trees, classes", "ExtraTreesClassifier", classes, 3.0, PEERS[:1])
    training(report, names, "random forest, numbers", "RandomForestRegressor", numbers, 3.0)
    training(report, names, "1,000 trees on 1,000 rows", "RandomForestClassifier", many, 5.0, PEERS[:1])
    if OWN in fitted and "scikit-learn" in fitted:
        prediction(report, fitted, X[test], rounds)
        size(report, fitted)
    report.save()


def estimator(name: str, kind: str) -> Any:
    """The class of this name in one of the libraries."""
    if name == OWN:
        import woodwind as library
    elif name == "sklearnex":
        import sklearnex.ensemble as library
    else:
        import sklearn.ensemble as library
    return getattr(library, kind)


def trainer(name: str, kind: str, trees: int, threads: int, rows: Any, target: Any) -> Callable[[], Any]:
    """A training to be timed."""
    cls = estimator(name, kind)
    return lambda: cls(n_estimators=trees, n_jobs=threads, random_state=0).fit(rows, target)


def training(
    report: Report, names: list[str], title: str, kind: str, case: Case, goal: float, against: tuple[str, ...] = PEERS
) -> dict[str, Any]:
    """Train all contestants by turns."""
    threads, trees, rounds = report.options.threads, case.trees, case.rounds
    train, test = (case.X, case.y), (case.X_test, case.y_test)
    calls = {name: trainer(name, kind, trees, threads, *train) for name in names}
    warm = {name: trainer(name, kind, 2, threads, case.X[:600], case.y[:600]) for name in names}
    report.say(f"## {title}: {len(train[1]):,} x {train[0].shape[1]}, {trees} trees\n")
    times = race(calls, rounds, warm, slow=4.0)
    table = [[name, seconds(run.best), seconds(min(run.cpu)), f"{run.result.score(*test):.4f}"] for name, run in times.items()]
    report.table(["", "time", "processor", "score on other rows"], table)
    report.figures[title] = {name: {"seconds": run.best, "score": float(run.result.score(*test))} for name, run in times.items()}
    others = {name: run.best for name, run in times.items() if name in against}
    if OWN in times and others:
        best = min(others, key=lambda name: others[name])
        report.goal(f"{title}: times as fast as {best}", others[best] / times[OWN].best, goal)
    return {name: run.result for name, run in times.items()}


def prediction(report: Report, fitted: dict[str, Any], X: Any, rounds: int) -> None:
    """Probabilities of a block of rows, and of one row."""
    report.say(f"## Prediction: {len(X):,} rows\n")
    calls = {name: (lambda model=model: model.predict_proba(X)) for name, model in fitted.items()}
    times = race(calls, 5 * rounds, calls, slow=20.0)  # a tenth of a second each: more of them see a quiet moment
    report.table(["", "time"], [[name, seconds(run.best)] for name, run in times.items()])
    report.goal("prediction: times as fast as scikit-learn", times["scikit-learn"].best / times[OWN].best, 3.0)
    one = fitted[OWN].predictor()
    rows = np.ascontiguousarray(X[:1000], np.float64)
    one(rows[0])
    best = min(timed(lambda: [one(row) for row in rows])[0] for _ in range(5)) / len(rows)
    report.goal("one row through predictor()", best * 1e6, 50.0, " us", at_most=True)


def size(report: Report, fitted: dict[str, Any]) -> None:
    """Bytes of the arrays, against the pickle of the same forest."""
    report.say("## Size\n")
    own, other = fitted[OWN].compact_forest_.nbytes, len(pickle.dumps(fitted["scikit-learn"]))
    nodes = int(fitted[OWN].compact_forest_.roots[-1].sum()), sum(tree.tree_.node_count for tree in fitted["scikit-learn"].estimators_)
    report.table(["", "bytes", "nodes", "bytes a node"], [
        ["woodwind, arrays", short(own), f"{nodes[0]:,}", short(own / nodes[0])],
        ["scikit-learn, pickle", short(other), f"{nodes[1]:,}", short(other / nodes[1])],
    ])  # fmt: skip
    report.goal("a node is so many times smaller", (other / nodes[1]) / (own / nodes[0]), 5.0)


if __name__ == "__main__":
    main()
