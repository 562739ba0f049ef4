"""Facts of a job: plain, the same for the same seed, within their time, and right where a simple reckoning can tell."""

import json
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import average_precision_score, classification_report, confusion_matrix, log_loss, r2_score, roc_auc_score

import woodwind
from tests.auto.fake_outcome import fake
from tests.auto.fake_outcome import outcome_of as outcome_from
from woodwind.auto.clock import Countdown, OutOfTimeError
from woodwind.auto.facts import collection as facts_file
from woodwind.auto.facts.collection import collect
from woodwind.auto.facts.data import correlated_columns
from woodwind.auto.facts.dependence import dependence_facts
from woodwind.auto.facts.importance import PredictionPace, SampledRows, affordable, importance_facts
from woodwind.auto.facts.quality import Curves
from woodwind.auto.facts.scored_rows import ScoredRows
from woodwind.auto.members.link import probabilities
from woodwind.auto.shap import explain_model
from woodwind.base.errors import ReportWarning
from woodwind.base.random_streams import choose, key
from woodwind.report import page
from woodwind.report.sections import mistakes
from woodwind.report.wording import PARTS as PART_NAMES

TASKS = ("binary", "multiclass", "regression")
MEASURES = ("precision", "recall", "f1-score")
COSTLY = {"metrics", "comparison", "quality", "intervals", "data", "members", "diversity", "importance", "dependence", "shap"}
PARTS = COSTLY | {"leaderboard", "suspicions", "made", "use", "curves", "mistakes"}


@cache
def outcome_of(task):
    return fake(task, n=300, rounds=20)


@cache
def facts_of(task):
    return collect(outcome_of(task), 60.0)


@pytest.mark.parametrize("task", TASKS)
def test_facts_are_plain_and_every_part_is_there(task):
    facts = facts_of(task)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["left_out"] == []
    assert set(facts) >= PARTS
    assert ("margins" in facts) == (task != "regression")


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_facts_with_any_number_of_threads(task):
    again = collect(outcome_of(task), 60.0, threads=2)
    assert {name: one for name, one in again.items() if name != "part_seconds"} == {
        name: one for name, one in facts_of(task).items() if name != "part_seconds"
    }


def test_no_time_leaves_out_all_that_costs_time_and_says_so():
    facts = collect(outcome_of("binary"), 0.0)
    assert {one["part"] for one in facts["left_out"]} == COSTLY | {"margins"}
    assert facts["leaderboard"][0]["name"] == "ensemble"


def test_a_slow_model_is_asked_about_fewer_rows_and_not_at_all_where_there_is_no_time(monkeypatch):
    outcome = outcome_of("binary")
    monkeypatch.setattr(PredictionPace, "of", lambda held, threads: PredictionPace(0.01, 1e-3))
    assert affordable(outcome, 6, Countdown(1.0), 1) == 60  # which take 0.43 seconds: half of the time is left for what comes after
    assert affordable(outcome, 6, Countdown(0.4), 1) == 40  # the fewest rows may take it all
    assert affordable(outcome, 6, Countdown(60.0), 1) == 250
    with pytest.raises(OutOfTimeError):
        importance_facts(outcome, ScoredRows.of(outcome), Countdown(0.05))


MAKERS = {
    "leaderboard": "leaderboard_facts", "suspicions": "suspicion_facts", "made": "made_facts", "split": "split_facts", "use": "use_facts",
    "metrics": "all_metric_facts",
    "comparison": "comparison_facts", "quality": "classification_facts", "data": "data_facts", "members": "member_facts",
    "curves": "curve_facts",
    "margins": "margin_facts", "diversity": "diversity_facts", "importance": "importance_facts", "mistakes": "mistake_facts",
    "dependence": "dependence_facts",
}  # fmt: skip


@cache
def small_outcome():
    return fake("binary", n=120, rounds=3)


def broken(*given):
    raise RuntimeError("a pipe <burst>")


@pytest.mark.parametrize("part", MAKERS)
def test_a_part_that_fails_is_reported_as_failed_by_name_and_never_as_lack_of_time(part, monkeypatch):
    monkeypatch.setattr(facts_file, MAKERS[part], broken)
    with pytest.warns(ReportWarning, match=r"RuntimeError: a pipe <burst>") as caught:
        facts = collect(small_outcome(), 60.0)
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"Not in the report, because measuring failed: {part} (")
    assert {"part": part, "why": "it failed: RuntimeError: a pipe <burst>", "failed": True} in facts["left_out"]
    assert all(one["failed"] for one in facts["left_out"])
    assert {one["part"] for one in facts["left_out"]} == ({part, "dependence"} if part == "importance" else {part})
    html = page(facts)
    assert "no time" not in html
    assert "RuntimeError: a pipe &lt;burst&gt;" in html
    assert f"It failed to measure {PART_NAMES[part]}" in html


