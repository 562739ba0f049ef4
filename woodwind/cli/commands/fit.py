"""woodwind fit: from a table and a column to predict, to a model file, a leaderboard and a report."""

import shlex
import sys
import time
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import woodwind
from woodwind import store
from woodwind.auto.averaging import estimate_words
from woodwind.auto.checkpoint import Checkpoint
from woodwind.auto.decision import DecisionRule
from woodwind.auto.events import Event, JobBegan, Message
from woodwind.auto.portfolio import FAMILIES
from woodwind.base.atomic import shortened
from woodwind.base.errors import JobError
from woodwind.base.file_endings import MODEL
from woodwind.cli.command import BAD_DATA, FINE, INTERRUPTED, UNEXPECTED, WITHOUT_MODEL, WRONG_CALL, WrongCall, command, wrong
from woodwind.cli.console import plain, say, show, show_json, size_of
from woodwind.cli.declared_options import declared_option
from woodwind.cli.events_output import Listener, write_json_event, write_lines_of_events, write_warnings
from woodwind.cli.interrupts import AT_WORK, WRITING, Interrupting
from woodwind.cli.leaderboard_table import show_leaderboard
from woodwind.cli.live import LiveTable
from woodwind.cli.memory_budget import MemorySize, decide, written_blocks
from woodwind.cli.model_files import decision_words, metric_words, show_target
from woodwind.cli.options import (
    Duration,
    ExistingFile,
    NameChoice,
    WholeNumber,
    files_of,
    force_option,
    json_option,
    tables_argument,
    threads_option,
)
from woodwind.cli.outputs import check_meaning, check_model, check_name, check_not_an_input, check_page, check_table
from woodwind.cli.streams import data_stream, is_closed
from woodwind.cli.terminal import is_terminal
from woodwind.data.reading.files import read_table
from woodwind.data.reading.written_schema import GROUP, QUERY, TARGET, TIME, WEIGHT, WrittenSchema
from woodwind.data.tables.table_errors import listed
from woodwind.metrics.named import metric_named
from woodwind.params.auto import AutoParams, TableParams

MINUTE = 60.0
# Of the time that was asked for, so much is left for training however long the start has taken.
LEAST_SHARE = 0.2
# Options that blocks on disk were written by, or have no use for.
DECIDED = ("group", "weight", "ignore", "drop_missing_target", "time_column", "schema")
ADVICE = {"time": "Give --time for a deadline, or --models for the same result every time."}

EXAMPLES = (
    "woodwind fit train.csv --target y",
    "woodwind fit 'parts/*.parquet' --target price --time 10m -o prices.ww",
    "woodwind fit 'parts/*.parquet' --target price --time 1h --memory 2G",
    "woodwind fit train.csv --target y --models 8 --seed 1 --group customer --ignore id --json",
    "woodwind fit train.csv --target y --positive yes --threshold f1 --also auc,f1",
    "woodwind fit train.csv --target relevance --query query_id",
    "woodwind fit train.csv --target price --target rent --time 10m",
    "woodwind fit train.csv --target y --write-schema",
    "woodwind fit train.csv --schema model.schema.json",
)


