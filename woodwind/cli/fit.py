"""woodwind fit: from a table and a column to predict, to a model file, a leaderboard and a report."""

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

import woodwind
from woodwind.cli.command import command
from woodwind.cli.exits import BAD_DATA, FINE, INTERRUPTED, OUT_OF_TIME, UNEXPECTED, WRONG_CALL, wrong
from woodwind.cli.figures import plain, size_of
from woodwind.cli.interrupting import Interrupting
from woodwind.cli.live import LiveTable
from woodwind.cli.options import Duration, ExistingFile, TableSource, Whole, force_option, json_option, threads_option
from woodwind.cli.outputs import check_model, check_not_an_input, check_page
from woodwind.cli.standings import table_of
from woodwind.cli.telling import Listener, tell_line, tell_nothing, tell_object, write_object
from woodwind.cli.terminal import is_terminal

EXAMPLES = (
    "woodwind fit train.csv --target y",
    "woodwind fit 'parts/*.parquet' --target price --time 10m -o prices.ww",
    "woodwind fit train.csv --target y --models 8 --seed 1 --group customer --ignore id --json",
)


@command("fit", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_DATA, OUT_OF_TIME, INTERRUPTED])
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True, type=TableSource())
@click.option("--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option("-o", "--output", default="model.ww", show_default=True, type=click.Path(path_type=Path), help="The model file to write.")
@click.option("--time", type=Duration(), metavar="TIME", help="How long it may take: 60 (seconds), 10m, 1h.  [default: 60]")
@click.option("--models", type=Whole(1), metavar="N", help="How many models to train, however long that takes.")
@click.option("--task", default="auto", show_default=True, help="auto, binary, multiclass or regression.")
@click.option("--metric", default="auto", show_default=True, help="What the ensemble is chosen by.")
@click.option("--group", metavar="COLUMN", help="Rows with the same value here are never split between learning and judging.")
@click.option("--time-column", metavar="COLUMN", help="Judge by rows that are later than those learnt.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="A column to leave out; may be given several times.")
@click.option("--schema", type=ExistingFile(), metavar="FILE", help="Types and roles of columns, as written by --write-schema and edited.")
@click.option("--seed", type=Whole(0), metavar="N", default=0, show_default=True, help="The same seed and --models, the same leaderboard.")
@threads_option()
@click.option("--exclude", multiple=True, metavar="FAMILY", help="A family of models to leave out; may be given several times.")
@click.option("--resume", is_flag=True, help="Go on where a run that was killed has stopped.")
@click.option("--drop-missing-target", is_flag=True, help="Leave out rows without a target.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="The report to write; next to the model unless given.")
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
@json_option("one object in a line for each event")
@force_option()
def run(**given: Any) -> None:
    """Learn an ensemble from a table.

    Reads the TABLE (CSV, TSV, Parquet, Feather or Arrow, gzip'd or not; several, or a pattern), trains models in turns, blends them by what
    they say of rows that they have not learnt, and writes a model file, a leaderboard and a report. Ctrl-C finishes with the best so far;
    a second one leaves at once.
    """
    check(given)
    with Interrupting() as interrupting:
        listener, showing = teller(given)
        with showing:
            job: Any = woodwind.fit
            model = job(source_of(given), given["target"], listener=listener, **settings(given))
        interrupting.only_note()
        finish(model, given)


def check(given: dict[str, Any]) -> None:
    """End a wrong call before any work is done."""
    if given["time"] is not None and given["models"] is not None:
        wrong("--time and --models exclude each other. Give --time for a deadline, or --models for the same result every time.")
    if given["no_report"] and given["report"] is not None:
        wrong("--report and --no-report exclude each other. Give one of them.")
    if given["quiet"] and given["as_json"]:
        wrong("--quiet and --json exclude each other. Give one of them.")
    for role in ("group", "time_column"):
        if given[role] == given["target"]:
            wrong(f"--{role.replace('_', '-')} and --target name the same column, {given['target']!r}. Give another.")
    if given["target"] in given["ignore"]:
        wrong(f"--ignore names the target, {given['target']!r}. Leave it out.")
    output, inputs = given["output"], [*given["tables"], *([given["schema"]] if given["schema"] else [])]
    check_model(output, given["force"])
    check_not_an_input(output, inputs)
    if given["report"] is None and not given["no_report"]:
        given["report"] = output.with_suffix(".html")
    if given["report"] is not None:
        if given["report"] == output:
            wrong(f"-o and --report name the same file, {str(output)!r}. Give another name for one of them.")
        check_page(given["report"], given["force"])
        check_not_an_input(given["report"], inputs)


def source_of(given: dict[str, Any]) -> str | list[str]:
    """One table, or all its parts."""
    tables = given["tables"]
    return str(tables[0]) if len(tables) == 1 else list(tables)


def settings(given: dict[str, Any]) -> dict[str, Any]:
    """The options as the job takes them."""
    same = ("models", "task", "metric", "group", "time_column", "ignore", "schema", "seed", "threads", "exclude", "resume")
    named = {name: given[name] for name in (*same, "drop_missing_target")}
    if given["time"] is not None or given["models"] is None:
        named["time"] = given["time"] or 60.0
    return named | {"checkpoint": checkpoint_of(given["output"])}


def checkpoint_of(output: Path) -> Path:
    """Where a run keeps what it has finished, until the model is written."""
    return output.with_name(output.name + ".checkpoint")


def teller(given: dict[str, Any]) -> tuple[Listener, AbstractContextManager[Any]]:
    """Who is told of what happens, and the picture that has to be opened for that."""
    if given["as_json"]:
        return tell_object, nullcontext()
    if given["quiet"]:
        return tell_nothing, nullcontext()
    if is_terminal(sys.stderr):
        live = LiveTable(f"{', '.join(given['tables'])}: {given['target']}")
        return live, live
    return tell_line, nullcontext()


def finish(model: Any, given: dict[str, Any]) -> None:
    """Write what was made, and say where it is."""
    output, report = given["output"], given["report"]
    model.save(output)
    written = {"model": str(output), "model_bytes": output.stat().st_size}
    if report is not None:
        model.report(report)
        written["report"] = str(report)
    if given["as_json"]:
        write_object({"event": "written", **plain(written)})
    elif not given["quiet"]:
        click.echo(table_of(model.leaderboard_))
        click.echo(f"\nmodel   {output} ({size_of(output.stat().st_size)})")
        if report is not None:
            click.echo(f"report  {report}")
