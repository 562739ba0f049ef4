"""Is what is trained fast as good as what the others train?

One race says little: on another draw of the same table any of them may come out ahead. So every contestant trains on several draws of
1,000,000 x 28 with the same settings, and the mean difference is told with its standard error over the draws.

Where the edges of bins lie relative to the steps of the target is much the same on every draw, and so is whose trees find its interactions
sooner: with 255 leaves, 255 bins make 0.002 more log loss than 254 for one contestant on nearly every draw, and less for another. So the
number of bins differs from draw to draw as well.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

import scores
import synthetic
from common import Report, arguments, chosen
from contestants import ALL, Settings

NAMES = ("woodwind", "xgboost", "lightgbm", "lightgbm-quantised")
BINS = (255, 254, 253, 252, 251, 250, 249, 248)  # of one draw after another


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--draws", type=int, default=8, help="how many tables are drawn")


def _losses(names: list[str], settings: Settings, rows: int, seed: int) -> dict[str, float]:
    """Held-out log loss of every contestant on one draw."""
    settings = replace(settings, bins=BINS[seed % len(BINS)])
    X, y = synthetic.collisions(rows + rows // 5, seed)
    found = {}
    for name in names:
        model = ALL[name].fit(X[:rows], y[:rows], settings)
        found[name] = float(scores.row_losses("binary", y[rows:], np.asarray(ALL[name].predict(model, X[rows:], settings))).mean())
    return found


def main() -> None:
    options = arguments(__doc__ or "", _options)
    report = Report("train_accuracy", "Accuracy at equal settings", options)
    rows = 50_000 if options.quick else 1_000_000
    trees = 20 if options.quick else 100
    names = [name for name in chosen(options, NAMES) if ALL[name].here()]
    for about, more in (("depth 8", {"growth": "level", "depth": 8}), ("255 leaves", {"leaves": 255})):
        settings = Settings(trees=trees, min_rows=1, min_hessian=1.0, threads=options.threads, **more)
        found = [_losses(names, settings, rows, seed) for seed in range(options.draws)]
        report.say(f"## {rows:,} x 28, {about}, {options.draws} draws, {BINS[min(options.draws, len(BINS)) - 1]} to {BINS[0]} bins\n")
        table = []
        for name in names:
            losses = np.array([one[name] for one in found])
            behind = losses - np.array([one[names[0]] for one in found])
            error = behind.std(ddof=1) / np.sqrt(len(behind)) if len(behind) > 1 else float("nan")
            draws = " ".join(f"{loss:.5f}" for loss in losses)
            table.append([name, f"{losses.mean():.5f}", f"{behind.mean():+.5f}", f"{error:.5f}", draws])
        report.table(["contestant", "mean log loss", f"more than {names[0]}", "standard error", "draw by draw"], table)
        report.figures[about] = found
    report.save()


if __name__ == "__main__":
    main()
