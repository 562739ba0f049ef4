"""woodwind fit, with an honest fake of the job: what is asked of it, how it is told, what is written."""

import json
import os
import re
import signal
import subprocess
import time

import pytest
from fakes import FOLDS, LEADERBOARD, MEMBERS, SUSPICIONS, FakeJob, fake

import woodwind
from woodwind import store
from woodwind.base.errors import DataError
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
        *("--also", "f1,roc_auc", "--positive", "yes", "--threshold", "cost:fp=1,fn=5"),
        *("--time-column", "paid", "--weight", "w", "--ignore", "age", "--ignore", "plan", "--seed", "5", "--threads", "1"),
        *("--max-size", "20", "--exclude", "net", "--resume", "--drop-missing-target", "-o", "other.ww", "--no-report"),
    )
    (given, settings) = job.calls[-1]
    assert given == (["train.csv", "more.csv"], "late")
    assert os.fspath(settings.pop("checkpoint")) == "other.ww.checkpoint"
    assert settings == {
        "max_size": 20.0, "also": ("f1", "auc"), "positive": "yes", "threshold": "cost:fp=1,fn=5",
        "models": 7, "task": "binary", "metric": "auc", "group": "id", "query": None, "time_column": "paid", "weight": "w",
            "ignore": ("age", "plan"),
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
    assert [one["event"] for one in objects[:4]] == ["job_began", "suspicions_found", "message", "member_began"]
    assert [one["severity"] for one in objects[1]["suspicions"]] == [one.severity for one in SUSPICIONS]
    assert objects[-2]["event"] == "job_ended"
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
    assert max(position for position, line in enumerate(lines) if "more in the report" in line) < min(
        position for position, line in enumerate(lines) if "begins" in line
    )


def test_what_the_library_says_of_parameters_is_said_of_options(folder, job, run):
    done = run("fit", "train.csv", "--target", "late")
    assert "2 classes (0, 1); give --task regression for numbers." in done.err
    assert "task=" not in done.err
    assert " 1 column; log_loss in 3 folds" in done.err


def test_the_leaderboard_says_what_its_scores_are(folder, job, run):
    assert (
        "\nlog_loss: minus the mean logarithm of what is given to the true class; smaller is better\n"
        in run("fit", "train.csv", "--target", "late").out
    )


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
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interrupt_finishes_with_what_there_is(folder, number):
    process = fake(0.1, "train.csv", "--target", "late", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "binary" in process.stderr.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "finishing with the best so far" in err
    assert "goes on from here" in err
    assert "report  model.html" in out


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX does")
@pytest.mark.parametrize("numbers", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)])
def test_two_interrupts_leave_at_once_and_write_nothing(folder, numbers):
    process = fake(1.0, "train.csv", "--target", "late", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "binary" in process.stderr.readline()
    process.send_signal(numbers[0])
    assert any("finishing with the best so far" in line for line in process.stderr)
    time.sleep(0.3)  # two signals at once would be one
    started = time.monotonic()
    process.send_signal(numbers[1])
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - started < 5
    assert out == ""
    assert sorted(path.name for path in folder.iterdir()) == ["train.csv"]


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX does")
def test_whoever_ignores_the_end_goes_on(folder):
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)}
    process = fake(0.05, "train.csv", "--target", "late", stdout=subprocess.PIPE, stderr=subprocess.PIPE, **ignoring)
    assert "binary" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "interrupted" not in err


# ---------------------------------------------------------------------------------------- the folder of checkpoints


def test_nothing_is_left_of_the_folder_of_checkpoints(folder, job, run):
    assert run("fit", "train.csv", "--target", "late", "--no-report").code == 0
    job.trouble = DataError("odd")
    assert run("fit", "train.csv", "--target", "late", "--no-report").code == 3
    assert sorted(path.name for path in folder.iterdir()) == ["model.ww", "train.csv"]


@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_a_folder_of_that_name_with_other_things_in_it_is_refused(folder, job, run, options):
    (folder / "model.ww.checkpoint").mkdir()
    (folder / "model.ww.checkpoint" / "thesis.tex").write_text("It was a dark night.")
    done = run("fit", "train.csv", "--target", "late", *options)
    assert done.code == 2
    assert done.err == (
        "woodwind: The folder 'model.ww.checkpoint' is not empty and holds no checkpoints of Woodwind, but 'thesis.tex'. "
        "Nothing in it was touched. Choose another model file with -o.\n"
    )
    assert job.calls == []
    assert (folder / "model.ww.checkpoint" / "thesis.tex").read_text() == "It was a dark night."


@pytest.mark.parametrize("options", [(), ("--resume",)])
@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "the file is empty"), (b"WOODWIND and no more", "it was cut off after"), (None, "it holds a list, not checkpoints")],
)
def test_a_job_file_that_cannot_be_resumed_is_one_line_and_stays(folder, job, run, options, content, words):
    file = folder / "model.ww.checkpoint" / "job.ww"
    file.parent.mkdir()
    if content is None:
        store.save(file, ["something", "else"])
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    done = run("fit", "train.csv", "--target", "late", *options)
    assert (done.code, done.err.count("\n"), job.calls) == (2, 1, [])
    assert words in done.err
    assert file.read_bytes() == before


def test_what_somebody_put_there_meanwhile_stays_and_is_named(folder, run, monkeypatch):
    job = FakeJob()

    def fit(*given, **settings):
        (folder / "model.ww.checkpoint" / "notes.txt").write_text("mine")
        return job(*given, **settings)

    monkeypatch.setattr(woodwind, "fit", fit)
    done = run("fit", "train.csv", "--target", "late", "--quiet")
    assert done.code == 0
    assert "the folder 'model.ww.checkpoint' stays: Woodwind did not put 'notes.txt' there." in done.err
    assert sorted(path.name for path in (folder / "model.ww.checkpoint").iterdir()) == ["job.ww", "notes.txt"]
    assert run("fit", "train.csv", "--target", "late", "--quiet").code == 0


