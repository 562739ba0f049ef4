"""woodwind predict: what a model predicts for the rows of a table. It imports what predicting needs, and nothing more."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from woodwind.auto.intervals import RANDOM
from woodwind.auto.model import AutoModel
from woodwind.auto.table_rows import inputs_of, large_source, read_rows
from woodwind.base.atomic import write_file
from woodwind.base.formatting import counted
from woodwind.base.pool import usable_threads
from woodwind.cli.batches import batches_of, looking
from woodwind.cli.command import BAD_DATA, BAD_MODEL, FINE, UNEXPECTED, WRONG_CALL, command, nearest, wrong
from woodwind.cli.console import json_line, plain, say
from woodwind.cli.model_files import open_models, queries_in
from woodwind.cli.options import files_of, force_option, interval_option, json_option, model_argument, tables_argument, threads_option
from woodwind.cli.outputs import check_inputs, check_meaning, check_new, check_not_a_model, check_not_an_input
from woodwind.cli.streams import data_stream, is_closed
from woodwind.data.reading.files import text_columns
from woodwind.data.reading.writing import write_prediction_batches, write_predictions

EXAMPLES = (
    "woodwind predict model.ww new.csv -o predictions.csv",
    "woodwind predict model.ww new.parquet --proba --keep id -o predictions.parquet",
    "woodwind predict model.ww new.csv --interval 0.9 -o predictions.csv",
    "woodwind predict model.ww new.csv --rank --keep query_id -o ranked.csv",
    "woodwind predict model.ww 'parts/*.parquet' -o predictions.csv --force",
    "woodwind predict model.ww new.csv | head",
)
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".arrow")
# The first gap is for the target, where there are several.
PREDICTION, PROBABILITY = "prediction", "probability{}_{}"
RANK = "rank"
LOWER, UPPER, SET = "lower{}_{}", "upper{}_{}", "set{}_{}"


@command("predict", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_DATA, BAD_MODEL])
@model_argument()
@tables_argument()
@click.option("-o", "--output", default="-", help="A file to write, .csv or .parquet; - for standard output.  [default: -]")
@click.option("--proba", is_flag=True, help="The probability of each class, beside the one that is predicted.")
@interval_option("Bounds, or the set of labels, that hold the truth of such a share of new rows, such as 0.9; several with commas.")
@click.option("--rank", is_flag=True, help="Of a ranking the rank of each row in its query, 1 for the first, beside the score.")
@click.option("--query", metavar="COLUMN", help="With --rank, the column of the query; the one that was learned unless given.")
@click.option("--keep", multiple=True, metavar="COLUMN,...", help="Columns of the table to copy beside the predictions.")
@json_option("one object in a line for each row")
@threads_option()
@force_option("a file that is there")
def run(model: Path, tables: tuple[str, ...], output: str, as_json: bool, force: bool, **given: Any) -> None:
    """Predict the rows of a table.

    Columns are matched by name, so their order does not matter and others may stand beside them; only the target need not be there.
    Several files, or a pattern, are read as one table; - reads CSV from standard input. A model of several targets writes the columns of
    each, named prediction_TARGET and so on.
    """
    check_inputs(tables)
    if output == "-":
        if is_closed(sys.stdout):
            wrong("standard output is closed, so that predictions have no place. Give one with -o.")
    else:
        check_not_an_input(Path(output), [model, *files_of(tables)])
        check_not_a_model(Path(output))
        check_ending(output, as_json)
        check_new(Path(output), force)
    models = open_models(model)
    check_asked(models, given)
    # Models of several targets read the same columns: what is text to one of them is text.
    first, texts = models[0], [name for one in models for name in text_columns(one.schema)]
    levels = given["levels"]
    keep = [name for one in given["keep"] for name in (one, *one.split(","))]
    large = None if given["rank"] else large_source(first, tables, keep, texts, watch=looking())
    if large is not None:
        predict_batches(models, large, given | {"as_json": as_json}, output)
        tell_promise(models, levels)
        return
    rows = read_rows(first, tables, texts)
    queries = queries_in(first, rows, given["query"]) if given["rank"] else None
    found = all_predicted(models, rows, given, as_lists=as_json)
    if queries is not None:
        found[RANK] = ranks(found[PREDICTION], queries)
    columns = kept(rows, given["keep"], list(found)) | found
    if as_json:
        write_lines(output, columns)
    else:
        write_predictions(output, columns, stream=data_stream())
    if output != "-":
        say(f"{counted(rows.num_rows, 'row')} in {output}")
    tell_promise(models, levels)


def check_asked(models: tuple[AutoModel, ...], given: dict[str, Any]) -> None:
    """End the call where something is asked for that the models do not have."""
    opened = models[0]
    if given["proba"] and not any(model.classifies for model in models):
        what = f"predicts the number {opened.target!r}" if opened.task == "regression" else "ranks the rows of queries"
        wrong(f"--proba is for classes, but the model {what}. Leave it out.")
    if given["rank"] and opened.task != "ranking":
        wrong("--rank is for models that rank, made by woodwind fit --query. Leave it out.")
    if given["query"] is not None and not given["rank"]:
        wrong("--query is for --rank: scores need no query. Add --rank, or leave it out.")
    if given["levels"]:
        for model in models:
            model.require_intervals()


def tell_promise(models: tuple[AutoModel, ...], levels: tuple[float, ...]) -> None:
    """Say what intervals promise, where rows held out were not drawn at random."""
    promises = [model.intervals.promise for model in models if model.intervals is not None and model.intervals.held_out != RANDOM]
    for promise in dict.fromkeys(promises if levels else ()):
        say(f"{', '.join(f'{level:g}' for level in levels)}: {promise}")


def predict_batches(models: tuple[AutoModel, ...], source: Any, given: dict[str, Any], output: str) -> None:
    """Predict a large table a part at a time; memory does not grow with its rows."""
    as_json = given["as_json"]
    names = kept_names(list(source.schema.names), given["keep"], [])
    done = 0

    def columns() -> Iterator[dict[str, Any]]:
        nonlocal done
        for batch in batches_of(models[0], source, names, "predicted"):
            done += batch.num_rows
            found = all_predicted(models, batch, given, as_lists=as_json)
            yield kept(batch, given["keep"], list(found)) | found

    if as_json:
        write_line_batches(output, columns())
    else:
        write_prediction_batches(output, columns(), stream=data_stream())
    if output != "-":
        say(f"{counted(done, 'row')} in {output}")


def check_ending(output: str, as_json: bool) -> None:
    """End the call where the name of the output does not say what it is to be."""
    if as_json:
        check_meaning(Path(output), "JSON", ".jsonl")
    elif not output.lower().endswith(ENDINGS):
        wrong(f"the ending of {output!r} does not say what to write. Choose one of {', '.join(ENDINGS)}, or --json.")


def all_predicted(models: tuple[AutoModel, ...], rows: Any, given: dict[str, Any], *, as_lists: bool) -> dict[str, Any]:
    """Columns of predictions; of several targets all of them, with the name of the target in theirs."""
    found: dict[str, Any] = {}
    for model in models:
        of = f"_{model.target}" if len(models) > 1 else ""
        threads = usable_threads(given["threads"])
        found |= predicted(model, inputs_of(model, rows), given["proba"], threads, given["levels"], as_lists=as_lists, of=of)
    return found


def predicted(
    model: AutoModel, rows: Any, proba: bool, threads: int, levels: tuple[float, ...] = (), *, as_lists: bool = False, of: str = ""
) -> dict[str, Any]:
    """Columns of predictions, with `of` in their names. Sets of labels are lists, or lists as JSON writes them."""
    asked = [model.require_intervals().coverage(level, "predict") for level in levels]
    if not model.classifies:
        numbers = model.predict(rows, threads)
        bounds = [model.require_intervals().bounds(numbers, level) for level in asked]
        named = ((LOWER.format(of, level), UPPER.format(of, level)) for level in asked)
        pairs = zip(named, bounds, strict=True)
        return {PREDICTION + of: numbers} | {name: bound for names, both in pairs for name, bound in zip(names, both, strict=True)}
    probabilities = model.predict_proba(rows, threads)
    decided = model.decide(probabilities)
    columns: dict[str, Any] = {PREDICTION + of: [model.classes[position] for position in decided]}
    columns |= {PROBABILITY.format(of, label): probabilities[:, k] for k, label in enumerate(model.classes)} if proba else {}
    for level in asked:
        inside = model.require_intervals().sets(probabilities, level, decided)
        sets = [[model.classes[position] for position in np.flatnonzero(row)] for row in inside]
        columns[SET.format(of, level)] = sets if as_lists else [json_line(plain(labels)) for labels in sets]
    return columns


def ranks(scores: Any, queries: Any) -> Any:
    """The rank of each row in its query, from 1 on; of equal scores the first row comes first."""
    order = np.lexsort((np.arange(len(scores)), -scores, queries))
    first = np.concatenate([[0], np.flatnonzero(np.diff(queries[order])) + 1])
    out = np.empty(len(order), np.int64)
    out[order] = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order))) + 1
    return out


def kept(rows: Any, keep: tuple[str, ...], taken: list[str]) -> dict[str, Any]:
    """Columns of the table that are copied."""
    return {name: rows.column(name) for name in kept_names(list(rows.column_names), keep, taken)}


def kept_names(there: list[str], keep: tuple[str, ...], taken: list[str]) -> list[str]:
    """The names of the columns that are copied. A name may have a comma in it: then it is given alone."""
    names = [name for given in keep for name in ([given] if given in there else given.split(","))]
    for name in names:
        if name not in there:
            wrong(f"--keep: the table has no column {name!r}. {nearest(name, there)}")
        if name in taken:
            wrong(f"--keep: the table has a column {name!r}, and so have the predictions. Leave it out, or rename it in the table.")
    return names


def write_lines(output: str, columns: dict[str, Any]) -> None:
    """One object for each row."""
    write_line_batches(output, [columns])


def write_line_batches(output: str, batches: Iterable[dict[str, Any]]) -> None:
    """One object for each row of parts of a table."""
    texts = ("".join(f"{line}\n" for line in lines_of(columns)) for columns in batches)
    if output == "-":
        for text in texts:
            data_stream().write(text)
    else:
        write_file(output, (text.encode() for text in texts))


def lines_of(columns: dict[str, Any]) -> Iterator[str]:
    """One object for each row, in a line."""
    plain_columns = {name: plain(column.to_pylist() if hasattr(column, "to_pylist") else column) for name, column in columns.items()}
    return (json_line(dict(zip(plain_columns, row, strict=True))) for row in zip(*plain_columns.values(), strict=True))
