"""Whatever fails in the middle of a job or of a save, what was there before is whole, and what was finished is not lost.

The n-th call of a kind is made to fail, for every n: of the operating system, for files below the folder of the test, and of the reader of
model files. Of NumPy it is the first call of every line of Woodwind that asks it for memory: there are 1,400 calls in a job of two
members, most of them the same few. Then a job that nothing disturbs must be able to go on, and must end as one that never was disturbed.
"""

import errno
import os
import sys

import numpy as np
import pandas as pd
import pytest

import woodwind
from tests.auto.fakes import Line
from woodwind import store
from woodwind.auto.checkpoint import Checkpoint
from woodwind.auto.clock import Clock
from woodwind.auto.events import FoldDone, JobEnded
from woodwind.auto.job import JobSpec, run
from woodwind.auto.training.recipe import Recipe
from woodwind.base.errors import WoodwindError
from woodwind.metrics.named import metric_named
from woodwind.store import container

# What is not in the report for want of memory is said, and no error.
pytestmark = pytest.mark.filterwarnings("ignore:Not in the report:woodwind.base.errors.ReportWarning")

SYSTEM = ("open", "write", "fsync", "replace", "unlink", "mkdir", "rmdir", "listdir", "ftruncate")
ALLOCATING = ("empty", "zeros", "ones", "full", "array", "asarray", "ascontiguousarray", "concatenate", "stack", "repeat", "empty_like")
TIMES = ("seconds", "row_microseconds")
OLD = {"which": "old", "array": np.arange(50.0)}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X @ [2.0, -1.0] + 0.1 * RNG.normal(size=60)


class Faults:
    """Makes the n-th call of a kind fail, in a folder."""

    def __init__(self, monkeypatch, folder):
        self.patch, self.folder, self.descriptors = monkeypatch, os.fspath(folder), set()
        self.count, self.number, self.lines = 0, 0, {}

    def each(self, kind, prepare, act):
        """For every call that may fail while `act` is done: what has come of it, after preparing anew. At first without any fault."""
        prepare()
        self.fail(kind, 0)
        act()
        self.patch.undo()
        for number in list(self.lines.values()) if kind == "allocation" else range(1, self.count + 1):
            prepare()
            self.fail(kind, number)
            result, error = None, None
            try:
                result = act()
            except (WoodwindError, OSError, MemoryError) as raised:
                error = raised
            self.patch.undo()
            yield result, error

    def fail(self, kind, number):
        """From now on, until the patch is undone."""
        self.count, self.number = 0, number
        if kind == "allocation":
            for name in ALLOCATING:
                self.patch.setattr(np, name, self.allocating(getattr(np, name)))
        elif kind == "read":
            self.patch.setattr(container, "fill", self.reading(container.fill))
        else:
            self.patch.setattr(os, "open", self.opening(os.open, kind == "open"))
            if kind != "open":
                self.patch.setattr(os, kind, self.of_files(getattr(os, kind)))

    def due(self):
        self.count += 1
        return self.count == self.number

    def opening(self, real, fails):
        def opened(path, *given, **more):
            inside = str(path).startswith(self.folder)
            if inside and fails and self.due():
                raise OSError(errno.EIO, "Input/output error", str(path))
            descriptor = real(path, *given, **more)
            self.descriptors.discard(descriptor)  # a number is used again
            if inside:
                self.descriptors.add(descriptor)
            return descriptor

        return opened

    def of_files(self, real):
        def called(*given, **more):
            first = given[0] if given else "."
            inside = first in self.descriptors if isinstance(first, int) else str(first).startswith(self.folder)
            if inside and self.due():
                raise OSError(errno.ENOSPC, "No space left on device", str(first))
            return real(*given, **more)

        return called

    def reading(self, real):
        def read(file, buffer):
            if self.due():
                raise OSError(errno.EIO, "Input/output error")
            return real(file, buffer)

        return read

    def allocating(self, real):
        def allocated(*given, **more):
            caller = sys._getframe(1)
            if caller.f_globals.get("__name__", "").startswith("woodwind."):
                if self.due():
                    raise MemoryError("there is not enough memory")
                self.lines.setdefault((caller.f_code, caller.f_lineno), self.count)
            return real(*given, **more)

        return allocated


