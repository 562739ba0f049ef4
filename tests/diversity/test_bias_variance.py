"""Bias and variance: every decomposition adds up, to what a slow twin finds by asking about every pair of a truth and a prediction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from woodwind import DataError, ParameterError
from woodwind.base.errors import OutOfBagWarning
from woodwind.diversity import (
    james_decomposition,
    kohavi_wolpert_decomposition,
    squared_decomposition,
    zero_one_decomposition,
)

OF_LABELS = (zero_one_decomposition, kohavi_wolpert_decomposition, james_decomposition)


def mode(values, n_classes):
    return int(np.bincount(values, minlength=n_classes).argmax())


def slow_domingos(truths, predictions, n_classes):
    """Loss, noise, bias and net variance of one row, by Domingos (2000): coefficients and all."""
    best, main = mode(truths, n_classes), mode(predictions, n_classes)
    loss = np.mean([[t != y for y in predictions] for t in truths])
    N, B, V = np.mean(truths != best), float(main != best), np.mean(predictions != main)
    both = [(t, y) for t in truths if t != best for y in predictions if y != best]
    meet = np.mean([t == y for t, y in both]) if both else 0.0
    c1 = np.mean(predictions == best) - np.mean(predictions != best) * meet
    others = predictions[predictions != main]
    c2 = 1.0 if main == best else -(np.mean(others == best) if len(others) else 0.0)
    return loss, c1 * N, B, c2 * V


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_truths", [1, 7])
def test_domingos_adds_up_for_any_number_of_classes_and_with_noise(n_classes, n_truths):
    rng = np.random.default_rng(n_classes + n_truths)
    truth, predicted = rng.integers(0, n_classes, (20, n_truths)), rng.integers(0, n_classes, (9, 20))
    found = zero_one_decomposition(truth if n_truths > 1 else truth[:, 0], predicted)
    expected = np.array([slow_domingos(truth[row], predicted[:, row], n_classes) for row in range(20)])
    np.testing.assert_allclose(np.stack(found.rows, axis=1), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(expected[:, 0], expected[:, 1:].sum(axis=1), rtol=0, atol=1e-12)
    assert (found.loss, found.noise, found.bias, found.variance) == pytest.approx(expected.mean(axis=0), abs=1e-12)
    if n_truths == 1:
        assert found.noise == 0.0


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_two_classes_have_loss_bias_plus_unbiased_less_biased_variance(rounds, n, seed):
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, 2, n), rng.integers(0, 2, (rounds, n))
    found = zero_one_decomposition(truth, predicted)
    main = np.array([mode(column, 2) for column in predicted.T])
    V, biased = np.mean(predicted != main, axis=0), main != truth
    assert found.loss == pytest.approx(np.mean(predicted != truth), abs=1e-12)
    assert found.bias == pytest.approx(biased.mean(), abs=1e-12)
    assert found.variance_unbiased == pytest.approx(np.mean(V * ~biased), abs=1e-12)
    assert found.variance_biased == pytest.approx(np.mean(V * biased), abs=1e-12)
    assert found.loss == pytest.approx(found.bias + found.variance_unbiased - found.variance_biased, abs=1e-12)
    assert found.spread == pytest.approx(found.variance_unbiased + found.variance_biased, abs=1e-12)
    # The plain sum, which some libraries give, is something else as soon as a biased row varies.
    if found.variance_biased > 0:
        assert found.loss < found.bias + found.spread


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 4), st.integers(1, 4), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_every_decomposition_adds_up_to_the_loss(n_classes, n_truths, rounds, seed):
    rng = np.random.default_rng(seed)
    truth, predicted, weight = rng.integers(0, n_classes, (8, n_truths)), rng.integers(0, n_classes, (rounds, 8)), rng.random(8) + 0.01
    asked = rng.random((rounds, 8)) < 0.7
    asked[0] = True
    rows = [np.mean(truth[i][:, None] != predicted[asked[:, i], i]) for i in range(8)]
    for decompose in OF_LABELS:
        found = decompose(truth, predicted, asked=asked, sample_weight=weight)
        assert found.loss == pytest.approx(np.average(rows, weights=weight), abs=1e-12)
        assert found.loss == pytest.approx(found.noise + found.bias + found.variance, abs=1e-12)
        assert found.variance == pytest.approx(found.variance_unbiased - found.variance_biased, abs=1e-12)
    numbers, truths = rng.normal(size=(rounds, 8)), rng.normal(size=(8, n_truths))
    found = squared_decomposition(truths, numbers, asked=asked, sample_weight=weight)
    rows = [np.mean((truths[i][:, None] - numbers[asked[:, i], i]) ** 2) for i in range(8)]
    assert found.loss == pytest.approx(np.average(rows, weights=weight), abs=1e-12)
    assert found.loss == pytest.approx(found.noise + found.bias + found.variance, abs=1e-12)


def test_kohavi_and_wolpert_without_what_few_rounds_add():
    """On average over samples of rounds, bias is that of infinitely many; by hand for one row, two classes and two rounds."""
    p = 0.3  # of predicting the wrong class
    probabilities = {(0, 0): (1 - p) ** 2, (0, 1): p * (1 - p), (1, 0): p * (1 - p), (1, 1): p**2}
    mean = {"bias": 0.0, "variance": 0.0}
    for votes, probability in probabilities.items():
        found = kohavi_wolpert_decomposition([0], [[vote] for vote in votes], unbiased=True)
        assert found.loss == pytest.approx(found.bias + found.variance, abs=1e-12)
        for name in mean:
            mean[name] += probability * getattr(found, name)
    assert mean["bias"] == pytest.approx(p**2)
    assert mean["variance"] == pytest.approx(p * (1 - p))
    with pytest.raises(ParameterError, match="unbiased=True needs two predictions of each row"):
        kohavi_wolpert_decomposition([0], [[1]], unbiased=True)


def test_james_says_what_the_loss_would_be_without_variance():
    truth, predicted = np.array([0, 0, 1, 1]), np.array([[0, 1, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0]])
    found = james_decomposition(truth, predicted)
    assert found.bias == np.mean(found.main != truth)
    assert found.variance == pytest.approx(np.mean(predicted != truth) - np.mean(found.main != truth))


def test_squared_loss_of_one_round_has_no_variance():
    found = squared_decomposition([1.0, 2.0], [[3.0, 2.0]])
    assert (found.loss, found.bias, found.variance, found.noise) == (2.0, 2.0, 0.0, 0.0)
    assert found.main.tolist() == [3.0, 2.0]


def test_rows_that_nobody_predicted_are_left_out_and_a_warning_says_so():
    asked = np.array([[True, False], [True, False]])
    for decompose, truth, predicted in [(one, ["a", "b"], [["a", "?"], ["b", "?"]]) for one in OF_LABELS] + [
        (squared_decomposition, [1.0, 2.0], [[1.0, np.nan], [3.0, np.nan]])
    ]:
        with pytest.warns(OutOfBagWarning, match=r"1 rows \(first 1\) have no prediction"):
            found = decompose(truth, predicted, asked=asked)
        assert np.isnan(found.rows.loss[1])
        assert found.loss == found.rows.loss[0] > 0


def test_labels_of_any_kind_and_readable_results():
    names = np.array(["bad", "good"])
    truth, predicted = np.array([0, 1, 1]), np.array([[0, 1, 0], [1, 1, 0], [0, 1, 1]])
    found, named = zero_one_decomposition(truth, predicted), zero_one_decomposition(names[truth].tolist(), names[predicted])
    assert (named.loss, named.bias, named.variance) == (found.loss, found.bias, found.variance)
    assert named.main.tolist() == names[found.main].tolist()
    assert str(named).splitlines()[0] == "Domingos, 0-1 loss, 3 rounds, 3 rows"
    assert "on biased rows" in str(named)


def test_what_is_wrong_is_named():
    with pytest.raises(DataError, match=r"predictions must be \(rounds, rows\)"):
        zero_one_decomposition([0, 1], [0, 1])
    with pytest.raises(DataError, match="truth has 2 rows and predictions"):
        zero_one_decomposition([0, 1], [[0, 1, 1]])
    with pytest.raises(DataError, match="asked must be truth values in the shape of predictions"):
        zero_one_decomposition([0, 1], [[0, 1]], asked=[True, False])
    with pytest.raises(DataError, match="asked is false everywhere"):
        squared_decomposition([0, 1], [[0, 1]], asked=[[False, False]])
    with pytest.raises(DataError, match="the truth is text and what was predicted is numbers"):
        zero_one_decomposition(["0", "1"], [[0, 1]])
