"""The files of a table in blocks: what is in them, how they are written, checked, read and removed.

    manifest.json              what the table is, and every file of it with its size and checksum
    preparing.json             in the place of a manifest, while the table is being made
    rows-TOKEN.arrow           target, weight and group of every row
    block-TOKEN-000000.codes   codes of some rows, one byte each, row after row; compressed where that helps
    value-TOKEN-000000.cells   where they are wanted, the numbers themselves of some rows, column after column

A table is there when its manifest is, and that is written last, in one step. The token is drawn anew for each table, and it stands in
preparing.json before there is a file of that name: what was interrupted is found and removed by the next who writes there. Nothing is
removed but files of such names. Blocks may be in several folders, on several disks.
"""

import json
import os
import re
import secrets
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from woodwind.base.atomic import write_file
from woodwind.base.errors import DataError
from woodwind.base.lock import FileLock

KIND = "woodwind blocks 1"
MANIFEST, PREPARING, LOCK = "manifest.json", "preparing.json", "blocks.lock"
TOKEN = re.compile(r"[0-9a-f]{12}")
BLOCK_NAME = re.compile(r"block-[0-9a-f]{12}-[0-9]{6}\.codes|value-[0-9a-f]{12}-[0-9]{6}\.cells|rows-[0-9a-f]{12}\.arrow")
# What is removed: those, what a writer that was killed has left of one, and rows that were set aside.
REMOVABLE = re.compile(rf"(?:{BLOCK_NAME.pattern})|\.(?:{BLOCK_NAME.pattern})\.[0-9a-f]{{12}}\.part|aside-[0-9a-f]{{12}}\.arrow")
# LZ4 unpacks faster than a disk reads; what it does not make smaller by a twentieth is stored as it is.
CODEC, WORTH = "lz4_raw", 0.95
MOST_BLOCKS = 999_999


@dataclass(frozen=True)
class StoredFile:
    """One file of a table."""

    folder: int  # which of the folders it is in
    name: str
    rows: int
    size: int  # bytes on disk
    crc: int  # of those bytes
    packed: bool  # whether they are compressed

    @classmethod
    def from_dict(cls, given: Any, n_folders: int) -> "StoredFile":
        """What a manifest says of a file; DataError where that cannot be."""
        try:
            found = cls(**given)
            numbers = (found.folder, found.rows, found.size, found.crc)
            right = all(type(number) is int and number >= 0 for number in numbers) and isinstance(found.packed, bool)
            if right and found.folder < n_folders and BLOCK_NAME.fullmatch(found.name):
                return found
        except TypeError:
            pass
        raise DataError(f"BlockTable: {MANIFEST} speaks of a file that cannot be: {str(given)[:200]}. Write the table anew.")


def wrong_file(path: Path, what: str) -> DataError:
    """The error for a file that is not what the manifest says."""
    return DataError(f"BlockTable: {str(path)!r} {what}. Write the table anew with BlockTable.write(..., overwrite=True).")


