"""Limits on memory: a line instead of a native end, and more that fits. Each call is a process of its own, which sets its own limit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from woodwind.cli import memory_limits
from woodwind.cli.command import UNEXPECTED
from woodwind.cli.main import sentence
from woodwind.cli.memory_limits import MB, NEEDED, _stacks

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems know these limits, and do not keep them")

ROOT = Path(__file__).parents[2]
LIMITED = """
import resource, sys
kind = {{"v": resource.RLIMIT_AS, "d": resource.RLIMIT_DATA}}[{letter!r}]
resource.setrlimit(kind, ({limit}, resource.getrlimit(kind)[1]))
sys.argv = ["woodwind", *{arguments!r}]
from woodwind.cli.main import main
main()
"""
CHOSEN = ("ARROW_DEFAULT_MEMORY_POOL", "OPENBLAS_NUM_THREADS")


def limited(letter, limit, *arguments):
    environment = {name: value for name, value in os.environ.items() if name not in CHOSEN}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    code = LIMITED.format(letter=letter, limit=limit, arguments=arguments)
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=False)


def needed(letter, training):
    return NEEDED[letter][not training] * MB + _stacks()


TOO_NARROW = [("v", 100, "predict"), ("v", 300, "fit"), ("v", 500, "report"), ("v", 1000, "fit"), ("d", 150, "predict"), ("d", 500, "warm")]


@pytest.mark.parametrize(("letter", "megabytes", "command"), TOO_NARROW)
def test_a_limit_that_is_too_narrow_is_told_in_a_line(folder, letter, megabytes, command):
    done = limited(letter, megabytes * MB, command, "train.csv", "--target", "late")
    enough = needed(letter, command in ("fit", "warm"))
    assert done.returncode == UNEXPECTED
    assert done.stdout == ""
    assert done.stderr == (
        f"woodwind: {command} needs at least {enough // MB:,} MB of memory, and this process is limited to {megabytes:,} MB "
        f"(ulimit -{letter}). Raise the limit to {enough // 1024} or more, or take it away: ulimit -{letter} unlimited.\n"
    )


@pytest.mark.parametrize("letter", ["v", "d"])
def test_what_is_said_to_be_needed_is_enough(folder, letter):
    done = limited(letter, needed(letter, training=True), "fit", "train.csv", "--target", "late", "--models", "2", "-o", "model.ww")
    assert done.returncode == 0, done.stderr
    done = limited(letter, needed(letter, training=False), "predict", "model.ww", "train.csv", "-o", "predicted.csv")
    assert done.returncode == 0, done.stderr
    assert len((folder / "predicted.csv").read_text(encoding="utf-8").splitlines()) == 61


@pytest.mark.parametrize("argument", ["--help", "version", "--version"])
def test_help_needs_next_to_nothing(folder, argument):
    assert limited("v", 100 * MB, argument).returncode == 0


def test_without_a_limit_nothing_is_changed(monkeypatch):
    monkeypatch.setattr(memory_limits, "limits", dict)
    for name in CHOSEN:
        monkeypatch.delenv(name, raising=False)
    memory_limits.prepare("fit")
    assert not set(CHOSEN) & set(os.environ)
    assert memory_limits.hint() == ""


def test_an_unexpected_error_under_a_limit_names_the_limit(monkeypatch):
    monkeypatch.setattr(memory_limits, "limits", lambda: {"v": 1500 * MB})
    predicted = sentence(MemoryError("no room"), UNEXPECTED)
    assert predicted.endswith("The memory of this process is limited to 1,500 MB (ulimit -v), which may be why.")
