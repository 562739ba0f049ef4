"""How long does it take to choose the members of a large pool?

    python benchmarks/selection_speed.py             300 members, 100,000 rows: two minutes
    python benchmarks/selection_speed.py --quick     30 members, 2,000 rows: does it run

Fifty steps of greedy selection with replacement from probabilities of two classes, by several scores; the time is that of the whole call,
from the array (rows, members, classes) to weights. Beside it the plain loop, in which NumPy or scikit-learn scores each candidate, and
AutoGluon's, if its Python is named:

    WOODWIND_AUTOGLUON_PYTHON=.../bin/python python benchmarks/selection_speed.py

Of both the first step is timed, and the time is multiplied.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np

from common import Report, arguments, race, seconds, timed

MEMBERS, ROWS, STEPS = 300, 100_000, 50
MOST_SECONDS = 5.0

AUTOGLUON = """
import json, sys, time
import numpy as np
from autogluon.core.metrics import log_loss
from autogluon.core.models.greedy_ensemble.ensemble_selection import EnsembleSelection
m, n, steps = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
truth = rng.integers(0, 2, n)
said = [1 / (1 + np.exp(-(2 * truth - 1 + 2 * rng.normal(size=n)))) for _ in range(m)]
began = time.perf_counter()
EnsembleSelection(steps, "binary", log_loss).fit(said, truth)
print(json.dumps(time.perf_counter() - began))
"""


def pool(n: int, m: int) -> tuple[Any, Any]:
    """Probabilities (n, m, 2) of members that are good to different degrees and share some of their errors, and the truth."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, n)
    shared = rng.normal(size=n)
    predicted = np.empty((m, n, 2))
    for member, strength in enumerate(np.linspace(0.3, 1.2, m)):
        score = strength * (2 * truth - 1) + shared + 1.5 * rng.normal(size=n)
        predicted[member, :, 1] = 1.0 / (1.0 + np.exp(-score))
    predicted[:, :, 0] = 1.0 - predicted[:, :, 1]
    return predicted.transpose(1, 0, 2), truth


def plain_loop(predicted: Any, truth: Any, score: Callable[[Any, Any], float], steps: int) -> list[int]:
    """What a user would write."""
    total, order = np.zeros(predicted.shape[0::2]), []
    for step in range(steps):
        scores = [score(truth, (total + predicted[:, member]) / (step + 1)) for member in range(predicted.shape[1])]
        order.append(int(np.argmax(scores)))
        total += predicted[:, order[-1]]
    return order


def minus_log_loss(truth: Any, mean: Any) -> float:
    return float(np.log(np.maximum(mean[np.arange(len(truth)), truth], 2.3e-16)).mean())


def area(truth: Any, mean: Any) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, mean[:, 1]))


def minus_brier(truth: Any, mean: Any) -> float:
    return -float(((mean[:, 1] - truth) ** 2).mean())


def hits(truth: Any, mean: Any) -> float:
    return float((mean.argmax(axis=1) == truth).mean())


PLAIN = {"log_loss": minus_log_loss, "brier": minus_brier, "accuracy": hits, "roc_auc": area}


def main() -> None:
    options = arguments(__doc__ or "")
    os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
    from woodwind.selection.greedy import greedy
    from woodwind.selection.objectives import objective_of

    m, n, rounds = (30, 2_000, 1) if options.quick else (MEMBERS, ROWS, 2)
    report = Report("selection_speed", "Choosing the members of a large pool", options)
    predicted, truth = pool(n, m)
    weight = np.random.default_rng(1).random(n)

    def choosing(metric: str, steps: int, weight: Any = None) -> Callable[[], Any]:
        return lambda: greedy(objective_of(predicted, truth, metric, weight, options.threads), steps, whole=True)

    cases = {name: choosing(name, STEPS) for name in PLAIN} | {"log_loss, rows weighted": choosing("log_loss", STEPS, weight)}
    warm = {name: choosing(name, 1) for name in PLAIN} | {"log_loss, rows weighted": choosing("log_loss", 1, weight)}
    times = race(cases, rounds, warm, slow=np.inf)
    rows = []
    for name, timing in times.items():
        row = [name, seconds(timing.best), "", "", str(len(set(timing.result.order.tolist())))]
        if name in PLAIN:
            steps = 1
            wall, _, order = timed(lambda name=name, steps=steps: plain_loop(predicted, truth, PLAIN[name], steps))
            same = order == timing.result.order[:steps].tolist()
            row[2:4] = [seconds(wall / steps * STEPS), f"{wall / steps * STEPS / timing.best:,.0f}x{'' if same else ', other members'}"]
        report.figures[name] = {"seconds": timing.wall, "score": timing.result.path[-1]}
        rows.append(row)
    report.say(f"{STEPS} steps of greedy selection with replacement from {m} members and {n:,} rows, two classes.\n")
    report.table(["score", "woodwind", "plain loop", "quicker by", "different members"], rows)
    python = os.environ.get("WOODWIND_AUTOGLUON_PYTHON", "")
    if python:
        steps = 1
        command = [python, "-c", AUTOGLUON, str(m), str(n), str(steps)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
        theirs = float(json.loads(done.stdout.strip().splitlines()[-1])) / steps * STEPS
        report.figures["autogluon"] = {"seconds": theirs}
        report.say(f"AutoGluon's EnsembleSelection by log loss, from the first step: {seconds(theirs)}.\n")
    report.goal("log loss, seconds", times["log_loss"].best, MOST_SECONDS, " s", at_most=True)
    report.save()


if __name__ == "__main__":
    main()
