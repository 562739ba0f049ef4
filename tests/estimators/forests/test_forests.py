"""Forests as users meet them."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification, make_friedman1
from sklearn.metrics import roc_auc_score

import woodwind
from woodwind import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from woodwind.base.errors import InterruptWarning, OutOfBagWarning
from woodwind.ensemble.forest import ForestGrowth
from woodwind.ensemble.resampling import Resampling
from woodwind.kernels.predict.forest_quantiles import shares_below

TOO_FEW = pytest.mark.filterwarnings("ignore:.*have no out-of-bag prediction")
BOTH_TASKS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]


def table(kind, n=300, seed=0):
    if "Classifier" in kind.__name__:
        return make_classification(n, 8, n_informative=5, n_classes=3, random_state=seed)
    return make_friedman1(n, 8, random_state=seed)


@TOO_FEW
@pytest.mark.parametrize("kind", BOTH_TASKS)
def test_any_number_of_threads_grows_the_same_forest(kind):
    X, y = table(kind, 2500)
    digests = set()
    for n_jobs in (1, 2, 3, 4, 8):
        model = kind(n_estimators=12, n_jobs=n_jobs, random_state=3, bootstrap=True, oob_score=True).fit(X, y)
        arrays = (
            model.compact_forest_.nodes,
            model.compact_forest_.roots,
            model.compact_forest_.mixed,
            model.compact_forest_.cover,
            model.predict(X),
        )
        digests.add(b"".join(np.ascontiguousarray(array).tobytes() for array in (*arrays, np.float64(model.oob_score_))))
    assert len(digests) == 1


@TOO_FEW
@pytest.mark.parametrize("kind", BOTH_TASKS)
def test_growing_on_is_growing_at_once(kind):
    X, y = table(kind)
    whole = kind(n_estimators=10, random_state=1, bootstrap=True, oob_score=True).fit(X, y)
    part = kind(n_estimators=4, random_state=1, bootstrap=True, warm_start=True).fit(X, y)
    part.set_params(n_estimators=10, oob_score=True).fit(X, y)
    np.testing.assert_array_equal(whole.compact_forest_.nodes, part.compact_forest_.nodes)
    np.testing.assert_array_equal(whole.predict(X), part.predict(X))
    assert whole.oob_score_ == part.oob_score_
    np.testing.assert_allclose(whole.feature_importances_, part.feature_importances_)


def test_fewer_trees_than_are_there_cannot_be_grown():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(n_estimators=5, warm_start=True).fit(X, y)
    with pytest.raises(woodwind.ParameterError, match="5 trees are there already"):
        model.set_params(n_estimators=3).fit(X, y)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_out_of_bag_predictions_are_those_of_the_trees_that_have_not_seen_a_row(kind):
    X, y = table(kind, 120)
    model = kind(n_estimators=25, random_state=5, oob_score=True).fit(X, y)
    trees = model.forest_
    total, count = np.zeros((len(y), model.compact_forest_.n_outputs)), np.zeros(len(y))
    resampling = Resampling(seed=5, n_rows=len(y), n_draws=len(y), replace=True)
    for tree in range(25):
        out = resampling.counts(tree) == 0
        one = trees.first(tree + 1).raw(X) - trees.first(tree).raw(X)
        total[out] += 25 * one[out]
        count += out
    kept = model.oob_decision_function_ if hasattr(model, "oob_decision_function_") else model.oob_prediction_[:, None]
    np.testing.assert_allclose(kept, total / count[:, None], atol=1e-9)


def test_out_of_bag_score_by_any_metric():
    X, y = load_breast_cancer(return_X_y=True)
    by_name = RandomForestClassifier(n_estimators=60, random_state=0, oob_score="roc_auc").fit(X, y)
    assert by_name.oob_score_ == pytest.approx(roc_auc_score(y, by_name.oob_decision_function_[:, 1]))
    forest = RandomForestClassifier(n_estimators=60, random_state=0)
    errors = forest.set_params(oob_score=lambda truth, found: (truth != found).mean()).fit(X, y).oob_score_
    assert 0.0 < errors < 0.08
    assert forest.set_params(oob_score=True).fit(X, y).oob_score_ == pytest.approx(1 - errors)


def test_out_of_bag_needs_a_bag():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="Out of bag estimation only available if bootstrap=True"):
        ExtraTreesClassifier(oob_score=True).fit(X, y)
    assert ExtraTreesClassifier(oob_score=True, max_samples=0.5, random_state=0).fit(X, y).oob_score_ > 0.9


def test_rows_that_every_tree_has_seen_are_told():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(OutOfBagWarning, match=r"of 150 rows have no out-of-bag prediction.*rows \d+, .*Raise n_estimators"):
        RandomForestClassifier(n_estimators=2, oob_score=True, random_state=0).fit(X, y)


def test_more_rows_than_there_are_cannot_be_drawn():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(woodwind.ParameterError, match="max_samples=151, but there are 150 rows"):
        RandomForestClassifier(max_samples=151).fit(X, y)


def test_progress_counts_trees(capsys):
    X, y = load_iris(return_X_y=True)
    RandomForestClassifier(n_estimators=12, verbose=1).fit(X, y)
    assert "RandomForestClassifier: tree 12 of 12" in capsys.readouterr().err


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("wanted", [200, "auto"])
def test_an_interrupt_keeps_the_trees_that_were_finished(n_jobs, wanted, monkeypatch):
    X, y = load_diabetes(return_X_y=True)
    grow = ForestGrowth.tree

    def interrupted(growing, number):
        if number == 60:
            raise KeyboardInterrupt
        return grow(growing, number)

    monkeypatch.setattr(ForestGrowth, "tree", interrupted)
    parameters = {"random_state": 0, "oob_score": True, "n_jobs": n_jobs}
    model = RandomForestRegressor(n_estimators=wanted, **parameters)
    with pytest.warns(InterruptWarning, match="after 60 of .* trees"):
        model.fit(X, y)
    monkeypatch.undo()
    whole = RandomForestRegressor(**{**parameters, "n_estimators": 60}).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    assert model.oob_score_ == whole.oob_score_


def test_auto_stops_when_the_error_out_of_the_bag_has_settled():
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(n_estimators="auto", random_state=0).fit(X, y)
    assert model.compact_forest_.n_trees in range(100, 1001, 50)
    assert model.compact_forest_.n_trees < 1000


def test_votes_are_counted():
    X, y = make_classification(400, 6, n_informative=4, random_state=0)
    model = RandomForestClassifier(n_estimators=30, voting="hard", min_samples_leaf=10, random_state=0).fit(X, y)
    share = model.predict_proba(X)
    np.testing.assert_allclose(share * 30, np.round(share * 30), atol=1e-9)
    np.testing.assert_array_equal(share, model.predict_proba(X))


def test_ties_in_a_leaf_are_broken_at_random_but_always_the_same_way():
    X, y = np.zeros((100, 1)), np.arange(100) % 2
    forest = RandomForestClassifier(n_estimators=400, voting="hard", bootstrap=False, random_state=0)
    share = forest.fit(X, y).predict_proba(X[:1])[0, 1]
    assert 0.4 < share < 0.6
    assert share == forest.fit(X, y).predict_proba(X[:1])[0, 1]


@pytest.mark.parametrize("kind", BOTH_TASKS)
def test_the_general_model_says_the_same(kind):
    X, y = table(kind)
    X = X.copy()
    X[::7, 2] = np.nan
    model = kind(n_estimators=9, random_state=2, min_samples_leaf=3).fit(X, y)
    X[::5, 4] = np.nan  # where training met none
    wanted = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]
    np.testing.assert_allclose(model.forest_.check().raw(X), wanted, atol=1e-12)


@pytest.mark.parametrize("kind", BOTH_TASKS)
def test_one_row_and_many_say_the_same(kind):
    X, y = table(kind)
    model = kind(n_estimators=9, random_state=2).fit(X, y)
    row = model.predictor()
    wanted = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    np.testing.assert_array_equal(np.array([row(x) for x in X]), wanted)
    np.testing.assert_array_equal(row(X), wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_quantiles_cover_what_they_say():
    X, y = make_friedman1(3000, noise=2.0, random_state=0)
    model = RandomForestRegressor(quantiles=True, min_samples_leaf=5, random_state=0).fit(X[:2000], y[:2000])
    low, middle, high = model.predict_quantiles(X[2000:]).T
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert 0.87 <= ((low <= y[2000:]) & (y[2000:] <= high)).mean() <= 0.97
    with pytest.raises(woodwind.ParameterError, match="quantiles=True"):
        RandomForestRegressor(n_estimators=2).fit(X, y).predict_quantiles(X)


def test_quantiles_are_those_of_the_targets_in_the_leaves():
    X, y = make_friedman1(60, random_state=1)
    model = RandomForestRegressor(n_estimators=7, quantiles=True, min_samples_leaf=4, random_state=3).fit(X, y)
    resampling = Resampling(seed=3, n_rows=60, n_draws=60, replace=True)
    leaves = model.apply(X)
    share = np.zeros((60, 60))
    for tree in range(7):
        together = (leaves[:, tree, None] == leaves[None, :, tree]) * resampling.counts(tree)[None]
        share += together / together.sum(axis=1, keepdims=True) / 7
    order = np.argsort(y)
    running = np.cumsum(share[:, order], axis=1)
    for position, q in enumerate((0.1, 0.5, 0.9)):
        wanted = y[order][(running < q - 1e-9).sum(axis=1)]
        np.testing.assert_array_equal(model.predict_quantiles(X, (0.1, 0.5, 0.9), calibrated=False)[:, position], wanted)


def test_apply_path_and_proximity_agree():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    ends = model.apply(X)
    path, begin = model.decision_path(X)
    for tree in range(5):
        assert (path[np.arange(len(X)), begin[tree] + ends[:, tree]] == 1).all()
        assert (path[:, begin[tree]].toarray() == 1).all()
    near = model.proximity(X[:20])
    assert (np.diag(near) == 1.0).all()
    assert near[0, 1] == (ends[0] == ends[1]).mean()


def test_categories_and_missing_values_are_split_natively():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 12, 600)
    frame = pd.DataFrame({"kind": pd.Categorical([f"k{k}" for k in kind]), "x": np.where(rng.random(600) < 0.2, np.nan, rng.random(600))})
    y = np.isin(kind, (1, 4, 5, 9)).astype(int) ^ frame["x"].isna().to_numpy()
    for forest in (RandomForestClassifier, ExtraTreesClassifier):
        model = forest(n_estimators=40, random_state=0, max_features=None).fit(frame[:400], y[:400])
        assert model.score(frame[400:], y[400:]) > 0.95


def test_a_whole_weight_is_a_row_given_so_often_where_no_rows_are_drawn():
    X, y = make_classification(200, 6, n_informative=4, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, 200)
    for forest in (ExtraTreesClassifier, RandomForestClassifier):
        by_weight = forest(n_estimators=5, bootstrap=False, random_state=0).fit(X, y, weight)
        by_rows = forest(n_estimators=5, bootstrap=False, random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_array_equal(by_weight.predict_proba(X), by_rows.predict_proba(X))


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_a_weight_of_two_is_a_row_given_twice_in_distribution(kind):
    """In place of the two common checks of weights: means over forests agree within their standard errors."""
    X, y = table(kind, 60)
    weight = np.random.default_rng(1).integers(0, 3, 60)
    found = []
    for X_, y_, w in ((X, y, weight), (np.repeat(X, weight, axis=0), np.repeat(y, weight), None)):
        # Other seeds: with the same ones, in the same order of rows, the forests would be equal.
        first = 1000 if w is None else 0
        runs = [kind(n_estimators=10, random_state=first + seed).fit(X_, y_, w) for seed in range(60)]
        found.append(np.array([run.predict_proba(X)[:, 0] if hasattr(run, "predict_proba") else run.predict(X) for run in runs]))
    error = np.sqrt(found[0].var(axis=0) / 60 + found[1].var(axis=0) / 60) + 1e-12
    z = (found[0].mean(axis=0) - found[1].mean(axis=0)) / error
    assert np.abs(z).max() < 4.5
    assert 0.5 < np.sqrt((z**2).mean()) < 1.6


def test_limits_of_trees_are_kept():
    X, y = make_classification(500, 8, n_informative=5, random_state=0)
    for name, value in (("max_depth", 3), ("max_leaf_nodes", 6), ("min_samples_leaf", 20), ("min_impurity_decrease", 0.02)):
        trees = RandomForestClassifier(n_estimators=5, bootstrap=False, random_state=0, **{name: value}).fit(X, y).forest_
        leaf = trees.feature < 0
        if name == "max_depth":
            assert trees.depth.max() == 3
        elif name == "max_leaf_nodes":
            assert [int(leaf[a:b].sum()) for a, b in zip(trees.roots[:-1], trees.roots[1:], strict=True)] == [6] * 5
        elif name == "min_samples_leaf":
            assert trees.cover[leaf].min() >= 20
        else:
            assert trees.gain[~leaf].min() / 500 >= 0.02 - 1e-9


def test_a_forest_takes_a_fifth_of_what_scikit_learn_pickles():
    from sklearn.ensemble import RandomForestClassifier as Classifier
    from sklearn.ensemble import RandomForestRegressor as Regressor

    X, y = make_friedman1(2000, random_state=0)
    for own, other, target in ((RandomForestRegressor, Regressor, y), (RandomForestClassifier, Classifier, (y > np.median(y)).astype(int))):
        ours = own(n_estimators=20, random_state=0).fit(X, target).compact_forest_.nbytes
        theirs = len(pickle.dumps(other(n_estimators=20, random_state=0).fit(X, target)))
        assert 5 * ours <= theirs


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_noise_has_no_importance_out_of_the_bag_but_has_some_in_training(kind):
    rng = np.random.default_rng(0)
    signal, noise = rng.integers(0, 3, 600), rng.random(600)
    X = np.column_stack([signal, noise])
    y = (signal > 0) ^ (rng.random(600) < 0.2)
    y = y.astype(int) if "Classifier" in kind.__name__ else y.astype(float)
    model = kind(n_estimators=60, random_state=0, max_features=1).fit(X, y)
    shuffled, unbiased = model.permutation_importance_oob(X, y), model.unbiased_importance_oob(X, y)
    assert model.feature_importances_[1] > 0.3
    for found in (shuffled, unbiased):
        assert found[0] > 0.05
        assert abs(found[1]) < 0.25 * found[0]
    np.testing.assert_array_equal(shuffled, model.set_params(n_jobs=1).permutation_importance_oob(X, y))
    with pytest.raises(woodwind.ParameterError, match="600 rows of the training"):
        model.permutation_importance_oob(X[:50], y[:50])


def test_votes_out_of_the_bag_are_those_of_the_whole_forest():
    X, y = make_classification(300, 6, n_classes=3, n_informative=4, flip_y=0.3, random_state=0)
    limits = {"voting": "hard", "oob_score": True, "min_samples_leaf": 20, "random_state": 2}
    parts = RandomForestClassifier(n_estimators=30, warm_start=True, **limits).fit(X, y)
    parts.set_params(n_estimators=45).fit(X, y)
    whole = RandomForestClassifier(n_estimators=45, **limits).fit(X, y)
    np.testing.assert_array_equal(parts.oob_decision_function_, whole.oob_decision_function_)
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_the_score_out_of_the_bag_weighs_rows_and_goes_with_its_training():
    X, y = make_classification(300, 6, flip_y=0.2, random_state=0)
    weight = np.random.default_rng(0).random(300) + 0.1
    model = RandomForestClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, y, sample_weight=weight)
    right = model.classes_[model.oob_decision_function_.argmax(axis=1)] == y
    assert model.oob_score_ == pytest.approx(np.average(right, weights=weight))
    model.set_params(oob_score=False).fit(X, y)
    assert not hasattr(model, "oob_score_")
    assert not hasattr(model, "oob_decision_function_")


def test_levels_are_learnt_from_rows_out_of_the_bag():
    # Nearly a function of its features: leaves of full trees are far too wide.
    rng = np.random.default_rng(0)
    X = rng.random((3000, 6))
    y = np.sin(4 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.02 * rng.standard_normal(3000)
    model = RandomForestRegressor(n_estimators=100, quantiles=True, random_state=0).fit(X[:1500], y[:1500])

    def covered(**how):
        low, high = model.predict_quantiles(X[1500:], (0.05, 0.95), **how).T
        return ((low <= y[1500:]) & (y[1500:] <= high)).mean()

    assert covered(calibrated=False) > 0.94
    assert 0.87 < covered() < 0.93


def test_shares_below_are_those_of_targets_in_the_leaves_of_trees_that_have_not_seen_a_row():
    X, y = make_friedman1(300, random_state=3)
    y = np.round(y)  # some are equal
    model = RandomForestRegressor(n_estimators=12, quantiles=True, min_samples_leaf=4, random_state=0).fit(X, y)
    times = np.stack([Resampling(model._seed, 300, 300, True).counts(tree) for tree in range(12)])
    ends, kept = model.compact_forest_.ends(X, 1), model.leaf_rows_
    own, found = np.searchsorted(kept.values, y).astype(np.int32), np.empty((2, 300))
    shares_below(ends, model.compact_forest_.walk, kept._targets, own, times == 0, 0, 300, found)
    for row in range(300):
        probabilities = []
        for tree in np.flatnonzero(times[:, row] == 0):
            there = (ends[:, tree] == ends[row, tree]) & (times[tree] > 0)
            probabilities.append([np.average(what[there], weights=times[tree][there]) for what in (y < y[row], y == y[row])])
        np.testing.assert_allclose(found[:, row], np.mean(probabilities, axis=0) if probabilities else np.nan, atol=1e-12)


def test_intervals_of_whole_numbers_cover_no_more_than_they_should():
    rng = np.random.default_rng(5)
    X = rng.random((4000, 4))
    y = rng.poisson(3 + 4 * X[:, 0]).astype(float)
    model = RandomForestRegressor(n_estimators=100, quantiles=True, random_state=0).fit(X[:2000], y[:2000])
    low, middle, high = model.predict_quantiles(X[2000:]).T
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert 0.87 < ((low <= y[2000:]) & (y[2000:] <= high)).mean() < 0.93


def test_without_rows_out_of_the_bag_levels_of_quantiles_stay_as_they_are():
    X, y = make_friedman1(200, random_state=0)
    model = RandomForestRegressor(n_estimators=5, bootstrap=False, quantiles=True, random_state=0).fit(X, y)
    assert model.leaf_rows_.levels is None
    np.testing.assert_array_equal(model.predict_quantiles(X), model.predict_quantiles(X, calibrated=False))


def test_going_on_with_other_rows_is_refused_where_old_draws_are_drawn_again():
    """The rows that the first trees have not seen are known from the draws, which take the same table."""
    X, y = make_classification(300, random_state=0)
    model = RandomForestClassifier(n_estimators=30, warm_start=True, oob_score=True, random_state=0).fit(X, y)
    with pytest.raises(woodwind.DataError, match="n_rows was 300 and is 200"):
        model.set_params(n_estimators=33).fit(X[:200], y[:200])
    assert model.compact_forest_.n_trees == 30
    assert model.set_params(oob_score=False).fit(X[:200], y[:200]).compact_forest_.n_trees == 33


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_no_probability_is_below_zero_whatever_the_weights(kind):
    """The first class of a leaf has what the weights of the others leave, which rounding took below zero: its logarithm was no number."""
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((3000, 4)), rng.integers(0, 5, 3000), rng.random(3000)
    y += 2 * (X[:, 0] > 0.5)
    model = kind(n_estimators=1, min_samples_leaf=7, bootstrap=False, random_state=0).fit(X, y, sample_weight=weight)
    assert model.compact_forest_.mean(X).min() < 0.0
    for predicted in (model.predict_proba(X), model.predictor()(X), np.array([model.predictor()(row) for row in X[:300]])):
        assert predicted.min() >= 0.0
    assert not np.isnan(model.predict_log_proba(X)).any()
    assert np.array_equal(model.predictor()(X), model.predict_proba(X))
