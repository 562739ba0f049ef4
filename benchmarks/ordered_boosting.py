"""Does ordered boosting help on small tables: plain and ordered, of Woodwind and of CatBoost, on rows that were not trained on?

Real tables of fewer than 3,000 rows, and 600 rows drawn of larger ones. Default parameters but for `boosting` and, for trees like
CatBoost's, `growth`; five splits. Error is root mean square, or log loss; what counts is the mean of the differences ordered - plain over
the splits, in shares of the error of plain, and its standard error.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import tables
from common import Report, arguments, chosen
from paired import as_text, compare, table_option

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
    """Those of the table; of a larger one, so many rows to train on and at most 20,000 others. All classes are trained on."""
    made = table.splits(count) if name in SMALL else [drawn(len(table.y), seed) for seed in range(count)]
    if table.task == "regression":
        return made
    return [(train, test[np.isin(table.y[test], table.y[train])]) for train, test in made]


def drawn(n_rows: int, seed: int) -> tables.Split:
    order = np.random.default_rng([seed, 33]).permutation(n_rows)
    return np.sort(order[:ROWS]), np.sort(order[ROWS : ROWS + 20_000])


def main() -> None:
    options = arguments(__doc__ or "", table_option)
    warnings.simplefilter("ignore")
    report = Report("ordered_boosting", "Ordered boosting on small tables", options)
    names, count = chosen(options, NAMES), 1 if options.quick else 5
    pairs = [
        (name, name.replace("plain", "ordered")) for name in names if name.endswith("plain") and name.replace("plain", "ordered") in names
    ]
    wanted = [one for one in options.tables.split(",") if one] or (SMALL[1:2] if options.quick else SMALL + DRAWN)

    def contestant(name: str, table: tables.Table, seed: int) -> tuple[Any, Any]:
        categories = [column for column in table.X.columns if table.X[column].dtype.name == "category"]
        X = as_text(table.X, categories) if name.startswith("catboost") else table.X
        return model_of(name, table.task, categories, options.threads, seed), X

    compare(report, options.data, names, pairs, "plain", wanted, lambda table, name: splits(table, name, count), contestant)


if __name__ == "__main__":
    main()
