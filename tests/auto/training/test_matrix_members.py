"""Linear, neighbour and net members: as good as what they are, in time, and never anything but finite."""

import time
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from woodwind.auto.training.inner_validation import inner_loss
from woodwind.auto.training.knn_training import train_knn
from woodwind.auto.training.mlp_training import train_mlp
from woodwind.estimators.auto.linear_training import train_linear

TRAINERS = (train_linear, train_knn, train_mlp)
TASKS = {"regression": 0, "binary": 2, "multiclass": 4}


@pytest.fixture(autouse=True)
def _small_nets(monkeypatch):
    monkeypatch.setattr("woodwind.auto.training.mlp_training.HIDDEN", (64, 32))


def no_end():
    return 1e9


def example(task, n=600, d=6, seed=0):
    """A bent target of three columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    bent = 2.0 * np.abs(X[:, 0]) + X[:, 1] - X[:, 2] * X[:, 0]
    if task == "regression":
        return X, 50.0 + 10.0 * bent + rng.normal(size=n)
    if task == "binary":
        return X, (bent + rng.normal(size=n) > 1.5).astype(np.int64)
    return X, np.digitize(bent + 0.3 * rng.normal(size=n), [0.0, 1.5, 3.0]).astype(np.int64)


def loss_of_constant(y, task):
    if task == "regression":
        return y.var()
    probabilities = np.bincount(y) / len(y)
    return -(probabilities[probabilities > 0] * np.log(probabilities[probabilities > 0])).sum()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("train", TRAINERS)
def test_a_member_learns_and_its_scores_have_the_shape_of_the_task(train, task):
    X, y = example(task, 1200)
    member = train(X[:800], y[:800], None, TASKS[task], 0, no_end)
    predicted = member.scores_of(X[800:])
    assert predicted.shape == (400, 4 if task == "multiclass" else 1)
    share = {train_linear: 0.9, train_knn: 0.75, train_mlp: 0.3 if task == "regression" else 0.6}[train]
    assert inner_loss(predicted, y[800:], None, task != "regression") < share * loss_of_constant(y[800:], task)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("train", TRAINERS)
def test_the_same_seed_gives_the_same_bits(train, task):
    X, y = example(task, 300)
    one, two = (train(X, y, None, TASKS[task], 3, no_end).scores_of(X) for _ in range(2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("train", TRAINERS)
def test_a_row_has_the_same_bits_in_any_company(train, task):
    X, y = example(task, 700)
    member = train(X[:300], y[:300], None, TASKS[task], 0, no_end)
    whole = member.scores_of(X)
    if train is not train_linear:
        assert member.scores_of(X, 2).tobytes() == whole.tobytes()
    for rows in (slice(0, 1), slice(3, 300), slice(450, 700)):
        assert member.scores_of(X[rows]).tobytes() == whole[rows].tobytes()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("train", TRAINERS)
@pytest.mark.parametrize("case", ["two of a class", "constant column", "one column", "one class", "two rows", "wild", "wide", "no class 1"])
def test_odd_tables_give_finite_scores(train, task, case):
    X, y = example(task, 60)
    if case == "two of a class":
        y = np.where(np.arange(60) < 2, 1, 0) if task != "regression" else y
    elif case == "constant column":
        X = np.column_stack([X, np.zeros(60), np.full(60, 7.0)])
    elif case == "one column":
        X = X[:, :1]
    elif case == "one class":
        y = np.full(60, 1) if task != "regression" else np.full(60, 2.5)
    elif case == "two rows":
        X, y = X[:2], y[:2]
    elif case == "wild":
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.05, 1e300, X)
        y = y * 1e100 if task == "regression" else y
    elif case == "wide":
        X = np.random.default_rng(1).normal(size=(60, 700))
    elif case == "no class 1":
        y = np.where(y == 1, 0, y) if task == "multiclass" else y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        member = train(X, y, None, TASKS[task], 0, no_end)
        asked = np.vstack([X, np.full((1, X.shape[1]), 1e308), np.full((1, X.shape[1]), -1e308), np.zeros((1, X.shape[1]))])
        predicted = member.check().scores_of(asked)
    assert np.isfinite(predicted).all()
    if task == "regression":
        reach = np.ptp(y)
        assert y.min() - reach <= predicted.min() <= predicted.max() <= y.max() + reach


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("train", TRAINERS)
def test_time_that_is_over_is_honoured(train, task):
    X, y = example(task, 20_000, 20)
    for seconds in (0.0, 0.5):
        began = time.process_time()
        end = time.perf_counter() + seconds
        member = train(X, y, None, TASKS[task], 0, lambda end=end: end - time.perf_counter())
        assert time.process_time() - began < 2.0 * seconds + 3.0
        assert np.isfinite(member.scores_of(X[:10])).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("train", TRAINERS)
def test_rows_without_weight_are_not_there(train, task):
    X, y = example(task, 400)
    there = np.arange(400) % 4 > 0
    weight = there.astype(np.float64)
    one = train(X, y, weight, TASKS[task], 0, no_end)
    two = train(X[there], y[there], np.ones(300), TASKS[task], 0, no_end)
    assert one.scores_of(X) == pytest.approx(two.scores_of(X), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("train", TRAINERS)
def test_weights_move_scores(train):
    X, y = example("binary", 500)
    plain = train(X, y, None, 2, 0, no_end).scores_of(X)
    heavy = train(X, y, np.where(y == 1, 5.0, 1.0), 2, 0, no_end).scores_of(X)
    assert heavy.mean() > plain.mean() + 0.5


@pytest.mark.parametrize("task", TASKS)
def test_the_linear_member_is_scikit_learns(task, monkeypatch):
    X, y = example(task)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(np.float64)
    monkeypatch.setattr("woodwind.estimators.auto.linear_training.PENALTIES", (1e-2,))
    predicted = train_linear(X, y, weight, TASKS[task], 0, no_end).scores_of(X)
    if task == "regression":
        copies = np.repeat(np.arange(len(y)), weight.astype(int))
        other = Ridge(alpha=1e-2 * weight.sum()).fit(X[copies], y[copies]).predict(X)[:, None]
        assert predicted == pytest.approx(other, rel=1e-9)
        return
    other = LogisticRegression(C=1.0 / (1e-2 * weight.sum()), tol=1e-8, max_iter=1000).fit(X, y, sample_weight=weight).decision_function(X)
    assert predicted == pytest.approx(other.reshape(len(y), -1), abs=2e-2 if task == "multiclass" else 1e-3)


def test_neighbours_are_scikit_learns():
    X, y = example("binary", 500)
    member = train_knn(X[:300], y[:300], None, 2, 0, no_end)
    weights = (lambda d: 1.0 / np.maximum(d / d.mean(axis=1, keepdims=True), 1e-3)) if member.by_distance else "uniform"
    other = KNeighborsClassifier(member.k, weights=weights).fit(X[:300, member.column] * member.scale, y[:300])
    distances, near = other.kneighbors(X[300:, member.column] * member.scale)
    heavy = weights(distances) if member.by_distance else np.ones_like(distances)
    share = ((heavy * y[near]).sum(axis=1) + member.strength * member.prior[1]) / (heavy.sum(axis=1) + member.strength)
    assert member.scores_of(X[300:])[:, 0] == pytest.approx(np.log(share / (1 - share)), abs=1e-9)
    X, y = example("regression", 500)
    member = train_knn(X[:300], y[:300], None, 0, 0, no_end)
    other = KNeighborsRegressor(member.k, weights=weights if member.by_distance else "uniform")
    other.fit(X[:300, member.column] * member.scale, y[:300])
    assert member.scores_of(X[300:])[:, 0] == pytest.approx(other.predict(X[300:, member.column] * member.scale), rel=0.05)


def test_columns_that_say_nothing_do_not_drown_neighbours():
    X, y = example("binary", 800, 4)
    noisy = np.column_stack([X, np.random.default_rng(2).normal(size=(800, 60))])
    members = [(train_knn(Z[:600], y[:600], None, 2, 0, no_end), Z) for Z in (X, noisy)]
    losses = [inner_loss(member.scores_of(Z[600:]), y[600:], None, True) for member, Z in members]
    assert losses[1] < losses[0] + 0.12


def test_the_net_bends_where_a_line_cannot():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(1500, 3))
    y = np.sign(np.sin(3.0 * X[:, 0])) * 5.0 + rng.normal(size=1500)
    net = train_mlp(X[:1000], y[:1000], None, 0, 0, no_end)
    assert inner_loss(net.scores_of(X[1000:]), y[1000:], None, False) < 4.0
    line = train_linear(X[:1000], y[:1000], None, 0, 0, no_end)
    assert inner_loss(line.scores_of(X[1000:]), y[1000:], None, False) > 12.0


def test_where_time_is_short_one_net_is_trained_instead_of_three():
    X, y = example("binary", 1000)
    assert len(train_mlp(X, y, None, 2, 0, no_end).scale) == 3
    assert len(train_mlp(X, y, None, 2, 0, lambda: 0.1).scale) == 1


def test_without_a_deadline_a_net_is_trained_to_its_end():
    X, y = example("binary", 300)
    endless, long = (train_mlp(X, y, None, 2, 0, lambda left=left: left) for left in (np.inf, 1e6))
    np.testing.assert_array_equal(endless.scores_of(X), long.scores_of(X))