@command("fit", EXAMPLES, exits=[FINE, UNEXPECTED, WRONG_CALL, BAD_DATA, WITHOUT_MODEL, INTERRUPTED])
@tables_argument()
@declared_option(
    "--target", TableParams, "target", required=False, multiple=True, metavar="COLUMN", more="Needed unless the schema names it."
)
@click.option("-o", "--output", default="model.ww", show_default=True, type=click.Path(path_type=Path), help="The model file to write.")
@declared_option(
    "--time",
    AutoParams,
    "time",
    sentences=1,
    type=Duration(),
    default=None,
    metavar="TIME",
    more="Write 60, 10m or 1h30m.  [default: 60]",
)
@declared_option("--models", AutoParams, "models", type=WholeNumber(1), metavar="N")
@declared_option("--task", TableParams, "task", metavar="TASK")
@declared_option("--metric", AutoParams, "metric", metavar="METRIC")
@declared_option("--also", AutoParams, "also", default="", metavar="METRIC,...")
@declared_option("--positive", AutoParams, "positive", metavar="LABEL")
@declared_option("--threshold", AutoParams, "threshold", metavar="RULE")
@declared_option("--group", TableParams, "group", metavar="COLUMN")
@declared_option("--query", TableParams, "query", metavar="COLUMN")
@declared_option("--time-column", TableParams, "time_column", metavar="COLUMN")
@declared_option("--weight", TableParams, "weight", metavar="COLUMN")
@declared_option("--ignore", TableParams, "ignore", multiple=True, metavar="COLUMN", more="One at a time, as often as needed.")
@declared_option("--schema", TableParams, "schema", type=ExistingFile(), metavar="FILE", sentences=1)
@click.option("--write-schema", is_flag=True, help="Only read the table, write what its columns are to a file next to the model, and end.")
@declared_option("--seed", AutoParams, "random_state", type=WholeNumber(0), metavar="N")
@threads_option()
@click.option(
    "--memory", type=MemorySize(), metavar="SIZE",
    help="Memory that the job may take, about, such as 500M or 2G: a table that does not fit is written in blocks next to the model while "
    "the job runs, and boosting alone is trained on them. Unless given, tables are read into memory.",
)  # fmt: skip
@declared_option("--max-size", AutoParams, "max_size", type=click.FloatRange(0.0, min_open=True), metavar="MB")
@declared_option("--exclude", AutoParams, "exclude", type=NameChoice(FAMILIES), multiple=True, metavar="FAMILY", more="One at a time.")
@declared_option("--resume", AutoParams, "resume", is_flag=True)
@declared_option("--drop-missing-target", TableParams, "drop_missing_target", is_flag=True)
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE", help="The report to write; next to the model unless given.")
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing unless something is wrong.")
@json_option("one object in a line for each event")
@force_option()
def run(**given: Any) -> None:
    """Learn an ensemble from a table.

    Reads the TABLE (CSV, TSV, Parquet, Feather or Arrow, gzip'd or not; several, a pattern, or - for CSV on standard input), trains models
    in turns, blends them by what they predict for rows that they have not been trained on, and writes a model file, a leaderboard and a
    report. Ctrl-C or SIGTERM finishes with the best so far; a second one leaves at once.
    """
    check(given)
    if given["write_schema"]:
        write_schema(given)
        return
    with Interrupting() as interrupting, ExitStack() as claimed:
        checkpoints = [claimed.enter_context(Checkpoint.claim(folder)) for folder in checkpoints_of(given)]
        given["checkpoint"] = checkpoints[0] if len(checkpoints) == 1 else checkpoints
        started = click.get_current_context().find_root().obj
        tell, showing = teller(given, started)

        def listener(event: Event) -> None:
            interrupting.phase = AT_WORK
            tell(event)

        with showing:
            try:
                model = train(given, listener, tell, started)
            except JobError:
                if interrupting.heard:
                    raise KeyboardInterrupt from None  # there was nothing to finish with
                raise
        interrupting.phase = WRITING
        finish(model, given)
        if interrupting.heard:
            say("woodwind fit: the same call with --resume goes on from here.")
            return
        for checkpoint in checkpoints:
            left = checkpoint.remove()
            if left:
                say(f"woodwind fit: the folder {str(checkpoint.folder)!r} stays: Woodwind did not put {listed(left)} there.")


def train(given: dict[str, Any], listener: Listener, tell: Listener, started: float) -> Any:
    """The job. Its time began with the call: importing all that training needs has taken some of it, and so has writing blocks."""
    job = woodwind.fit

    def now() -> float:
        return time.perf_counter() - started

    def say_words(words: str) -> None:
        tell(Message(seconds=now(), words=words))

    options = settings(given)
    target = target_of(given)
    given = {**given, "target": target}
    size = None if given["memory"] is None else decide(given, say_words)
    if size is not None and not isinstance(target, str):
        raise WrongCall(f"--memory: the table does not fit, and blocks have one target; {len(target)} are given. Train a model for each.")
    with nullcontext(source_of(given)) if size is None else written_blocks(given, size, say_words, now) as source:
        if size is not None:
            options = {name: value for name, value in options.items() if name not in DECIDED}
        spent = now()
        if given["models"] is None:
            options["time"] = max(options["time"] - spent, LEAST_SHARE * options["time"])
        return job(source, target, listener=lambda event: listener(delayed(event, spent)), **options)


