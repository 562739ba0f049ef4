"""What may be given to the functions of woodwind.diversity, what they make of it, and what they say where something is wrong."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import woodwind.diversity
from woodwind import DataError, diversity
from woodwind.base.errors import WeightError
from woodwind.diversity import class_indices, hits_of, kappa, pairwise, vote_margins

NAMES = [info.name for info in pkgutil.iter_modules(woodwind.diversity.__path__, "woodwind.diversity.")]
FUNCTIONS = [name for name in diversity.__all__ if name[0].islower()]


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_example(name):
    assert ">>> " in getattr(diversity, name).__doc__


TRUTH = np.array([0, 1, 2, 1])
SAID = np.array([[0, 0], [1, 2], [0, 2], [1, 1]])
KINDS = {
    "numbers": lambda numbers: numbers,
    "floats": lambda numbers: numbers.astype(np.float64),
    "small": lambda numbers: numbers.astype(np.int8),
    "far apart": lambda numbers: np.array([-(10**12), 0, 10**12])[numbers],
    "text": lambda numbers: np.array(["bad", "good", "ugly"])[numbers],
    "objects": lambda numbers: np.array(["bad", "good", "ugly"], object)[numbers],
    "lists": lambda numbers: np.array(["bad", "good", "ugly"])[numbers].tolist(),
    "dates": lambda numbers: np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[D]")[numbers],
    "decades": lambda numbers: numbers * 10 - 10,
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_kind_are_the_same_to_us(kind):
    truth, predicted = KINDS[kind](TRUTH), KINDS[kind](SAID)
    assert hits_of(truth, predicted).tolist() == (TRUTH[:, None] == SAID).tolist()
    assert np.array_equal(vote_margins(truth, predicted), vote_margins(TRUTH, SAID))
    assert np.array_equal(kappa(predicted), kappa(SAID))
    found = class_indices(truth, predicted)
    assert np.array_equal(np.asarray(found.classes)[found.votes], np.asarray(predicted))
    assert np.array_equal(np.asarray(found.classes)[found.truth], np.asarray(truth))


def test_truth_values_are_labels_too():
    assert hits_of([True, False], [[True, True], [False, True]]).tolist() == [[True, True], [True, False]]


def test_text_and_objects_are_compared_by_value():
    assert hits_of(np.array(["a", "b"]), np.array([["a"], ["a"]], object)).tolist() == [[True], [False]]
    assert class_indices(np.array(["a", "b"]), np.array([["a"], ["a"]], object)).votes.tolist() == [[0], [0]]


WRONG = {
    "too few rows": (lambda: hits_of([0, 1, 1], [[0, 1], [1, 1]]), "truth has 3 rows and labels has 2"),
    "no label": (lambda: hits_of([0.0, np.nan], [[0.0], [1.0]]), r"truth has no label at \(1,\)"),
    "none": (lambda: hits_of(["a", None], [["a"], ["b"]]), r"truth has no label at \(1,\)"),
    "empty": (lambda: hits_of([], []), "truth must have one label for each row"),
    "hits as numbers": (lambda: pairwise([[0, 1], [1, 1]]), "hits must be truth values.*hits_of"),
    "one member": (lambda: pairwise([[True], [False]]), "has 1 member, and differences need at least 2"),
    "three dimensions": (lambda: pairwise(np.ones((2, 2, 2), bool)), r"\(n, m\).*\(2, 2, 2\)"),
    "complex": (lambda: kappa(np.ones((2, 2), complex)), "must be labels"),
    "mixed": (lambda: class_indices([1, "a"], [["a"], [1]]), "no order"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case):
    call, words = WRONG[case]
    with pytest.raises(DataError, match=words):
        call()


def test_text_is_not_compared_with_numbers():
    with pytest.raises(DataError, match="the truth is text and what was predicted is numbers"):
        hits_of(np.array(["0", "1"]), np.array([[0, 1], [1, 1]]))


@pytest.mark.parametrize("weight", [[1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0], ["a", "b"], [np.inf, 1.0]])
def test_weights_that_make_no_sense_are_refused(weight):
    with pytest.raises(WeightError, match="pairwise: sample_weight must"):
        pairwise([[True, False], [False, True]], sample_weight=weight)
