"""Members that are trees of ours share one set of codes, and never copy the table."""

import threading
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from woodwind import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor, GradientBoostingRegressor
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema
from woodwind.estimators.forests import decision_tree


class OtherRegressor(DecisionTreeRegressor):
    """Not known to bagging: trained like an estimator of somebody else, on a table of its own."""


class OtherClassifier(DecisionTreeClassifier):
    """The same for classes."""


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "wood": rng.choice(["oak", "elm", "fig"], n),
            "when": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D"),
            "z": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )
    return frame, frame["x"].to_numpy() + (frame["wood"] == "oak") + 0.5 * rng.normal(size=n)


KINDS = [
    {},
    {"max_features": 2},
    {"bootstrap": False, "max_samples": 0.5, "max_features": 3},
    {"bootstrap_features": True},
    {"smear": 0.3},
    {"param_distributions": {"max_depth": [1, 3, None], "max_features": [0.5, 1.0], "min_samples_leaf": [1, 4]}},
]
TREES = [{}, {"max_features": 0.5}, {"max_leaf_nodes": 9}, {"ccp_alpha": 0.01}, {"min_weight_fraction_leaf": 0.05}]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("more", KINDS, ids=str)
def test_sharing_codes_changes_no_bit(more, weighted):
    frame, y = table()
    weight = np.random.default_rng(1).integers(0, 4, len(y)) if weighted else None
    shared = BaggingRegressor(n_estimators=6, random_state=3, estimator=DecisionTreeRegressor(), **more).fit(frame, y, weight)
    alone = BaggingRegressor(n_estimators=6, random_state=3, estimator=OtherRegressor(), **more).fit(frame, y, weight)
    assert np.array_equal(shared.predict(frame), alone.predict(frame))
    for one, other in zip(shared.estimators_, alone.estimators_, strict=True):
        assert one.get_params() == other.get_params()
        assert np.array_equal(one.forest_.threshold, other.forest_.threshold)
        assert np.array_equal(one.forest_.feature, other.forest_.feature)
        assert np.array_equal(one.forest_.value, other.forest_.value)


def test_other_weights_agree_up_to_rounding():
    """A row drawn twice is two rows to a tree that shares codes, and one of twice the weight to others."""
    frame, y = table()
    weight = np.random.default_rng(1).random(len(y)) + 0.2
    made = [
        BaggingRegressor(n_estimators=6, random_state=3, estimator=kind(max_depth=3)).fit(frame, y, weight)
        for kind in (DecisionTreeRegressor, OtherRegressor)
    ]
    np.testing.assert_allclose(made[0].predict(frame), made[1].predict(frame), rtol=1e-9)


@pytest.mark.parametrize("params", TREES, ids=str)
@pytest.mark.parametrize("weights", [None, "balanced"])
def test_nor_does_it_for_classes(params, weights):
    frame, y = table()
    y = np.digitize(y, [-0.5, 0.8])
    made = [
        BaggingClassifier(n_estimators=5, max_features=3, random_state=3, estimator=kind(class_weight=weights, **params)).fit(frame, y)
        for kind in (DecisionTreeClassifier, OtherClassifier)
    ]
    assert np.array_equal(made[0].predict_proba(frame), made[1].predict_proba(frame))


def test_bins_are_cut_once_from_all_rows():
    """Members on bins share their edges, which a member of its own would cut from what it has drawn."""
    frame, y = table()
    bag = BaggingRegressor(n_estimators=8, random_state=3, estimator=DecisionTreeRegressor(max_bins=5)).fit(frame[["x", "z"]], y)
    forest = bag._members.forest
    used = forest.threshold[(forest.feature == 0) & np.isfinite(forest.threshold)]
    assert len(np.unique(used)) <= 4


def count_calls(monkeypatch, owner, name):
    made, calls = getattr(owner, name), []

    def counted(cls, *args, **more):
        calls.append(threading.get_ident())
        return made.__func__(cls, *args, **more)

    monkeypatch.setattr(owner, name, classmethod(counted))
    return calls


