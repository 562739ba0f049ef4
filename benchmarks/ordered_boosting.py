"""Does ordered boosting help on small tables: plain and ordered, of Woodwind and of CatBoost, on rows that were not trained on?

Real tables of fewer than 3,000 rows, and 600 rows drawn of larger ones. Default parameters but for `boosting` and, for trees like
CatBoost's, `growth`; five splits. Error is root mean square, or log loss; what counts is the mean of the differences ordered - plain over
the splits, in shares of the error of plain, and its standard error.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

import tables
from common import Report, arguments, chosen, seconds, short, timed
from many_categories import as_text, error

SMALL = ("ames_house", "insurance", "loan_bads", "uci_boston", "uci_concrete", "uci_energy", "uci_yacht")
DRAWN = ("abalone", "adult", "hmeq", "phoneme", "spambase", "mammography", "california_housing", "dna")
ROWS = 600
NAMES = (
    "woodwind plain", "woodwind ordered", "woodwind symmetric plain", "woodwind symmetric ordered", "catboost plain", "catboost ordered"
)  # fmt: skip


def model_of(name: str, task: str, categories: list[str], threads: int, seed: int) -> Any:
    library, *growth, boosting = name.split()
    if library == "woodwind":
        import woodwind

        kind = woodwind.GradientBoostingRegressor if task == "regression" else woodwind.GradientBoostingClassifier
        return kind(n_jobs=threads, random_state=seed, boosting=boosting, growth=growth[0] if growth else "best_first")
    import catboost

    kind = catboost.CatBoostRegressor if task == "regression" else catboost.CatBoostClassifier
    return kind(
        verbose=0,
        thread_count=threads,
        random_seed=seed,
        cat_features=categories,
        allow_writing_files=False,
        boosting_type=boosting.title(),
    )


def splits(table: tables.Table, name: str, count: int) -> list[tables.Split]:
    """Those of the table; of a larger one, so many rows to train on and at most 20,000 others."""
    if name in SMALL:
        return table.splits(count)
    made = []
    for seed in range(count):
        order = np.random.default_rng([seed, 33]).permutation(len(table.y))
        made.append((np.sort(order[:ROWS]), np.sort(order[ROWS : ROWS + 20_000])))
    return made


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--tables", default="", help="tables by name, separated by commas")

    options = arguments(__doc__ or "", more)
    warnings.simplefilter("ignore")
    report = Report("ordered_boosting", "Ordered boosting on small tables", options)
    names, count = chosen(options, NAMES), 1 if options.quick else 5
    pairs = [
        (name, name.replace("plain", "ordered")) for name in names if name.endswith("plain") and name.replace("plain", "ordered") in names
    ]
    columns = ["table", *names, *(f"{ordered} - plain, %" for _, ordered in pairs)]
    report.say(f"| {' | '.join(columns)} |\n|---{'|---:' * (len(columns) - 1)}|")
    figures: dict[str, Any] = {}
    report.figures["tables"] = figures
    every: dict[str, list[float]] = {ordered: [] for _, ordered in pairs}
    for name in [one for one in options.tables.split(",") if one] or (SMALL[1:2] if options.quick else SMALL + DRAWN):
        table = tables.read(name, options.data)
        if table is None:
            continue
        categories = [column for column in table.X.columns if table.X[column].dtype.name == "category"]
        errors: dict[str, list[float]] = {one: [] for one in names}
        times: dict[str, list[float]] = {one: [] for one in names}
        for seed, (train, test) in enumerate(splits(table, name, count)):
            test = test[np.isin(table.y[test], table.y[train])] if table.task != "regression" else test
            for one in names:
                X = as_text(table.X, categories) if one.startswith("catboost") else table.X
                model = model_of(one, table.task, categories, options.threads, seed)
                wall, _, _ = timed(lambda model=model, X=X, train=train, y=table.y[train]: model.fit(X.iloc[train], y))
                errors[one].append(error(table.task, model, X.iloc[test], table.y[test]))
                times[one].append(wall)
        row = [name, *(short(float(np.mean(errors[one])), 4) for one in names)]
        for plain, ordered in pairs:
            change = 100.0 * (np.array(errors[ordered]) - errors[plain]) / np.mean(errors[plain])
            every[ordered].append(float(change.mean()))
            noise = float(change.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
            row.append(f"{change.mean():+.2f} ± {noise:.2f}")
        report.say(f"| {' | '.join(row)} |")
        figures[name] = {one: {"errors": errors[one], "seconds": float(np.median(times[one]))} for one in names}
        report.save()
    report.say()
    for ordered, changes in every.items():
        better = sum(change < 0 for change in changes)
        report.say(f"- {ordered} - plain: {np.mean(changes):+.2f} % on average over {len(changes)} tables, better on {better}")
    for one in names:
        report.say(f"- {one}: {seconds(float(np.median([figures[name][one]['seconds'] for name in figures])))} per fit, median over tables")
    report.save()


if __name__ == "__main__":
    main()
