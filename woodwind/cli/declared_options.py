"""Options whose words, default and allowed values were declared as a parameter of the library."""

import inspect
import re
from typing import Any

import click

from woodwind.cli.options import Decorator, NameChoice
from woodwind.params.describe import Knob, declared


def parameter_of(group: type, name: str) -> Knob:
    """The declaration of a parameter."""
    return next(knob for knob in declared(group) if knob.name == name)


def declared_option(flag: str, group: type, name: str, *, more: str = "", sentences: int | None = None, **settings: Any) -> Decorator:
    """An option for a parameter: its first sentences, and what is `more` to say of it on the command line."""
    knob = parameter_of(group, name)
    predicted = re.split(r"(?<=\.) ", knob.words)[:sentences]
    words = " ".join([*predicted, *([more] if more else [])])
    # A parameter of Python is an option here.
    words = re.sub(r"`(\w+)`", lambda found: "--" + found[1].replace("_", "-"), words)
    if "default" not in settings and isinstance(knob.default, str | int | float) and not isinstance(knob.default, bool):
        settings |= {"default": knob.default, "show_default": True}
    if knob.names:
        words = f"{words} One of {', '.join(knob.names)}."
        settings.setdefault("type", NameChoice(knob.names))
    if knob.default is inspect.Parameter.empty:
        settings.setdefault("required", True)
    return click.option(flag, help=words, **settings)
