"""woodwind evaluate: metrics of rows whose target is known, next to what the model claimed."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from models import table
from sklearn.metrics import log_loss, mean_squared_error, roc_auc_score

from woodwind.metrics.named import names_for


@pytest.fixture
def test(folder, stored):
    """A table with the truth in it."""
    X = table()
    rng = np.random.default_rng(0)
    if stored.task == "regression":
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


def test_one_class_alone_has_no_ranking(test, folder, run):
    pa.csv.write_csv(test.set_column(3, "late", pa.array(["no"] * 120)), folder / "one.csv")
    found = json.loads(run("evaluate", "model.ww", "one.csv", "--json").out)
    assert found["metrics"]["auc"]["score"] is None
    assert found["score"] > 0


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
