"""DART: some earlier rounds are left out while a round is trained, and both are shrunk (Rashmi & Gilad-Bachrach 2015)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_friedman1
from sklearn.tree import DecisionTreeRegressor as TheirTree

import woodwind
from woodwind import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from woodwind.base.random_streams import seed_of
from woodwind.ensemble.boosting.boost_plan import DropoutPlan

DART = {"boosting": "dart", "drop_rate": 0.4, "skip_drop": 0.2, "random_state": 0}
QUICK = {"n_estimators": 15, "learning_rate": 0.5, "max_leaf_nodes": 8, "min_samples_leaf": 5, **DART}
EXACT = {"max_bins": None, "max_depth": 3, "max_leaf_nodes": None, "l2_regularization": 0.0, "min_samples_leaf": 5, "subsample": 1.0}


def numbers(n=300, seed=0):
    return make_friedman1(n, n_features=6, noise=0.5, random_state=seed)


def by_hand(X, y, rounds, rate, dropout, seed):
    """Algorithm 1 of the paper, with a learning rate, and with trees of scikit-learn; also the scores after every round."""
    trees, scales, stages = [], [], []
    for number in range(rounds):
        dropped = dropout.dropped(seed, number)
        kept = [position for position in range(number) if position not in dropped]
        score = y.mean() + sum((scales[position] * trees[position].predict(X) for position in kept), np.zeros(len(y)))
        trees.append(TheirTree(max_depth=3, min_samples_leaf=5).fit(X, y - score))
        scales.append(rate / (len(dropped) + 1))
        for position in dropped:
            scales[position] *= len(dropped) / (len(dropped) + 1)
        stages.append(y.mean() + sum((scale * tree.predict(X) for scale, tree in zip(scales, trees, strict=True)), np.zeros(len(y))))
    return stages


@pytest.mark.parametrize(("drop_rate", "skip_drop", "max_drop"), [(0.4, 0.2, 50), (1.0, 0.0, None), (0.9, 0.0, 2), (0.0, 0.0, 50)])
def test_it_is_the_algorithm_of_the_paper(drop_rate, skip_drop, max_drop):
    X, y = numbers()
    options = {"boosting": "dart", "drop_rate": drop_rate, "skip_drop": skip_drop, "max_drop": max_drop, "random_state": 3}
    model = GradientBoostingRegressor(n_estimators=12, learning_rate=0.5, growth="level", **options, **EXACT)
    model.fit(X, y, eval_set=(X, y))
    stages = by_hand(X, y, 12, 0.5, DropoutPlan(drop_rate, skip_drop, max_drop), seed_of(3))
    assert_allclose(model.predict(X), stages[-1], atol=1e-9)
    # While training, scores are those of all trees as they were shrunk so far, also of rows from outside.
    losses = np.array([np.mean((y - stage) ** 2) for stage in stages])
    for table in ("training", "validation_0"):
        curve = model.evals_result_[table]["squared_error"]
        assert_allclose(curve / curve[0], losses / losses[0], rtol=1e-9)


def test_nothing_left_out_is_plain_boosting():
    X, y = numbers()
    options = {**QUICK, "early_stopping": False, "drop_rate": 0.0}
    dart = GradientBoostingRegressor(**options).fit(X, y)
    plain = GradientBoostingRegressor(**{**options, "boosting": "plain"}).fit(X, y)
    assert dart.forest_.digest() == plain.forest_.digest()


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_scores_while_training_are_those_of_the_model(loss):
    X, y = numbers()
    y = np.abs(y)
    kept = []
    model = GradientBoostingRegressor(loss=loss, callbacks=[lambda step: kept.append(step.round.raw.copy()) and False], **QUICK).fit(X, y)
    raw = model.forest_.raw(model._read(X))[:, 0]
    assert_allclose(kept[-1], raw, atol=1e-10)
    assert len(kept) == model.n_iter_ == 15


@pytest.mark.parametrize("multiclass", ["vector", "one_per_class"])
def test_several_classes_and_the_model_file(multiclass, tmp_path):
    X, y = make_classification(300, n_features=8, n_informative=5, n_classes=3, random_state=0)
    model = GradientBoostingClassifier(multiclass=multiclass, **QUICK).fit(X, y)
    assert model.score(X, y) > 0.9
    model.save(tmp_path / "model.ww")
    again = woodwind.load(tmp_path / "model.ww")
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.boosting == "dart"


def test_the_bits_are_the_same_for_any_number_of_threads():
    X, y = numbers(3000)
    one, two = (GradientBoostingRegressor(n_jobs=jobs, **QUICK).fit(X, y).forest_.digest() for jobs in (1, 2))
    assert one == two


def test_a_run_in_two_parts_is_one_run_and_the_first_part_stays():
    X, y = numbers()
    whole = GradientBoostingRegressor(warm_start=True, **QUICK).fit(X, y)
    parts = GradientBoostingRegressor(warm_start=True, **{**QUICK, "n_estimators": 6}).fit(X, y)
    first, before = parts._earlier, parts.forest_.digest()
    values = [tree.value.copy() for trees in first.trained.rounds for tree in trees]
    parts.set_params(n_estimators=15).fit(X, y)
    assert_allclose(parts.predict(X), whole.predict(X), atol=1e-9)
    assert before != parts.forest_.digest()
    for tree, value in zip((tree for trees in first.trained.rounds for tree in trees), values, strict=True):
        assert_array_equal(tree.value, value)


def test_rounds_are_left_out_as_often_as_asked():
    plan = DropoutPlan(0.3, 0.25, None)
    drawn = [plan.dropped(seed, 40) for seed in range(2000)]
    assert np.mean([not one for one in drawn]) == pytest.approx(0.25, abs=0.03)
    assert np.mean([len(one) for one in drawn if one]) == pytest.approx(12, abs=0.3)
    assert np.mean([len(DropoutPlan(0.9, 0.0, 5).dropped(seed, 40)) for seed in range(2000)]) == pytest.approx(5, abs=0.2)


def test_what_cannot_be_with_it_is_named():
    X, y = numbers()
    with pytest.raises(ParameterError, match="early_stopping=True is not for boosting='dart'"):
        GradientBoostingRegressor(early_stopping=True, **QUICK).fit(X, y)
    with pytest.raises(ParameterError, match="refit_leaves goes through the rounds one by one"):
        GradientBoostingRegressor(**QUICK).fit(X, y).refit_leaves(X, y)
    with pytest.raises(ParameterError, match="drop_rate must be"):
        GradientBoostingRegressor(**{**QUICK, "drop_rate": 1.5}).fit(X, y)
