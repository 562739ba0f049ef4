"""A table on the terminal that grows and changes while a job runs."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from woodwind.auto.events import Began, Event, Said
from woodwind.base.figures import duration, figure, one_line, printable
from woodwind.cli.saying import say
from woodwind.cli.standing import Line, Standing
from woodwind.cli.terminal import Column, can_show, console_on, grid
from woodwind.estimators.auto_suspected import Suspected
from woodwind.estimators.auto_telling import lines_of, plus_minus

COLUMNS = (
    Column("member", left=True),
    Column("folds", left=True, rank=2),
    Column("score"),
    Column("+-", rank=1),
    Column("weight", rank=3),
    Column("time", rank=4),
    Column("", left=True, rank=5),
)
FRAME = 8  # lines of the picture that are not members
PER_SECOND = 4
LONGEST_BAR = 40


class LiveTable:
    """Listens to a job, and shows where it stands until it ends; then the picture is wiped away, and results can be printed."""

    def __init__(self, title: str, started: float) -> None:
        self.title, self.standing, self.start = title, Standing(), started
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
        self.standing.add(event)
        if isinstance(event, Began | Suspected | Said):
            for line in lines_of(event):
                say(line)

    def picture(self) -> Group:
        """Everything, as it is now."""
        standing, width = self.standing, self.console.width
        lines = standing.ordered(self.console.height - FRAME)
        columns = tuple(Column(self.signs[2], rank=column.rank) if column.title == "+-" else column for column in COLUMNS)
        parts: list[Text | Table] = [short(self.title, "bold")]
        if standing.began is None:
            parts.append(short("reading the table"))
        if lines:
            styles = ["" if line.is_done else "cyan" for line in lines]
            parts += [Text(), grid(columns, [self.cells(line) for line in lines], width, styles)]
        if standing.blend is not None:
            blend = standing.blend
            score = plus_minus(blend.score, blend.standard_error).replace("+-", self.signs[2])
            parts.append(short(f"ensemble of {blend.n_members}: {score}", "bold green"))
        if standing.examining is not None:
            parts.extend(short(line) for line in lines_of(standing.examining))
        return Group(*parts, Text(), self.clock())

    def cells(self, line: Line) -> tuple[str, ...]:
        """A member as a row."""
        full, empty = self.signs[:2]
        folds = full * line.folds_done + empty * max(line.folds - line.folds_done, 0)
        taken = line.seconds if line.is_done else self.elapsed() - line.began
        weight = f"{line.weight:.2f}" if line.weight else ""
        return (line.name, folds, figure(line.score), figure(line.standard_error), weight, duration(taken), one_line(line.note))

    def clock(self) -> Text:
        """How far it is: by the time, or by the number of members."""
        standing, elapsed = self.standing, self.elapsed()
        budget = None if standing.began is None else standing.began.budget_seconds
        if budget:
            share, words = elapsed / budget, f"{duration(elapsed)}, {duration(max(budget - elapsed, 0.0))} left"
        elif standing.of:
            done = sum(line.is_done for line in standing.lines.values())
            share, words = done / standing.of, f"{duration(elapsed)}, {done} of {standing.of} members"
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
