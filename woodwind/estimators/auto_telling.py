"""How a job is told in lines of text: by the command where nobody is at a terminal, and in Python with `verbose`."""

from math import isfinite

from woodwind.auto.events import Began, Blended, Ended, Event, Examining, FoldDone, MemberDone, Said, Trying
from woodwind.auto.outcome import Entry
from woodwind.base.figures import counted, duration, figure, one_line, printable
from woodwind.base.notice import write_error_stream
from woodwind.estimators.auto_suspected import Suspected, suspicion_lines


def lines_of(event: Event) -> list[str]:
    """What happened: mostly a line, several where the data is spoken of, none where there is nothing to say."""
    match event:
        case Began():
            lines = [beginning(event), *map(one_line, event.notes)]
        case Suspected():
            lines = suspicion_lines(event.suspicions)
        case Trying():
            lines = [f"{event.name}: begins, number {event.number}{'' if event.of is None else f' of {event.of}'}"]
        case FoldDone():
            again = " (from the checkpoint)" if event.resumed else ""
            # Members such as forests have no score before all folds are done.
            lines = [f"{event.name}: fold {event.fold} of {event.folds}: {figure(event.score)}{again}"] if isfinite(event.score) else []
        case MemberDone():
            lines = [done(event.entry)]
        case Blended():
            lines = [f"ensemble of {event.n_members}: {plus_minus(event.score, event.standard_error)}"]
        case Said():
            lines = [one_line(event.words)]
        case Examining():
            lines = ["the ensemble is made; measuring what the report tells of it"]
        case Ended():
            lines = ["done"]
        case _:
            lines = [type(event).__name__]
    return lines


def beginning(event: Began) -> str:
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


def tell_on_error_stream(event: Event, verbose: int) -> None:
    """Lines on standard error, wherever that leads: to a terminal, a notebook, a log. Folds are for those who ask for 2."""
    if verbose > 1 or not isinstance(event, Trying | FoldDone):
        write_error_stream("".join(f"{printable(line)}\n" for line in timed(event)))