@pytest.fixture
def faults(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # nobody pulls the plug here, and it takes most of the time
    with pytest.MonkeyPatch.context() as patch:
        yield Faults(patch, tmp_path)


class Killed(Exception):
    """A job that was killed, as far as its checkpoints can tell."""


class Listed:
    """Two members."""

    def __init__(self):
        self.recipes = iter([Recipe("line-0", "line", {"column": 0}), Recipe("line-1", "line", {"column": 1})])

    def next(self, done):
        return next(self.recipes, None)


def short_job(folder, factor=1.0, resume=True, folds=None):
    """What the command does, with members that are quick: claim, train, write the model, remove. It may be killed after some folds."""
    question = JobSpec(X=X, y=Y * factor, task="regression", classes=(), metric=metric_named("rmse"), fold=np.arange(60) % 3)
    done = 0
    with Checkpoint.claim(folder / "kept") as checkpoint:
        checkpoint.begin({"the data": repr(factor)}, resume)
        for event in run(question, {"line": Line()}, Listed(), Clock(), checkpoint):
            done += isinstance(event, FoldDone)
            if done == folds:
                raise Killed
            if isinstance(event, JobEnded):
                board = [{k: v for k, v in vars(entry).items() if k not in TIMES} for entry in event.outcome.leaderboard]
        store.save(folder / "model.ww", {"which": "new", "leaderboard": board, "out_of_fold": event.outcome.blend_out_of_fold})
        checkpoint.remove()
    return board


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    """The leaderboard of a job that nothing disturbs, and what it predicts for rows out of fold."""
    folder = tmp_path_factory.mktemp("truth")
    return short_job(folder), store.load(folder / "model.ww")["out_of_fold"]


# What is in the folder of checkpoints before: nothing, the job itself, or one on other data.
EARLIER = {"new": None, "resumed": {"folds": 4}, "anew": {"folds": 4, "factor": 2.0}}


def prepare(folder, earlier):
    """A user's folder: a model, her notes, and perhaps the checkpoints of a job that was killed, with notes of hers beside them."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    store.save(folder / "model.ww", OLD)
    (folder / "notes.txt").write_text("remember")
    if earlier is not None:
        with pytest.raises(Killed):
            short_job(folder, resume=False, **earlier)
        (folder / "kept" / "more.txt").write_text("this too")


def check_whole(folder, truth, earlier, error):
    """The user's files are as they were; the model is the old one or the new one, and the new one if nothing was said."""
    assert (folder / "notes.txt").read_text() == "remember"
    if earlier is not None:
        assert (folder / "kept" / "more.txt").read_text() == "this too"
    found = store.load(folder / "model.ww")
    if found["which"] == "old":
        assert error is not None
        assert np.array_equal(found["array"], OLD["array"])
        return
    if found["leaderboard"] == truth[0]:
        assert np.array_equal(found["out_of_fold"], truth[1], equal_nan=True)
    else:
        assert any(entry["note"].startswith("failed: MemoryError") for entry in found["leaderboard"])


@pytest.mark.parametrize(
    ("kind", "earlier"), [*((kind, earlier) for kind in (*SYSTEM, "read") for earlier in EARLIER), ("allocation", "resumed")]
)
def test_a_job_survives_any_fault(tmp_path, faults, truth, kind, earlier):
    before, resume = EARLIER[earlier], earlier != "anew"
    for _, error in faults.each(kind, lambda: prepare(tmp_path, before), lambda: short_job(tmp_path, resume=resume)):
        check_whole(tmp_path, truth, before, error)
        assert short_job(tmp_path, resume=resume) == truth[0]
        check_whole(tmp_path, truth, before, None)
        left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
        if before is not None:
            left -= {"kept", "kept/job.ww", "kept/more.txt"}
        elif kind in ("rmdir", "unlink"):
            left -= {"kept"}  # the next one found it there, and thought it to be the user's
        assert left == {"model.ww", "notes.txt"}


REAL = {"models": 1, "exclude": ("boosting", "forest", "net", "neighbours")}
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})


def real_job(folder):
    model = woodwind.fit(FRAME, "y", checkpoint=folder / "kept", resume=True, **REAL)
    model.save(folder / "model.ww")
    return model.predict(FRAME)


@pytest.mark.parametrize("kind", ["open", "write", "replace", "read", "allocation"])
def test_a_real_fit_survives_some_of_them(tmp_path, faults, kind):
    """Every one would take minutes: four that are drawn."""
    expected = real_job(tmp_path)
    faults.fail(kind, 0)
    real_job(tmp_path)
    faults.patch.undo()
    for number in np.random.default_rng(0).integers(1, faults.count + 1, 4):
        for path in list((tmp_path / "kept").glob("*.[0-3].ww")):
            path.unlink()
        store.save(tmp_path / "model.ww", OLD)
        (tmp_path / "notes.txt").write_text("remember")
        faults.fail(kind, number)
        try:
            found = real_job(tmp_path)
        except (WoodwindError, OSError, MemoryError):
            found = None
        faults.patch.undo()
        assert (tmp_path / "notes.txt").read_text() == "remember"
        kept = woodwind.load(tmp_path / "model.ww")
        if found is None and isinstance(kept, dict):
            assert np.array_equal(kept["array"], OLD["array"])
        else:
            assert np.array_equal(kept.predict(FRAME), expected if found is None else found)
        assert np.array_equal(real_job(tmp_path), expected)
        assert [path.name for path in tmp_path.rglob("*.part")] == []


@pytest.mark.parametrize("kind", ["open", "write", "fsync", "replace", "allocation"])
def test_a_model_that_cannot_be_saved_leaves_the_old_one(tmp_path, faults, kind):
    path, whole = tmp_path / "model.ww", {}
    for name, trees in (("old", 2), ("new", 5)):
        new = woodwind.GradientBoostingRegressor(n_estimators=trees, random_state=0).fit(X, Y)
        new.save(path)
        whole[name] = path.read_bytes()
    tried = 0
    for _, error in faults.each(kind, lambda: path.write_bytes(whole["old"]), lambda: new.save(path)):
        # Only where the folder is brought to the disk has the new one its name already.
        expected = ["new"] if error is None else ["old", "new"] if kind in ("open", "fsync") else ["old"]
        assert path.read_bytes() in [whole[name] for name in expected]
        assert os.listdir(tmp_path) == ["model.ww"]
        tried += 1
    assert tried > 0


@pytest.mark.parametrize("kind", ["open", "read", "allocation"])
def test_a_model_that_cannot_be_read_is_told_as_that(tmp_path, faults, kind):
    path = tmp_path / "model.ww"
    model = woodwind.GradientBoostingRegressor(n_estimators=3, random_state=0).fit(X, Y)
    model.save(path)
    before, tried = path.read_bytes(), 0
    for back, error in faults.each(kind, lambda: None, lambda: woodwind.load(path)):
        assert isinstance(error, WoodwindError | MemoryError) or np.array_equal(back.predict(X), model.predict(X))
        assert path.read_bytes() == before
        tried += 1
    assert tried > 0
