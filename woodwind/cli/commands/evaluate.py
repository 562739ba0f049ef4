"""woodwind evaluate: how good a model is on rows whose target is known."""

import sys
from itertools import groupby
from math import isnan
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from woodwind.auto.averaging import estimate_words
from woodwind.auto.evaluation import Evaluation, claimed_coverage, evaluated
from woodwind.auto.model import AutoModel
from woodwind.auto.table_rows import inputs_of, large_source, read_rows
from woodwind.base.errors import WoodwindError
from woodwind.base.formatting import counted, figure
from woodwind.base.pool import usable_threads
from woodwind.cli.batches import batches_of, looking
from woodwind.cli.command import BAD_DATA, BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, command, wrong
from woodwind.cli.console import plain, say, show, show_json
from woodwind.cli.model_files import decision_words, metric_words, open_model, open_models, queries_in, show_target
from woodwind.cli.options import interval_option, json_option, model_argument, tables_argument, threads_option
from woodwind.cli.outputs import check_inputs
from woodwind.cli.terminal import TextColumn, can_show, show_grid
from woodwind.data.tables.frames import joined
from woodwind.data.tables.roles import group_numbers, moments_of, no_column, read_weights
from woodwind.data.tables.target_column import missing_rows, read_truth
from woodwind.metrics.clusters import clusters_of_groups, clusters_of_time

EXAMPLES = (
    "woodwind evaluate model.ww test.csv",
    "woodwind evaluate model.ww 'parts/*.parquet' --json",
    "woodwind evaluate model.ww test.csv --weight w --drop-missing-target",
    "woodwind evaluate model.ww test.csv --positive yes",
    "woodwind evaluate model.ww test.csv --interval 0.5,0.9",
)

USUAL_LEVEL = 0.9


@command("evaluate", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_DATA, BAD_MODEL])
@model_argument()
@tables_argument()
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column with the truth; the one that was learned unless given. Of several targets the one that is tried.",
)
@click.option("--weight", metavar="COLUMN", help="A column of numbers that says how much each row counts.")
@click.option("--positive", metavar="LABEL", help="Which of two classes F1 and average precision are of; that of the model unless given.")
@click.option("--query", metavar="COLUMN", help="Of a ranking the column of the query; the one that was learned unless given.")
@interval_option("Shares of new rows whose intervals or sets of labels are tried.  [default: 0.9, where the model has them]")
@click.option("--drop-missing-target", is_flag=True, help="Leave out rows without a target, instead of refusing them.")
@json_option("the metrics")
@threads_option()
def run(model: Path, tables: tuple[str, ...], as_json: bool, threads: int | None, **given: Any) -> None:
    """Try a model on rows whose target is known.

    Shows the metric that the model was made by and the other metrics of its task, with their standard errors, next to what the model
    claimed of rows that it had not been trained on. Rows that the model has learned are no test.
    """
    check_inputs(tables)
    models = open_models(model)
    if len(models) > 1 and given["target"] is not None:
        models = (open_model(model, given["target"]),)
    if len(models) > 1 and "-" in tables:
        wrong("a model of several targets reads the table once for each, and standard input can be read once. Give a file, or --target.")
    records: dict[str, Any] = {}
    for number, opened in enumerate(models):
        trial, name = trial_of(opened, tables, usable_threads(threads), given)
        if as_json:
            records[name] = record(trial, name, opened)
            continue
        show_target(opened, number, len(models) > 1)
        show_trial(trial, opened)
    if as_json:
        show_json({"targets": records} if len(models) > 1 else next(iter(records.values())))