@pytest.mark.parametrize("part", [part for part in MAKERS if part in COSTLY | {"margins"}])
def test_a_clock_that_has_run_out_is_reported_as_no_time(part, monkeypatch):
    def late(*given):
        raise OutOfTimeError

    monkeypatch.setattr(facts_file, MAKERS[part], late)
    facts = collect(small_outcome(), 60.0)
    assert {one["part"]: one["failed"] for one in facts["left_out"]} == dict.fromkeys(
        [part, "dependence"] if part == "importance" else [part], False
    )
    html = page(facts)
    assert "there was no time for" in html
    assert "failed" not in html


def test_partial_dependence_of_a_slow_model_is_that_of_few_rows(monkeypatch):
    importance = facts_of("binary")["importance"]
    monkeypatch.setattr(PredictionPace, "of", lambda held, threads: PredictionPace(0.01, 0.05))
    found = dependence_facts(outcome_of("binary"), importance, Countdown(12.0))
    assert found[0]["rows"] == 14
    with pytest.raises(OutOfTimeError):
        dependence_facts(outcome_of("binary"), importance, Countdown(9.0))


def test_no_time_for_the_first_column_of_partial_dependence_is_told(monkeypatch):
    importance = facts_of("binary")["importance"]

    class Late(Countdown):
        def over(self, done):
            return True

    with pytest.raises(OutOfTimeError):
        dependence_facts(outcome_of("binary"), importance, Late(60.0))


def test_importance_is_measured_where_a_member_reads_levels_as_numbers():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 60, 300)
    y = rng.normal(size=60)[level] + rng.normal(size=300)
    table = pa.table({"who": [f"w{one:02d}" for one in level], "x": rng.normal(size=300), "y": y})
    model = woodwind.fit(table, "y", models=2)
    assert "boosting-encoded" in model.model_.names
    assert model.facts_["left_out"] == []
    assert model.facts_["importance"]["columns"][0]["name"] == "who"
    assert model.facts_["dependence"][0]["name"] == "who"


def test_rows_that_are_changed_are_scored_as_a_table_that_has_the_changes():
    outcome, rows = outcome_of("binary"), np.arange(20, 60)
    other = np.roll(np.arange(40), 7)
    colour = outcome.X.take(rows).column("colour").take(other)
    changed = outcome.X.take(rows).set_column(1, "colour", colour)
    found = SampledRows.of(outcome, rows).scores(np.arange(40), {1: other})
    assert (found == outcome.model.scores(changed)).all()


@pytest.mark.parametrize("there", [True, False])
def test_the_most_important_columns_are_claimed_only_where_importance_was_measured(there, monkeypatch):
    rng = np.random.default_rng(0)
    many = pa.table({f"c{position:02d}": rng.normal(size=80) for position in range(15)})
    outcome = outcome_from(many, (many["c14"].to_numpy() > 0).astype(int), "binary", ("no", "yes"), rounds=2)
    if not there:

        def late(*given):
            raise OutOfTimeError

        monkeypatch.setattr(facts_file, "importance_facts", late)
    facts = collect(outcome, 60.0)
    caption = mistakes(facts)["caption"]
    if there:
        assert facts["mistakes"]["columns"][0] == "c14"
        assert "The 12 most important columns are shown; 3 more are not." in caption
    else:
        assert facts["mistakes"]["columns"] == [f"c{position:02d}" for position in range(12)]
        assert "The first 12 columns of the table are shown; 3 more are not." in caption
        assert "important" not in caption


def test_ranking_is_that_of_scikit_learn():
    outcome, quality = outcome_of("binary"), facts_of("binary")["quality"]
    probability = probabilities(outcome.blend_out_of_fold)[:, 1]
    assert quality["ranking"]["roc"]["area"] == pytest.approx(roc_auc_score(outcome.y, probability), abs=1e-12)
    assert quality["ranking"]["precision_recall"]["average"] == pytest.approx(average_precision_score(outcome.y, probability), abs=1e-12)
    roc = quality["ranking"]["roc"]
    assert (roc["false"][0], roc["true"][0]) == (0.0, 0.0)
    assert (roc["false"][-1], roc["true"][-1]) == (1.0, 1.0)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_confusion_and_classes_add_up(task):
    outcome, quality = outcome_of(task), facts_of(task)["quality"]
    predicted = probabilities(outcome.blend_out_of_fold).argmax(axis=1)
    assert quality["confusion"]["counts"] == confusion_matrix(outcome.y, predicted).tolist()
    assert quality["accuracy"] == pytest.approx((predicted == outcome.y).mean())
    for position, one in enumerate(quality["classes"]):
        assert one["recall"] == pytest.approx((predicted[outcome.y == position] == position).mean())
        assert one["low"] <= one["recall"] <= one["high"]


