"""woodwind fit, with an honest fake of the job: what is asked of it, how it is told, what is written."""

import json
import os
import signal
import subprocess
import time

import pytest
from fakes import FOLDS, LEADERBOARD, MEMBERS, SUSPICIONS, fake

from woodwind import store
from woodwind.cli.options import Duration

EVENTS = 5 + len(MEMBERS) * (FOLDS + 3)
# A note stands in a line of its own, and there are eight lines about the data at most.
LINES = EVENTS + 1 + 7


def test_it_writes_the_model_and_the_report_and_says_where(folder, job, run):
    done = run("fit", "train.csv", "--target", "late")
    assert done.code == 0
    assert (folder / "model.ww").exists()
    assert (folder / "model.html").exists()
    lines = done.out.splitlines()
    assert lines[0].split()[:2] == ["member", "score"]
    assert [line.split("  ")[0] for line in lines[1 : len(LEADERBOARD) + 1]] == [entry.name for entry in LEADERBOARD]
    assert lines[-2].startswith("model   model.ww")
    assert lines[-1] == "report  model.html"


def test_elsewhere_than_on_a_terminal_each_event_is_a_line(folder, job, run):
    done = run("fit", "train.csv", "--target", "late")
    assert len(done.err.splitlines()) == LINES
    assert "\r" not in done.err
    assert "\x1b" not in done.err + done.out
    assert done.err.isascii()


def test_the_job_gets_what_was_asked_for(folder, job, run):
    (folder / "more.csv").write_text("", encoding="utf-8")
    run("fit", "train.csv", "--target", "late")
    (given, settings) = job.calls[-1]
    assert given == ("train.csv", "late")
    assert settings["time"] == pytest.approx(60.0, abs=30.0)  # importing has taken some
    assert "models" not in settings
    assert os.fspath(settings["checkpoint"]) == "model.ww.checkpoint"
    run(
        *("fit", "train.csv", "more.csv", "--target", "late", "--models", "7", "--task", "binary", "--metric", "auc", "--group", "id"),
        *("--time-column", "paid", "--weight", "w", "--ignore", "age", "--ignore", "plan", "--seed", "5", "--threads", "1"),
        *("--exclude", "net", "--resume", "--drop-missing-target", "-o", "other.ww", "--no-report"),
    )
    (given, settings) = job.calls[-1]
    assert given == (["train.csv", "more.csv"], "late")
    assert os.fspath(settings.pop("checkpoint")) == "other.ww.checkpoint"
    assert settings == {
        "models": 7, "task": "binary", "metric": "auc", "group": "id", "time_column": "paid", "weight": "w", "ignore": ("age", "plan"),
        "seed": 5, "threads": 1, "exclude": ("net",), "resume": True, "drop_missing_target": True,
    }  # fmt: skip
    assert (folder / "other.ww").exists()
    assert not (folder / "other.html").exists()


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("10m", 600), ("1h", 3600), ("1h30m", 5400), (".5h", 1800), ("1d", 86400)]
)
def test_times_can_be_written_as_people_write_them(folder, job, run, text, seconds):
    assert run("fit", "train.csv", "--target", "late", "--time", text).code == 0
    assert job.calls[-1][1]["time"] == pytest.approx(seconds, rel=0.8)
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "h", "5 m", "1h30", "-5", "1e3", "inf", "nan", "10min"])
def test_other_times_are_refused(folder, job, run, text):
    assert run("fit", "train.csv", "--target", "late", "--time", text).code == 2


def test_a_pattern_is_left_to_the_reader(folder, job, run):
    assert run("fit", "*.csv", "--target", "late").code == 0
    assert job.calls[-1][0] == ("*.csv", "late")


def test_machines_get_one_object_for_each_event_and_nothing_else(folder, job, run):
    done = run("fit", "train.csv", "--target", "late", "--json")
    assert done.err == ""

    def refuse(text):
        raise AssertionError(text)

    objects = [json.loads(line, parse_constant=refuse) for line in done.out.splitlines()]
    assert len(objects) == EVENTS + 1
    assert [one["event"] for one in objects[:4]] == ["began", "suspected", "said", "trying"]
    assert [one["severity"] for one in objects[1]["suspicions"]] == [one.severity for one in SUSPICIONS]
    assert objects[-2]["event"] == "ended"
    assert [entry["name"] for entry in objects[-2]["leaderboard"]] == [entry.name for entry in LEADERBOARD]
    assert objects[-2]["leaderboard"][-1]["score"] is None
    assert objects[0]["notes"][0].endswith("(0, 1); give --task regression for numbers.")
    size = (folder / "model.ww").stat().st_size
    assert objects[-1] == {"event": "written", "model": "model.ww", "model_bytes": size, "report": "model.html"}


def test_quiet_says_nothing_but_what_is_wrong(folder, job, run):
    done = run("fit", "train.csv", "--target", "late", "--quiet")
    assert done[1:] == ("", "serious: 'paid' says the same as the target. Will it be known?\n")
    assert (folder / "model.ww").exists()


