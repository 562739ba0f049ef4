"""Orders of members, by hand: five members and six rows."""

import numpy as np
import pytest

from woodwind.base.errors import ParameterError
from woodwind.selection.member_selection import first_of, single_scores
from woodwind.selection.objectives import ballots_of, objective_of
from woodwind.selection.ordering import (
    boosting_order,
    boosting_order_of_errors,
    complementarity,
    complementarity_of_errors,
    kappa_order,
    margin_distance,
    margin_diversity,
    order_names,
    ordered,
    orientation,
    orientation_angles,
    pairwise_kappa,
    reduced_error,
    signature_of,
    signature_of_errors,
)

# Who is right, row by row. Member 2 and member 4 are right four times, 1 and 3 three times, 0 once.
HITS = np.array(
    [
        [0, 0, 1, 1, 1],
        [1, 0, 1, 0, 1],
        [0, 0, 1, 1, 1],
        [0, 1, 1, 0, 0],
        [0, 1, 0, 0, 1],
        [0, 1, 0, 1, 0],
    ],
    dtype=bool,
)
TRUTH = np.array([1, 1, 1, 0, 0, 0])
VOTES = np.where(HITS, TRUTH[:, None], 1 - TRUTH[:, None])


def test_reduced_error():
    """2 and 4 have four hits each: the first of them. With 4, of equal votes the first class wins: five hits, against four with 3, three
    with 1 and two with 0. Three members: 1 has five hits, 3 and 0 three. Four: 3 has five hits, 0 three.
    """
    objective = objective_of(ballots_of(VOTES, 2), TRUTH, "accuracy")
    assert reduced_error(objective).tolist() == [2, 4, 1, 3, 0]
    assert first_of(objective, np.array([2, 4, 1, 3, 0])).path == pytest.approx(np.array([4, 5, 5, 5, 3]) / 6)


def test_kappa():
    """0 and 3 agree in two rows where chance has 20/36: (12 - 20) / (36 - 20) = -1/2. Of those with -4/14, 0 and 2 come first."""
    kappa = pairwise_kappa(VOTES, 2)
    assert kappa[0, 3] == pytest.approx(-0.5)
    assert kappa[2, 4] == pytest.approx(-0.2)
    assert [kappa[0, 2], kappa[0, 4], kappa[2, 3], kappa[3, 4]] == pytest.approx([-4 / 14] * 4)
    assert kappa[1] == pytest.approx([0, 1, 0, 0, 0], abs=1e-12)  # one class for all rows: no agreement beyond chance, but with itself
    assert kappa_order(VOTES, 2).tolist() == [0, 3, 2, 4, 1]


def test_complementarity():
    """2 is wrong in rows 4 and 5, where 1 is right twice. Both tie where they differ, which is wrong in rows 0 to 2: 4 is right there."""
    assert complementarity(VOTES, TRUTH, 2).tolist() == [2, 1, 4, 3, 0]


def test_margin_distance():
    """Sums of signatures are -4, 0, 2, 0, 2: 2 first. Then 0.375 times these, less the product with member 2: 1 has 4, 3 none, 4 -1.25, 0
    -1.5. Less the products with both: 4 has 2.75, 3 has 2, 0 has 0.5.
    """
    assert margin_distance(signature_of(HITS)).tolist() == [2, 1, 4, 3, 0]


def test_orientation():
    """In each row the pool's signature is 0.2 or -0.2, in equal parts: the diagonal is at a right angle to it, and itself the reference."""
    angles = orientation_angles(signature_of(HITS))
    assert np.cos(angles) == pytest.approx(np.array([-4, 0, 2, 0, 2]) / 6)
    assert orientation(signature_of(HITS)).tolist() == [2, 4, 1, 3, 0]


