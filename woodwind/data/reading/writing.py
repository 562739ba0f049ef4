"""Predictions as a file: CSV, TSV, Parquet or Feather by its name, packed by gzip or not, whole or not at all."""

import gzip
import io
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet

from woodwind.base.atomic import write_file
from woodwind.base.errors import FormulaWarning
from woodwind.base.notice import notice
from woodwind.data.tables.table_errors import listed, table_error

# A cell that begins like this is a formula to a spreadsheet.
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def write_predictions(
    path: str | os.PathLike[str], columns: Mapping[str, Any], *, stream: TextIO | None = None, guard_formulas: bool = False
) -> None:
    """Write columns of equal length as a table.

    Parameters
    ----------
    path : path, or "-" for CSV on a stream
        The ending says what is written: .csv, .tsv, .parquet, .feather or .arrow; .csv.gz and .tsv.gz are packed. A file is whole or not
        there: what was there before stays until the new one is complete.
    columns : names and one-dimensional arrays
    stream : text stream, optional
        Where "-" goes; standard output by default.
    guard_formulas : bool, default=False
        Whether text cells that begin with = + - or @ get an apostrophe before them, so that no spreadsheet runs them as formulas. By
        default every cell is written as it is, because a label must read back as the label that it was; you are warned where one looks
        like a formula.
    """
    named = os.fspath(path)
    write = _writer(named)
    table = _table(columns)
    if write in (_as_csv, _as_tsv):
        table = _guarded(table, guard_formulas)
    if named == "-":
        (sys.stdout if stream is None else stream).write(_as_csv(table).decode())
        return
    content = write(table)
    if named.lower().endswith(".gz"):
        content = gzip.compress(content, 6, mtime=0)
    try:
        write_file(named, [content])
    except OSError as error:
        raise _not_written(named, error) from error


def _not_written(named: str, error: OSError) -> Exception:
    return table_error(
        "F020",
        f"{named!r} could not be written: {error.strerror or error}.",
        "A file of that name, if there was one, is as it was.",
        "look at the folder, its permissions and the space on the disk.",
    )


def write_prediction_batches(path: str | os.PathLike[str], batches: Iterable[Mapping[str, Any]], stream: TextIO | None = None) -> None:
    """As `write_predictions`, of columns that come a part at a time: no more than one part is in memory."""
    named = os.fspath(path)
    write = _writer(named)
    if write in (_as_csv, _as_tsv):
        pieces = _text_pieces((_table(columns) for columns in batches), "\t" if write is _as_tsv else ",")
        if named == "-":
            for piece in pieces:
                (sys.stdout if stream is None else stream).write(piece.decode())
            return
        pieces = _packed(pieces) if named.lower().endswith(".gz") else pieces
    else:
        pieces = _table_pieces((_table(columns) for columns in batches), write is _as_parquet)
    try:
        write_file(named, pieces)
    except OSError as error:
        if error.filename != named:  # reading the rows went wrong, not writing them
            raise
        raise _not_written(named, error) from error


def _text_pieces(tables: Iterable[pa.Table], separator: str) -> Iterator[bytes]:
    """Tables as text, with the names above the first; text that looks like a formula is pointed out once."""
    is_told, is_first = False, True
    for table in tables:
        if not is_told:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", FormulaWarning)
                _guarded(table, guard=False)
            for one in told:
                notice(str(one.message), FormulaWarning)
                is_told = True
        yield _text(table, separator, is_first)
        is_first = False


def _packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces of one gzip file."""
    packer = zlib.compressobj(6, wbits=31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


class _Sink(io.RawIOBase):
    """A file that gives what is written to it on to whoever asks."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Take bytes in."""
        self._held.append(bytes(data))
        self._at += len(self._held[-1])
        return len(self._held[-1])

    def tell(self) -> int:
        """Bytes so far."""
        return self._at

    def taken(self) -> list[bytes]:
        """What has come in since the last time."""
        held, self._held = self._held, []
        return held


def _table_pieces(tables: Iterable[pa.Table], is_parquet: bool) -> Iterator[bytes]:
    """The bytes of a file of Parquet or Arrow, as they are made."""
    sink, writer, schema = _Sink(), None, None
    file = pa.PythonFile(sink, mode="w")
    for table in tables:
        if writer is None or schema is None:
            schema = table.schema
            writer = pa.parquet.ParquetWriter(file, schema) if is_parquet else pa.ipc.new_file(file, schema)
        writer.write_table(table.cast(schema))
        yield from sink.taken()
    if writer is not None:
        writer.close()
    yield from sink.taken()


