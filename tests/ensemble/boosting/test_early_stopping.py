"""Consumers of rounds, with rounds that are made up."""

from types import SimpleNamespace

import numpy as np
import pytest

from woodwind.base.errors import InterruptWarning
from woodwind.ensemble.boosting.boost import BoostingRound
from woodwind.ensemble.boosting.early_stopping import best_of, scored, until_no_better, until_no_split
from woodwind.ensemble.progress import gather_until_interrupted, until_requested

INF, NAN = float("inf"), float("nan")


def rounds(count, leaves=2, value=1.0):
    tree = SimpleNamespace(feature=np.zeros(2 * leaves - 1), value=np.full((2 * leaves - 1, 1), value), linear=None)
    return [BoostingRound(number, (tree,), np.zeros(3)) for number in range(count)]


def steps(losses):
    values = iter(losses)
    return scored(rounds(len(losses)), lambda finished: (None, next(values)))


def numbers(found):
    return [step.number for step in found]


def test_training_ends_after_rounds_that_are_no_better():
    assert numbers(until_no_better(steps([5, 4, 3, 3, 3.5, 2, 1]), patience=2)) == [1, 2, 3, 4, 5]
    assert numbers(until_no_better(steps([5, 4, 3, 3, 3.5, 2, 1]), patience=3)) == [1, 2, 3, 4, 5, 6, 7]


def test_a_share_of_what_is_left_is_progress_as_well():
    falling = [100.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7]
    assert numbers(until_no_better(steps(falling), patience=2, tol=0.5)) == [1, 2, 3, 4]
    assert numbers(until_no_better(steps(falling), patience=2, tol=0.5, share=0.05)) == [1, 2, 3, 4, 5, 6, 7]
    assert numbers(until_no_better(steps(falling), patience=2, tol=0.5, share=0.9)) == [1, 2, 3, 4]  # whichever is less
    assert numbers(until_no_better(steps([0.0, 0.0, 0.0, 0.0]), patience=2, tol=0.5, share=0.05)) == [1, 2, 3]


def test_an_improvement_within_the_tolerance_is_none():
    losses = [5, 4.9, 4.8, 4.7, 4.6]
    assert numbers(until_no_better(steps(losses), patience=2, tol=0.05)) == [1, 2, 3, 4, 5]
    assert numbers(until_no_better(steps(losses), patience=2, tol=1.0)) == [1, 2, 3]


def test_small_improvements_add_up_against_the_tolerance():
    losses = [5, 4.9, 4.8, 4.7, 4.6, 4.5]
    assert numbers(until_no_better(steps(losses), patience=4, tol=0.25)) == [1, 2, 3, 4, 5, 6]


def test_a_loss_that_is_no_number_is_no_improvement():
    assert numbers(until_no_better(steps([NAN, NAN, NAN, NAN]), patience=3)) == [1, 2, 3]
    assert numbers(until_no_better(steps([1, NAN, INF, 0.5]), patience=3)) == [1, 2, 3, 4]


@pytest.mark.parametrize(("losses", "position"), [([3, 1, 2], 1), ([1, 1], 0), ([NAN, 2, 1, NAN], 2), ([NAN, INF], 1), ([NAN], 0)])
def test_the_best_is_the_first_smallest_loss(losses, position):
    assert best_of(losses) == position


def test_a_round_without_any_split_ends_the_training_and_is_left_out():
    found = list(until_no_split([*rounds(3), *rounds(1, leaves=1), *rounds(5)]))
    assert len(found) == 3


def test_with_patience_single_rounds_without_a_split_are_passed_on():
    made = [*rounds(2), *rounds(2, leaves=1), *rounds(1), *rounds(3, leaves=1), *rounds(1)]
    assert list(until_no_split(made, patience=3)) == made[:5]


def test_steps_that_move_nothing_end_the_training():
    made = [*rounds(2), *rounds(1, value=-1e-9), *rounds(1, value=1e-13), *rounds(3)]
    assert list(until_no_split(made)) == made[:3]
    assert list(until_no_split(rounds(3, value=1e-9), largest=1e5)) == []
    assert list(until_no_split(rounds(3, value=0.0))) == []


def test_one_tree_with_a_split_is_enough():
    stump, leaf = rounds(1)[0].trees[0], rounds(1, leaves=1)[0].trees[0]
    made = [BoostingRound(0, (leaf, stump, leaf), np.zeros(1)), BoostingRound(1, (leaf, leaf, leaf), np.zeros(1))]
    assert list(until_no_split(made)) == made[:1]


def test_every_callback_is_called_with_every_step_until_one_says_true():
    heard = []

    def first(step):
        heard.append(("first", step.number))

    def second(step):
        heard.append(("second", step.number))
        return step.number == 2

    assert numbers(until_requested(steps([3, 2, 1]), [second, first])) == [1, 2]
    assert heard == [("second", 1), ("first", 1), ("second", 2), ("first", 2)]


def test_something_other_than_true_does_not_end_the_training():
    assert numbers(until_requested(steps([3, 2, 1]), [lambda step: "yes", lambda step: 1.5])) == [1, 2, 3]


def test_an_interrupt_keeps_the_rounds_that_were_finished():
    def interrupted():
        yield from steps([3, 2])
        raise KeyboardInterrupt

    with pytest.warns(InterruptWarning, match="Oboe was interrupted after 2 of 9 rounds"):
        found, was_interrupted = gather_until_interrupted(interrupted(), 9, "Oboe")
    assert numbers(found) == [1, 2]
    assert was_interrupted
    assert gather_until_interrupted(steps([1]), 1)[1] is False


def test_an_interrupt_before_the_first_round_goes_on():
    def interrupted():
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        gather_until_interrupted(interrupted(), 9)


def test_steps_know_the_time_and_what_was_watched():
    ticks = iter([10.0, 11.0, 13.0])
    found = list(scored(rounds(2), lambda finished: (float(finished.number), None), clock=lambda: next(ticks)))
    assert [(step.train, step.valid, step.seconds) for step in found] == [(0.0, None, 1.0), (1.0, None, 3.0)]
    assert [(step.train, step.valid) for step in scored(rounds(1))] == [(None, None)]
