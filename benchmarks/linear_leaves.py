"""Do linear leaves help on regression tables: constant and linear leaves, of Woodwind and of LightGBM, on rows that were not trained on?

Default parameters but for `linear_leaves` and, by name, `linear_l2`; LightGBM has 1,000 rounds at most, stopped by a tenth of rows. Error
is root mean square over the splits of each table; what counts is the mean of the differences linear - constant, in shares of the error of
constant leaves, and its standard error.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

import tables
from common import Report, arguments, chosen, seconds, short, timed
from many_categories import error

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


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--tables", default="", help="tables by name, separated by commas")

    options = arguments(__doc__ or "", more)
    warnings.simplefilter("ignore")
    report = Report("linear_leaves", "Linear leaves on regression tables", options)
    names, count = chosen(options, NAMES), 1 if options.quick else 3
    pairs = [(name.split()[0], name) for name in names if "linear" in name and name.split()[0] in names]
    columns = ["table", *names, *(f"{linear} - constant, %" for _, linear in pairs)]
    report.say(f"| {' | '.join(columns)} |\n|---{'|---:' * (len(columns) - 1)}|")
    figures: dict[str, Any] = {}
    report.figures["tables"] = figures
    every: dict[str, list[float]] = {linear: [] for _, linear in pairs}
    for name in [one for one in options.tables.split(",") if one] or (TABLES[5:6] if options.quick else TABLES):
        table = tables.read(name, options.data)
        if table is None:
            continue
        errors: dict[str, list[float]] = {one: [] for one in names}
        times: dict[str, list[float]] = {one: [] for one in names}
        for seed, (train, test) in enumerate(table.splits(count)):
            some = np.sort(np.random.default_rng([seed, 44]).permutation(train)[:MOST_ROWS])
            for one in names:
                model = model_of(one, options.threads, seed)
                wall, _, _ = timed(lambda model=model, rows=some, table=table: model.fit(table.X.iloc[rows], table.y[rows]))
                errors[one].append(error("regression", model, table.X.iloc[test], table.y[test]))
                times[one].append(wall)
        row = [name, *(short(float(np.mean(errors[one])), 4) for one in names)]
        for constant, linear in pairs:
            change = 100.0 * (np.array(errors[linear]) - errors[constant]) / np.mean(errors[constant])
            every[linear].append(float(change.mean()))
            noise = float(change.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
            row.append(f"{change.mean():+.2f} ± {noise:.2f}")
        report.say(f"| {' | '.join(row)} |")
        figures[name] = {one: {"errors": errors[one], "seconds": float(np.median(times[one]))} for one in names}
        report.save()
    report.say()
    for linear, changes in every.items():
        better = sum(change < 0 for change in changes)
        report.say(f"- {linear} - constant: {np.mean(changes):+.2f} % on average over {len(changes)} tables, better on {better}")
    for one in names:
        report.say(f"- {one}: {seconds(float(np.median([figures[name][one]['seconds'] for name in figures])))} per fit, median over tables")
    report.save()


if __name__ == "__main__":
    main()
