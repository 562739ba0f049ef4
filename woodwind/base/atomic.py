"""Writing a file so that whoever looks sees the old one or the new one, never a part of either.

The new file is written beside the old one, brought to the disk, and then takes its name in one step. Whatever goes wrong before that step,
a full disk, a failing one or an interrupt, the old file is untouched and the new one is taken away.
"""

import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

# What a killed process has left behind is taken away by the next one that writes the same file, after so long.
STALE_SECONDS = 3600.0
# Hexadecimals that tell one writer of a file from another.
TOKEN = 12
# Bytes of the name of a file that names made from it have room for.
MOST_NAMED = 200
# Bytes of one call: some systems take no more than two thousand million.
MOST_AT_ONCE = 1 << 30
# Systems on which a folder cannot be brought to the disk say so by one of these.
NO_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EISDIR, errno.EBADF)


def write_file(path: str | os.PathLike[str], pieces: Iterable[Any]) -> None:
    """Write pieces (bytes, or arrays in C order) one after another as the file of this name. A link stays, and what it leads to changes."""
    named = os.fspath(path)
    place = os.path.realpath(named)
    folder, name = os.path.split(place)
    beside = os.path.join(folder, part_name(name, secrets.token_hex(TOKEN // 2)))
    descriptor = -1
    try:
        _check_target_path(place, named)
        _forget_stale(folder, name)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        _keep_mode(descriptor, place)
        for piece in pieces:
            _write_all(descriptor, piece)
        os.fsync(descriptor)
        os.close(descriptor)
        descriptor = -1
        os.replace(beside, place)
    except BaseException as error:
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)
        with suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError):
            raise _described(error, named) from error
        raise
    _sync_folder(folder)


def part_name(name: str, token: str) -> str:
    """What the file of a name is called while one writer writes it."""
    return f".{shortened(name)}.{token}.part"


def shortened(name: str) -> str:
    """The name of a file, short enough to be made part of another one: systems allow 255 bytes. The end of a long one is a digest of it."""
    encoded = os.fsencode(name)
    if len(encoded) <= MOST_NAMED:
        return name
    digest = hashlib.sha256(encoded).hexdigest()[:8]
    while len(os.fsencode(name)) > MOST_NAMED - 9:
        name = name[:-1]
    return f"{name}-{digest}"


def is_part_of(entry: str, name: str) -> bool:
    """Whether a file, by its name, is what a writer that was killed has left of the file of another name."""
    token = entry[-len(".part") - TOKEN : -len(".part")]
    return re.fullmatch(f"[0-9a-f]{{{TOKEN}}}", token) is not None and entry == part_name(name, token)


def _check_target_path(place: str, named: str) -> None:
    """Only an ordinary file may be replaced: a device or a pipe would be gone afterwards."""
    with suppress(FileNotFoundError):
        mode = os.stat(place).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder; give the name of a file", named)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a device or a pipe; give the name of a file", named)


def _keep_mode(descriptor: int, place: str) -> None:
    """Whoever might read the old file may read the new one; a first file is as the user's mask says."""
    if hasattr(os, "fchmod"):
        with suppress(FileNotFoundError, PermissionError):
            os.fchmod(descriptor, stat.S_IMODE(os.stat(place).st_mode))


def _write_all(descriptor: int, piece: Any) -> None:
    rest = memoryview(piece).cast("B")
    while rest.nbytes:
        rest = rest[os.write(descriptor, rest[:MOST_AT_ONCE]) :]


def _sync_folder(folder: str) -> None:
    """Bring the new name to the disk, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        if error.errno in NO_FOLDERS:
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FOLDERS:
            raise
    finally:
        os.close(descriptor)


def _forget_stale(folder: str, name: str) -> None:
    """Take away what killed processes have left of this file, and nothing that only looks like it."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if is_part_of(entry.name, name):
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False) and time.time() - entry.stat(follow_symlinks=False).st_mtime > STALE_SECONDS:
                        os.unlink(entry.path)


def _described(error: OSError, named: str) -> OSError:
    """The same error, with the name of the file and what has become of it."""
    return OSError(error.errno, f"{error.strerror}. Nothing was written: a file of this name is as it was", named)
