"""Rankings as a task of the main job: folds by query, members and weights by NDCG, facts, the report, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import ndcg_score

import woodwind
from woodwind.auto import job
from woodwind.auto.blend import BlendEvidence, blend, by_selection, parts_of, some_queries, spreads
from woodwind.auto.scorer import BlendScorer
from woodwind.base.errors import DataError, ParameterError, QueryWarning, TargetError
from woodwind.metrics.named import METRICS, metric_named
from woodwind.metrics.queries import bound
from woodwind.report import page

QUICK = {"exclude": ["net", "neighbours", "forest"], "seed": 0}


def documents(n_queries=40, seed=0, least=2):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(least, 15, n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(len(query), 4))
    # What is the same for all documents of a query is no help to rank them, and hides what is.
    X[:, 3] = rng.normal(size=n_queries)[query]
    worth = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(query))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(query=[f"q{one}" for one in query])
    return frame.assign(relevance=np.digitize(worth, [0.5, 1.2, 2.0]))


@pytest.fixture(scope="module")
def fitted():
    return woodwind.fit(documents(), "relevance", query="query", models=5, **QUICK)


def test_the_score_is_ndcg_by_query_of_whole_queries_held_out(fitted):
    assert type(fitted) is woodwind.AutoEnsembleRanker
    assert (fitted.model_.task, fitted.model_.metric, fitted.model_.query) == ("ranking", "ndcg@10", "query")
    first = fitted.leaderboard_[0]
    assert 0.75 < first.score < 0.97
    assert 0.005 < first.standard_error < 0.05
    assert {entry.name for entry in fitted.leaderboard_[1:]} == {
        "boosting-lambdamart", "boosting-listwise", "boosting-regression", "boosting-pairwise", "linear",
    }  # fmt: skip
    weights = [entry.weight for entry in fitted.leaderboard_[1:]]
    assert sum(weights) == pytest.approx(1.0)
    assert "query" not in fitted.model_.schema.names
    assert "query" in fitted.model_.beside


def test_new_queries_are_ranked_and_the_file_ranks_them_alike(fitted, tmp_path):
    new = documents(30, seed=1)
    scores = fitted.predict(new)
    found = fitted.score(new, new["relevance"], group=new["query"])
    by_query = [
        ndcg_score([2.0 ** one["relevance"] - 1.0], [scores[one.index]], k=10) if one["relevance"].any() else 0.0
        for _, one in new.groupby("query")
    ]
    assert found == pytest.approx(np.mean(by_query))
    assert found > 0.75
    fitted.save(tmp_path / "model.ww")
    again = woodwind.load(tmp_path / "model.ww")
    np.testing.assert_array_equal(again.predict(new), scores)
    assert again.leaderboard_ == fitted.leaderboard_


def test_facts_and_report_tell_of_queries(fitted):
    facts = fitted.facts_
    assert facts["left_out"] == []
    quality = facts["quality"]
    assert quality["queries"] == 40
    assert [line["name"] for line in quality["lines"]][::2] == ["ensemble", "any order"]
    ours, guess = (quality["lines"][position]["value"] for position in (0, -1))
    assert all(one > other for one, other in zip(ours[:4], guess[:4], strict=True))
    assert facts["metrics"]["scores"]["ndcg@10"]["score"] == pytest.approx(fitted.score_)
    assert set(facts["metrics"]["scores"]) == {name for name, metric in METRICS.items() if metric.tasks == ("ranking",)}
    assert facts["importance"]["of"] == "queries"
    assert {facts["importance"]["columns"][place]["name"] for place in range(3)} == {"a", "b", "c"}
    assert "intervals" not in facts
    with pytest.raises(DataError, match="intervals are for numbers and classes"):
        fitted.model_.require_intervals()
    text = page(facts)
    assert "NDCG by cut-off" in text
    assert "any order" in text


def test_a_job_that_ranks_gives_the_same_bits_on_any_number_of_threads():
    table, new = documents(15), documents(10, seed=2)
    made = (woodwind.fit(table, "relevance", query="query", models=1, threads=threads, **QUICK) for threads in (1, 2))
    np.testing.assert_array_equal(*(model.predict(new) for model in made))


def test_queries_in_any_order_of_rows_are_the_same_queries():
    table = documents(20)
    mixed = table.sample(frac=1.0, random_state=0)
    ours, theirs = (woodwind.fit(one, "relevance", query="query", models=1, **QUICK).score_ for one in (table, mixed))
    assert ours == pytest.approx(theirs, abs=0.05)


def test_in_the_order_of_time_later_queries_score(tmp_path):
    table = documents(60)
    table["when"] = table["query"].str[1:].astype(int)
    model = woodwind.fit(table, "relevance", query="query", time_column="when", models=2, **QUICK)
    assert model.facts_["split"]["by"] == ["time", "groups"]
    assert model.score_ > 0.6


def test_weights_of_queries_count():
    table = documents(40)
    worst = table["query"].isin([f"q{one}" for one in range(20)])
    table["heavy"] = np.where(worst, 1e-6, 1.0)
    weighed = woodwind.fit(table, "relevance", query="query", weight="heavy", models=1, **QUICK)
    ndcg = weighed.facts_["metrics"]["scores"]["ndcg@10"]["score"]
    assert ndcg == pytest.approx(weighed.score_)


def test_one_query_without_a_group_is_ranked_by_rows_held_out():
    table = documents(20)
    with pytest.warns(QueryWarning, match="one query"):
        model = woodwind.AutoEnsembleRanker(models=1, exclude=["net", "neighbours", "forest"]).fit(table[list("abc")], table["relevance"])
    assert 0.0 < model.score_ < 1.0
    assert np.corrcoef(model.predict(table[list("abc")]), table["relevance"])[0, 1] > 0.5


# Bad input: refused before any work, in words that name the column and the remedy.


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {"query": "quary"}, "no column 'quary'. Did you mean 'query'"),
        ({"query": "one"}, {}, "'query' is the same in all rows"),
        ({"query": range(500)}, {}, "'query' is different in every row"),
        ({"relevance": 0}, {}, "'relevance' is 0 in every row"),
        ({"relevance": -1}, {}, "'relevance' is negative in"),
        ({"relevance": 40}, {}, "'relevance' is above 31 in"),
        ({"relevance": "much"}, {}, "'relevance' is of type"),
        ({"query": None}, {}, "the query column 'query' is missing"),
        ({}, {"group": "a"}, "has rows of several groups of 'a'"),
        ({}, {"task": "regression"}, "is for rankings, and task='regression'"),
        ({}, {"query": None, "task": "ranking"}, "needs to know which rows are of one query"),
    ],
)
def test_what_cannot_be_ranked_is_refused_with_the_remedy(change, options, words):
    table = documents(20)
    table = table.assign(**{name: list(value)[: len(table)] if isinstance(value, range) else value for name, value in change.items()})
    with pytest.raises(DataError) as caught:
        woodwind.fit(table, "relevance", **({"query": "query"} | options), models=1)
    assert words in str(caught.value)


def test_relevant_documents_that_are_alone_leave_nothing_to_rank():
    table = pd.DataFrame({"a": range(30), "query": [*range(10), *[10] * 10, *[11] * 10], "relevance": [1] * 10 + [0] * 20})
    with pytest.raises(DataError, match="no query of several documents with a relevant one"):
        woodwind.fit(table, "relevance", query="query", models=1)


def test_queries_of_which_nothing_is_learned_are_told():
    table = documents(30, least=1)
    table.loc[table["query"] == "q3", "relevance"] = 0
    events = []
    woodwind.fit(table, "relevance", query="query", models=1, listener=events.append, **QUICK)
    notes = " ".join(events[0].notes)
    assert "30 queries of 1 to 14 documents" in notes
    assert "without a relevant document" in notes


def test_metrics_of_other_tasks_are_refused():
    with pytest.raises(ParameterError, match="'rmse' is for numbers, and the task is 'ranking'"):
        woodwind.fit(documents(10), "relevance", query="query", metric="rmse", models=1)
    with pytest.raises(ParameterError, match="'ndcg@10' is for rankings, and the task is 'regression'"):
        woodwind.fit(documents(10), "relevance", task="regression", metric="ndcg@10", ignore="query", models=1)


# The pieces.


def test_a_bound_metric_is_the_mean_over_queries_and_its_error():
    y, query = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 2.0]), np.array([5, 5, 7, 7, 9, 9])
    scores = np.array([2.0, 1.0, 2.0, 1.0, 1.0, 3.0])
    metric = bound(METRICS["mrr"], y, query)
    assert metric.value(y, scores) == pytest.approx((1.0 + 0.5 + 1.0) / 3.0)
    assert metric.standard_error(y, scores) == pytest.approx(np.std([1.0, 0.5, 1.0], ddof=1) / np.sqrt(3))
    assert metric.loss(y, scores) == pytest.approx(1.0 - 2.5 / 3.0)
    assert metric.value(y, scores, [3.0, 3.0, 1.0, 1.0, 1.0, 1.0]) == pytest.approx((3.0 + 0.5 + 1.0) / 5.0)
    with pytest.raises(DataError, match="needs the queries"):
        METRICS["mrr"].value(y, scores)
    with pytest.raises(TargetError, match="no document is relevant"):
        METRICS["ndcg@10"].check(np.zeros(4))


def evidence(scales=(1.0, 1000.0), folds=4):
    table = documents(60)
    query = np.unique(table["query"], return_inverse=True)[1].astype(np.int64)
    y = table["relevance"].to_numpy(float)
    truth = table["a"] + table["b"] * table["c"]
    scores = np.stack([scale * (truth + np.random.default_rng(k).normal(size=len(y))) for k, scale in enumerate(scales)], axis=1)
    scorer = BlendScorer(metric_named("ndcg@10", "ranking"), y, None, False, None, query)
    return BlendEvidence(scores[:, :, None], scorer, query % folds, False, 0, 0)


def test_members_are_weighed_whatever_the_scale_of_their_scores():
    plain, scaled = (by_selection(evidence(scales)).weights for scales in ((1.0, 1.0), (1.0, 1000.0)))
    np.testing.assert_allclose(scaled, plain / [1.0, 1000.0])
    np.testing.assert_allclose(spreads(evidence())[1] / spreads(evidence((1.0, 1.0)))[1], 1000.0)


def test_a_blend_is_better_than_its_members_and_never_divides_a_query():
    seen = evidence()
    found = blend(seen)
    losses = [seen.scorer.loss(seen.scores[:, member]) for member in range(2)]
    assert seen.scorer.loss(found.nested) < min(losses)
    parts = parts_of(np.zeros(len(seen.fold), np.int64), seen.queries)
    assert all(len(np.unique(parts[seen.queries == one])) == 1 for one in np.unique(seen.queries))
    some = some_queries(seen.queries, 100, 1)
    assert 0 < some.sum() <= 100
    assert all(some[seen.queries == one].all() or not some[seen.queries == one].any() for one in np.unique(seen.queries))


def test_a_query_of_weight_two_is_a_query_given_twice_in_distribution():
    """Folds are drawn anew, so that penalties and bits differ: the order hardly does."""
    table = documents(60)
    number = table["query"].str[1:].astype(int).to_numpy()
    weight = 1.0 + 3.0 * (number % 2)
    # In the odd queries relevance goes with one column, in the others with another: weights decide between the two.
    y = np.digitize(np.where(number % 2, table["a"], table["b"]), [0.0, 1.0])
    many = np.repeat(np.arange(len(table)), weight.astype(int))
    copy = np.concatenate([np.arange(int(count)) for count in weight])
    linear = woodwind.AutoEnsembleRanker(models=1, exclude=["boosting", "forest", "net", "neighbours"])
    X, new = table[list("abcd")], documents(20, seed=3)[list("abcd")]
    weighed = linear.fit(X, y, sample_weight=weight, group=number).predict(new)
    repeated = linear.fit(X.iloc[many], y[many], group=number[many] * 10 + copy).predict(new)
    plain = linear.fit(X, y, group=number).predict(new)
    near, far = (np.corrcoef(weighed, other)[0, 1] for other in (repeated, plain))
    assert near > 0.995
    assert far < 0.97


def test_a_group_beside_the_query_holds_queries_out_together(monkeypatch, tmp_path):
    told = {}

    def caught(spec, *rest):
        told["spec"] = spec
        return job.run(spec, *rest)

    monkeypatch.setattr("woodwind.estimators.auto.auto_ensemble.run", caught)
    table = documents(60)
    table["user"] = table["query"].str[1:].astype(int) // 3
    model = woodwind.fit(table, "relevance", query="query", group="user", models=1, **QUICK)
    folds = pd.DataFrame({"user": table["user"], "query": table["query"], "fold": told["spec"].fold}).groupby("user")
    assert (folds["fold"].nunique() == 1).all()
    assert (folds["query"].nunique() == 3).all()
    assert {"user", "query"} <= set(model.model_.beside)
    assert model.facts_["split"]["columns"] == {"group": "user", "query": "query"}
    model.report(tmp_path / "report.html")
