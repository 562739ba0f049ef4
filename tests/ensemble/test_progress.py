"""The progress line, with a clock and a stream that are made up."""

import io
from itertools import count

import numpy as np
import pytest

from woodwind.ensemble.boosting.boost import BoostingRound
from woodwind.ensemble.boosting.early_stopping import TrainingStep
from woodwind.ensemble.progress import in_words, with_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def steps(number, valid=None, train=None, first=0):
    return [TrainingStep(BoostingRound(k, (), np.zeros(1)), train, valid and valid / (k + 1), 1.0) for k in range(first, first + number)]


def ticking(seconds):
    ticks = count()
    return lambda: next(ticks) * seconds


def test_steps_are_passed_on_as_they_are():
    made = steps(5)
    assert list(with_progress(made, 5, "Oboe", io.StringIO(), ticking(0.1))) == made


def test_elsewhere_lines_are_plain_and_rare():
    stream = io.StringIO()
    list(with_progress(steps(20, valid=2.0), 100, "Oboe", stream, ticking(1.0)))
    lines = stream.getvalue().splitlines()
    assert 3 <= len(lines) <= 8
    assert "\r" not in stream.getvalue()
    assert lines[0].startswith("Oboe: round 1 of 100, validation loss 2 (best 2), ")
    assert lines[-1].startswith("Oboe: round 20 of 100, validation loss 0.1 (best 0.1), ")
    assert "left" in lines[0]
    assert "left" not in lines[-1]


def test_on_a_terminal_one_line_is_rewritten():
    stream = Terminal()
    list(with_progress(steps(20), 20, "Oboe", stream, ticking(1.0)))
    assert stream.getvalue().count("\r") >= 19
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().endswith("\n")


def test_remaining_time_counts_from_the_rounds_of_this_training():
    stream = io.StringIO()
    list(with_progress(steps(1, first=50), 100, "Oboe", stream, ticking(1.0)))
    first = stream.getvalue().splitlines()[0]
    assert "round 51 of 100" in first
    assert "at most" in first


def test_the_last_line_comes_even_when_the_training_fails():
    def failing():
        yield from steps(2, train=0.5)
        raise RuntimeError

    stream = io.StringIO()
    with pytest.raises(RuntimeError):
        list(with_progress(failing(), 9, "Oboe", stream, ticking(0.01)))
    assert stream.getvalue().splitlines()[-1].startswith("Oboe: round 2 of 9, training loss 0.5")


def test_nothing_is_said_of_a_training_without_rounds():
    stream = io.StringIO()
    assert list(with_progress([], 9, "Oboe", stream)) == []
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.04, "0.0 s"), (59.94, "59.9 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min")]
)
def test_durations_in_words(seconds, words):
    assert in_words(seconds) == words