def test_the_direction_of_orientation_is_at_a_right_angle_to_the_pool():
    """Three are right in row 0, two in row 1, one in row 2: the pool's signature is (1, 1/3, -1/3). Its square is 11/9, and its sum 1. The
    reference is 1 - 9/11 of it: (2, 8, 14) / 11.
    """
    signature = signature_of(np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1]], bool))
    reference = np.array([2, 8, 14])
    wanted = reference @ signature / np.linalg.norm(reference) / 3**0.5
    assert np.cos(orientation_angles(signature)) == pytest.approx(wanted)
    assert orientation(signature).tolist() == [2, 0, 1]


def test_boosting():
    """2 errs in two of six rows, whose weights become 1/4, and those of others 1/8. 1 and 4 have 5/8: the first, 1. Rows 0 to 2 weigh 1/6,
    row 3 0.1, the last two 0.2: 4 has 0.7, 3 has 0.53.
    """
    assert boosting_order(HITS).tolist() == [2, 1, 4, 3, 0]


def test_margin_and_diversity():
    """All margins are a fifth. Rows 0 to 2, where three are right, are worth a = 0.2 log 5 + 0.8 log 5/3, the others b = 0.2 log 5 + 0.8
    log 5/2: 2 and 4 have 3 a + b = 3.25, 1 has 3 b = 3.16, 3 has 2 a + b = 2.52, 0 has a.
    """
    assert margin_diversity(VOTES, TRUTH, 2).tolist() == [2, 4, 1, 3, 0]


def test_a_margin_of_zero_is_half_a_vote():
    """Of row 1 all are right, and it is worth nothing; row 0 is worth 0.2 log 4 + 0.8 log 2 to member 1."""
    assert margin_diversity(np.array([[0, 1], [1, 1]]), np.array([1, 1]), 2).tolist() == [1, 0]


# Numbers.

ERRORS = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 3.0], [-2.0, 0.5, 1.0]])


def test_complementarity_of_numbers():
    """Absolute errors add up to 3, 3.5 and 4.5. Member 0 is off by 1, 0 and 2: so weighed, 1 has 1 * 2 + 2 * 0.5 = 3, 2 has 2.5."""
    assert complementarity_of_errors(ERRORS).tolist() == [0, 2, 1]


def test_boosting_of_numbers():
    """Member 0 loses 0.5, 0 and 1, on average a half: weights begin anew, and 1 has less error than 2."""
    assert boosting_order_of_errors(ERRORS).tolist() == [0, 1, 2]
    # It loses 0.25, 0 and 1, 5/12 on average: rows weigh (5/7)^(3/4), 5/7 and 1. 1 has 0.777 * 2 + 3 = 4.55, 2 has 0.777 * 3 + 0.714 * 2
    # + 0.5 = 4.26, although its errors add up to more.
    errors = np.array([[0.5, 2.0, 3.0], [0.0, 0.0, 2.0], [-2.0, 3.0, 0.5]])
    assert boosting_order_of_errors(errors).tolist() == [0, 2, 1]
    errors[2, 1] = 2.5
    assert boosting_order_of_errors(errors).tolist() == [0, 1, 2]


def test_the_signature_of_numbers():
    """The median of the nine absolute errors is 1."""
    wanted = [[0, -1 / 3, 1 / 3], [1, 0, -1 / 2], [-1 / 3, 1 / 3, 0]]
    assert signature_of_errors(ERRORS) == pytest.approx(np.array(wanted))
    assert (signature_of_errors(np.zeros((2, 2))) == 1.0).all()


# Slow twins.


def one_by_one(m, score):
    chosen = []
    while len(chosen) < m:
        free = [member for member in range(m) if member not in chosen]
        chosen.append(max(free, key=lambda member: (round(score(chosen, member), 10), -member)))
    return chosen


@pytest.mark.parametrize("seed", range(4))
def test_margin_distance_is_the_distance_to_a_small_margin(seed):
    rng = np.random.default_rng(seed)
    weight = rng.random(15)
    for signature in (signature_of(rng.random((15, 7)) < 0.6), rng.uniform(-1, 1, (15, 7)) * np.geomspace(0.05, 1, 7) + 0.1):

        def closeness(chosen, member, signature=signature):
            point = signature[:, [*chosen, member]].sum(axis=1) / 7
            return -(weight * (0.3 - point) ** 2).sum() / weight.sum()

        assert margin_distance(signature, weight, aim=0.3).tolist() == one_by_one(7, closeness)


