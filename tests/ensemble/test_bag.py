"""Members side by side, in their order."""

import threading
import time

import numpy as np
import pytest

from woodwind.base.errors import InterruptWarning
from woodwind.ensemble.bag import gathered, in_order, sum_of


@pytest.mark.parametrize("sides", [1, 2, 5])
def test_members_come_in_their_order_whoever_is_first(sides):
    def slow_at_first(number):
        time.sleep(0.02 if number % 3 == 0 else 0.0)
        return number * 10

    assert list(in_order(slow_at_first, range(20), sides)) == [number * 10 for number in range(20)]


def test_they_are_made_on_several_threads():
    both = threading.Barrier(2, timeout=10)
    assert list(in_order(lambda number: both.wait() >= 0, range(4), 2)) == [True] * 4


@pytest.mark.parametrize("sides", [1, 2])
def test_an_error_stops_the_others(sides):
    begun = []

    def make(number):
        begun.append(number)
        if number == 3:
            raise ValueError("no reed")
        return number

    with pytest.raises(ValueError, match="no reed"):
        list(in_order(make, range(1000), sides))
    assert len(begun) < 50


@pytest.mark.parametrize("sides", [1, 2])
def test_an_interrupt_keeps_the_members_that_were_finished(sides):
    def make(number):
        if number == 5:
            raise KeyboardInterrupt
        return number

    with pytest.warns(InterruptWarning, match="after 5 of 1,000 members"):
        assert gathered(in_order(make, range(1000), sides), 0, 1000, "Oboe") == [0, 1, 2, 3, 4]


def test_an_interrupt_before_the_first_member_goes_on():
    def make(number):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gathered(in_order(make, range(3), 1), 0, 3, "Oboe")


def test_a_callback_may_end_it():
    seen = []

    def until_third(step):
        seen.append((step.number, step.member))
        return step.number == 3

    assert gathered(in_order(str, range(9), 1), 0, 9, "Oboe", callbacks=[until_third]) == ["0", "1", "2"]
    assert seen == [(1, "0"), (2, "1"), (3, "2")]


def test_progress_counts_members(capsys):
    gathered(in_order(str, range(2, 4), 1), 2, 4, "Oboe", verbose=True)
    assert "Oboe: member 4 of 4" in capsys.readouterr().err


def test_a_sum_does_not_change_what_it_adds():
    first = np.ones((2, 1))
    assert sum_of([first, first, first]).tolist() == [[3.0], [3.0]]
    assert first.tolist() == [[1.0], [1.0]]


def test_a_callback_that_prints_members_prints_a_line_for_each():
    shown = []
    gathered(iter([np.zeros(10_000), np.ones(10_000)]), 0, 2, "Oboe", callbacks=[lambda step: shown.append(repr(step))])
    assert [line.split(", seconds")[0] for line in shown] == ["Trained(number=1, member=ndarray", "Trained(number=2, member=ndarray"]
