"""Where a job stands: what its events add up to."""

from dataclasses import dataclass, field
from math import inf, isfinite, nan

from woodwind.auto.events import Began, Blended, Event, Examining, FoldDone, MemberDone, Trying


@dataclass
class Line:
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
class Standing:
    """A job as far as it has come."""

    began: Began | None = None
    lines: dict[str, Line] = field(default_factory=dict)
    blend: Blended | None = None
    number: int = 0
    of: int | None = None
    examining: Examining | None = None

    def add(self, event: Event) -> None:
        """Take in what happened."""
        if isinstance(event, Began):
            self.began = event
        elif isinstance(event, Trying):
            self.number, self.of = event.number, event.of
            self.lines[event.name] = Line(event.name, folds=self.began.n_folds if self.began else 0, began=event.seconds)
        elif isinstance(event, FoldDone):
            line = self.lines.setdefault(event.name, Line(event.name))
            line.folds_done, line.folds = line.folds_done + 1, event.folds
            if isfinite(event.score):  # some members have no score before all folds are done
                line.scored, line.total = line.scored + 1, line.total + event.score
                line.score = line.total / line.scored
        elif isinstance(event, MemberDone):
            entry = event.entry
            line = self.lines.setdefault(entry.name, Line(entry.name))
            line.score, line.standard_error, line.loss, line.weight = entry.score, entry.standard_error, entry.loss, entry.weight
            line.seconds, line.note, line.folds_done, line.is_done = entry.seconds, entry.note, entry.folds, True
        elif isinstance(event, Blended):
            self.blend = event
        elif isinstance(event, Examining):
            self.examining = event

    def ordered(self, most: int) -> list[Line]:
        """At most so many members: those at work last, before them the best ones that are done."""
        done = sorted((line for line in self.lines.values() if line.is_done), key=lambda line: line.loss if isfinite(line.loss) else inf)
        working = [line for line in self.lines.values() if not line.is_done]
        return [*done[: max(most - len(working), 0)], *working][-most:] if most > 0 else []
