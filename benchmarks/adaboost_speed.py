"""How long does AdaBoost take, against scikit-learn with the same stumps?

100 stumps on 100,000 x 28, and on a tenth of that; deeper trees and the regressor beside them. The scores on rows held out stand beside the
times. The goal is the first row; the others show what else is quick and what is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import synthetic
from common import Report, arguments, race, seconds, short

GOAL = 50.0


def cases(rows: int, threads: int) -> dict[str, tuple[Callable[[int], Any], Callable[[int], Any], tuple[Any, Any], int]]:
    """By name: ours and theirs, each made for a number of rounds; the table; rounds."""
    from sklearn.ensemble import AdaBoostClassifier as TheirClassifier
    from sklearn.ensemble import AdaBoostRegressor as TheirRegressor
    from sklearn.tree import DecisionTreeClassifier

    from woodwind import AdaBoostClassifier, AdaBoostRegressor

    small = max(rows // 10, 1000)
    return {
        f"100 stumps, {rows:,} x 28": (
            lambda n: AdaBoostClassifier(n_estimators=n, n_jobs=threads),
            lambda n: TheirClassifier(n_estimators=n, random_state=0),
            synthetic.collisions(rows + rows // 4),
            100,
        ),
        f"100 stumps, {small:,} x 28": (
            lambda n: AdaBoostClassifier(n_estimators=n, n_jobs=threads),
            lambda n: TheirClassifier(n_estimators=n, random_state=0),
            synthetic.collisions(small + small // 4),
            100,
        ),
        f"20 trees of depth 3, {small:,} x 28": (
            lambda n: AdaBoostClassifier(n_estimators=n, max_depth=3, n_jobs=threads),
            lambda n: TheirClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=n, random_state=0),
            synthetic.collisions(small + small // 4),
            20,
        ),
        f"R2, 20 trees of depth 3, {small:,} x 30": (
            lambda n: AdaBoostRegressor(n_estimators=n, n_jobs=threads, random_state=0),
            lambda n: TheirRegressor(n_estimators=n, random_state=0),
            synthetic.wide(small + small // 4, 30),
            20,
        ),
    }


def main() -> None:
    options = arguments(__doc__ or "")
    report = Report("adaboost_speed", "AdaBoost: how long does training take?", options)
    rows = 5_000 if options.quick else 100_000
    lines, ratios = [], []
    for name, (ours, theirs, (X, y), rounds) in cases(rows, options.threads).items():
        n = len(X) * 4 // 5
        calls = {
            "woodwind": lambda make=ours, X=X, y=y, n=n, rounds=rounds: make(rounds).fit(X[:n], y[:n]),
            "scikit-learn": lambda make=theirs, X=X, y=y, n=n, rounds=rounds: make(rounds).fit(X[:n], y[:n]),
        }
        warm = {"woodwind": lambda make=ours, X=X, y=y, n=n: make(2).fit(X[:n], y[:n])}
        times = race(calls, rounds=1 if options.quick else 3, warm=warm)
        ratio = times["scikit-learn"].best / times["woodwind"].best
        ratios.append(ratio)
        scores = [short(float(times[who].result.score(X[n:], y[n:])), 4) for who in calls]
        lines.append([name, seconds(times["woodwind"].best), seconds(times["scikit-learn"].best), f"{short(ratio)}x", *scores])
        report.figures[name] = {"seconds": {who: times[who].wall for who in calls}, "scores": dict(zip(calls, scores, strict=True))}
    report.table(["case", "woodwind", "scikit-learn", "quicker by", "score, woodwind", "score, scikit-learn"], lines)
    report.goal("100 stumps on 100,000 x 28, against scikit-learn", ratios[0], GOAL)
    report.save()


if __name__ == "__main__":
    main()