def read_stored(folders: Sequence[Path], stored: StoredFile, check: bool, room: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """The bytes of a file as they are on disk; of another size, or with `check` of another checksum, DataError.

    With a room that is large enough they stand at its beginning: new memory costs more than reading from the system's cache.
    """
    path = folders[stored.folder] / stored.name
    raw: Any = np.empty(stored.size, np.uint8) if room is None or len(room) < stored.size else room[: stored.size]
    try:
        with open(path, "rb", buffering=0) as file:
            there = os.fstat(file.fileno()).st_size
            filled = 0
            while there == stored.size and filled < stored.size:
                some = file.readinto(memoryview(raw)[filled:])
                if not some:
                    break
                filled += some
    except OSError as error:
        raise wrong_file(path, f"cannot be read: {error.strerror or error}") from error
    if there != stored.size or filled != stored.size:
        raise wrong_file(path, f"is damaged: it has {min(there, filled) or there:,} bytes, and {stored.size:,} were written")
    if check and zlib.crc32(raw) != stored.crc:
        raise wrong_file(path, "is damaged: its checksum is not that of what was written")
    found: NDArray[np.uint8] = raw
    return found


def read_part(folders: Sequence[Path], stored: StoredFile, begin: int, size: int) -> NDArray[np.uint8]:
    """Some bytes of a file that is not compressed."""
    path = folders[stored.folder] / stored.name
    out: Any = np.empty(size, np.uint8)
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(begin)
            filled = 0
            while filled < size and (some := file.readinto(memoryview(out)[filled:])):
                filled += some
    except OSError as error:
        raise wrong_file(path, f"cannot be read: {error.strerror or error}") from error
    if filled != size:
        raise wrong_file(path, "is damaged: it has fewer bytes than were written")
    found: NDArray[np.uint8] = out
    return found


def unpacked(raw: NDArray[np.uint8], stored: StoredFile, stride: int, folders: Sequence[Path]) -> NDArray[np.uint8]:
    """The bytes of a block (rows, stride), writable, as kernels take them; those of one that is not compressed are `raw` itself."""
    size = stored.rows * stride
    path = folders[stored.folder] / stored.name
    if not stored.packed:
        if len(raw) != size:
            raise wrong_file(path, f"has {len(raw):,} bytes in the place of {size:,}")
        return raw.reshape(stored.rows, stride)
    try:
        buffer = pa.Codec(CODEC).decompress(raw, decompressed_size=size)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise wrong_file(path, "is damaged: it cannot be unpacked") from error
    codes = np.frombuffer(buffer, np.uint8)
    if len(codes) != size:
        raise wrong_file(path, f"is damaged: it holds {len(codes):,} codes in the place of {size:,}")
    return (codes if codes.flags.writeable else codes.copy()).reshape(stored.rows, stride)


class BlockWriter:
    """Writes a table into folders that it has for itself; what is not finished is removed again."""

    def __init__(self, folders: Sequence[Path], overwrite: bool) -> None:
        self.folders, self._overwrite = list(folders), overwrite
        self.files: list[StoredFile] = []
        self.token = secrets.token_hex(6)
        self.aside = self.folders[0] / f"aside-{self.token}.arrow"  # for rows that can be read once only
        self._made: list[Path] = []
        self._old: list[Path] = []

    def __enter__(self) -> Self:
        home = self.folders[0]
        for folder in self.folders:
            missing = [one for one in (folder, *folder.parents) if not one.exists()]
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"BlockTable: the folder {str(folder)!r} cannot be made: {error.strerror or error}.") from error
            self._made += missing
        try:
            self._lock = FileLock.take(home / LOCK, f"the folder {str(home)!r}")
            self._begin(home)
        except BaseException:
            self._forget_folders()
            raise
        return self

    def _begin(self, home: Path) -> None:
        """Refuse a folder that holds something else; remove what was interrupted; say what is going on."""
        try:
            self._old = list_written(home)
            there = {entry.name for entry in home.iterdir()} - {LOCK, PREPARING, MANIFEST}
            others = sorted(there - {path.name for path in self._old if path.parent == home})
            if not (home / MANIFEST).exists() and not (home / PREPARING).exists() and others:
                raise DataError(
                    f"BlockTable: the folder {str(home)!r} holds {others[0]!r} and no table of blocks. Give a folder that is empty or new."
                )
            if (home / MANIFEST).exists() and not self._overwrite:
                raise DataError(
                    f"BlockTable: there is a table in {str(home)!r} already. Open it with BlockTable({str(home)!r}), or write over it with "
                    "overwrite=True."
                )
            if not (home / MANIFEST).exists():
                remove(self._old)
                self._old = []
            named = [os.path.abspath(folder) for folder in self.folders]
            write_json(home / PREPARING, {"kind": KIND, "token": self.token, "folders": named})
        except BaseException:
            self._lock.release()
            raise

    def add(self, name: str, rows: int, data: Any, folder: int = 0, pack: bool = True) -> None:
        """Write a file, compressed where that is asked for and helps."""
        raw = memoryview(data).cast("B")
        packed = pa.Codec(CODEC).compress(raw, asbytes=True) if pack and raw.nbytes else b""
        is_packed = bool(packed) and len(packed) < WORTH * raw.nbytes
        stored: Any = packed if is_packed else raw
        write_file(self.folders[folder] / name, [stored])
        self.files.append(StoredFile(folder, name, rows, len(stored), zlib.crc32(stored), is_packed))

    def add_block(self, codes: NDArray[np.uint8]) -> None:
        """Write the next block of codes (rows, stride)."""
        self._add_next("block", "codes", len(codes), codes, pack=True)

    def add_values(self, values: NDArray[np.float64]) -> None:
        """Write the next block of numbers (features, rows), as it is: columns are read from it alone."""
        self._add_next("value", "cells", values.shape[1], values, pack=False)

    def _add_next(self, kind: str, ending: str, rows: int, data: NDArray[Any], pack: bool) -> None:
        """Write the next file of a kind; they take turns in the folders."""
        number = sum(one.name.startswith(f"{kind}-") for one in self.files)
        if number > MOST_BLOCKS:
            raise DataError("BlockTable: the table has more than a million blocks. Give larger ones with block_bytes.")
        self.add(f"{kind}-{self.token}-{number:06d}.{ending}", rows, np.ascontiguousarray(data), number % len(self.folders), pack)

    def finish(self, manifest: dict[str, Any]) -> None:
        """The table is there from now on; one that was there before is gone."""
        home = self.folders[0]
        own = {"kind": KIND, "token": self.token, "folders": [os.path.relpath(folder, home) for folder in self.folders]}
        write_json(home / MANIFEST, {**own, **manifest, "files": [vars(one) for one in self.files]})
        remove([path for path in self._old if path.name not in {one.name for one in self.files}])
        with suppress(FileNotFoundError):
            os.unlink(home / PREPARING)

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        home = self.folders[0]
        if kind is not None:
            written = {(one.folder, one.name) for one in self.files}
            remove([self.folders[folder] / name for folder, name in written])
            with suppress(OSError):
                os.unlink(home / PREPARING)
        remove([self.aside])
        self._lock.release()
        if kind is not None:
            self._forget_folders()

    def _forget_folders(self) -> None:
        """Remove the folders that were made here, if nothing is in them."""
        for folder in sorted(set(self._made), key=lambda path: -len(path.parts)):
            with suppress(OSError):
                folder.rmdir()


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file in one step."""
    write_file(path, [json.dumps(content, indent=1, allow_nan=False).encode()])


def remove(paths: Sequence[Path]) -> None:
    """Remove files, name by name; those that are gone already are no error."""
    for path in paths:
        if REMOVABLE.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()


def list_written(home: Path) -> list[Path]:
    """The files that a table in this folder, or one that was interrupted, has written."""
    found: list[Path] = []
    for name in (MANIFEST, PREPARING):
        with suppress(OSError, ValueError, DataError):
            content = json.loads((home / name).read_bytes())
            token = content.get("token") if content.get("kind") == KIND else None
            if not isinstance(token, str) or not TOKEN.fullmatch(token):
                continue
            for folder in {home, *(home / str(one) for one in content.get("folders", []))}:
                if folder.is_dir():
                    inside = [entry for entry in folder.iterdir() if REMOVABLE.fullmatch(entry.name) and f"-{token}" in entry.name]
                    found += [entry for entry in inside if entry not in found]
    return found


def remove_written(home: Path) -> list[Path]:
    """Remove the files of a table, or of one that was interrupted, name by name; returns the folders that they were in."""
    if not (home / MANIFEST).exists() and not (home / PREPARING).exists():
        return []
    lock = FileLock.take(home / LOCK, f"the folder {str(home)!r}")
    try:
        written = list_written(home)
        remove(written)
        for name in (MANIFEST, PREPARING):
            with suppress(OSError, ValueError):
                if json.loads((home / name).read_bytes()).get("kind") == KIND:
                    os.unlink(home / name)
    finally:
        lock.release()
    return sorted({path.parent for path in written})
