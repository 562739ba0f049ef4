"""Do linear leaves help on regression tables: constant and linear leaves, of Woodwind and of LightGBM, on rows that were not trained on?

Default parameters but for `linear_leaves` and, by name, `linear_l2`; LightGBM has 1,000 rounds at most, stopped by a tenth of rows. Error
is root mean square over the splits of each table; what counts is the mean of the differences linear - constant, in shares of the error of
constant leaves, and its standard error.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import tables
from common import Report, arguments, chosen
from paired import compare, table_option

TABLES = (
    "abalone", "ames_house", "bike", "california_housing", "diamonds", "insurance", "loans_openintro", "resale_price_SYNTHETIC",
    "uci_boston", "uci_concrete", "uci_energy", "uci_kin8nm", "uci_power", "uci_yacht",
)  # fmt: skip
NAMES = ("woodwind", "woodwind linear 0.1", "woodwind linear 1", "woodwind linear 10", "woodwind linear 100", "lightgbm", "lightgbm linear")
MOST_ROWS = 8_000  # trained on


class LightGBM:
    """Boosting of LightGBM, stopped by a tenth of the rows."""

    def __init__(self, linear: bool, threads: int, seed: int) -> None:
        self.linear, self.threads, self.seed = linear, threads, seed

    def fit(self, X: Any, y: Any) -> None:
        import lightgbm

        held = np.random.default_rng(self.seed).permutation(len(y)) < len(y) // 10
        fixed = {"linear_tree": self.linear, "verbose": -1, "num_threads": self.threads, "learning_rate": 0.05}
        train = lightgbm.Dataset(X[~held], y[~held], params=fixed)
        valid = lightgbm.Dataset(X[held], y[held], reference=train, params=fixed)
        stop = lightgbm.early_stopping(50, verbose=False)
        self.model = lightgbm.train({**fixed, "objective": "regression"}, train, 1000, [valid], callbacks=[stop])

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)


def model_of(name: str, threads: int, seed: int) -> Any:
    library, *linear = name.split()
    if library == "lightgbm":
        return LightGBM(bool(linear), threads, seed)
    import woodwind

    more = {"linear_leaves": True, "linear_l2": float(linear[1])} if linear else {}
    return woodwind.GradientBoostingRegressor(n_jobs=threads, random_state=seed, **more)


def splits(table: tables.Table, count: int) -> list[tables.Split]:
    """Those of the table, with some of the rows to train on."""
    return [
        (np.sort(np.random.default_rng([seed, 44]).permutation(train)[:MOST_ROWS]), test)
        for seed, (train, test) in enumerate(table.splits(count))
    ]


def main() -> None:
    options = arguments(__doc__ or "", table_option)
    warnings.simplefilter("ignore")
    report = Report("linear_leaves", "Linear leaves on regression tables", options)
    names, count = chosen(options, NAMES), 1 if options.quick else 3
    pairs = [(name.split()[0], name) for name in names if "linear" in name and name.split()[0] in names]
    wanted = [one for one in options.tables.split(",") if one] or (TABLES[5:6] if options.quick else TABLES)

    def contestant(name: str, table: tables.Table, seed: int) -> tuple[Any, Any]:
        return model_of(name, options.threads, seed), table.X

    compare(report, options.data, names, pairs, "constant", wanted, lambda table, _: splits(table, count), contestant)


if __name__ == "__main__":
    main()
