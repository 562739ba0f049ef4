"""woodwind warm: compile the kernels now, so that nobody waits for it later. For images of containers, and before a first deadline."""

import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import woodwind
from woodwind.auto.shap import explain_model
from woodwind.auto.table_rows import read_rows
from woodwind.base.formatting import duration
from woodwind.base.random_streams import integers, key, uniform
from woodwind.cli.command import FINE, UNEXPECTED, WRONG_CALL, command
from woodwind.cli.console import say, show, show_json
from woodwind.cli.options import json_option
from woodwind.kernels.runtime.jit import home, tally

EXAMPLES = ("woodwind warm", "woodwind warm --only-job")
TARGETS = ("two", "three", "number")
# Rows, and how many members: small tables and larger ones take other ways through the kernels, and the first few members are of all kinds.
TABLES = ((200, 8), (6_000, 1))
# Those that are trained by kernels which the job does not need, with what makes them do so in little time.
FORESTS = ("RandomForest", "ExtraTrees", "RandomStructureForest", "AdaBoost", "Bagging")
BOOSTING: tuple[dict[str, Any], ...] = ({"growth": "level"}, {"max_bins": None}, {"candidates": "global"})


@command("warm", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL])
@click.option("--only-job", is_flag=True, help="Only what fit, predict and explain need, not what other estimators do.")
@json_option("what was compiled")
def run(only_job: bool, as_json: bool) -> None:
    """Compile all that is compiled, so that nobody waits later.

    Kernels are compiled for the processor at hand when they are first needed, and kept. This needs them: it trains small models of all
    kinds. In a container build it is one line: RUN woodwind warm.
    """
    began = time.perf_counter()
    if not as_json:
        say("training small models of all kinds, so that all kernels are compiled: some minutes on a new machine")
    with tempfile.TemporaryDirectory() as folder:
        for what in chain(job_steps(Path(folder)), () if only_job else estimator_steps()):
            if not as_json:
                say(f"{time.perf_counter() - began:7.1f} s  {what}")
    taken, kept = time.perf_counter() - began, home()
    found = {"compiled": tally["compiled"], "loaded": tally["loaded"], "seconds": taken, "kept_in": None if kept is None else str(kept)}
    if as_json:
        show_json(found)
    else:
        where = "nowhere: there is no private folder to write to" if kept is None else str(kept)
        show(f"{found['compiled']} kernels compiled, {found['loaded']} were there, in {duration(taken)}; kept in {where}")


def job_steps(folder: Path) -> Iterator[str]:
    """Jobs on small tables, with predictions and explanations."""
    for n_rows, models in TABLES:
        path = folder / f"{n_rows}.csv"
        path.write_text(table_text(n_rows), encoding="utf-8")
        for target in TARGETS:
            others = [name for name in TARGETS if name != target]
            model: Any = woodwind.fit(path, target, models=models, ignore=others, exclude=("net",))
            rows = read_rows(model.model_, path).select(list(model.model_.schema.names))
            model.predict(rows)
            explain_model(model.model_, rows.slice(0, 5))
            yield f"a job on {n_rows:,} rows for {target}"


def estimator_steps() -> Iterator[str]:
    """Estimators by themselves."""
    X = np.column_stack([uniform(key(0, name), 400) for name in ("a", "b", "c")])
    for target in TARGETS:
        y = targets(X[:, 0])[target]
        ending = "Regressor" if target == "number" else "Classifier"
        for options in BOOSTING:
            getattr(woodwind, f"GradientBoosting{ending}")(n_estimators=3, **options).fit(X, y).predict(X)
        for name in FORESTS:
            getattr(woodwind, name + ending)(n_estimators=3).fit(X, y).predict(X)
        getattr(woodwind, f"DecisionTree{ending}")().fit(X, y).predict(X)
        getattr(woodwind, f"DynamicSelection{ending}")().fit(X, y).predict(X[:20])
        yield f"estimators for {target}"


def targets(x: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Something to learn for each task, which is not all of x."""
    noise = uniform(key(0, "noise"), len(x))
    number = x + noise
    labels = np.array(["a", "b", "c"])
    return {"two": labels[np.digitize(number, [1.0])], "three": labels[np.digitize(number, [0.7, 1.3])], "number": number}


def table_text(n_rows: int) -> str:
    """A table with numbers, gaps, levels and dates, as CSV."""
    x, more = uniform(key(0, "x"), n_rows), uniform(key(0, "more"), n_rows)
    level, day = integers(key(0, "level"), 40, n_rows), integers(key(0, "day"), 28, n_rows)
    answers = targets(x)
    lines = ["x,more,level,day,two,three,number"]
    for i in range(n_rows):
        gap = "" if i % 9 == 0 else f"{more[i]:.4f}"
        cells = [f"{x[i]:.4f},{gap},level{level[i]},2024-03-{day[i] + 1:02d}", *(f"{answers[target][i]}" for target in TARGETS)]
        lines.append(",".join(cells))
    return "\n".join([*lines, ""])
