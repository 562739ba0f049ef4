"""What is written by commands: results on standard output; messages, warnings and errors, one line each, on standard error.

Names, labels and levels come from tables and from files of strangers, and nothing in them may steer a terminal: whatever people read goes
through here, or as cells through woodwind.cli.terminal.
"""

import gc
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

from woodwind.base.errors import WoodwindWarning
from woodwind.base.figures import one_line, printable
from woodwind.base.notice import write_error_stream
from woodwind.cli.figures import json_line
from woodwind.cli.spoken import in_options

DEBUG = "WOODWIND_DEBUG"


def is_debugging() -> bool:
    """Whether the user wants to see where an error arose."""
    return os.environ.get(DEBUG, "") not in ("", "0")


def say(words: str, wrap: bool = True) -> None:
    """A message in one line, on standard error: standard output is for results.

    It is written to what is standard error now: while a live table is shown, that puts it above the table, where it stays. click.echo would
    find the stream below, and the next picture would be drawn over it.
    """
    line = printable(in_options(words))
    write_error_stream(f"{fitted(line, sys.stderr) if wrap else line}\n")


def show(words: object = "") -> None:
    """A line of results, on standard output."""
    click.echo(fitted(printable(words), sys.stdout))


def fitted(line: str, stream: TextIO) -> str:
    """A line for a stream: on a terminal that is too narrow for it, several that end with words."""
    if stream is None or not stream.isatty():
        return line
    width = shutil.get_terminal_size().columns
    return line if len(line) <= width else textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def show_json(content: Any) -> None:
    """A line of JSON, on standard output."""
    click.echo(json_line(content))


@contextmanager
def tidy_warnings() -> Iterator[None]:
    """Warnings of Woodwind become one line each, and each is said once; those of other libraries are shown when debugging."""
    with warnings.catch_warnings():
        if not is_debugging():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", WoodwindWarning)
        told: set[str] = set()

        def show(message: Warning | str, *_where: object, **_more: object) -> None:
            line = one_line(message)
            if line not in told:
                told.add(line)
                say(f"warning: {line}")

        warnings.showwarning = show  # as it was, when this ends
        yield


@contextmanager
def no_collecting() -> Iterator[None]:
    """While modules are imported nothing is garbage: looking for some takes a tenth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
