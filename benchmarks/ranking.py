"""Is the ranker as good as those of LightGBM and XGBoost, as they come and at equal settings, and how long does it take?

Tables: rank_lgb and rank_ydf_SYNTHETIC of the data folder, and 2,000 generated queries. Each is split by whole queries several times, first
as it comes, then at random; every contestant learns the same rows. The score is the NDCG of the first ten places, a query in which nothing
is relevant counting 0. The difference to Woodwind is told query by query with its standard error: two of them or more are beyond noise.

Relevance of rank_ydf_SYNTHETIC is not whole, which LightGBM does not take: it gets the nearest whole numbers. XGBoost takes it with
linear gains only.

The race: 500,000 documents x 50 columns in queries of 20 to 180, 100 rounds, 31 leaves, no sampling, no stopping, the same pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import Report, arguments, chosen, race, seconds

NAMES = ("woodwind", "lightgbm", "xgboost")
EQUAL = {"trees": 100, "rate": 0.1, "leaves": 31, "min_rows": 20, "truncation": 30}
Table = tuple[Any, Any, Any, Any]  # columns, relevance, query of each row, rows of the first test set


def rank_lgb(folder: Path, _quick: bool) -> Table:
    from sklearn.datasets import load_svmlight_file

    parts = []
    for number, name in enumerate(("train", "test")):
        X, y = load_svmlight_file(str(folder / "rank_lgb" / f"rank.{name}"), n_features=301)
        sizes = np.loadtxt(folder / "rank_lgb" / f"rank.{name}.query", dtype=int)
        parts.append((X.toarray()[:, 1:], y, np.repeat(np.arange(len(sizes)), sizes) + 10_000 * number))
    X, y, query = (np.concatenate(part) for part in zip(*parts, strict=True))
    return pd.DataFrame(X), y, query, query >= 10_000


def rank_ydf(folder: Path, _quick: bool) -> Table:
    names = [folder / "rank_ydf_SYNTHETIC" / f"synthetic_ranking_{name}.csv" for name in ("train", "test")]
    frames = [pd.read_csv(name) for name in names]
    test = np.repeat([False, True], [len(frame) for frame in frames])
    frame = pd.concat(frames, ignore_index=True)
    y, query = frame.pop("LABEL").to_numpy(), pd.factorize(frame.pop("GROUP"))[0]
    for name in frame.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]]:
        frame[name] = frame[name].astype("category")
    return frame, y, query, test


def generated(
    _folder: Path, quick: bool, n_queries: int = 2_000, columns: int = 20, sizes: tuple[int, int] = (5, 60), seed: int = 0
) -> Table:
    """Relevance in five grades by a utility with interactions and noise, relative to its mean in the query."""
    rng = np.random.default_rng(seed)
    n_queries = 100 if quick else n_queries
    size = rng.integers(*sizes, n_queries)
    query = np.repeat(np.arange(n_queries), size)
    X = rng.normal(size=(len(query), columns))
    X[:, :5] += rng.normal(size=(n_queries, 5))[query]
    utility = X[:, 5] + 0.7 * X[:, 6] * X[:, 7] + np.sin(2 * X[:, 8]) + 0.5 * (X[:, 9] > 0) * X[:, 10] + 0.5 * X[:, 0] * X[:, 11]
    utility += rng.normal(size=len(query))
    utility -= (np.bincount(query, utility) / size)[query]
    return pd.DataFrame(X), np.digitize(utility, [0.8, 1.6, 2.4, 3.2]).astype(float), query, query >= int(0.7 * n_queries)


TABLES: dict[str, Callable[[Path, bool], Table]] = {"rank_lgb": rank_lgb, "rank_ydf": rank_ydf, "generated": generated}


# ---------------------------------------------------------------- contestants: rows in the order of their queries


def woodwind(X: Any, y: Any, query: Any, threads: int, equal: bool) -> Any:
    from woodwind import GradientBoostingRanker

    settings: dict[str, Any] = {}
    if equal:
        settings = {
            "n_estimators": EQUAL["trees"], "learning_rate": EQUAL["rate"], "max_leaf_nodes": EQUAL["leaves"],
            "min_samples_leaf": EQUAL["min_rows"], "truncation_level": EQUAL["truncation"], "normalize": True, "l2_regularization": 0.0,
            "subsample": 1.0, "max_features_tree": None, "early_stopping": False,
        }  # fmt: skip
    return GradientBoostingRanker(n_jobs=threads, random_state=0, **settings).fit(X, y, group=query)


def lightgbm(X: Any, y: Any, query: Any, threads: int, equal: bool) -> Any:
    import lightgbm as library

    settings: dict[str, Any] = {"objective": "lambdarank", "num_threads": threads, "verbose": -1}
    if equal:
        settings |= {
            "learning_rate": EQUAL["rate"], "num_leaves": EQUAL["leaves"], "min_data_in_leaf": EQUAL["min_rows"], "lambda_l2": 0.0,
            "lambdarank_truncation_level": EQUAL["truncation"], "max_bin": 255,
        }  # fmt: skip
    grades = np.minimum(np.round(y), 30).astype(int)
    return library.train(settings, library.Dataset(X, grades, group=np.unique(query, return_counts=True)[1]), 100)


def xgboost(X: Any, y: Any, query: Any, threads: int, equal: bool) -> Any:
    import xgboost as library

    settings: dict[str, Any] = {"objective": "rank:ndcg", "nthread": threads, "tree_method": "hist", "max_bin": 255}
    if (y != np.floor(y)).any():
        settings["ndcg_exp_gain"] = False
    if equal:
        settings |= {
            "eta": EQUAL["rate"], "max_leaves": EQUAL["leaves"], "grow_policy": "lossguide", "max_depth": 0, "lambda": 0.0,
            "min_child_weight": 1e-3, "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": EQUAL["truncation"],
        }  # fmt: skip
    return library.train(settings, library.QuantileDMatrix(X, y, qid=query, enable_categorical=True, max_bin=255), 100)


def predicted(name: str, model: Any, X: Any) -> Any:
    if name != "xgboost":
        return model.predict(X)
    import xgboost as library

    return model.predict(library.DMatrix(X, enable_categorical=True))


CONTESTANTS = {"woodwind": woodwind, "lightgbm": lightgbm, "xgboost": xgboost}


# ---------------------------------------------------------------- how good


def splits(query: Any, test: Any, count: int) -> Iterator[Any]:
    """Rows of test sets: the one that the table comes with, then a quarter of the queries at random."""
    yield test
    names = np.unique(query)
    for seed in range(1, count):
        yield np.isin(query, np.random.default_rng(seed).permutation(names)[: len(names) // 4])


def compare(report: Report, options: argparse.Namespace, title: str, make: Callable[[Path, bool], Table], names: list[str]) -> None:
    from woodwind.data.tables.queries import QueryRows
    from woodwind.metrics.queries import query_metric

    X, y, query, test = make(Path(options.data), options.quick)
    metric = query_metric("ndcg@10")
    for equal in (False, True):
        found: dict[str, list[Any]] = {name: [] for name in names}
        for held in splits(query, test, 1 if options.quick else options.splits):
            order = np.flatnonzero(~held)[np.argsort(query[~held], kind="stable")]
            for name in names:
                model = CONTESTANTS[name](X.iloc[order], y[order], query[order], options.threads, equal)
                found[name].append(metric.by_query(y[held], predicted(name, model, X[held]), QueryRows.of(query[held])))
        report.say(f"## {title}, {'equal settings' if equal else 'as they come'}\n")
        rows = []
        for name in names:
            behind = np.concatenate([ours - theirs for ours, theirs in zip(found[names[0]], found[name], strict=True)])
            error = behind.std() / np.sqrt(len(behind))
            rows.append([name, f"{np.mean([one.mean() for one in found[name]]):.4f}", f"{behind.mean():+.4f}", f"{error:.4f}"])
            if name != names[0]:
                what = f"{title}, {'equal settings' if equal else 'as they come'}: NDCG@10 ahead of {name}, in standard errors"
                report.goal(what, behind.mean() / error if error else 0.0, -2.0, "")
        report.table(["contestant", "mean NDCG@10", f"{names[0]} is ahead by", "standard error"], rows)


def speed(report: Report, options: argparse.Namespace, names: list[str]) -> None:
    n_queries = 100 if options.quick else 5_000
    X, y, query, _ = generated(Path(), False, n_queries, 50, (20, 181), seed=1)
    X = np.ascontiguousarray(X.to_numpy(), np.float32)
    calls = {name: partial(CONTESTANTS[name], X, y, query, options.threads, True) for name in names}
    few = query < 50
    warm = {name: partial(CONTESTANTS[name], X[few], y[few], query[few], options.threads, True) for name in names}
    times = race(calls, 1 if options.quick else options.rounds, warm)
    report.say(f"## {len(X):,} documents x {X.shape[1]} columns, {n_queries:,} queries, {EQUAL['trees']} rounds\n")
    report.table(
        ["contestant", "best", "all runs"], [[name, seconds(t.best), " ".join(seconds(one) for one in t.wall)] for name, t in times.items()]
    )
    peers = [t.best for name, t in times.items() if name != "woodwind"]
    if "woodwind" in times and peers:
        report.goal("the faster of the peers takes", min(peers) / times["woodwind"].best, 1.5)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--splits", type=int, default=5, help="test sets of each table")
    parser.add_argument("--rounds", type=int, default=5, help="turns of the race")
    parser.add_argument("--parts", default="tables,speed", help="tables, speed, or both")
    parser.add_argument("--tables", default=",".join(TABLES), help="which tables")


def main() -> None:
    options = arguments(__doc__ or "", _options)
    report = Report("ranking", "Learning to rank", options)
    names = chosen(options, NAMES)
    if "tables" in options.parts:
        for title in options.tables.split(","):
            if title == "generated" or options.data:
                compare(report, options, title, TABLES[title], names)
    if "speed" in options.parts:
        speed(report, options, names)
    report.save()


if __name__ == "__main__":
    main()
