"""What weights mean for the rows that are trained on."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import MOST_REPEATS, Weighing, class_factors, read_weight


def test_no_weights_and_ones_say_nothing():
    for weight in (None, np.ones(3)):
        weighing = Weighing.of(weight)
        assert (weighing.given, weighing.take, weighing.weight) == (None, None, None)
    assert Weighing.of(None).at(np.arange(3)).tolist() == [0, 1, 2]


def test_whole_weights_are_repetitions():
    weighing = Weighing.of(np.array([2.0, 0.0, 1.0]))
    assert weighing.take.tolist() == [0, 0, 2]
    assert weighing.weight is None
    assert weighing.at(np.array(["a", "b", "c"])).tolist() == ["a", "a", "c"]


def test_many_repetitions_stay_weights():
    weight = np.array([1.0, MOST_REPEATS * 3.0])
    assert Weighing.of(weight).take is None
    assert Weighing.of(weight).weight.tolist() == weight.tolist()


def test_other_weights_are_kept_and_zeros_are_absent():
    weighing = Weighing.of(np.array([0.5, 0.0, 1.5]))
    assert weighing.take.tolist() == [0, 2]
    assert weighing.weight.tolist() == [0.5, 1.5]
    assert Weighing.of(np.array([0.5, 1.5])).take is None


def test_classes_weigh_on_top_of_whole_weights():
    weighing = Weighing.of(np.array([2.0, 1.0, 3.0]), np.array([0.5, 0.0, 1.5]))
    assert weighing.take.tolist() == [0, 0, 2, 2, 2]
    assert weighing.weight.tolist() == [0.5, 0.5, 1.5, 1.5, 1.5]
    assert weighing.given.tolist() == [2.0, 0.0, 3.0]


@pytest.mark.parametrize("given", [[1, 2], (1, 2), np.int8([1, 2]), pd.Series([1, 2]), pl.Series([1, 2]), np.array([1, 2], object)])
def test_weights_of_any_type_are_read(given):
    weight = read_weight(given, 2, "Oboe")
    assert weight.dtype == np.float64
    assert weight.tolist() == [1.0, 2.0]


def test_a_number_is_the_weight_of_every_row():
    assert read_weight(2, 3, "Oboe").tolist() == [2.0, 2.0, 2.0]
    assert read_weight(None, 3, "Oboe") is None


def test_balanced_weights_give_every_class_the_same_total():
    target = Target(np.array([0, 0, 0, 1], np.int32), np.array(["a", "b"]))
    factors = class_factors("balanced", None, target, "Oboe")
    assert factors == pytest.approx([2 / 3] * 3 + [2.0])
    weight = np.array([1.0, 0.0, 0.0, 3.0])
    assert class_factors("balanced", weight, target, "Oboe") == pytest.approx([2.0, 2.0, 2.0, 2 / 3])


def test_a_class_that_is_not_named_weighs_one():
    target = Target(np.array([0, 1, 2], np.int32), np.array([1, 2, 5]))
    assert class_factors({2: 3, np.int64(5): 0.5}, None, target, "Oboe").tolist() == [1.0, 3.0, 0.5]
    assert class_factors(None, None, target, "Oboe") is None