def test_the_second_call_for_one_model_says_who_is_at_work(folder, job, run):
    process = fake(0.2, "train.csv", "--target", "late", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "binary" in process.stderr.readline()
    done = run("fit", "train.csv", "--target", "late")
    assert done.code == 2
    assert re.fullmatch(
        rf"woodwind: The checkpoint folder 'model\.ww\.checkpoint' is in use by process {process.pid} since \d{{4}}-[^.]*\. "
        r"Wait until that has ended, or choose another model file with -o\.\n",
        done.err,
    )
    assert run("fit", "train.csv", "--target", "late", "-o", "other.ww").code == 0
    process.kill()
    process.communicate()
    assert run("fit", "train.csv", "--target", "late").code == 0
    assert not (folder / "model.ww.checkpoint").exists()


@pytest.mark.parametrize("name", ["語" * 80, "a" * 249], ids=["wide", "long"])
def test_names_of_any_length_that_the_drive_allows(folder, job, run, name):
    assert run("fit", "train.csv", "--target", "late", "-o", f"{name}.ww").code == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted([f"{name}.html", f"{name}.ww", "train.csv"])


@pytest.mark.parametrize("options", [("-o", "語" * 90 + ".ww"), ("-o", "a" * 251 + ".ww"), ("--report", "r" * 300 + ".html")])
def test_names_that_are_too_long_are_refused_before_any_work(folder, job, run, options):
    done = run("fit", "train.csv", "--target", "late", *options)
    assert (done.code, done.err.count("\n"), job.calls) == (2, 1, [])
    assert "is too long for this drive: it has" in done.err
    assert done.err.endswith("bytes. Choose a shorter one.\n")


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
    assert 'the role "target"' in run("fit", "train.csv", "--schema", "s.json").err


@pytest.mark.parametrize(
    ("option", "given", "words"), [("--threshold", "1.5", "threshold must be"), ("--also", "auk", "Did you mean 'auc'")]
)
def test_a_wrong_threshold_or_metric_is_told_before_any_work(folder, job, run, option, given, words):
    done = run("fit", "train.csv", "--target", "late", option, given)
    assert done.code != 0
    assert words in done.err
    assert not job.calls


def test_a_part_of_the_report_that_fails_is_told_in_one_line_however_quiet(folder, run, monkeypatch):
    def broken(*given):
        raise RuntimeError("a pipe burst")

    monkeypatch.setattr("woodwind.auto.facts.collection.importance_facts", broken)
    done = run("fit", "train.csv", "--target", "late", "--models", "1", "--quiet")
    assert done.code == 0
    told = [line for line in done.err.splitlines() if "a pipe burst" in line]
    assert len(told) == 1
    assert told[0].startswith("warning: Not in the report, because measuring failed: importance (RuntimeError: a pipe burst)")
    html = (folder / "model.html").read_text(encoding="utf-8")
    assert "It failed to measure the importance of columns" in html
    assert "no time" not in html


def test_the_positive_class_the_threshold_and_more_metrics_from_the_table_to_the_labels(folder, run):
    done = run("fit", "train.csv", "--target", "late", "--models", "1", "--threshold", "0.05", "--also", "auc,f1")
    assert done.code == 0
    assert "The positive class is 'yes', 33.3% of the rows: the rarer one." in done.err
    lines = done.out.splitlines()
    assert lines[0].split()[:5] == ["member", "score", "±", "auc", "f1"]
    assert "positive class: 'yes', predicted from a probability of 0.05 on" in lines
    chances = [line.split(",") for line in run("predict", "model.ww", "train.csv", "--proba").out.splitlines()]
    assert chances[0] == ["prediction", "probability_no", "probability_yes"]
    assert all(label == ("yes" if float(yes) >= 0.05 else "no") for label, _, yes in chances[1:])
    html = (folder / "model.html").read_text(encoding="utf-8")
    assert "Precision and recall by threshold" in html
    assert "0.05 (used)" in html
    shown = run("leaderboard", "model.ww").out.splitlines()
    assert shown[0].split()[:5] == ["member", "score", "±", "auc", "f1"]
    found = json.loads(run("evaluate", "model.ww", "train.csv", "--json").out)
    assert found["positive"] == "yes"
    assert set(found["metrics"]["f1"]) == {"score", "standard_error", "out_of_fold"}
    board = json.loads(run("leaderboard", "model.ww", "--json").out)["leaderboard"]
    assert found["metrics"]["f1"]["out_of_fold"]["score"] == board[0]["also"]["f1"]


def test_a_query_column_reaches_the_job(folder, job, run):
    assert run("fit", "train.csv", "--target", "late", "--query", "plan", "--models", "1").code == 0
    assert job.calls[0][1]["query"] == "plan"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--query", "plan", "--group", "plan"], "--query and --group name the same column"),
        (["--query", "late"], "--query and --target name the same column"),
        (["--query", "plan", "--ignore", "plan"], "--ignore names the query"),
        (["--query", "plan", "--task", "regression"], "--query is for rankings"),
        (["--task", "ranking"], "Give --query"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_before_any_work(folder, job, run, given, words):
    done = run("fit", "train.csv", "--target", "late", *given)
    assert done.code == 2
    assert words in done.err
    assert not job.calls
