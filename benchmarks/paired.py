"""A usual model and a changed one compared on many tables: errors on the same splits, and the mean of their differences with its noise."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tables
from common import Report, seconds, short, timed

# (name of the contestant, table, seed) -> a model to be trained, and the columns as it takes them.
Contestant = Callable[[str, tables.Table, int], tuple[Any, Any]]


def table_option(parser: argparse.ArgumentParser) -> None:
    """Which tables."""
    parser.add_argument("--tables", default="", help="tables by name, separated by commas")


def error(task: str, model: Any, X: Any, y: Any) -> float:
    """Root mean squared error, or log loss."""
    if task == "regression":
        return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    probability = np.clip(np.asarray(model.predict_proba(X), np.float64), 1e-15, 1.0)
    return float(-np.log(probability[np.arange(len(y)), y]).mean())


def as_text(X: Any, categories: list[str]) -> Any:
    """CatBoost takes no missing categories."""
    X = X.copy()
    for name in categories:
        X[name] = X[name].astype(object).where(X[name].notna(), "missing").astype(str)
    return X


def compare(
    report: Report,
    data: Any,
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    usual: str,
    wanted: Sequence[str],
    splits: Callable[[tables.Table, str], list[tables.Split]],
    contestant: Contestant,
) -> None:
    """Train all by name on the splits of each table, and report errors and, of each pair (usual, changed), the change of the error.

    `usual` is what the first of a pair is called. A change is in per cent of the error of the usual one, with its standard error.
    """
    columns = ["table", *names, *(f"{changed} - {usual}, %" for _, changed in pairs)]
    report.say(f"| {' | '.join(columns)} |\n|---{'|---:' * (len(columns) - 1)}|")
    figures: dict[str, Any] = {}
    report.figures["tables"] = figures
    every: dict[str, list[float]] = {changed: [] for _, changed in pairs}
    for name in wanted:
        table = tables.read(name, data)
        if table is None:
            continue
        errors: dict[str, list[float]] = {one: [] for one in names}
        times: dict[str, list[float]] = {one: [] for one in names}
        for seed, (train, test) in enumerate(splits(table, name)):
            for one in names:
                model, X = contestant(one, table, seed)
                wall, _, _ = timed(lambda model=model, X=X, train=train, y=table.y[train]: model.fit(X.iloc[train], y))
                errors[one].append(error(table.task, model, X.iloc[test], table.y[test]))
                times[one].append(wall)
        row = [name, *(short(float(np.mean(errors[one])), 4) for one in names)]
        for first, changed in pairs:
            change = 100.0 * (np.array(errors[changed]) - errors[first]) / np.mean(errors[first])
            every[changed].append(float(change.mean()))
            noise = float(change.std(ddof=1) / np.sqrt(len(change))) if len(change) > 1 else float("nan")
            row.append(f"{change.mean():+.2f} ± {noise:.2f}")
        report.say(f"| {' | '.join(row)} |")
        figures[name] = {one: {"errors": errors[one], "seconds": float(np.median(times[one]))} for one in names}
        report.save()
    report.say()
    for changed, changes in every.items():
        better = sum(change < 0 for change in changes)
        report.say(f"- {changed} - {usual}: {np.mean(changes):+.2f} % on average over {len(changes)} tables, better on {better}")
    for one in names:
        report.say(f"- {one}: {seconds(float(np.median([figures[name][one]['seconds'] for name in figures])))} per fit, median over tables")
    report.save()
