"""A folder of checkpoints: whose it is, what is removed from it, who works with it, and what is used of it."""

import json
import os
import re
import threading
from dataclasses import replace

import numpy as np
import pytest

from woodwind import store
from woodwind.auto.checkpoint import FOLD_FILE, LOCK, MANIFEST, Checkpoint
from woodwind.auto.portfolio import Portfolio
from woodwind.auto.training.recipe import ALL_ROWS, Recipe, TrainedFold
from woodwind.base import lock
from woodwind.base.errors import ParameterError

JOB = {"the seed": 0, "the data": "abc", "the weights of rows": None, "what is excluded": ["net"]}
ONE, TWO = Recipe("boosting", "boosting"), Recipe("extra-trees-2", "forest")
FOLDS = [ALL_ROWS, 0, 1]


def fit_of(fold, value=1.0):
    return TrainedFold(fold, None if fold < 0 else np.full((3, 1), value), {"slope": value}, 0.5)


def keep_some(folder, job=JOB, value=1.0, resume=False):
    """A job that was interrupted after two folds of one member and one of another."""
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(job, resume)
        for recipe, fold in ((ONE, 0), (ONE, 1), (TWO, ALL_ROWS)):
            checkpoint.keep(recipe, fit_of(fold, value), FOLDS)
        checkpoint.spend(3.5)


def names_in(folder):
    return sorted(os.listdir(folder))


def contents(folder):
    """Every file below a folder, with what is in it."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def thesis(tmp_path):
    """A folder of the user's, with her work in it."""
    folder = tmp_path / "thesis"
    (folder / "figures").mkdir(parents=True)
    (folder / "chapter1.tex").write_text("It was a dark night.")
    (folder / "figures" / "one.svg").write_text("<svg/>")
    return folder


# ---------------------------------------------------------------------------------------- whose it is


def test_a_folder_of_somebody_else_is_refused_and_not_touched(thesis):
    before = contents(thesis)
    with pytest.raises(ParameterError, match=r"is not empty and holds no checkpoints of Woodwind, but 'chapter1\.tex' and more\."):
        Checkpoint.claim(thesis)
    assert contents(thesis) == before


def _damaged(file):
    file.write_bytes(file.read_bytes()[:-7])


def _a_model(file):
    store.save(file, {"which": "a model", "array": np.arange(9.0)})


def _another_kind(file):
    store.save(file, [1, 2])


def _a_folder(file):
    file.unlink()
    file.mkdir()
    (file / "inside").write_text("mine")


def _a_text(file):
    file.write_text("job description")


def _empty(file):
    file.write_bytes(b"")


def _a_link(file):
    file.rename(file.parent.parent / "job.ww")
    file.symlink_to(file.parent.parent / "job.ww")


def _forged(**changes):
    def forge(file):
        store.save(file, {**store.load(file), **changes})

    return forge


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_damaged, "it was cut off"), (_a_model, "no checkpoints of this version"), (_another_kind, "it holds a list, not checkpoints"),
        (_a_folder, "it is a folder, not a model file"), (_a_text, "it is not a Woodwind model file"), (_empty, "the file is empty"),
        (_a_link, "it is no ordinary file"), (_forged(files=["../../diary.0.ww"]), "it lists files that Woodwind never writes"),
        (_forged(files=["/etc/passwd"]), "never writes"), (_forged(files=["job.ww"]), "never writes"), (_forged(files=[7]), "never writes"),
        (_forged(files="boosting.0.ww"), "it is damaged"), (_forged(spent=float("nan")), "it is damaged"),
        (_forged(job=[]), "it is damaged"), (_forged(spent=-1.0), "it is damaged"), (_forged(more=1), "unexpected keyword argument 'more'"),
    ],
)  # fmt: skip
def test_a_job_file_that_is_not_what_it_should_be_is_told_in_a_line_and_nothing_is_touched(tmp_path, change, words):
    folder = tmp_path / "kept"
    keep_some(folder)
    change(folder / MANIFEST)
    before = contents(folder)
    with pytest.raises(ParameterError, match=re.escape(words)) as raised:
        Checkpoint.claim(folder)
    assert "\n" not in str(raised.value)
    assert "Move it away, or name another folder." in str(raised.value)
    assert contents(folder) == before


def test_a_job_file_that_may_not_be_read_is_told_too(tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    keep_some(folder)
    real = os.open

    def refused(path, *given, **more):
        if str(path).endswith(MANIFEST):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *given, **more)

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(ParameterError, match=r"it cannot be opened \(.*Permission denied"):
        Checkpoint.claim(folder)


