import numpy as np
import pytest

from woodwind.base.errors import ParameterError
from woodwind.selection.choice import above_chance, above_nothing, all_best, most_accurate, one_best, tie_keys_of_rows
from woodwind.selection.facts import Region, SelectionFacts

SCORES = np.array([[0.2, 0.9, 0.9, 0.85], [0.0, 0.0, 0.0, 0.0]])


def region(n, k=3):
    rows = np.random.default_rng(0).integers(0, 50, (n, k))
    return Region(rows, np.ones((n, k)))


def test_the_first_of_the_best_or_all_of_them():
    assert one_best(SCORES, region(2)).tolist() == [[False, True, False, False], [True, False, False, False]]
    assert one_best(SCORES, region(2), selection_method="all").tolist() == all_best(SCORES).tolist()
    assert all_best(SCORES).tolist() == [[False, True, True, False], [True] * 4]


@pytest.mark.parametrize(
    ("how", "probabilities"), [("random", [0, 1 / 2, 1 / 2, 0]), ("diff", [0, 1 / 3, 1 / 3, 1 / 3]), ("roulette", SCORES[0] / 2.85)]
)
def test_one_is_drawn_with_the_chances_that_are_meant(how, probabilities):
    scores = np.repeat(SCORES[:1], 6000, axis=0)
    mask = one_best(scores, region(6000, 4), selection_method=how, diff_thresh=0.1, seed=1)
    assert (mask.sum(axis=1) == 1).all()
    np.testing.assert_allclose(mask.mean(axis=0), probabilities, atol=0.03)


def test_what_is_drawn_depends_on_the_region_and_the_seed_alone():
    where, scores = region(200), np.ones((200, 5))
    whole = one_best(scores, where, selection_method="random", seed=3)
    order = np.random.default_rng(0).permutation(200)
    np.testing.assert_array_equal(one_best(scores, where.at(order), selection_method="random", seed=3), whole[order])
    assert (one_best(scores, where, selection_method="random", seed=4) != whole).any()
    tie_keys = tie_keys_of_rows(np.random.default_rng(1).integers(0, 9, (20_000, 2)), 0)
    assert 0.0 <= tie_keys.min() < tie_keys.max() < 1.0


def test_a_threshold_of_zero_leaves_the_best():
    assert one_best(SCORES[:1], region(1), selection_method="diff", diff_thresh=0.0)[0, [0, 3]].tolist() == [False, False]


def test_thresholds_fall_back_on_all():
    facts = SelectionFacts.of(np.zeros((3, 4), int), [0, 1, 1], 2)
    assert above_chance(SCORES, facts).tolist() == [[False, True, True, True], [True] * 4]
    assert above_nothing(SCORES).tolist() == [[True] * 4, [True] * 4]


def test_a_share_of_the_best_is_at_least_one_and_of_equals_the_later():
    assert most_accurate(SCORES, pct_accuracy=0.5).tolist() == [[False, True, True, False], [False, False, True, True]]
    assert most_accurate(SCORES, pct_accuracy=0.1).sum(axis=1).tolist() == [1, 1]
    with pytest.raises(ParameterError, match="pct_accuracy must be above 0"):
        most_accurate(SCORES, pct_accuracy=0.0)
