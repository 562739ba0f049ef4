"""Where compiled kernels are kept between processes: one private directory for each state of the kernel room.

The name of a directory is a digest of every source file of the room, of the versions that compile it and of the
switches that change the code, so an edit or an upgrade never meets an old binary. Inside, one file is one compiled
signature, named by what went into it: there is no index that two processes could write at once. A file is written
under another name and moved into place, and begins with a checksum: whatever is missing or damaged is compiled again.

The files are code, like bytecode: see `private.py` for whose files are read. Each is sealed with a key that only its user can read,
together with its name: a file that others have put there, or moved, is not read, whoever may write to the directory now.
"""

import hashlib
import hmac
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from woodwind.kernels.runtime import private
from woodwind.kernels.runtime.private import NotPrivateError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

HEAD = b"woodwind kernel 2\n"
SEAL = hashlib.sha256().digest_size
PREFIX = "kernels-"
ASKED = "WOODWIND_CACHE_DIR"

# A directory unused for a month belongs to a version that is gone. While kernels are being written every edit
# leaves one behind, some megabytes each: the newest are enough.
OLDEST_DAYS = 30
MOST_DIRECTORIES = 32
_DAY = 86400.0
_OURS = re.compile(PREFIX + r"[0-9a-f]{32}")
_KERNEL_FILE = re.compile(r"\w+-[0-9a-f]{32}|\w+-[\w.]+\.tmp")

# Making a key takes a millisecond: who has the lock on it for longer is not making one.
_KEY_LOCK = 1 << 60
_KEY_WAIT = 5.0


class Home(NamedTuple):
    """The directory for one state of the room, and the key that its files are sealed with."""

    path: Path
    key: bytes


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


def find_home(state: str) -> tuple[Home | None, str]:
    """The directory for this state of the room, made if need be; None if there is no private place to be had.

    The text says why the directory that the user asked for is not used, and what helps; it is empty if it is, or if none was.
    """
    found, complaint = None, ""
    for asked, base in _bases():
        if isinstance(base, str):
            complaint = base
            continue
        try:
            found = _prepare(base / (PREFIX + state))
            break
        except NotPrivateError as error:
            private.forget_key(base)
            trouble = str(error)
        except OSError as error:
            trouble = f"{error.strerror or error} ({base / (error.filename or '')})"
        if asked:
            complaint = f"{ASKED}={asked} is not used: {trouble}"
    if complaint:
        instead = "not cached" if found is None else f"cached in {found.path.parent}"
        complaint += f". Until it names a folder of your own that only you may write to, kernels are {instead}."
    return found, complaint


def read(home: Home, name: str) -> bytes | None:
    """What was written under this name; None if it is not there, not whole, or not written by this user."""
    try:
        with private.opened(home.path) as folder:
            content = folder.read(name)
    except (OSError, NotPrivateError):
        return None
    begin = len(HEAD) + SEAL
    payload = content[begin:]
    return payload if hmac.compare_digest(content[:begin], HEAD + _seal(home, name, payload)) else None


def write(home: Home, name: str, payload: bytes) -> None:
    """Put the payload under this name in one step; other processes see the old file, the new one or none."""
    home.path.mkdir(mode=0o700, exist_ok=True)  # it may have been swept away meanwhile
    with private.opened(home.path) as folder:
        folder.write(name, HEAD + _seal(home, name, payload) + payload)


def claim(home: Home, name: str) -> bool | None:
    """Be the one process that compiles this: False if another one is at it, None where nobody can tell."""
    return take_lock(home.path.parent, _number(home, name))


def disclaim(home: Home, name: str) -> None:
    """Let others compile this."""
    release_lock(home.path.parent, _number(home, name))


def _number(home: Home, name: str) -> int:
    return int(digest_of(home.path.name, name)[:15], 16)


def _seal(home: Home, name: str, payload: bytes) -> bytes:
    """A digest that only who has the key can make. The name is part of it: one kernel never stands in for another."""
    seal = hmac.new(home.key, f"{home.path.name}\0{name}\0".encode(), hashlib.sha256)
    seal.update(payload)
    return seal.digest()


