"""Text files as columns: CSV and its relatives, in any usual encoding, with types that hold for every file to the last line."""

import codecs
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.csv

from woodwind.base.errors import ReadingWarning
from woodwind.base.notice import notice
from woodwind.base.pool import LEAST_WORK, side_by_side, usable_threads
from woodwind.data.reading.csv_records import SEPARATORS, find_separator, is_header, records
from woodwind.data.reading.sources import READ_ERRORS, Source, damaged, empty
from woodwind.data.tables.dates import is_moment
from woodwind.data.tables.table_errors import listed, repeated_names, table_error
from woodwind.data.tables.text_dates import with_order
from woodwind.data.tables.text_types import GrowingColumn, add_together, resolve_type, text_buffers, written_order

# Bytes that are looked at to find the separator, and bytes that are read together.
_HEAD = 2**18
_BLOCK, _WIDE_BLOCK, _LARGEST_BLOCK = 2**23, 2**26, 2**31 - 1
_WIDE = 1_000
# The same of a file that is read a part at a time: Arrow reads up to 32 of these ahead of whoever is slower, 256 MB of the larger ones.
_STREAMED_BLOCK = 2**21
# Cells of several columns that are looked at in one go.
_TOGETHER = 2**16

# The longer mark of UTF-32 begins with that of UTF-16.
_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


Watch = Callable[[], None]


def unwatched() -> None:
    """Nobody waits for it."""


class _NotUtf8(Exception):
    """The text is in another encoding than was thought."""


class _TooLong(Exception):
    """A record is longer than a block."""


@dataclass
class TextFile:
    """One text file, and what was found out about how it is written."""

    source: Source
    separator: str
    n_cells: int  # of each record
    names: list[str]
    header: bool
    decoded: bytes | None = None  # as UTF-8, when it is something else or was changed
    n_rows: int = 0  # once it has been read
    columns: dict[str, GrowingColumn] = field(default_factory=dict)

    def stream(self) -> pa.NativeFile:
        """The text as UTF-8."""
        return self.source.open() if self.decoded is None else pa.BufferReader(self.decoded)

    def head(self, size: int) -> bytes:
        """The beginning of the text as UTF-8."""
        return self.source.head(size) if self.decoded is None else self.decoded[:size]

    def whole(self) -> bytes:
        """The text as UTF-8, all of it; for messages only."""
        text = self.source.whole().to_pybytes() if self.decoded is None else self.decoded
        return text.removeprefix(codecs.BOM_UTF8)


def open_text(source: Source, header: bool | None = None, separator: str | None = None) -> TextFile:
    """Look at the beginning of a text file: encoding, separator, names of the columns."""
    head = source.head(_HEAD)
    encoding = next((name for mark, name in _BOMS.items() if head.startswith(mark)), "utf-8")
    decoded = None if encoding == "utf-8" else _decoded(source, encoding)
    found = TextFile(source, ",", 1, [], header=True, decoded=decoded)
    predicted = re.match(rb"(?:\xef\xbb\xbf)?sep=([^\r\n\x80-\xff])(?=[\r\n])", head if decoded is None else decoded)
    if predicted:  # a line that spreadsheets write for each other; blank, it keeps its number
        found.decoded = found.whole().removeprefix(predicted[0].removeprefix(codecs.BOM_UTF8))
        separator = separator or predicted[1].decode()
    _look(found, header, separator)
    return found