def target_of(given: dict[str, Any]) -> str | list[str]:
    """The target, or all of them."""
    targets = given["target"]
    return targets[0] if len(targets) == 1 else list(targets)


def delayed(event: Event, spent: float) -> Event:
    """An event by the clock of the call, which began earlier than that of the job."""
    if isinstance(event, JobBegan) and event.budget_seconds is not None:
        event = replace(event, budget_seconds=event.budget_seconds + spent)
    return replace(event, seconds=event.seconds + spent)


def check(given: dict[str, Any]) -> None:
    """End a wrong call before any work is done."""
    for one, other in (("time", "models"), ("report", "no_report"), ("quiet", "as_json")):
        if given[one] not in (None, False) and given[other] not in (None, False):
            wrong(f"{flag(one)} and {flag(other)} exclude each other. {ADVICE.get(one, 'Give one of them.')}")
    if given["as_json"] and is_closed(sys.stdout):
        wrong("--json writes to standard output, which is closed. Leave it out, or give it a place.")
    if given["metric"] != "auto":
        metric_named(given["metric"])
    given["also"] = tuple(metric_named(name).name for name in given["also"].split(",") if name.strip())
    DecisionRule.read(given["threshold"], "fit")
    take_roles(given)
    check_targets(given)
    check_roles(given)
    check_outputs(given)


def take_roles(given: dict[str, Any]) -> None:
    """What columns are for: as the options say, else as the schema does."""
    schema = given["written"] = None if given["schema"] is None else WrittenSchema.read(given["schema"])
    if schema is not None:
        for name, role in (("group", GROUP), ("query", QUERY), ("time_column", TIME), ("weight", WEIGHT)):
            given[name] = given[name] or schema.role(role)
        given["target"] = given["target"] or tuple(name for name in (schema.role(TARGET),) if name is not None)
    if not given["target"]:
        where = "" if schema is None else ' or to one of its columns the role "target"'
        wrong(f"which column is to be predicted? Give --target{where}.")


def check_roles(given: dict[str, Any]) -> None:
    """End the call where a column is to be two things."""
    if given["query"] is not None and given["group"] == given["query"]:
        wrong("--query and --group name the same column: rows of a query are held out together anyway. Leave the group out.")
    if given["query"] is None and given["task"] == "ranking":
        wrong("--task ranking needs to know which rows are ranked together. Give --query.")
    if given["query"] is not None and given["task"] not in ("auto", "ranking"):
        wrong(f"--query is for rankings, and --task is {given['task']}. Leave one of them out.")
    if given["weight"] is not None and given["weight"] in (given["group"], given["query"], given["time_column"]):
        wrong(f"--weight names the column {given['weight']!r}, which has another role already. Give another.")
    for role in ("query", "weight"):
        if given[role] in given["ignore"]:
            wrong(f"--ignore names the {role}, {given[role]!r}. Leave it out.")


def check_targets(given: dict[str, Any]) -> None:
    """End the call where a target has another role, or several are asked for what is for one."""
    targets = given["target"]
    for name in targets:
        for role in ("group", "query", "time_column", "weight"):
            if given[role] == name:
                wrong(f"{flag(role)} and --target name the same column, {name!r}. Give another.")
        if name in given["ignore"]:
            wrong(f"--ignore names the target, {name!r}. Leave it out.")
        if targets.count(name) > 1:
            wrong(f"--target names the column {name!r} twice. Give it once.")
    if len(targets) > 1 and given["query"] is not None:
        wrong("--query ranks rows by one target, and several came. Give one --target, or leave the query out.")
    if given["write_schema"] and len(given["target"]) > 1:
        wrong("--write-schema writes one target down, and several came. Give one; later calls may name several beside the schema.")


def check_outputs(given: dict[str, Any]) -> None:
    """End the call where something would be overwritten that should stay, or has no place."""
    tables = files_of(given["tables"])
    for table in tables:
        check_table(Path(table))
    output, inputs = given["output"], [*tables, *([given["schema"]] if given["schema"] else [])]
    check_model(output, given["force"])
    check_not_an_input(output, inputs)
    check_meaning(output, MODEL, ".ww")
    if given["report"] is None and not given["no_report"]:
        given["report"] = output.with_suffix(".html")
    if given["report"] is not None:
        if given["report"] == output:
            wrong(f"-o and --report name the same file, {str(output)!r}. Give another name for one of them.")
        check_page(given["report"], given["force"])
        check_not_an_input(given["report"], inputs)