def _bases() -> Iterator[tuple[str, Path | str]]:
    """Places to try, the best first, each with what the user asked for, if it was the user; or what is wrong with that."""
    asked = os.environ.get(ASKED, "")
    if asked.strip():
        try:
            yield asked, Path(asked).expanduser().absolute()
        except RuntimeError:
            yield asked, f"{ASKED}={asked} is not used: there is no home directory {asked.split(os.sep)[0]}"
        except OSError:
            yield asked, f"{ASKED}={asked} is not used: the working directory is gone"
    with suppress(OSError, RuntimeError):  # RuntimeError: a user without a home directory
        yield "", _user_cache() / "woodwind"
    with suppress(OSError):
        yield "", Path(tempfile.gettempdir()) / f"woodwind-{_user()}"


def _user_cache() -> Path:
    """The directory that the system means for things like this."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if sys.platform != "darwin" and given.is_absolute():
        return given
    user = Path.home()
    # With sudo it is that of another user, who could not use afterwards what the superuser has made there.
    if user.stat().st_uid not in (os.geteuid(), 0):
        raise PermissionError(f"{user} belongs to another user")
    return user / "Library" / "Caches" if sys.platform == "darwin" else user / ".cache"


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def _prepare(path: Path) -> Home:
    """Make the directory and the one around it, both private. An error if they are not, or if they cannot be made."""
    base = path.parent
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise NotPrivateError(f"{base} is not a folder") from None
    with private.opened(base) as around:
        fresh = around.make(path.name)
        with private.opened(path, around):
            pass
        home = Home(path, private.read_key(around) or _new_key(around))
    _mark_as_used(path)
    if fresh:
        _sweep(path)
    return home


def _new_key(folder: private.Folder) -> bytes:
    """A new key; if several processes want one at once, all of them get the same."""
    until = time.monotonic() + _KEY_WAIT
    while (taken := take_lock(folder.path, _KEY_LOCK)) is False and time.monotonic() < until:
        time.sleep(0.01)
    try:
        return private.read_key(folder) or private.make_key(folder)
    finally:
        if taken:
            release_lock(folder.path, _KEY_LOCK)


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
        with suppress(OSError):
            if _OURS.fullmatch(other.name):
                ages.append((time.time() - other.lstat().st_mtime, other))
    ages.sort()
    for place, (age, other) in enumerate(ages):
        if other != home and (age > OLDEST_DAYS * _DAY or place >= MOST_DIRECTORIES):
            with suppress(OSError, NotPrivateError), private.opened(other) as folder:
                for file in filter(_KERNEL_FILE.fullmatch, os.listdir(other)):  # only what was written here
                    folder.remove(file)
                other.rmdir()


# ----------------------------------------------------------------------------------------------------
# One process compiles a kernel, the others wait for it: a byte of one file is locked for each kernel.
#
# The system lets go of a lock when the process that has it ends, however that happens: there is no stale one to recognise. A forked child
# has none of its parent's locks. Where a file system knows no locks, nobody waits, and several processes compile the same.

LOCK_FILE = "kernels.lock"

# One descriptor for each file, for good: whoever closes any descriptor of a file lets go of all that the process has locked in it.
_descriptors: dict[Path, int | None] = {}


def take_lock(folder: Path, number: int) -> bool | None:
    """Lock a byte of the lock file of this folder: False if another process has it, None if there are no locks there."""
    descriptor = _descriptor(folder)
    if descriptor is None:
        return None
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, number % (1 << 30), os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True


def release_lock(folder: Path, number: int) -> None:
    """Let go of a byte that was taken."""
    descriptor = _descriptor(folder)
    if descriptor is None:
        return
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, number % (1 << 30), os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, number)
    except OSError:
        pass  # the system lets go when the process ends


def _descriptor(folder: Path) -> int | None:
    if folder not in _descriptors:
        try:
            with private.opened(folder) as place:
                _descriptors[folder] = place.open(LOCK_FILE, os.O_RDWR | os.O_CREAT)
        except (OSError, NotPrivateError):  # a disk that may only be read
            _descriptors[folder] = None
    return _descriptors[folder]
