"""Is an ensemble of different models better than the best of them, and which way of putting them together is?

    python benchmarks/ensembles.py                     all real tables, two splits each, some forty minutes
    python benchmarks/ensembles.py --tables hmeq,bike  some of them
    python benchmarks/ensembles.py --quick             two tables, one split: does it run

Seven members of different kinds are trained on at most 6,000 rows, and put together by the public estimators: voting, weighted
voting, stacking, pruning and dynamic selection. Each of these trains its members in the same folds: `Remembered` keeps what a member
has been trained on the same rows and what it predicted for others, so that nothing is trained twice. The best single member is the one with
the least loss out of fold, which a user would have taken; the best of the dynamic methods is named in hindsight, as the oracle is, who asks
the best member for each row.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tables as real
from common import RESULTS, Report, arguments, short, write_json

LARGEST, LARGEST_TEST, SPLITS = 6_000, 6_000, 2
QUICK = ("hmeq", "uci_concrete")
DYNAMIC = ("knora_u", "knora_e", "des_p", "meta_des", "des_rrc", "ola")
DYNAMIC_NUMBERS = ("weighting", "weighting_selection", "softmax", "local_best")
WAYS = ("best single", "voting", "weighted", "stacked", "pruned", "dynamic", "oracle")
LEAST = 1e-7
# What each table gave, by its contents: a run that was stopped goes on where it was.
KEPT = RESULTS / "ensembles-tables.json"


def remembered() -> Any:
    """Wrappers of estimators that keep what each has been trained on which rows, and what it predicted for which."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    kept: dict[tuple[str, ...], Any] = {}
    locks: dict[tuple[str, ...], threading.Lock] = {}
    guard = threading.Lock()

    def digest_of(X: Any, more: bytes = b"") -> str:
        return hashlib.sha256(np.ascontiguousarray(X.index.to_numpy()).tobytes() + more).hexdigest()

    def once(which: tuple[str, ...], call: Callable[[], Any]) -> Any:
        with guard:
            lock = locks.setdefault(which, threading.Lock())
        with lock:
            if which not in kept:
                kept[which] = call()
        return kept[which]

    class Remembered(BaseEstimator):
        def __init__(self, name: str = "", estimator: Any = None) -> None:
            self.name, self.estimator = name, estimator

        def fit(self, X: Any, y: Any) -> Any:
            from sklearn.base import clone

            self.rows_ = digest_of(X, np.asarray(y, np.float64).tobytes())
            self.model_ = once((self.name, self.rows_), lambda: clone(self.estimator).fit(X, y))
            self.n_features_in_ = X.shape[1]
            self.feature_names_in_ = np.array(X.columns, object)
            return self

        def predict(self, X: Any) -> Any:
            return once((self.name, self.rows_, "predict", digest_of(X)), lambda: self.model_.predict(X))

    class OfClasses(ClassifierMixin, Remembered):
        def fit(self, X: Any, y: Any) -> Any:
            super().fit(X, y)
            self.classes_ = self.model_.classes_
            return self

        def predict_proba(self, X: Any) -> Any:
            return once((self.name, self.rows_, "predict_proba", digest_of(X)), lambda: self.model_.predict_proba(X))

    class OfNumbers(RegressorMixin, Remembered):
        pass

    return OfClasses, OfNumbers


def members(task: str, threads: int) -> list[tuple[str, Any]]:
    """Models of different kinds, each for any table."""
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import make_pipeline

    import woodwind as ww
    from woodwind.estimators.base.matrix import TableToMatrix

    own: dict[str, Any] = {"n_jobs": threads, "random_state": 0}
    if task == "regression":
        return [
            ("boosting", ww.GradientBoostingRegressor(**own)),
            ("symmetric", ww.GradientBoostingRegressor(growth="symmetric", max_depth=4, **own)),
            ("forest", ww.RandomForestRegressor(n_estimators=200, **own)),
            ("extra-trees", ww.ExtraTreesRegressor(n_estimators=200, **own)),
            ("adaboost", ww.AdaBoostRegressor(max_depth=6, random_state=0)),
            ("ridge", make_pipeline(TableToMatrix(), RidgeCV(alphas=np.logspace(-2, 4, 13)))),
            ("neighbours", make_pipeline(TableToMatrix(), KNeighborsRegressor(10, weights="distance"))),
        ]
    return [
        ("boosting", ww.GradientBoostingClassifier(**own)),
        ("symmetric", ww.GradientBoostingClassifier(growth="symmetric", max_depth=4, **own)),
        ("forest", ww.RandomForestClassifier(n_estimators=200, **own)),
        ("extra-trees", ww.ExtraTreesClassifier(n_estimators=200, min_samples_leaf=2, **own)),
        ("logistic", make_pipeline(TableToMatrix(), LogisticRegression(max_iter=2000, C=0.3))),
        ("neighbours", make_pipeline(TableToMatrix(), KNeighborsClassifier(15, weights="distance"))),
        ("bayes", make_pipeline(TableToMatrix(), GaussianNB(var_smoothing=1e-2))),
    ]


