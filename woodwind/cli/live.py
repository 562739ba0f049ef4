"""A table on the terminal that grows and changes while a job runs."""

import sys
import time
from dataclasses import dataclass, field
from math import inf, isfinite, nan
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from woodwind.auto.events import Blended, Event, FactsBegan, FoldDone, JobBegan, MemberBegan, MemberDone, Message
from woodwind.auto.messages import SuspicionsFound, lines_of, plus_minus
from woodwind.base.formatting import duration, figure, one_line, printable
from woodwind.cli.console import say
from woodwind.cli.terminal import TextColumn, can_show, console_on, grid

# ----------------------------------------------------------------------------------------------------
# Where a job stands: what its events add up to.


@dataclass
class MemberLine:
    """What is known of a member."""

    name: str
    folds_done: int = 0
    folds: int = 0
    scored: int = 0
    total: float = 0.0  # of the scores of its folds
    standard_error: float = nan
    score: float = nan
    loss: float = nan
    weight: float = 0.0
    began: float = 0.0
    seconds: float = nan
    note: str = ""
    is_done: bool = False


@dataclass
class JobState:
    """A job as far as it has come."""

    began: JobBegan | None = None
    lines: dict[str, MemberLine] = field(default_factory=dict)
    blend: Blended | None = None
    number: int = 0
    of: int | None = None
    examining: FactsBegan | None = None

    def add(self, event: Event) -> None:
        """Take in what happened."""
        if isinstance(event, JobBegan):  # of several targets every one begins anew
            self.began, self.lines, self.blend, self.examining = event, {}, None, None
        elif isinstance(event, MemberBegan):
            self.number, self.of = event.number, event.of
            self.lines[event.name] = MemberLine(event.name, folds=self.began.n_folds if self.began else 0, began=event.seconds)
        elif isinstance(event, FoldDone):
            line = self.lines.setdefault(event.name, MemberLine(event.name))
            line.folds_done, line.folds = line.folds_done + 1, event.folds
            if isfinite(event.score):  # some members have no score before all folds are done
                line.scored, line.total = line.scored + 1, line.total + event.score
                line.score = line.total / line.scored
        elif isinstance(event, MemberDone):
            entry = event.entry
            line = self.lines.setdefault(entry.name, MemberLine(entry.name))
            line.score, line.standard_error, line.loss, line.weight = entry.score, entry.standard_error, entry.loss, entry.weight
            line.seconds, line.note, line.folds_done, line.is_done = entry.seconds, entry.note, entry.folds, True
        elif isinstance(event, Blended):
            self.blend = event
        elif isinstance(event, FactsBegan):
            self.examining = event

    def ordered(self, most: int) -> list[MemberLine]:
        """At most so many members: those at work last, before them the best ones that are done."""
        done = sorted((line for line in self.lines.values() if line.is_done), key=lambda line: line.loss if isfinite(line.loss) else inf)
        working = [line for line in self.lines.values() if not line.is_done]
        return [*done[: max(most - len(working), 0)], *working][-most:] if most > 0 else []


COLUMNS = (
    TextColumn("member", left=True),
    TextColumn("folds", left=True, rank=2),
    TextColumn("score"),
    TextColumn("+-", rank=1),
    TextColumn("weight", rank=3),
    TextColumn("time", rank=4),
    TextColumn("", left=True, rank=5),
)
FRAME = 8  # lines of the picture that are not members
PER_SECOND = 4
LONGEST_BAR = 40


class LiveTable:
    """Listens to a job, and shows where it stands until it ends; then the picture is wiped away, and results can be printed."""

    def __init__(self, title: str, started: float) -> None:
        self.title, self.state, self.start = title, JobState(), started
        self.console = console_on(sys.stderr)
        self.signs = ("●", "○", "±", "━", "─") if can_show("●○±━─", sys.stderr) else ("#", ".", "+-", "=", "-")
        self.live = Live(
            get_renderable=self.picture, console=self.console, refresh_per_second=PER_SECOND, transient=True, redirect_stdout=False
        )

    def __enter__(self) -> Self:
        self.live.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.live.__exit__(kind, error, trace)

    def __call__(self, event: Event) -> None:
        """Take in an event."""
        self.state.add(event)
        if isinstance(event, JobBegan | SuspicionsFound | Message):
            for line in lines_of(event):
                say(line)

    def picture(self) -> Group:
        """Everything, as it is now."""
        state, width = self.state, self.console.width
        lines = state.ordered(self.console.height - FRAME)
        columns = tuple(TextColumn(self.signs[2], rank=column.rank) if column.title == "+-" else column for column in COLUMNS)
        parts: list[Text | Table] = [short(self.title, "bold")]
        if state.began is None:
            parts.append(short("reading the table"))
        if lines:
            styles = ["" if line.is_done else "cyan" for line in lines]
            parts += [Text(), grid(columns, [self.cells(line) for line in lines], width, styles)]
        if state.blend is not None:
            blend = state.blend
            score = plus_minus(blend.score, blend.standard_error).replace("+-", self.signs[2])
            parts.append(short(f"ensemble of {blend.n_members}: {score}", "bold green"))
        if state.examining is not None:
            parts.extend(short(line) for line in lines_of(state.examining))
        return Group(*parts, Text(), self.clock())

    def cells(self, line: MemberLine) -> tuple[str, ...]:
        """A member as a row."""
        full, empty = self.signs[:2]
        folds = full * line.folds_done + empty * max(line.folds - line.folds_done, 0)
        taken = line.seconds if line.is_done else self.elapsed() - line.began
        weight = f"{line.weight:.2f}" if line.weight else ""
        return (line.name, folds, figure(line.score), figure(line.standard_error), weight, duration(taken), one_line(line.note))

    def clock(self) -> Text:
        """How far it is: by the time, or by the number of members."""
        state, elapsed = self.state, self.elapsed()
        budget = None if state.began is None else state.began.budget_seconds
        if budget:
            share, words = elapsed / budget, f"{duration(elapsed)}, {duration(max(budget - elapsed, 0.0))} left"
        elif state.of:
            done = sum(line.is_done for line in state.lines.values())
            share, words = done / state.of, f"{duration(elapsed)}, {done} of {state.of} members"
        else:
            share, words = 0.0, duration(elapsed)
        length = min(self.console.width - len(words) - 2, LONGEST_BAR)
        full = round(min(share, 1.0) * max(length, 0))
        return Text.assemble((self.signs[3] * full, "cyan"), (self.signs[4] * (length - full), "dim"), "  ", words, no_wrap=True)

    def elapsed(self) -> float:
        """Seconds since the start, also between events."""
        return time.perf_counter() - self.start


def short(words: str, style: str = "") -> Text:
    """A line that is cut where the screen ends."""
    return Text(printable(words), style=style, no_wrap=True, overflow="ellipsis")
