"""Hierarchical mixtures of experts: gates in a tree."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

import woodwind
from woodwind import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor, ParameterError
from woodwind.ensemble.mixture_of_experts import GateTree, SoftmaxGate, fit_gate_tree, fit_softmax

QUICK = {"n_init": 2, "max_iter": 40, "tol": 1e-4, "random_state": 0}


def steps(n=240, seed=0):
    """Four lines, one after another."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 8, n))
    slope, height = np.array([2.0, -1.0, 3.0, 0.0]), np.array([0.0, 8.0, -9.0, 4.0])
    part = (x // 2).astype(int)
    return x[:, None], height[part] + slope[part] * x + 0.1 * rng.normal(size=n)


def some_gates(seed, branching, depth, width):
    rng = np.random.default_rng(seed)
    count = sum(branching**level for level in range(depth))
    return GateTree(
        tuple(SoftmaxGate(rng.normal(size=(branching, width)), rng.normal(size=branching)) for _ in range(count)), branching, depth
    )


def test_the_probability_of_an_expert_is_the_product_along_its_path():
    tree, X = some_gates(1, 2, 3, 2), np.random.default_rng(2).normal(size=(5, 2))
    shares = [np.exp(gate.log_probabilities(X)) for gate in tree.gates]
    expected = np.empty((5, 8))
    for expert in range(8):
        first, second, third = expert >> 2, expert >> 1 & 1, expert & 1
        expected[:, expert] = shares[0][:, first] * shares[1 + first][:, second] * shares[3 + (expert >> 1)][:, third]
    np.testing.assert_allclose(np.exp(tree.log_probabilities(X)), expected, rtol=1e-12)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)


def test_gates_are_the_best_that_a_general_optimiser_finds():
    rng = np.random.default_rng(3)
    X, weight = rng.normal(size=(40, 2)), rng.uniform(0.5, 2.0, 40)
    responsibilities = rng.dirichlet(np.ones(4), 40)
    found = fit_gate_tree(X, responsibilities, weight, 0.1, 2, 2)

    def minus(theta):
        gates = theta.reshape(3, 2, 3)
        tree = GateTree(tuple(SoftmaxGate(one[:, 1:], one[:, 0]) for one in gates), 2, 2)
        return -float(weight @ (responsibilities * tree.log_probabilities(X)).sum(axis=1)) + tree.penalty(0.1)

    best = minimize(minus, np.zeros(18), method="BFGS", options={"gtol": 1e-8})
    ours = -float(weight @ (responsibilities * found.log_probabilities(X)).sum(axis=1)) + found.penalty(0.1)
    assert ours <= best.fun + 1e-7


def test_one_level_is_the_plain_gate():
    rng = np.random.default_rng(4)
    X, weight, responsibilities = rng.normal(size=(30, 2)), np.ones(30), rng.dirichlet(np.ones(3), 30)
    tree, plain = fit_gate_tree(X, responsibilities, weight, 0.1, 3, 1), fit_softmax(X, responsibilities, weight, 0.1)
    np.testing.assert_allclose(tree.log_probabilities(X), plain.log_probabilities(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [MixtureOfExpertsRegressor, MixtureOfExpertsClassifier])
def test_depth_one_is_the_plain_mixture(kind):
    X, y = steps()
    y = y if kind is MixtureOfExpertsRegressor else y > 3
    plain, deep = (kind(n_experts=3, **options, **QUICK).fit(X, y) for options in ({}, {"gate_depth": 1}))
    np.testing.assert_array_equal(plain.log_likelihood_, deep.log_likelihood_)
    np.testing.assert_array_equal(plain.gate_coef_, deep.gate_coef_)


@pytest.mark.filterwarnings("ignore:.*did not come to an end")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [MixtureOfExpertsRegressor, MixtureOfExpertsClassifier])
def test_the_log_likelihood_never_falls(kind, seed):
    X, y = steps(seed=seed)
    y = y if kind is MixtureOfExpertsRegressor else np.digitize(y, [2, 5])
    model = kind(n_experts=2, gate_depth=2, n_init=1, max_iter=25, tol=0.0, random_state=seed).fit(X, y)
    assert model.n_experts_ == 4
    assert (np.diff(model.log_likelihood_) >= -1e-7 * np.abs(model.log_likelihood_[:-1])).all()


def test_a_tree_of_gates_finds_four_lines():
    X, y = steps()
    model = MixtureOfExpertsRegressor(n_experts=2, gate_depth=2, n_init=20, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95  # one line has less than 0.5, two have less than 0.9
    assert MixtureOfExpertsRegressor(n_experts=2, random_state=0).fit(X, y).score(X, y) < 0.9
    assert model.gate_coef_.shape == (3, 2, 1)
    assert model.gate_intercept_.shape == (3, 2)
    # The gates, in the units of the table, say what the model says.
    tree = GateTree(
        tuple(SoftmaxGate(coef, intercept) for coef, intercept in zip(model.gate_coef_, model.gate_intercept_, strict=True)), 2, 2
    )
    np.testing.assert_allclose(np.exp(tree.log_probabilities(X)), model.gate_proba(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*did not come to an end")
def test_a_weight_of_two_is_a_row_given_twice_and_files_keep_the_tree(tmp_path):
    X, y = steps(120)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    options = {"n_experts": 2, "gate_depth": 2, **QUICK}
    weighted = MixtureOfExpertsRegressor(**options).fit(X, y, weight)
    repeated = MixtureOfExpertsRegressor(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5)
    weighted.save(tmp_path / "model.ww")
    np.testing.assert_array_equal(woodwind.load(tmp_path / "model.ww").predict(X), weighted.predict(X))


@pytest.mark.filterwarnings("ignore:.*did not come to an end")
def test_experts_of_the_user_and_a_number_by_bic():
    X, y = steps(120)
    model = MixtureOfExpertsRegressor(experts=[Ridge(0.1), Ridge(1.0), Ridge(2.0), Ridge(3.0)], gate_depth=2, **QUICK).fit(X, y)
    assert [expert.alpha for expert in model.experts_] == [0.1, 1.0, 2.0, 3.0]
    chosen = MixtureOfExpertsRegressor(n_experts="auto", max_experts=2, gate_depth=2, **QUICK).fit(X, y)
    assert sorted(chosen.bic_) == [1, 4]


def test_what_no_tree_of_gates_can_be_is_refused():
    X, y = steps(60)
    for wrong, message in (
        ({"gate": "constant"}, "gate='softmax'"),
        ({"experts": [Ridge()] * 3}, "a list of 3"),
        ({"n_experts": 20, "gate_depth": 4}, "160,000 experts"),
        ({"gate_depth": 0}, "gate_depth"),
    ):
        with pytest.raises(ParameterError, match=message):
            MixtureOfExpertsRegressor(**{"gate_depth": 2, **wrong}).fit(X, y)
