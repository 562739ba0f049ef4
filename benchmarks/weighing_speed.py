"""How long does it take to find the weights of a large pool for which a loss is smallest?

    python benchmarks/weighing_speed.py             300 members, 100,000 rows: a minute
    python benchmarks/weighing_speed.py --quick     30 members, 2,000 rows: does it run

The time is that of the whole call, from what members predict to weights. Every result comes with a gap, by which its loss is above the
smallest one at most. Beside log loss the usual algorithm, expectation and maximisation, for as many steps as take the same time.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from common import Report, arguments, race, seconds

MEMBERS, ROWS = 300, 100_000
MOST_SECONDS = 5.0


def pool(n: int, m: int) -> tuple[Any, Any, Any, Any]:
    """Probabilities (n, m, 2) and classes; numbers (n, m) and the truth. Members share some of their errors."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, n)
    base = rng.normal(size=n) + (2 * truth - 1)
    numbers = base[:, None] * rng.uniform(0.3, 1.2, m) + rng.normal(size=(n, m)) * rng.uniform(0.3, 2.0, m)
    yes = 1.0 / (1.0 + np.exp(-numbers))
    return np.stack([1.0 - yes, yes], axis=2), truth, numbers, base


def expectation_maximisation(of_truth: Any, most_seconds: float) -> tuple[int, float]:
    """Steps that fit into the time, and the log loss that they reach."""
    weights, steps, began = np.full(of_truth.shape[1], 1.0 / of_truth.shape[1]), 0, time.perf_counter()
    while time.perf_counter() - began < most_seconds:
        weights *= of_truth.T @ (1.0 / (of_truth @ weights)) / len(of_truth)
        steps += 1
    return steps, float(-np.log(of_truth @ weights).mean())


def main() -> None:
    options = arguments(__doc__ or "")
    os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
    from woodwind import losses
    from woodwind.ensemble.member_weights import brier_weights, log_loss_weights, loss_weights, squared_weights

    m, n, rounds = (30, 2_000, 1) if options.quick else (MEMBERS, ROWS, 2)
    report = Report("weighing_speed", "Finding the weights of a large pool", options)
    probabilities, truth, numbers, base = pool(n, m)
    few = slice(0, n // 10)
    cases = {
        "log loss": lambda: log_loss_weights(probabilities, truth),
        "Brier score": lambda: brier_weights(probabilities, truth),
        "squared error": lambda: squared_weights(numbers, base),
        f"absolute error, {m // 6} members, {n // 10:,} rows": lambda: loss_weights(numbers[few, ::6], base[few], losses.Absolute()),
    }
    times = race(cases, rounds, {name: lambda: None for name in cases}, slow=np.inf)
    rows = []
    for name, timing in times.items():
        found = timing.result
        report.figures[name] = {"seconds": timing.wall, "loss": found.value, "gap": found.gap}
        rows.append([name, seconds(timing.best), f"{found.value:.6f}", f"{found.gap:.1e}", str(int((found.weights > 0).sum()))])
    report.say(f"{m} members and {n:,} rows.\n")
    report.table(["loss", "time", "smallest value", "gap", "members with weight"], rows)
    best = times["log loss"]
    steps, reached = expectation_maximisation(probabilities[np.arange(n), :, truth], best.best)
    report.figures["expectation and maximisation"] = {"steps": steps, "loss": reached}
    above = reached - best.result.value
    report.say(f"Expectation and maximisation takes {steps} steps in the time of log loss, and is {above:.1e} above it.\n")
    report.goal("log loss, seconds", best.best, MOST_SECONDS, " s", at_most=True)
    report.save()


if __name__ == "__main__":
    main()
