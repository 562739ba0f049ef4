"""Members on disjoint fragments of the rows, and the corrected error out of the bag."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as TheirTree

import woodwind
from woodwind import BaggingClassifier, BaggingRegressor, DataError, ParameterError
from woodwind.ensemble.resampling import out_of_bag_error


def numbers(n=103, seed=0):
    return make_friedman1(n, n_features=5, noise=1.0, random_state=seed)


@pytest.mark.parametrize("estimator", [None, LinearRegression(), KNeighborsRegressor(2)], ids=["own", "weights", "no weights"])
def test_every_row_is_in_one_fragment_and_fragments_are_as_large(estimator, tmp_path):
    X, y = numbers()
    model = BaggingRegressor(estimator=estimator, n_estimators=10, bootstrap="disjoint", oob_score=True, random_state=0).fit(X, y)
    parts = model.estimators_samples_
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(103))
    assert sorted({len(part) for part in parts}) == [10, 11]
    assert np.isfinite(model.oob_prediction_).all()
    model.save(tmp_path / "model.ww")
    again = woodwind.load(tmp_path / "model.ww")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.estimators_samples_[3], parts[3])


def test_members_are_those_of_their_fragments():
    X, y = numbers()
    model = BaggingRegressor(estimator=TheirTree(random_state=0), n_estimators=5, bootstrap="disjoint", random_state=0).fit(X, y)
    seed = [member.random_state for member in model.estimators_]
    own = [TheirTree(random_state=one).fit(X[rows], y[rows]) for one, rows in zip(seed, model.estimators_samples_, strict=True)]
    np.testing.assert_allclose(model.predict(X), np.mean([tree.predict(X) for tree in own], axis=0))


def test_whole_weights_are_rows_that_are_parted_too():
    X, y = numbers(40)
    weight = np.arange(40) % 3
    model = BaggingRegressor(n_estimators=4, bootstrap="disjoint", random_state=0).fit(X, y, sample_weight=weight)
    assert np.bincount(np.concatenate(model.estimators_samples_), minlength=40).tolist() == weight.tolist()


def test_one_fragment_is_the_whole_table_and_classes_work():
    X, y = load_iris(return_X_y=True)
    whole = BaggingClassifier(n_estimators=1, bootstrap="disjoint", random_state=0).fit(X, y)
    assert whole.score(X, y) == 1.0
    assert BaggingClassifier(n_estimators=5, bootstrap="disjoint", class_weight="balanced", random_state=0).fit(X, y).score(X, y) > 0.9


def test_what_cannot_be_parted_is_named():
    X, y = numbers(20)
    with pytest.raises(ParameterError, match="needs a row for each of the n_estimators=50 members, but there are 20"):
        BaggingRegressor(bootstrap="disjoint").fit(X, y)
    with pytest.raises(ParameterError, match=r"max_samples=0\.5 would draw some of them"):
        BaggingRegressor(bootstrap="disjoint", n_estimators=3, max_samples=0.5).fit(X, y)
    model = BaggingRegressor(bootstrap="disjoint", n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(DataError, match="n_fragments was 3 and is 4"):
        model.set_params(n_estimators=4).fit(X, y)
    with pytest.raises(ParameterError, match="KNeighborsRegressor takes no weights"):
        BaggingRegressor(estimator=KNeighborsRegressor(1), bootstrap="disjoint", n_estimators=3).fit(
            X, y, sample_weight=np.linspace(0.1, 1, 20)
        )


# The corrected error.


def test_the_correction_by_hand():
    """Two members say 1 and 3 of a row of truth 0; of ten members, the mean of all would vary by a fifth of that of two."""
    answers = [(np.array([0]), np.array([[1.0]])), (np.array([0, 1]), np.array([[3.0], [5.0]])), (np.array([1]), np.array([[5.0]]))]
    found = out_of_bag_error(answers, np.array([[0.0], [4.0]]), None, 10)
    assert found.error == pytest.approx((4.0 + 1.0) / 2)
    corrected = np.array([4.0 - 2.0 * (1 / 2 - 1 / 10), 1.0])  # variance of 1 and 3 is 2, of 5 and 5 none
    assert found.corrected == pytest.approx(corrected.mean())
    assert found.standard_error == pytest.approx(corrected.std(ddof=1) / np.sqrt(2))


def test_it_is_nearer_to_the_error_on_new_rows_for_few_members():
    """Over some draws: the plain estimate is too high by the noise of having a third of the members."""
    gaps = []
    for seed in range(15):
        X, y = numbers(300, seed)
        Z, z = numbers(3000, 1000 + seed)
        model = BaggingRegressor(n_estimators=12, random_state=seed).fit(X, y)
        found, true = model.oob_error(X, y), np.mean((model.predict(Z) - z) ** 2)
        gaps.append((found.error - true, found.corrected - true, found.standard_error))
    plain, corrected, stated = np.mean(gaps, axis=0)
    spread = np.std([gap[1] for gap in gaps]) / np.sqrt(len(gaps))
    assert plain > 0
    assert abs(corrected) < abs(plain)
    assert abs(corrected) < 3 * spread
    assert 0.4 < stated / np.std([gap[1] for gap in gaps]) < 2.5


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_the_plain_part_is_the_brier_score_of_the_out_of_bag_probabilities(voting):
    X, y = load_iris(return_X_y=True)
    model = BaggingClassifier(n_estimators=60, voting=voting, oob_score=True, random_state=0).fit(X, y)
    found = model.oob_error(X, y)
    assert found.error == pytest.approx(((model.oob_decision_function_ - np.eye(3)[y]) ** 2).sum(axis=1).mean(), abs=1e-9)
    assert found.corrected < found.error
    doubled = model.oob_error(X, y, sample_weight=np.full(150, 2.0))
    assert doubled.corrected == pytest.approx(found.corrected)


@pytest.mark.parametrize("asked", [2, 3])
def test_the_correction_is_exact_over_all_draws_of_members(asked):
    """Every member says one of three numbers, each as likely: all ways to draw those asked, and all ways to draw the whole bag."""
    said, truth, n_members = (0.0, 1.0, 5.0), 2.0, 4
    found = [
        out_of_bag_error(((np.array([0]), np.array([[one]])) for one in drawn), np.array([[truth]]), None, n_members).corrected
        for drawn in itertools.product(said, repeat=asked)
    ]
    errors = [(np.mean(drawn) - truth) ** 2 for drawn in itertools.product(said, repeat=n_members)]
    assert np.mean(found) == pytest.approx(np.mean(errors), rel=1e-12)


def test_other_rows_are_refused():
    X, y = numbers()
    model = BaggingRegressor(n_estimators=5, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="oob_error needs the 103 rows of the training"):
        model.oob_error(X[:50], y[:50])
    with pytest.raises(ParameterError, match="oob_error needs"):
        BaggingRegressor(n_estimators=5, bootstrap=False).fit(X, y).oob_error(X, y)
