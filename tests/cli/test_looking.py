"""Commands that look into a model file: leaderboard, inspect, report."""

import csv
import io
import json
import webbrowser

import pytest
from fakes import LEADERBOARD

NAMES = [entry.name for entry in LEADERBOARD]


def test_the_leaderboard_is_shown(stored, run):
    done = run("leaderboard", "model.ww")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split("  ")[0] for line in lines[1 : len(NAMES) + 1]] == NAMES
    assert lines[-1].startswith("log_loss: ")
    assert lines[-1].endswith("smaller is better")


def test_the_leaderboard_is_a_table_for_machines_too(stored, run):
    rows = list(csv.DictReader(io.StringIO(run("leaderboard", "model.ww", "--csv").out)))
    assert [row["name"] for row in rows] == NAMES
    assert float(rows[0]["score"]) == LEADERBOARD[0].score
    found = json.loads(run("leaderboard", "model.ww", "--json").out)
    assert found["metric"] == "log_loss"
    assert [entry["name"] for entry in found["leaderboard"]] == NAMES
    assert found["leaderboard"][-1]["score"] is None


@pytest.mark.parametrize("stored", ["binary", "multiclass", "regression"], indirect=True)
def test_what_is_in_the_file_is_shown(stored, run):
    done = run("inspect", "model.ww")
    assert done.code == 0
    for words in ("model.ww", stored.task, "late", "boosting", "age", "plan", "3 categories: basic, gold, plus", "120", *stored.classes):
        assert words in done.out
    found = json.loads(run("inspect", "model.ww", "--json").out)
    assert found["classes"] == list(stored.classes)
    assert [column["name"] for column in found["columns"]] == ["age", "plan", "paid"]
    assert found["members"][0]["weight"] == 1.0
    assert 0 < found["members"][0]["bytes"] < found["bytes"]


def test_the_report_is_written_next_to_the_model(folder, stored, run):
    done = run("report", "model.ww")
    assert done.code == 0
    assert done.out == "model.html\n"
    assert "Woodwind" in (folder / "model.html").read_text(encoding="utf-8")
    assert run("report", "model.ww").code == 0  # over its own


def test_the_report_can_be_opened(folder, stored, run, monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    run("report", "model.ww", "-o", "other.html", "--open")
    assert shown == [(folder / "other.html").as_uri()]


WRONG = [
    (["leaderboard"], 2, "Missing argument 'MODEL'"),
    (["leaderboard", "nowhere.ww"], 2, "there is no file 'nowhere.ww'"),
    (["leaderboard", "train.csv"], 4, "not a Woodwind model file"),
    (["leaderboard", "model.ww", "--csv", "--json"], 2, "exclude each other"),
    (["inspect", "train.csv"], 4, "not a Woodwind model file"),
    (["inspect", "model.ww", "--jsno"], 2, "Did you mean '--json'?"),
    (["report", "train.csv"], 4, "not a Woodwind model file"),
    (["report", "model.ww", "-o", "train.csv"], 2, "is not a report of Woodwind"),
    (["report", "model.ww", "-o", "model.ww"], 2, "is not a report of Woodwind"),
    (["report", "model.ww", "-o", "r.json"], 2, "the ending of 'r.json' says JSON, and a page for the browser would be written"),
    (["report", "model.ww", "-o", "nowhere/r.html"], 2, "there is no folder 'nowhere'"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_a_wrong_call_ends_with_one_line_that_says_what_to_do(folder, stored, run, arguments, code, words):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run(*arguments)
    assert done.code == code, done.err
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert words in line
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
