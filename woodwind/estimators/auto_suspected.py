"""What is suspicious about the data of a job, as an event, as lines, and as it is kept with a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from woodwind.auto.events import Event
from woodwind.base.errors import ModelFileError
from woodwind.base.figures import one_line
from woodwind.data.suspicion_view import SEVERITIES, Suspicion

SERIOUS = SEVERITIES[0]
# More lines than these nobody reads while a job begins.
MOST_LINES = 8


@dataclass(frozen=True, kw_only=True)
class Suspected(Event):
    """Something about the data should be looked at. It is told before anything is trained."""

    suspicions: tuple[Suspicion, ...]


def suspicion_lines(suspicions: Sequence[Suspicion], most: int = MOST_LINES) -> list[str]:
    """A line for each suspicion, the gravest first; how many more there are stands in the last."""
    ordered = sorted(suspicions, key=lambda one: SEVERITIES.index(one.severity))
    shown = ordered if len(ordered) <= most else ordered[: most - 1]
    lines = [f"{one.severity}: {one_line(one.words)}" for one in shown]
    return lines if len(shown) == len(ordered) else [*lines, f"and {len(ordered) - len(shown):,} more in the report"]


def kept_suspicions(facts: dict[str, Any]) -> tuple[Suspicion, ...]:
    """The suspicions among the facts that are kept with a model."""
    try:
        return tuple(
            Suspicion(one["kind"], tuple(one["columns"]), one["words"], one["severity"]) for one in facts.get("suspicions", ())
        )
    except (LookupError, TypeError) as error:
        raise ModelFileError("What is suspicious about the data of the model is damaged. Train it once more.") from error
