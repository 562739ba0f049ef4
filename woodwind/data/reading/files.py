"""Files as one table: CSV and its relatives, Parquet, Feather and Arrow, compressed or not, told apart by what is in them."""

import os
import re
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from woodwind.base.did_you_mean import nearest
from woodwind.data.reading.csv_file import TextFile, Watch, open_text, read_texts, unwatched
from woodwind.data.reading.sources import READ_ERRORS, FilePath, Source, damaged, find_sources, kind_of_contents
from woodwind.data.reading.written_schema import WrittenSchema
from woodwind.data.tables.convert import CATEGORY
from woodwind.data.tables.table_errors import listed, repeated_names, table_error

# Columns of Parquet that are read together at least, and values.
_LEAST_COLUMNS, _AT_ONCE = 16, 1 << 25


def read_table(
    source: FilePath | Sequence[FilePath],
    *,
    schema: WrittenSchema | None = None,
    columns: Sequence[str] | None = None,
    as_text: Collection[str] = (),
    header: bool | None = None,
    separator: str | None = None,
    watch: Watch = unwatched,
) -> pa.Table:
    """Read one table from one or several files.

    Parameters
    ----------
    source : path, pattern such as "parts/*.csv", list of these, or "-" for CSV on standard input
        What a file is, is told by its contents: CSV, TSV and other separators, Parquet, Feather, Arrow; plain or packed by gzip, bzip2,
        zstd, lz4, xz or zip. Several files are read one below another; their columns are matched by name.
    schema : WrittenSchema, optional
        What columns are and what they are for, as written down; see `WrittenSchema`. Columns that it does not mention are found out about.
    columns : names, optional
        Which columns to read, in this order. The others are not looked at.
    as_text : names, optional
        Columns of text files to be left as they are written, whatever they look like: those that a model knows as text, see
        `text_columns`. Names that a file does not have are no error.
    header : bool, optional
        Whether text files begin with the names of the columns. By default their first line is looked at, and you are told if it holds none.
    separator : one character, optional
        What stands between the cells of text files. By default it is found out: comma, semicolon, tab or bar.
    watch : function, optional
        Called after every part that was read. Whoever has no time left raises an exception there.

    Returns
    -------
    pyarrow.Table
        Types of text files are found by looking at every cell, never at the first ones only.

    Raises
    ------
    TableError
        With a code that begins with WW-F, the file, the line where there is one, and what to do.
    """
    sources = find_sources(source)
    kinds = [(one, kind_of_contents(one)) for one in sources]
    opened = [open_text(one, header, separator) if kind == "text" else _BinaryFile(one, kind) for one, kind in kinds]
    names = _common_names(opened, columns)
    if schema is not None:
        _check_schema(schema, opened[0])
        ignored = set(schema.ignored)
        names = [name for name in names if name not in ignored]
        as_text = {*as_text, *schema.as_text}
    table = _joined(_parts(opened, names, as_text, watch), opened)
    if table.num_rows == 0:
        raise table_error(
            "F014",
            f"{listed_files(opened)} {'has' if len(opened) == 1 else 'have'} columns and not a single row.",
            "There is no table to read.",
            "look at the step that wrote the file; if its only line is data, put a line with names above it.",
        )
    return table if schema is None else schema.apply(table)


def text_columns(schema: Any) -> tuple[str, ...]:
    """The columns that a `Schema`, which a model has learned, knows as categories of text.

    A text file of a few rows may hold nothing but 7 or None in such a column, which would be read as a number or as missing.
    """
    fields = zip(schema.names or (), schema.fields, strict=False)
    return tuple(name for name, field in fields if field.kind == CATEGORY and field.categories.is_text)


def _check_schema(schema: WrittenSchema, first: "TextFile | _BinaryFile") -> None:
    there = set(first.names)
    missing = [column.name for column in schema.columns if column.name not in there and not column.is_ignored]
    if missing:
        raise unknown_columns(first.source.name, missing, first.names)


def _parts(files: "Sequence[TextFile | _BinaryFile]", names: Sequence[str], as_text: Collection[str], watch: Watch) -> list[pa.Table]:
    """The tables of the files, in their order; the columns of all text files have the same types."""
    texts = [file for file in files if isinstance(file, TextFile)]
    common = read_texts(texts, names, as_text, watch) if texts else pa.table({})
    if len(texts) == len(files):
        return [common]
    parts, begin = [], 0
    for file in files:
        if isinstance(file, TextFile):
            parts.append(common.slice(begin, file.n_rows))
            begin += file.n_rows
        else:
            parts.append(file.read(names, watch))
    return parts


