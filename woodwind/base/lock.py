"""A lock file: one owner at a time, who is named in it.

The system holds the lock and lets go of it when its owner ends, however that happens, so that nobody has to guess whether a lock is stale.
What stands in the file is for people, and for drives where the system has no locks or does not see those of other machines: there only the
words tell, and a lock that nobody here can score is left to the user. A number of a process is used again after it has ended; the moment
at which the process began tells the two apart.
"""

import errno
import json
import os
import re
import socket
import stat
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from woodwind.base.errors import ParameterError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

MARK = "woodwind lock 1"
# A lock that was removed between opening and locking it is tried again so often.
MOST_TRIES, FEW_TRIES = 100, 10
MOST_BYTES = 4096
MOMENT = re.compile(r"[0-9:+ -]{1,40}")
# Windows keeps others from reading locked bytes: the one that is locked stands behind all words.
LOCKED_BYTE = 1 << 30
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK)
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)


@dataclass(frozen=True)
class Owner:
    """Who has a lock."""

    process: int
    host: str
    started: str | None  # what tells the process from others of its number; None where the system does not say
    since: str

    @classmethod
    def here(cls) -> "Owner":
        """This process, now."""
        return cls(os.getpid(), socket.gethostname(), start_of(os.getpid()), time.strftime("%Y-%m-%d %H:%M:%S %z"))

    @classmethod
    def of(cls, text: bytes) -> "Owner | None":
        """The owner whom a lock file names; None where it names none."""
        try:
            given = json.loads(text)
            owner = cls(*(given[name] for name in ("process", "host", "started", "since")))
        except (ValueError, KeyError, TypeError):
            return None
        valid = given.get("lock") == MARK and type(owner.process) is int and owner.process > 0 and type(owner.host) is str
        # It is told to people as it stands, and anybody may have written it.
        told = type(owner.since) is str and MOMENT.fullmatch(owner.since)
        return owner if valid and told and type(owner.started) in (str, type(None)) else None

    def text(self) -> bytes:
        """What stands in the file."""
        return (json.dumps({"lock": MARK, **vars(self)}) + "\n").encode()

    @property
    def is_here(self) -> bool:
        """Whether it is of this machine, so far as names tell."""
        return self.host == socket.gethostname()

    @property
    def is_running(self) -> bool | None:
        """Whether it is still there, for owners of this machine; None where nobody can tell it from a later one of its number."""
        if sys.platform != "win32":  # where os.kill knows no signal that only asks
            try:
                os.kill(self.process, 0)
            except (ProcessLookupError, OverflowError):
                return False
            except OSError:
                pass  # of another user
        now = start_of(self.process)
        return None if now is None or self.started is None else now == self.started

    def __str__(self) -> str:
        return f"process {self.process}{'' if self.is_here else f' on {self.host!r}'} since {self.since}"


def start_of(process: int) -> str | None:
    """When a process began, in words that are the same whenever it is asked; None where nobody says."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot, open(f"/proc/{process}/stat", encoding="latin-1") as status:
            # The name of the program stands in brackets and may hold anything; what follows the last one are numbers.
            return f"{boot.read().strip()}/{status.read().rpartition(')')[2].split()[19]}"
    except (OSError, IndexError):
        return None


class FileLock:
    """A lock that is held until it is released, or until the process ends. A forked child does not hold it."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path, self.descriptor = path, descriptor
        _held.append(self)

    @classmethod
    def take(cls, path: str | os.PathLike[str], what: str) -> Self:
        """Take the lock, or ParameterError, which says who has `what` it guards. FileNotFoundError where there is no folder for it."""
        named = os.fspath(path)
        for number in range(MOST_TRIES):
            descriptor, is_new = _open(named)
            try:
                is_locked, words = _lock(descriptor), _read(descriptor)
                is_in_place = _is_at(descriptor, named)
                will_be_said = is_locked is False and not words and number < FEW_TRIES  # who has it, in a moment
                if not will_be_said and (is_locked is False or (is_in_place and not is_new)):
                    _check(words, is_locked, named, what)
            except BaseException:
                os.close(descriptor)
                raise
            if will_be_said:
                os.close(descriptor)
                time.sleep(0.01)
                continue
            lock = cls(named, descriptor)
            if not is_in_place:  # whoever had it has taken it away: it guards nothing any more
                lock.release()
                continue
            try:
                _write(descriptor, Owner.here().text())
            except BaseException:
                lock.release()
                raise
            return lock
        raise ParameterError(f"{what} is taken and left by others all the time. Call again, or name another folder.")

    @property
    def is_held(self) -> bool:
        """Whether this process holds it."""
        return self.descriptor >= 0

    def release(self) -> None:
        """Take the file away, and let go."""
        if not self.is_held:
            return
        descriptor, self.descriptor = self.descriptor, -1
        _held.remove(self)
        mine = _is_at(descriptor, self.path)  # else it was deleted by hand, and another one may be there
        with suppress(OSError):
            os.ftruncate(descriptor, 0)  # where the file cannot be taken away, it names nobody
        if mine and sys.platform != "win32":
            with suppress(OSError):
                os.unlink(self.path)
        with suppress(OSError):
            os.close(descriptor)
        if mine and sys.platform == "win32":  # where what is open cannot be taken away
            with suppress(OSError):
                os.unlink(self.path)


_held: list[FileLock] = []


def _forget_held() -> None:
    """In a forked child: the lock is its parent's. While the child had it open, it would outlive the parent."""
    for lock in _held:
        with suppress(OSError):
            os.close(lock.descriptor)
        lock.descriptor = -1
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_held)


def _open(path: str) -> tuple[int, bool]:
    """The file, and whether it is new."""
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644), True
    except FileExistsError:
        pass
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:  # gone in between
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644), True
    except OSError as error:
        raise ParameterError(f"{path!r} cannot be opened to lock it: {error.strerror}. Look at it, or name another folder.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ParameterError(f"{path!r} is no lock of Woodwind. Move it away, or name another folder.")
    return descriptor, False


def _lock(descriptor: int) -> bool | None:
    """Ask the system: True if it is ours now, False if another has it, None where there are no locks."""
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in TAKEN:
            return False
        if error.errno in NO_LOCKS:
            return None
        raise
    return True


def _check(words: bytes, is_locked: bool | None, path: str, what: str) -> None:
    """Raise unless what stands in a file that was there says that it may be taken."""
    owner = Owner.of(words)
    if is_locked is False or (owner is not None and owner.is_here and owner.is_running is True):
        raise ParameterError(f"{what} is in use by {owner or 'another process'}. Wait until that has ended, or name another folder.")
    by_hand = f"If it is not running any more, delete {path!r} and call again; or name another folder."
    if owner is None:
        if words:
            raise ParameterError(f"{path!r} is no lock of Woodwind. Move it away, or name another folder.")
        if is_locked is None:
            raise ParameterError(f"{what} is in use by another process, which has not said its number yet. {by_hand}")
    elif not owner.is_here:
        raise ParameterError(f"{what} is in use by {owner}, so far as can be seen from this machine, {socket.gethostname()!r}. {by_hand}")
    elif is_locked is None and owner.is_running is None:
        raise ParameterError(f"{what} is in use by {owner}, unless that has ended. {by_hand}")
    elif is_locked is None:
        gone = f"{what} was left by {owner}, which has ended. This drive has no locks to keep two others from taking it at once"
        raise ParameterError(f"{gone}: delete {path!r} and call again; or name another folder.")


def _is_at(descriptor: int, path: str) -> bool:
    """Whether an open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False


def _read(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, MOST_BYTES)


def _write(descriptor: int, words: bytes) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, words)