def test_a_model_called_as_the_job_file_is_does_not_make_a_folder_ours(thesis):
    _a_model(thesis / MANIFEST)
    before = contents(thesis)
    with pytest.raises(ParameterError, match="no checkpoints of this version"):
        Checkpoint.claim(thesis)
    assert contents(thesis) == before


@pytest.mark.parametrize(("given", "words"), [(5, "must be None or a path, but 5 came"), ("file", "which is not a folder")])
def test_what_is_no_folder_is_refused(tmp_path, monkeypatch, given, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ParameterError, match=words):
        Checkpoint.claim(given)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_name_that_is_too_long_is_a_line(tmp_path):
    with pytest.raises(ParameterError, match="cannot be used: File name too long"):
        Checkpoint.claim(tmp_path / ("x" * 300))


# ---------------------------------------------------------------------------------------- what is removed


def test_a_finished_job_leaves_nothing(tmp_path):
    keep_some(tmp_path / "kept")
    with Checkpoint.claim(tmp_path / "kept") as checkpoint:
        checkpoint.begin(JOB, True)
        assert checkpoint.remove() == []
    assert os.listdir(tmp_path) == []


def test_what_the_user_put_there_stays_and_is_named(tmp_path):
    folder = tmp_path / "kept"
    keep_some(folder)
    (folder / "notes.txt").write_text("remember")
    (folder / "sub").mkdir()
    (folder / "sub" / "boosting.0.ww").write_text("mine")
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(JOB, True)
        assert checkpoint.remove() == ["notes.txt", "sub"]
    assert contents(folder) == {"notes.txt": b"remember", "sub/boosting.0.ww": b"mine", MANIFEST: (folder / MANIFEST).read_bytes()}
    keep_some(folder)  # it can be used again
    (folder / "notes.txt").unlink()
    (folder / "sub" / "boosting.0.ww").unlink()
    (folder / "sub").rmdir()
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.remove()
    assert sorted(os.listdir(tmp_path)) == ["kept"]  # what a job has left that may be resumed is not removed by one that never began
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(JOB, False)
        checkpoint.remove()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("resume", [False, True])
def test_to_start_anew_removes_what_is_listed_and_nothing_else(tmp_path, resume):
    folder = tmp_path / "kept"
    keep_some(folder)
    (folder / "notes.txt").write_text("remember")
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(JOB, resume)
        found, faults = checkpoint.fits(ONE, FOLDS)
        assert ([fit.fold for fit in found], faults) == ([0, 1] if resume else [], [])
        assert checkpoint.holds(ONE) == resume
    left = {"notes.txt", MANIFEST} | ({"boosting.0.ww", "boosting.1.ww", "extra-trees-2.all.ww"} if resume else set())
    assert set(names_in(folder)) == left


