"""What is said beside the results: messages, warnings and errors, one line each, on standard error."""

import codecs
import gc
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, cast

import click

from woodwind.base.errors import WoodwindWarning
from woodwind.base.figures import one_line
from woodwind.cli.spoken import in_options

DEBUG = "WOODWIND_DEBUG"


def is_debugging() -> bool:
    """Whether the user wants to see where an error arose."""
    return os.environ.get(DEBUG, "") not in ("", "0")


def say(words: str) -> None:
    """A message, on standard error: standard output is for results."""
    click.echo(in_options(words), err=True)


def prepare_streams() -> None:
    """Let no sign that a terminal or a pipe cannot show end the program: it is written as its number instead."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def data_stream() -> TextIO:
    """Standard output for the cells of a table: UTF-8 whatever the locale is, as a file would be. A sign must not become its number."""
    sys.stdout.flush()
    if not hasattr(sys.stdout, "buffer"):
        return sys.stdout
    return cast(TextIO, codecs.getwriter("utf-8")(sys.stdout.buffer))


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


@contextmanager
def deaf_reader_is_no_error() -> Iterator[None]:
    """A reader that has had enough, as `head` has, ends the writing and nothing else."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence_output()


def silence_output() -> None:
    """Write to nowhere from now on: the interpreter flushes once more when it ends, and would complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
