"""How long does dynamic selection take, against DESlib?

100 members, 2,000 selection rows, 100,000 queries of 10 and of 20 columns, 7 neighbours. Members say what was recorded before the clock
starts: what is timed is the search for neighbours, the scoring, the choice and the vote. DESlib runs in an interpreter of its own, because
it needs an older scikit-learn:

    python3.11 -m venv oracle && oracle/bin/pip install deslib==0.3.7 scikit-learn==1.5.2 "numpy<2"
    WOODWIND_DESLIB_PYTHON=oracle/bin/python python benchmarks/dynamic_speed.py

Without that variable Woodwind runs alone. DESlib is asked in batches of the size that suits it best of those tried, Woodwind in one call.
Of methods that take DESlib minutes it is given fewer queries, and its time is scaled up; the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import synthetic
from common import HERE, Report, arguments, race, seconds, short

MEMBERS, SELECTION, QUERIES, TRAIN = 100, 2_000, 100_000, 10_000
# Of up to 15 columns scikit-learn, and so DESlib, looks for neighbours in a tree; of more it measures all distances, which is faster here.
COLUMNS = (10, 20)
# Queries in a batch, and which part of all DESlib is given: for DES-RRC it gathers 2,000 x 100 numbers for each query.
PLAN = {
    "ola": (10_000, 1),
    "knora_e": (10_000, 1),
    "knora_u": (10_000, 1),
    "des_p": (10_000, 1),
    "meta_des": (2_000, 5),
    "des_rrc": (100, 50),
}


class Recorded:
    """A fitted classifier that says what was recorded of rows, which come in the order in which they were."""

    places: ClassVar[dict[bytes, int]] = {}

    def __init__(self, probabilities: Any) -> None:
        self.probabilities, self.votes = probabilities, probabilities.argmax(axis=1)
        self.classes_ = np.arange(2)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"probabilities": self.probabilities}

    def fit(self, X: Any, y: Any) -> Recorded:
        return self

    @staticmethod
    def part(X: Any) -> slice:
        first = Recorded.places[X[0].tobytes()]
        return slice(first, first + len(X))

    def predict_proba(self, X: Any) -> Any:
        return self.probabilities[self.part(X)]

    def predict(self, X: Any) -> Any:
        return self.votes[self.part(X)]

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator, ClassifierMixin

        class Plain(ClassifierMixin, BaseEstimator):
            pass

        return Plain().__sklearn_tags__()


def write(folder: Path, n_queries: int, columns: int) -> dict[str, Any]:
    """Rows, and what shallow trees on small bootstraps predict for them."""
    from sklearn.tree import DecisionTreeClassifier

    n = TRAIN + SELECTION + n_queries
    X, y = synthetic.collisions(n)
    X = np.ascontiguousarray(X[:, 3 : 3 + columns], np.float64)
    train, selection, query = slice(0, TRAIN), slice(TRAIN, TRAIN + SELECTION), slice(TRAIN + SELECTION, n)
    X = (X - X[selection].mean(axis=0)) / X[selection].std(axis=0)
    rng = np.random.default_rng(0)
    probabilities = np.empty((MEMBERS, n - TRAIN, 2), np.float32)
    for member in range(MEMBERS):
        rows = rng.integers(0, TRAIN, 500)
        tree = DecisionTreeClassifier(max_depth=6, max_features=6, random_state=member).fit(X[train][rows], y[train][rows])
        probabilities[member] = (tree.predict_proba(X[TRAIN:]) + 0.01 * rng.dirichlet([1.0, 1.0], n - TRAIN)) / 1.01
    facts = {
        "X_selection": X[selection],
        "y_selection": y[selection],
        "X_query": X[query],
        "y_query": y[query],
        "probabilities": probabilities,
    }
    for name, values in facts.items():
        np.save(folder / f"{name}.npy", values)
    return facts


def deslib(python: str, folder: Path, method: str, n_queries: int, threads: int, quick: bool) -> dict[str, Any]:
    """Seconds that DESlib takes for all queries."""
    batch, part = PLAN[method]
    queries = min(n_queries, max(batch, n_queries // part))
    command = [python, str(HERE / "deslib_contestant.py"), str(folder), method, str(queries), str(min(batch, queries))]
    command += ["1" if quick or part > 1 else "2", str(threads)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=3000)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    labels = np.load(folder / f"deslib_{method}.npy")
    return found | {"best": min(found["predict"]) * n_queries / queries, "labels": labels, "asked": queries}


def ours(facts: dict[str, Any], method: str, threads: int, rounds: int) -> tuple[Any, float]:
    """Timing of Woodwind, and seconds of its fit."""
    from woodwind import DynamicSelectionClassifier

    probabilities = facts["probabilities"].astype(np.float64)
    pool = [(f"member{position}", Recorded(part)) for position, part in enumerate(probabilities)]
    model = DynamicSelectionClassifier(estimators=pool, method=method, prefit=True, n_jobs=threads, random_state=0)
    Recorded.places = {row.tobytes(): position for position, row in enumerate(np.concatenate([facts["X_selection"], facts["X_query"]]))}

    def fit() -> Any:
        return model.fit(facts["X_selection"], facts["y_selection"])

    def predict() -> Any:
        return model.predict(facts["X_query"])

    fitted = race({"fit": fit}, 1)["fit"].best
    return race({"woodwind": predict}, rounds, {"woodwind": predict})["woodwind"], fitted


def told(method: str, mine: Any, theirs: dict[str, Any] | None, truth: Any) -> tuple[list[str], dict[str, Any]]:
    """A row of the table, and the figures for the file."""
    row, figures = [method, seconds(mine[0].best) if mine else "-", seconds(theirs["best"]) if theirs else "-"], {}
    if mine:
        figures["woodwind"] = {"seconds": mine[0].wall, "fit": mine[1], "accuracy": float(np.mean(mine[0].result == truth))}
    if theirs:
        asked = theirs["asked"]
        accuracy = float(np.mean(theirs["labels"] == truth[:asked]))
        figures["deslib"] = {"seconds": theirs["predict"], "of": asked, "fit": theirs["fit"], "accuracy": accuracy}
    if not mine or not theirs:
        return row + ["-"] * 5, figures
    figures["ratio"] = theirs["best"] / mine[0].best
    same = float(np.mean(mine[0].result[:asked] == theirs["labels"]))
    predicted = [f"{figures['woodwind']['accuracy']:.4f}", f"{accuracy:.4f}", f"{same:.4f}"]
    return [*row, f"{short(figures['ratio'])}x", *predicted, "all" if asked == len(truth) else f"{asked:,}"], figures


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--methods", default=",".join(PLAN), help="methods, separated by commas")
        parser.add_argument("--columns", default=",".join(map(str, COLUMNS)), help="numbers of columns, separated by commas")

    options = arguments(__doc__ or "", more)
    python = os.environ.get("WOODWIND_DESLIB_PYTHON", "")
    report = Report("dynamic_speed", "Dynamic selection: how long do 100,000 queries take?", options)
    n_queries = 2_000 if options.quick else QUERIES
    report.say(
        f"{MEMBERS} members, {SELECTION:,} selection rows, {n_queries:,} queries, two classes; 7 neighbours, for DES-RRC all selection "
        "rows. Members answer from memory: what they need to predict comes on top, for both alike. The best of several runs.\n"
    )
    goals: dict[str, float] = {}
    for columns in map(int, options.columns.split(",")):
        rows, versions = [], {}
        with tempfile.TemporaryDirectory() as name:
            facts = write(Path(name), n_queries, columns)
            for method in options.methods.split(","):
                theirs = deslib(python, Path(name), method, n_queries, options.threads, options.quick) if python else None
                mine = None if options.peers_only else ours(facts, method, options.threads, 1 if options.quick else 3)
                row, figures = told(method, mine, theirs, facts["y_query"])
                report.figures[f"{method}, {columns} columns"] = figures
                rows.append(row)
                print(columns, row, flush=True)
                if theirs:
                    versions = theirs["versions"]
                if "ratio" in figures:
                    goals[f"{method}, {columns} columns"] = figures["ratio"]
        ran = " DESlib ran with " + ", ".join(f"{name} {number}" for name, number in versions.items()) + "." if versions else ""
        report.say(f"## {columns} columns\n\n{ran.strip()}\n")
        report.table(["method", "woodwind", "DESlib", "quicker by", "accuracy", "DESlib's", "same labels", "queries of DESlib"], rows)
    for what, ratio in goals.items():
        report.goal(f"{what}, times as fast as DESlib", ratio, 10.0)
    report.save()


if __name__ == "__main__":
    main()
