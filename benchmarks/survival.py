"""Is survival boosting as good as XGBoost's, as they come and at equal settings, and how long does it take?

The table is generated: Weibull times whose hazards depend on interactions of columns, a third to a half of them censored. The score is
Harrell's concordance on rows that nobody has seen; the concordance of the true hazards stands beside. XGBoost has survival:cox and
survival:aft with the normal distribution and a scale of 1.

The race: 200,000 rows x 20 columns, 100 rounds, depth 6, no sampling, no stopping.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from common import Report, arguments, chosen, race, seconds

NAMES = ("woodwind", "xgboost")
LOSSES = ("cox", "aft")
EQUAL = {"trees": 100, "rate": 0.1, "depth": 6}


def generated(rows: int, seed: int = 0, columns: int = 20) -> tuple[Any, Any, Any]:
    """Columns, bounds of times, and the logarithm of the true hazard of each row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)).astype(np.float32)
    hazard = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * (X[:, 4] > 0) * X[:, 5]
    time = rng.weibull(1.5, rows) * np.exp(2.0 - hazard / 1.5)
    end = rng.exponential(15.0, rows)
    return X, np.column_stack([np.minimum(time, end), np.where(time <= end, time, np.inf)]), hazard


def woodwind(X: Any, y: Any, loss: str, threads: int, equal: bool) -> Any:
    from woodwind import GradientBoostingSurvivalAnalysis

    settings: dict[str, Any] = {}
    if equal:
        settings = {
            "n_estimators": EQUAL["trees"], "learning_rate": EQUAL["rate"], "growth": "level", "max_depth": EQUAL["depth"],
            "max_leaf_nodes": None, "min_samples_leaf": 1, "min_hessian_leaf": 1.0, "l2_regularization": 1.0, "subsample": 1.0,
            "max_features_tree": None, "early_stopping": False, "ties": "breslow", "scale": 1.0,
        }  # fmt: skip
    return GradientBoostingSurvivalAnalysis(loss=loss, n_jobs=threads, random_state=0, **settings).fit(X, y)


def xgboost(X: Any, y: Any, loss: str, threads: int, equal: bool) -> Any:
    import xgboost as library

    settings: dict[str, Any] = {"objective": f"survival:{loss}", "nthread": threads, "tree_method": "hist", "max_bin": 255}
    if equal:
        settings |= {"eta": EQUAL["rate"], "max_depth": EQUAL["depth"]}
    if loss == "cox":
        data = library.QuantileDMatrix(X, np.where(np.isfinite(y[:, 1]), y[:, 0], -y[:, 0]), max_bin=255)
    else:
        data = library.QuantileDMatrix(X, max_bin=255)
        data.set_float_info("label_lower_bound", y[:, 0])
        data.set_float_info("label_upper_bound", y[:, 1])
    return library.train(settings, data, EQUAL["trees"])


CONTESTANTS = {"woodwind": woodwind, "xgboost": xgboost}


def risk(name: str, model: Any, X: Any, loss: str) -> Any:
    if name == "woodwind":
        predicted = model.predict(X)
    else:
        import xgboost as library

        predicted = model.predict(library.DMatrix(X), output_margin=True)
    return predicted if loss == "cox" else -predicted


def quality(report: Report, options: argparse.Namespace, names: list[str]) -> None:
    from woodwind.metrics.survival import concordance_index

    rows = 2_000 if options.quick else 20_000
    for equal in (False, True):
        table = []
        for loss in LOSSES:
            found: dict[str, list[float]] = {name: [] for name in names}
            best = []
            for seed in range(1 if options.quick else options.draws):
                X, y, _ = generated(rows, seed)
                new, times, hazard = generated(rows, 100 + seed)
                best.append(concordance_index(times, hazard))
                for name in names:
                    model = CONTESTANTS[name](X, y, loss, options.threads, equal)
                    found[name].append(concordance_index(times, risk(name, model, new, loss)))
            table += [[loss, name, f"{np.mean(found[name]):.4f}", f"{np.mean(best):.4f}"] for name in names]
            if {"woodwind", "xgboost"} <= set(names):
                ahead = float(np.mean(np.subtract(found["woodwind"], found["xgboost"])))
                report.goal(f"{loss}, {'equal settings' if equal else 'as they come'}: concordance ahead of XGBoost", ahead, -0.002, "")
        report.say(f"## {rows:,} rows x 20 columns, {'equal settings' if equal else 'as they come'}\n")
        report.table(["loss", "contestant", "mean concordance", "of the true hazards"], table)


def speed(report: Report, options: argparse.Namespace, names: list[str]) -> None:
    rows = 20_000 if options.quick else 200_000
    X, y, _ = generated(rows)
    for loss in LOSSES:
        calls = {name: partial(CONTESTANTS[name], X, y, loss, options.threads, True) for name in names}
        warm = {name: partial(CONTESTANTS[name], X[:2000], y[:2000], loss, options.threads, True) for name in names}
        times = race(calls, 1 if options.quick else options.rounds, warm)
        report.say(f"## {loss}: {rows:,} rows x {X.shape[1]} columns, {EQUAL['trees']} rounds\n")
        runs = [[name, seconds(t.best), " ".join(seconds(one) for one in t.wall)] for name, t in times.items()]
        report.table(["contestant", "best", "all runs"], runs)
        if {"woodwind", "xgboost"} <= set(times):
            report.goal(f"{loss}: XGBoost takes", times["xgboost"].best / times["woodwind"].best, 1.0)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--draws", type=int, default=5, help="tables for each comparison of quality")
    parser.add_argument("--rounds", type=int, default=5, help="turns of the race")
    parser.add_argument("--parts", default="quality,speed", help="quality, speed, or both")


def main() -> None:
    options = arguments(__doc__ or "", _options)
    report = Report("survival", "Survival times", options)
    names = chosen(options, NAMES)
    if "quality" in options.parts:
        quality(report, options, names)
    if "speed" in options.parts:
        speed(report, options, names)
    report.save()


if __name__ == "__main__":
    main()