def _look(file: TextFile, header: bool | None, separator: str | None) -> None:
    """Find separator and names; the text is decoded another way if it turns out not to be what was thought."""
    size = _HEAD
    while True:
        head = file.head(size)
        complete = len(head) < size
        text = head.removeprefix(codecs.BOM_UTF8)
        found = (separator, 0) if separator is not None else find_separator(text, complete)
        first = list(_first_records(text, found[0]))
        if complete or len(first) > 1:
            break
        size *= 8  # the first record is longer than that
    if not first:
        raise empty(file.source, "holds nothing but blank lines")
    file.separator, file.n_cells = found[0], first[0]
    if file.n_cells == 1:  # a blank line is a missing value there, except at the end and at the beginning
        file.decoded = file.whole().strip(b"\r\n") + b"\n"
    try:
        block = next(_batches(file, range(file.n_cells), size))
    except _NotUtf8:
        _fall_back(file)
        block = next(_batches(file, range(file.n_cells), size))
    cells = [column[0].as_py() for column in block.columns]
    file.header = is_header(cells) if header is None else header
    file.names = _names(file, cells) if file.header else [f"column_{position + 1}" for position in range(file.n_cells)]
    if file.n_cells == 1 and separator is None and all(len((cell or "").split()) > 1 for cell in block.column(0)[:5].to_pylist()):
        told = f"{file.source.name} is read as one column; if blanks separate its cells, write commas or tabs instead."
        notice(told, ReadingWarning)
    if header is None and not file.header:
        notice(
            f"{file.source.name} seems to have no header: its first line holds {listed(filter(None, cells))}. It is read as data, "
            "and the columns are called column_1, column_2 and so on. Put names above it; or, if these are names, say header=True.",
            ReadingWarning,
        )


def _first_records(text: bytes, separator: str) -> Iterator[int]:
    """The numbers of cells of the first two records."""
    for position, record in enumerate(records(text, separator)):
        if position > 1:
            return
        yield record.cells


def _names(file: TextFile, cells: Sequence[str | None]) -> list[str]:
    """The names of the columns; those without are called by their positions."""
    names = [(cell or "").strip() for cell in cells]
    taken = set(names)
    for position, name in enumerate(names):
        if not name:
            called = f"column_{position + 1}"
            while called in taken:
                called += "_"
            names[position] = called
            taken.add(called)
    repeated = repeated_names(names)
    if repeated:
        raise table_error(
            "F008",
            f"column names are repeated in the first line of {file.source.name}: {listed(repeated)}.",
            "Columns are matched by name, so that each must have one of its own.",
            "rename them in the file; if that line is data already, put a line with names above it, or say header=False.",
        )
    if any("\0" in name for name in names):
        raise _nul(file)
    return names


def _decoded(source: Source, encoding: str) -> bytes:
    """The text of a file in another encoding as UTF-8."""
    raw: bytes = source.whole().to_pybytes()
    try:
        return raw.decode(encoding).encode()
    except UnicodeError as error:
        raise table_error(
            "F015",
            f"{source.name} begins as {encoding.upper()} does, and is not: {error}.",
            "Its characters cannot be told.",
            "save it as UTF-8.",
        ) from error


def _fall_back(file: TextFile) -> None:
    """Read the text as Windows-1252, or as Latin-1 where that has no character for a byte; say so."""
    raw = file.whole()
    wrong = _first_wrong(raw)
    try:
        file.decoded, called = raw.decode("cp1252").encode(), "Windows-1252"
    except UnicodeDecodeError:
        file.decoded, called = raw.decode("latin-1").encode(), "Latin-1"
    line = raw.count(b"\n", 0, wrong) + 1
    told = f"{file.source.name} is not UTF-8 (line {line:,}); it is read as {called}. Save it as UTF-8 to be sure of its characters."
    notice(told, ReadingWarning)


def _first_wrong(raw: bytes) -> int:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def read_columns(file: TextFile, wanted: Sequence[str], as_text: Collection[str], watch: Watch = unwatched) -> None:
    """Read columns of a file, block by block, as numbers where they are, and as text where asked or where they are not."""
    block = _WIDE_BLOCK if file.n_cells > _WIDE else _BLOCK
    for _ in range(8):
        grown = {name: GrowingColumn(is_text=name in as_text) for name in wanted}
        try:
            _read_once(file, grown, block, watch)
        except _NotUtf8:
            _fall_back(file)
        except _TooLong:
            block = min(block * 8, _LARGEST_BLOCK)
        else:
            file.columns.update(grown)
            return
    what = f"a record of {file.source.name} is longer than 2 GB."
    raise table_error("F017", what, "It cannot be one row of a table.", "look for a quote that is never closed.")