def _writer(named: str) -> Callable[[pa.Table], bytes]:
    low = named.lower()
    plain = low.removesuffix(".gz")
    ending = os.path.splitext(plain)[1]
    if named == "-":
        return _as_csv
    if ending not in _WRITERS or (plain != low and ending not in (".csv", ".tsv", ".txt")):
        raise table_error(
            "F019",
            f"{named!r} ends in {os.path.splitext(low)[1] or 'nothing'!r}.",
            "The ending says what kind of file is to be written.",
            f"let it end in one of {', '.join(_WRITERS)}, or in .csv.gz or .tsv.gz.",
        )
    return _WRITERS[ending]


def _as_csv(table: pa.Table) -> bytes:
    return _text(table, ",")


def _as_tsv(table: pa.Table) -> bytes:
    return _text(table, "\t")


def _text(table: pa.Table, separator: str, with_names: bool = True) -> bytes:
    """The table as text: NaN as an empty cell, numbers with as many digits as bring them back, quotes where a cell needs them."""
    names = _quoted(pa.array(table.column_names, pa.string()), separator).to_pylist()
    cells = [_quoted(_plain_text(column), separator) for column in table.columns]
    if len(cells) == 1:  # where a missing value would be a blank line
        cells = [pc.if_else(pc.equal(cells[0], ""), '""', cells[0])]
    lines = pc.binary_join_element_wise(*cells, separator) if cells else pa.array([], pa.string())
    above = [separator.join(names)] if with_names else []
    return ("\n".join([*above, *lines.to_pylist()]) + "\n").encode()


def _plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Every value as it is written, missing ones as nothing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return pc.fill_null(column.cast(pa.string()), "")


def _quoted(cells: pa.Array, separator: str) -> pa.Array:
    """Cells that hold the separator, quotes or line ends in quotes."""
    needed = pc.match_substring_regex(cells, f'["\r\n{separator}]')
    if not pc.any(needed).as_py():
        return cells
    return pc.if_else(needed, pc.binary_join_element_wise('"', pc.replace_substring(cells, '"', '""'), '"', ""), cells)


def _as_parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(table, sink)
    return bytes(sink.getvalue())


def _as_feather(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pa.feather.write_feather(table, sink, compression="uncompressed")
    return bytes(sink.getvalue())


_WRITERS = {
    ".csv": _as_csv,
    ".tsv": _as_tsv,
    ".txt": _as_csv,
    ".parquet": _as_parquet,
    ".feather": _as_feather,
    ".arrow": _as_feather,
}


def _table(columns: Mapping[str, Any]) -> pa.Table:
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[str(name)] = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(np.asarray(values))
        except (pa.ArrowException, TypeError, ValueError):
            arrays[str(name)] = pa.array([None if value is None else str(value) for value in values])
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        what = f"columns differ in length: {listed([f'{name}: {length}' for name, length in lengths.items()])}."
        raise table_error("F021", what, "A table has one value for each row and column.", "give columns of equal length.")
    return pa.table(arrays)


def _guarded(table: pa.Table, guard: bool) -> pa.Table:
    """Text that a spreadsheet would run: guarded by an apostrophe if asked, else pointed out."""
    found = []
    for position, name in enumerate(table.column_names):
        column = table.column(position)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        odd = pc.fill_null(pc.and_not(pc.match_substring_regex(column, _FORMULA), pc.match_substring_regex(column, _NUMBER)), False)
        if not pc.any(odd).as_py():
            continue
        found.append(name)
        if guard:
            marked = pc.binary_join_element_wise(pa.scalar("'", column.type), column, pa.scalar("", column.type))
            table = table.set_column(position, name, pc.if_else(odd, marked, column))
    if found and not guard:
        notice(
            f"{listed(found)} {'holds' if len(found) == 1 else 'hold'} text that begins with =, +, - or @, which a spreadsheet would run "
            "as a formula. It is written as it is; guard_formulas=True puts an apostrophe before it.",
            FormulaWarning,
        )
    return table
