"""Sparse tables: seconds of training, memory, and held-out log loss, against LightGBM and XGBoost at the same settings.

Three tables as SciPy CSR: 50,000 x 10,000 of 250,000 random numbers; 200,000 x 2,000 of twenty one-hot groups of a hundred columns;
40,000 x 20,000 counts of words as in texts, frequent words far more often. Trees of 31 leaves grown best first, and of depth 6 grown level
by level; learning rate 0.1, L2 penalty 1, 255 bins, leaves of 20 rows (XGBoost: of hessian 5, which two balanced classes have in 20 rows).
Contestants take turns and the best run of each counts; the time is that of `fit`, which reads the matrix, cuts it and trains. Memory is
what `fit` adds to the peak of a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from common import Report, arguments, chosen, race, seconds, short

NAMES = ("woodwind", "woodwind, no bundles", "lightgbm", "xgboost")
GROWTH = {"31 leaves": 20, "depth 6": 5}  # trees of each


def random_numbers(n: int, n_columns: int, n_stored: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(sp.random(n, n_columns, n_stored / (n * n_columns), "csr", np.float32, rng))
    effect = np.zeros(n_columns)
    effect[: n_columns // 30] = 4.0 * rng.normal(size=n_columns // 30)
    return X, (X @ effect + 0.3 * rng.normal(size=n) > 0).astype(int)


def one_hot(n: int, groups: int, each: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    chosen_columns = rng.integers(0, each, (n, groups)) + each * np.arange(groups)
    X = sp.csr_matrix((np.ones(n * groups, np.float32), chosen_columns.ravel(), np.arange(0, n * groups + 1, groups)), (n, groups * each))
    return X, (X @ rng.normal(size=groups * each) + rng.normal(size=n) > 0).astype(int)


def words(n: int, n_words: int, each: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    chance = 1.0 / np.arange(1, n_words + 1)
    drawn = rng.choice(n_words, n * each, p=chance / chance.sum())
    X = sp.csr_matrix((np.ones(n * each, np.float32), drawn, np.arange(0, n * each + 1, each)), (n, n_words))
    X.sum_duplicates()
    score = X @ (rng.normal(size=n_words) * (rng.random(n_words) < 0.2))
    return X, (score + rng.normal(size=n) > np.median(score)).astype(int)


def table(name: str, quick: bool) -> tuple[Any, Any]:
    part = 20 if quick else 1
    return {
        "random numbers": lambda: random_numbers(50_000 // part, 10_000 // part, 250_000 // part),
        "one-hot": lambda: one_hot(200_000 // part, 20, 100 // part),
        "words": lambda: words(40_000 // part, 20_000 // part, 60),
    }[name]()


def model_of(name: str, growth: str, threads: int) -> Any:
    trees, leaves = GROWTH[growth], growth == "31 leaves"
    if name.startswith("woodwind"):
        import woodwind

        shape = {"max_leaf_nodes": 31} if leaves else {"growth": "level", "max_depth": 6, "max_leaf_nodes": 64}
        return woodwind.GradientBoostingClassifier(
            n_estimators=trees, learning_rate=0.1, early_stopping=False, subsample=1.0, max_features_tree=None, min_samples_leaf=20,
            n_jobs=threads, random_state=0, feature_bundling="no" not in name, **shape,
        )  # fmt: skip
    if name == "lightgbm":
        import lightgbm

        shape = {"num_leaves": 31} if leaves else {"num_leaves": 64, "max_depth": 6}
        return lightgbm.LGBMClassifier(n_estimators=trees, min_child_samples=20, reg_lambda=1.0, n_jobs=threads, verbose=-1, **shape)
    import xgboost

    shape = {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0} if leaves else {"max_depth": 6}
    return xgboost.XGBClassifier(
        n_estimators=trees, learning_rate=0.1, tree_method="hist", max_bin=255, min_child_weight=5, n_jobs=threads, **shape
    )


def fitted(name: str, growth: str, X: Any, y: Any, threads: int) -> Any:
    return model_of(name, growth, threads).fit(X, y)


def held_out(model: Any, X: Any, y: Any) -> float:
    chance = np.clip(np.asarray(model.predict_proba(X), np.float64), 1e-15, 1.0)
    return float(-np.log(chance[np.arange(len(y)), y]).mean())


def memory_of(case: str, growth: str, name: str, options: argparse.Namespace) -> float:
    """Megabytes that `fit` adds to the peak of a process of its own, in which everything has been loaded and compiled."""
    child = [sys.executable, __file__, "--child", f"{case}/{growth}/{name}", "--threads", str(options.threads)]
    ended = subprocess.run(child + ["--quick"] * options.quick, capture_output=True, text=True, check=False, timeout=900)
    return float(json.loads(ended.stdout.splitlines()[-1])) if ended.returncode == 0 else float("nan")


def child(options: argparse.Namespace) -> None:
    case, growth, name = options.child.split("/")
    small, y = table(case, True)
    fitted(name, growth, small, y, options.threads)
    X, y = table(case, options.quick)
    # The peak that the system reports begins with that of the parent: it is begun anew.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = kilobytes("VmRSS")
    fitted(name, growth, X, y, options.threads)
    print(json.dumps((kilobytes("VmHWM") - before) / 1024))


def kilobytes(what: str) -> float:
    """A figure of the memory of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(what)))


def main() -> None:
    options = arguments(__doc__ or "", lambda parser: parser.add_argument("--child", default="", help=argparse.SUPPRESS))
    if options.child:
        child(options)
        return
    report = Report("sparse", "Sparse tables: training from stored cells", options)
    names = chosen(options, NAMES)
    rows, figures, ratios = [], {}, []
    for case in ("random numbers", "one-hot", "words"):
        X, y = table(case, options.quick)
        train, test = np.arange(len(y)) % 5 > 0, np.arange(len(y)) % 5 == 0
        small = {name: partial(fitted, name, "31 leaves", X[:2000], y[:2000], options.threads) for name in names}
        for growth in GROWTH:
            calls = {name: partial(fitted, name, growth, X[train], y[train], options.threads) for name in names}
            times = race(calls, 1 if options.quick else 3, small, slow=4.0)
            memory = {name: memory_of(case, growth, name, options) for name in times}
            loss = {name: held_out(timing.result, X[test], y[test]) for name, timing in times.items()}
            best = min((timing.best for name, timing in times.items() if not name.startswith("woodwind")), default=float("nan"))
            for name, timing in times.items():
                own = (case, growth, name, seconds(timing.best), short(best / timing.best), seconds(min(timing.cpu)))
                rows.append((*own, f"{short(loss[name], 4)}", f"{short(memory[name])} MB"))
                figures[f"{case}, {growth}, {name}"] = {"wall": timing.wall, "cpu": timing.cpu, "loss": loss[name], "memory": memory[name]}
            if "woodwind" in times:
                ratios.append(best / times["woodwind"].best)
    report.table(["table", "trees", "contestant", "time", "fastest peer's over it", "processor", "log loss", "memory"], rows)
    report.figures["cases"] = figures
    if ratios:
        report.goal("time of the faster peer over ours, on the worst case", min(ratios), 1.0)
    report.save()


if __name__ == "__main__":
    main()
