"""Columns of many categories: default models, error on rows that were not trained on, and seconds of training.

Synthetic tables: one column of 1,000 categories (or 3,000) with an effect of each, five numbers of which two matter, noise; 50, 4 or 3
rows for each category. Real ones: loans with the title of the job, flights with the number of the aircraft, insurance with the postcode.
Everybody has default parameters and two threads; CatBoost gets categories as text with the names of their columns, the others pandas
categories. Seconds are of one fit each, without preparing the table. Errors are root mean square, or log loss; three draws or splits, and
the noise is the standard error of the mean difference to CatBoost.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import tables
from common import Report, arguments, chosen, seconds, short, timed
from paired import as_text, error, table_option

SYNTHETIC = {
    "1,000 x 50 rows": (1000, 50, "regression"),
    "1,000 x 4 rows": (1000, 4, "regression"),
    "3,000 x 3 rows, two classes": (3000, 3, "binary"),
}
REAL = ("loans_openintro", "bemtpl97", "nycflights13")
FLIGHTS = 60_000  # rows: CatBoost alone would take minutes for more
NAMES = ("woodwind", "catboost", "lightgbm", "xgboost")


def synthetic(n_categories: int, each: int, task: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """As many rows to train on as to look at."""
    import pandas as pd

    rng = np.random.default_rng([seed, 71])
    n = 2 * n_categories * each
    which, X = rng.integers(0, n_categories, n), rng.normal(size=(n, 5))
    score = rng.normal(size=n_categories)[which] + 0.5 * X[:, 0] + np.sin(2.0 * X[:, 1])
    y = score + 0.7 * rng.normal(size=n) if task == "regression" else (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(np.int64)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(category=pd.Categorical([f"c{number}" for number in which]))
    return frame, y, np.arange(n // 2), np.arange(n // 2, n)


def model_of(name: str, task: str, categories: list[str], threads: int, seed: int) -> Any:
    regression = task == "regression"
    if name == "woodwind":
        import woodwind

        kind = woodwind.GradientBoostingRegressor if regression else woodwind.GradientBoostingClassifier
        return kind(n_jobs=threads, random_state=seed)
    if name == "catboost":
        import catboost

        kind = catboost.CatBoostRegressor if regression else catboost.CatBoostClassifier
        return kind(verbose=0, thread_count=threads, random_seed=seed, cat_features=categories, allow_writing_files=False)
    if name == "lightgbm":
        import lightgbm

        return (lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier)(verbose=-1, n_jobs=threads, random_state=seed)
    import xgboost

    return (xgboost.XGBRegressor if regression else xgboost.XGBClassifier)(n_jobs=threads, random_state=seed, enable_categorical=True)


def measured(names: list[str], task: str, given: tuple[Any, Any, Any, Any], threads: int, seed: int) -> dict[str, tuple[float, float]]:
    """Error and seconds of each."""
    X, y, train, test = given
    categories = [name for name in X.columns if X[name].dtype.name == "category"]
    found = {}
    for name in names:
        table = as_text(X, categories) if name == "catboost" else X
        learned, held = table.iloc[train], table.iloc[test]
        model = model_of(name, task, categories, threads, seed)
        wall, _, _ = timed(lambda model=model, learned=learned: model.fit(learned, y[train]))
        found[name] = (error(task, model, held, y[test]), wall)
    return found


def main() -> None:
    options = arguments(__doc__ or "", table_option)
    warnings.simplefilter("ignore")
    report = Report("many_categories", "Columns of many categories, default models", options)
    names, draws = chosen(options, NAMES), 1 if options.quick else 3
    cases: dict[str, tuple[str, list[Any]]] = {
        name: (task, [synthetic(k, each, task, seed) for seed in range(draws)]) for name, (k, each, task) in SYNTHETIC.items()
    }
    wanted = [name for name in options.tables.split(",") if name] or list(REAL)
    for name in [] if options.quick else wanted:
        root = tables.folder(options.data)
        read = tables.nycflights13(root, FLIGHTS) if name == "nycflights13" and root else tables.read(name, options.data)
        if read is not None:
            cases[name] = (read.task, [(read.X, read.y, *split) for split in read.splits(draws)])
    if "woodwind" in names:  # kernels are compiled once for a machine
        X, y, train, _ = synthetic(300, 4, "regression", 0)
        model_of("woodwind", "regression", [], options.threads, 0).fit(X.iloc[train], y[train])
    columns = ["table", *names, "noise", *(f"{name}, time" for name in names)]
    report.say(f"| {' | '.join(columns)} |\n|---{'|---:' * (len(columns) - 1)}|")
    figures: dict[str, Any] = {}
    report.figures["cases"] = figures
    ratios, behind = [], []
    for case, (task, given) in cases.items():
        found = [measured(names, task, one, options.threads, seed) for seed, one in enumerate(given)]
        errors = {name: np.array([one[name][0] for one in found]) for name in names}
        times = {name: float(np.median([one[name][1] for one in found])) for name in names}
        noise = float("nan")
        if {"woodwind", "catboost"} <= set(names):
            difference = errors["woodwind"] - errors["catboost"]
            noise = float(difference.std(ddof=1) / np.sqrt(draws)) if draws > 1 else float("nan")
            ratios.append(times["catboost"] / times["woodwind"])
            behind.append(float(difference.mean() / errors["catboost"].mean()))
        row = [case, *(short(errors[name].mean(), 4) for name in names), short(noise), *(seconds(times[name]) for name in names)]
        report.say(f"| {' | '.join(row)} |")
        figures[case] = {name: {"errors": errors[name].tolist(), "seconds": times[name]} for name in names}
        report.save()  # what is there: the whole takes long
    report.say()
    if ratios:
        report.goal("error above CatBoost's, on the worst table, as a share", max(behind), 0.01, unit="", at_most=True)
        report.goal("CatBoost's time over ours, on the worst table", min(ratios), 5.0)
    report.save()


if __name__ == "__main__":
    main()
