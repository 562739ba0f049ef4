"""Where compiled kernels are kept between processes: one private directory for each state of the kernel room.

The name of a directory is a digest of every source file of the room, of the versions that compile it and of the
switches that change the code, so an edit or an upgrade never meets an old binary. Inside, one file is one compiled
signature, named by what went into it: there is no index that two processes could write at once. A file is written
under another name and moved into place, and begins with a checksum: whatever is missing or damaged is compiled again.

The files are code, like bytecode. Hence directories that other users could have written to are refused.
"""

import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HEAD = b"woodwind kernel 1\n"
CHECKSUM = hashlib.sha256().digest_size
PREFIX = "kernels-"

# A directory unused for a month belongs to a version that is gone. While kernels are being written every edit
# leaves one behind, some megabytes each: the newest are enough.
OLDEST_DAYS = 30
MOST_DIRECTORIES = 32
_DAY = 86400.0


def room_digest(room: Path) -> str | None:
    """Digest of all source files of the room; None where there are none to read, as in a zip file."""
    digest = hashlib.sha256()
    sources = sorted(room.rglob("*.py"))
    for source in sources:
        try:
            text = source.read_bytes()
        except OSError:
            return None
        # Lengths keep (name, text) pairs apart: moving a line from one file to the next is a change.
        digest.update(f"{source.relative_to(room).as_posix()}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest() if sources else None


def digest_of(*parts: object) -> str:
    """A short digest of the text of the parts, for names of files and directories."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:32]


def find_home(state: str) -> tuple[Path | None, str]:
    """The directory for this state of the room, made if need be; None if there is no private place to be had.

    The text says why the directory that the user asked for is not used; it is empty if it is, or if none was.
    """
    complaint = ""
    for asked, base in _bases():
        trouble = _prepare(base / (PREFIX + state))
        if not trouble:
            return base / (PREFIX + state), complaint
        if asked:
            complaint = f"WOODWIND_CACHE_DIR={base} is not used: {trouble}"
    return None, complaint


def read(path: Path) -> bytes | None:
    """What was written under this name; None if it is not there or not whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    begin = len(HEAD) + CHECKSUM
    payload = content[begin:]
    whole = content[:begin] == HEAD + hashlib.sha256(payload).digest()
    return payload if whole else None


def write(path: Path, payload: bytes) -> None:
    """Put the payload under this name in one step; other processes see the old file, the new one or none."""
    path.parent.mkdir(mode=0o700, exist_ok=True)  # it may have been swept away meanwhile
    handle, name = tempfile.mkstemp(prefix=path.name[:40], suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(HEAD + hashlib.sha256(payload).digest() + payload)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _bases() -> Iterator[tuple[bool, Path]]:
    """Places to try, the best first, each with whether the user asked for it by name."""
    asked = os.environ.get("WOODWIND_CACHE_DIR")
    if asked:
        yield True, Path(asked).expanduser().absolute()
    try:
        yield False, _user_cache() / "woodwind"
    except (OSError, RuntimeError):  # RuntimeError: a user without a home directory
        pass
    try:
        yield False, Path(tempfile.gettempdir()) / f"woodwind-{_user()}"
    except OSError:
        pass


def _user_cache() -> Path:
    """The directory that the system means for things like this."""
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return given if given.is_absolute() else Path.home() / ".cache"


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def _prepare(home: Path) -> str:
    """Make `home` and the directory around it, both private; say what stands in the way, or nothing."""
    try:
        home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        trouble = _not_private(home.parent)
        if trouble:
            return trouble
        fresh = not home.exists()
        home.mkdir(mode=0o700, exist_ok=True)
        trouble = _not_private(home)
    except OSError as error:
        return f"{error.strerror or error} ({error.filename})"
    if not trouble:
        _mark_as_used(home)
        if fresh:
            _sweep(home)
    return trouble


def _not_private(directory: Path) -> str:
    """Why code in this directory could be somebody else's; nothing if it could not."""
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return f"{directory} is not a directory"
    if not hasattr(os, "getuid"):  # Windows keeps a user's own directory private by itself
        return ""
    # The superuser may own it: who has those rights could as well change the package itself.
    if status.st_uid not in (os.getuid(), 0):
        return f"{directory} belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to {directory} (chmod go-w would help)"
    return ""


def _mark_as_used(home: Path) -> None:
    """The time of change tells the sweep what is in use; once a day is enough."""
    try:
        if time.time() - home.stat().st_mtime > _DAY:
            os.utime(home)
    except OSError:
        pass  # on a read-only disk nothing is swept either


def _sweep(home: Path) -> None:
    """Remove the directories of old states of the room. A process that still uses one compiles again, no more."""
    ages: list[tuple[float, Path]] = []
    for other in home.parent.glob(PREFIX + "*"):
        try:
            ages.append((time.time() - other.lstat().st_mtime, other))
        except OSError:
            continue
    ages.sort()
    for place, (age, other) in enumerate(ages):
        if other != home and (age > OLDEST_DAYS * _DAY or place >= MOST_DIRECTORIES):
            shutil.rmtree(other, ignore_errors=True)
