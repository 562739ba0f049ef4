"""Is the model the same, byte for byte, for any number of threads?

Trains each combination of data and options with 1, 2, 3, 4 and 8 threads and compares digests of all arrays of the fitted forest,
and of the predictions. One difference is a failure, and the script ends with an error.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import synthetic
from common import Report, arguments, timed, woodwind_is_here

THREADS = (1, 2, 3, 4, 8)


def data(rows: int) -> dict[str, Callable[[], tuple[str, Any, Any, Any]]]:
    """Tables by name: (kind of estimator, X, y, weights)."""
    rng = np.random.default_rng(5)

    def numbers() -> tuple[str, Any, Any, Any]:
        X, y = synthetic.collisions(rows)
        return "classifier", X, y, None

    def weighted() -> tuple[str, Any, Any, Any]:
        X, y = synthetic.collisions(rows, seed=1)
        return "classifier", X, y, rng.gamma(1.0, 1.0, rows) * (rng.random(rows) > 0.1)

    def missing() -> tuple[str, Any, Any, Any]:
        X, y = synthetic.collisions(rows, seed=2)
        X[rng.random(X.shape) < 0.2] = np.nan
        X[rng.random(X.shape) < 0.01] = np.inf
        return "classifier", X.astype(np.float64), y, None

    def categories() -> tuple[str, Any, Any, Any]:
        return "classifier", *synthetic.journeys(rows), None

    def classes() -> tuple[str, Any, Any, Any]:
        return "classifier", *synthetic.counts(rows // 2, 20, 5), None

    def target() -> tuple[str, Any, Any, Any]:
        return "regressor", *synthetic.wide(rows // 2, 30), None

    def tails() -> tuple[str, Any, Any, Any]:
        X, y = synthetic.wide(rows // 2, 30)
        return "regressor", X, np.exp(y / 2), rng.gamma(2.0, 1.0, rows // 2)

    def events() -> tuple[str, Any, Any, Any]:
        X, y = synthetic.wide(rows // 2, 30)
        return "regressor", X, rng.poisson(np.exp(np.clip(y / 4, -3, 3))).astype(float), None

    def tiny() -> tuple[str, Any, Any, Any]:
        return "classifier", *synthetic.small(300, 5), None

    return {f.__name__: f for f in (numbers, weighted, missing, categories, classes, target, tails, events, tiny)}


LEVEL = {"growth": "level", "max_depth": 7, "max_leaf_nodes": None}
SYMMETRIC = {"growth": "symmetric", "max_depth": 6, "max_leaf_nodes": None}
LEAVES = {"growth": "best_first", "max_leaf_nodes": 63}

COMBINATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(
        (name, order)
        for name in ("numbers", "weighted", "missing", "categories", "classes", "target")
        for order in (LEAVES, LEVEL, SYMMETRIC)
    ),
    ("numbers", {"subsample": 0.5}),
    ("numbers", {"max_features": 0.4}),
    ("numbers", dict(subsample=0.7, max_features=0.5, **LEVEL)),
    ("numbers", {"gradient_noise": 0.5}),
    ("numbers", dict(gradient_noise=0.5, subsample=0.7, **LEVEL)),
    ("weighted", dict(gradient_noise=0.5, **SYMMETRIC)),
    ("categories", {"gradient_noise": 1.0, "bootstrap": True}),
    ("classes", {"gradient_noise": 0.5, "subsample": 0.5}),
    ("classes", {"gradient_noise": 0.5, "multiclass": "one_per_class"}),
    ("target", {"gradient_noise": 0.5, "subsample": 0.5}),
    ("tails", {"gradient_noise": 0.5, "loss": "absolute_error"}),
    ("numbers", {"sampling": "goss"}),
    ("weighted", dict(sampling="mvs", subsample=0.3, **LEVEL)),
    ("classes", {"sampling": "mvs"}),
    ("target", dict(sampling="goss", **SYMMETRIC)),
    ("tails", {"sampling": "mvs", "loss": "absolute_error"}),
    ("numbers", {"early_stopping": True, "n_estimators": 40}),
    ("numbers", {"max_bins": 31, "min_samples_leaf": 200}),
    ("numbers", {"class_weight": "balanced"}),
    ("numbers", {"monotonic_cst": [0] * 6 + [1, -1] + [0] * 20}),
    ("weighted", {"subsample": 0.6, "max_features": 0.6}),
    ("missing", dict(subsample=0.5, **SYMMETRIC)),
    ("categories", {"subsample": 0.6, "max_features": 0.6, "early_stopping": True}),
    ("categories", dict(categorical_encoding="sets", **LEAVES)),
    ("categories", {"categorical_encoding": "ordered", "early_stopping": True}),
    ("categories", {"max_bins": None, "n_estimators": 3}),
    ("classes", {"subsample": 0.5, "max_features": 0.5}),
    ("classes", {"early_stopping": True}),
    ("target", {"subsample": 0.5}),
    ("target", {"loss": "absolute_error"}),
    ("tails", {"loss": "huber"}),
    ("tails", {"loss": "quantile"}),
    ("tails", {"loss": "gamma"}),
    ("tails", dict(loss="squared_error", **LEVEL)),
    ("events", {"loss": "poisson"}),
    ("events", dict(loss="poisson", subsample=0.5, **LEVEL)),
    ("tiny", {"min_samples_leaf": 2}),
    ("tiny", dict(min_samples_leaf=2, subsample=0.7, **LEVEL)),
)


def digests(model: Any, X: Any) -> tuple[str, str]:
    """Of the forest's arrays, and of what it predicts."""
    forest = next(value for value in vars(model).values() if callable(getattr(value, "digest", None)))
    predicted = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    return str(forest.digest()), hashlib.sha256(np.ascontiguousarray(predicted).tobytes()).hexdigest()


