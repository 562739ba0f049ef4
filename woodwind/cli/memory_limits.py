"""Limits on the memory of a process (ulimit -v and -d): more fits into them, and what does not fit is told in a line.

What libraries do where memory is refused cannot be caught: Arrow's reader waits for ever for a thread that could not be started, OpenBLAS
interrupts the process or ends it, C++ and LLVM abort. Most of what they ask for is addresses that nobody uses.
"""

import importlib
import os
import sys
from contextlib import suppress

from woodwind.cli.command import UNEXPECTED
from woodwind.cli.console import say

if sys.platform != "win32":
    import resource

MB = 1 << 20
TRAINING = ("fit", "warm")
# Megabytes for a small table on one processor, in training and otherwise, by the letter that ulimit knows the limit by. Measured on two
# processors with nothing compiled yet: 1,161 and 636 MB of addresses, 760 and 220 MB of data.
NEEDED = {"v": (1300, 750), "d": (900, 350)}
STACK = 8 * MB  # of a thread, where the system sets no limit
M_ARENA_MAX = -8  # of malloc.h


def limits() -> dict[str, int]:
    """Bytes that this process may have, by the letter of ulimit; nothing where there is no limit."""
    if sys.platform == "win32":
        return {}
    found = {"v": resource.getrlimit(resource.RLIMIT_AS)[0], "d": resource.getrlimit(resource.RLIMIT_DATA)[0]}
    return {letter: limit for letter, limit in found.items() if limit != resource.RLIM_INFINITY}


def prepare(command: str) -> None:
    """Before a command imports anything: ask for less where there is a limit, and end with a line where that is not enough."""
    found = limits()
    if not found:
        return
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # the default one reserves a GiB of addresses
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # 40 MB each, twice; the job holds BLAS to one thread anyway
    with suppress(ImportError, OSError, AttributeError):  # 64 MB for each thread that asks for memory; a matter of glibc
        importlib.import_module("ctypes").CDLL(None).mallopt(M_ARENA_MAX, 2)
    for letter, limit in found.items():
        needed = NEEDED[letter][command not in TRAINING] * MB + _stacks()
        if limit < needed:
            say(
                f"woodwind: {command} needs at least {needed // MB:,} MB of memory, and this process is limited to {limit // MB:,} MB "
                f"(ulimit -{letter}). Raise the limit to {needed // 1024} or more, or take it away: ulimit -{letter} unlimited."
            )
            raise SystemExit(UNEXPECTED)


def hint() -> str:
    """What may be behind an error that nobody expected, if there is a limit."""
    told = [f"{limit // MB:,} MB (ulimit -{letter})" for letter, limit in limits().items()]
    return f" The memory of this process is limited to {' and '.join(told)}, which may be why." if told else ""


def _stacks() -> int:
    """Bytes for the stacks of our threads and of Arrow's, one of each for a processor."""
    if sys.platform == "win32":
        return 0
    threads: int = importlib.import_module("woodwind.base.pool").usable_threads(None)
    stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return 2 * threads * (STACK if stack == resource.RLIM_INFINITY else stack)
