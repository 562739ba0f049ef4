"""Several rankers as one: ranks, weights, files, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

import woodwind
from woodwind import DataError, GradientBoostingRanker, ParameterError, VotingRanker
from woodwind.data.tables.queries import QueryRows
from woodwind.ensemble.rank_fusion import borda_points, greedy_weights, ranks, reciprocal_points, spread_within

FEW = {"n_estimators": 6, "max_leaf_nodes": 6, "random_state": 0, "n_jobs": 1}
MEMBERS = [GradientBoostingRanker(**FEW), GradientBoostingRanker(loss="listwise_softmax", **FEW), ("linear", LinearRegression())]


def queries(seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(30), rng.integers(3, 12, 30))
    X = rng.normal(size=(len(group), 4))
    return X, np.clip(np.round(X[:, 0] + 0.4 * rng.normal(size=len(group)) + 1), 0, 4), group


def test_ranks_are_counted_within_queries_and_shared_by_equal_scores():
    rows = QueryRows.of(np.array([7, 5, 7, 7, 5, 9]))
    scores = np.array([1.0, 3.0, 2.0, 1.0, 4.0, 0.0])
    assert ranks(scores, rows).tolist() == [2.5, 2.0, 1.0, 2.5, 1.0, 1.0]
    assert borda_points(scores, rows).tolist() == [0.25, 0.0, 1.0, 0.25, 1.0, 0.5]
    assert_allclose(reciprocal_points(scores, rows), 1 / (60 + np.array([2.5, 2.0, 1.0, 2.5, 1.0, 1.0])))


def test_the_spread_of_scores_is_that_around_the_means_of_queries():
    rows = QueryRows.of(np.array([0, 0, 1, 1]))
    assert_allclose(spread_within(np.array([1.0, 3.0, 101.0, 103.0]), rows), 1.0)
    assert spread_within(np.array([5.0, 5.0, 9.0, 9.0]), rows) == 1.0
    assert spread_within(np.full(77, 0.3), QueryRows.of(np.arange(77) // 7)) == 1.0


def test_greedy_weights_leave_out_who_only_harms():
    truth = np.arange(20.0)
    points = np.array([truth + np.sin(truth), -truth, truth - np.sin(truth)])
    weights = greedy_weights(points, lambda one: round(float(one @ truth / np.sqrt(max(one @ one, 1.0))), 9))
    assert_allclose(weights, [0.5, 0.0, 0.5])


@pytest.mark.parametrize("fusion", ["blend", "borda", "reciprocal_rank"])
def test_an_ensemble_ranks_about_as_well_as_its_members(fusion):
    X, y, group = queries()
    Xt, yt, gt = queries(1)
    model = VotingRanker(MEMBERS, fusion=fusion).fit(X, y, group=group)
    alone = [GradientBoostingRanker(**FEW).fit(X, y, group=group).score(Xt, yt, group=gt)]
    assert model.score(Xt, yt, group=gt) > alone[0] - 0.03
    assert_allclose(model.weights_, 1 / 3)


def test_a_blend_is_the_sum_of_scores_over_their_spread():
    X, y, group = queries()
    model = VotingRanker(MEMBERS, weights=[2, 1, 0]).fit(X, y, group=group)
    scores = [member.predict(X) for member in model.rankers_]
    parts = [one / spread_within(one, QueryRows.of(group)) for one in scores]
    assert_allclose(model.predict(X), (2 * parts[0] + parts[1]) / 3)
    assert model.names_ == ["gradientboostingranker-1", "gradientboostingranker-2", "linear"]


def test_optimal_weights_are_found_on_queries_that_members_have_not_learned():
    X, y, group = queries()
    noise = np.random.default_rng(5).normal(size=len(y))

    class Memory(LinearRegression):
        """Knows every row that it has learned, and nothing of others."""

        def fit(self, X, y):
            self.known_ = {row.tobytes(): value for row, value in zip(X, y, strict=True)}
            self.n_features_in_ = X.shape[1]
            return self

        def predict(self, X):
            return np.array([self.known_.get(row.tobytes(), noise[len(row.tobytes()) % 7]) for row in X])

    model = VotingRanker([("memory", Memory()), ("linear", LinearRegression())], weights="optimal", random_state=0).fit(X, y, group=group)
    assert model.weights_[1] > 0.9


@pytest.mark.parametrize("fusion", ["blend", "borda"])
def test_an_ensemble_is_the_same_after_a_file(fusion, tmp_path):
    X, y, group = queries()
    model = VotingRanker(MEMBERS[:2], fusion=fusion).fit(X, y, group=group)
    model.save(tmp_path / "rank.ww")
    loaded = woodwind.load(tmp_path / "rank.ww")
    assert_array_equal(loaded.predict(X, group=group), model.predict(X, group=group))


@pytest.mark.parametrize("weights", ["best", [1, 2], [0, 0, 0], [1, -1, 1], 3.0])
def test_weights_that_are_none_are_refused(weights):
    X, y, group = queries()
    with pytest.raises(ParameterError, match="weights must be None, 'optimal', or 3 numbers"):
        VotingRanker(MEMBERS, weights=weights).fit(X, y, group=group)


def test_members_that_are_none_are_refused():
    X, y, group = queries()
    for estimators in ([], 3, [("a", 3)]):
        with pytest.raises(ParameterError):
            VotingRanker(estimators).fit(X, y, group=group)
    with pytest.raises(DataError, match="more than there are groups: 1"):
        VotingRanker(MEMBERS, weights="optimal").fit(X, y, group=[len(y)])


@pytest.mark.parametrize("weights", [None, "optimal"])
def test_positions_reach_all_members(weights):
    X, relevance, group = queries()
    position = np.concatenate([np.arange(1, size + 1) for size in np.bincount(group)])
    model = VotingRanker(MEMBERS[:2], weights=weights, cv=2, random_state=0).fit(X, relevance, group=group, position=position)
    for ranker in model.rankers_:
        assert len(ranker.position_bias_) == position.max()
    with pytest.raises(DataError, match="position was given, and LinearRegression takes none"):
        VotingRanker(MEMBERS).fit(X, relevance, group=group, position=position)