def test_an_empty_folder_of_the_users_is_used_and_stays(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    keep_some(folder)
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(JOB, True)
        assert checkpoint.remove() == []
    assert names_in(folder) == []


@pytest.mark.parametrize("begun", [False, True])
def test_a_job_that_kept_nothing_leaves_nothing(tmp_path, begun):
    with Checkpoint.claim(tmp_path / "kept") as checkpoint:
        if begun:
            checkpoint.begin(JOB, False)
    assert os.listdir(tmp_path) == []


def test_a_call_that_failed_before_its_job_leaves_what_was_there(tmp_path):
    keep_some(tmp_path / "kept")
    before = contents(tmp_path)
    Checkpoint.claim(tmp_path / "kept").close()
    assert contents(tmp_path) == before


def test_a_file_that_looks_like_a_fold_and_is_not_listed_is_neither_overwritten_nor_removed(tmp_path):
    folder = tmp_path / "kept"
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(JOB, False)
        (folder / "boosting.1.ww").write_text("my own")
        with pytest.raises(FileExistsError, match="will not overwrite it"):
            checkpoint.keep(ONE, fit_of(0), FOLDS)
        checkpoint.keep(TWO, fit_of(0), FOLDS)
    assert (folder / "boosting.1.ww").read_text() == "my own"
    with pytest.raises(ParameterError, match=r"has a file 'boosting.1.ww' that its job.ww does not list"):
        Checkpoint.claim(folder)


def test_links_are_neither_followed_nor_overwritten(tmp_path):
    folder, diary = tmp_path / "kept", tmp_path / "diary"
    keep_some(folder)
    diary.write_text("dear diary")
    (folder / "boosting.0.ww").unlink()
    (folder / "boosting.0.ww").symlink_to(diary)
    with pytest.raises(ParameterError, match="that is no ordinary file"):
        Checkpoint.claim(folder)
    (folder / "boosting.0.ww").unlink()
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(JOB, True)
        (folder / "boosting.0.ww").symlink_to(diary)
        assert checkpoint.fits(ONE, [0])[1] == ["the checkpoint boosting.0.ww is not used and is made again: it is no ordinary file"]
        with pytest.raises(FileExistsError, match="no ordinary file"):
            checkpoint.keep(ONE, fit_of(0), FOLDS)
        assert checkpoint.remove() == ["boosting.0.ww"]
    assert diary.read_text() == "dear diary"


def test_what_a_killed_writer_has_left_is_swept_by_the_next_one(tmp_path):
    folder = tmp_path / "kept"
    keep_some(folder)
    (folder / ".boosting.0.ww.0123456789ab.part").write_bytes(b"half")
    (folder / ".job.ww.0123456789ab.part").write_bytes(b"half")
    (folder / ".notes.0123456789ab.part").write_bytes(b"mine")
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(JOB, True)
    assert [name for name in names_in(folder) if name.endswith(".part")] == [".notes.0123456789ab.part"]


def test_a_kill_before_the_first_job_file_leaves_a_folder_that_can_be_used(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / LOCK).write_bytes(b"")
    (folder / ".job.ww.0123456789ab.part").write_bytes(b"half")
    keep_some(folder)
    assert MANIFEST in names_in(folder)


@pytest.mark.parametrize("resume", [False, True])
def test_a_kill_before_the_job_begins_leaves_a_folder_that_the_next_one_removes(tmp_path, resume):
    folder = tmp_path / "kept"
    claimed = Checkpoint.claim(folder)
    os.close(claimed.lock.descriptor)  # as the system does when a process ends
    assert names_in(folder) == [LOCK, MANIFEST]
    (folder / LOCK).write_bytes(b"")
    with Checkpoint.claim(folder) as checkpoint:
        assert checkpoint.begin(JOB, resume) == 0.0
        checkpoint.remove()
    lock._held.remove(claimed.lock)
    assert not folder.exists()


def test_every_name_is_listed_before_there_is_a_file_of_it(tmp_path, monkeypatch):
    folder, seen = tmp_path / "kept", []
    real = store.save

    def watched(path, content):
        if FOLD_FILE.fullmatch(path.name):
            seen.append(path.name in store.load(folder / MANIFEST)["files"])
        real(path, content)

    monkeypatch.setattr("woodwind.auto.checkpoint.save", watched)
    keep_some(folder)
    assert seen == [True] * 3


@pytest.mark.parametrize("n_classes", [0, 2, 5])
def test_every_member_of_the_portfolio_has_a_name_that_can_be_listed(n_classes):
    portfolio = Portfolio(n_classes)
    names = [recipe.name for recipe in portfolio.listed]
    assert all(FOLD_FILE.fullmatch(f"{name}{again}.{fold}.ww") for name in names for again in ("", "-12") for fold in ("all", "0", "17"))


# ---------------------------------------------------------------------------------------- who works with it


def test_two_jobs_exclude_each_other(tmp_path):
    folder = tmp_path / "kept"
    with Checkpoint.claim(folder) as first:
        first.begin(JOB, False)
        first.keep(ONE, fit_of(0), FOLDS)
        before = contents(folder)
        with pytest.raises(ParameterError, match=rf"'{folder}' is in use by process {os.getpid()} since"):
            Checkpoint.claim(folder)
        assert contents(folder) == before
    Checkpoint.claim(folder).close()


def test_of_many_threads_one_gets_the_folder_and_it_is_removed_in_the_end(tmp_path):
    folder, barrier, wrong = tmp_path / "kept", threading.Barrier(6), []
    jobs = [JOB | {"the seed": seed} for seed in range(6)]
    done = []

    def work(job):
        barrier.wait()
        for _ in range(15):
            try:
                with Checkpoint.claim(folder) as checkpoint:
                    checkpoint.begin(job, False)
                    checkpoint.keep(ONE, fit_of(0, float(job["the seed"])), FOLDS)
                    (found,), faults = checkpoint.fits(ONE, [0])
                    wrong.extend(faults if found.model == {"slope": float(job["the seed"])} else [found])
                    wrong.extend(checkpoint.remove())
                    done.append(job["the seed"])
            except ParameterError as error:
                if "in use by process" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=[job]) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert done
    assert not folder.exists() or os.listdir(folder) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="for systems that fork")
