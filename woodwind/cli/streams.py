"""Standard output and standard error as a command has them: closed, full or without a reader, they end no job and lose no model.

Bytes that a stream does not take go nowhere from then on, and why is remembered: of standard output it is told when the command ends, of
standard error there is nobody to tell.
"""

import codecs
import errno
import io
import os
import select
import sys
from typing import Any, TextIO, cast

from woodwind.base.formatting import printable


class BestEffortFile(io.FileIO):
    """A file that takes all that is written: what the system does not take is dropped, and `failure` says why."""

    failure: OSError | None = None
    is_closed = False  # since before the process began

    def write(self, content: Any) -> int:
        """How many bytes were written, or dropped."""
        if self.is_closed:
            self.failure = OSError(errno.EBADF, os.strerror(errno.EBADF))
        while self.failure is None:
            try:
                written: int | None = super().write(content)
            except OSError as error:
                self.failure = error
            else:
                if written is not None:
                    return written
                select.select([], [self], [])  # somebody has made it non-blocking, and its reader is slow
        return memoryview(content).nbytes


def prepare_streams() -> None:
    """Let neither a closed or full stream nor a sign that it cannot show end the program: signs are written as their numbers instead."""
    # A number that is free would be that of the next file, and whoever writes to standard output or error would write into it.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdout, sys.stderr = unfailing(sys.stdout), unfailing(sys.stderr)


def unfailing(stream: TextIO | None) -> TextIO:
    """The same stream, as one that takes all that is written."""
    if stream is None:
        nowhere = BestEffortFile(os.open(os.devnull, os.O_WRONLY), "w")
        nowhere.is_closed = True
        return io.TextIOWrapper(io.BufferedWriter(nowhere), "utf-8", "backslashreplace")
    raw = raw_of(stream)
    if not isinstance(stream, io.TextIOWrapper) or type(raw) is not io.FileIO:  # such as a console of Windows
        return stream
    stream.flush()
    ours = io.BufferedWriter(BestEffortFile(raw.fileno(), "w", closefd=False))
    return io.TextIOWrapper(
        ours, stream.encoding, "backslashreplace", line_buffering=stream.line_buffering, write_through=stream.write_through
    )


def raw_of(stream: Any) -> Any:
    """What is below the buffers of a stream."""
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)


def is_closed(stream: Any) -> bool:
    """Whether a stream was closed before the process began: its results are not wanted."""
    return getattr(raw_of(stream), "is_closed", False)


def failure_of(stream: TextIO) -> OSError | None:
    """Why a stream has not taken all that was written; None where it has, or where its reader had enough, as `head` has."""
    try:
        stream.flush()
    except OSError as error:
        found: OSError | None = error
    else:
        found = getattr(raw_of(stream), "failure", None)
    return None if isinstance(found, BrokenPipeError) else found


def data_stream() -> TextIO:
    """Standard output for the cells of a table: UTF-8 whatever the locale is, as a file would be. A sign must not become its number.

    On a terminal it does, where the sign would steer it.
    """
    sys.stdout.flush()
    if sys.stdout.isatty():
        return cast(TextIO, _Seen())
    if not hasattr(sys.stdout, "buffer"):
        return sys.stdout
    return cast(TextIO, codecs.getwriter("utf-8")(sys.stdout.buffer, "surrogateescape"))


class _Seen:
    """Standard output for somebody who looks at it."""

    def write(self, text: str) -> int:
        """Write lines."""
        return sys.stdout.write(printable(text, keep="\n\t"))
