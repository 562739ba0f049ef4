"""The whole path with the real job: from a table to a model, predictions, an explanation and a report."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest


def row(i):
    paid, plan = i * 13 % 90, "abc"[i % 3]
    return f"{20 + i * 7 % 50},{plan},{paid},{'yes' if paid + 20 * (plan == 'b') + i * 29 % 31 > 70 else 'no'}"


ROWS = ["age,plan,paid,late", *map(row, range(150))]
FAMILIES = ("boosting", "forest", "linear", "neighbours", "net")


@pytest.fixture
def loans(tmp_path, monkeypatch):
    (tmp_path / "train.csv").write_text("\n".join([*ROWS, ""]), encoding="utf-8")
    (tmp_path / "new.csv").write_text("paid,plan,age\n80,b,30\n5,a,40\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_a_table_to_everything(loans, run):
    done = run("fit", "train.csv", "--target", "late", "--models", "2", "--threads", "1", "--json")
    assert done.code == 0, done.err
    events = [json.loads(line) for line in done.out.splitlines()]
    assert (events[-1]["event"], events[-1]["model"], events[-1]["report"]) == ("written", "model.ww", "model.html")
    assert sorted(path.name for path in loans.iterdir()) == ["model.html", "model.ww", "new.csv", "train.csv"]
    told = events[-2]["leaderboard"]
    assert json.loads(run("leaderboard", "model.ww", "--json").out)["leaderboard"] == told
    rows = list(csv.DictReader(io.StringIO(run("predict", "model.ww", "new.csv", "--proba").out)))
    assert [row["prediction"] for row in rows] == ["yes", "no"]
    found = json.loads(run("explain", "model.ww", "new.csv", "--json").out)
    for row, told in zip(found["rows"], rows, strict=True):
        score = found["base"][0] + sum(values[0] for values in row["columns"].values())
        assert score == pytest.approx(row["score"][0], abs=1e-9)
        assert (score > 0) == (float(told["probability_yes"]) > 0.5)
    assert json.loads(run("inspect", "model.ww", "--json").out)["rows"] == 150
    assert run("report", "model.ww", "-o", "again.html").code == 0


def test_a_table_may_come_from_standard_input(loans):
    command = [sys.executable, "-m", "woodwind", "fit", "-", "--target", "late", "--models", "1", "--quiet", "--no-report"]
    with (loans / "train.csv").open("rb") as source, subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE) as pipe:
        done = subprocess.run(command, stdin=pipe.stdout, capture_output=True, timeout=100, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert (loans / "model.ww").exists()


def test_the_same_call_gives_the_same_leaderboard(loans, run):
    def board():
        assert run("fit", "train.csv", "--target", "late", "--models", "2", "--quiet", "--no-report").code == 0
        entries = json.loads(run("leaderboard", "model.ww", "--json").out)["leaderboard"]
        return [{key: value for key, value in entry.items() if key not in ("seconds", "row_microseconds")} for entry in entries]

    assert board() == board()


WRONG = [
    (["--target", "lat"], 3, "Did you mean 'late'?"),
    (["--target", "late", "--group", "plann"], 3, "Did you mean 'plan'?"),
    (["--target", "late", "--task", "regression"], 3, "a regression needs numbers"),
    (["--target", "paid", "--metric", "auc", "--task", "regression"], 2, "is for classes"),
    (["--target", "late", *(word for name in FAMILIES for word in ("--exclude", name))], 2, "all families"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_what_the_job_refuses_is_told_in_a_line(loans, run, arguments, code, words):
    done = run("fit", "train.csv", *arguments, "--models", "1")
    assert done.code == code, done.err
    assert done.out == ""
    assert words in done.err.splitlines()[-1]
    assert not (loans / "model.ww").exists()


def test_a_deadline_that_is_too_short_says_what_to_do(loans, run):
    done = run("fit", "train.csv", "--target", "late", "--time", "0.001s", "--json")
    assert done.code in (0, 5)  # a quick machine may have finished a member
    if done.code == 5:
        assert "Give more time" in done.err


def test_a_schema_that_was_written_for_training_holds_for_predicting(loans, run):
    lines = [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2024,{i % 5},{'yes' if i % 12 > 5 else 'no'}" for i in range(150)]
    (loans / "dates.csv").write_text("\n".join(["day,code,late", *lines, ""]), encoding="utf-8")
    columns = [{"name": "day", "type": "date", "format": "%d.%m.%Y"}, {"name": "code", "type": "category"}]
    schema = {"columns": [*columns, {"name": "late", "type": "category", "role": "target"}]}
    (loans / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    done = run("fit", "dates.csv", "--schema", "schema.json", "--models", "1", "--quiet", "--no-report")
    assert done.code == 0, done.err
    kinds = {column["name"]: column["kind"] for column in json.loads(run("inspect", "model.ww", "--json").out)["columns"]}
    assert kinds == {"day": "time", "code": "category"}
    (loans / "one.csv").write_text("day,code\n03.11.2024,4\n05.02.2024,1\n", encoding="utf-8")
    done = run("predict", "model.ww", "one.csv")
    assert done.err == ""
    assert done.out == "prediction\nyes\nno\n"