def trial_of(opened: AutoModel, tables: tuple[str, ...], threads: int, given: dict[str, Any]) -> tuple[Evaluation, str]:
    """How good a model is on the rows of the tables, and the column of the truth."""
    weight, positive, levels = given["weight"], given["positive"], given["levels"]
    name = given["target"] or opened.target
    if not name:
        wrong("the model does not know the name of its target. Give --target.")
    position = None if positive is None else position_of(opened, positive)
    if levels:
        opened.require_intervals()
    if given["query"] is not None and opened.task != "ranking":
        wrong("--query is for models that rank, made by woodwind fit --query. Leave it out.")
    levels = levels or ((USUAL_LEVEL,) if opened.intervals is not None else ())
    beside = [column for column in (weight, given["query"]) if column is not None]
    rows, scores = rows_with_scores(opened, tables, (name, beside, given["drop_missing_target"]), threads)
    truth = read_truth(rows.column(name), opened.classes, name)
    weights = None if weight is None else read_weights(rows.column(weight), weight)
    clusters = None if opened.task == "ranking" else clusters_in(opened, rows)  # of a ranking, queries are
    queries = queries_in(opened, rows, given["query"]) if opened.task == "ranking" else None
    known: dict[str, Any] = {"clusters": clusters, "levels": levels, "queries": queries, "scores": scores}
    inputs = None if scores is not None else inputs_of(opened, rows)
    return evaluated(opened, inputs, truth, weights, threads, position, **known), name


def clusters_in(model: AutoModel, rows: Any) -> NDArray[np.int64] | None:
    """Rows that are not independent of each other, by the column by which the model held rows out; None where that cannot be read here."""
    split = model.facts.get("split")
    columns = split.get("columns") if isinstance(split, dict) else None
    here = {role: rows.column(name) for role, name in columns.items() if name in rows.column_names} if isinstance(columns, dict) else {}
    try:
        if "group" in here:
            return clusters_of_groups(group_numbers(here["group"], "group"))
        return clusters_of_time(moments_of(here["time"], "time")) if "time" in here else None
    except WoodwindError:  # gaps, or text that is no date: the rows can be scored all the same
        return None


def position_of(model: AutoModel, label: str) -> int:
    """The number of the class with this label, of two."""
    if model.task != "binary":
        wrong(f"--positive is for two classes, and the model has {len(model.classes) or 'none'}. Leave it out.")
    labels = [str(one) for one in model.classes]
    if label not in labels:
        wrong(f"--positive {label!r} is no class of the model. Those are {labels[0]!r} and {labels[1]!r}.")
    return labels.index(label)


def rows_with_scores(
    model: AutoModel, tables: tuple[str, ...], named: tuple[str, list[str], bool], threads: int
) -> tuple[Any, NDArray[np.float64] | None]:
    """The rows with what is known of them. Of a large table only that is kept, and the model is asked here, a part at a time."""
    target, others, drop = named
    # Labels of text stay as they are written: in a few rows 007 or None would be taken for something else.
    as_text = [target] if any(isinstance(label, str) for label in model.classes) else []
    split = model.facts.get("split")
    columns = split.get("columns") if isinstance(split, dict) else None
    beside = [target, *others, *(columns.values() if isinstance(columns, dict) else ()), *([model.query] if model.query else [])]
    source = large_source(model, tables, beside, as_text, looking())
    if source is None:
        rows = read_rows(model, tables, as_text)
        left = with_truth(rows, target, others, drop)
        left = left if left.num_rows else rows  # which says what is wrong
        tell_dropped(rows.num_rows - left.num_rows)
        return left, None
    beside = [name for name in dict.fromkeys(beside) if name in source.schema.names]
    found, scores, dropped = [], [], 0
    for batch in batches_of(model, source, beside, "scored"):
        some = with_truth(batch, target, others, drop)
        dropped += batch.num_rows - some.num_rows
        found.append(some.select(beside))
        if some.num_rows:
            scores.append(model.scores(inputs_of(model, some), threads))
    if not scores:
        wrong(f"every row of the table lacks the target {target!r}. Give rows whose target is known.")
    tell_dropped(dropped)
    return joined(found), np.concatenate(scores)


def tell_dropped(count: int) -> None:
    """Say how many rows were left out, if any were."""
    if count:
        say(f"{counted(count, 'row')} without a target left out.")


def with_truth(rows: Any, target: str, others: list[str], drop: bool) -> Any:
    """The rows, those without a target left out where that is asked; all columns that are named must be there."""
    for name in (target, *others):
        if name not in rows.column_names:
            raise no_column(name, rows.column_names)
    missing = missing_rows(rows.column(target))
    return rows.take(np.flatnonzero(~missing)) if drop and missing.any() else rows


