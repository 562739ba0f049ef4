"""Sources of rows that can be read again and again, a batch at a time: files, datasets, frames, iterators of frames.

A source says the names and types of its columns before any batch is read, and gives the same rows in the same order every time. Files are
looked at before and after: one that has changed in between makes an error, not a table of two halves.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

from woodwind.base.errors import DataError
from woodwind.data.reading.files import is_path
from woodwind.data.reading.sources import READ_ERRORS, Source, damaged, find_sources, kind_of_contents
from woodwind.data.tables.convert import open_columns
from woodwind.data.tables.frames import open_table
from woodwind.data.tables.raw import Coded, LazyColumn, SparseColumn

# A batch has about so many values, and rows within these bounds.
BATCH_VALUES, FEWEST_ROWS, MOST_ROWS = 1 << 22, 1 << 10, 1 << 17


class BatchSource(Protocol):
    """Rows that can be read again and again."""

    schema: pa.Schema

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None where it is not known before they are read."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """All rows of some columns, in order, a batch at a time."""

    def check_unchanged(self) -> None:
        """Raise DataError if the rows are not those that they were."""


def batch_rows(n_columns: int) -> int:
    """Rows of a batch of so many columns."""
    return max(FEWEST_ROWS, min(MOST_ROWS, BATCH_VALUES // max(n_columns, 1)))


def changed_source(name: str) -> DataError:
    """The error for a source that changes while it is read."""
    return DataError(
        f"BlockTable: {name} has changed while it was read, and what was read is of no use. Write the table again when nobody writes to it."
    )


class FileStamps:
    """What tells a file from a later one of its name."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._stamps = {path: self._stamp(path) for path in paths}

    @staticmethod
    def _stamp(path: str) -> tuple[int, int, int] | None:
        try:
            found = os.stat(path)
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ino

    def check(self) -> None:
        """Raise DataError if one of the files is not what it was."""
        for path, stamp in self._stamps.items():
            if self._stamp(path) != stamp:
                raise changed_source(repr(path))


class DatasetSource:
    """A dataset of Arrow: Parquet or Arrow files, or whatever else it is made of."""

    def __init__(self, dataset: Any, names: Sequence[Source] = ()) -> None:
        self._dataset, self._sources = dataset, list(names)
        self.schema: pa.Schema = dataset.schema
        self.n_rows = self._count() if self._sources else None
        self._stamps = FileStamps([path for path in getattr(dataset, "files", []) if os.path.exists(path)])

    def _count(self) -> int | None:
        """Rows of files that say how many they have."""
        try:
            return int(self._dataset.count_rows())
        except READ_ERRORS as error:
            raise damaged(self._sources[0], error) from error

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """All rows of some columns, in order; of Parquet, no more than a row group is in memory."""
        try:
            for part in self._parts():
                for batch in part(columns=list(columns), batch_size=batch_rows(len(columns)), batch_readahead=0, cache_metadata=False):
                    if batch.num_rows:
                        yield pa.Table.from_batches([batch])
        except READ_ERRORS as error:
            self.check_unchanged()
            source = self._sources[0] if self._sources else Source("the dataset", None)
            raise damaged(source, error) from error

    def _parts(self) -> Iterator[Callable[..., Any]]:
        """What reads the row groups, one after another: a scan of all of them reads gigabytes ahead, whatever it is told."""
        if getattr(self._dataset, "_scan_options", None) or not isinstance(self._dataset, pa.dataset.FileSystemDataset):
            yield partial(self._dataset.to_batches, fragment_readahead=0)
            return
        options = {}
        if isinstance(self._dataset.format, pa.dataset.ParquetFileFormat):
            options["fragment_scan_options"] = pa.dataset.ParquetFragmentScanOptions(pre_buffer=False)
        for fragment in self._dataset.get_fragments():
            groups = fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment]
            for group in groups:
                yield partial(group.to_batches, schema=self.schema, **options)

    def check_unchanged(self) -> None:
        """Raise DataError if a file is not what it was."""
        self._stamps.check()


