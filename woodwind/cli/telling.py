"""How a job is told to somebody who is not at a terminal: lines of text, an object for each event, or nothing but what is wrong."""

import re
from collections.abc import Callable
from typing import Any

from woodwind.auto.events import Ended, Event
from woodwind.cli.figures import plain
from woodwind.cli.saying import say, show_json
from woodwind.cli.spoken import spoken
from woodwind.estimators.auto_suspected import SERIOUS, Suspected, suspicion_lines
from woodwind.estimators.auto_telling import timed

Listener = Callable[[Event], None]


def tell_what_is_wrong(event: Event) -> None:
    """For those who want silence: serious suspicions alone."""
    if isinstance(event, Suspected):
        for line in suspicion_lines([one for one in event.suspicions if one.severity == SERIOUS]):
            say(line)


def tell_lines(event: Event) -> None:
    """Lines on standard error."""
    for line in timed(event):
        say(line)


def tell_object(event: Event) -> None:
    """One object of JSON in a line on standard output."""
    show_json(record(event))


def record(event: Event) -> dict[str, Any]:
    """An event as an object; of the outcome what fits into a line."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    if isinstance(event, Ended):
        outcome = event.outcome
        model = outcome.model
        told = {"task": model.task, "target": model.target, "classes": model.classes, "metric": model.metric}
        found = {"leaderboard": outcome.leaderboard, "suspicions": outcome.suspicions, "notes": outcome.notes, "seed": outcome.seed}
        return {"event": name, "seconds": event.seconds, **spoken(plain(told | found))}
    return {"event": name, **spoken(plain(event))}