def test_a_forked_child_removes_nothing_of_its_parent(tmp_path):
    folder = tmp_path / "kept"
    with Checkpoint.claim(folder) as checkpoint:
        checkpoint.begin(JOB, False)
        child = os.fork()
        if child == 0:
            checkpoint.close()
            checkpoint.remove()
            os._exit(0)
        os.waitpid(child, 0)
        assert names_in(folder) == [LOCK, MANIFEST]
        checkpoint.keep(ONE, fit_of(0), FOLDS)
    assert "boosting.0.ww" in names_in(folder)


def test_a_job_of_another_machine_is_left_alone(tmp_path):
    folder = tmp_path / "kept"
    keep_some(folder)
    owner = vars(lock.Owner.here()) | {"lock": lock.MARK, "host": "elsewhere"}
    (folder / LOCK).write_text(json.dumps(owner))
    before = contents(folder)
    with pytest.raises(ParameterError, match=r"on 'elsewhere'.*delete '.*job\.lock' and call again"):
        Checkpoint.claim(folder)
    assert contents(folder) == before


# ---------------------------------------------------------------------------------------- what is used of it


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (JOB | {"the seed": 1}, "the seed was 0 there and is 1 now"),
        ({name: value for name, value in JOB.items() if name != "the data"}, "the data was 'abc' there and is None now"),
        (JOB | {"the weights of rows": "w"}, "the weights of rows was None there and is 'w' now"),
        (JOB | {"more": 1}, "more was None there and is 1 now"),
    ],
)
def test_another_job_is_not_resumed(tmp_path, job, words):
    keep_some(tmp_path / "kept")
    before = contents(tmp_path)
    with pytest.raises(ParameterError, match=words), Checkpoint.claim(tmp_path / "kept") as checkpoint:
        checkpoint.begin(job, True)
    assert contents(tmp_path) == before


def test_the_time_that_was_spent_is_remembered(tmp_path):
    keep_some(tmp_path / "kept")
    with Checkpoint.claim(tmp_path / "kept") as checkpoint:
        assert checkpoint.begin(JOB, True) == 3.5
    with Checkpoint.claim(tmp_path / "kept") as checkpoint:
        assert checkpoint.begin(JOB, False) == 0.0


def test_a_fold_that_was_hurried_is_used_as_it_is(tmp_path):
    with Checkpoint.claim(tmp_path / "kept") as checkpoint:
        checkpoint.begin(JOB, False)
        hurried = replace(fit_of(0), note="learning rate 0.2 to be done in time", learning_rate=0.2)
        checkpoint.keep(ONE, hurried, FOLDS)
        (found,), faults = checkpoint.fits(ONE, FOLDS)
        assert (found.note, found.learning_rate, faults) == (hurried.note, 0.2, [])
        for odd in ("fast", float("nan"), -1.0):
            checkpoint.keep(ONE, replace(hurried, learning_rate=odd), FOLDS)
            assert checkpoint.fits(ONE, FOLDS)[1] == ["the checkpoint boosting.0.ww is not used and is made again: it is damaged"]


def test_a_fold_of_another_job_member_or_fold_is_never_used(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    keep_some(here)
    keep_some(there, JOB | {"the data": "xyz"}, 2.0)
    (here / "boosting.0.ww").write_bytes((there / "boosting.0.ww").read_bytes())
    with Checkpoint.claim(here) as checkpoint:
        checkpoint.begin(JOB, True)
        found, faults = checkpoint.fits(ONE, FOLDS)
        assert [fit.fold for fit in found] == [1]
        assert faults == ["the checkpoint boosting.0.ww is not used and is made again: it is of another job, of other data or options"]
        (here / "boosting.0.ww").write_bytes((here / "boosting.1.ww").read_bytes())
        assert checkpoint.fits(ONE, FOLDS)[1][0].endswith("it is of another member or fold")
        (here / "boosting.0.ww").write_bytes((here / "extra-trees-2.all.ww").read_bytes())
        assert checkpoint.fits(ONE, FOLDS)[1][0].endswith("it is of another member or fold")
        for content in ([1], {"job": checkpoint.digest, "recipe": "boosting", "fold": 0}):
            store.save(here / "boosting.0.ww", content)
            found, faults = checkpoint.fits(ONE, FOLDS)
            assert ([fit.fold for fit in found], len(faults)) == ([1], 1)
        checkpoint.keep(ONE, fit_of(0, 7.0), FOLDS)
        assert checkpoint.fits(ONE, FOLDS)[0][0].model == {"slope": 7.0}
