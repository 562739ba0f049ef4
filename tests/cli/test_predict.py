"""woodwind predict: tables in, predictions out, and nothing imported that it does not need."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from models import model, table

from woodwind import load, store
from woodwind.auto.intervals import PredictionIntervals
from woodwind.ensemble.conformal import ConformityScores

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def new(folder):
    pa.csv.write_csv(table(), folder / "new.csv")
    pa.parquet.write_table(table(), folder / "new.parquet")
    return folder


def read(text):
    return pa.csv.read_csv(pa.BufferReader(text.encode()))


def test_labels_go_to_standard_output(new, stored, run):
    done = run("predict", "model.ww", "new.csv")
    assert done.code == 0
    assert done.err == ""
    rows = read(done.out)
    assert rows.column_names == ["prediction"]
    assert rows["prediction"].to_pylist() == list(stored.predict(table()))


def test_chances_stand_beside_labels(new, stored, run):
    rows = read(run("predict", "model.ww", "new.csv", "--proba").out)
    assert rows.column_names == ["prediction", "probability_no", "probability_yes"]
    np.testing.assert_array_equal(rows["probability_yes"].to_numpy(), stored.predict_proba(table())[:, 1])


@pytest.mark.parametrize("stored", ["regression"], indirect=True)
def test_numbers_are_numbers(new, stored, run):
    rows = read(run("predict", "model.ww", "new.parquet").out)
    np.testing.assert_array_equal(rows["prediction"].to_numpy(), stored.predict(table()))


def with_intervals(folder, task, held_out="random"):
    """The model in its file, with errors of nought to one that it was off by."""
    scores = ConformityScores.of([(np.linspace(0.0, 1.0, 99), np.ones(99))])
    made = model(task, PredictionIntervals(scores, np.empty(0), np.empty(0), held_out))
    store.save(folder / "model.ww", made)
    return made


def test_bounds_stand_beside_numbers_for_each_level(new, run):
    made = with_intervals(new, "regression")
    done = run("predict", "model.ww", "new.csv", "--interval", "0.5,0.9")
    assert run("predict", "model.ww", "new.csv", "--interval", "0.5", "--interval", "0.9").out == done.out
    rows = read(done.out)
    assert done.err == ""
    assert rows.column_names == ["prediction", "lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    expected = made.predict(table())
    np.testing.assert_allclose(rows["upper_0.5"].to_numpy() - expected, 0.5)
    np.testing.assert_allclose(expected - rows["lower_0.9"].to_numpy(), np.linspace(0.0, 1.0, 99)[89])


def test_sets_of_labels_are_lists_for_machines_and_json_in_a_table(new, run):
    made = with_intervals(new, "multiclass")
    lines = [json.loads(line)["set_0.9"] for line in run("predict", "model.ww", "new.csv", "--interval", "0.9", "--json").out.splitlines()]
    cells = read(run("predict", "model.ww", "new.csv", "--interval", "0.9").out)["set_0.9"].to_pylist()
    assert [json.loads(cell) for cell in cells] == lines
    inside = made.intervals.sets(made.predict_proba(table()), 0.9, made.decide(made.predict_proba(table())))
    assert lines == [[label for label, there in zip(made.classes, row, strict=True) if there] for row in inside.tolist()]


def test_rows_in_the_order_of_time_are_told_that_nothing_is_promised(new, run):
    with_intervals(new, "regression", "time")
    done = run("predict", "model.ww", "new.csv", "--interval", "0.9", "-o", "out.csv")
    assert "Nothing is promised" in done.err


def test_a_model_without_scores_refuses_intervals_with_the_remedy(new, stored, run):
    done = run("predict", "model.ww", "new.csv", "--interval", "0.9")
    assert done.code != 0
    assert len(done.err.splitlines()) == 1
    assert "no conformity scores" in done.err
    assert "woodwind fit" in done.err


@pytest.mark.parametrize("given", ["90", "0", "1", "x", "", "0.9,", "nan", "-0.5"])
def test_what_is_no_share_is_refused_before_any_work(new, stored, run, given):
    done = run("predict", "model.ww", "new.csv", "--interval", given)
    assert done.code == 2
    assert "a share between 0 and 1" in done.err
    assert ("Did you mean 0.9?" in done.err) == (given == "90")


@pytest.mark.parametrize("stored", ["multiclass"], indirect=True)
def test_machines_get_an_object_for_each_row(new, stored, run):
    done = run("predict", "model.ww", "new.csv", "--json", "--proba", "--keep", "age,plan")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert len(rows) == table().num_rows
    assert rows[0]["age"] is None
    assert rows[0]["plan"] == "basic"
    assert sum(rows[0][f"probability_{label}"] for label in stored.classes) == pytest.approx(1.0)


def test_json_is_not_written_under_the_name_of_a_table(new, stored, run):
    done = run("predict", "model.ww", "new.csv", "--json", "-o", "out.csv")
    assert done.code == 2
    assert "the ending of 'out.csv' says a table, and JSON would be written. Let it end in .jsonl." in done.err


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.csv.gz", "out.jsonl"])
def test_files_are_written_and_told(new, stored, run, name):
    done = run("predict", "model.ww", "new.csv", "-o", name, *(["--json"] if name == "out.jsonl" else []))
    assert done.code == 0
    assert done.out == ""
    assert done.err == f"120 rows in {name}\n"
    assert (new / name).stat().st_size > 0


def test_columns_are_found_by_name_whatever_else_is_there(new, stored, run):
    X = table()
    other = pa.table({"late": ["no"] * X.num_rows, "paid": X["paid"], "age": X["age"], "id": np.arange(X.num_rows), "plan": X["plan"]})
    pa.csv.write_csv(other, new / "other.csv")
    done = run("predict", "model.ww", "other.csv", "--keep", "id", "--keep", "late")
    assert done.err == ""
    rows = read(done.out)
    assert rows["prediction"].to_pylist() == list(stored.predict(X))
    assert rows["id"].to_pylist() == list(range(X.num_rows))


def test_a_single_row_gets_what_it_gets_among_others(new, stored, run):
    for position in (0, 1, 50):
        pa.csv.write_csv(table().slice(position, 1), new / "one.csv")
        rows = read(run("predict", "model.ww", "one.csv", "--proba").out)
        assert rows["probability_yes"][0].as_py() == stored.predict_proba(table())[position, 1]


def test_a_table_may_come_from_standard_input(new, stored):
    command = [sys.executable, "-m", "woodwind", "predict", "model.ww", "-"]
    with (new / "new.csv").open("rb") as source:
        done = subprocess.run(command, stdin=source, capture_output=True, timeout=60, check=True, env=environment())
    assert len(done.stdout.splitlines()) == 121


def test_several_files_and_patterns_are_one_table(new, stored, run):
    (new / "parts").mkdir()
    for part in (0, 1, 2):
        pa.csv.write_csv(table().slice(part * 40, 40), new / "parts" / f"{part}.csv")
    expected = run("predict", "model.ww", "new.csv").out
    assert run("predict", "model.ww", "parts/*.csv").out == expected
    assert run("predict", "model.ww", "parts/0.csv", "parts/1.csv", "parts/2.csv").out == expected
    assert run("predict", "model.ww", "parts/0.csv", "parts/[12].csv", "-o", "all.csv").code == 0
    assert (new / "all.csv").read_text(encoding="utf-8") == expected


def test_a_file_that_is_there_is_overwritten_only_by_force(new, stored, run):
    (new / "mine.csv").write_text("my diary", encoding="utf-8")
    done = run("predict", "model.ww", "new.csv", "-o", "mine.csv")
    assert done[:2] == (2, "")
    assert done.err.count("\n") == 1
    assert "--force" in done.err
    assert (new / "mine.csv").read_text(encoding="utf-8") == "my diary"
    assert run("predict", "model.ww", "new.csv", "-o", "mine.csv", "--force").code == 0
    assert (new / "mine.csv").read_text(encoding="utf-8").startswith("prediction\n")


def test_cells_are_written_as_they_are_whatever_the_locale(new, stored):
    cities = table(1).append_column("city", pa.array(["Zürich"]))
    pa.csv.write_csv(cities, new / "city.csv")
    command = [sys.executable, "-m", "woodwind", "predict", "model.ww", "city.csv", "--keep", "city"]
    plain = {**environment(), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command, capture_output=True, timeout=60, check=True, env=plain)
    assert done.stdout.decode("utf-8").splitlines()[1].startswith("Zürich,")


def environment():
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


WRONG = [
    (["predict"], 2, "Missing argument 'MODEL'"),
    (["predict", "modle.ww", "new.csv"], 2, "Did you mean 'model.ww'?"),
    (["predict", "model.ww", "nwe.csv"], 2, "Did you mean 'new.csv'?"),
    (["predict", "model.ww", "."], 2, "is a folder"),
    (["predict", "new.csv", "new.csv"], 4, "it is not a Woodwind model file"),
    (["predict", "cut.ww", "new.csv"], 4, "cut.ww"),
    (["predict", "other.ww", "new.csv"], 4, "other.ww"),
    (["predict", "model.ww", "short.csv"], 3, "'plans' may be 'plan'"),
    (["predict", "model.ww", "empty.csv"], 3, "not a single byte"),
    (["predict", "model.ww", "model.ww"], 2, "is a model file. Give a table"),
    (["predict", "model.ww", "new.csv", "--keep", "aeg"], 2, "Did you mean 'age'?"),
    (["predict", "model.ww", "clash.csv", "--keep", "prediction"], 2, "so have the predictions"),
    (["predict", "model.ww", "new.csv", "-o", "new.csv"], 2, "is read by this call"),
    (["predict", "model.ww", "ne*.csv", "-o", "new.csv", "--force"], 2, "is read by this call"),
    (["predict", "model.ww", "x*.csv"], 2, "no file matches 'x*.csv'"),
    (["predict", "model.ww", "-", "-"], 2, "standard input can be read once"),
    (["predict", "model.ww", "new.csv", "-o", "model.ww"], 2, "is read by this call"),
    (["predict", "model.ww", "new.csv", "-o", "other.ww"], 2, "is a model file"),
    (["predict", "model.ww", "new.csv", "-o", "out.xlsx"], 2, ".parquet"),
    (["predict", "model.ww", "new.csv", "-o", "nowhere/out.csv"], 2, "there is no folder 'nowhere'"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_a_wrong_call_ends_with_one_line_that_says_what_to_do(new, stored, run, arguments, code, words):
    whole = (new / "model.ww").read_bytes()
    (new / "cut.ww").write_bytes(whole[:-100])
    store.save(new / "other.ww", stored.schema)
    pa.csv.write_csv(table().rename_columns(["age", "plans", "paid"]), new / "short.csv")
    pa.csv.write_csv(table().append_column("prediction", table()["paid"]), new / "clash.csv")
    (new / "empty.csv").write_text("", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in new.iterdir()}
    done = run(*arguments)
    assert done.code == code, done.err
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert words in line
    assert {path.name: path.read_bytes() for path in new.iterdir()} == before


@pytest.mark.parametrize("stored", ["regression"], indirect=True)
def test_numbers_have_no_chances(new, stored, run):
    done = run("predict", "model.ww", "new.csv", "--proba")
    assert done.code == 2
    assert "--proba is for classes" in done.err


def test_levels_that_training_never_saw_are_told_in_a_line(new, stored, run):
    (new / "odd.csv").write_text("age,plan,paid\n30,silver,5\n", encoding="utf-8")
    done = run("predict", "model.ww", "odd.csv")
    assert done.code == 0
    (line,) = done.err.splitlines()
    assert line.startswith("warning: ")
    assert "silver" in line


HEAVY = ("sklearn", "joblib", "pandas", "polars", "matplotlib", "jinja2", "scipy.sparse", "scipy.linalg", "scipy.special", "rich", "dask")


@pytest.mark.parametrize("writer", ["the command", "Python"])
def test_predicting_imports_nothing_that_it_does_not_need(new, stored, writer):
    """Numba imports the bare package of SciPy, to look at its version; nothing of it is loaded."""
    if writer == "Python":
        load(new / "model.ww").save(new / "model.ww")
    code = f"import sys; from woodwind.cli.main import call; call(sys.argv[1:]); print([name for name in {HEAVY} if name in sys.modules])"
    command = [sys.executable, "-c", code, "predict", "model.ww", "new.csv", "-o", "out.csv"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=environment())
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("stored", ["ranking"], indirect=True)
def test_scores_rank_the_rows_of_a_query(new, stored, run):
    rows = table().append_column("who", pa.array(np.arange(120) % 7))
    pa.csv.write_csv(rows, new / "new.csv")
    found = read(run("predict", "model.ww", "new.csv", "--rank", "--keep", "who").out).to_pandas()
    assert list(found) == ["who", "prediction", "rank"]
    np.testing.assert_array_equal(found["prediction"], stored.predict(table()))
    by_query = found.groupby("who")["prediction"].rank(ascending=False, method="first").astype(int)
    np.testing.assert_array_equal(found["rank"], by_query)
    plain = run("predict", "model.ww", "new.csv")
    assert read(plain.out).column_names == ["prediction"]
    other = read(run("predict", "model.ww", "new.csv", "--rank", "--query", "plan").out)
    assert other["rank"].to_pylist().count(1) == 3


@pytest.mark.parametrize("stored", ["ranking"], indirect=True)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--rank"], "no column 'who'"), (["--query", "plan"], "--query is for --rank"), (["--proba"], "ranks the rows of queries"),
        (["--interval", "0.9"], "intervals are for numbers and classes"),
    ],
)  # fmt: skip
def test_what_a_ranking_cannot_tell_is_refused(new, stored, run, given, words):
    done = run("predict", "model.ww", "new.csv", *given)
    assert done.code != 0
    assert words in done.err


def test_ranks_are_for_models_that_rank(new, stored, run):
    assert "--rank is for models that rank" in run("predict", "model.ww", "new.csv", "--rank").err
