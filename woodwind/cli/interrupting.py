"""Ctrl-C: once to finish with what there is, twice to leave at once.

The first raises KeyboardInterrupt, which a job answers by blending the members that it has; while results are being written it is only
noted. The second raises SystemExit, so that files which were begun are removed on the way out. Python hands a signal over between two of
its own steps, and a compiled kernel may be in the middle of a long one: a thread that is woken by the system itself sees to it that leaving
takes a second at most. What is written is written under another name first, so that even then no file is half there.
"""

import os
import signal
import socket
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any, Self

from woodwind.cli.exits import INTERRUPTED
from woodwind.cli.saying import say

GRACE = 1.0  # seconds
SHOW_CURSOR = "\x1b[?25h"


class Interrupting:
    """While a `with` block of it runs, Ctrl-C is counted."""

    def __init__(self) -> None:
        self.count = 0
        self.may_raise = True
        self.before: Any = None
        self.fd_before = -1
        self.ours: socket.socket | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # signals go to no other
            self.ours, theirs = socket.socketpair()
            self.ours.setblocking(False)
            self.fd_before = signal.set_wakeup_fd(self.ours.fileno(), warn_on_full_buffer=False)
            self.before = signal.signal(signal.SIGINT, self.handle)
            threading.Thread(target=watch, args=(theirs,), name="woodwind-interrupts", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.ours is not None:
            signal.signal(signal.SIGINT, self.before)
            signal.set_wakeup_fd(self.fd_before)
            self.ours.close()  # which ends the watcher, unless it has been called for

    def only_note(self) -> None:
        """From now on results are written: the first Ctrl-C changes nothing any more."""
        self.may_raise = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """In the main thread, between two steps of Python."""
        self.count += 1
        if self.count > 1:
            say("interrupted again: leaving.")
            raise SystemExit(INTERRUPTED)
        say("interrupted: finishing with the best so far; Ctrl-C again leaves at once.")
        if self.may_raise:
            raise KeyboardInterrupt


def watch(bell: socket.socket) -> None:
    """In a thread of its own: wait for the second Ctrl-C, give the main thread time to leave, and leave."""
    seen = 0
    with bell:
        while seen < 2:
            came = bell.recv(64)
            if not came:
                return
            seen += came.count(signal.SIGINT)
    time.sleep(GRACE)
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), SHOW_CURSOR.encode())
    os._exit(INTERRUPTED)
