"""BlockTable: a table in blocks, how it is made, and what is in it."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from woodwind.base.did_you_mean import nearest
from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.fixed import integer_weights
from woodwind.base.formatting import counted
from woodwind.base.pool import usable_threads
from woodwind.data.binning.codes import Codes, aligned_rows, positions_in_row, shared_stride, width_for
from woodwind.data.binning.cuts import MOST_BINS, Cuts
from woodwind.data.blocks.batches import BatchSource, changed_source, open_source
from woodwind.data.blocks.block_files import (
    KIND,
    MANIFEST,
    PREPARING,
    BlockWriter,
    StoredFile,
    read_part,
    read_stored,
    remove_written,
    unpacked,
)
from woodwind.data.blocks.streamed_schema import SeenNumbers, SeenSchema, marked_columns
from woodwind.data.blocks.text_batches import TextSource
from woodwind.data.tables.categories import MOST_CODES
from woodwind.data.tables.roles import read_weights
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.data.tables.target_column import missing_rows

BLOCK_BYTES = 1 << 23
WRITE_ARGUMENTS = """
path : folder, or several
    Where to write: a folder that is new or empty. Of several, on several disks, each has a part of the blocks.
source : path, pattern, list of these, dataset of Arrow, frame, or iterator of frames
    Text files such as CSV, Parquet or Arrow files; a folder of Parquet files; a pyarrow dataset; a frame of pandas, polars or
    Arrow; a data frame of Dask, a partition at a time; an iterator of frames, or a function that gives one. Rows of an iterator or of
    partitions are set aside in the folder while they are read.
target : name of a column
    What is to be predicted.
weight, group : names of columns, default=None
    How much rows count (rows of weight zero are left out), and which belong together.
ignore : names of columns, default=()
    Columns that are not trained on.
categorical_features : names of columns, default=None
    Columns of numbers to take as categories.
max_bins : int from 2 to 255, default=255
    Most bins of a column.
drop_missing_target : bool, default=False
    Leave rows without a target out, instead of refusing them.
overwrite : bool, default=False
    Replace a table that is in the folder already.
block_bytes : int, default=8388608
    Bytes of a block before it is compressed.
values : bool, default=False
    Write the numbers themselves as well, eight bytes each beside the byte of their code: forests need them.
temporary : bool, default=False
    Mark the table as one that whoever wrote it will remove, and that may be written over if that did not happen.
listener : callable, default=None
    A function that is called after every batch with the number of rows that were read, of all passes together.
n_jobs : int, default=None
    Threads; None for all.
