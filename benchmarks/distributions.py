"""Are the distributions of the default DistributionBoostingRegressor better than those of NGBoost, and how long do they take?

Accuracy: the tables of the NGBoost paper with its fixed splits of 90 and 10 %, mean over the splits; ngboost, where it is installed, with
its own defaults (normal distribution, learning rate 0.01, trees of depth 3), the number of rounds found on a fifth of the training rows by
their log score, then trained anew on all of them. Speed: equal rounds on generated rows, against ngboost and CatBoost's
RMSEWithUncertainty.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import Report, arguments, race

# Mean negative log-likelihood and RMSE of Table 1 of the paper.
PAPER = {
    "boston": (2.43, 2.94),
    "concrete": (3.04, 5.06),
    "energy": (0.60, 0.46),
    "kin8nm": (-0.49, 0.16),
    "power": (2.79, 3.79),
    "yacht": (0.20, 0.50),
}
ROUNDS = 500


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--splits", type=int, default=20, help="splits of each table (20)")
    parser.add_argument("--tables", default=",".join(PAPER), help="tables, separated by commas; nothing for none")
    parser.add_argument("--pause-file", default="", help="wait as long as this file exists")


def read_split(folder: Path, number: int) -> tuple[Any, Any, Any, Any]:
    """Rows and targets of the training and of the test."""
    data = np.loadtxt(folder / "data.txt")
    columns, target = np.loadtxt(folder / "index_features.txt").astype(int), int(np.loadtxt(folder / "index_target.txt"))
    train, test = (np.loadtxt(folder / "splits" / f"index_{part}_{number}.txt").astype(int) for part in ("train", "test"))
    X, y = data[:, columns], data[:, target]
    return X[train], y[train], X[test], y[test]


def woodwind_normal(X: Any, y: Any, new: Any, seed: int, threads: int) -> tuple[Any, Any]:
    """Means and standard deviations by the default model."""
    from woodwind import DistributionBoostingRegressor

    predicted = DistributionBoostingRegressor(random_state=seed, n_jobs=threads).fit(X, y).predict_distribution(new)
    return predicted.mean(), predicted.std()


def ngboost_normal(X: Any, y: Any, new: Any, seed: int, threads: int) -> tuple[Any, Any]:  # noqa: ARG001
    """The same by ngboost."""
    from ngboost import NGBRegressor

    order = np.random.default_rng(seed).permutation(len(y))
    held, learn = order[: len(y) // 5], order[len(y) // 5 :]
    first = NGBRegressor(n_estimators=2000, verbose=False, random_state=seed)
    first.fit(X[learn], y[learn], X_val=X[held], Y_val=y[held], early_stopping_rounds=50)
    best = max(1, (first.best_val_loss_itr or 0) + 1)
    found = NGBRegressor(n_estimators=best, verbose=False, random_state=seed).fit(X, y).pred_dist(new)
    return found.loc, found.scale


def scores(y: Any, mean: Any, std: Any) -> tuple[float, float, float, float]:
    """Negative log-likelihood, RMSE, CRPS and the share within intervals of 90 %."""
    from woodwind.distributions import NormalDistribution, PredictedDistribution

    predicted = PredictedDistribution(NormalDistribution(), np.column_stack([mean, np.log(std)]))
    low, high = predicted.interval(0.9)
    inside = float(((low <= y) & (y <= high)).mean())
    return float(-predicted.logpdf(y).mean()), float(np.sqrt(np.mean((y - mean) ** 2))), float(predicted.crps(y).mean()), inside


def has(package: str) -> bool:
    try:
        __import__(package)
    except ImportError:
        return False
    return True


def accuracy(report: Report, options: argparse.Namespace) -> None:
    """The tables of the paper."""
    methods = {"woodwind": woodwind_normal}
    if has("ngboost"):
        methods["ngboost"] = ngboost_normal
    rows = []
    for name in [name for name in options.tables.split(",") if name]:
        folder = Path(options.data) / f"uci_{name}"
        if not folder.exists():
            continue
        found: dict[str, Any] = {}
        for method, predict in methods.items():
            parts, seconds = [], 0.0
            for split in range(2 if options.quick else options.splits):
                while options.pause_file and os.path.exists(options.pause_file):
                    time.sleep(5)
                X, y, new, truth = read_split(folder, split)
                begin = time.perf_counter()
                mean, std = predict(X, y, new, split, options.threads)
                seconds += time.perf_counter() - begin
                parts.append(scores(truth, mean, std))
            found[method] = np.mean(parts, axis=0)
            error = np.std(parts, axis=0)[0] / np.sqrt(len(parts))
            rows.append(
                [
                    name,
                    method,
                    f"{found[method][0]:.3f} ± {error:.3f}",
                    *(f"{one:.3f}" for one in found[method][1:]),
                    f"{seconds / len(parts):.1f}",
                ]
            )
            print(*rows[-1], flush=True)
        nll, rmse = PAPER[name]
        rows.append([name, "paper", f"{nll:.2f}", f"{rmse:.2f}", "", "", ""])
        report.figures[name] = {method: values.tolist() for method, values in found.items()}
        ours = found["woodwind"]
        limits = [nll, *([found["ngboost"][0]] if "ngboost" in found else [])]
        report.goal(f"{name}: negative log-likelihood below the paper's and ngboost's", float(min(limits) - ours[0]), 0.0, "")
        report.goal(f"{name}: coverage of 90 % intervals within 3 %", float(0.03 - abs(ours[3] - 0.9)), 0.0, "")
    if rows:
        report.table(["table", "method", "negative log-likelihood", "RMSE", "CRPS", "within 90 %", "seconds"], rows)


def speed(report: Report, options: argparse.Namespace) -> None:
    """Equal rounds, equal trees: depth 3 against ngboost, depth 6 against CatBoost."""
    from woodwind import DistributionBoostingRegressor

    rows, rounds = [], 50 if options.quick else ROUNDS
    for n_rows in (2_000,) if options.quick else (10_000, 50_000):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, 10))
        y = X[:, 0] + np.sin(2.0 * X[:, 1]) + np.exp(0.5 * X[:, 2]) * rng.normal(size=n_rows)

        def ours(depth: int) -> Any:
            return DistributionBoostingRegressor(
                n_estimators=rounds, learning_rate=0.05, max_depth=depth, max_leaf_nodes=1 << depth, early_stopping=False, subsample=1.0,
                n_jobs=options.threads, random_state=0,
            )  # fmt: skip

        calls = {"woodwind, depth 3": lambda: ours(3).fit(X, y), "woodwind, depth 6": lambda: ours(6).fit(X, y)}  # noqa: B023
        if has("ngboost"):
            from ngboost import NGBRegressor

            calls["ngboost, depth 3"] = lambda: NGBRegressor(n_estimators=rounds, verbose=False, random_state=0).fit(X, y)  # noqa: B023
        if has("catboost"):
            from catboost import CatBoostRegressor

            calls["catboost, depth 6"] = lambda: CatBoostRegressor(
                iterations=rounds, depth=6, learning_rate=0.05, loss_function="RMSEWithUncertainty", thread_count=options.threads,
                verbose=False, allow_writing_files=False, random_seed=0,
            ).fit(X, y)  # fmt: skip  # noqa: B023
        ours(3).set_params(n_estimators=2).fit(X[:500], y[:500])
        times = race(calls, 1 if options.quick else 3)
        for name, timing in times.items():
            rows.append([f"{n_rows:,}", name, f"{timing.best:.2f}"])
            print(*rows[-1], flush=True)
        report.figures[f"seconds, {n_rows} rows"] = {name: timing.best for name, timing in times.items()}
        for other, own, goal in (("ngboost, depth 3", "woodwind, depth 3", 20.0), ("catboost, depth 6", "woodwind, depth 6", 3.0)):
            if other in times:
                report.goal(f"{n_rows:,} rows: times as fast as {other}", times[other].best / times[own].best, goal, "x")
    report.table(["rows", f"{rounds} rounds", "seconds"], rows)


def main() -> None:
    options = arguments(__doc__ or "", more)
    report = Report("distributions", "Predictive distributions", options)
    accuracy(report, options)
    speed(report, options)
    report.save()


if __name__ == "__main__":
    main()
