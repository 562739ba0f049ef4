"""woodwind evaluate: how good a model is on rows whose target is known."""

import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import click
import numpy as np

from woodwind.auto.model import AutoModel
from woodwind.base.figures import counted, figure
from woodwind.base.pool import usable_threads
from woodwind.cli.command import command
from woodwind.cli.exits import BAD_DATA, BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, wrong
from woodwind.cli.figures import plain
from woodwind.cli.opening import metric_words, open_model
from woodwind.cli.options import json_option, model_argument, tables_argument, threads_option
from woodwind.cli.outputs import check_inputs
from woodwind.cli.saying import say, show, show_json
from woodwind.cli.terminal import Column, can_show, show_grid
from woodwind.data.question import missing_rows, read_truth
from woodwind.data.roles import no_column, read_weights
from woodwind.estimators.auto_rows import inputs_of, read_rows
from woodwind.estimators.auto_trial import Trial, tried

EXAMPLES = (
    "woodwind evaluate model.ww test.csv",
    "woodwind evaluate model.ww 'parts/*.parquet' --json",
    "woodwind evaluate model.ww test.csv --weight w --drop-missing-target",
)


@command("evaluate", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_DATA, BAD_MODEL])
@model_argument()
@tables_argument()
@click.option("--target", metavar="COLUMN", help="The column with the truth; the one that was learnt unless given.")
@click.option("--weight", metavar="COLUMN", help="A column of numbers that says how much each row counts.")
@click.option("--drop-missing-target", is_flag=True, help="Leave out rows without a target, instead of refusing them.")
@json_option("the metrics")
@threads_option()
def run(
    model: Path,
    tables: tuple[str, ...],
    target: str | None,
    weight: str | None,
    drop_missing_target: bool,
    as_json: bool,
    threads: int | None,
) -> None:
    """Try a model on rows whose target is known.

    Shows the metric that the model was made by, with its standard error, next to what the model claimed of rows that it had not learnt, and
    the other metrics of its task. Rows that the model has learnt are no test.
    """
    check_inputs(tables)
    opened = open_model(model)
    name = target or opened.target
    if not name:
        wrong("the model does not know the name of its target. Give --target.")
    rows = rows_with_truth(opened, tables, name, weight, drop_missing_target)
    truth = read_truth(rows.column(name), opened.classes, name)
    weights = None if weight is None else read_weights(rows.column(weight), weight)
    trial = tried(opened, inputs_of(opened, rows), truth, weights, usable_threads(threads))
    if as_json:
        show_json(record(trial, name))
    else:
        show_trial(trial)


def rows_with_truth(model: AutoModel, tables: tuple[str, ...], target: str, weight: str | None, drop: bool) -> Any:
    """The table, with the columns that are named here."""
    # Labels of text stay as they are written: in a few rows 007 or None would be taken for something else.
    as_text = [target] if any(isinstance(label, str) for label in model.classes) else []
    rows = read_rows(model, tables, as_text)
    for name in (target, *([weight] if weight is not None else [])):
        if name not in rows.column_names:
            raise no_column(name, rows.column_names)
    missing = missing_rows(rows.column(target))
    if drop and missing.any() and not missing.all():
        say(f"{counted(int(missing.sum()), 'row')} without a target left out.")
        rows = rows.take(np.flatnonzero(~missing))
    return rows


def show_trial(trial: Trial) -> None:
    """The metrics as a table, and what they mean."""
    shown = [one for place, one in enumerate(trial.measured) if place == 0 or not one.why]
    claims = [(figure(trial.claimed), figure(trial.claimed_error)), *[("", "")] * (len(shown) - 1)]
    pairs = zip(shown, claims, strict=True)
    cells = [(one.metric, figure(one.value), figure(one.standard_error), *claim) for one, claim in pairs]
    error = Column("±" if can_show("±", sys.stdout) else "+-", rank=1)
    columns = (Column("metric", left=True), Column("here"), error, Column("out of fold"), error)
    show_grid(columns, cells, ["bold"])
    show()
    show(f"{counted(trial.rows, 'row')}; {metric_words(trial.measured[0].metric)}")
    for why, some in groupby(sorted(trial.measured, key=lambda one: one.why), key=lambda one: one.why):
        if why:
            show(f"Left out, because {why}: {', '.join(one.metric for one in some)}")
    if trial.verdict:
        show(trial.verdict)


def record(trial: Trial, target: str) -> dict[str, Any]:
    """The same for machines."""
    first = trial.measured[0]
    found: dict[str, Any] = plain({
        "rows": trial.rows, "target": target, "metric": first.metric, "score": first.value, "standard_error": first.standard_error,
        "out_of_fold": {"score": trial.claimed, "standard_error": trial.claimed_error}, "standard_errors_worse": trial.worse,
        "metrics": {
            one.metric: {"score": one.value, "standard_error": one.standard_error} | ({"why": one.why} if one.why else {})
            for one in trial.measured
        },
    })  # fmt: skip
    return found