def flag(name: str) -> str:
    """The option of a parameter."""
    return "--" + name.removeprefix("as_").replace("_", "-")


def write_schema(given: dict[str, Any]) -> None:
    """Read the table, write down what its columns are, and say where."""
    path = given["output"].with_suffix(".schema.json")
    check_name(path)
    if path.exists() and not given["force"]:
        wrong(f"{str(path)!r} is there already, and may have been edited. Move it away, or add --force.")
    roles = {
        "group": given["group"],
        "query": given["query"],
        "time": given["time_column"],
        "weight": given["weight"],
        "ignore": given["ignore"],
    }
    WrittenSchema.of(read_table(source_of(given)), given["target"][0], **roles).write(path)
    if not is_closed(sys.stdout):
        data_stream().write(f"{path}\n")
    say(f"Edit it, then: woodwind fit {' '.join(map(shlex.quote, given['tables']))} --schema {shlex.quote(str(path))}", wrap=False)


def source_of(given: dict[str, Any]) -> str | list[str]:
    """One table, or all its parts."""
    tables = given["tables"]
    return str(tables[0]) if len(tables) == 1 else list(tables)


def settings(given: dict[str, Any]) -> dict[str, Any]:
    """The options as the job takes them."""
    same = (
        "task", "metric", "also", "positive", "threshold", "group", "query", "time_column", "weight", "ignore", "seed", "threads",
        "exclude", "max_size", "resume", "drop_missing_target",
    )  # fmt: skip
    named = {name: given[name] for name in same}
    if given["written"] is not None:
        named["schema"] = given["written"]
    named |= {"models": given["models"]} if given["models"] is not None else {"time": given["time"] or MINUTE}
    return named | {"checkpoint": given["checkpoint"]}


def checkpoint_of(output: Path) -> Path:
    """Where a run keeps what it has finished, until the model is written."""
    return output.with_name(shortened(output.name) + ".checkpoint")


def checkpoints_of(given: dict[str, Any]) -> list[Path]:
    """A folder for each target that is named."""
    first, count = checkpoint_of(given["output"]), len(given["target"])
    return [first] if count == 1 else [first.with_name(f"{first.name}-{number}") for number in range(1, count + 1)]


def teller(given: dict[str, Any], started: float) -> tuple[Listener, AbstractContextManager[Any]]:
    """Who is told of what happens, and the picture that has to be opened for that."""
    if given["as_json"]:
        return write_json_event, nullcontext()
    if given["quiet"]:
        return write_warnings, nullcontext()
    if is_terminal(sys.stderr):
        live = LiveTable(f"{', '.join(given['tables'])}: {', '.join(given['target'])}", started)
        return live, live
    return write_lines_of_events, nullcontext()


def finish(model: Any, given: dict[str, Any]) -> None:
    """Write what was made, and say where it is."""
    output, report = given["output"], given["report"]
    store.save(output, model.model_)  # the model alone: predicting does not need the estimator around it
    written = {"model": str(output), "model_bytes": output.stat().st_size}
    if report is not None:
        model.report(report, output.name)
        written["report"] = str(report)
    if given["as_json"]:
        show_json({"event": "written", **plain(written)})
    elif not given["quiet"] and not is_closed(sys.stdout):
        ensembles = list(getattr(model, "ensembles_", {"": model}).values())
        for number, ensemble in enumerate(ensembles):
            if len(ensembles) > 1:
                show_target(ensemble.model_, number, True)
            show_ensemble(ensemble)
        show()
        show(f"model   {output} ({size_of(output.stat().st_size)})")
        if report is not None:
            show(f"report  {report}")


def show_ensemble(model: Any) -> None:
    """The leaderboard, and what its score is."""
    show_leaderboard(model.leaderboard_)
    show()
    show(metric_words(model.facts_["metric"]["name"]))
    if words := estimate_words(model.facts_, model.facts_["metric"]["name"]):
        show(words)
    if model.facts_.get("positive") is not None:
        show(decision_words(model.facts_["positive"], model.facts_.get("threshold")))
