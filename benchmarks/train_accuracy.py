"""Is what is trained fast as good as what the others train?

One race says little: on another draw of the same table any of them may come out ahead. So every contestant trains on several draws of
the same table with the same settings, and the mean difference is told with its standard error over the draws.

Where the edges of bins lie relative to the steps of the target is much the same on every draw, and so is whose trees find its interactions
sooner: on 1,000,000 x 28 with 255 leaves, 255 bins make 0.002 more log loss than 254 for one contestant on nearly every draw, and less for
another. So the number of bins differs from draw to draw as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import scores
import synthetic
from common import Report, arguments, chosen
from contestants import ALL, Settings

NAMES = ("woodwind", "woodwind-noise", "xgboost", "lightgbm", "lightgbm-quantised")
BINS = (255, 254, 253, 252, 251, 250, 249, 248)  # of one draw after another
TEST_ROWS = 20_000  # at least


@dataclass(frozen=True)
class Case:
    """A table and how trees are grown on it."""

    name: str
    rows: int
    make: Callable[..., tuple[Any, Any]]  # (rows, seed=...)
    settings: dict[str, Any]


CASES = (
    Case("1,000 x 10, 31 leaves", 1_000, partial(synthetic.small, features=10), {}),
    Case("10,000 x 20, 31 leaves", 10_000, partial(synthetic.small, features=20), {}),
    Case("100,000 x 28, 31 leaves", 100_000, synthetic.collisions, {}),
    Case("100,000 x 28, 255 leaves", 100_000, synthetic.collisions, {"leaves": 255}),
    Case("1,000,000 x 28, depth 8", 1_000_000, synthetic.collisions, {"growth": "level", "depth": 8}),
    Case("1,000,000 x 28, 255 leaves", 1_000_000, synthetic.collisions, {"leaves": 255}),
)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--draws", type=int, default=8, help="how many tables are drawn")
    parser.add_argument("--cases", default="", help="; ".join(f"{i} {case.name}" for i, case in enumerate(CASES, 1)))


def _losses(names: list[str], settings: Settings, case: Case, rows: int, seed: int) -> dict[str, float]:
    """Held-out log loss of every contestant on one draw."""
    settings = replace(settings, bins=BINS[seed % len(BINS)])
    X, y = case.make(rows + max(rows // 5, TEST_ROWS), seed=seed)
    found = {}
    for name in names:
        model = ALL[name].fit(X[:rows], y[:rows], settings)
        found[name] = float(scores.row_losses("binary", y[rows:], np.asarray(ALL[name].predict(model, X[rows:], settings))).mean())
    return found


def main() -> None:
    options = arguments(__doc__ or "", _options)
    report = Report("train_accuracy", "Accuracy at equal settings", options)
    names = [name for name in chosen(options, NAMES) if ALL[name].here()]
    wanted = {int(number) for number in options.cases.split(",") if number}
    for number, case in enumerate(CASES, 1):
        if wanted and number not in wanted:
            continue
        rows, trees = (min(case.rows, 50_000), 20) if options.quick else (case.rows, 100)
        settings = Settings(trees=trees, min_rows=1, min_hessian=1.0, threads=options.threads, **case.settings)
        found = [_losses(names, settings, case, rows, seed) for seed in range(options.draws)]
        report.say(f"## {case.name}, {options.draws} draws, {BINS[min(options.draws, len(BINS)) - 1]} to {BINS[0]} bins\n")
        table = []
        for name in names:
            losses = np.array([one[name] for one in found])
            behind = losses - np.array([one[names[0]] for one in found])
            error = behind.std(ddof=1) / np.sqrt(len(behind)) if len(behind) > 1 else float("nan")
            draws = " ".join(f"{loss:.5f}" for loss in losses)
            table.append([name, f"{losses.mean():.5f}", f"{behind.mean():+.5f}", f"{error:.5f}", draws])
        report.table(["contestant", "mean log loss", f"more than {names[0]}", "standard error", "draw by draw"], table)
        report.figures[case.name] = found
    report.save()


if __name__ == "__main__":
    main()
