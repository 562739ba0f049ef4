"""How a job is told in lines of text: by the command where nobody is at a terminal, and in Python with `verbose`."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from woodwind.auto.events import Blended, Event, FactsBegan, FoldDone, JobBegan, JobEnded, MemberBegan, MemberDone, Message
from woodwind.auto.outcome import Entry
from woodwind.base.errors import ModelFileError
from woodwind.base.formatting import counted, duration, figure, one_line, printable
from woodwind.base.notice import write_error_stream
from woodwind.data.quality.view import SEVERITIES, Suspicion

# ----------------------------------------------------------------------------------------------------
# What is suspicious about the data of a job, as an event, as lines, and as it is stored with a model.


SERIOUS = SEVERITIES[0]
# More lines than these nobody reads while a job begins.
MOST_LINES = 8


@dataclass(frozen=True, kw_only=True)
class SuspicionsFound(Event):
    """Something about the data should be looked at. It is told before anything is trained."""

    suspicions: tuple[Suspicion, ...]


def suspicion_lines(suspicions: Sequence[Suspicion], most: int = MOST_LINES) -> list[str]:
    """A line for each suspicion, the gravest first; how many more there are stands in the last."""
    ordered = sorted(suspicions, key=lambda one: SEVERITIES.index(one.severity))
    shown = ordered if len(ordered) <= most else ordered[: most - 1]
    lines = [f"{one.severity}: {one_line(one.words)}" for one in shown]
    return lines if len(shown) == len(ordered) else [*lines, f"and {len(ordered) - len(shown):,} more in the report"]


def stored_suspicions(facts: dict[str, Any]) -> tuple[Suspicion, ...]:
    """The suspicions among the facts that are stored with a model."""
    try:
        return tuple(Suspicion(one["kind"], tuple(one["columns"]), one["words"], one["severity"]) for one in facts.get("suspicions", ()))
    except (LookupError, TypeError) as error:
        raise ModelFileError("What is suspicious about the data of the model is damaged. Train it once more.") from error


def lines_of(event: Event) -> list[str]:
    """What happened: mostly a line, several where the data is spoken of, none where there is nothing to say."""
    match event:
        case JobBegan():
            lines = [beginning(event), *map(one_line, event.notes)]
        case SuspicionsFound():
            lines = suspicion_lines(event.suspicions)
        case MemberBegan():
            lines = [f"{event.name}: begins, number {event.number}{'' if event.of is None else f' of {event.of}'}"]
        case FoldDone():
            again = " (from the checkpoint)" if event.resumed else ""
            # Members such as forests have no score before all folds are done.
            lines = [f"{event.name}: fold {event.fold} of {event.folds}: {figure(event.score)}{again}"] if isfinite(event.score) else []
        case MemberDone():
            lines = [done(event.entry)]
        case Blended():
            lines = [f"ensemble of {event.n_members}: {plus_minus(event.score, event.standard_error)}"]
        case Message():
            lines = [one_line(event.words)]
        case FactsBegan():
            lines = ["the ensemble is made; measuring what the report tells of it"]
        case JobEnded():
            lines = ["done"]
        case _:
            lines = [type(event).__name__]
    return lines


def beginning(event: JobBegan) -> str:
    """The table and the plan."""
    if event.budget_models is not None:
        budget = counted(event.budget_models, "model")
    else:
        budget = "no limit" if event.budget_seconds is None else duration(event.budget_seconds)
    table = f"{counted(event.n_rows, 'row')}, {counted(event.n_columns, 'column')}"
    return f"{event.task}: {table}; {event.metric} in {counted(event.n_folds, 'fold')}; {budget}"


def done(entry: Entry) -> str:
    """What became of a member."""
    note = f"; {one_line(entry.note)}" if entry.note else ""
    folds = counted(entry.folds, "fold")
    return f"{entry.name}: {plus_minus(entry.score, entry.standard_error)}, {folds} in {duration(entry.seconds)}{note}"


def plus_minus(score: float, error: float) -> str:
    """A score and its uncertainty, in signs that every terminal has."""
    return f"{figure(score)} +- {figure(error)}"


def timed(event: Event) -> list[str]:
    """The lines of an event, each with the time at which it happened."""
    return [f"{event.seconds:7.1f} s  {line}" for line in lines_of(event)]


def write_on_error_stream(event: Event, verbose: int) -> None:
    """Lines on standard error, wherever that leads: to a terminal, a notebook, a log. Folds are for those who ask for 2."""
    if verbose > 1 or not isinstance(event, MemberBegan | FoldDone):
        write_error_stream("".join(f"{printable(line)}\n" for line in timed(event)))
