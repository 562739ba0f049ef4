"""One process compiles a kernel, the others wait for it: a byte of one file is locked for each kernel.

The system lets go of a lock when the process that has it ends, however that happens: there is no stale one to recognise. A forked child has
none of its parent's locks. Where a file system knows no locks, nobody waits, and several processes compile the same.
"""

import os
import sys
from pathlib import Path

from woodwind.kernels.runtime.private import NotPrivateError, opened

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_FILE = "kernels.lock"

# One descriptor for each file, for good: whoever closes any descriptor of a file lets go of all that the process has locked in it.
_descriptors: dict[Path, int | None] = {}


def take(folder: Path, number: int) -> bool | None:
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


def release(folder: Path, number: int) -> None:
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
            with opened(folder) as place:
                _descriptors[folder] = place.open(LOCK_FILE, os.O_RDWR | os.O_CREAT)
        except (OSError, NotPrivateError):  # a disk that may only be read
            _descriptors[folder] = None
    return _descriptors[folder]
