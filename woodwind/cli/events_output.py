"""How a job is told to somebody who is not at a terminal: lines of text, an object for each event, or nothing but what is wrong."""

import re
from collections.abc import Callable
from typing import Any

from woodwind.auto.averaging import ESTIMATE
from woodwind.auto.events import Event, JobEnded
from woodwind.auto.messages import SERIOUS, SuspicionsFound, suspicion_lines, timed
from woodwind.cli.console import in_command_words, plain, say, show_json

Listener = Callable[[Event], None]


def write_warnings(event: Event) -> None:
    """For those who want silence: serious suspicions alone."""
    if isinstance(event, SuspicionsFound):
        for line in suspicion_lines([one for one in event.suspicions if one.severity == SERIOUS]):
            say(line)


def write_lines_of_events(event: Event) -> None:
    """Lines on standard error."""
    for line in timed(event):
        say(line)


def write_json_event(event: Event) -> None:
    """One object of JSON in a line on standard output."""
    show_json(record(event))


def record(event: Event) -> dict[str, Any]:
    """An event as an object; of the outcome what fits into a line."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    if isinstance(event, JobEnded):
        outcome = event.outcome
        model = outcome.model
        told = {"task": model.task, "target": model.target, "classes": model.classes, "metric": model.metric}
        found = {"leaderboard": outcome.leaderboard, "suspicions": outcome.suspicions, "notes": outcome.notes, "seed": outcome.seed}
        found["estimate"] = model.facts.get(ESTIMATE)
        return {"event": name, "seconds": event.seconds, **in_command_words(plain(told | found))}
    return {"event": name, **in_command_words(plain(event))}