def show_trial(trial: Evaluation, model: AutoModel) -> None:
    """The metrics as a table, and what they mean."""
    shown = [one for position, one in enumerate(trial.measured) if position == 0 or not one.why]
    cells = [
        (one.metric, *(figure(number) for number in (one.value, one.standard_error)), *(
            "" if isnan(number) else figure(number) for number in (one.claimed, one.claimed_error)
        ))
        for one in shown
    ]  # fmt: skip
    error = TextColumn("±" if can_show("±", sys.stdout) else "+-", rank=1)
    columns = (TextColumn("metric", left=True), TextColumn("here"), error, TextColumn("out of fold"), error)
    show_grid(columns, cells, ["bold"])
    show()
    queries = f"{trial.queries:,} {'query' if trial.queries == 1 else 'queries'} of " if trial.queries else ""
    show(f"{queries}{counted(trial.rows, 'row')}; {metric_words(trial.measured[0].metric)}")
    if trial.positive is not None:
        show(decision_words(model.classes[model.positive], model.threshold))
        if trial.positive != model.classes[model.positive]:
            show(f"Metrics of the positive class are of {trial.positive!r} here, as --positive says.")
    for why, some in groupby(sorted(trial.measured, key=lambda one: one.why), key=lambda one: one.why):
        if why:
            show(f"Left out, because {why}: {', '.join(one.metric for one in some)}")
    if words := estimate_words(model.facts, model.metric):
        show(words)
    if trial.verdict:
        show(trial.verdict)
    if trial.intervals:
        show_coverage(trial, model)


def show_coverage(trial: Evaluation, model: AutoModel) -> None:
    """How often intervals, or sets of labels, hold the truth, and how large they are."""
    claimed, size = claimed_coverage(model), "mean width" if model.task == "regression" else "mean labels"
    cells = []
    for one in trial.intervals:
        there = claimed.get(one.level)
        before = ("", "") if there is None else (figure(there.coverage), figure(there.standard_error))
        cells.append((f"{one.level}", *map(figure, (one.coverage, one.standard_error)), *before, *map(figure, (one.size, one.size_error))))
    error = TextColumn("±" if can_show("±", sys.stdout) else "+-", rank=1)
    first = TextColumn("intervals" if model.task == "regression" else "sets of labels", left=True)
    show()
    show_grid((first, TextColumn("truth inside"), error, TextColumn("out of fold"), error, TextColumn(size), error), cells, [])
    if model.intervals is not None:
        show()
        show(model.intervals.promise)


def record(trial: Evaluation, target: str, model: AutoModel) -> dict[str, Any]:
    """The same for machines."""
    claimed = claimed_coverage(model)
    first = trial.measured[0]
    found: dict[str, Any] = plain({
        "rows": trial.rows, **({"queries": trial.queries} if trial.queries else {}), "target": target, "positive": trial.positive,
        "metric": first.metric, "score": first.value, "standard_error": first.standard_error,
        "out_of_fold": {"score": first.claimed, "standard_error": first.claimed_error},
        "estimate": None if trial.estimate is None else {"score": trial.claimed, "standard_error": trial.claimed_error},
        "standard_errors_worse": trial.worse,
        "metrics": {
            one.metric: {"score": one.value, "standard_error": one.standard_error}
            | ({} if isnan(one.claimed) else {"out_of_fold": {"score": one.claimed, "standard_error": one.claimed_error}})
            | ({"why": one.why} if one.why else {})
            for one in trial.measured
        },
        **({"intervals": [
            {"level": one.level, "coverage": one.coverage, "standard_error": one.standard_error, "size": one.size,
             "size_error": one.size_error, "median_size": one.median}
            | ({"out_of_fold": {"coverage": claimed[one.level].coverage, "standard_error": claimed[one.level].standard_error}}
               if one.level in claimed else {})
            for one in trial.intervals
        ]} if trial.intervals else {}),
    })  # fmt: skip
    return found
