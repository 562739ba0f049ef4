"""Is the job of `woodwind fit --time` as good as the best boosting of other libraries, where the table is large and the time is short?

Tables: all flights from New York in 2013 (arrival delay; a random fifth held out, and the last fifth in time), three million flights
of 2001 (delay; a random fifth, and the last fifth), and one of sales that is made here: shops by day, with a date as the time column.

A peer is trained for the same time as the job: its defaults, and LightGBM and XGBoost once more with 255 leaves and a learning rate of 0.05
as somebody would set them who has many rows and some time; as many rounds as the time allows, stopped by a tenth of the training rows (in
time order the latest tenth) where these are no longer better for 50 rounds. The best round by these rows predicts. One training is looked
at after each of the times. Peers are given the parts of dates as columns, and categories; the job is given the table as is.
Reading, binning and training count for all; RMSE of the rows held out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from command import job_end, start
from common import Report, arguments, seconds
from tables import frame

PATIENCE = 50
LEAKS = ["dep_delay", "dep_time", "arr_time", "air_time", "year"]


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--times", default="60,120", help="seconds (60,120)")
    parser.add_argument("--tables", default="", help="parts of names of tables, separated by commas; all unless given")
    parser.add_argument("--peers", default=",".join(PEERS), help="peers, separated by commas; may be empty")


# ---------------------------------------------------------------- tables


def new_york(root: Path) -> tuple[pd.DataFrame, str, str]:
    data = pd.read_csv(root / "nycflights13" / "flights.csv.gz")
    data = data[data["arr_delay"].notna()].drop(columns=LEAKS).reset_index(drop=True)
    data["time_hour"] = pd.to_datetime(data["time_hour"], utc=True).dt.tz_localize(None)
    return data.sort_values("time_hour", kind="stable", ignore_index=True), "arr_delay", "time_hour"


def three_million(root: Path) -> tuple[pd.DataFrame, str, str]:
    data = pd.read_parquet(root / "flights_3m" / "flights-3m.parquet")
    data["date"] = pd.to_datetime(data["date"])
    return data.sort_values("date", kind="stable", ignore_index=True), "delay", "date"


def shops(_root: Path) -> tuple[pd.DataFrame, str, str]:
    """1,115 shops on 870 days: weekdays, promotions, holidays, seasons, slow growth, and shops that differ in all of these."""
    rng = np.random.default_rng(0)
    n_shops, days = 1115, pd.date_range("2013-01-01", periods=870)
    shop, day = (part.ravel() for part in np.meshgrid(np.arange(n_shops), np.arange(len(days))))
    base, growth, weekend = rng.lognormal(8.6, 0.4, n_shops), rng.normal(0, 0.1, n_shops), rng.random(n_shops) < 0.1
    weekday, year_day, month_day = days.day_of_week.to_numpy()[day], days.day_of_year.to_numpy()[day], days.day.to_numpy()[day]
    promotion = ((day // 7) % 2 == 0) & (weekday < 5)
    holiday = np.isin(year_day, [1, 120, 275, 359, 360])
    rate = np.array([0.18, 0.05, 0.0, 0.0, 0.08, 0.0, -0.3])[weekday] + rng.normal(0.3, 0.12, n_shops)[shop] * promotion
    rate += 0.5 * np.exp(-(((year_day - 352) / 8.0) ** 2)) + 0.1 * np.exp(-(((month_day - 1) / 2.0) ** 2)) + 0.05 * np.sin(day / 58.0)
    is_open = (~holiday | (rng.random(len(shop)) < 0.02)) & ((weekday < 6) | weekend[shop])
    sales = base[shop] * np.exp(rate + growth[shop] * day / 365 + rng.normal(0, 0.09, len(shop)))
    data = pd.DataFrame({
        "Shop": shop, "Date": days[day], "Open": is_open.astype(int), "Promo": promotion.astype(int),
        "Holiday": np.where(holiday, "public", "none"), "Distance": np.round(rng.lognormal(7, 1.5, n_shops), -1)[shop],
        "Type": rng.choice(list("abcd"), n_shops)[shop], "Sales": np.where(is_open, np.round(sales), 0.0),
    })  # fmt: skip
    return data, "Sales", "Date"


TABLES: dict[str, Callable[[Path], tuple[pd.DataFrame, str, str]]] = {
    "nycflights13": new_york,
    "flights_3m": three_million,
    "shops": shops,
}
CASES = (("nycflights13", False), ("nycflights13", True), ("flights_3m", False), ("flights_3m", True), ("shops", True))


def with_parts(X: pd.DataFrame, date: str) -> pd.DataFrame:
    """The parts of a date as columns, for those who do not read dates."""
    X = X.copy()
    for part in ("month", "day", "day_of_week", "day_of_year", "hour", "minute"):
        X[f"{date} {part}"] = getattr(X[date].dt, part).astype(np.int32)
    X[f"{date} days"] = (X[date] - pd.Timestamp("2000-01-01")).dt.total_seconds() / 86400.0
    return frame(X, (date,))


# ---------------------------------------------------------------- peers: predictions of the best round after each of the times


class Watch:
    """Counts the time of a training, and remembers the best round at each of the times asked for."""

    def __init__(self, times: list[float]) -> None:
        self.began, self.times = time.perf_counter(), times
        self.best, self.best_at, self.rounds = np.inf, 0, 0
        self.marks: dict[float, int] = {}

    def is_over(self, loss: float) -> bool:
        self.rounds += 1
        spent = time.perf_counter() - self.began
        for asked in self.times:
            if spent > asked:
                self.marks.setdefault(asked, max(self.best_at, 1))
        if loss < self.best:
            self.best, self.best_at = loss, self.rounds
        return spent > max(self.times) or self.rounds - self.best_at >= PATIENCE

    def best_rounds(self) -> dict[float, int]:
        return {asked: self.marks.get(asked, max(self.best_at, 1)) for asked in self.times}


def lightgbm(X: Any, y: Any, held: Any, watch: Watch, threads: int, **more: Any) -> Callable[[Any, int], Any]:
    import lightgbm as lgb

    def callback(env: Any) -> None:
        if watch.is_over(env.evaluation_result_list[0][2]):
            raise lgb.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

    train = lgb.Dataset(X[~held], y[~held])
    params = {"objective": "regression", "metric": "rmse", "num_threads": threads, "verbose": -1, "seed": 0, **more}
    model = lgb.train(params, train, 100_000, valid_sets=[lgb.Dataset(X[held], y[held], reference=train)], callbacks=[callback])
    return lambda rows, rounds: model.predict(rows, num_iteration=rounds)


def xgboost(X: Any, y: Any, held: Any, watch: Watch, threads: int, **more: Any) -> Callable[[Any, int], Any]:
    import xgboost as xgb

    class Callback(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, log: Any) -> bool:
            return watch.is_over(log["held"]["rmse"][-1])

    train = xgb.QuantileDMatrix(X[~held], y[~held], enable_categorical=True)
    valid = xgb.QuantileDMatrix(X[held], y[held], enable_categorical=True, ref=train)
    params = {"objective": "reg:squarederror", "tree_method": "hist", "nthread": threads, "seed": 0, **more}
    model = xgb.train(params, train, 100_000, evals=[(valid, "held")], callbacks=[Callback()], verbose_eval=False)
    return lambda rows, rounds: model.predict(xgb.DMatrix(rows, enable_categorical=True), iteration_range=(0, rounds))


def catboost(X: Any, y: Any, held: Any, watch: Watch, threads: int) -> Callable[[Any, int], Any]:
    import catboost as cb

    categories = [name for name in X.columns if X[name].dtype.name == "category"]

    def pool(rows: Any, target: Any = None) -> Any:
        rows = rows.copy()
        for name in categories:
            rows[name] = rows[name].astype(object).fillna("missing").astype(str)
        return cb.Pool(rows, target, cat_features=categories)

    class Callback:
        def after_iteration(self, info: Any) -> bool:
            return not watch.is_over(info.metrics["validation"]["RMSE"][-1])

    # Its default learning rate follows from the number of rounds; for its default of 1,000 it is about this for tables of such sizes.
    quiet = {"verbose": False, "allow_writing_files": False}
    model = cb.CatBoostRegressor(iterations=20_000, learning_rate=0.1, thread_count=threads, random_seed=0, **quiet)
    model.fit(pool(X[~held], y[~held]), eval_set=pool(X[held], y[held]), callbacks=[Callback()], use_best_model=False)
    return lambda rows, rounds: model.predict(pool(rows), ntree_end=rounds)


PEERS = {
    "lightgbm": lightgbm,
    "lightgbm-255": partial(lightgbm, num_leaves=255, learning_rate=0.05),
    "xgboost": xgboost,
    "xgboost-255": partial(xgboost, grow_policy="lossguide", max_leaves=255, max_depth=0, eta=0.05),
    "catboost": catboost,
}


def peer(
    name: str, train: pd.DataFrame, test: pd.DataFrame, target: str, date: str, in_order: bool, times: list[float], threads: int
) -> Any:
    """Predictions by time, and the rounds that they are of."""
    watch = Watch(times)
    X, y = with_parts(train.drop(columns=target), date), train[target].to_numpy(np.float64)
    held = np.zeros(len(X), bool)
    if in_order:
        held[int(0.9 * len(X)) :] = True
    else:
        held[np.random.default_rng(1).permutation(len(X))[: len(X) // 10]] = True
    predict = PEERS[name](X, y, held, watch, threads)
    taken = time.perf_counter() - watch.began
    rows = with_parts(test.drop(columns=target), date)
    for column in rows.columns:
        if rows[column].dtype.name == "category":
            rows[column] = rows[column].cat.set_categories(X[column].cat.categories)
    return {asked: predict(rows, rounds) for asked, rounds in watch.best_rounds().items()}, watch.best_rounds(), taken


# ---------------------------------------------------------------- the job


def job(folder: Path, asked: float, target: str, date: str | None, threads: int) -> dict[str, Any]:
    """What a call took, its leaderboard, and its predictions."""
    call = ["fit", "train.parquet", "--target", target, "--time", f"{asked:g}", "--json", "--threads", threads, "-o", "model.ww", "--force"]
    began = time.perf_counter()
    process = start([*call, *([] if date is None else ["--time-column", date])], folder, threads, stdout=-1, stderr=-1)
    out, err = process.communicate()
    taken = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(err)
    start(["predict", "model.ww", "test.parquet", "-o", "predicted.parquet", "--force"], folder, threads).wait()
    ended = job_end(out)
    assert ended is not None
    predicted = pd.read_parquet(folder / "predicted.parquet").iloc[:, -1].to_numpy()
    return {"taken": taken, "leaderboard": ended["leaderboard"], "predicted": predicted, "ended": ended["seconds"]}


def rmse(y: Any, predicted: Any) -> float:
    return float(np.sqrt(np.mean((y - predicted) ** 2)))


def main() -> None:
    options = arguments((__doc__ or "").splitlines()[0], options_of)
    report = Report("large_tables", "The job on large tables", options)
    times = [10.0] if options.quick else [float(text) for text in options.times.split(",")]
    wanted = [part for part in options.tables.split(",") if part]
    rows, found = [], []
    for name, in_order in CASES:
        words = f"{name}, {'time order' if in_order else 'random'}"
        if wanted and not any(part in words for part in wanted):
            continue
        data, target, date = TABLES[name](Path(options.data))
        held = np.arange(len(data)) >= int(0.8 * len(data))
        if not in_order:
            held = np.random.default_rng(0).permutation(held)
        train, test = data[~held].reset_index(drop=True), data[held].reset_index(drop=True)
        y = test[target].to_numpy(np.float64)
        with tempfile.TemporaryDirectory() as position:
            folder = Path(position)
            train.to_parquet(folder / "train.parquet")
            test.drop(columns=target).to_parquet(folder / "test.parquet")
            for asked in times if not options.peers_only else ():
                done = job(folder, asked, target, date if in_order else None, options.threads)
                score = rmse(y, done.pop("predicted"))
                members = [entry for entry in done["leaderboard"] if entry["family"] != "ensemble"]
                claimed = next(entry["score"] for entry in done["leaderboard"] if entry["family"] == "ensemble")
                out_of_time = [entry["name"] for entry in members if "out of time" in (entry["note"] or "")]
                found.append({"case": words, "asked": asked, "who": "woodwind", "rmse": score, "claimed": claimed, **done})
                rows.append([words, seconds(asked), "woodwind", f"{score:.4f}", seconds(done["taken"]),
                             f"{len(members)} members, {len(out_of_time)} of them cut short; claims {claimed:.4f}"])  # fmt: skip
                print("  ", *rows[-1], flush=True)
                for entry in done["leaderboard"]:
                    print("       ", entry["name"], entry["score"], entry["weight"], round(entry["seconds"], 1), entry["note"], flush=True)
        for who in (part for part in options.peers.split(",") if part):
            predicted, rounds, taken = peer(who, train, test, target, date, in_order, times, options.threads)
            for asked in times:
                score = rmse(y, predicted[asked])
                used = min(taken, asked)
                found.append({"case": words, "asked": asked, "who": who, "rmse": score, "rounds": rounds[asked], "taken": used})
                rows.append([words, seconds(asked), who, f"{score:.4f}", seconds(used), f"round {rounds[asked]:,}"])
                print("  ", *rows[-1], flush=True)
    report.table(["table", "time", "who", "RMSE held out", "taken", ""], rows)
    for words in dict.fromkeys(one["case"] for one in found):
        for asked in times:
            here = {one["who"]: one["rmse"] for one in found if one["case"] == words and one["asked"] == asked}
            if len(here) > 1 and "woodwind" in here:
                best = min(score for who, score in here.items() if who != "woodwind")
                report.goal(f"{words}, {seconds(asked)}: RMSE beside the best peer's", here["woodwind"] / best, 1.0, unit="", at_most=True)
    report.figures["runs"] = found
    report.save()


if __name__ == "__main__":
    main()
