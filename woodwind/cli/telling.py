"""How a job is told to somebody who is not at a terminal: a line of text for each event, an object for each, or nothing."""

import json
import re
from collections.abc import Callable
from typing import Any

import click

from woodwind.auto.events import Began, Blended, Ended, Event, FoldDone, MemberDone, Said, Trying
from woodwind.auto.outcome import Entry
from woodwind.cli.figures import duration, figure, plain
from woodwind.cli.saying import one_line, say, silence_output

Listener = Callable[[Event], None]


def tell_nothing(event: Event) -> None:
    """For those who want silence."""


def tell_line(event: Event) -> None:
    """One line on standard error."""
    say(f"{event.seconds:7.1f} s  {words_of(event)}")


def tell_object(event: Event) -> None:
    """One object of JSON in a line on standard output."""
    write_object(record(event))


def record(event: Event) -> dict[str, Any]:
    """An event as an object; of the outcome what fits into a line."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    if isinstance(event, Ended):
        outcome = event.outcome
        model = outcome.model
        told = {"task": model.task, "target": model.target, "classes": model.classes, "metric": model.metric}
        found = {"leaderboard": outcome.leaderboard, "suspicions": outcome.suspicions, "notes": outcome.notes, "seed": outcome.seed}
        return {"event": name, "seconds": event.seconds, **plain(told | found)}
    return {"event": name, **plain(event)}


def write_object(content: dict[str, Any]) -> None:
    """Write a line of JSON. Whoever stops reading does not end the training: the model is what it is for."""
    try:
        click.echo(json.dumps(content, allow_nan=False))
    except BrokenPipeError:
        silence_output()


def words_of(event: Event) -> str:
    """What happened, in a line."""
    match event:
        case Began():
            words = beginning(event)
        case Trying():
            words = f"{event.name}: begins, number {event.number}{'' if event.of is None else f' of {event.of}'}"
        case FoldDone():
            again = " (from the checkpoint)" if event.resumed else ""
            words = f"{event.name}: fold {event.fold} of {event.folds}: {figure(event.score)}{again}"
        case MemberDone():
            words = done(event.entry)
        case Blended():
            words = f"ensemble of {event.n_members}: {plus_minus(event.score, event.standard_error)}"
        case Said():
            words = one_line(event.words)
        case Ended():
            words = "done"
        case _:
            words = type(event).__name__
    return words


def beginning(event: Began) -> str:
    """The table and the plan."""
    if event.budget_models is not None:
        budget = f"{event.budget_models} models"
    else:
        budget = "no limit" if event.budget_seconds is None else duration(event.budget_seconds)
    notes = "".join(f"; {one_line(note)}" for note in event.notes)
    return f"{event.task}: {event.n_rows:,} rows, {event.n_columns} columns; {event.metric} in {event.n_folds} folds; {budget}{notes}"


def done(entry: Entry) -> str:
    """What became of a member."""
    note = f"; {one_line(entry.note)}" if entry.note else ""
    return f"{entry.name}: {plus_minus(entry.score, entry.standard_error)}, {entry.folds} folds in {duration(entry.seconds)}{note}"


def plus_minus(score: float, error: float) -> str:
    """A score and its uncertainty, in signs that every terminal has."""
    return f"{figure(score)} +- {figure(error)}"
