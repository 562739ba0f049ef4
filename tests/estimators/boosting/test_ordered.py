"""boosting='ordered' in the estimators: with everything else that they have."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification, make_friedman1

import woodwind
from woodwind import DistributionBoostingRegressor, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from woodwind.ensemble.boosting.ordered_boosting import OrderedBooster, drawn_order

ORDERED = {"boosting": "ordered", "random_state": 0}
QUICK = {"n_estimators": 12, "learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 3, "early_stopping": False, **ORDERED}


def numbers(n=200, seed=0):
    return make_friedman1(n, n_features=6, noise=1.0, random_state=seed)


def words(n=300, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 60, n)
    frame = pd.DataFrame({"town": [f"t{one}" for one in town], "x": rng.normal(size=n)})
    return frame, np.sin(town) + frame["x"].to_numpy() + rng.normal(size=n)


def digest(model, X, y, **given):
    return model.fit(X, y, **given).forest_.digest()


def test_it_is_another_model_than_the_plain_one_and_the_seed_draws_its_orders():
    X, y = numbers()
    options = {**QUICK, "subsample": 1.0, "max_features_tree": None}
    found = [digest(GradientBoostingRegressor(**{**options, "random_state": seed}), X, y) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]
    assert digest(GradientBoostingRegressor(**{**options, "n_permutations": 1}), X, y) not in found
    assert digest(GradientBoostingRegressor(**{**options, "boosting": "plain"}), X, y) not in found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"growth": "symmetric"},
        {"growth": "level"},
        {"max_bins": None},
        {"loss": "absolute_error"},
        {"loss": "huber"},
        {"loss": "poisson"},
        {"loss": "gamma"},
        {"sampling": "goss"},
        {"sampling": "mvs"},
        {"bootstrap": True},
        {"prune": True, "min_gain": 5.0},
        {"monotonic_cst": {0: 1}},
        {"gradient_noise": 0.5},
        {"early_stopping": True, "n_estimators": 60},
        {"early_stopping": "auto", "n_estimators": 60},
    ],
    ids=str,
)
def test_it_learns_with_every_option(options):
    X, y = numbers(300)
    plain = GradientBoostingRegressor(**{**QUICK, "boosting": "plain", **options}).fit(X, np.abs(y) + 0.1)
    model = GradientBoostingRegressor(**{**QUICK, **options}).fit(X, np.abs(y) + 0.1)
    assert model.score(X, np.abs(y) + 0.1) > 0.8 * plain.score(X, np.abs(y) + 0.1) > 0.3
    assert model.forest_.digest() != plain.forest_.digest()


@pytest.mark.parametrize("options", [{}, {"multiclass": "one_per_class"}, {"growth": "symmetric"}, {"early_stopping": True}], ids=str)
def test_several_classes_and_the_model_file(options, tmp_path):
    X, y = make_classification(300, n_features=8, n_informative=5, n_classes=3, random_state=0)
    model = GradientBoostingClassifier(**{**QUICK, **options}).fit(X, y)
    assert model.score(X, y) > 0.8
    model.save(tmp_path / "model.ww")
    again = woodwind.load(tmp_path / "model.ww")
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert (again.boosting, again.n_permutations) == ("ordered", 4)


@pytest.mark.parametrize("options", [{}, {"loss": "huber"}, {"subsample": 0.6}, {"n_permutations": 2, "growth": "symmetric"}], ids=str)
def test_a_warm_start_goes_on_as_if_it_had_never_stopped(options, tmp_path):
    """Supporting models are not in the model: they are made again from its trees, with the same bits."""
    X, y = numbers()
    whole = digest(GradientBoostingRegressor(**{**QUICK, **options}), X, y)
    model = GradientBoostingRegressor(**{**QUICK, **options, "n_estimators": 5, "warm_start": True}).fit(X, y)
    model.save(tmp_path / "model.ww")
    for one in (model, woodwind.load(tmp_path / "model.ww")):
        assert digest(one.set_params(n_estimators=12), X, y) == whole


def test_rows_of_weight_zero_are_absent_and_whole_weights_are_repetitions():
    X, y = numbers()
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    model = digest(GradientBoostingRegressor(**QUICK), X, y, sample_weight=weight)
    assert digest(GradientBoostingRegressor(**QUICK), X[repeated], y[repeated]) == model


def test_in_another_order_of_the_rows_they_are_repetitions_in_distribution():
    """Orders are drawn by the positions of rows: this stands for the common checks that compare shuffled rows bit for bit."""
    X, y = numbers(60)
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(len(y)), weight))

    def predicted(first, X_given, y_given, weights=None):
        models = (GradientBoostingRegressor(**{**QUICK, "n_estimators": 5, "random_state": seed}) for seed in range(first, first + 80))
        return np.array([model.fit(X_given, y_given, sample_weight=weights).predict(X[:8]) for model in models])

    one, other, without = predicted(0, X, y, weight), predicted(1000, X[rows], y[rows]), predicted(1000, X, y)

    def distance(first, second):
        return (np.abs(first.mean(axis=0) - second.mean(axis=0)) / np.sqrt((first.var(axis=0) + second.var(axis=0)) / 80 + 1e-12)).max()

    assert distance(one, other) < 3.5 < distance(one, without)


def test_weights_that_are_no_counts_weigh_in_supporting_models_too():
    X, y = numbers()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    y[weight > 1.9] += 100.0
    light = np.where(weight > 1.9, 1e-6, weight)
    model = GradientBoostingRegressor(**QUICK).fit(X, y, sample_weight=light)
    keep = weight <= 1.9
    without = GradientBoostingRegressor(**QUICK).fit(X[keep], y[keep])
    assert np.abs(model.predict(X[keep]) - without.predict(X[keep])).mean() < 1.0
    assert model.score(X[keep], y[keep]) > 0.7


def test_a_loss_of_ones_own_and_starting_scores():
    class Cosh:
        def start(self, y, weight):
            return np.median(y)

        def derivatives(self, y, raw, weight):
            t = np.tanh(raw - y)
            return t, 1.0 - t * t

        def value(self, y, raw, weight):
            return np.mean(np.log(np.cosh(raw - y)))

    X, y = numbers()
    assert GradientBoostingRegressor(**{**QUICK, "loss": Cosh()}).fit(X, y / 5).score(X, y / 5) > 0.5
    far = GradientBoostingRegressor(**{**QUICK, "init": np.full(len(y), 50.0)}).fit(X, y)
    assert np.abs(far.predict(X, init=np.full(len(y), 50.0)) - y).mean() < np.abs(50.0 - y).mean() / 5


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_tables_of_few_rows(n):
    X, y = np.arange(float(n))[:, None], np.arange(float(n))
    model = GradientBoostingRegressor(**{**QUICK, "min_samples_leaf": 1}).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_statistics_of_categories_are_in_the_orders_of_the_rows(monkeypatch):
    """What a row knows of its category in an order is what rows before it there know; and each order has codes of its own."""
    seen = {}

    def supports(self):
        found = plain(self)
        seen["found"] = found
        return found

    plain = OrderedBooster.supports.func
    monkeypatch.setattr(OrderedBooster.supports, "func", supports)
    X, y = words()
    model = GradientBoostingRegressor(categorical_encoding="ordered", **QUICK).fit(X, y)
    codes = [learner.codes.by_row for _, learner in seen["found"]]
    assert len({one.tobytes() for one in codes}) == len(codes) == 4
    rows = np.arange(len(y), dtype=np.int32)
    orders = [drawn_order(0, number, rows) for number in range(4)]
    town = np.array([int(name[1:]) for name in X["town"]])
    statistics = model.schema_.fields[0].statistics
    for own, (models, _), order in zip(codes, seen["found"], orders, strict=True):
        assert_array_equal(models.order, order)
        known = np.zeros(len(y))
        for position, row in enumerate(order):
            before = [y[one] for one in order[:position] if town[one] == town[row]]
            mass = statistics.strength[0]
            known[row] = (sum(before) + mass * statistics.prior[0]) / (len(before) + mass)
        feature = next(k for k in range(own.shape[1]) if own[:, k].std() > 0 and np.corrcoef(own[:, k], known)[0, 1] > 0.9)
        by_code = own[np.argsort(known, kind="stable"), feature].astype(int)
        assert (np.diff(by_code) >= 0).all()  # codes are bins of just these numbers


def test_every_encoding_of_categories_learns():
    X, y = words()
    for encoding in ("sets", "out_of_fold", "ordered"):
        model = GradientBoostingRegressor(**{**QUICK, "categorical_encoding": encoding}).fit(X, y)
        assert model.score(X, y) > 0.2


def test_several_quantiles_have_scores_of_their_own():
    X, y = numbers(300)
    model = GradientBoostingRegressor(**{**QUICK, "loss": "quantile", "quantile": [0.1, 0.5, 0.9], "n_estimators": 40}).fit(X, y)
    low, middle, high = model.predict(X).T
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert 0.05 < (y < low).mean() < 0.2
    assert 0.8 < (y < high).mean() < 0.97


@pytest.mark.parametrize("options", [{"max_delta_step": 0.3}, {"min_samples_split": 30}, {"leaf_estimation": "gradient"}], ids=str)
def test_leaves_are_held_back_in_supporting_models_too(options):
    X, y = numbers(300)
    model = GradientBoostingRegressor(**{**QUICK, **options}).fit(X, y)
    plain = GradientBoostingRegressor(**{**QUICK, **options, "boosting": "plain"}).fit(X, y)
    assert 0.8 * plain.score(X, y) < model.score(X, y)


def test_distributions_are_refused():
    X, y = numbers(50)
    with pytest.raises(ParameterError, match="'ordered' is not for distributions"):
        DistributionBoostingRegressor(boosting="ordered").fit(X, y)


@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_orders_are_a_number_from_one_on(value):
    X, y = numbers(50)
    with pytest.raises(ParameterError, match="n_permutations"):
        GradientBoostingRegressor(**{**QUICK, "n_permutations": value}).fit(X, y)