def _read_once(file: TextFile, grown: dict[str, GrowingColumn], block: int, watch: Watch) -> None:
    """Add the blocks of the file to its columns."""
    where = {name: position for position, name in enumerate(file.names)}
    positions = [where[name] for name in grown]
    skip = int(file.header)
    file.n_rows = -skip
    last = None
    for batch in _batches(file, positions, block):
        last = batch
        file.n_rows += batch.num_rows
        parts = [array.slice(skip) for array in batch.columns]
        threads = usable_threads(None) if batch.num_rows * len(parts) > LEAST_WORK else 1
        columns, size = list(grown.values()), max(_TOGETHER // max(len(parts[0]), 1), 1)
        groups = [slice(begin, begin + size) for begin in range(0, len(columns), size)]
        side_by_side(lambda _, group: add_together(columns[group], parts[group]), groups, threads)  # noqa: B023  done before the next block
        if any(column.is_text and _has_nul(part) for column, part in zip(grown.values(), parts, strict=True)):
            raise _nul(file)
        skip = 0
        watch()
    if last is not None and last.num_rows and any("\n" in (column[-1].as_py() or "") for column in last.columns):
        _check_quotes(file)


def _batches(file: TextFile, positions: Sequence[int], block: int) -> Iterator[pa.RecordBatch]:
    """The file as blocks of text, nulls for empty cells; the header is the first row."""
    names = [f"f{position}" for position in positions]
    try:
        with file.stream() as stream:
            yield from pa.csv.open_csv(
                stream,
                pa.csv.ReadOptions(block_size=min(max(block, 2**12), _LARGEST_BLOCK), autogenerate_column_names=True),
                pa.csv.ParseOptions(delimiter=file.separator, newlines_in_values=True, ignore_empty_lines=file.n_cells > 1),
                pa.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), include_columns=names, strings_can_be_null=True, null_values=[""]
                ),
            )
    except pa.ArrowInvalid as error:
        ragged = re.search(r"Expected \d+ columns, got (\d+)", str(error))
        if ragged:
            raise _ragged(file, int(ragged[1])) from error
        if "invalid UTF8" in str(error):
            raise _NotUtf8 from error
        if "straddling" in str(error):
            raise _TooLong from error
        raise damaged(file.source, error) from error
    except READ_ERRORS as error:
        raise damaged(file.source, error) from error