"""
ROLES = ("target", "weight", "group")
# Beside them: what category each row has, of columns of more categories than there are codes for.
NUMBERS = "numbers {}"


@dataclass(frozen=True)
class WritePlan:
    """What `BlockTable.write` was asked for, checked."""

    columns: tuple[str, ...]
    roles: dict[str, str]  # columns by their role
    marked: tuple[str, ...]
    max_bins: int
    block_bytes: int
    drop_missing_target: bool
    threads: int
    values: bool = False
    ignored: tuple[str, ...] = ()
    temporary: bool = False
    listener: Callable[[int], None] = lambda _: None


class BlockTable:
    """A table on disk, in blocks of codes: gradient boosting and forests take it in the place of `X`, with the target inside.

    >>> blocks = woodwind.BlockTable.write("cache", "parts/*.parquet", target="y")  # doctest: +SKIP
    >>> woodwind.GradientBoostingClassifier().fit(blocks)  # doctest: +SKIP

    Parameters
    ----------
    path : path
        The folder that a table was written to.
    """

    schema: Schema
    cuts: Cuts

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        manifest = _manifest(self.path)
        try:
            self._read(manifest)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise DataError(
                f"BlockTable: {MANIFEST} in {str(self.path)!r} is not as it was written ({error}). Write the table anew."
            ) from error

    def _read(self, manifest: dict[str, Any]) -> None:
        """Take in what the manifest says, and prove that it can be so."""
        self.folders = [self.path / str(folder) for folder in manifest["folders"]]
        self.token = str(manifest["token"])  # drawn anew whenever a table is written
        files = [StoredFile.from_dict(one, len(self.folders)) for one in manifest["files"]]
        self.blocks = [one for one in files if one.name.startswith("block-")]
        self.value_files = [one for one in files if one.name.startswith("value-")]
        (self._rows_file,) = [one for one in files if one.name.startswith("rows-")]
        self.schema = Schema.from_dict(manifest["schema"]).check()
        edges = tuple(np.array([float.fromhex(number) for number in of_one]) for of_one in manifest["edges"])
        counts = self.schema.code_counts
        n_bins = np.array([count or len(edge) + 1 for count, edge in zip(counts.tolist(), edges, strict=True)], np.int32)
        category = counts > 0
        self.cuts = Cuts(edges, category, n_bins, width_for(n_bins, category)).check()
        self.n_rows, self.max_bins = int(manifest["rows"]), int(manifest["max_bins"])
        if self.n_rows != sum(one.rows for one in self.blocks) or self.n_rows != self._rows_file.rows or self.n_rows < 1:
            raise ValueError("its numbers of rows differ")
        if self.value_files and self.n_rows != sum(one.rows for one in self.value_files):
            raise ValueError("it has numbers of other rows")
        if any(one.packed or one.size != 8 * one.rows * self.n_features for one in self.value_files):
            raise ValueError("its numbers have another size than they should")
        self.roles = {str(role): str(name) for role, name in manifest["roles"].items() if role in ROLES}
        self.bytes_read = int(manifest["source_bytes"])
        self._checked: set[int] = set()  # files of numbers
        self.ignored = tuple(str(name) for name in manifest.get("ignored", ()))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.cuts.n_bins)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, self.n_features

    @property
    def n_bytes(self) -> int:
        """Bytes on disk."""
        return sum(one.size for one in self._files)

    @property
    def _files(self) -> tuple[StoredFile, ...]:
        return (*self.blocks, *self.value_files, self._rows_file)

    @property
    def layout(self) -> Codes:
        """The columns of the codes, and no rows."""
        stride = shared_stride(self.cuts.n_bins)
        places = positions_in_row(self.cuts.n_bins, stride)
        return Codes(aligned_rows(0, stride), self.cuts.n_bins, self.cuts.width, self.cuts.is_category, places)

    def __repr__(self) -> str:
        size = f"{self.n_bytes / 1e6:,.1f} MB"
        return f"BlockTable({str(self.path)!r}: {self.n_rows:,} x {self.n_features}, {counted(len(self.blocks), 'block')}, {size})"

    def _column(self, role: str) -> Any:
        raw = read_stored(self.folders, self._rows_file, check=True)
        with pa.ipc.open_stream(pa.BufferReader(raw)) as stream:
            table = stream.read_all()
        return table.column(role) if role in table.column_names else None

    @property
    def target(self) -> NDArray[Any]:
        """(n,) the target, as it came: numbers, truth values, or an array of objects for text."""
        return as_array(self._column("target"))

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """(n,) how much each row counts; None for one each."""
        column = self._column("weight")
        return None if column is None else np.asarray(column.to_numpy(), np.float64)

    @property
    def groups(self) -> NDArray[Any] | None:
        """(n,) which rows belong together; None where no column says so."""
        column = self._column("group")
        return None if column is None else as_array(column)

    def category_numbers(self, feature: int) -> NDArray[np.int32] | None:
        """(n,) the number of the category of each row, -1 for missing ones; None where each category has a code, which is its number."""
        column = self._column(NUMBERS.format(feature))
        return None if column is None else np.asarray(column.to_numpy(), np.int32)

    def cells(self, number: int, feature: int, begin: int, end: int) -> NDArray[np.float64]:
        """The numbers of a feature in rows begin to end of a file of numbers, those of categories as doubles.

        The file is compared with its checksum when it is first read.
        """
        one = self.value_files[number]
        if number not in self._checked:
            read_stored(self.folders, one, check=True)
            self._checked.add(number)
        cells = read_part(self.folders, one, 8 * (feature * one.rows + begin), 8 * (end - begin))
        return cells.view(np.float64)

    def codes(self, number: int, raw: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """The codes of a block (rows, stride); `raw` are its bytes on disk, if they have been read already."""
        one = self.blocks[number]
        return unpacked(read_stored(self.folders, one, check=True) if raw is None else raw, one, self.layout.by_row.shape[1], self.folders)

    @property
    def fingerprint(self) -> str:
        """A digest of everything in it: the same for the same table, whenever and wherever it was written."""
        files = [(one.name.split("-")[0], one.rows, one.size, one.crc) for one in self._files]
        edges = [[number.hex() for number in edge.tolist()] for edge in self.cuts.edges]
        return hashlib.sha256(json.dumps([self.schema.to_dict(), edges, self.roles, files]).encode()).hexdigest()

    @staticmethod
    def is_temporary(path: str | os.PathLike[str]) -> bool:
        """Whether a folder holds a table that was written as a temporary one, or one that was not finished.

        Parameters
        ----------
        path : path
            The folder.
        """
        home = Path(path)
        if not (home / MANIFEST).exists():
            return (home / PREPARING).exists()
        return _manifest(home).get("temporary") is True

    @staticmethod
    def remove(path: str | os.PathLike[str]) -> None:
        """Remove a table, or what is left of one, file by file by the names that it has written; its folder too, if that is empty then.

        Parameters
        ----------
        path : path
            The folder that a table was written to.
        """
        home = Path(path)
        folders = remove_written(home)
        for folder in {*folders, home}:
            with suppress(OSError):  # something else is in it, or it is gone
                folder.rmdir()

    @property
    def without_rows(self) -> pa.Table:
        """A table of Arrow with the names of its columns and no rows."""
        return pa.table({name: pa.nulls(0) for name in self.schema.names or ()})

    def column(self, role: str) -> pa.ChunkedArray | None:
        """The column of a role ("target", "weight" or "group") as it came, of Arrow; None where there is none."""
        found: pa.ChunkedArray | None = self._column(role)
        return found

    def verify(self) -> "BlockTable":
        """Read every file and compare its checksum; returns self, or raises DataError for the first that is damaged."""
        for one in self._files:
            read_stored(self.folders, one, check=True)
        return self

    OWNER: ClassVar[str] = "BlockTable"

    @classmethod
    @fill_docstring(arguments=WRITE_ARGUMENTS)
    def write(  # noqa: PLR0913  the names are the user's: there is no object to put them in
        cls,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        source: Any,
        *,
        target: str,
        weight: str | None = None,
        group: str | None = None,
        ignore: Sequence[str] = (),
        categorical_features: Any = None,
        max_bins: int = MOST_BINS,
        drop_missing_target: bool = False,
        overwrite: bool = False,
        block_bytes: int = BLOCK_BYTES,
        values: bool = False,
        temporary: bool = False,
        listener: Callable[[int], None] | None = None,
        n_jobs: int | None = None,
    ) -> "BlockTable":
        """Read a table a batch at a time, and write it in blocks of codes.

        Schema and bins are those that `fit` would find with the whole table in memory, and so is a model that is trained on the blocks.
        What is interrupted leaves nothing that is used: call again.

        Parameters
        ----------
        {arguments}

        Returns
        -------
        BlockTable
        """
        folders = [Path(one) for one in ([path] if isinstance(path, str | os.PathLike) else path)]
        if not folders or len({os.path.abspath(folder) for folder in folders}) < len(folders):
            raise ParameterError("BlockTable: path must be one folder or several different ones.")
        for name, value, low, high in (("max_bins", max_bins, 2, MOST_BINS), ("block_bytes", block_bytes, 1, 1 << 31)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
                raise ParameterError(f"BlockTable: {name} must be an integer from {low} to {high:,}, but it is {value!r}.")
        given, left_out = {"target": target, "weight": weight, "group": group}, (ignore,) if isinstance(ignore, str) else tuple(ignore)
        with BlockWriter(folders, overwrite) as writer:
            opened = open_source(source, writer.aside, lambda files: TextSource(files, left_out=left_out))
            roles = {role: name for role, name in given.items() if name is not None}
            columns = _columns(opened, roles, left_out)
            marked = tuple(marked_columns(categorical_features, columns))
            threads = usable_threads(n_jobs)
            plan = WritePlan(
                columns, roles, marked, int(max_bins), int(block_bytes), drop_missing_target, threads, bool(values), left_out,
                bool(temporary), listener or (lambda _: None),
            )  # fmt: skip
            _write(opened, plan, writer)
        return cls(folders[0])


def _columns(source: BatchSource, roles: dict[str, str], ignore: Sequence[str]) -> tuple[str, ...]:
    """The columns to learn from; an error for names that are not there."""
    names = source.schema.names
    unread = getattr(source, "left_out", ())  # of text files, columns that are ignored are not even looked at
    for name in (*roles.values(), *ignore):
        if name not in names and name not in unread:
            near = nearest(name, names)
            raise DataError(
                f"BlockTable: the table has no column {name!r}.{f' Did you mean {near[0]!r}?' if near else ''} "
                f"Its columns are {', '.join(names[:10])}."
            )
    others = {*roles.values(), *ignore}
    left = tuple(name for name in names if name not in others)
    if not left:
        raise DataError("BlockTable: no column is left to learn from. Give a table with more columns than the target.")
    return left


def _write(source: BatchSource, plan: WritePlan, writer: BlockWriter) -> None:
    """Three passes: what the columns are; where their numbers are cut; and the codes."""
    seen = SeenSchema(source.schema, plan.columns, plan.marked)
    rows = _rows_of(source, plan, seen)
    n_rows, weight = rows.num_rows, None
    if "weight" in plan.roles:
        weight = integer_weights(np.asarray(rows.column("weight").to_numpy(), np.float64))
        seen = SeenSchema(source.schema, plan.columns, plan.marked)
        for batch, begin in _kept(source, plan, tuple(seen.looked_at)):
            seen.add(batch, weight[begin : begin + batch.num_rows])
    schema = seen.schema()
    numbers, table = None, None
    for batch, begin in _kept(source, plan, plan.columns):
        table = schema.read(batch.select(list(plan.columns)))
        numbers = numbers or SeenNumbers(table, plan.threads)
        numbers.add(table, None if weight is None else weight[begin : begin + table.n_rows])
    if numbers is None or table is None:
        raise changed_source("the source")
    cuts = numbers.cuts(table, plan.max_bins)
    for feature, of_rows in _write_blocks(source, plan, writer, (schema, cuts), n_rows).items():
        rows = rows.append_column(NUMBERS.format(feature), pa.array(of_rows))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_table(rows)
    writer.add(f"rows-{writer.token}.arrow", n_rows, sink.getvalue(), pack=False)
    source.check_unchanged()
    edges = [[number.hex() for number in edge.tolist()] for edge in cuts.edges]
    writer.finish({
        "rows": n_rows, "max_bins": plan.max_bins, "roles": plan.roles, "schema": schema.to_dict(), "edges": edges,
        "source_bytes": n_rows * len(plan.columns) * 8, "ignored": list(plan.ignored),
        "temporary": plan.temporary,
    })  # fmt: skip


def _rows_of(source: BatchSource, plan: WritePlan, seen: SeenSchema) -> pa.Table:
    """Target, weight and group of every row, by their roles; what the columns are is seen on the way."""
    wanted = tuple(dict.fromkeys([*plan.roles.values(), *seen.looked_at]))
    found, missing, total = [], 0, 0
    for batch in source.batches(list(wanted)):
        plan.listener(batch.num_rows)
        absent = missing_rows(batch.column(plan.roles["target"]))
        missing, total = missing + int(absent.sum()), total + batch.num_rows
        kept = _filtered(batch, plan)
        if "weight" not in plan.roles:
            seen.add(kept, None)
        own = {role: kept.column(name) for role, name in plan.roles.items()}
        if "weight" in own and kept.num_rows:
            own["weight"] = pa.chunked_array([read_weights(own["weight"], plan.roles["weight"])])
        found.append(pa.table({role: _plain(column) for role, column in own.items()}))
    if missing and not plan.drop_missing_target:
        raise DataError(
            f"BlockTable: the target {plan.roles['target']!r} is missing in {missing:,} of {total:,} rows. Give it, or leave such rows out "
            "with drop_missing_target=True."
        )
    rows = pa.concat_tables(found, promote_options="permissive") if found else pa.table({"target": []})
    if rows.num_rows == 0:
        raise DataError("BlockTable: the table has no rows to learn from. Look at the step that made it.")
    return rows.combine_chunks()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without a dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _filtered(batch: pa.Table, plan: WritePlan) -> pa.Table:
    """The rows that are trained on."""
    keep = ~missing_rows(batch.column(plan.roles["target"])) if plan.drop_missing_target else np.ones(batch.num_rows, np.bool_)
    if "weight" in plan.roles:
        weights = batch.column(plan.roles["weight"]).to_numpy()
        keep &= ~(weights == 0)
    return batch if keep.all() else batch.filter(pa.array(keep))


def _kept(source: BatchSource, plan: WritePlan, columns: tuple[str, ...]) -> Iterator[tuple[pa.Table, int]]:
    """Batches of the rows that are trained on, and the number of the first row of each."""
    filters = plan.drop_missing_target or "weight" in plan.roles
    wanted = dict.fromkeys(
        [*columns, *([plan.roles["target"]] if filters else []), *([plan.roles["weight"]] if "weight" in plan.roles else [])]
    )
    begin = 0
    for batch in source.batches(list(wanted)):
        plan.listener(batch.num_rows)
        some = _filtered(batch, plan) if filters else batch
        if some.num_rows:
            yield some, begin
            begin += some.num_rows


def _write_blocks(
    source: BatchSource, plan: WritePlan, writer: BlockWriter, how: tuple[Schema, Cuts], n_rows: int
) -> dict[int, NDArray[np.int32]]:
    """Codes of all rows, in blocks of equal size, and the numbers if they are wanted. Returns the numbers of the categories of all rows, by
    feature, of columns that have more of them than there are codes.
    """
    schema, cuts = how
    stride, n_features = shared_stride(cuts.n_bins), len(cuts.n_bins)
    codes = _Filled(aligned_rows(min(max(1, plan.block_bytes // stride), n_rows), stride), writer.add_block)
    codes.room[:] = 0
    size = min(max(1, plan.block_bytes // (8 * n_features)), n_rows) if plan.values else 0
    values = _Filled(np.empty((size, n_features)), lambda rows: writer.add_values(rows.T))
    numbers = {feature: np.empty(n_rows, np.int32) for feature in np.flatnonzero(schema.category_counts > MOST_CODES).tolist()}
    categories, written = np.flatnonzero(cuts.is_category).tolist(), 0
    for batch, begin in _kept(source, plan, plan.columns):
        table = schema.read(batch.select(list(plan.columns)))
        coded = cuts.encode(table, plan.threads)
        if any((coded.column(feature) == coded.unseen).any() for feature in categories) or begin + table.n_rows > n_rows:
            raise changed_source("the source")
        codes.add(coded.by_row, coded.places)
        for feature, of_rows in numbers.items():
            of_rows[begin : begin + table.n_rows] = _numbers(table, feature)
        if plan.values:
            cells = [_numbers(table, f) if f in categories else table.columns[f].block(0, table.n_rows) for f in range(n_features)]
            values.add(np.stack(cells, axis=1).astype(np.float64), np.arange(n_features))
        written = begin + table.n_rows
    codes.finish()
    values.finish()
    if written != n_rows:
        raise changed_source("the source")
    return numbers


def _numbers(table: Table, feature: int) -> NDArray[np.int32]:
    """The number of the category of each row."""
    read: Any = table.columns[feature].category_numbers
    return np.asarray(read(0, table.n_rows), np.int32)


class _Filled:
    """Room for the rows of a block, which is written when it is full."""

    def __init__(self, room: NDArray[Any], write: Callable[[NDArray[Any]], None]) -> None:
        self.room, self._write, self._filled = room, write, 0

    def add(self, rows: NDArray[Any], columns: NDArray[np.int64]) -> None:
        """Some more rows: these of their columns."""
        done = 0
        while done < len(rows):
            some = min(len(self.room) - self._filled, len(rows) - done)
            self.room[self._filled : self._filled + some, columns] = rows[done : done + some][:, columns]
            self._filled, done = self._filled + some, done + some
            if self._filled == len(self.room):
                self.finish()

    def finish(self) -> None:
        """Write what is there."""
        if self._filled:
            self._write(self.room[: self._filled])
        self._filled = 0


def as_array(column: Any) -> NDArray[Any]:
    """A column of any type as NumPy has it: text as objects."""
    found: NDArray[Any] = column.to_numpy()
    return found


def _manifest(folder: Path) -> dict[str, Any]:
    """What stands in the manifest of a folder."""
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError as error:
        why = "its preparation was interrupted: write it again" if (folder / PREPARING).exists() else "write one with BlockTable.write"
        raise DataError(f"BlockTable: there is no table of blocks in {str(folder)!r}; {why}.") from error
    except (OSError, ValueError) as error:
        raise DataError(f"BlockTable: {MANIFEST} in {str(folder)!r} cannot be read: {error}. Write the table anew.") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise DataError(f"BlockTable: {MANIFEST} in {str(folder)!r} is not of a table of blocks, or of a later version of Woodwind.")
    return content