@pytest.mark.parametrize("seed", range(4))
def test_complementarity_counts_where_the_vote_is_wrong(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 40)
    votes = np.where(rng.random((40, 7)) < 0.5, truth[:, None], rng.integers(0, 3, (40, 7)))

    def right_where_wrong(chosen, member):
        counts = (votes[:, chosen, None] == np.arange(3)).sum(axis=1)
        wrong = counts.argmax(axis=1) != truth if chosen else np.ones(40, bool)
        return float((wrong & (votes[:, member] == truth)).sum())

    assert complementarity(votes, truth, 3).tolist() == one_by_one(7, right_where_wrong)


# Laws.


def random_case(numbers, seed=0, n=60, m=7, k=3):
    rng = np.random.default_rng(seed)
    if numbers:
        truth = rng.normal(size=n)
        return truth[:, None] + rng.normal(size=(n, m)) * rng.uniform(0.3, 2, m), truth
    truth = rng.integers(0, k, n)
    predicted = rng.random((n, m, k)) + np.eye(k)[truth][:, None, :] * rng.random((m, 1))
    return predicted / predicted.sum(axis=2, keepdims=True), truth


CASES = [(name, False) for name in order_names(True)] + [(name, True) for name in order_names(False)]


@pytest.mark.parametrize(("name", "numbers"), CASES)
def test_an_order_has_every_member_once(name, numbers):
    predicted, truth = random_case(numbers)
    objective = objective_of(predicted, truth, "squared_error" if numbers else "accuracy")
    order = ordered(name, predicted, truth, objective)
    assert sorted(order.tolist()) == list(range(7))
    everyone = first_of(objective, order, 7)
    assert everyone.weights == pytest.approx(np.full(7, 1 / 7))
    assert everyone.score == pytest.approx(objective_of(predicted, truth, lambda t, mean, w: of_mean(t, mean)).score(*whole(predicted)))


def of_mean(truth, mean):
    return -((truth - mean) ** 2).mean() if mean.ndim == 1 else (mean.argmax(axis=1) == truth).mean()


def whole(predicted):
    return np.ones(predicted.shape[1]), predicted.sum(axis=1).reshape(-1)


@pytest.mark.parametrize(("name", "numbers"), CASES)
def test_a_weight_of_two_is_a_row_given_twice(name, numbers):
    predicted, truth = random_case(numbers, seed=1)
    times = np.random.default_rng(2).integers(0, 3, len(truth))
    metric = "squared_error" if numbers else "accuracy"
    weighted = ordered(name, predicted, truth, objective_of(predicted, truth, metric, times), times)
    predicted, truth = np.repeat(predicted, times, axis=0), np.repeat(truth, times)
    assert weighted.tolist() == ordered(name, predicted, truth, objective_of(predicted, truth, metric)).tolist()


@pytest.mark.parametrize("numbers", [False, True])
def test_the_first_by_reduced_error_is_the_best_member(numbers):
    predicted, truth = random_case(numbers)
    objective = objective_of(predicted, truth, "squared_error" if numbers else "log_loss")
    assert reduced_error(objective)[0] == single_scores(objective).argmax()


@pytest.mark.parametrize("name", order_names(True))
def test_a_pool_of_one(name):
    predicted, truth = random_case(False, m=1)
    assert ordered(name, predicted, truth, objective_of(predicted, truth, "accuracy")).tolist() == [0]


def test_an_order_that_there_is_not():
    predicted, truth = random_case(True)
    with pytest.raises(ParameterError, match=r"predict numbers is one of 'reduced_error', 'complementarity', .* but it is 'kappa'"):
        ordered("kappa", predicted, truth, objective_of(predicted, truth, "squared_error"))
