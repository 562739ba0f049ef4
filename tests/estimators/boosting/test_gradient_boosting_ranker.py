"""Gradient boosting for rankings: queries in any form, weights, stopping by queries, and what is refused."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import woodwind
from woodwind import DataError, GradientBoostingRanker, ParameterError, WoodwindError
from woodwind.base.errors import QueryWarning, TargetError, WeightError
from woodwind.data.tables.queries import QueryRows
from woodwind.losses.ranking import LambdaMART, PairwiseLogistic, ShownPositions
from woodwind.metrics.queries import QueryMetric, query_metric

SMALL = {"n_estimators": 12, "max_leaf_nodes": 6, "min_samples_leaf": 5, "random_state": 0, "n_jobs": 1}
FIXED = {**SMALL, "early_stopping": False, "subsample": 1.0, "max_features_tree": None}
LOSSES = ["lambdamart", "pairwise_logistic", "listwise_softmax"]


def queries(n_queries=40, seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_queries), rng.integers(3, 14, n_queries))
    X = rng.normal(size=(len(group), 4))
    relevance = np.clip(np.round(X[:, 0] + 0.3 * rng.normal(size=len(group)) + 1), 0, 4)
    return X, relevance, group


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("metric", ["ndcg", "map", "mrr"])
def test_a_ranker_puts_relevant_documents_first(loss, metric):
    X, y, group = queries()
    model = GradientBoostingRanker(loss=loss, metric=metric, **SMALL).fit(X, y, group=group)
    by_chance = QueryMetric().value(y, np.random.default_rng(1).random(len(y)), QueryRows.of(group))
    assert model.score(X, y, group=group) > 0.85 > by_chance + 0.05


def test_sizes_labels_and_interleaved_labels_give_the_same_scores():
    X, y, group = queries()
    by_label = GradientBoostingRanker(**FIXED).fit(X, y, group=group).predict(X)
    sizes = np.bincount(group)
    assert_array_equal(GradientBoostingRanker(**FIXED).fit(X, y, group=sizes).predict(X), by_label)
    assert_array_equal(GradientBoostingRanker(**FIXED).fit(X, y, group=[f"q{number:03}" for number in group]).predict(X), by_label)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_rows_and_the_names_of_queries_change_no_score_by_a_bit(loss):
    """Nothing is drawn here; what is drawn goes by the number of a row."""
    X, y, group = queries()
    plain = GradientBoostingRanker(loss=loss, **FIXED).fit(X, y, group=group).predict(X)
    order, names = np.random.default_rng(3).permutation(len(y)), np.random.default_rng(4).permutation(group.max() + 1)
    moved = GradientBoostingRanker(loss=loss, **FIXED).fit(X[order], y[order], group=names[group][order])
    assert_array_equal(moved.predict(X), plain)


@pytest.mark.parametrize("loss", LOSSES)
def test_any_number_of_threads_gives_the_same_bits(loss):
    X, y, group = queries(600)
    one, three = (GradientBoostingRanker(loss=loss, **SMALL | {"n_jobs": jobs}).fit(X, y, group=group).predict(X) for jobs in (1, 3))
    assert_array_equal(one, three)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_query_of_weight_two_is_a_query_given_twice(loss):
    X, y, group = queries()
    doubled = group < 7
    twice = np.concatenate([np.arange(len(y)), np.flatnonzero(doubled)])
    name = np.concatenate([group, group[doubled] + 1000])
    settings = {**FIXED, "loss": loss, "min_samples_leaf": 1, "max_bins": None}
    given = GradientBoostingRanker(**settings).fit(X[twice], y[twice], group=name).predict(X)
    by_query = {number: 1.0 + (number < 7) for number in range(group.max() + 1)}
    assert_allclose(GradientBoostingRanker(**settings).fit(X, y, group=group, query_weight=by_query).predict(X), given, atol=1e-6)
    by_row = GradientBoostingRanker(**settings).fit(X, y, group=group, sample_weight=1.0 + doubled)
    assert_allclose(by_row.predict(X), given, atol=1e-6)


def test_weights_of_queries_may_come_in_the_order_of_the_queries():
    X, y, group = queries()
    names = np.array([f"q{number}" for number in np.random.default_rng(2).permutation(group.max() + 1)])[group]
    first = list(dict.fromkeys(names))
    weights = {name: 1.0 + position % 3 for position, name in enumerate(first)}
    by_name = GradientBoostingRanker(**FIXED).fit(X, y, group=names, query_weight=weights).predict(X)
    in_order = GradientBoostingRanker(**FIXED).fit(X, y, group=names, query_weight=[weights[name] for name in first]).predict(X)
    assert_array_equal(by_name, in_order)


@pytest.mark.parametrize("how", ["row", "query"])
def test_what_weighs_nothing_is_absent(how):
    X, y, group = queries()
    out = group % 5 == 0 if how == "query" else np.arange(len(y)) % 7 == 0
    without = GradientBoostingRanker(**FIXED).fit(X[~out], y[~out], group=group[~out]).predict(X)
    given = {"sample_weight": np.where(out, 0.0, 1.0)}
    if how == "query":
        given = {"query_weight": np.where(np.arange(group.max() + 1) % 5 == 0, 0.0, 1.0)}
    assert_array_equal(GradientBoostingRanker(**FIXED).fit(X, y, group=group, **given).predict(X), without)


def test_rows_are_held_out_by_whole_queries():
    X, y, group = queries(300)
    seen = {}

    class Recorder(GradientBoostingRanker):
        def _split(self, given, eval_set, values, seed):
            seen["split"] = super()._split(given, eval_set, values, seed)
            return seen["split"]

    settings = SMALL | {"early_stopping": True}
    Recorder(**settings).fit(X, y, group=group)
    held = seen["split"].held
    assert 0 < held.sum() < len(held)
    assert all(held[group == number].all() or not held[group == number].any() for number in range(300))


def test_validation_queries_are_scored_by_ndcg_and_stopped_by_it():
    X, y, group = queries(80)
    Xv, yv, gv = queries(30, seed=1)
    model = GradientBoostingRanker(**SMALL | {"n_estimators": 200, "n_iter_no_change": 5, "refit": False}, scoring=["ndcg@3", "map", "mrr"])
    model.fit(X, y, group=group, eval_set=(Xv, yv), eval_group=gv)
    curves = model.evals_result_["validation_0"]
    assert list(curves) == ["ndcg@3", "map", "mrr"]
    assert model.n_iter_ == model.best_iteration_ < 200
    assert_allclose(curves["ndcg@3"][model.n_iter_ - 1], model.score(Xv, yv, group=gv))
    for name in curves:
        value = query_metric(name).value(yv, model.predict(Xv), QueryRows.of(gv))
        assert_allclose(curves[name][model.n_iter_ - 1], value)


def test_several_validation_tables_have_their_queries_by_name():
    X, y, group = queries(60)
    Xv, yv, gv = queries(20, seed=1)
    model = GradientBoostingRanker(**SMALL)
    model.fit(X, y, group=group, eval_set={"old": (X, y), "new": (Xv, yv)}, eval_group={"old": group, "new": np.bincount(gv)})
    assert set(model.evals_result_) == {"training", "old", "new"}
    assert_allclose(model.evals_result_["old"]["ndcg"], model.evals_result_["training"]["ndcg"])


def test_watched_training_rows_of_a_large_table_are_whole_queries():
    X, y, group = queries(2000)
    model = GradientBoostingRanker(n_estimators=2, early_stopping=False, n_jobs=1, random_state=0).fit(X, y, group=group)
    whole = model.score(X, y, group=group)
    assert abs(model.train_score_[-1] - whole) < 0.02


def test_the_score_is_the_mean_of_the_ndcg_of_scikit_learn():
    X, y, group = queries()
    model = GradientBoostingRanker(gain="linear", **SMALL).fit(X, y, group=group)
    scores = model.predict(X)
    theirs = np.mean([ndcg_score([y[group == g]], [scores[group == g]]) for g in range(40) if (group == g).sum() > 1])
    assert_allclose(model.score(X, y, group=group), theirs)


def test_a_search_over_folds_of_queries_hands_the_queries_on():
    X, y, group = queries(60)
    with sklearn.config_context(enable_metadata_routing=True):
        model = GradientBoostingRanker(**SMALL).set_fit_request(group="groups").set_score_request(group="groups")
        search = GridSearchCV(model, {"max_leaf_nodes": [3, 6]}, cv=GroupKFold(3)).fit(X, y, groups=group)
        assert search.best_score_ > 0.8
        pipeline = make_pipeline(StandardScaler(), model)
        scores = cross_val_score(pipeline, X, y, cv=GroupKFold(3), params={"groups": group})
        folds = GroupKFold(3).split(X, y, group)
        by_hand = [model.fit(X[a], y[a], group=group[a]).score(X[b], y[b], group=group[b]) for a, b in folds]
    assert_allclose(scores, by_hand, atol=1e-2)


@pytest.mark.parametrize("loss", [*LOSSES, LambdaMART(metric="map", truncation=5)])
def test_a_ranker_is_the_same_after_a_file(loss, tmp_path):
    X, y, group = queries()
    model = GradientBoostingRanker(loss=loss, **SMALL).fit(X, y, group=group)
    model.save(tmp_path / "rank.ww")
    loaded = woodwind.load(tmp_path / "rank.ww")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.get_params() == model.get_params()
    assert loaded.loss_ == model.loss_


def test_what_is_explained_is_the_score():
    X, y, group = queries()
    model = GradientBoostingRanker(**SMALL).fit(X, y, group=group)
    explanation = model.explain(X[:5])
    assert_allclose(explanation.values.sum(axis=1)[:, 0] + explanation.base[0], model.predict(X[:5]), atol=1e-9)
    assert model.feature_importances_.argmax() == 0


def test_categories_and_gaps_come_as_they_are():
    pd = pytest.importorskip("pandas")
    X, y, group = queries(100)
    frame = pd.DataFrame({"kind": pd.Series(y.astype(int)).map(lambda one: f"k{one}"), "number": np.where(X[:, 1] > 1, np.nan, X[:, 1])})
    model = GradientBoostingRanker(**SMALL | {"n_estimators": 60}).fit(frame, y, group=pd.Series(group).map("query {}".format))
    assert model.score(frame, y, group=group) > 0.97


def test_without_group_all_rows_are_one_query_and_that_is_told():
    X, y, _ = queries(10)
    with pytest.warns(QueryWarning, match="no group was given, so that all"):
        model = GradientBoostingRanker(**SMALL).fit(X, y)
    one = GradientBoostingRanker(**SMALL).fit(X, y, group=[len(y)])
    assert_array_equal(model.predict(X), one.predict(X))


def test_queries_from_which_nothing_is_learned_change_nothing():
    X, y, group = queries()
    more = np.random.default_rng(9).normal(size=(20, 4))
    settings = {**FIXED, "min_samples_leaf": 1, "max_bins": None}
    wide = GradientBoostingRanker(**settings).fit(np.vstack([X, X[:20]]), np.append(y, np.zeros(20)), group=np.append(group, [999] * 20))
    assert_allclose(wide.predict(more), GradientBoostingRanker(**settings).fit(X, y, group=group).predict(more), atol=1e-6)


BAD = [
    ({"group": [5, 5]}, DataError, "sizes of group add up to 10, and there are"),
    ({"group": [0, 1, 2]}, DataError, "query of 0 rows"),
    ({"group": [1.5, 2.5]}, DataError, "group has 2 values, and there are"),
    ({"group": ["a", "b"]}, DataError, "group has 2 values, and there are"),
    ({"query_weight": [1.0, 2.0]}, WeightError, "query_weight has 2 values, and there are 40 queries"),
    ({"query_weight": {0: 1.0}}, WeightError, "no weight of the query 1"),
    ({"query_weight": np.full(40, -1.0)}, WeightError, "query_weight must not be negative"),
    ({"eval_group": [1]}, DataError, "eval_group came without eval_set"),
]


@pytest.mark.parametrize(("given", "error", "words"), BAD)
def test_bad_queries_are_refused_in_one_line(given, error, words):
    X, y, group = queries()
    with pytest.raises(error, match=words) as caught:
        GradientBoostingRanker(**SMALL).fit(X, y, **({"group": group} | given))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("GradientBoostingRanker")


def test_a_query_that_is_missing_is_refused():
    X, y, group = queries()
    broken = group.astype(float)
    broken[3] = np.nan
    with pytest.raises(DataError, match="group is missing in 1 rows, first in row 3"):
        GradientBoostingRanker(**SMALL).fit(X, y, group=broken)


@pytest.mark.parametrize(
    ("value", "words"), [(-1.0, r"must not be negative, but y\[0\] = -1"), (40.0, "must be at most 31"), (np.nan, "NaN")]
)
def test_what_is_no_relevance_is_refused(value, words):
    X, y, group = queries()
    y[0] = value
    with pytest.raises(TargetError, match=words):
        GradientBoostingRanker(**SMALL).fit(X, y, group=group)


def test_a_large_relevance_is_no_matter_where_gains_are_linear():
    X, y, group = queries()
    assert GradientBoostingRanker(gain="linear", **SMALL).fit(X, 100 * y, group=group).score(X, 100 * y, group=group) > 0.85


def test_validation_tables_without_queries_are_refused():
    X, y, group = queries()
    with pytest.raises(DataError, match="eval_group must tell the queries of every table"):
        GradientBoostingRanker(**SMALL).fit(X, y, group=group, eval_set=(X, y))
    with pytest.raises(DataError, match="there is none for 'validation_1'"):
        GradientBoostingRanker(**SMALL).fit(X, y, group=group, eval_set=[(X, y), (X, y)], eval_group=[group])


@pytest.mark.parametrize("scoring", ["rmse", "ndcg@0", "ndcg@x", [], ["map", "map"], len])
def test_metrics_that_rank_nothing_are_refused(scoring):
    X, y, group = queries()
    with pytest.raises(ParameterError):
        GradientBoostingRanker(scoring=scoring, **SMALL).fit(X, y, group=group)


@pytest.mark.parametrize("loss", ["squared_error", "lambdamarts", 3])
def test_losses_that_rank_nothing_are_refused(loss):
    X, y, group = queries()
    with pytest.raises(ParameterError, match="loss must be one of 'lambdamart'"):
        GradientBoostingRanker(loss=loss, **SMALL).fit(X, y, group=group)


@pytest.mark.parametrize(
    ("name", "ours"),
    [("rank:ndcg", "LambdaMART"), ("lambdarank", "LambdaMART"), ("rank_xendcg", "ListwiseSoftmax"), ("rank:pairwise", "PairwiseLogistic")],
)
def test_losses_of_other_libraries_are_understood(name, ours):
    X, y, group = queries()
    assert type(GradientBoostingRanker(loss=name, **SMALL).fit(X, y, group=group).loss_).__name__ == ours


def test_more_rounds_go_on_from_those_that_are_there():
    X, y, group = queries()
    whole = GradientBoostingRanker(**FIXED).fit(X, y, group=group)
    part = GradientBoostingRanker(**FIXED | {"n_estimators": 5}, warm_start=True).fit(X, y, group=group)
    assert_array_equal(part.set_params(n_estimators=12).fit(X, y, group=group).predict(X), whole.predict(X))


def test_leaves_learned_again_from_the_same_rows_are_the_same():
    X, y, group = queries()
    model = GradientBoostingRanker(**FIXED).fit(X, y, group=group)
    assert_allclose(model.refit_leaves(X, y, group=group).predict(X), model.predict(X), atol=1e-6)
    with pytest.raises(DataError, match="sizes of group add up to 3"):
        model.refit_leaves(X, y, group=[1, 2])


def test_ordered_boosting_is_refused():
    X, y, group = queries()
    with pytest.raises(ParameterError, match="whole queries"):
        GradientBoostingRanker(boosting="ordered", **SMALL).fit(X, y, group=group)


@pytest.mark.parametrize(
    "options",
    [
        {"boosting": "dart"},
        {"sampling": "goss"},
        {"sampling": "mvs"},
        {"growth": "symmetric"},
        {"monotonic_cst": [1, 0, 0, 0]},
        {"max_bins": None},
    ],
)
def test_options_of_boosting_are_those_of_rankers(options):
    X, y, group = queries()
    assert GradientBoostingRanker(**SMALL | {"max_leaf_nodes": "auto"}, **options).fit(X, y, group=group).score(X, y, group=group) > 0.8


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y, group = queries()
    model = GradientBoostingRanker(**SMALL).fit(X, y, group=group)
    before = model.predict(X)
    with pytest.raises(WoodwindError):
        model.fit(X, y, group=[3])
    assert_array_equal(model.predict(X), before)


# Documents that were clicked because they stood at the top.


def clicks(n_queries=300, seed=0):
    """Clicks on documents that a poor ranker has put in order: what stands lower is looked at less. And what they are really worth."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(n_queries), 8)
    X = rng.normal(size=(len(query), 4))
    worth = X[:, 0] + 1.5 * np.sin(2.0 * X[:, 1])
    shown = (X[:, 0] + 0.7 * rng.normal(size=len(query))).reshape(n_queries, 8)
    position = (np.argsort(np.argsort(-shown, axis=1), axis=1) + 1).reshape(-1)
    looked_at = rng.random(len(query)) < 1.0 / position
    clicked = looked_at & (rng.random(len(query)) < 1.0 / (1.0 + np.exp(-2.0 * (worth - 0.5))))
    return X, query, clicked.astype(float), position, np.digitize(worth, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("loss", ["lambdamart", "pairwise_logistic", "listwise_softmax"])
def test_positions_are_taken_out_of_clicks(loss):
    X, query, clicked, position, _ = clicks()
    new, other, _, _, worth = clicks(100, seed=1)
    settings = {"loss": loss, "n_estimators": 60, "early_stopping": False, "random_state": 0}
    plain = GradientBoostingRanker(**settings).fit(X, clicked, group=query)
    corrected = GradientBoostingRanker(**settings).fit(X, clicked, group=query, position=position)
    gained = corrected.score(new, worth, group=other) - plain.score(new, worth, group=other)
    assert gained > 0.005
    assert corrected.positions_.tolist() == list(range(1, 9))
    assert corrected.position_bias_.argmax() == 0
    assert corrected.position_bias_[0] > corrected.position_bias_[3:].max() + 0.05
    assert abs(corrected.position_bias_ @ np.bincount(position)[1:]) < 1e-9
    assert not hasattr(plain, "position_bias_")


def test_the_biases_are_those_with_the_smallest_loss():
    """Of pairwise logistic losses, whose sum over all pairs is convex: no other biases are better."""
    _, query, clicked, position, _ = clicks(60)
    loss = PairwiseLogistic().bound(QueryRows.of(query), clicked, ShownPositions(position - 1, 8))
    raw = np.random.default_rng(0).normal(size=len(query))
    bias = loss.position_biases(raw)
    free = PairwiseLogistic().bound(QueryRows.of(query), clicked)

    def total(values):
        return free.total(clicked, raw + values[position - 1])[0]

    best = minimize(total, np.zeros(8)).x
    best -= (best * np.bincount(position)[1:]).sum() / len(position)
    np.testing.assert_allclose(bias, best, atol=0.05 * np.abs(best).max())
    assert total(bias) - total(best) < 0.01 * (total(np.zeros(8)) - total(best))
    held = PairwiseLogistic().bound(QueryRows.of(query), clicked, ShownPositions(position - 1, 8, 10.0)).position_biases(raw)
    assert np.abs(held).max() < 0.1 * np.abs(bias).max()


def test_a_model_with_positions_has_the_same_bits_on_any_threads_and_from_a_file(tmp_path):
    X, query, clicked, position, _ = clicks(60)
    names = np.array([f"place {one}" for one in position])
    models = [GradientBoostingRanker(n_estimators=8, random_state=0, n_jobs=n).fit(X, clicked, group=query, position=names) for n in (1, 2)]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
    np.testing.assert_array_equal(models[0].position_bias_, models[1].position_bias_)
    models[0].save(tmp_path / "model.ww")
    again = woodwind.load(tmp_path / "model.ww")
    assert again.positions_.tolist() == [f"place {one}" for one in range(1, 9)]
    np.testing.assert_array_equal(again.position_bias_, models[0].position_bias_)
    models[0].fit(X, clicked, group=query)
    assert not hasattr(models[0], "positions_")


@pytest.mark.parametrize(
    ("position", "words"),
    [
        (np.arange(10), "position has 10 values, and there are 480 rows"), (np.ones(480), "the same for all rows"),
        (np.arange(480), "too many to learn a bias of each"),
        (np.where(np.arange(480) == 7, np.nan, 1.0), "missing in 1 rows, first in row 7"),
    ],
)  # fmt: skip
def test_positions_that_say_nothing_are_refused(position, words):
    X, query, clicked, _, _ = clicks(60)
    with pytest.raises(DataError, match=words):
        GradientBoostingRanker(n_estimators=2).fit(X, clicked, group=query, position=position)


def test_leaves_are_learned_again_with_positions_taken_out():
    X, query, clicked, position, _ = clicks()
    model = GradientBoostingRanker(n_estimators=20, max_leaf_nodes=8, random_state=0, n_jobs=1, early_stopping=False, subsample=1.0)
    model.fit(X, clicked, group=query, position=position)
    again = model.refit_leaves(X, clicked, group=query, position=position)
    assert again.positions_.tolist() == model.positions_.tolist()
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)  # the same rows, so the same leaves
    np.testing.assert_allclose(again.position_bias_, model.position_bias_, rtol=1e-6, atol=1e-9)
    late = query >= 40
    named = np.array([f"at {one}" for one in position])
    new = model.refit_leaves(X[late], clicked[late], group=query[late], position=named[late], sample_weight=np.ones(late.sum()))
    assert new.positions_[0] == "at 1"
    assert new.position_bias_.argmax() == 0
    plain = model.refit_leaves(X, clicked, group=query)
    assert not np.allclose(plain.predict(X), again.predict(X))