class _BinaryFile:
    """A file of Parquet, Feather or Arrow."""

    def __init__(self, source: Source, kind: str) -> None:
        self.source = source
        self.kind = kind
        try:
            self._open()
        except READ_ERRORS as error:
            raise damaged(source, error) from error
        repeated = repeated_names(self.names)
        if repeated:
            raise table_error(
                "F008",
                f"column names are repeated in {source.name}: {listed(repeated)}.",
                "Columns are matched by name, so that each must have one of its own.",
                "rename or drop the columns that are there twice.",
            )

    def _open(self) -> None:
        self.table: pa.Table | None = None
        if self.kind == "parquet":
            self.parquet = pa.parquet.ParquetFile(self.source.anywhere())
            self.names = _without_index(self.parquet.schema_arrow.names)
            return
        whole = pa.BufferReader(self.source.whole())
        if self.kind == "arrow stream":
            self.table = pa.ipc.open_stream(whole).read_all()
        else:
            self.table = pa.feather.read_table(whole)
        self.names = _without_index(self.table.column_names)

    def read(self, names: Sequence[str], watch: Watch = unwatched) -> pa.Table:
        """Some columns, in the order of the names."""
        try:
            chosen = self._read_parquet(names, watch) if self.table is None else self.table.select(list(names))
            chosen.validate(full=True)  # a damaged file must not be met by a crash later on
        except (*READ_ERRORS, KeyError) as error:
            raise damaged(self.source, error) from error
        return chosen.replace_schema_metadata(None)

    def _read_parquet(self, names: Sequence[str], watch: Watch) -> pa.Table:
        """The same, some columns after others: each time enough to keep all threads busy."""
        size = max(_LEAST_COLUMNS, _AT_ONCE // max(self.parquet.metadata.num_rows, 1))
        parts = []
        for begin in range(0, max(len(names), 1), size):
            some = list(names[begin : begin + size])
            parts.append(self.parquet.read(columns=some).select(some))
            watch()
        if len(parts) == 1:
            return parts[0]
        fields = [field for part in parts for field in part.schema]
        return pa.table([column for part in parts for column in part.columns], schema=pa.schema(fields))


def _without_index(names: Sequence[str]) -> list[str]:
    """The names without those that pandas gives to an index that has none: to pandas it is no column either."""
    return [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]


def _common_names(files: Sequence[TextFile | _BinaryFile], columns: Collection[str] | None) -> list[str]:
    """The columns to read: those asked for, else those of the first file; every file must have them all, and no others."""
    first, there = files[0], set(files[0].names)
    if columns is not None:
        missing = [name for name in columns if name not in there]
        if missing:
            raise unknown_columns(first.source.name, missing, first.names)
    for file in files[1:]:
        wanted, here = list(columns) if columns is not None else first.names, set(file.names)
        lacking = [name for name in wanted if name not in here]
        more = [name for name in file.names if name not in there] if columns is None else []
        if lacking or more:
            told = [f"lacks {listed(lacking)}" if lacking else "", f"has {listed(more)}" if more else ""]
            raise table_error(
                "F010",
                f"{file.source.name} {' and '.join(filter(None, told))}, unlike {first.source.name}.",
                "Files that are read as one table must have the same columns; their order does not matter.",
                "leave the file out, rename its columns, or read only the columns that all files have with columns=[...].",
            )
    return list(columns) if columns is not None else list(first.names)


def unknown_columns(where: str, missing: Sequence[str], there: Sequence[str]) -> Exception:
    """The error for columns that a file does not have; it points at names that are nearly right."""
    near = [one for name in missing[:3] for one in nearest(name, there)]
    return table_error(
        "F011",
        f"{where} has no column {listed(missing)}; its columns are {listed(there, 10)}.",
        "Columns go by their names, capitals and all.",
        f"did you mean {listed(near)}?" if near else "look at its first line.",
    )


def listed_files(files: Sequence[TextFile | _BinaryFile]) -> str:
    """The files, for a message."""
    return files[0].source.name + (f" and {len(files) - 1:,} more" if len(files) > 1 else "")


def _joined(parts: Sequence[pa.Table], files: Sequence[TextFile | _BinaryFile]) -> pa.Table:
    """Tables one below another; numbers of several sizes become the largest."""
    if len(parts) == 1:
        return parts[0]
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        types = {name: {str(part.schema.field(name).type) for part in parts} for name in parts[0].column_names}
        differing = {name: kinds for name, kinds in types.items() if len(kinds) > 1}
        shown = "; ".join(f"{name!r} is {' or '.join(sorted(kinds))}" for name, kinds in list(differing.items())[:3])
        raise table_error(
            "F018",
            f"{listed_files(files)} cannot be read as one table: {shown or error}.",
            "A column has one type.",
            "convert the column to one type in all files.",
        ) from error


def is_path(value: object) -> bool:
    """Whether something says where a table is, rather than being one: a path, a pattern, or a list of these."""
    if isinstance(value, (str, os.PathLike)):
        return True
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, (str, os.PathLike)) for item in value)
