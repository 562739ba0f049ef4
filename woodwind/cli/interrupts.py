"""Ctrl-C, or SIGTERM: once to finish with what there is, twice to leave at once.

A job takes the first one itself: it stops its clock, and what is finished makes a model. What comes here is the second, or one at a time
when there is nothing to finish with, and leads out: SystemExit, so that files which were begun are removed on the way. While results are
being written the first is only noted. Python hands a signal over between two of its own steps, and a compiled kernel may be in the middle
of a long one: a thread that the system wakes hears of every signal at once, says so, and sees to it that leaving takes a second at most.
Files are written under another name first, so that even then none is half there.
"""

import os
import signal
import socket
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Self

from woodwind.cli.command import INTERRUPTED
from woodwind.cli.console import say

GRACE = 1.0  # seconds
SHOW_CURSOR = "\x1b[?25h"

BEFORE, AT_WORK, WRITING = "before", "at work", "writing"


class Interrupting:
    """While a `with` block of it runs, Ctrl-C and SIGTERM are counted, and mean the same."""

    def __init__(self) -> None:
        self.phase = BEFORE
        self.heard = 0  # by the thread
        self.handled = 0  # here
        self.ours: socket.socket | None = None
        self.before: Any = None
        self.term_before: Any = None
        self.fd_before = -1

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # signals go to no other
            self.ours, theirs = socket.socketpair()
            self.ours.setblocking(False)
            self.fd_before = signal.set_wakeup_fd(self.ours.fileno(), warn_on_full_buffer=False)
            self.before = signal.signal(signal.SIGINT, self.handle)
            self.term_before = signal.getsignal(signal.SIGTERM)
            if self.term_before != signal.SIG_IGN:  # whoever started this wants it to go on
                signal.signal(signal.SIGTERM, self.terminate)
            threading.Thread(target=self.listen, args=(theirs,), name="woodwind-interrupts", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.ours is not None:
            signal.signal(signal.SIGINT, self.before)
            signal.signal(signal.SIGTERM, self.term_before)
            signal.set_wakeup_fd(self.fd_before)
            self.ours.close()  # which ends the thread, unless it has been called for

    def handle(self, number: int, frame: FrameType | None) -> None:
        """In the main thread, between two steps of Python."""
        self.handled += 1
        if self.phase != WRITING or self.handled > 1:
            raise SystemExit(INTERRUPTED)

    def terminate(self, number: int, frame: FrameType | None) -> None:
        """Do what Ctrl-C would do now: a job that is at work has set a handler of its own for that."""
        current = signal.getsignal(signal.SIGINT)
        (current if callable(current) else self.handle)(signal.SIGINT, frame)

    def listen(self, bell: socket.socket) -> None:
        """In a thread of its own: say what the first will do, give the main thread time to leave after the second, and leave."""
        with bell:
            while self.heard < 2:
                came = bell.recv(64)
                if not came:
                    return
                self.heard += came.count(signal.SIGINT) + came.count(signal.SIGTERM)
                if self.heard == 1:
                    say("woodwind fit: interrupted" + ("" if self.phase == BEFORE else TOLD))
        time.sleep(GRACE)
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), SHOW_CURSOR.encode())
        os._exit(INTERRUPTED)


TOLD = ": finishing with the best so far; Ctrl-C again leaves at once."
