"""Compiling ahead in another process: done only where it helps, and never in the way."""

import os
import signal
import time

import pytest

from woodwind.ensemble.boosting import precompile


@pytest.fixture
def nothing_compiled(monkeypatch):
    """As on a machine with two processors on which nothing was compiled so far."""
    ended = []
    monkeypatch.setattr(precompile, "begin_ahead", lambda name: True)
    monkeypatch.setattr(precompile, "end_ahead", ended.append)
    monkeypatch.setattr(precompile, "usable_threads", lambda n_jobs: 2)
    monkeypatch.setattr(precompile, "rehearse", lambda: None)
    monkeypatch.setattr(precompile, "_child", None)
    return ended


def started(monkeypatch, code):
    monkeypatch.setattr(precompile, "CHILD", code)
    precompile.start(1, "best_first")
    child = precompile._child
    assert child is not None
    return child


def test_growth_and_what_surrounds_it_can_be_rehearsed():
    for outputs, growth in ((1, "best_first"), (1, "symmetric"), (3, "best_first")):
        precompile.compile_growth(outputs, growth)
    precompile.rehearse()


def test_the_other_process_runs_what_it_is_told(nothing_compiled, monkeypatch, tmp_path):
    child = started(monkeypatch, f"open({str(tmp_path / 'done')!r}, 'w').write('{{outputs}} {{growth}}')")
    precompile.wait()
    assert child.returncode == 0
    assert (tmp_path / "done").read_text() == "1 best_first"
    assert precompile._child is None
    assert nothing_compiled == ["take_part"]  # from now on others may begin


def test_no_room_for_another_process_lets_others_begin(nothing_compiled, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(precompile.subprocess, "Popen", refuse)
    precompile.start(3, "best_first")
    assert precompile._child is None
    assert nothing_compiled == ["take_part_lanes"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_waits_for_nothing(nothing_compiled, monkeypatch):
    started(monkeypatch, "import time; time.sleep(600)")
    with precompile._waiting:  # as by another thread
        child = os.fork()
        if not child:
            signal.alarm(30)
            precompile.wait()
            os._exit(7)
    precompile._child.kill()
    precompile.wait()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_another_process_that_fails_is_forgotten(nothing_compiled, monkeypatch):
    child = started(monkeypatch, "raise SystemExit(3)")
    precompile.wait()
    assert child.returncode == 3
    precompile.wait()


def test_another_process_that_hangs_is_ended(nothing_compiled, monkeypatch):
    monkeypatch.setattr(precompile, "LONGEST_WAIT", 0.2)
    child = started(monkeypatch, "import time; time.sleep(600)")
    began = time.monotonic()
    precompile.wait()
    assert child.returncode != 0
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("reason", ["kept", "one processor", "not Python"])
def test_no_other_process_where_it_would_not_help(nothing_compiled, monkeypatch, reason):
    if reason == "kept":
        monkeypatch.setattr(precompile, "begin_ahead", lambda name: False)
    elif reason == "one processor":
        monkeypatch.setattr(precompile, "usable_threads", lambda n_jobs: 1)
    else:
        monkeypatch.setattr(precompile.sys, "executable", "/usr/bin/server")
    precompile.start(1, "best_first")
    assert precompile._child is None
