"""Is the error out of the bag that of new rows, and do prediction intervals cover what they say?

    python benchmarks/out_of_bag.py             bags and forests on real tables, some minutes
    python benchmarks/out_of_bag.py --quick     few trees on two tables: does it run

The error of training rows, each scored by the trees that have not seen it, stands beside the error of rows that were held out. A
row out of the bag is scored by 37 % of the trees, so there are enough of them for that not to matter. Intervals are those of
`predict_quantiles` at 5 % and 95 %.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import tables as real
from common import Report, arguments, short

# Real tables whose rows are exchangeable: no order in time, no copies of rows on both sides.
TABLES = ("abalone", "adult", "bank_marketing", "california_housing", "diamonds", "hmeq", "letter", "otto", "phoneme", "uci_kin8nm")
LARGEST, TREES, SPLITS = 8_000, 500, 2
KINDS = ("Bagging", "RandomForest", "ExtraTrees")


def fitted(kind: str, task: str, trees: int, threads: int, X: Any, y: Any) -> Any:
    """A bag or a forest with its error out of the bag."""
    import woodwind

    model = getattr(woodwind, kind + ("Regressor" if task == "regression" else "Classifier"))
    own = {"quantiles": True} if kind == "RandomForest" and task == "regression" else {}
    return model(n_estimators=trees, bootstrap=True, oob_score=True, random_state=0, n_jobs=threads, **own).fit(X, y)


def said_out_of_bag(model: Any, task: str) -> Any:
    """Predictions for training rows; none where every tree has seen a row."""
    if task == "regression" or hasattr(model, "oob_prediction_"):
        return model.oob_prediction_
    probabilities = model.oob_decision_function_
    return model.classes_[np.nan_to_num(probabilities).argmax(axis=1)]


def losses(task: str, truth: Any, predicted: Any) -> Any:
    """What is wrong with each prediction; rows without one are left out."""
    if task == "regression":
        there = ~np.isnan(predicted)
        return (truth[there] - predicted[there]) ** 2
    return (truth != predicted).astype(np.float64)


def of_table(report: Report, table: real.Table, kind: str, options: argparse.Namespace, trees: int) -> list[Any]:
    """Both errors of one table, how many standard errors they are apart, and how much intervals cover."""
    pairs, covered = [], []
    for split in table.splits(SPLITS):
        train, test = (np.random.default_rng(0).permutation(places)[:LARGEST] for places in split)
        model = fitted(kind, table.task, trees, options.threads, table.X.iloc[train], table.y[train])
        new = table.X.iloc[test]
        inside = losses(table.task, table.y[train], said_out_of_bag(model, table.task))
        pairs.append((inside, losses(table.task, table.y[test], model.predict(new))))
        if kind == "RandomForest" and table.task == "regression":
            low, high = model.predict_quantiles(new, [0.05, 0.95]).T
            covered.append(float(((low <= table.y[test]) & (table.y[test] <= high)).mean()))
    inside, outside = (float(np.mean([pair[side].mean() for pair in pairs])) for side in (0, 1))
    # Rows held out are others in each split; those that are trained on are mostly the same.
    noise = np.mean([one.var() / len(one) + other.var() / len(other) / SPLITS for one, other in pairs]) ** 0.5
    apart = float(abs(inside - outside) / noise)
    cover = float(np.mean(covered)) if covered else None
    report.figures[f"{kind}, {table.name}"] = {"inside": inside, "outside": outside, "standard errors": apart, "cover": cover}
    return [kind, table.name, short(inside), short(outside), apart, cover]


def main() -> None:
    options = arguments(__doc__ or "")
    report = Report("out_of_bag", "Errors out of the bag, and intervals", options)
    trees = 20 if options.quick else TREES
    rows = []
    for name in TABLES[:2] if options.quick else TABLES:
        table = real.read(name, options.data)
        for kind in KINDS if table is not None else ():
            rows.append(of_table(report, table, kind, options, trees))
            print(*rows[-1], flush=True)
    report.say(f"{trees} trees, at most {LARGEST:,} rows, mean of {SPLITS} splits: share of wrong labels, or mean squared error.\n")
    shown = [[*row[:4], f"{row[4]:.2f}", "" if row[5] is None else f"{row[5]:.1%}"] for row in rows]
    report.table(["method", "table", "out of bag", "held out", "apart, standard errors", "within 90 % intervals"], shown)
    if rows:
        report.goal("share of errors within two standard errors", sum(row[4] <= 2.0 for row in rows) / len(rows), 0.95, "")
        covers = [row[5] for row in rows if row[5] is not None]
        report.goal("tables on which 90 % intervals cover 87 to 93 %", sum(0.87 <= one <= 0.93 for one in covers) / len(covers), 1.0, "")
    report.save()


if __name__ == "__main__":
    main()
