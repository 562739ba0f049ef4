"""What one layer of a stack passes on to the next."""

import numpy as np
import pytest

from woodwind.ensemble.layers import (
    LayerColumns,
    as_probabilities,
    column_names,
    columns_of,
    label_columns,
    log_odds,
    log_ratios,
    members_mean,
    probability_columns,
    telling_columns,
)

TWO = np.array([[0.9, 0.1], [0.4, 0.6], [1.0, 0.0]])
THREE = np.array([[0.5, 0.25, 0.25], [0.0, 0.2, 0.8]])


def test_of_two_classes_the_second_is_passed_on_and_of_three_all():
    assert probability_columns(TWO).tolist() == [[0.1], [0.6], [0.0]]
    assert probability_columns(THREE).tolist() == THREE.tolist()


def test_labels_become_columns_of_zeros_and_ones():
    assert label_columns(np.array([1, 0]), 2).tolist() == [[1.0], [0.0]]
    assert label_columns(np.array([2, 0]), 3).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


def test_log_odds_are_bounded_and_undone_by_the_logistic_function():
    odds = log_odds(TWO)
    assert odds[:2, 0] == pytest.approx(np.log([0.1 / 0.9, 0.6 / 0.4]))
    assert odds[2, 0] == pytest.approx(np.log(1e-4))
    logs = log_ratios(THREE, 1e-12)
    np.testing.assert_allclose(np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True), THREE, atol=1e-11)
    np.testing.assert_allclose(logs.sum(axis=1), 0.0, atol=1e-12)


def test_a_block_becomes_what_its_kind_says():
    assert columns_of(LayerColumns("a", "probabilities", TWO), 2).shape == (3, 1)
    assert columns_of(LayerColumns("a", "probabilities", TWO), 2, link=True).tolist() == log_odds(TWO).tolist()
    assert columns_of(LayerColumns("a", "votes", np.array([[2.0], [1.0]])), 3).tolist() == [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    assert columns_of(LayerColumns("a", "scores", THREE - 1.0), 3, link=True).tolist() == (THREE - 1.0).tolist()
    assert columns_of(LayerColumns("a", "numbers", TWO[:, :1]), 0).tolist() == TWO[:, :1].tolist()


def test_constant_and_repeated_columns_tell_nothing():
    columns = np.array([[1.0, 0.0, 0.0, 5.0], [1.0, 2.0, 2.0, 6.0], [1.0, 3.0, 3.0, 5.0]])
    assert telling_columns(columns).tolist() == [1, 3]
    columns[0, 2] = -0.0
    assert telling_columns(columns).tolist() == [1, 3]
    assert telling_columns(columns[:, :1]).tolist() == [0]  # one must be left to learn from


def test_names_have_numbers_where_there_are_several_columns():
    assert column_names([("tree", 1), ("line", 3)], "stack") == ["stack_tree", "stack_line0", "stack_line1", "stack_line2"]


def test_members_together_say_their_mean_and_scores_and_labels_are_votes():
    votes, scores = (
        LayerColumns("b", "votes", np.array([[1.0], [1.0], [0.0]])),
        LayerColumns("c", "scores", np.array([[-1.0], [0.5], [2.0]])),
    )
    assert as_probabilities(scores, 2).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    mean = members_mean([LayerColumns("a", "probabilities", TWO), votes, scores], 2)
    np.testing.assert_allclose(mean[:, 1], [(0.1 + 1.0 + 0.0) / 3, (0.6 + 1.0 + 1.0) / 3, (0.0 + 0.0 + 1.0) / 3])
    assert as_probabilities(LayerColumns("d", "scores", np.array([[0.1, 3.0, 2.0]])), 3).tolist() == [[0.0, 1.0, 0.0]]
    assert members_mean([LayerColumns("e", "numbers", np.array([[1.0]])), LayerColumns("f", "numbers", np.array([[4.0]]))], 0).tolist() == [
        [2.5]
    ]