def loss_of_rows(task: str, truth: Any, predicted: Any) -> Any:
    """Log loss, or squared error, of each row."""
    if task == "regression":
        return (truth - predicted) ** 2
    return -np.log(np.maximum(predicted[np.arange(len(truth)), truth], LEAST))


def ensembles(task: str, pool: list[tuple[str, Any]], cv: Any, threads: int) -> dict[str, Any]:
    """The ways of putting members together, each as a user would write it."""
    import woodwind as ww

    kind = "Regressor" if task == "regression" else "Classifier"
    common: dict[str, Any] = {"estimators": pool, "n_jobs": threads}
    metric = "neg_root_mean_squared_error" if task == "regression" else "neg_log_loss"
    out = {
        "voting": getattr(ww, f"Voting{kind}")(**common),
        "weighted": getattr(ww, f"Voting{kind}")(weights="optimal", cv=cv, **common),
        "stacked": getattr(ww, f"Stacking{kind}")(cv=cv, **common),
        "pruned": getattr(ww, f"EnsembleSelection{kind}")(cv=cv, scoring=metric, random_state=0, **common),
    }
    soft: dict[str, Any] = {} if task == "regression" else {"voting": "soft"}
    for method in DYNAMIC_NUMBERS if task == "regression" else DYNAMIC:
        out[f"dynamic {method}"] = getattr(ww, f"DynamicSelection{kind}")(method=method, cv=cv, random_state=0, **soft, **common)
    return out


def said_by(task: str, model: Any, X: Any) -> Any:
    return model.predict(X) if task == "regression" else model.predict_proba(X)