def test_what_is_suspicious_is_told_before_anything_is_trained(folder, job, run):
    lines = run("fit", "train.csv", "--target", "late").err.splitlines()
    found = [line[11:] for line in lines if " serious: " in line or " warning: " in line or " more in the report" in line]
    assert found[0] == "serious: 'paid' says the same as the target. Will it be known?"
    assert found[1] == "warning: 'id0' looks like an identifier."
    assert found[-1] == "and 3 more in the report"
    assert len(found) == 8
    assert max(place for place, line in enumerate(lines) if "more in the report" in line) < min(
        place for place, line in enumerate(lines) if "begins" in line
    )


def test_what_the_library_says_of_parameters_is_said_of_options(folder, job, run):
    done = run("fit", "train.csv", "--target", "late")
    assert "2 classes (0, 1); give --task regression for numbers." in done.err
    assert "task=" not in done.err
    assert " 1 column; log_loss in 3 folds" in done.err


def test_the_leaderboard_says_what_its_scores_are(folder, job, run):
    assert "\nlog_loss: minus the mean logarithm of what is given to the true class; smaller is better\n" in run(
        "fit", "train.csv", "--target", "late"
    ).out


def test_only_models_are_overwritten(folder, job, run):
    run("fit", "train.csv", "--target", "late")
    assert run("fit", "train.csv", "--target", "late").code == 0
    (folder / "model.ww").write_text("my diary", encoding="utf-8")
    assert run("fit", "train.csv", "--target", "late").code == 2
    assert (folder / "model.ww").read_text(encoding="utf-8") == "my diary"
    assert run("fit", "train.csv", "--target", "late", "--force").code == 0
    (folder / "model.html").write_text("my page", encoding="utf-8")
    assert run("fit", "train.csv", "--target", "late").code == 2
    assert (folder / "model.html").read_text(encoding="utf-8") == "my page"
    assert run("fit", "train.csv", "--target", "late", "--no-report").code == 0


def test_a_reader_that_has_had_enough_is_no_error(folder):
    process = fake(0, "train.csv", "--target", "late", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == ""
    assert process.wait(60) == 0
    assert (folder / "model.ww").exists()


def test_a_locale_without_signs_is_no_error(folder):
    (folder / "tält.csv").write_text("x", encoding="utf-8")
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    process = fake(0, "train.csv", "--target", "fält", stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ascii_only)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.isascii()
    assert "+-" in out


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX does")
def test_one_interrupt_finishes_with_what_there_is(folder):
    process = fake(0.1, "train.csv", "--target", "late", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "binary" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "finishing with the best so far" in err
    assert "report  model.html" in out


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX does")
def test_two_interrupts_leave_at_once_and_write_nothing(folder):
    process = fake(1.0, "train.csv", "--target", "late", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "binary" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert any("finishing with the best so far" in line for line in process.stderr)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - started < 5
    assert out == ""
    assert sorted(path.name for path in folder.iterdir()) == ["train.csv"]


def test_a_schema_is_written_edited_and_obeyed(folder, job, run):
    done = run("fit", "train.csv", "--target", "late", "--ignore", "id", "--write-schema")
    assert done.code == 0
    assert done.out == "model.schema.json\n"
    assert done.err == "Edit it, then: woodwind fit train.csv --schema model.schema.json\n"
    assert job.calls == []
    assert run("fit", "train.csv", "--target", "late", "--write-schema").code == 2  # it may have been edited
    schema = json.loads((folder / "model.schema.json").read_text(encoding="utf-8"))
    assert {column["name"]: column.get("role") for column in schema["columns"]}["late"] == "target"
    (age,) = [column for column in schema["columns"] if column["name"] == "age"]
    age["type"] = "category"
    (folder / "model.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    assert run("fit", "train.csv", "--schema", "model.schema.json").code == 0
    (_, target), settings = job.calls[-1]
    assert target == "late"
    assert settings["schema"].to_dict() == schema
    assert store.load(folder / "model.ww")["facts"]["written_schema"] == schema


def test_a_weight_of_the_schema_is_one_of_the_job(folder, job, run):
    assert run("fit", "train.csv", "--target", "late", "--weight", "paid", "--write-schema").code == 0
    assert run("fit", "train.csv", "--schema", "model.schema.json").code == 0
    assert job.calls[-1][1]["weight"] == "paid"


def test_a_schema_that_cannot_be_used_is_bad_data(folder, job, run):
    (folder / "s.json").write_text("{", encoding="utf-8")
    done = run("fit", "train.csv", "--target", "late", "--schema", "s.json")
    assert done.code == 3
    assert "it is no JSON" in done.err
    (folder / "s.json").write_text('{"columns": [{"name": "age", "type": "number"}]}', encoding="utf-8")
    assert "the role \"target\"" in run("fit", "train.csv", "--schema", "s.json").err
