"""woodwind evaluate: metrics of rows whose target is known, next to what the model claimed."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from models import model, table
from sklearn.metrics import average_precision_score, f1_score, log_loss, mean_squared_error, ndcg_score, roc_auc_score

from woodwind import store
from woodwind.auto.intervals import PredictionIntervals
from woodwind.cli.commands.evaluate import clusters_in
from woodwind.ensemble.conformal import ConformityScores
from woodwind.metrics.named import names_for


@pytest.fixture
def test(folder, stored):
    """A table with the truth in it."""
    X = table()
    rng = np.random.default_rng(0)
    if not stored.classifies:
        truth = stored.predict(X) + rng.normal(size=X.num_rows)
    else:
        truth = np.where(rng.random(X.num_rows) < 0.2, stored.classes[0], stored.predict(X))
    whole = X.append_column("late", pa.array(truth)).append_column("w", pa.array(1.0 + np.arange(X.num_rows) % 3))
    pa.csv.write_csv(whole, folder / "test.csv")
    return whole


@pytest.mark.parametrize("stored", ["binary", "multiclass", "regression"], indirect=True)
def test_every_metric_of_the_task_is_shown_the_models_own_first(test, stored, run):
    done = run("evaluate", "model.ww", "test.csv")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].split() == ["metric", "here", "±", "out", "of", "fold", "±"]
    names = list(names_for(stored.task))
    assert [line.split()[0] for line in lines[1 : len(names) + 1]] == names
    assert lines[1].split()[3:] == ["0.4500", "0.0123"]
    assert any(line.startswith("120 rows; ") for line in lines)


def test_machines_get_numbers_that_others_get_too(test, stored, run):
    found = json.loads(run("evaluate", "model.ww", "test.csv", "--json").out)
    chance = stored.predict_proba(table())
    truth = np.array(test["late"].to_pylist()) == "yes"
    assert (found["rows"], found["target"], found["metric"]) == (120, "late", "log_loss")
    assert found["score"] == pytest.approx(log_loss(truth, chance))
    assert found["metrics"]["auc"]["score"] == pytest.approx(roc_auc_score(truth, chance[:, 1]))
    assert found["standard_error"] > 0
    assert found["out_of_fold"] == {"score": 0.45, "standard_error": 0.0123}
    weighed = json.loads(run("evaluate", "model.ww", "test.csv", "--json", "--weight", "w").out)
    assert weighed["score"] == pytest.approx(log_loss(truth, chance, sample_weight=test["w"].to_numpy()))


@pytest.mark.parametrize("stored", ["regression"], indirect=True)
def test_numbers_are_judged_as_numbers(test, stored, run):
    found = json.loads(run("evaluate", "model.ww", "test.csv", "--json").out)
    assert found["score"] == pytest.approx(mean_squared_error(test["late"].to_numpy(), stored.predict(table())) ** 0.5)
    assert "Worse than the model claimed" in run("evaluate", "model.ww", "test.csv").out


def test_several_files_are_one_table_and_the_target_may_have_another_name(test, folder, run):
    expected = run("evaluate", "model.ww", "test.csv", "--json").out
    renamed = test.rename_columns(["age", "plan", "paid", "truth", "w"])
    for part in (0, 1):
        pa.parquet.write_table(renamed.slice(part * 60, 60), folder / f"part{part}.parquet")
    assert run("evaluate", "model.ww", "part*.parquet", "--target", "truth", "--json").out == expected.replace('"late"', '"truth"')


TINY = "the target is next to zero in 1 of 3 rows (1e-09 where 1 is usual), and their shares would drown all others"


def test_one_class_alone_has_no_ranking(test, folder, run):
    pa.csv.write_csv(test.set_column(3, "late", pa.array(["no"] * 120)), folder / "one.csv")
    done = run("evaluate", "model.ww", "one.csv", "--json")
    found = json.loads(done.out)
    assert done.err == ""
    assert found["metrics"]["auc"] == {"score": None, "standard_error": None, "why": "all rows are of one class"}
    assert found["score"] > 0
    out = run("evaluate", "model.ww", "one.csv").out
    assert "Left out, because all rows are of one class: auc, mcc, cohen_kappa\n" in out
    assert "Left out, because no row is of the positive class: average_precision, f1\n" in out
    assert [line.split()[0] for line in out.splitlines()[1:6]] == ["log_loss", "brier", "accuracy", "error_rate", "balanced_accuracy"]


@pytest.mark.parametrize("stored", ["regression"], indirect=True)
@pytest.mark.parametrize(
    ("truth", "left_out"),
    [
        ([0.0, 1.0, 2.0], {"mape": "the target is zero in 1 of 3 rows, and no error is a share of that"}),
        ([1e-9, 1.0, 2.0], {"mape": TINY}),
        ([-1.0, 1.0, 2.0], {"rmsle": "the target is negative in 1 of 3 rows (down to -1), and has no logarithm"}),
        ([3.0, 3.0, 3.0], dict.fromkeys(("r2", "spearman"), "the target is the same in every row")),
        ([3.0], dict.fromkeys(("r2", "spearman"), "the target is the same in every row")),
        ([1e300, 2e300], dict.fromkeys(("rmse", "mse"), "the numbers are too large")),
    ],
)
def test_what_rows_say_nothing_about_is_left_out_and_why_is_said(stored, folder, run, truth, left_out):
    pa.csv.write_csv(table(len(truth)).append_column("late", pa.array(truth)), folder / "few.csv")
    done = run("evaluate", "model.ww", "few.csv", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)["metrics"]
    assert {name: one["why"] for name, one in found.items() if "why" in one and name in left_out} == left_out
    assert all((one["score"] is None) == ("why" in one) for one in found.values())
    out = run("evaluate", "model.ww", "few.csv").out
    for why in left_out.values():
        assert f"Left out, because {why}: " in out
    shown = out.split("\n\n")[0]
    assert not any(name in shown.split() for name in left_out if name != "rmse")  # the metric of the model stays


def test_a_model_that_guesses_has_no_uncertainty_but_nothing(test, folder, run):
    """Not 6.99e-17, which is the trace of rounding, and no verdict by it."""
    store.save(folder / "guess.ww", replace(model("binary"), weights=np.zeros(1), shift=np.array([0.3])))
    found = json.loads(run("evaluate", "guess.ww", "test.csv", "--json").out)
    for name in ("cohen_kappa", "mcc", "auc"):
        assert found["metrics"][name]["standard_error"] == 0.0, name


def test_rows_without_a_target_are_refused_or_left_out(test, folder, run):
    gaps = pa.array([None, *test["late"].to_pylist()[1:]])
    pa.csv.write_csv(test.set_column(3, "late", gaps), folder / "gaps.csv")
    done = run("evaluate", "model.ww", "gaps.csv")
    assert done.code == 3
    assert "leave them out with --drop-missing-target" in done.err
    done = run("evaluate", "model.ww", "gaps.csv", "--drop-missing-target", "--json")
    assert json.loads(done.out)["rows"] == 119
    assert done.err == "1 row without a target left out.\n"


WRONG = [
    (["evaluate", "model.ww"], 2, "Missing argument 'TABLE...'"),
    (["evaluate", "model.ww", "tset.csv"], 2, "Did you mean 'test.csv'?"),
    (["evaluate", "test.csv", "test.csv"], 4, "not a Woodwind model file"),
    (["evaluate", "model.ww", "bare.csv"], 3, "the table has no column 'late'. Did you mean 'LATE'?"),
    (["evaluate", "model.ww", "odd.csv"], 3, "has a label that the model does not know: 'maybe'. It was trained with 'no', 'yes'."),
    (["evaluate", "model.ww", "test.csv", "--weight", "W"], 3, "Did you mean 'w'?"),
    (["evaluate", "model.ww", "test.csv", "--weight", "plan"], 3, "the weight column 'plan' is of type string"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_a_wrong_call_ends_with_one_line_that_says_what_to_do(test, folder, run, arguments, code, words):
    pa.csv.write_csv(test.rename_columns(["age", "plan", "paid", "LATE", "w"]), folder / "bare.csv")
    pa.csv.write_csv(test.set_column(3, "late", pa.array(["maybe", *test["late"].to_pylist()[1:]])), folder / "odd.csv")
    done = run(*arguments)
    assert done.code == code, done.err
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert words in line


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_metrics_of_the_positive_class_are_those_of_scikit_learn(test, stored, folder, run, positive):
    store.save(folder / "model.ww", replace(stored, positive=stored.classes.index("no")))
    found = json.loads(run("evaluate", "model.ww", "test.csv", "--json", "--positive", positive).out)
    chance, truth = stored.predict_proba(table()), np.array(test["late"].to_pylist())
    column = chance[:, stored.classes.index(positive)]
    assert found["positive"] == positive
    assert found["metrics"]["f1"]["score"] == pytest.approx(f1_score(truth, stored.predict(table()), pos_label=positive))
    assert found["metrics"]["average_precision"]["score"] == pytest.approx(average_precision_score(truth == positive, column))
    told = run("evaluate", "model.ww", "test.csv", "--positive", positive).out
    assert "positive class: 'no', predicted where it is likelier\n" in told
    assert ("Metrics of the positive class are of 'yes' here" in told) == (positive == "yes")


def test_a_threshold_decides_labels(test, stored, folder, run):
    store.save(folder / "model.ww", replace(stored, positive=1, threshold=0.2))
    found = json.loads(run("evaluate", "model.ww", "test.csv", "--json").out)
    chance, truth = stored.predict_proba(table())[:, 1], np.array(test["late"].to_pylist()) == "yes"
    assert found["metrics"]["f1"]["score"] == pytest.approx(f1_score(truth, chance >= 0.2))
    assert found["metrics"]["accuracy"]["score"] == pytest.approx(np.mean(truth == (chance >= 0.2)))
    assert "predicted from a probability of 0.2 on" in run("evaluate", "model.ww", "test.csv").out


def test_what_the_model_claimed_stands_beside_every_metric_that_it_kept(test, stored, folder, run):
    kept = {"rows": 100, "scores": {"auc": {"score": 0.75, "standard_error": 0.03}, "f1": {"score": 0.5, "standard_error": None}}}
    store.save(folder / "model.ww", replace(stored, facts=stored.facts | {"metrics": kept}))
    lines = {line.split()[0]: line.split()[1:] for line in run("evaluate", "model.ww", "test.csv").out.splitlines() if line}
    assert lines["log_loss"][2:] == ["0.4500", "0.0123"]
    assert lines["auc"][2:] == ["0.7500", "0.0300"]
    assert lines["f1"][2:] == ["0.5000"]
    assert len(lines["brier"]) == 2
    shown = run("evaluate", "model.ww", "test.csv", "--positive", "no").out.splitlines()
    other = {line.split()[0]: line.split()[1:] for line in shown if line}
    assert other["auc"][2:] == ["0.7500", "0.0300"]
    assert len(other["f1"]) == 2  # that was of the other class


def test_a_positive_class_that_is_none_is_told(test, stored, run):
    told = run("evaluate", "model.ww", "test.csv", "--positive", "maybe").err
    assert "'maybe' is no class of the model. Those are 'no' and 'yes'." in told


def test_rows_of_a_group_or_of_a_stretch_of_time_are_not_taken_for_independent():
    rows = pa.table({"who": [3, 3, 1, 1], "when": ["2020-01-01", None, "2020-01-03", "2020-01-04"], "step": [4, 3, 2, 1]})

    def found(**columns):
        clusters = clusters_in(SimpleNamespace(facts={"split": {"columns": columns}}), rows)
        return None if clusters is None else clusters.tolist()

    assert found(group="who") == [0, 0, 1, 1]
    assert found(time="step") == [15, 10, 5, 0]
    assert found(time="step", group="who") == [0, 0, 1, 1]
    assert found(time="when") is found(time="gone") is found() is None
    for odd in (None, 3, {"columns": None}, {"columns": [1]}):
        assert clusters_in(SimpleNamespace(facts={"split": odd}), rows) is None


@pytest.mark.parametrize("stored", ["binary"], indirect=True)
def test_a_model_is_held_to_what_it_was_estimated_to_be_as_a_mean(test, stored, run, folder):
    before = json.loads(run("evaluate", "model.ww", "test.csv", "--json").out)
    assert before["estimate"] is None
    estimate = {"score": 0.4, "standard_error": 0.02, "out_of_fold": 0.45, "folds": 6, "means": 2, "members": ["boosting"]}
    store.save(folder / "model.ww", replace(stored, facts={**stored.facts, "estimate": estimate}))
    after = json.loads(run("evaluate", "model.ww", "test.csv", "--json").out)
    assert after["estimate"] == {"score": 0.4, "standard_error": 0.02}
    assert after["out_of_fold"] == before["out_of_fold"]
    assert after["standard_errors_worse"] == pytest.approx((after["score"] - 0.4) / np.hypot(after["standard_error"], 0.02))
    words = "Estimated with what the mean of the models of 6 folds gains in 1 of 2 members: log_loss 0.4000 (standard error 0.0200)."
    for command in (("evaluate", "model.ww", "test.csv"), ("leaderboard", "model.ww")):
        assert words in " ".join(run(*command).out.split())


def with_intervals(folder, task):
    """The model in its file, with errors of nought to three that it was off by, and what was measured of them."""
    scores = ConformityScores.of([(np.linspace(0.0, 3.0 if task == "regression" else 1.0, 99), np.ones(99))])
    made = model(task, PredictionIntervals(scores, np.empty(0), np.empty(0), "random"))
    levels = [{"level": 0.9, "coverage": 0.875, "standard_error": 0.0123, "size": 5.0, "size_error": 0.1, "median": 5.0}]
    store.save(folder / "model.ww", replace(made, facts={**made.facts, "intervals": {"levels": levels}}))
    return made


@pytest.mark.parametrize("stored", ["regression"], indirect=True)
def test_the_coverage_of_intervals_is_measured_on_the_rows(test, stored, folder, run):
    made = with_intervals(folder, "regression")
    done = run("evaluate", "model.ww", "test.csv")
    line = next(line for line in done.out.splitlines() if line.startswith("0.9 ")).split()
    off = np.abs(made.predict(table()) - test["late"].to_numpy())
    inside = off <= np.linspace(0.0, 3.0, 99)[89]
    assert float(line[1]) == pytest.approx(inside.mean(), abs=1e-4)
    assert float(line[2]) == pytest.approx(inside.std(ddof=1) / np.sqrt(120), abs=1e-4)
    assert line[3:5] == ["0.8750", "0.0123"]
    found = json.loads(run("evaluate", "model.ww", "test.csv", "--interval", "0.5,0.9", "--json", "--weight", "w").out)["intervals"]
    assert [one["level"] for one in found] == [0.5, 0.9]
    assert found[1]["coverage"] == pytest.approx(np.average(inside, weights=test["w"].to_numpy()))
    assert found[1]["out_of_fold"] == {"coverage": 0.875, "standard_error": 0.0123}
    assert found[1]["size"] == pytest.approx(2 * np.linspace(0.0, 3.0, 99)[89])


@pytest.mark.parametrize("stored", ["multiclass"], indirect=True)
def test_sets_of_labels_are_measured_too(test, stored, folder, run):
    with_intervals(folder, "multiclass")
    found = json.loads(run("evaluate", "model.ww", "test.csv", "--json").out)["intervals"]
    assert found[0]["level"] == 0.9
    assert 1.0 <= found[0]["size"] <= 3.0


def test_a_model_without_scores_is_evaluated_without_intervals(test, stored, run):
    assert "intervals" not in json.loads(run("evaluate", "model.ww", "test.csv", "--json").out)
    done = run("evaluate", "model.ww", "test.csv", "--interval", "0.9")
    assert done.code != 0
    assert "no conformity scores" in done.err


@pytest.mark.parametrize("stored", ["ranking"], indirect=True)
def test_a_ranking_is_scored_by_query(folder, stored, run):
    """As scikit-learn reckons it, query by query."""
    X = table()
    who, late = np.arange(120) % 12, np.arange(120) * 5 % 4
    pa.csv.write_csv(X.append_column("late", pa.array(late)).append_column("who", pa.array(who)), folder / "test.csv")
    scores = stored.predict(X)
    values = [ndcg_score([2.0 ** late[who == one] - 1.0], [scores[who == one]], k=10) for one in range(12)]
    done = run("evaluate", "model.ww", "test.csv")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[1:10]] == list(names_for("ranking"))
    assert float(lines[1].split()[1]) == pytest.approx(np.mean(values), abs=1e-4)
    assert float(lines[1].split()[2]) == pytest.approx(np.std(values, ddof=1) / np.sqrt(12), abs=1e-4)
    assert "12 queries of 120 rows; ndcg@10" in done.out
    found = json.loads(run("evaluate", "model.ww", "test.csv", "--json", "--query", "plan").out)
    assert found["queries"] == 3
    assert set(found["metrics"]) == set(names_for("ranking"))


@pytest.mark.parametrize("stored", ["ranking"], indirect=True)
def test_a_ranking_without_its_query_column_is_refused(test, stored, run):
    done = run("evaluate", "model.ww", "test.csv")
    assert done.code != 0
    assert "no column 'who'" in done.err


def test_a_query_is_for_models_that_rank(test, stored, run):
    assert "--query is for models that rank" in run("evaluate", "model.ww", "test.csv", "--query", "plan").err
