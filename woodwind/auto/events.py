"""What happens in a job, as it happens. The job is a generator of these; whoever shows, logs or keeps something consumes them."""

from dataclasses import dataclass

from woodwind.auto.outcome import Entry, Outcome


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something happened."""

    seconds: float  # since the start of the job


@dataclass(frozen=True, kw_only=True)
class JobBegan(Event):
    """The table was read, and it is decided what is done with it."""

    task: str
    metric: str
    n_rows: int
    n_columns: int
    n_folds: int
    budget_seconds: float | None
    budget_models: int | None
    notes: tuple[str, ...] = ()
    target: str = ""  # where the job has one of several


@dataclass(frozen=True, kw_only=True)
class MemberBegan(Event):
    """The training of a member begins."""

    name: str
    number: int  # counted from 1
    of: int | None = None  # how many there will be, if that is known


@dataclass(frozen=True, kw_only=True)
class FoldDone(Event):
    """A member was trained on all folds but one, and asked about that one."""

    name: str
    fold: int  # counted from 1
    folds: int
    score: float  # of the rows held out, by the metric
    resumed: bool = False  # read from a checkpoint instead


@dataclass(frozen=True, kw_only=True)
class MemberDone(Event):
    """All folds of a member are done, or it was given up; then the note of the entry says why."""

    entry: Entry


@dataclass(frozen=True, kw_only=True)
class Blended(Event):
    """The members so far were blended."""

    score: float  # of rows out of fold, by weights that were chosen without their fold
    standard_error: float
    n_members: int  # with a weight


@dataclass(frozen=True, kw_only=True)
class Message(Event):
    """Something that the user should know."""

    words: str


@dataclass(frozen=True, kw_only=True)
class FactsBegan(Event):
    """The model is made; what the report tells of it is measured, which may take a while."""


@dataclass(frozen=True, kw_only=True)
class JobEnded(Event):
    """The job is done."""

    outcome: Outcome
