"""One owner at a time: other processes, other threads, forked children; owners that were killed, and those that nobody here can see."""

import errno
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from woodwind.base import lock as module
from woodwind.base.errors import ParameterError
from woodwind.base.lock import FileLock, Owner, start_of

HOLDER = """
import sys, time
from woodwind.base.lock import FileLock
lock = FileLock.take(sys.argv[1], "It")
print("taken", flush=True)
sys.stdin.readline()
lock.release()
"""
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="for systems that fork")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "job.lock"


@pytest.fixture
def holder(path):
    """Another process, which has the lock until it is told otherwise."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "taken\n"
    yield process
    process.kill()
    process.communicate()


def owned(path, **changes):
    """A lock file that somebody else has left."""
    path.write_text(json.dumps({"lock": module.MARK, **vars(Owner.here()), **changes}), encoding="utf-8")


def test_a_lock_names_its_owner_and_is_gone_when_it_is_released(path):
    lock = FileLock.take(path, "It")
    assert Owner.of(path.read_bytes()).process == os.getpid()
    assert lock.is_held
    lock.release()
    lock.release()
    assert not lock.is_held
    assert not path.exists()


def test_who_has_it_is_said_to_the_second(path, holder):
    with pytest.raises(ParameterError, match=rf"It is in use by process {holder.pid} since 2\d\d\d-.*Wait until that has ended"):
        FileLock.take(path, "It")
    holder.communicate("end\n")
    FileLock.take(path, "It").release()


def test_the_lock_of_a_process_that_was_killed_can_be_taken(path, holder):
    holder.kill()
    holder.wait()
    assert path.exists()
    lock = FileLock.take(path, "It")
    assert Owner.of(path.read_bytes()).process == os.getpid()
    lock.release()


def test_the_threads_of_a_process_exclude_each_other(path):
    lock = FileLock.take(path, "It")
    with pytest.raises(ParameterError, match=f"in use by process {os.getpid()} since"):
        FileLock.take(path, "It")
    assert lock.is_held
    lock.release()
    taken, refused, at_once = [], [], threading.Barrier(8)

    def compete():
        at_once.wait()
        try:
            taken.append(FileLock.take(path, "It"))
        except ParameterError as error:
            refused.append(error)

    threads = [threading.Thread(target=compete) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(taken), len(refused)) == (1, 7)
    taken[0].release()


@posix
def test_a_forked_child_neither_has_the_lock_nor_keeps_it_from_being_released(path):
    lock = FileLock.take(path, "It")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            lock.release()  # which is its parent's, and does nothing here
            with pytest.raises(ParameterError, match="in use"):
                FileLock.take(path, "It")
            code = 0
            time.sleep(30)  # it outlives the release
        finally:
            os._exit(code)
    try:
        time.sleep(0.3)
        assert lock.is_held
        assert path.exists()
        lock.release()
        FileLock.take(path, "It").release()
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


@pytest.mark.skipif(start_of(os.getpid()) is None, reason="the system does not say when a process began")
def test_a_number_that_is_used_again_is_not_the_owner(path):
    assert Owner.here().is_running
    later = Owner(os.getpid(), Owner.here().host, "another start", "2026-01-01 00:00:00 +0000")
    assert later.is_running is False
    owned(path, started="another start")
    FileLock.take(path, "It").release()
    # The system gave us the lock, but the one who is named is there: then something is wrong with locks here.
    owned(path)
    with pytest.raises(ParameterError, match="in use"):
        FileLock.take(path, "It")
    assert path.exists()


def test_of_another_machine_is_said_and_what_to_do(path):
    owned(path, host="elsewhere", process=77)
    with pytest.raises(ParameterError, match=r"in use by process 77 on 'elsewhere' since .* so far as can be seen .* delete '.*job\.lock'"):
        FileLock.take(path, "It")
    assert path.exists()
    path.unlink()
    FileLock.take(path, "It").release()


def test_a_drive_without_locks_has_the_words_of_the_file(path, monkeypatch):
    def cannot(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(module.fcntl, "flock", cannot)
    lock = FileLock.take(path, "It")
    with pytest.raises(ParameterError, match="in use by process"):
        FileLock.take(path, "It")
    lock.release()
    owned(path, process=2**22 + 1)  # more than there can be
    with pytest.raises(ParameterError, match=r"which has ended.*delete '"):
        FileLock.take(path, "It")
    path.write_bytes(b"")
    with pytest.raises(ParameterError, match="has not said its number yet"):
        FileLock.take(path, "It")


@pytest.mark.parametrize("content", [b"my notes", b"{}", b"[1]", b'{"lock": "woodwind lock 1"}', b"\xff\xfe"])
def test_a_file_that_is_no_lock_is_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ParameterError, match="is no lock of Woodwind"):
        FileLock.take(path, "It")
    assert path.read_bytes() == content


def test_what_a_forged_lock_says_reaches_no_terminal(path):
    owned(path, host="\x1b[31m", process=77)
    with pytest.raises(ParameterError) as raised:
        FileLock.take(path, "It")
    assert "\x1b" not in str(raised.value)
    owned(path, since="\x1b[31m")
    with pytest.raises(ParameterError, match="is no lock of Woodwind"):
        FileLock.take(path, "It")


def test_a_link_is_not_followed_and_a_folder_is_no_lock(path, tmp_path):
    diary = tmp_path / "diary"
    diary.write_text("dear diary")
    path.symlink_to(diary)
    with pytest.raises(ParameterError, match="cannot be opened to lock it"):
        FileLock.take(path, "It")
    assert diary.read_text() == "dear diary"
    path.unlink()
    path.mkdir()
    with pytest.raises(ParameterError, match=r"cannot be opened to lock it|is no lock"):
        FileLock.take(path, "It")


def test_without_a_folder_there_is_no_lock(tmp_path):
    with pytest.raises(FileNotFoundError):
        FileLock.take(tmp_path / "absent" / "job.lock", "It")


def test_a_lock_that_cannot_be_written_is_not_left_behind(path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_write", full)
    with pytest.raises(OSError, match="No space"):
        FileLock.take(path, "It")
    assert not path.exists()
    monkeypatch.undo()
    FileLock.take(path, "It").release()