def test_metrics_of_classes_and_their_averages_are_those_of_scikit_learn():
    outcome, quality = outcome_of("multiclass"), facts_of("multiclass")["quality"]
    proba = probabilities(outcome.blend_out_of_fold)
    told = classification_report(outcome.y, proba.argmax(axis=1), output_dict=True)
    for position, one in enumerate(quality["classes"]):
        assert one["area"] == pytest.approx(roc_auc_score(outcome.y == position, proba[:, position]), abs=1e-12)
        assert one["average"] == pytest.approx(average_precision_score(outcome.y == position, proba[:, position]), abs=1e-12)
        expected = told[str(position)]
        assert [one["precision"], one["recall"], one["f1"]] == pytest.approx([expected[name] for name in MEASURES])
    for one in quality["averages"]:
        expected = told[f"{one['name']} avg"]
        assert [one["precision"], one["recall"], one["f1"]] == pytest.approx([expected[name] for name in MEASURES])
        assert one["area"] == pytest.approx(roc_auc_score(outcome.y, proba, multi_class="ovr", average=one["name"]))


def test_lift_of_six_rows_by_hand():
    """Probabilities 6 to 1, of which the first, the second and the fifth are of the class: a third of the rows holds two thirds of it."""
    curves = Curves.of(np.arange(6.0)[::-1], np.array([True, True, False, False, True, False]), np.ones(6))
    assert curves.rows.tolist() == pytest.approx([0, 1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])
    assert curves.recall.tolist() == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 1, 1])
    by_share = {one["rows"]: one for one in curves.lift()}
    assert by_share[0.5]["recall"] == pytest.approx(2 / 3)
    assert by_share[0.5]["lift"] == pytest.approx(4 / 3)
    assert by_share[0.05]["lift"] == pytest.approx(2.0)


def test_correlated_columns_are_found_by_rank_and_with_gaps():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    gaps = np.where(rng.random(400) < 0.2, np.nan, np.exp(3.0 * x))
    table = pa.table(
        {"x": x, "gaps": pa.array(gaps, from_pandas=True), "other": rng.normal(size=400), "down": -x, "name": ["a"] * 400, "one": [1] * 400}
    )
    found = correlated_columns(table, np.arange(400))
    assert [(one["one"], one["other"], round(float(one["rho"]), 3)) for one in found] == [
        ("x", "down", -1.0),
        ("x", "gaps", 1.0),
        ("gaps", "down", -1.0),
    ]


@pytest.mark.parametrize("task", TASKS)
def test_shap_values_are_those_of_the_model(task):
    outcome, found = outcome_of(task), facts_of(task)["shap"]
    rows = choose(key(outcome.seed, "facts", "shap"), len(outcome.y), found["rows"])
    told = explain_model(outcome.model, outcome.X.take(rows), 1, outcome.seed)
    highest = told.scores.argmax(axis=1) if task == "multiclass" else np.zeros(len(rows), int)
    for one in found["columns"]:
        expected = told.values[np.arange(len(rows)), told.names.index(one["name"]), highest]
        assert np.allclose(one["values"], expected, atol=1e-6)
        assert one["ranks"] is None or all(rank is None or 0.0 <= rank <= 1.0 for rank in one["ranks"])
    sizes = [one["mean"] for one in found["columns"]]
    assert sizes == sorted(sizes, reverse=True)


