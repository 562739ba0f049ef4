"""woodwind fit --memory: whether a table fits, and where it does not, the blocks on disk that it is trained from instead."""

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from woodwind.base.atomic import shortened
from woodwind.base.errors import DataError
from woodwind.base.formatting import counted
from woodwind.cli.batches import TELL_SECONDS, progress
from woodwind.cli.command import wrong
from woodwind.cli.options import STANDARD_INPUT
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.blocks.file_sizes import rows_and_columns

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
MB = 1 << 20
# What the program takes without a table, and what a job in memory takes for each cell beside it: 1,500,000 x 12 of CSV took 1,390 MB.
PROGRAM, OF_A_CELL = 350 * MB, 60
# What a job on blocks takes beside the program, and for each row: scores and statistics, the target, scores of members out of fold. Of
# that table it took 780 MB.
OF_BLOCKS, OF_A_ROW = 150 * MB, 180
PASSES = 3  # over a table that is written in blocks
# What is decided for blocks in another way, or not at all.
REFUSED = {
    "time_column": "rows are held out at random there, or by --group",
    "written": "columns are what they are in the files",
}


class MemorySize(click.ParamType):
    """An amount of memory: a number with M or G behind it."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+) ?([KMGT])(?:i?B)?", str(value), re.IGNORECASE)
        if found is None:
            self.fail(f"{value!r} is no amount of memory. Write 500M or 2G.", param, ctx)
        size = int(float(found[1]) * UNITS[found[2].upper()])
        if size < PROGRAM + OF_BLOCKS:
            self.fail(f"the program itself takes some {(PROGRAM + OF_BLOCKS) // MB} MB. Give more than that.", param, ctx)
        return size


class TableSize(NamedTuple):
    """How large a table is, about."""

    rows: int
    columns: int

    @property
    def in_memory(self) -> int:
        """Bytes that a job takes for it in memory."""
        return PROGRAM + self.rows * self.columns * OF_A_CELL

    @property
    def in_blocks(self) -> int:
        """Bytes that a job takes for it on blocks."""
        return PROGRAM + OF_BLOCKS + self.rows * OF_A_ROW


def words_of(size: int) -> str:
    """Bytes as people read them."""
    return f"{size / UNITS['G']:.1f}G" if size >= UNITS["G"] else f"{size / MB:.0f}M"


def decide(given: dict[str, Any], tell: Callable[[str], None]) -> TableSize | None:
    """The size of a table that is to be trained from blocks; None for one that fits into memory. The estimate is told."""
    if STANDARD_INPUT in given["tables"]:
        wrong("--memory needs files, whose size is known, and standard input has none. Write the table to a file, or leave it out.")
    size, most = TableSize(*rows_and_columns(given["tables"])), given["memory"]
    table = f"About {counted(size.rows, 'row')} of {counted(size.columns, 'column')}: some {words_of(size.in_memory)} in memory"
    if size.in_memory <= most:
        tell(f"{table}, which fits into {words_of(most)}.")
        return None
    for name, why in REFUSED.items():
        if given[name] is not None:
            option = "--schema" if name == "written" else "--" + name.replace("_", "-")
            wrong(f"{table}, which does not fit into {words_of(most)}, and {option} is not for blocks on disk: {why}. Leave it out.")
    if size.in_blocks > most:
        wrong(f"{table}, and some {words_of(size.in_blocks)} from blocks on disk: both are more than {words_of(most)}. Give more memory.")
    tell(f"{table}, which does not fit into {words_of(most)}: it is written in blocks, and boosting is trained on them.")
    return size


@contextmanager
def written_blocks(given: dict[str, Any], size: TableSize, tell: Callable[[str], None], now: Callable[[], float]) -> Iterator[BlockTable]:
    """The table in blocks, in a folder beside the model that is gone afterwards, whatever happens."""
    folder = given["output"].with_name(shortened(given["output"].name) + ".blocks")
    if folder.is_dir() and not BlockTable.is_temporary(folder) and any(folder.iterdir()):
        wrong(f"the folder {str(folder)!r}, where blocks would be written, holds something else. Move it away, or give another -o.")
    began = said = now()
    read = 0

    def listener(rows: int) -> None:
        nonlocal said, read
        read += rows
        if now() - said >= TELL_SECONDS:
            said = now()
            tell(progress(read, max(PASSES * size.rows, read), said - began, f"read, in {PASSES} passes"))

    try:
        with told_if_full(folder):
            blocks = BlockTable.write(
                folder, given["tables"] if len(given["tables"]) > 1 else given["tables"][0], target=given["target"],
                weight=given["weight"], group=given["group"] or given["query"], ignore=given["ignore"],
                drop_missing_target=given["drop_missing_target"], overwrite=True, temporary=True, listener=listener,
                n_jobs=given["threads"],
            )  # fmt: skip
        tell(f"{counted(blocks.n_rows, 'row')} in {counted(len(blocks.blocks), 'block')}, {blocks.n_bytes / MB:,.0f} MB on disk.")
        yield blocks
    finally:
        BlockTable.remove(folder)


@contextmanager
def told_if_full(folder: Path) -> Iterator[None]:
    """A disk without room is told as such."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DataError(
            f"There is no room for the blocks of the table in {str(folder)!r}: {os.strerror(error.errno)}. Make room there, or let -o name "
            "a file on a larger disk. Nothing of them is left."
        ) from error
