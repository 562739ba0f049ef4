"""Where a table is read from: paths, patterns, lists and standard input, compressed or not, told apart by their first bytes."""

import glob
import io
import lzma
import os
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from woodwind.data.tables.table_errors import table_error

FilePath: TypeAlias = str | os.PathLike[str]

# How a file begins, and how it is compressed then.
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
}

# How the contents begin, and what they are then; all else is text.
_KINDS = {b"PAR1": "parquet", b"ARROW1": "arrow file", b"\xff\xff\xff\xff": "arrow stream", b"FEA1": "feather 1"}

# What people give by mistake, and what to do about it.
_FOREIGN = {
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "save the sheet as CSV, or give the file inside of the archive."),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "save the sheet as CSV."),
    b"\x89HDF": ("an HDF5 file", "save the table as Parquet or CSV."),
    b"SQLite format 3": ("an SQLite database", "export the table as CSV: sqlite3 -header -csv FILE 'select * from TABLE' > table.csv"),
    b"ORC": ("an ORC file", "save the table as Parquet."),
    b"Obj\x01": ("an Avro file", "save the table as Parquet."),
    b"\x93NUMPY": ("a NumPy array", "load it in Python and give the array."),
    b"\x80\x04": ("a pickle", "load it in Python, if you trust it, and give the table."),
    b"\x80\x05": ("a pickle", "load it in Python, if you trust it, and give the table."),
    b"%PDF": ("a PDF document", "save the table as CSV."),
    b"<!doctype": ("an HTML page", "download the file itself: this may be the page of an error or of a log-in."),
    b"<html": ("an HTML page", "download the file itself: this may be the page of an error or of a log-in."),
    b"<?xml": ("an XML document", "save the table as CSV or Parquet."),
    b"%%MatrixMarket": ("a Matrix Market file", "load it with SciPy and give the matrix."),
    b"@relation": ("an ARFF file", "save the table as CSV."),
}


@dataclass(frozen=True)
class Source:
    """One file, or the bytes of standard input. It can be opened as often as needed."""

    name: str  # how to call it in a message
    path: str | None
    held: bytes | None = None  # what came from standard input

    def open(self) -> Any:
        """The contents, unpacked, as a stream of Arrow."""
        try:
            return self._unpacked()
        except (OSError, pa.ArrowException, zipfile.BadZipFile, lzma.LZMAError) as error:
            raise damaged(self, error) from error

    def head(self, size: int) -> bytes:
        """The first bytes of the contents, unpacked."""
        try:
            with self.open() as stream:
                return bytes(stream.read(size))
        except READ_ERRORS as error:
            raise damaged(self, error) from error

    def whole(self) -> pa.Buffer:
        """All of the contents, unpacked, in memory: a file that is mapped and then cut by somebody would end the process."""
        try:
            with self.open() as stream:
                return stream.read_buffer()
        except READ_ERRORS as error:
            raise damaged(self, error) from error

    def anywhere(self) -> Any:
        """The contents, unpacked, as something that can be read at any place: a plain file itself, else its contents in memory."""
        return pa.BufferReader(self.whole()) if self.path is None or self.packing() else pa.OSFile(self.path)

    def packing(self) -> str:
        """How the file is compressed; an empty text where it is not."""
        start = self._start()
        found = next((packing for mark, packing in _PACKED.items() if start.startswith(mark)), "")
        if found == "zip" and self._members() is None:
            return ""
        return found

    def _start(self, size: int = 16) -> bytes:
        if self.held is not None:
            return self.held[:size]
        assert self.path is not None
        with open(self.path, "rb") as file:
            return file.read(size)

    def _members(self) -> list[str] | None:
        """The files in a zip archive; None when it is a workbook, which is an archive too."""
        with zipfile.ZipFile(self.path if self.held is None else io.BytesIO(self.held)) as archive:  # type: ignore[arg-type]
            names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        return None if "[Content_Types].xml" in names else names

    def _unpacked(self) -> Any:
        packing = self.packing()
        if packing == "zip":
            names = self._members() or []
            if len(names) != 1:
                raise table_error(
                    "F003",
                    f"{self.name} is an archive of {len(names)} files.",
                    "Which of them is the table cannot be told.",
                    "unpack it and give the files: a list or a pattern is read as one table.",
                )
            archive = zipfile.ZipFile(self.path if self.held is None else io.BytesIO(self.held))  # type: ignore[arg-type]
            return pa.PythonFile(archive.open(names[0]), mode="r")
        if packing == "xz":
            return pa.PythonFile(lzma.open(self.path if self.held is None else io.BytesIO(self.held)), mode="r")  # type: ignore[arg-type]
        plain = pa.OSFile(self.path) if self.held is None else pa.BufferReader(self.held)
        return pa.CompressedInputStream(plain, packing) if packing else plain


