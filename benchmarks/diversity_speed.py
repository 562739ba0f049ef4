"""How long do measures of diversity take for a large pool, against DESlib?

    python benchmarks/diversity_speed.py             500 members, 100,000 rows: half a minute
    python benchmarks/diversity_speed.py --quick     40 members, 2,000 rows: does it run

DESlib needs an older scikit-learn, so it runs in an environment of its own:

    python3.11 -m venv oracle && oracle/bin/pip install deslib==0.3.7 scikit-learn==1.5.2 "numpy<2"
    WOODWIND_DESLIB_PYTHON=oracle/bin/python python benchmarks/diversity_speed.py

It compares two members at a time, row by row in Python: two pairs are timed, and the time is multiplied by the number of pairs.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np

from common import Report, arguments, race, seconds

MEMBERS, ROWS = 500, 100_000
MOST_SECONDS = 5.0

DESLIB = """
import json, sys, time
import numpy as np
from deslib.util import diversity as d
n = int(sys.argv[1])
rng = np.random.default_rng(0)
y = rng.integers(0, 2, n)
said = np.where(rng.random((3, n)) < 0.8, y, 1 - y)
measures = d.Q_statistic, d.correlation_coefficient, d.disagreement_measure, d.agreement_measure, d.double_fault, d.ratio_errors
began = time.perf_counter()
for other in (1, 2):
    for measure in measures:
        measure(y, said[0], said[other])
print(json.dumps((time.perf_counter() - began) / 2))
"""


def pool(n: int, m: int, n_classes: int) -> tuple[Any, Any]:
    """Truth and votes of members that are right with different probabilities, and share some of their errors."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, n)
    votes = np.empty((n, m), np.int64)
    hard = rng.random(n)
    for member, chance in enumerate(np.linspace(0.6, 0.9, m)):
        right = 0.5 * (rng.random(n) + hard) < chance
        votes[:, member] = np.where(right, truth, (truth + rng.integers(1, n_classes, n)) % n_classes)
    return truth, votes


def seconds_of_a_pair(python: str, n: int) -> float:
    """What DESlib takes for six measures of one pair."""
    done = subprocess.run([python, "-c", DESLIB, str(n)], check=True, capture_output=True, text=True, timeout=600)
    return float(json.loads(done.stdout))


def main() -> None:
    options = arguments(__doc__ or "")
    os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
    from woodwind import diversity as d

    m, n = (40, 2_000) if options.quick else (MEMBERS, ROWS)
    report = Report("diversity_speed", "Measures of diversity of a large pool", options)
    truth, votes = pool(n, m, 2)
    many_truth, many = pool(n, m, 9)
    hits, weight = d.hits_of(truth, votes), np.random.default_rng(1).random(n)
    of_two = "all pairwise measures with kappa, 2 classes"
    cases: dict[str, Callable[[], Any]] = {
        "hits from labels": lambda: d.hits_of(truth, votes),
        "six pairwise measures of hits": lambda: d.pairwise(hits),
        of_two: lambda: d.pairwise(hits, votes),
        "all pairwise measures with kappa, 9 classes": lambda: d.pairwise(hits, many),
        "six pairwise measures with weights": lambda: d.pairwise(hits, sample_weight=weight),
        "difficulty, entropy, Kohavi-Wolpert and three more": lambda: [
            measure(hits)
            for measure in (
                d.entropy,
                d.kohavi_wolpert_variance,
                d.interrater_kappa,
                d.difficulty,
                d.generalised_diversity,
                d.coincident_failure_diversity,
            )
        ],
        "margins of votes, 9 classes": lambda: d.vote_margins(many_truth, many),
        "the whole report, 9 classes": lambda: d.diversity_report(many_truth, many),
    }
    times = race(cases, 1 if options.quick else 3, slow=1e9)
    python = os.environ.get("WOODWIND_DESLIB_PYTHON", "")
    pairs = m * (m - 1) // 2
    theirs = seconds_of_a_pair(python, n) * pairs if python else None
    rows = [[case, seconds(timing.best), ""] for case, timing in times.items()]
    if theirs is not None:
        rows[1][2] = f"{seconds(theirs)} (reckoned from two pairs)"
    report.say(f"{m} members, {n:,} rows, {pairs:,} pairs; the best of three.\n")
    report.table(["what", "woodwind", "DESlib 0.3.7"], rows)
    report.figures |= {case: timing.wall for case, timing in times.items()} | {"deslib": theirs}
    report.goal(f"{of_two}, seconds", times[of_two].best, MOST_SECONDS, " s", at_most=True)
    if theirs is not None:
        report.goal("the six of them that DESlib has, times as fast", theirs / times["six pairwise measures of hits"].best, 10.0)
    report.save()


if __name__ == "__main__":
    main()
