"""Arguments and options that several commands have, and the kinds of values they take."""

import glob
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from woodwind.cli.command import nearest, nearest_file

STANDARD_INPUT = "-"
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class ExistingFile(click.ParamType):
    """A file that is there."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path, or a word about the file that was meant."""
        path = Path(value)
        if path.is_dir():
            self.fail(f"{str(path)!r} is a folder. Give a file.", param, ctx)
        if not path.is_file():
            self.fail(f"there is no file {str(path)!r}. {nearest_file(path)}", param, ctx)
        return path


class TableSource(click.ParamType):
    """A file, a pattern that some file matches, or - for standard input; the pattern is left to whoever reads."""

    name = "table"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text as it came, once it is known that something can be read."""
        if value == STANDARD_INPUT:
            return str(value)
        if glob.has_magic(value) and not Path(value).exists():
            if not glob.glob(value, recursive=True):
                self.fail(f"no file matches {value!r}. Check the folder, or name the files.", param, ctx)
            return str(value)
        if not Path(value).is_dir():  # a folder may hold the parts of a table: the reader says what it thinks of it
            ExistingFile().convert(value, param, ctx)
        return str(value)


class OneTable(ExistingFile):
    """A file that is there, or - for standard input."""

    name = "table"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path."""
        return Path(value) if value == STANDARD_INPUT else super().convert(value, param, ctx)


class Duration(click.ParamType):
    """Seconds, or a number with s, m, h behind it."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        if isinstance(value, float):
            return value
        parts = re.findall(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)", value)
        is_all = "".join(number + unit for number, unit in parts) == value
        if not parts or not is_all or (len(parts) > 1 and not all(unit for _, unit in parts)):
            self.fail(f"{value!r} is no length of time. Write 60 for seconds, 10m, 1h or 1h30m.", param, ctx)
        total = sum(float(number) * SECONDS[unit or "s"] for number, unit in parts)
        if total <= 0:
            self.fail("it must be longer than nothing.", param, ctx)
        return total


class NameChoice(click.ParamType):
    """One of some names."""

    name = "name"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name."""
        if value not in self.names:
            self.fail(f"it is one of {', '.join(self.names)}, but here it is {value!r}. {nearest(str(value), self.names)}", param, ctx)
        return str(value)


class WholeNumber(click.ParamType):
    """A whole number that is not too small."""

    name = "whole"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", str(value)) or int(value) < self.least:
            self.fail(f"it must be a whole number, {self.least} at least, but it is {value!r}.", param, ctx)
        return int(value)


class CoverageLevels(click.ParamType):
    """Shares of new rows, with commas between them."""

    name = "shares"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """The shares, each once."""
        if isinstance(value, tuple):
            return value
        found: list[float] = []
        for text in str(value).split(","):
            try:
                share = float(text)
            except ValueError:
                share = math.nan
            if not 0.0 < share < 1.0:
                meant = f" Did you mean {share / 100.0:g}?" if 1.0 < share < 100.0 else ""
                self.fail(f"it must be a share between 0 and 1 such as 0.9, or several as 0.8,0.95, but it is {text!r}.{meant}", param, ctx)
            found.append(share)
        return tuple(dict.fromkeys(found))


def interval_option(words: str) -> Decorator:
    """Coverages of intervals and sets of labels."""

    def joined(_context: click.Context, _option: click.Parameter, given: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
        return tuple(dict.fromkeys(level for levels in given for level in levels))

    return click.option("--interval", "levels", type=CoverageLevels(), multiple=True, callback=joined, metavar="SHARE,...", help=words)


def model_argument() -> Decorator:
    """The model file, as first argument."""
    return click.argument("model", type=ExistingFile())


def json_option(what: str) -> Decorator:
    """For machines."""
    return click.option("--json", "as_json", is_flag=True, help=f"Write {what} as JSON.")


def threads_option() -> Decorator:
    """How many processors are used."""
    return click.option("--threads", type=WholeNumber(1), metavar="N", help="Threads to use; all processors unless given.")


def force_option(what: str = "a file that Woodwind has not made") -> Decorator:
    """For those who know that a file may go."""
    return click.option("--force", is_flag=True, help=f"Overwrite {what}.")


def tables_argument() -> Decorator:
    """The table: one file, several, patterns, or standard input."""
    return click.argument("tables", metavar="TABLE...", nargs=-1, required=True, type=TableSource(), callback=once_from_input)


def once_from_input(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Standard input can be read to its end once."""
    if value.count(STANDARD_INPUT) > 1:
        raise click.BadParameter("standard input can be read once. Give - once.", ctx, param)
    return value


def files_of(tables: Sequence[str]) -> list[str]:
    """The files that tables are read from, patterns resolved."""
    return [
        file
        for table in tables
        for file in (sorted(glob.glob(table, recursive=True)) if glob.has_magic(table) and not Path(table).exists() else [table])
    ]