def test_calibration_counts_every_row_and_its_bins_are_honest():
    bins = facts_of("binary")["quality"]["calibration"]["bins"]
    assert sum(one["count"] for one in bins) == 300
    assert all(one["low"] <= one["happened"] <= one["high"] for one in bins)
    assert [one["predicted"] for one in bins] == sorted(one["predicted"] for one in bins)
    mean = sum(one["happened"] * one["count"] for one in bins) / 300
    assert mean == pytest.approx(outcome_of("binary").y.mean())


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_losses_are_those_of_scikit_learn(task):
    outcome, facts = outcome_of(task), facts_of(task)
    ours = log_loss(outcome.y, probabilities(outcome.blend_out_of_fold))
    shares = np.bincount(outcome.y) / len(outcome.y)
    guess = log_loss(outcome.y, np.tile(shares, (len(outcome.y), 1)))
    assert facts["comparison"]["loss"] == pytest.approx(ours)
    assert facts["comparison"]["guess"]["loss"] == pytest.approx(guess)
    assert facts["comparison"]["guess"]["skill"] == pytest.approx(1.0 - ours / guess)
    assert facts["comparison"]["guess"]["score"] == pytest.approx(guess)
    best = min(log_loss(outcome.y, probabilities(outcome.out_of_fold[:, position])) for position in range(3))
    assert facts["comparison"]["best"]["loss"] == pytest.approx(best)


