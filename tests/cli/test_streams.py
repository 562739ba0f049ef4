"""Standard streams that are closed, full or without a reader: an exit code, at most a line, and never a lost model."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import fake

from woodwind import store

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")

FIT = f"{sys.executable} {Path(__file__).parent / 'fakes.py'} 0 fit train.csv --target late"
COMMAND = f"{sys.executable} -m woodwind"
LOST = "woodwind: standard output: {}. What was to be shown there is lost; files are as they should be.\n"


def sh(line):
    """A line of a shell: exit code, output and errors."""
    root = str(Path(__file__).parent.parent.parent)
    env = os.environ | {"PYTHONPATH": root}
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False, env=env, stdin=subprocess.DEVNULL)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("redirection", "code", "last"),
    [
        (">&-", 0, "done\n"),
        ("2>&-", 0, ""),
        ("<&- >&- 2>&-", 0, ""),
        ("2>/dev/full", 0, ""),
        (">/dev/full", 1, LOST.format("No space left on device")),
        ("--json >/dev/full", 1, LOST.format("No space left on device")),
    ],
)
def test_the_model_is_there(folder, redirection, code, last):
    found, _, err = sh(f"{FIT} {redirection}")
    assert found == code
    assert err.endswith(last)
    assert store.load(folder / "model.ww")
    assert (folder / "model.html").exists()
    assert not (folder / "model.ww.checkpoint").exists()


def test_a_reader_of_messages_that_has_had_enough_does_not_end_the_training(folder):
    process = fake(0.01, "train.csv", "--target", "late", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stderr.readline()
    process.stderr.close()
    with process.stdout as out:
        assert "report  model.html" in out.read()
    assert process.wait(60) == 0
    assert (folder / "model.ww").exists()


def test_what_has_no_place_is_refused_before_any_work(folder, stored):
    assert sh(f"{FIT} --force -o new.ww --json >&-")[0::2] == (
        2, "woodwind fit: --json writes to standard output, which is closed. Leave it out, or give it a place.\n",
    )  # fmt: skip
    assert not (folder / "new.ww").exists()
    assert sh(f"{COMMAND} predict model.ww train.csv >&-")[0::2] == (
        2, "woodwind predict: standard output is closed, so that predictions have no place. Give one with -o.\n",
    )  # fmt: skip


@pytest.mark.parametrize("command", ["leaderboard model.ww --csv", "version"])
def test_results_that_are_lost_are_told(stored, command):
    assert sh(f"{COMMAND} {command} >/dev/full") == (1, "", LOST.format("No space left on device"))
    assert sh(f"{COMMAND} {command} >&-") == (1, "", LOST.format("Bad file descriptor"))
    assert sh(f"{COMMAND} {command} | true")[2] == ""


def test_files_are_written_whatever_becomes_of_the_streams(folder, stored):
    (folder / "new.csv").write_text("age,plan,paid\n20,gold,3\n", encoding="utf-8")
    assert sh(f"{COMMAND} report model.ww >&- 2>&-") == (0, "", "")
    assert (folder / "model.html").exists()
    assert sh(f"{COMMAND} predict model.ww new.csv -o out.csv >&- 2>&- <&-") == (0, "", "")
    assert (folder / "out.csv").read_text(encoding="utf-8").startswith("prediction\n")
    assert sh(f"{COMMAND} predict model.ww new.csv 2>/dev/full")[:2] == (0, (folder / "out.csv").read_text(encoding="utf-8"))


def test_a_wrong_call_stays_one(folder):
    code, out, err = sh(f"{COMMAND} inspect nowhere.ww >&-")
    assert (code, out) == (2, "")
    assert "there is no file 'nowhere.ww'" in err
    assert sh(f"{COMMAND} inspect nowhere.ww 2>&-") == (2, "", "")


def test_standard_input_that_is_closed_has_no_table(stored):
    code, out, err = sh(f"{COMMAND} predict model.ww - <&-")
    assert (code, out) == (3, "")
    assert err.startswith("woodwind: WW-F002: standard input is closed. There is no table to read. Fix: give the table there")
    code, out, err = sh(f"{COMMAND} predict model.ww - 0>/dev/null")
    assert (code, out) == (3, "")
    assert err.startswith("woodwind: WW-F002: standard input cannot be read: Bad file descriptor.")


def test_a_reader_that_is_slow_gets_everything(stored, folder):
    """Somebody has made the pipe non-blocking, as some terminals and runners do."""
    rows = "".join(f"{i % 60},gold,{i}\n" for i in range(60_000))
    (folder / "new.csv").write_text(f"age,plan,paid\n{rows}", encoding="utf-8")
    read, write = os.pipe()
    os.set_blocking(write, False)
    process = subprocess.Popen(
        [sys.executable, "-m", "woodwind", "predict", "model.ww", "new.csv"],
        stdout=write, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent.parent)},
    )  # fmt: skip
    os.close(write)
    with open(read, encoding="utf-8") as out:
        assert len(out.readlines()) == 60_001
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 0