def main() -> None:
    options = arguments(__doc__ or "")
    report = Report("same_bits", "Same bits for any number of threads", options)
    if not woodwind_is_here():
        print("Woodwind's estimators cannot be imported: nothing to compare")
        return
    import woodwind

    kinds = {"classifier": woodwind.GradientBoostingClassifier, "regressor": woodwind.GradientBoostingRegressor}
    made = {name: make() for name, make in data(6_000 if options.quick else 60_000).items()}
    rows, different = [], []
    for name, changes in COMBINATIONS:
        kind, X, y, weight = made[name]
        settings = {"n_estimators": 8 if options.quick else 20, "early_stopping": False, "random_state": 3} | changes
        seen, taken = set(), 0.0
        words = ", ".join(f"{key}={'...' if isinstance(value, list) else value}" for key, value in changes.items())
        try:
            for threads in THREADS:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    wall, _, model = timed(lambda: kinds[kind](n_jobs=threads, **settings).fit(X, y, sample_weight=weight))  # noqa: B023
                taken += wall
                seen.add(digests(model, X))
            verdict = "same" if len(seen) == 1 else f"{len(seen)} DIFFERENT"
        except Exception as error:
            verdict = f"FAILED: {type(error).__name__}: {str(error)[:100]}"
        if verdict != "same":
            different.append(f"{name}: {words}")
        first = min(seen)[0][:12] if seen else "-"
        rows.append([name, words, first, verdict, f"{taken:.1f} s"])
        print(f"  {name}: {words}: {verdict}", flush=True)
    print()
    report.say(f"Each combination trained with {', '.join(map(str, THREADS))} threads.\n")
    report.table(["data", "options", "digest", "models", "time"], rows)
    report.goal("combinations whose digests are equal", len(rows) - len(different), len(rows), "")
    report.figures["combinations"] = {f"{row[0]}: {row[1]}": row[3] for row in rows}
    report.save()
    if different:
        sys.exit("not the same: " + "; ".join(different))


if __name__ == "__main__":
    main()
