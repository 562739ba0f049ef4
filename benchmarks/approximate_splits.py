"""What do proposed thresholds cost and what are they worth: in time against XGBoost, and in AUC by their number?

Speed: `candidates='global'` against XGBoost's `approx` and `max_bins=None` against its `exact`, at equal settings: 20 rounds of depth 6 on
28 columns of numbers. Figure, in the manner of Chen & Guestrin 2016: flights of half a year, is one more than 15 minutes late? AUC on
other flights by the number of bins of a column, with thresholds proposed once for each tree (global), in each node (local), cut once
before training, and with all thresholds (exact).
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tables
from common import HERE, Report, arguments, chosen, race, seconds, short
from synthetic import collisions

NAMES = ("woodwind global", "woodwind local", "woodwind exact", "woodwind bins", "xgboost approx", "xgboost exact", "xgboost hist")
OURS: dict[str, dict[str, Any]] = {
    "global": {"candidates": "global"},
    "local": {"candidates": "local"},
    "exact": {"max_bins": None},
    "bins": {},
}
ROUNDS, DEPTH, BINS = 20, 6, 255
CASES = {100_000: 3, 1_000_000: 2}  # rows, and runs of each
SLOW = {"woodwind local", "woodwind exact", "xgboost exact"}  # not with a million rows
PICTURE = HERE.parent / "docs" / "algorithms" / "pictures" / "approximate_splits.png"
TRAIN, TEST = 600_000, 200_000
NUMBERS = (5, 10, 20, 40, 80, 160, 255)


def fitted(name: str, X: Any, y: Any, rounds: int, threads: int) -> Any:
    library, method = name.split()
    settings = {"n_estimators": rounds, "max_depth": DEPTH, "n_jobs": threads}
    if library == "xgboost":
        import xgboost

        return xgboost.XGBClassifier(tree_method=method, max_bin=BINS, **settings).fit(X, y)
    from woodwind import GradientBoostingClassifier

    return GradientBoostingClassifier.like("xgboost", **settings).set_params(**OURS[method]).fit(X, y)


def speed(report: Report, options: argparse.Namespace) -> None:
    names, best = chosen(options, NAMES), {}
    for n, runs in ((n, runs) for n, runs in CASES.items() if n <= options.most_rows):
        size = n // 50 if options.quick else n
        X, y = collisions(size)
        taking = [name for name in names if n <= 100_000 or name not in SLOW]
        calls = {name: lambda name=name, X=X, y=y: fitted(name, X, y, ROUNDS, options.threads) for name in taking}
        warm = {name: lambda name=name, X=X, y=y: fitted(name, X[:2000], y[:2000], 2, options.threads) for name in taking}
        times = race(calls, 1 if options.quick else runs, warm, slow=100.0)
        held = collisions(50_000, seed=1)
        rows = []
        for name, one in times.items():
            chance = np.clip(one.result.predict_proba(held[0])[:, 1], 1e-9, 1 - 1e-9)
            loss = float(-np.log(np.where(held[1] == 1, chance, 1 - chance)).mean())
            best[n, name] = one.best
            rows.append([name, seconds(one.best), seconds(min(one.cpu)), short(loss, 4)])
        report.say(f"## {size:,} x 28, {ROUNDS} rounds, depth {DEPTH}, {BINS} bins\n")
        report.table(["", "fit", "processor", "log loss, other rows"], rows)
        report.figures[str(size)] = {name: {"wall": one.wall, "cpu": one.cpu} for name, one in times.items()}
        for ours, theirs, goal in (("woodwind global", "xgboost approx", 2.0), ("woodwind exact", "xgboost exact", 3.0)):
            if {(n, ours), (n, theirs)} <= best.keys():
                report.goal(f"{ours} against {theirs}, {size:,} rows", best[n, theirs] / best[n, ours], goal)
        report.save(aloud=False)


def flights(data: str, quick: bool) -> tuple[Any, Any] | None:
    """Numbers that have many values: minutes since the first flight, minutes of the day; distance; and both airports as categories."""
    root = tables.folder(data)
    if root is None or not (root / "flights_3m").is_dir():
        return None
    every = pd.read_parquet(root / "flights_3m" / "flights-3m.parquet")
    some = np.random.default_rng(0).permutation(len(every))[: (TRAIN + TEST) // (50 if quick else 1)]
    flown = every.iloc[np.sort(some)].reset_index(drop=True)
    date = pd.to_datetime(flown["date"])
    minutes = (date - date.min()).dt.total_seconds() / 60.0
    X = pd.DataFrame({"minutes": minutes, "of_day": minutes % 1440.0, "distance": flown["distance"].astype(float)})
    for name in ("origin", "destination"):
        X[name] = flown[name].astype("category")
    return X, (flown["delay"] > 15).to_numpy(int)


def by_number(report: Report, options: argparse.Namespace) -> None:
    found = flights(options.data, options.quick)
    if found is None:
        report.say("No folder of tables: no figure.")
        return
    from sklearn.metrics import roc_auc_score

    from woodwind import GradientBoostingClassifier

    X, y = found
    test = np.random.default_rng(1).permutation(len(y)) < len(y) * TEST // (TRAIN + TEST)
    settings = {"n_estimators": options.rounds, "max_depth": 8, "learning_rate": 0.3, "n_jobs": options.threads}

    def auc(**more: Any) -> float:
        model = GradientBoostingClassifier.like("xgboost", **settings).set_params(**more).fit(X[~test], y[~test])
        return float(roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]))

    exact = auc(max_bins=None)
    numbers = NUMBERS[:2] if options.quick else NUMBERS
    curves = {
        "local": [auc(candidates="local", max_bins=number) for number in numbers],
        "global": [auc(candidates="global", max_bins=number) for number in numbers],
        "bins cut once": [auc(max_bins=number) for number in numbers],
    }
    report.say(f"## AUC of {int(test.sum()):,} flights, trained on {int((~test).sum()):,}; {options.rounds} rounds of depth 8\n")
    report.table(
        ["bins", *curves, "exact"], [[n, *(f"{curve[k]:.4f}" for curve in curves.values()), f"{exact:.4f}"] for k, n in enumerate(numbers)]
    )
    report.figures["auc"] = {"exact": exact, "numbers": list(numbers), **curves}
    report.save(aloud=False)
    if not options.quick:
        draw(PICTURE, numbers, curves, exact, options.rounds)


def draw(path: Path, numbers: Any, curves: dict[str, list[float]], exact: float, rounds: int) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    axes.axhline(exact, color="black", linewidth=1, label="exact: every threshold")
    for (name, curve), marker in zip(curves.items(), "os^", strict=True):
        axes.plot(numbers, curve, marker=marker, markersize=4, linewidth=1.3, label=name)
    axes.set_xscale("log")
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.minorticks_off()
    axes.set_xlabel("bins of a column, about 1 / sketch_eps")
    axes.set_ylabel(f"test AUC after {rounds} rounds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    print(f"drawn: {path}")


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--part", choices=["speed", "figure", "both"], default="both", help="what to measure (both)")
        parser.add_argument("--most-rows", type=int, default=1_000_000, help="leave larger tables out of the race (1,000,000)")
        parser.add_argument("--rounds", type=int, default=30, help="rounds of the models of the figure (30)")

    options = arguments(__doc__ or "", more)
    warnings.simplefilter("ignore")
    report = Report("approximate_splits", "Proposed thresholds: speed against XGBoost, AUC by their number", options)
    if options.part != "figure":
        speed(report, options)
    if options.part != "speed":
        by_number(report, options)
    report.save()


if __name__ == "__main__":
    main()
