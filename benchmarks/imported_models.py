"""Models of XGBoost, LightGBM, CatBoost and scikit-learn, taken over: do they predict the same, and how fast?

Models are random in their task, loss, size and shape, trained on tables with missing values and categories, and asked about these rows and
about rows that lie at and just beside the values that splits are made of. Damaged files are what disks make of them, and forged ones have
numbers and parts changed; batches run in processes of their own, within limits of time and memory, so that a crash is seen and counted.
Speed is that of the public call for 200,000 rows on the same trees, with the threads given.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from common import Report, arguments, chosen, race, seconds, short, woodwind_is_here

TESTS = Path(__file__).resolve().parent.parent / "tests"
LIBRARIES = ("xgboost", "lightgbm", "catboost", "sklearn")
BATCH = 500
LIMITS = {"seconds": 300, "bytes": 4 << 30}


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", type=int, default=50, help="models of each library (50)")
    parser.add_argument("--files", type=int, default=10_000, help="damaged files in all (10000)")
    parser.add_argument("--parts", default="equal,damaged,speed", help="what is looked at (equal,damaged,speed)")
    parser.add_argument("--batch", default="", help=argparse.SUPPRESS)  # of a process of its own: library, first file, last file


def reader(library: str) -> Any:
    import woodwind

    return getattr(woodwind, f"from_{library}")


def equality(report: Report, names: list[str], count: int) -> None:
    """The largest difference of the predictions of random models."""
    from reference.foreign_models import MAKERS, difference

    rows, worst = [], {}
    for library in names:
        found = []
        for seed in range(count):
            foreign = MAKERS[library](seed)
            found.append((difference(reader(library)(foreign.model), foreign), seed, foreign.words))
        worst[library] = max(found)
        rows.append([library, count, f"{worst[library][0]:.1e}", f"{worst[library][2]} (seed {worst[library][1]})"])
    report.figures["equality"] = {library: value[0] for library, value in worst.items()}
    report.say("Largest difference of a prediction, relative where it is above one. XGBoost adds up 32 bits, Woodwind 64.\n")
    report.table(["library", "models", "largest difference", "of"], rows)
    for library, value in worst.items():
        report.goal(f"largest difference, {library}", value[0], 1e-6, "", at_most=True)


def batch(given: str) -> None:
    """In a process of its own: read damaged files of a library, and print how many ended in which way."""
    import resource

    import woodwind
    from reference.foreign_models import MAKERS, bad_file, contents_of

    library, first, last = given.split(",")
    honest = [data for seed in (0, 1, 4, 5, 7, 8) for data in contents_of(library, MAKERS[library](seed, 100).model)]
    resource.setrlimit(resource.RLIMIT_AS, (LIMITS["bytes"], LIMITS["bytes"]))
    ends: Counter[str] = Counter()
    for number in range(int(first), int(last)):
        draw = random.Random(f"{library} {number}")
        data, began = bad_file(draw.choice(honest), draw), time.process_time()
        try:
            reader(library)(data)
            ends["opened"] += 1
        except woodwind.ModelFileError:
            ends["refused"] += 1
        except Exception as error:
            ends[f"raised {type(error).__name__}"] += 1
        ends["slow"] += time.process_time() - began > 5.0
    print(json.dumps(ends))


def damage(report: Report, names: list[str], count: int) -> None:
    """What becomes of damaged and forged files."""
    ends: dict[str, Counter[str]] = {}
    share = count // len(names)
    for library in names:
        own = ends.setdefault(library, Counter())
        for first in range(0, share, BATCH):
            command = [sys.executable, __file__, "--quick", "--batch", f"{library},{first},{min(first + BATCH, share)}"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=LIMITS["seconds"], check=False)
            except subprocess.TimeoutExpired:
                own["hung"] += 1
                continue
            if done.returncode:
                own["crashed"] += 1
                report.say(f"- {library}, files {first} to {first + BATCH}: {done.stderr[-300:]}")
            else:
                own.update(json.loads(done.stdout))
    report.figures["damaged"] = {library: dict(own) for library, own in ends.items()}
    every = sorted({end for own in ends.values() for end in own})
    report.table(["library", *every], [[library, *(own[end] for end in every)] for library, own in ends.items()])
    bad = sum(count for own in ends.values() for end, count in own.items() if end not in ("opened", "refused"))
    report.goal("batches or files that crashed, hung, took five seconds or raised another error", bad, 0, "", at_most=True)


def speed(report: Report, names: list[str], n_rows: int, threads: int, rounds: int) -> None:
    """The public call of both on the same trees."""
    import numpy as np

    X, y = _table(n_rows)
    rows = []
    for library in names:
        theirs = _trained(library, X[: min(n_rows, 50_000)], y[: min(n_rows, 50_000)], threads)
        ours = reader(library)(theirs)
        ours.set_params(n_jobs=threads)
        call = {"own library": lambda theirs=theirs: theirs.predict_proba(X), "woodwind": lambda ours=ours: ours.predict_proba(X)}
        assert np.abs(call["own library"]() - call["woodwind"]()).max() < 1e-6
        times = race(call, rounds)
        own, mine = times["own library"].best, times["woodwind"].best
        rows.append([library, seconds(own), seconds(mine), f"{short(own / mine)}x"])
        report.figures.setdefault("speed", {})[library] = own / mine
    report.table(["library", "own library", "woodwind", "times as fast"], rows)
    for library in names:
        report.goal(f"prediction against {library}", report.figures["speed"][library], 2.0)


def _table(n_rows: int) -> tuple[Any, Any]:
    import numpy as np

    draw = np.random.default_rng(0)
    X = draw.normal(size=(n_rows, 20)).astype(np.float32)
    X[draw.random(X.shape) < 0.05] = np.nan
    return X, (np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 2]) > 0).astype(int)


def _trained(library: str, X: Any, y: Any, threads: int) -> Any:
    if library == "xgboost":
        import xgboost

        return xgboost.XGBClassifier(n_estimators=100, max_depth=8, n_jobs=threads, tree_method="hist").fit(X, y)
    if library == "lightgbm":
        import lightgbm

        return lightgbm.LGBMClassifier(n_estimators=100, num_leaves=255, n_jobs=threads, verbose=-1).fit(X, y)
    if library == "catboost":
        import catboost

        return catboost.CatBoostClassifier(iterations=100, depth=8, thread_count=threads, verbose=0, allow_writing_files=False).fit(X, y)
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=100, max_leaf_nodes=255, early_stopping=False).fit(X, y)


def main() -> None:
    options = arguments(__doc__ or "", options_of)
    sys.path.insert(0, str(TESTS))
    warnings.simplefilter("ignore")
    if options.batch:
        batch(options.batch)
        return
    report = Report("imported_models", "Models of other libraries, taken over", options)
    if not woodwind_is_here():
        raise SystemExit("woodwind cannot be imported")
    names, parts = chosen(options, LIBRARIES), options.parts.split(",")
    if "equal" in parts:
        equality(report, names, 3 if options.quick else options.models)
    if "damaged" in parts:
        damage(report, [name for name in names if name != "sklearn"], 60 if options.quick else options.files)
    if "speed" in parts:
        speed(report, names, 5_000 if options.quick else 200_000, options.threads, 1 if options.quick else 5)
    report.save()


if __name__ == "__main__":
    main()