def text_batches(file: TextFile, positions: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Some columns of a file that may be larger than memory, in blocks of text, nulls for empty cells; the header is the first row."""
    block = _BLOCK if file.n_cells > _WIDE else _STREAMED_BLOCK
    try:
        yield from _batches(file, positions, block)
    except _NotUtf8 as error:
        what = f"{file.source.name} is not UTF-8 behind its beginning."
        raise table_error("F015", what, "Its characters cannot be told.", "save it as UTF-8.") from error
    except _TooLong as error:
        what = f"a record of {file.source.name} is longer than a block of {block >> 20} MB."
        raise table_error("F017", what, "It cannot be one row of a table.", "look for a quote that is never closed.") from error


def _has_nul(block: pa.Array) -> bool:
    begin, end, data = text_buffers(block)
    return bool(len(begin)) and bool((data[begin[0] : end[-1]] == 0).any())


def _nul(file: TextFile) -> Exception:
    raw = file.whole()
    line = raw.count(b"\n", 0, max(raw.find(b"\0"), 0)) + 1
    return table_error(
        "F009",
        f"{file.source.name} holds NUL bytes, first in line {line:,}.",
        "It is damaged, in UTF-16 without a mark of it, or no text at all.",
        "write or export it again as UTF-8.",
    )


def _ragged(file: TextFile, found: int) -> Exception:
    """The error for a record with another number of cells than the first; a quote that is never closed makes such."""
    raw = file.whole()
    if b"\0" in raw:
        return _nul(file)
    line, opened, others = "", None, set()
    for position, record in enumerate(records(raw, file.separator)):
        if not record.closed:
            opened = record.line
        if position:
            others.add(record.cells)
        if not line and record.cells != file.n_cells:
            line, found = f"line {record.line:,} of ", record.cells
    if opened is not None:
        return _unclosed(file, opened)
    fix = "mend the line: text that holds the separator must stand in double quotes."
    if others == {file.n_cells + 1}:
        fix = "if each line begins with the name of its row, give that column a name in the first line too."
    elif file.n_cells == 1 and len(others) == 1:
        fix = "if the first line is a title or a comment, take it out."
    return table_error(
        "F006",
        f"{line}{file.source.name} has {found:,} cell{'s' if found != 1 else ''}, and its first line has {file.n_cells:,}"
        f" (separated by {SEPARATORS.get(file.separator, repr(file.separator))}).",
        "Which columns the cells belong to cannot be told.",
        fix,
    )


def _check_quotes(file: TextFile) -> None:
    """Raise if the last record of the file is inside of a quote that is never closed."""
    last = None
    for last in records(file.whole(), file.separator):  # noqa: B007
        pass
    if last is not None and not last.closed:
        raise _unclosed(file, last.line)


def _unclosed(file: TextFile, line: int) -> Exception:
    return table_error(
        "F007",
        f"a quote is opened in the record of line {line:,} of {file.source.name} and never closed.",
        "All that follows would be one cell.",
        'close it; a quote inside of a quoted cell is written twice: "5"" pipe".',
    )


def read_texts(files: Sequence[TextFile], wanted: Sequence[str], as_text: Collection[str], watch: Watch = unwatched) -> pa.Table:
    """Columns of several text files, one below another: a column is of numbers when it is so in every file.

    A field of dates remembers whether the day was written first, if its cells told.
    """
    for file in files:
        read_columns(file, wanted, as_text, watch)
    for file in files:
        again = [name for name in wanted if _is_text(files, name) and not _has_text(file.columns[name])]
        if again:
            read_columns(file, again, again, watch)
    out, fields = [], []
    noted: dict[str, list[str]] = {}  # what is to be said of columns, and of which
    for name in wanted:
        parts = [file.columns.pop(name) for file in files]
        if not any(part.is_text for part in parts):
            out.append(GrowingColumn([block for part in parts for block in part.blocks]).numbers())
            fields.append(pa.field(name, out[-1].type))
            continue
        text = pa.chunked_array([block for part in parts for block in part.text().chunks], pa.string())
        found, note = (text, "") if name in as_text else resolve_type(text, files[0].separator)
        out.append(found)
        fields.append(with_order(pa.field(name, found.type), written_order(text) if is_moment(found.type) else None))
        if note:
            noted.setdefault(note, []).append(name)
        watch()
    if noted:
        notes = [f"{'column' if len(names) == 1 else 'each of the columns'} {listed(names, 5)} {note}" for note, names in noted.items()]
        notice(f"{files[0].source.name}: {'; '.join(notes)}.", ReadingWarning)
    return pa.table(out, schema=pa.schema(fields))


def _is_text(files: Sequence[TextFile], name: str) -> bool:
    return any(file.columns[name].is_text for file in files)


def _has_text(column: GrowingColumn) -> bool:
    """Whether the blocks of the column are all there as text, or can be: those of empty cells only are."""
    if not column.is_text and all(pa.types.is_null(block.type) for block in column.blocks):
        column.blocks = [pa.nulls(len(block), pa.string()) for block in column.blocks]
        column.is_text = True
    return column.is_text and not column.lost
