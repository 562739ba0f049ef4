"""The clock: counts down, keeps some time for the end, and is stopped by Ctrl-C."""

import math
import os
import signal
import threading
import time

import pytest

from tests.auto.fakes import Time
from woodwind.auto.clock import KEPT_SECONDS, KEPT_SHARE, Clock, ending_on_interrupt


def test_it_counts_down_and_keeps_time_for_the_end():
    told = Time()
    clock = Clock(100.0, now=told)
    told.pass_by(30.0)
    assert (clock.spent, clock.left) == (30.0, 70.0)
    assert clock.left_for_training == pytest.approx(70.0 - KEPT_SHARE * 100.0 - KEPT_SECONDS)


def test_without_a_budget_there_is_always_time_until_it_is_stopped():
    clock = Clock()
    assert clock.left == clock.left_for_training == math.inf
    clock.stop()
    assert clock.left == clock.left_for_training == 0.0


def interrupt_twice(clock):
    with ending_on_interrupt(clock):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert clock.stopped
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10.0)


def test_the_first_interrupt_stops_the_clock_and_the_second_interrupts():
    clock = Clock()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background ignores it
    with pytest.raises(KeyboardInterrupt):
        interrupt_twice(clock)
    signal.signal(signal.SIGINT, before)
    assert clock.stopped


def test_the_handler_from_before_comes_back():
    before = signal.getsignal(signal.SIGINT)
    with ending_on_interrupt(Clock()):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_on_another_thread_nothing_changes():
    seen = []

    def work():
        with ending_on_interrupt(Clock()):
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
