"""Large tables a part at a time: how far it has come, and warnings once."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from woodwind.auto.model import AutoModel
from woodwind.auto.table_rows import typed_batch
from woodwind.base.formatting import duration
from woodwind.base.notice import notice
from woodwind.cli.command import nearest, wrong
from woodwind.cli.console import say

TELL_SECONDS = 5.0


def batches_of(model: AutoModel, source: Any, beside: Sequence[str], verb: str) -> Iterator[Any]:
    """The rows of a source, a batch at a time: the columns of the model, then those beside them. Now and then it is said how far it is.

    What is warned of while a batch is worked on is said of the first such batch only.
    """
    there = source.schema.names
    needed = [name for name in (model.schema.names or there) if name in there]
    columns = list(dict.fromkeys([*needed, *beside]))
    told: set[type[Warning]] = set()
    began = said = time.monotonic()
    done = 0
    rows = source.batches(columns)
    while True:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            batch = next(rows, None)
            if batch is not None:
                yield typed_batch(model, batch)
        first, done = done + 1, done + (0 if batch is None else batch.num_rows)
        for one in found:
            if one.category not in told:
                told.add(one.category)
                notice(f"{one.message} This is of rows {first:,} to {done:,}; later ones are not told.", one.category)
        if batch is None:
            break
        now = time.monotonic()
        if now - said >= TELL_SECONDS:
            said = now
            say(progress(done, source.n_rows, now - began, verb))
    source.check_unchanged()


def looking() -> Callable[[int], None]:
    """What is told while it is found out what the columns of a large text file are: how many rows were looked at, now and then."""
    began = said = time.monotonic()
    done = 0

    def watch(rows: int) -> None:
        nonlocal said, done
        done += rows
        now = time.monotonic()
        if now - said >= TELL_SECONDS:
            said = now
            say(progress(done, None, now - began, "looked at to find out what the columns are"))

    return watch


def progress(done: int, total: int | None, seconds: float, verb: str) -> str:
    """How far it has come, in words."""
    if not total:
        return f"{done:,} rows {verb}, {duration(seconds)}"
    left = seconds / max(done, 1) * max(total - done, 0)
    return f"{done:,} of {total:,} rows {verb}, {duration(seconds)}, about {duration(left)} left"


def check_columns(source: Any, names: Sequence[str], option: str) -> None:
    """End the call where the table lacks a column that was named."""
    there = list(source.schema.names)
    for name in names:
        if name not in there:
            wrong(f"{option}: the table has no column {name!r}. {nearest(name, there)}")
