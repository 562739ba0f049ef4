"""What is written by commands: results on standard output; messages, warnings and errors, one line each, on standard error.

Names, labels and categories come from tables and from files of strangers, and nothing in them may steer a terminal: whatever people read
goes through here, or as cells through woodwind.cli.terminal.
"""

import ast
import dataclasses
import gc
import json
import math
import os
import re
import shlex
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

from woodwind.base.errors import WoodwindWarning
from woodwind.base.formatting import one_line, printable
from woodwind.base.notice import write_error_stream

# ----------------------------------------------------------------------------------------------------
# Messages of the library in the words of the command: an option is named as it is typed, and what has none is not advised.

# What the library says, and what is said here instead.
_PREDICTED: tuple[tuple[str, str | Callable[["re.Match[str]"], str]], ...] = (
    (r"\bsay task=(['\"])(\w+)\1", r"give --task \2"),
    (r"\btask=(['\"])(\w+)\1", r"--task \2"),
    (r"\(schema=\.\.\.\)", "(--schema)"),
    (r"\bsay (?=(?:group|time_column)=)", "give "),
    (r"\b(ignore|group|time_column)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", lambda found: _option(found[1], found[2])),
    (r"\bdrop_missing_target=True \(--drop-missing-target\)", "--drop-missing-target"),
    (r", or say header=False\b", ""),
    (r"; or, if these are names, say header=True\b", ""),
    (r", or read only the columns that all files have with columns=\[\.\.\.\]", ""),
    (r"; guard_formulas=True puts an apostrophe before it", ""),
    (r"\bwithout resume\b", "without --resume"),
    (r"\bresume=True\b", "--resume"),
    (r"\bname another folder\b", "choose another model file with -o"),
    (r"\bName another folder(?: for checkpoints)?\b", "Choose another model file with -o"),
    (r"\bAutoEnsemble(?:Classifier|Regressor): ", ""),
    (r"(?<![\d.,])1 (column|fold|member|model|round|row)s\b", r"1 \1"),
)

# The parts of an object that are sentences.
_WORDS = ("words", "note", "notes")


def _option(name: str, value: str) -> str:
    """An option and the name of a column, quoted for a shell where it must be."""
    return f"--{name.replace('_', '-')} {shlex.quote(ast.literal_eval(value))}"


def in_options(words: str) -> str:
    """The same words for somebody who types commands."""
    for predicted, instead in _PREDICTED:
        words = re.sub(predicted, instead, words)
    return words


def in_command_words(content: Any, are_words: bool = False) -> Any:
    """An object whose sentences name options as they are typed; names and labels stay as they are."""
    if isinstance(content, dict):
        return {key: in_command_words(value, key in _WORDS) for key, value in content.items()}
    if isinstance(content, list):
        return [in_command_words(value, are_words) for value in content]
    return in_options(content) if are_words and isinstance(content, str) else content


# ----------------------------------------------------------------------------------------------------
# Sizes as people read them, and anything as JSON has it.


def size_of(n_bytes: int) -> str:
    """A size in the unit that suits it."""
    size, unit = float(n_bytes), "bytes"
    for larger in ("kB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"


def plain(value: Any) -> Any:
    """The same in what JSON has: records become objects, and what is not a finite number becomes null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # an array, or a number of one
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def json_line(content: Any) -> str:
    """A value of `plain` as a line of JSON, in signs that every terminal shows: json escapes all others but DEL."""
    return json.dumps(content, allow_nan=False).replace("\x7f", "\\u007f")


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
