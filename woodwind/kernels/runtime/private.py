"""Folders and files that nobody else can have written, and a key that nobody else can have read.

Owner and mode are asked of the descriptor that is then read, and what is in a folder is opened by the folder's descriptor: nothing can be
put in the place of what was looked at. Windows keeps a user's own folders private by itself, and has no such descriptors: there, names have
to do.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

KEY_FILE = "kernels.key"
KEY_HEAD = b"woodwind kernel key 1\n"
KEY_SIZE = 32

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# Reading a pipe that somebody has put there must not wait for its other end.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_IS_LINK = (errno.ELOOP, errno.EMLINK)  # what systems say of a link that is not to be followed


class NotPrivateError(Exception):
    """Why a folder or a file could be somebody else's, and what helps."""


class Folder:
    """An open folder of the user's own."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def _at(self, name: str) -> tuple[str, dict[str, Any]]:
        """How to name what is in the folder: by its descriptor, if there is one."""
        return (name, {"dir_fd": self._descriptor}) if self._descriptor is not None else (str(self.path / name), {})

    def make(self, name: str) -> bool:
        """Make a folder in it; whether that is new."""
        place, within = self._at(name)
        try:
            os.mkdir(place, 0o700, **within)
        except FileExistsError:
            return False
        return True

    def open(self, name: str, flags: int, checked: bool = True) -> int:
        """A descriptor of a regular file of the user's own; a file that is made is for nobody else."""
        place, within = self._at(name)
        try:
            descriptor = os.open(place, flags | _NO_LINK | getattr(os, "O_BINARY", 0), 0o600, **within)
        except OSError as error:
            if error.errno in _IS_LINK:
                raise NotPrivateError(f"{self.path / name} is a link") from None
            raise
        try:
            if checked:
                _require(os.fstat(descriptor), self.path / name, stat.S_ISREG, "file")
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def read(self, name: str, secret: bool = False) -> bytes:
        """The content of a file of the user's own; of a secret only if nobody else may read it."""
        with os.fdopen(self.open(name, _READ), "rb") as file:
            if secret and sys.platform != "win32" and os.fstat(file.fileno()).st_mode & 0o077:
                raise NotPrivateError(f"others may read {self.path / name}")
            return file.read()

    def write(self, name: str, content: bytes) -> None:
        """Put a file under this name in one step; other processes see the old one, the new one or none."""
        beside = f"{name}.{os.urandom(6).hex()}.tmp"
        place, within = self._at(beside)
        try:
            with os.fdopen(self.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(content)
            between = {} if self._descriptor is None else {"src_dir_fd": self._descriptor, "dst_dir_fd": self._descriptor}
            os.replace(place, self._at(name)[0], **between)
        except BaseException:
            with suppress(OSError):
                os.unlink(place, **within)
            raise

    def remove(self, name: str) -> None:
        """Take a file away."""
        place, within = self._at(name)
        os.unlink(place, **within)


@contextmanager
def opened(path: Path, within: Folder | None = None) -> Iterator[Folder]:
    """The folder, as long as it is used. An error if it is not the user's own, or if others may write to it."""
    with _opened(path, within) as (folder, status):
        _require(status, path, stat.S_ISDIR, "folder")
        yield folder


@contextmanager
def _opened(path: Path, within: Folder | None = None) -> Iterator[tuple[Folder, os.stat_result]]:
    if os.open not in os.supports_dir_fd:
        yield Folder(path, None), path.lstat()
        return
    place, at = (str(path), {}) if within is None else within._at(path.name)
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, **at)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, *_IS_LINK):
            raise NotPrivateError(f"{path} is not a folder, or is a link to one") from None
        raise
    try:
        yield Folder(path, descriptor), os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _require(status: os.stat_result, path: Path, is_kind: Any, kind: str) -> None:
    """Raise if this could be somebody else's."""
    if not is_kind(status.st_mode):
        raise NotPrivateError(f"{path} is not a {kind}")
    if sys.platform == "win32":
        return
    # The superuser may own it: who has those rights could as well change the package itself.
    if status.st_uid not in (os.geteuid(), 0):
        raise NotPrivateError(f"{path} belongs to another user")
    if status.st_mode & _OTHERS_WRITE:
        raise NotPrivateError(f"others may write to {path} (chmod go-w makes it private; what is in it now is not used)")


def read_key(folder: Folder) -> bytes | None:
    """The key that files below this folder are sealed with; None if there is none, or one that others may have read."""
    try:
        content = folder.read(KEY_FILE, secret=True)
    except (FileNotFoundError, NotPrivateError):
        return None
    whole = content.startswith(KEY_HEAD) and len(content) == len(KEY_HEAD) + KEY_SIZE
    return content[len(KEY_HEAD) :] if whole else None


def make_key(folder: Folder) -> bytes:
    """A new key in place of whatever key is there: nothing that was sealed until now is read again."""
    if not _has_key(folder, otherwise=True):
        raise NotPrivateError(f"{folder.path / KEY_FILE} is not a key that you have: remove it")
    folder.write(KEY_FILE, KEY_HEAD + os.urandom(KEY_SIZE))
    key = read_key(folder)
    if key is None:  # a disk without owners and modes
        raise NotPrivateError(f"others may read what is written to {folder.path}")
    return key


def forget_key(path: Path) -> None:
    """Take the key out of a folder that others may write to: nothing that was sealed until now is read again."""
    with suppress(OSError, NotPrivateError), _opened(path) as (folder, _status):
        if _has_key(folder, otherwise=False):
            folder.remove(KEY_FILE)


def _has_key(folder: Folder, otherwise: bool) -> bool:
    """Whether there is a file of the user's own that begins as a key does: one that is ours to replace. Otherwise, if there is nothing."""
    try:
        descriptor = folder.open(KEY_FILE, _READ, checked=False)
    except FileNotFoundError:
        return otherwise
    try:
        status = os.fstat(descriptor)
        own = sys.platform == "win32" or status.st_uid == os.geteuid()
        return own and stat.S_ISREG(status.st_mode) and KEY_HEAD.startswith(os.read(descriptor, len(KEY_HEAD)))
    finally:
        os.close(descriptor)