# What pyarrow, zlib and their relatives raise when a file is damaged.
READ_ERRORS = (OSError, EOFError, UnicodeError, OverflowError, MemoryError, pa.ArrowException, zipfile.BadZipFile, lzma.LZMAError)


def find_sources(source: FilePath | Sequence[FilePath]) -> list[Source]:
    """The files that are meant by a path, a pattern, a list of these, or "-" for standard input."""
    if isinstance(source, (str, os.PathLike)):
        return _find_one(source)
    if not isinstance(source, Sequence) or not all(isinstance(position, (str, os.PathLike)) for position in source):
        raise table_error(
            "F016",
            f"a value of type {type(source).__module__}.{type(source).__qualname__} was given as the place of a table.",
            "A table is read from files.",
            "give a path, a pattern such as 'parts/*.csv', a list of these, or '-' for standard input.",
        )
    found = [one for position in source for one in _find_one(position)]
    if not found:
        raise table_error("F016", "an empty list of files was given.", "A table is read from files.", "give at least one path.")
    return found


def _standard_input() -> bytes:
    """All bytes of standard input."""
    give = "give the table there, as in: woodwind fit - < table.csv; or name its file."
    if getattr(sys.stdin, "buffer", None) is None:  # closed before the process began, or not of bytes, as in a notebook
        raise table_error("F002", "standard input is closed.", "There is no table to read.", give)
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise table_error(
            "F002", f"standard input cannot be read: {error.strerror or error}.", "There is no table to read.", give
        ) from error


def _find_one(position: FilePath) -> list[Source]:
    text = os.fspath(position)
    if text == "-":
        return [Source("standard input", None, _standard_input())]
    if "://" in text and not os.path.exists(text):
        raise table_error("F001", f"{text!r} is an address, not a file.", "Woodwind reads from disk only.", "download it first.")
    path = os.path.expanduser(text)
    if "\0" not in path and os.path.exists(path):
        return [_checked(path)]
    if glob.has_magic(path):
        found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
        if found:
            return [_checked(name) for name in found]
        why = "A pattern is looked for from the current folder."
        raise table_error("F001", f"no file matches {text!r}.", why, f"look at the folder: {_here(path)}")
    raise table_error("F001", f"there is no file {text!r}.", "The table cannot be read.", f"look at the path: {_here(path)}")


def _here(path: str) -> str:
    """What there is where somebody looked for something else."""
    folder = Path(path.replace("\0", "")).parent
    while glob.has_magic(str(folder)):
        folder = folder.parent
    if not folder.is_dir():
        return f"the folder {str(folder)!r} does not exist either."
    names = sorted(item.name for item in folder.iterdir() if not item.name.startswith("."))
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
    return f"{str(folder)!r} holds {shown or 'nothing'}."


def _checked(path: str) -> Source:
    """A file that can be opened."""
    if os.path.isdir(path):
        why = "Which of its files belong to the table is for you to say."
        raise table_error("F002", f"{path!r} is a folder.", why, f"give a pattern: '{path}/*.csv'.")
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        what = f"{path!r} cannot be opened: {error.strerror or error}."
        raise table_error("F002", what, "The table cannot be read.", "check its permissions.") from error
    return Source(repr(path), path)


def kind_of_contents(source: Source) -> str:
    """What the contents are: parquet, arrow file, arrow stream, feather 1, or text; an error for anything else that is known."""
    start = source.head(64)
    if not start:
        raise empty(source, "holds not a single byte")
    for mark, kind in _KINDS.items():
        if start.startswith(mark):
            return kind
    low = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for mark, (what, fix) in _FOREIGN.items():
        if start.startswith(mark) or (mark.isascii() and low.startswith(mark.lower()) and mark[:1] in b"<@"):
            raise table_error("F003", f"{source.name} is {what}.", "Woodwind reads CSV and its relatives, Parquet, Feather and Arrow.", fix)
    if low[:1] == b"{" or low[:2] in (b"[{", b"[["):
        fix = "save the table as CSV or Parquet, for example with pandas.read_json(...).to_parquet(...)."
        raise table_error(
            "F003", f"{source.name} seems to be JSON.", "Woodwind reads CSV and its relatives, Parquet, Feather and Arrow.", fix
        )
    return "text"


def empty(source: Source, what: str) -> Exception:
    """The error for a file without a table."""
    return table_error("F004", f"{source.name} {what}.", "There is no table to read.", "look at the step that wrote the file.")


def damaged(source: Source, error: Exception) -> Exception:
    """The error for a file that cannot be unpacked or is not what its first bytes say."""
    predicted = " ".join(str(error).split())[:200]
    return table_error(
        "F005",
        f"{source.name} is damaged or incomplete: {predicted or type(error).__name__}.",
        "What can be read of it may not be all of it.",
        "write or download the file again.",
    )
