"""Work that threads share."""

import threading
import time

import pytest

from woodwind.ensemble.bag import OrderedMap


def test_the_caller_can_do_it_alone():
    turns = OrderedMap(str, range(5), 2)
    assert [turns.outcome(position) for position in range(5)] == list("01234")


def test_nobody_runs_too_far_ahead():
    begun = []
    turns = OrderedMap(begun.append, range(100), 4)
    helper = threading.Thread(target=turns.help)
    helper.start()
    time.sleep(0.05)
    assert begun == [0, 1, 2, 3]
    turns.outcome(0)
    turns.outcome(1)
    time.sleep(0.05)
    assert begun == [0, 1, 2, 3, 4]
    turns.stop()
    helper.join(timeout=10)
    assert not helper.is_alive()


def test_an_error_waits_for_its_turn_and_ends_the_work():
    begun = []

    def make(number):
        begun.append(number)
        if number == 2:
            raise ValueError("no reed")
        time.sleep(0.02)
        return number

    turns = OrderedMap(make, range(100), 50)
    helpers = [threading.Thread(target=turns.help) for _ in range(3)]
    for helper in helpers:
        helper.start()
    assert [turns.outcome(0), turns.outcome(1)] == [0, 1]
    with pytest.raises(ValueError, match="no reed"):
        turns.outcome(2)
    for helper in helpers:
        helper.join(timeout=10)
    assert len(begun) < 10