def test_numbers_have_the_usual_measures():
    outcome, quality = outcome_of("regression"), facts_of("regression")["quality"]
    predicted = outcome.blend_out_of_fold[:, 0]
    assert quality["r2"] == pytest.approx(r2_score(outcome.y, predicted))
    assert quality["rmse"] == pytest.approx(np.sqrt(np.mean((predicted - outcome.y) ** 2)))
    assert quality["mae"] == pytest.approx(np.mean(np.abs(predicted - outcome.y)))
    assert sum(quality["histogram"]["counts"]) == 300
    assert facts_of("regression")["comparison"]["guess"]["skill"] == pytest.approx(quality["r2"], abs=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_the_loss_without_a_member_is_that_of_the_others(task):
    outcome, found = outcome_of(task), facts_of(task)["members"]
    assert [one["weight"] for one in found["members"]] == [0.6, 0.25, 0.15]
    left = np.einsum("m,nmw->nw", [0.0, 0.25 / 0.4, 0.15 / 0.4], outcome.out_of_fold)
    if task == "regression":
        wanted = np.sqrt(np.mean((left[:, 0] - outcome.y) ** 2))
    else:
        wanted = log_loss(outcome.y, probabilities(left))
    first = next(one for one in found["members"] if one["name"] == "boosting")
    assert first["loss_without"] == pytest.approx(wanted)
    assert first["more"] == pytest.approx(wanted - found["loss"])


@pytest.mark.parametrize("task", TASKS)
def test_columns_that_matter_come_first_and_others_are_about_nought(task):
    columns = facts_of(task)["importance"]["columns"]
    assert [one["name"] for one in columns[:1]] == ["size"]
    assert columns[0]["more"] > 3.0 * columns[0]["standard_error"]
    assert {one["name"] for one in columns} == {"size", "colour", "income", "member", "since", "rooms"}
    idle = next(one for one in columns if one["name"] == "member")
    assert abs(idle["more"]) < 0.2 * columns[0]["more"]


def test_a_column_that_the_model_does_not_read_changes_nothing():
    outcome = outcome_of("regression")
    wider = replace(outcome, X=outcome.X.append_column("unused", pa.array(np.arange(300.0))))
    found = collect(wider, 60.0)
    assert found["left_out"] == []
    assert "unused" not in {one["name"] for one in found["importance"]["columns"]}
    assert found["importance"]["columns"] == facts_of("regression")["importance"]["columns"]
    assert found["data"]["n_columns"] == 7


def test_dependence_goes_the_way_of_the_data():
    found = {one["name"]: one for one in facts_of("regression")["dependence"]}
    size = found["size"]
    assert size["values"] == sorted(size["values"])
    assert size["lines"][0]["mean"][-1] > size["lines"][0]["mean"][0] + 1.0
    colour = dict(zip(found["colour"]["levels"], found["colour"]["lines"][0]["mean"], strict=True))
    assert colour["red"] > colour["green"] > colour["blue"]
    assert len(size["single"]) == 12
    mean = np.mean(size["single"], axis=0)
    assert mean.shape == (len(size["values"]),)


def test_dependence_is_the_mean_answer_with_the_column_set():
    outcome = outcome_of("regression")
    size = next(one for one in facts_of("regression")["dependence"] if one["name"] == "rooms" or one["name"] == "size")
    rows = facts_of("regression")["dependence"][0]["rows"]
    assert rows == 150
    value = size["values"][3]
    position = outcome.X.column_names.index(size["name"])
    column = pa.array(np.full(300, value), outcome.X.column(position).type)
    predicted = outcome.model.predict(outcome.X.set_column(position, size["name"], column))
    assert size["lines"][0]["mean"][3] == pytest.approx(predicted.mean(), abs=4.0 * predicted.std() / np.sqrt(150))


@pytest.mark.parametrize("task", TASKS)
def test_the_worst_mistakes_are_those_with_the_largest_loss(task):
    outcome, found = outcome_of(task), facts_of(task)["mistakes"]
    if task == "regression":
        loss = (outcome.blend_out_of_fold[:, 0] - outcome.y) ** 2
    else:
        loss = -np.log(probabilities(outcome.blend_out_of_fold)[np.arange(300), outcome.y])
    assert [one["row"] - 1 for one in found["rows"]] == np.argsort(-loss, kind="stable")[:10].tolist()
    first = found["rows"][0]
    sizes = outcome.X.column("size").to_pylist()
    told = first["values"][found["columns"].index("size")]
    assert told == ("" if sizes[first["row"] - 1] is None else f"{sizes[first['row'] - 1]:.6g}")


def test_columns_are_described():
    described = {one["name"]: one for one in facts_of("binary")["data"]["columns"]}
    table = outcome_of("binary").X
    assert described["size"]["missing"] == pytest.approx(table.column("size").null_count / 300)
    assert described["colour"]["levels"][0]["name"] == "red"
    assert sum(level["count"] for level in described["colour"]["levels"]) == 300 - table.column("colour").null_count
    assert described["member"]["kind"] == "truth value"
    assert described["since"]["kind"] == "date"
    assert described["since"]["low"] >= "2024-01-01"
    assert sum(described["rooms"]["histogram"]["counts"]) == 300
    assert len(described["rooms"]["histogram"]["counts"]) == 5


def test_rows_that_were_never_held_out_are_not_judged():
    outcome = outcome_of("binary")
    scored = np.arange(300) >= 100
    known, blended = outcome.out_of_fold.copy(), outcome.blend_out_of_fold.copy()
    known[:100], blended[:100] = np.nan, np.nan
    found = collect(replace(outcome, scored=scored, out_of_fold=known, blend_out_of_fold=blended), 60.0)
    assert found["left_out"] == []
    assert sum(one["count"] for one in found["quality"]["calibration"]["bins"]) == 200
    assert min(one["row"] for one in found["mistakes"]["rows"]) > 100


def test_weights_of_rows_count():
    outcome = outcome_of("regression")
    weight = np.where(np.arange(300) < 150, 2.0, 0.0)
    found = collect(replace(outcome, weight=weight), 60.0)
    left = (outcome.blend_out_of_fold[:150, 0] - outcome.y[:150]) ** 2
    assert found["quality"]["rmse"] == pytest.approx(np.sqrt(left.mean()))
    assert found["comparison"]["loss"] == pytest.approx(np.sqrt(left.mean()))


@pytest.mark.parametrize("n", [12, 40])
@pytest.mark.parametrize("task", TASKS)
def test_few_rows_are_enough(task, n):
    found = collect(fake(task, n=n, rounds=3, folds=2), 60.0)
    assert found["left_out"] == []


def test_many_rows_take_no_longer_than_a_sample():
    outcome = outcome_of("binary")
    times = 4000
    rows = np.tile(np.arange(300), times)
    large = replace(
        outcome, X=outcome.X.take(rows), y=outcome.y[rows], out_of_fold=outcome.out_of_fold[rows],
        blend_out_of_fold=outcome.blend_out_of_fold[rows], scored=outcome.scored[rows], fold=outcome.fold[rows],
    )  # fmt: skip
    began = time.perf_counter()
    found = collect(large, 60.0)
    assert time.perf_counter() - began < 20.0
    assert found["left_out"] == []
    assert found["data"]["sampled"] == 100_000
    assert len(json.dumps(found)) < 200_000
    assert found["comparison"]["loss"] == pytest.approx(facts_of("binary")["comparison"]["loss"], rel=0.02)


def test_among_many_columns_those_that_matter_are_found():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(150, 300))
    goal = 2.0 * values[:, 7] + values[:, 211] + 0.3 * rng.normal(size=150)
    table = pa.table({f"column {position}": values[:, position] for position in range(300)})
    found = collect(outcome_from(table, goal, "regression", folds=2, rounds=15), 60.0)["importance"]
    assert found["screened"]
    assert [one["name"] for one in found["columns"][:2]] == ["column 7", "column 211"]
    assert found["n_columns"] == 300


def test_long_names_and_values_are_cut():
    outcome = outcome_of("regression")
    wide = outcome.X.append_column("x" * 100_000, pa.array(["y" * 100_000] * 300))
    assert len(json.dumps(collect(replace(outcome, X=wide), 60.0))) < 200_000