def test_the_table_is_read_and_coded_once(monkeypatch):
    frame, y = table()
    calls = {name: count_calls(monkeypatch, owner, name) for owner, name in ((Ranks, "of"), (Schema, "learn"), (Cuts, "fit"))}
    BaggingRegressor(n_estimators=30, max_features=2, oob_score=False, n_jobs=2).fit(frame, y)
    assert {name: len(made) for name, made in calls.items()} == {"of": 1, "learn": 1, "fit": 0}
    drawn = {"max_bins": [None, 16, 64]}
    BaggingRegressor(n_estimators=30, param_distributions=drawn, n_jobs=2).fit(frame, y)
    assert {name: len(made) for name, made in calls.items()} == {"of": 2, "learn": 2, "fit": 2}


def test_every_tree_is_grown_from_the_same_arrays(monkeypatch):
    seen, made = [], decision_tree.regression_tree
    monkeypatch.setattr(decision_tree, "regression_tree", lambda data, y, plan: seen.append(data.ranks) or made(data, y, plan))
    frame, y = table()
    BaggingRegressor(n_estimators=12, max_features=2, n_jobs=2).fit(frame, y)
    assert len(seen) == 12
    assert len({id(ranks) for ranks in seen}) == 1


def test_a_monotonic_constraint_on_the_tree_holds_for_the_bag():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 2] + 0.3 * np.sin(5 * X[:, 2]) + rng.normal(size=300)
    tree = DecisionTreeRegressor(monotonic_cst=[0, 0, 1])
    bag = BaggingRegressor(estimator=tree, max_features=2, n_estimators=20, random_state=0).fit(X, y)
    line = np.column_stack([np.zeros((200, 2)), np.linspace(-3, 3, 200)])
    assert (np.diff(bag.predict(line)) >= 0).all()
    assert (np.diff(bag.set_params(estimator=DecisionTreeRegressor()).fit(X, y).predict(line)) < 0).any()


SMALL = {"n_estimators": 8, "max_leaf_nodes": 6, "min_samples_leaf": 5, "learning_rate": 0.3, "early_stopping": False}


@pytest.mark.parametrize("jobs", [1, 2])
def test_members_that_boost_share_codes_too(jobs, monkeypatch):
    monkeypatch.setattr("woodwind.estimators.pools.members.WORTH_THREADS", 0.0)
    frame, y = table()
    calls = {name: count_calls(monkeypatch, owner, name) for owner, name in ((Schema, "learn"), (Cuts, "fit"))}
    bag = BaggingRegressor(estimator=GradientBoostingRegressor(**SMALL), n_estimators=6, random_state=0, n_jobs=jobs).fit(frame, y)
    assert {name: len(made) for name, made in calls.items()} == {"learn": 1, "fit": 1}
    assert all(member.n_jobs is None for member in bag.estimators_)
    weight = np.bincount(bag.estimators_samples_[4], minlength=len(y))
    alone = GradientBoostingRegressor(**SMALL, random_state=bag.estimators_[4].random_state).fit(frame, y, sample_weight=weight)
    assert np.corrcoef(alone.predict(frame), bag.estimators_[4].predict(frame))[0, 1] > 0.98  # bins are cut from all rows, not those drawn
    assert bag.score(frame, y) > 0.6


def test_but_not_where_they_need_the_table(monkeypatch):
    frame, y = table()
    calls = count_calls(monkeypatch, Cuts, "fit")
    for more in ({"max_features": 2}, {"param_distributions": {"max_bins": [8, 16]}}):
        BaggingRegressor(estimator=GradientBoostingRegressor(**SMALL), n_estimators=3, random_state=0, **more).fit(frame, y)
    assert len(calls) == 6


def peak(count, X, y):
    tracemalloc.start()
    bag = BaggingRegressor(n_estimators=count, max_features=0.5, estimator=DecisionTreeRegressor(max_depth=3), random_state=0, n_jobs=1)
    bag.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_more_members_take_no_more_copies():
    """The codes are 8 bytes a value, the memory that a tree is grown in as much again, whatever the number of members."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = X[:, 0] + rng.normal(size=20_000)
    peak(1, X[:500], y[:500])
    few, many = peak(2, X, y), peak(20, X, y)
    assert many - few < 0.1 * X.nbytes
    assert many < 4.5 * X.nbytes
