"""Targets and weights with long tails: does one enormous row, or one enormous weight, keep a model from learning the others?

Everybody has the same settings: 100 trees of 31 leaves, 20 rows to a leaf (XGBoost: a hessian of 20), learning rate 0.1, no penalties.
Held-out targets have neither tail nor noise. Errors are those of all held-out rows alike, whatever the weights in training were.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from common import Report, arguments, short

ROWS, HELD_OUT, DRAWS = 10_000, 4_000, 40
SAME = {"learning_rate": 0.1, "max_leaf_nodes": 31, "min_samples_leaf": 20, "early_stopping": False}
OURS = {"n_estimators": 100, "l2_regularization": 0.0, "subsample": 1.0, "max_features_tree": 1.0, "random_state": 0}
STEEP = 3.0 / 1.8  # makes the logarithm of a target of deviation 1.8 one of deviation 3
RARE = (1.0, 1e3, 1e5, 1e7, 1e9)


def table(n: int, noise: float, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Columns, a target with noise, and the target without."""
    X = rng.normal(size=(n, 8))
    clean = 2.0 * np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + (X[:, 3] > 0.0)
    return X, clean + noise * rng.normal(size=n), clean


def with_outlier(y: Any, size: float) -> Any:
    return np.where(np.arange(len(y)) == len(y) // 3, size, y)


def few_heavy(y: Any, size: float) -> Any:
    return np.where(np.arange(len(y)) % 200 == 0, size, 1.0)


# The target and the weights that a model is given, and what is measured.
CASES: dict[str, tuple[Callable[[Any, Any], tuple[Any, Any]], str]] = {
    "as it is": (lambda y, _: (y, None), "root mean square"),
    "one outlier of 1e4": (lambda y, _: (with_outlier(y, 1e4), None), "median"),
    "one outlier of 1e6": (lambda y, _: (with_outlier(y, 1e6), None), "median"),
    "Cauchy noise": (lambda y, rng: (y + 0.3 * rng.standard_cauchy(len(y)), None), "median"),
    "lognormal noise, sigma 3": (lambda y, rng: (y + 0.01 * np.exp(3.0 * rng.normal(size=len(y))), None), "median"),
    "lognormal target, sigma 3": (lambda y, _: (np.exp(STEEP * y), None), "median of logarithms"),
    "weights from 1 to 1e3": (lambda y, rng: (y, 10.0 ** rng.uniform(0.0, 3.0, len(y))), "root mean square"),
    "weights from 1 to 1e6": (lambda y, rng: (y, 10.0 ** rng.uniform(0.0, 6.0, len(y))), "root mean square"),
    "weights from 1 to 1e9": (lambda y, rng: (y, 10.0 ** rng.uniform(0.0, 9.0, len(y))), "root mean square"),
    "1 of 200 rows weighs 1e6": (lambda y, _: (y, few_heavy(y, 1e6)), "root mean square"),
    "1 of 200 rows weighs 1e9": (lambda y, _: (y, few_heavy(y, 1e9)), "root mean square"),
    "all weights 1e-3": (lambda y, _: (y, np.full(len(y), 1e-3)), "root mean square"),
}


def contestants(classes: bool, threads: int) -> dict[str, Any]:
    import lightgbm
    import sklearn.ensemble
    import xgboost

    import woodwind

    kind = "Classifier" if classes else "Regressor"
    theirs = {"n_estimators": 100, "learning_rate": 0.1, "n_jobs": threads}
    return {
        "Woodwind": getattr(woodwind, f"GradientBoosting{kind}")(n_jobs=threads, **OURS, **SAME),
        "scikit-learn": getattr(sklearn.ensemble, f"HistGradientBoosting{kind}")(max_iter=100, **SAME),
        "LightGBM": getattr(lightgbm, f"LGBM{kind}")(num_leaves=31, min_child_samples=20, verbose=-1, **theirs),
        "XGBoost": getattr(xgboost, f"XGB{kind}")(
            max_leaves=31, max_depth=0, grow_policy="lossguide", reg_lambda=0.0, min_child_weight=1e-3 if classes else 20, **theirs
        ),
    }


def error_of(predicted: Any, clean: Any, measure: str) -> float:
    if measure == "median of logarithms":
        return float(np.median(np.abs(np.log(np.maximum(predicted, 1e-12)) - STEEP * clean)))
    error = predicted - clean
    return float(np.median(np.abs(error)) if measure == "median" else np.sqrt(np.mean(error**2)))


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cases", default="", help="parts of names of regression tables, separated by semicolons; everything unless given")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"draws of each table ({DRAWS}); one outlier wants hundreds")


def regression(report: Report, wanted: list[str], draws: int, threads: int) -> None:
    names = list(contestants(False, threads))
    rows, behind = [], 0.0
    for case, (make, measure) in CASES.items():
        if wanted and not any(part in case for part in wanted):
            continue
        errors: dict[str, list[float]] = {name: [] for name in names}
        for draw in range(draws):
            rng = np.random.default_rng(draw)
            X, y, _ = table(ROWS, 0.1, rng)
            X_new, _, clean = table(HELD_OUT, 0.0, rng)
            y, weight = make(y, rng)
            for name, model in contestants(False, threads).items():
                errors[name].append(error_of(model.fit(X, y, sample_weight=weight).predict(X_new), clean, measure))
        apart = np.log(errors["Woodwind"]) - np.log(errors["scikit-learn"])
        mean, noise = float(apart.mean()), float(apart.std(ddof=1) / draws**0.5) if draws > 1 else float("nan")
        behind = max(behind, mean)
        report.figures[case] = {**errors, "behind scikit-learn": mean, "standard error": noise}
        rows.append([case, measure, *(short(float(np.median(errors[name]))) for name in names), f"{mean:+.1%} ({noise:.1%})"])
        print(*rows[-1], flush=True)
    report.say(f"Regression, {ROWS:,} x 8: median of {draws} draws; the last column is the mean logarithm of the ratio of errors.\n")
    report.table(["table", "error", *names, "to scikit-learn (s.e.)"], rows)
    report.goal("largest distance to scikit-learn", 100.0 * behind, 2.0, " %", at_most=True)


def rare_class(report: Report, draws: int, threads: int) -> None:
    from sklearn.metrics import roc_auc_score

    names = list(contestants(True, threads))
    rows = []
    for heavy in RARE:
        scores: dict[str, list[float]] = {name: [] for name in names}
        for draw in range(draws):
            rng = np.random.default_rng(draw)
            X, y, _ = table(ROWS, 0.5, rng)
            X_new, y_new, _ = table(HELD_OUT, 0.5, rng)
            rare = np.quantile(y, 0.97)
            for name, model in contestants(True, threads).items():
                model.fit(X, y > rare, sample_weight=np.where(y > rare, heavy, 1.0))
                scores[name].append(float(roc_auc_score(y_new > rare, model.predict_proba(X_new)[:, 1])))
        report.figures[f"rare class of weight {heavy:g}"] = scores
        rows.append([f"{heavy:,.0f}", *(f"{np.mean(scores[name]):.4f}" for name in names)])
        print(*rows[-1], flush=True)
    report.say(f"A class of 3 % of the rows that weighs more than the other: AUC, mean of {draws} draws.\n")
    report.table(["weight", *names], rows)


def main() -> None:
    options = arguments(__doc__ or "", options_of)
    report = Report("long_tails", "Long tails of targets and weights", options)
    draws = 1 if options.quick else options.draws
    wanted = [part for part in options.cases.split(";") if part]
    regression(report, wanted, draws, options.threads)
    if not wanted:
        rare_class(report, max(draws // 10, 1), options.threads)
    report.save()


if __name__ == "__main__":
    main()