class FrameSource:
    """A table in memory."""

    def __init__(self, table: pa.Table) -> None:
        self._table, self.schema, self.n_rows = table, table.schema, table.num_rows

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Slices of the table."""
        size = batch_rows(len(columns))
        some = self._table.select(list(columns))
        for begin in range(0, some.num_rows, size):
            yield some.slice(begin, size)

    def check_unchanged(self) -> None:
        """Nobody else has it."""


class StreamSource:
    """A stream of Arrow in a file of our own: rows that could be read once only, set aside."""

    def __init__(self, path: Path) -> None:
        self._path, self.n_rows = path, None
        with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as stream:
            self.schema = stream.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """The frames, in pieces of a batch."""
        size = batch_rows(len(columns))
        with pa.OSFile(str(self._path)) as file, pa.ipc.open_stream(file) as stream:
            for batch in stream:
                some = pa.Table.from_batches([batch]).select(list(columns))
                for begin in range(0, some.num_rows, size):
                    yield some.slice(begin, size)

    def check_unchanged(self) -> None:
        """Nobody else has it."""


def arrow_of(X: Any) -> pa.Table:
    """Any frame as a table of Arrow, categories with their order; DataError for one without names of columns."""
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    if isinstance(X, pa.Table):
        return X
    raw = open_table(X)
    if raw.names is None:
        raise DataError("BlockTable: the columns of the table have no names, so that the target cannot be found. Give a frame with names.")
    columns = []
    for column in open_columns(raw, check=False):
        values = column.values
        if isinstance(values, pa.ChunkedArray):
            columns.append(values)
        elif isinstance(values, Coded):
            dictionary = values.dictionary if isinstance(values.dictionary, pa.Array) else pa.array(values.dictionary)
            positions = pa.array(values.positions.astype(np.int32), mask=values.positions < 0)
            columns.append(pa.DictionaryArray.from_arrays(positions, dictionary, ordered=values.ordered))
        else:
            dense = values.dense() if isinstance(values, SparseColumn | LazyColumn) else values
            columns.append(pa.array(np.ascontiguousarray(dense)))
    return pa.table(columns, names=list(raw.names))


def set_aside(frames: Iterable[Any], path: Path) -> StreamSource:
    """Write frames that can be read once only to a file of our own, one at a time."""
    writer, schema, number = None, None, 0
    with pa.OSFile(str(path), "wb") as file:
        try:
            for number, frame in enumerate(frames, start=1):
                table = arrow_of(frame)
                if writer is None or schema is None:
                    schema = table.schema.remove_metadata()
                    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=False)
                    writer = pa.ipc.new_stream(file, schema, options=options)
                writer.write_table(_like(table, schema, number), max_chunksize=MOST_ROWS)
        finally:
            if writer is not None:
                writer.close()
    if schema is None:
        raise DataError("BlockTable: the iterator gave not a single frame. Give one that has not been used up.")
    return StreamSource(path)


def _like(table: pa.Table, schema: pa.Schema, number: int) -> pa.Table:
    """A frame with the columns and types of the first one."""
    if set(table.column_names) != set(schema.names) or table.num_columns != len(schema):
        raise DataError(f"BlockTable: frame {number:,} has other columns than the first: {', '.join(table.column_names[:10])}.")
    table = table.select(schema.names)
    try:
        return table.cast(schema)
    except (pa.ArrowException, ValueError) as error:
        differing = [name for name in schema.names if table.schema.field(name).type != schema.field(name).type]
        name = differing[0] if differing else schema.names[0]
        raise DataError(
            f"BlockTable: column {name!r} is of type {table.schema.field(name).type} in frame {number:,} and of type "
            f"{schema.field(name).type} in the first. Convert it to one type in all frames."
        ) from error


def open_files(files: list[Source], open_text: Callable[[list[Source]], BatchSource]) -> BatchSource | None:
    """Files that are all text, all Parquet or all Arrow, and can be read a part at a time; None for others."""
    kinds = {kind_of_contents(one) for one in files}
    if kinds == {"text"}:
        return open_text(files)
    plain = all(one.path is not None and not one.packing() for one in files)
    if not plain or kinds not in ({"parquet"}, {"arrow file"}):
        return None
    try:
        return DatasetSource(pa.dataset.dataset([one.path for one in files], format="parquet" if kinds == {"parquet"} else "ipc"), files)
    except READ_ERRORS as error:
        raise damaged(files[0], error) from error


def open_source(source: Any, aside: Path, open_text: Callable[[list[Source]], BatchSource]) -> BatchSource:
    """A source of any kind; rows that can be read once only are set aside in a file. `open_text` is for text files."""
    if isinstance(source, pa.dataset.Dataset):
        return DatasetSource(source)
    if isinstance(source, Path | str) and os.path.isdir(source):
        return DatasetSource(pa.dataset.dataset(os.fspath(source), format="parquet", partitioning="hive"))
    if is_path(source):
        files = find_sources(source)
        found = open_files(files, open_text)
        if found is not None:
            return found
        raise DataError(
            f"BlockTable: {files[0].name} cannot be read in batches: files must be all text, all Parquet or all Arrow, and the latter two "
            "not packed as a whole. Unpack them, or write them as Parquet."
        )
    if hasattr(source, "get_partition") and hasattr(source, "npartitions"):  # a data frame of Dask: one partition is in memory at a time
        frame = source
        source = (frame.get_partition(number).compute() for number in range(frame.npartitions))
    if callable(source):
        source = source()
    if isinstance(source, Iterator) or (isinstance(source, list | tuple) and source and _is_frame(source[0])):
        return set_aside(source, aside)
    return FrameSource(arrow_of(source))


def _is_frame(value: Any) -> bool:
    """Whether something in a list is a frame, not a row of numbers."""
    return isinstance(value, pa.Table | pa.RecordBatch) or hasattr(value, "columns")