def of_split(table: real.Table, train: Any, test: Any, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Losses of the held-out rows, by way; and the name of the best single member."""
    from sklearn.model_selection import KFold, StratifiedKFold

    import woodwind as ww

    task = table.task
    X, y = table.X.iloc[train], table.y[train]
    new, truth = table.X.iloc[test], table.y[test]
    of_classes, of_numbers = remembered()
    wrap = of_numbers if task == "regression" else of_classes
    pool = [(name, wrap(name=f"{name}", estimator=estimator)) for name, estimator in members(task, options.threads)]
    splitter = (KFold if task == "regression" else StratifiedKFold)(5, shuffle=True, random_state=0)
    folds = list(splitter.split(X, y))
    losses: dict[str, Any] = {}
    predicted = ww.out_of_fold_predictions(pool, X, y, cv=folds, n_jobs=options.threads)
    inside = np.array([loss_of_rows(task, y, predicted[:, m]).mean() for m in range(len(pool))])
    single = np.stack([loss_of_rows(task, truth, said_by(task, wrap(name, member.estimator).fit(X, y), new)) for name, member in pool])
    best = int(inside.argmin())
    losses["best single"] = single[best]
    losses["oracle"] = single.min(axis=0)
    for name, model in ensembles(task, pool, folds, options.threads).items():
        losses[name] = loss_of_rows(task, truth, said_by(task, model.fit(X, y), new))
    return losses, pool[best][0]


def of_table(table: real.Table, options: argparse.Namespace, splits: int) -> dict[str, Any]:
    """All ways on one table: mean losses, and how much better than the best single member, in standard errors."""
    began = time.perf_counter()
    rows: dict[str, list[Any]] = {}
    chosen: list[str] = []
    for number, (train, test) in enumerate(table.splits(splits)):
        draw = np.random.default_rng(number)
        train = np.sort(draw.permutation(train)[:LARGEST])
        test = np.sort(draw.permutation(test)[:LARGEST_TEST])
        known = np.isin(table.y[test], table.y[train]) if table.task != "regression" else np.ones(len(test), bool)
        losses, best = of_split(table, train, test[known], options)
        chosen.append(best)
        for name, loss in losses.items():
            rows.setdefault(name, []).append(loss)
    mean = {name: float(np.mean([loss.mean() for loss in parts])) for name, parts in rows.items()}
    dynamic = min((name for name in mean if name.startswith("dynamic ")), key=mean.__getitem__)
    for part in (mean, rows):
        part["dynamic"] = part[dynamic]  # type: ignore[index]
    gap: dict[str, float] = {}
    for name, parts in rows.items():
        # Splits share rows: the error of their mean is taken to be that of one of them, which is more than it is.
        differences = [mine - theirs for mine, theirs in zip(parts, rows["best single"], strict=True)]
        error = float(np.mean([d.std() / np.sqrt(len(d)) for d in differences]))
        gap[name] = float(np.mean([d.mean() for d in differences])) / error if error > 0 else 0.0
    seconds = time.perf_counter() - began
    print(f"  {table.name}: {seconds:.0f} s, best single {', '.join(chosen)}", flush=True)
    return {"mean": mean, "gap": gap, "single": chosen, "dynamic": dynamic.removeprefix("dynamic "), "seconds": seconds}


def shown(task: str, loss: float) -> str:
    return short(np.sqrt(loss) if task == "regression" else loss, 4)


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--tables", default="", help="names of tables, separated by commas")
        parser.add_argument("--splits", type=int, default=SPLITS, help="splits of each table")
        parser.add_argument("--again", action="store_true", help="measure tables again that an earlier run has kept")

    options = arguments(__doc__ or "", more)
    report = Report("ensembles", "Ensembles of different models", options)
    names = [name for name in options.tables.split(",") if name] or (list(QUICK) if options.quick else list(real.READERS))
    splits = 1 if options.quick else options.splits
    found: dict[str, Any] = {}
    tasks: dict[str, str] = {}
    kept = {} if options.quick or options.again or not KEPT.exists() else json.loads(KEPT.read_text())
    for name in names:
        table = real.read(name, options.data)
        if table is None:
            print(f"  {name}: not in the folder of tables")
            continue
        tasks[name] = table.task
        what = f"{name} {table.digest()} {splits} splits, {LARGEST} rows"
        found[name] = kept[what] if what in kept else of_table(table, options, splits)
        kept[what] = found[name]
        if not options.quick:
            write_json(KEPT, kept)
    if not found:
        raise SystemExit("no tables: give the folder by --data or $WOODWIND_DATA")
    report.say(
        f"Loss of held-out rows, {splits} splits, at most {LARGEST:,} rows to learn from: log loss, or RMSE for numbers. In brackets the "
        "difference to the best single member, in standard errors of the paired difference: below -2 is better beyond noise, above 2 "
        "is worse.\n"
    )
    lines = []
    for name, facts in found.items():
        cells = [shown(tasks[name], facts["mean"]["best single"])]
        cells += [f"{shown(tasks[name], facts['mean'][way])} ({facts['gap'][way]:+.1f})" for way in WAYS[1:-1]]
        lines.append([name, *cells, facts["dynamic"], shown(tasks[name], facts["mean"]["oracle"])])
    report.table(("table", *WAYS[:-1], "of these", "oracle"), lines)
    counts = []
    for way in WAYS[1:-1]:
        gaps = np.array([facts["gap"][way] for facts in found.values()])
        means = np.array([facts["mean"][way] < facts["mean"]["best single"] for facts in found.values()])
        counts.append([way, int(means.sum()), int((gaps < -2).sum()), int((gaps > 2).sum()), len(gaps)])
    report.table(("way", "below the best single", "better beyond noise", "worse beyond noise", "tables"), counts)
    worse = [name for name, facts in found.items() if facts["gap"]["stacked"] > 2]
    report.say(f"Stacked worse than the best single member beyond noise: {', '.join(worse) or 'on none'}.\n")
    report.goal("tables where the stack is worse beyond noise", float(len(worse)), 0.0, unit="", at_most=True)
    better = float(np.mean([facts["mean"]["stacked"] < facts["mean"]["best single"] for facts in found.values()]))
    report.goal("share of tables where the stack has less loss", better, 0.5, unit="")
    report.figures["tables"] = found
    report.save()


if __name__ == "__main__":
    main()
