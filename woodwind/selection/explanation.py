"""Who was asked for each query, how much they counted, and why: facts that can be read, stored and printed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.formatting import printable
from woodwind.selection.facts import Floats, Integers

# Why a query was answered as it was.
SELECTED, UNANIMOUS, EASY = "selected", "unanimous", "easy"
# Members and rows that a text names at most.
MOST_NAMED = 8


class MemberRole(NamedTuple):
    """What one member had to do with the answer to one query."""

    name: str
    weight: float  # its share of the answer; 0 if it was not asked
    competence: float
    predicted: Any  # its own prediction


@dataclass(frozen=True, eq=False)
class SelectionExplanation:
    """Why each query was answered as it was: who was asked, with which weight, and which rows told so."""

    method: str
    names: tuple[str, ...]  # of the members
    prediction: NDArray[Any]  # (q,)
    reason: NDArray[Any]  # (q,) 'selected'; 'unanimous': all members predict the same; 'easy': answered by the neighbours
    weights: Floats  # (q, m) shares that add up to one; all zero where nobody was asked
    competence: Floats  # (q, m)
    predicted: NDArray[Any]  # (q, m) what each member predicts
    rows: Integers | None  # (q, k) numbers of the rows of the region in the table that `fit` was given; None where it has no such rows
    distances: Floats  # (q, k)
    scored_by: str  # what members were scored by where the region has no rows of its own

    def __len__(self) -> int:
        return len(self.prediction)

    def members(self, query: int) -> list[MemberRole]:
        """All members for one query, those that counted most first."""
        order = np.lexsort((-self.competence[query], -self.weights[query]))
        return [
            MemberRole(self.names[m], float(self.weights[query, m]), float(self.competence[query, m]), _plain(self.predicted[query, m]))
            for m in order.tolist()
        ]

    def asked(self, query: int) -> list[str]:
        """The names of the members that were asked about a query."""
        return [member.name for member in self.members(query) if member.weight != 0.0]

    def counts(self) -> dict[str, int]:
        """How many queries each member was asked about, those with the most first."""
        times = (self.weights != 0.0).sum(axis=0)
        return {self.names[m]: int(times[m]) for m in np.argsort(-times, kind="stable").tolist()}

    def to_dict(self) -> list[dict[str, Any]]:
        """One dict for each query."""
        return [
            {
                "query": query,
                "prediction": _plain(self.prediction[query]),
                "reason": str(self.reason[query]),
                "members": [member._asdict() for member in self.members(query)],
                "region": None if self.rows is None else self.rows[query].tolist(),
                "distances": self.distances[query].tolist(),
            }
            for query in range(len(self))
        ]

    def to_columns(self) -> dict[str, list[Any]]:
        """One row for each query and member, as columns: `pandas.DataFrame(explanation.to_columns())`."""
        columns: dict[str, list[Any]] = {
            name: [] for name in ("query", "prediction", "reason", "member", "weight", "competence", "predicted")
        }
        for query in range(len(self)):
            for member in self.members(query):
                found = (query, _plain(self.prediction[query]), str(self.reason[query]), *member)
                for name, value in zip(columns, found, strict=True):
                    columns[name].append(value)
        return columns

    def text(self, query: int) -> str:
        """One query in words."""
        return "\n".join(map(printable, self._lines(query)))

    def _lines(self, query: int) -> Iterator[str]:
        answer = _shown(_plain(self.prediction[query]))
        if self.reason[query] == UNANIMOUS:
            yield f"query {query}: {answer}, because all {len(self.names)} members say so"
        elif self.reason[query] == EASY:
            yield f"query {query}: {answer}, because nearly all rows around it are: no member was asked"
        else:
            asked = self.asked(query)
            yield f"query {query}: {answer}, by {len(asked)} of {len(self.names)} members ({self.method})"
            for member in self.members(query)[: min(len(asked), MOST_NAMED)]:
                yield f"  {member.name} says {_shown(member.predicted)}: weight {member.weight:.3g}, competence {member.competence:.4g}"
            if len(asked) > MOST_NAMED:
                yield f"  and {len(asked) - MOST_NAMED} more"
        yield f"  scored by {self._region(query)}"

    def _region(self, query: int) -> str:
        if self.rows is None:
            return self.scored_by
        near = zip(self.rows[query].tolist(), self.distances[query].tolist(), strict=True)
        some = [f"{row} (at {distance:.3g})" for row, distance in near]
        more = f" and {len(some) - MOST_NAMED} more" if len(some) > MOST_NAMED else ""
        return f"row{'s' if len(some) > 1 else ''} {', '.join(some[:MOST_NAMED])}{more}"

    def __str__(self) -> str:
        shown = [self.text(query) for query in range(min(len(self), MOST_NAMED))]
        more = [f"and {len(self) - MOST_NAMED} more queries"] if len(self) > MOST_NAMED else []
        return "\n".join([*shown, *more])

    def __repr__(self) -> str:
        return f"SelectionExplanation of {len(self)} queries by {self.method}; print it, or see members(query), counts() and to_columns()"


def _plain(value: Any) -> Any:
    """A number or text of Python from one of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


def _shown(value: Any) -> str:
    """A value as it is written in a text: numbers to six digits."""
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
