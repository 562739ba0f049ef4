"""How long does prediction take: 200,000 rows at once, and one row at a time?

Every contestant predicts with 100 trees of 255 leaves that it trained itself on the same rows. The batch is the public call with the
threads given; one row is the quickest call that the library offers from Python, median over many calls.
Symmetric trees are another, cheaper shape: they are shown beside and compared with each other.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import synthetic
from common import Report, arguments, chosen, race, seconds, short, woodwind_is_here
from contestants import ALL, Settings

NAMES = ("woodwind", "xgboost", "lightgbm", "sklearn", "catboost", "ydf", "woodwind-symmetric", "catboost-symmetric")
ONEDAL = "onedal (LightGBM's trees)"
SYMMETRIC = ("woodwind-symmetric", "catboost-symmetric")


def median_call(call: Callable[[], Any], calls: int) -> float:
    """Median seconds of one call, after a few unmeasured ones."""
    for _ in range(5):
        call()
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < calls and time.perf_counter() - begin < 20:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def converted(model: Any) -> Any:
    """LightGBM's trees in oneDAL, the quickest thing to predict with in Python so far; None where it is not installed."""
    try:
        import daal4py
    except ImportError:
        return None
    return daal4py.mb.convert_model(model)


def batch_calls(name: str, model: Any, X: Any, s: Settings) -> dict[str, Callable[[], Any]]:
    """The ways to predict many rows."""
    contestant = ALL[name]
    prepared = contestant.prepare(X)
    calls: dict[str, Callable[[], Any]] = {name: lambda: contestant.predict(model, prepared, s)}
    if name.startswith("woodwind"):
        predictor = model.predictor()
        calls[f"{name}, predictor()"] = lambda: predictor(X)
    if name == "lightgbm" and (other := converted(model)) is not None:
        calls[ONEDAL] = lambda: other.predict_proba(X)
    return calls


def row_calls(name: str, model: Any, row: Any) -> dict[str, Callable[[], Any]]:
    """The quickest ways to predict one row; one thread, since a second one only adds a hand-over."""
    calls: dict[str, Callable[[], Any]] = {}
    if name.startswith("woodwind"):
        predictor = model.predictor()
        calls[f"{name}, predictor()"] = lambda: predictor(row)
        calls[f"{name}, predict_proba"] = lambda: model.predict_proba(row)
    elif name == "xgboost":
        model.set_param({"nthread": 1})
        calls[name] = lambda: model.inplace_predict(row)
    elif name == "lightgbm":
        calls[name] = lambda: model.predict(row, num_threads=1)
        if (other := converted(model)) is not None:
            calls[ONEDAL] = lambda: other.predict_proba(row)
    elif name == "sklearn":
        calls[name] = lambda: model.predict_proba(row)
    elif name.startswith("catboost"):
        calls[name] = lambda: model.predict_proba(row, thread_count=1)
    else:
        prepared = ALL[name].prepare(row)
        calls[name] = lambda: model.predict(prepared, num_threads=1)
    return calls


def main() -> None:
    options = arguments(__doc__ or "")
    report = Report("predict_speed", "Prediction speed", options)
    rows, learn, trees = (20_000, 5_000, 10) if options.quick else (200_000, 100_000, 100)
    X, y = synthetic.collisions(rows + learn)
    X_train, y_train, X = X[:learn], y[:learn], X[learn:]
    row = X[:1].copy()

    batch: dict[str, Callable[[], Any]] = {}
    single: dict[str, float] = {}
    for name in chosen(options, NAMES):
        contestant = ALL[name]
        if not contestant.here() or (contestant.library == "woodwind" and not woodwind_is_here()):
            continue
        s = Settings(leaves=255, trees=trees, threads=options.threads)
        if name in SYMMETRIC:
            s = Settings(growth="symmetric", depth=8, trees=trees, threads=options.threads)
        print(f"training {name} ...", flush=True)
        model = contestant.fit(contestant.prepare(X_train), y_train, s)
        for label, call in row_calls(name, model, row).items():
            single[label] = median_call(call, 200 if options.quick else 5_000)
        batch |= batch_calls(name, model, X, s)
    print()

    times = race(batch, rounds=1 if options.quick else 5, warm=batch, slow=20.0)
    report.say(f"## {len(X):,} rows at once\n\n{X.shape[1]} columns, {trees} trees of 255 leaves (symmetric: depth 8).\n")
    best = {name: t.best for name, t in times.items()}
    update = len(X) * trees
    report.table(
        ["contestant", "best", "runs", "ns per row and tree"],
        [[n, seconds(t), len(times[n].wall), short(t / update * 1e9)] for n, t in sorted(best.items(), key=lambda item: item[1])],
    )
    report.say("## One row\n")
    report.table(["contestant", "median"], [[n, seconds(t)] for n, t in sorted(single.items(), key=lambda item: item[1])])
    report.figures |= {"batch": {n: t.wall for n, t in times.items()}, "one_row": single}

    plain = {n: t for n, t in best.items() if not n.startswith("woodwind") and n not in SYMMETRIC}
    if "woodwind" in best and plain:
        fastest = min(plain, key=plain.__getitem__)
        report.goal(f"{len(X):,} rows: times faster than {fastest}", plain[fastest] / best["woodwind"], 1.5)
        own = {n: t for n, t in plain.items() if n != ONEDAL}
        fastest = min(own, key=own.__getitem__)
        report.say(f"Against the fastest library that predicts with its own model, {fastest}: {own[fastest] / best['woodwind']:.2f}x\n")
        report.goal("one row through predictor()", single["woodwind, predictor()"] * 1e6, 20.0, " us", at_most=True)
    report.save()


if __name__ == "__main__":
    main()
