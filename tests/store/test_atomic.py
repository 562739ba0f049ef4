"""Saving is all or nothing: every call that can fail is made to fail, one after another."""

import errno
import os
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from woodwind import store
from woodwind.base import atomic

OLD, NEW = {"which": "old", "array": np.arange(100.0)}, {"which": "new", "array": np.arange(300.0), "more": np.arange(50)}
CALLS = ("open", "stat", "fchmod", "write", "fsync", "close", "replace")


class Failing:
    """The operating system, of which the n-th call of some kind fails."""

    def __init__(self, call, number, error):
        self.call, self.number, self.error, self.count = call, number, error, 0

    def __getattr__(self, name):
        real = getattr(os, name)
        if name != self.call:
            return real

        def fails(*given, **more):
            self.count += 1
            if self.count == self.number:
                raise self.error
            return real(*given, **more)

        return fails


def which(path):
    return store.load(path)["which"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "I/O error"), KeyboardInterrupt()])
@pytest.mark.parametrize("call", CALLS)
def test_whatever_fails_the_file_is_whole(tmp_path, monkeypatch, call, error):
    path = tmp_path / "model.ww"
    outcomes = []
    for number in range(1, 40):
        store.save(path, OLD)
        system = Failing(call, number, error)
        monkeypatch.setattr(atomic, "os", system)
        try:
            store.save(path, NEW)
            failed = False
        except (OSError, KeyboardInterrupt):
            failed = True
        monkeypatch.undo()
        outcomes.append((failed, which(path)))
        assert os.listdir(tmp_path) == ["model.ww"]
        if system.count < number:
            break
    assert outcomes[-1] == (False, "new")
    # Only where the folder is brought to the disk is the new file there already.
    assert [found for failed, found in outcomes if failed].count("new") <= (2 if call in ("open", "fsync", "close") else 0)
    assert len(outcomes) > 1


def test_a_short_write_is_continued(tmp_path, monkeypatch):
    class Short:
        def __getattr__(self, name):
            return getattr(os, name) if name != "write" else lambda descriptor, data: os.write(descriptor, data[:7])

    monkeypatch.setattr(atomic, "os", Short())
    store.save(tmp_path / "model.ww", NEW)
    assert which(tmp_path / "model.ww") == "new"


def test_what_fails_says_what_became_of_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="Nothing was written: a file of this name is as it was"):
        store.save(tmp_path / "absent" / "model.ww", OLD)


def test_permissions_of_an_old_file_stay_and_those_of_a_new_one_follow_the_mask(tmp_path):
    path = tmp_path / "model.ww"
    before = os.umask(0o027)
    try:
        store.save(path, OLD)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    store.save(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "model.ww", tmp_path / "newest.ww"
    store.save(path, OLD)
    link.symlink_to(path)
    store.save(link, NEW)
    assert link.is_symlink()
    assert which(path) == "new"


def test_what_a_killed_process_left_is_taken_away_later(tmp_path):
    names = ("model.ww", ".model.ww.0123456789ab.part", ".model.ww.cdef01234567.part", ".other.ww.0123456789ab.part", ".model.ww.mine.part")
    path, left, fresh, other, mine = (tmp_path / name for name in names)
    for one in (left, fresh, other, mine):
        one.write_bytes(b"half")
    for one in (left, other, mine):
        os.utime(one, (time.time() - 4000, time.time() - 4000))
    store.save(path, OLD)
    assert not left.exists()
    assert fresh.exists()
    assert other.exists()
    assert mine.exists()  # whose name is not one that is given here


@pytest.mark.parametrize("name", ["語" * 80 + ".ww", "a" * 252 + ".ww", "🎷" * 60 + ".ww"], ids=["wide", "long", "wider"])
def test_a_name_that_the_system_allows_can_be_saved_to(tmp_path, name):
    for value in (OLD, NEW):
        store.save(tmp_path / name, value)
    assert which(tmp_path / name) == "new"
    assert os.listdir(tmp_path) == [name]


def test_what_was_left_of_a_file_with_a_long_name_is_taken_away_too(tmp_path):
    name = "語" * 80 + ".ww"
    left, other = (tmp_path / atomic.part_name(one, "0123456789ab") for one in (name, "語" * 79 + "言.ww"))
    assert len(os.fsencode(left.name)) <= 255
    for one in (left, other):
        one.write_bytes(b"half")
        os.utime(one, (time.time() - 4000, time.time() - 4000))
    store.save(tmp_path / name, OLD)
    assert (left.exists(), other.exists()) == (False, True)


KILLED = """
import os, random, signal, sys, time
import numpy as np
from woodwind import store
path = sys.argv[1]
draw = random.Random(0)
things = [{"which": which, "array": np.full(50_000, float(which))} for which in range(2)]
store.save(path, things[0])
for _ in range(40):
    child = os.fork()
    if child == 0:
        for turn in range(10**6):
            store.save(path, things[turn % 2])
    time.sleep(draw.random() * 0.03)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = store.load(path)
    assert (found["array"] == found["which"]).all()
print("whole")
"""


def test_a_process_that_is_killed_while_it_saves_leaves_the_old_file_or_the_new_one(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "model.ww")]
    assert subprocess.check_output(command, timeout=150, text=True) == "whole\n"
