"""Checkpoints: a folder with a file for every fold that was trained, so that a job that was killed goes on where it was.

    job.ww             what the job is, how long it has worked, and the names of all files below that it writes
    boosting.0.ww ...  a fold of a member each, with the digest of the job inside
    job.lock           who is at work

What is removed is what job.ww lists, name by name, and the folder only if it is empty then and was made here: whatever else somebody has
put there stays. A name is listed before there is a file of it, so that no kill leaves a file that nobody knows. A folder that holds
something and is not marked by a job.ww of this kind is refused, and so is one in which another process is at work.
"""

import errno
import hashlib
import math
import os
import re
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from woodwind.auto.training.recipe import OUT_OF_TIME, Recipe, TrainedFold
from woodwind.base.atomic import is_part_of
from woodwind.base.errors import ModelFileError, ParameterError
from woodwind.base.lock import FileLock
from woodwind.store import load, save
from woodwind.store.container import as_json

MANIFEST, LOCK = "job.ww", "job.lock"
KIND = "woodwind checkpoint 1"
# The only names that are written, read or removed beside those two. A manifest may be forged: it can list nothing but these.
FOLD_FILE = re.compile(r"[A-Za-z0-9]{1,40}(-[A-Za-z0-9]{1,40}){0,9}\.(all|[0-9]{1,6})\.ww")
# A folder that its owner removes just when it is opened is made again so often.
MOST_TRIES, FEW_TRIES = 100, 20


class Manifest(NamedTuple):
    """What job.ww says."""

    job: dict[str, Any]  # what decides the result
    spent: float  # seconds that the job has worked
    files: tuple[str, ...]  # that were written, or were about to be
    made_folder: bool  # it was not there before


class Checkpoint:
    """A folder of fits that this process alone works with, until it is closed."""

    def __init__(self, folder: Path, lock: FileLock, before: Manifest | None, made_folder: bool) -> None:
        self.folder, self.lock, self.before = folder, lock, before
        self.made_folder = before.made_folder if before is not None else made_folder
        self.job: dict[str, Any] = {}  # nothing is known of it before it begins
        self.digest = ""
        self.files = [] if before is None else list(before.files)
        self.spent = 0.0

    @classmethod
    def claim(cls, folder: Any) -> Self:
        """Take a folder for one job, before anything is known of the job; ParameterError if it is somebody else's or in use."""
        try:
            position = Path(os.fsdecode(folder))
        except TypeError:
            raise ParameterError(f"checkpoint must be None or a path, but {folder!r} came. Give the name of a folder.") from None
        what, made = f"The checkpoint folder {str(position)!r}", False
        try:
            for number in range(MOST_TRIES):
                made |= _make(position)
                try:
                    read_folder(position)  # before anything is written into a folder that may be a stranger's
                    lock = FileLock.take(position / LOCK, what)
                except ParameterError:
                    # Another process may be removing it just now, and another one make it anew: then it is neither whole nor gone.
                    if number >= FEW_TRIES:
                        raise
                except (FileNotFoundError, FileExistsError):  # it was removed, or made anew, since it was looked at
                    pass
                else:
                    return cls._opened(position, lock, made)
                time.sleep(0.01)
            raise ParameterError(f"{what} is made and removed by others all the time. Call again, or name another folder.")
        except (OSError, ParameterError) as error:
            if made:
                with suppress(OSError):
                    os.rmdir(position)
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(f"{what} cannot be used: {error.strerror or error}. Look at it, or name another folder.") from error

    @classmethod
    def _opened(cls, folder: Path, lock: FileLock, made: bool) -> Self:
        """Now that nobody else works with it, what is there for certain. A new folder is marked at once: a kill may come at any moment."""
        try:
            opened = cls(folder, lock, read_folder(folder), made)
            if made and opened.before is None:
                opened._write()
        except BaseException:
            lock.release()
            raise
        return opened

    def begin(self, job: dict[str, Any], resume: bool) -> float:
        """Begin a job, or with `resume` go on with the one that is there. Returns the seconds that were spent before.

        `job` is what decides the result, in plain values: where another job is to be resumed, the first thing that differs is named.
        """
        before = self.before
        if before is not None and before.job and resume:
            for name in [*job, *before.job]:
                if name not in job or name not in before.job or before.job[name] != job[name]:
                    was, now = before.job.get(name), job.get(name)
                    raise ParameterError(
                        f"The job in {str(self.folder)!r} cannot be resumed: {name} was {was!r} there and is {now!r} now. "
                        "Give what was given then, or start anew without resume."
                    )
            self.spent = before.spent
        else:
            self._remove_files(self.files)
            self.files = []
        self.job, self.digest = job, digest_of(as_json(sorted(job.items())).encode())
        self._remove_parts([MANIFEST, *self.files])
        self._write()
        return self.spent

    def spend(self, seconds: float) -> None:
        """Write down how long the job has worked: whoever goes on has the rest of the time."""
        self.spent = seconds
        self._write()

    def keep(self, recipe: Recipe, fit: TrainedFold, folds: Sequence[int]) -> None:
        """Write a fit of a recipe that is trained in these folds."""
        name = _name(recipe, fit.fold)
        if name not in self.files:
            names = [_name(recipe, number) for number in folds]
            for file in (self.folder / one for one in names if one not in self.files):
                if os.path.lexists(file):
                    raise FileExistsError(errno.EEXIST, "Woodwind did not write it, and will not overwrite it", str(file))
            self.files += [one for one in names if one not in self.files]
            self._write()
        self._save(name, {
            "job": self.digest, "recipe": recipe.name, "fold": fit.fold, "predicted": fit.predicted, "model": fit.model,
            "seconds": fit.seconds,
            "curve": fit.curve, "note": fit.note, "learning_rate": fit.learning_rate,
        })  # fmt: skip

    def holds(self, recipe: Recipe) -> bool:
        """Whether there is something of a recipe: to read it takes no time."""
        return any(name.rsplit(".", 2)[0] == recipe.name and _is_file(self.folder / name) for name in self.files)

    def fits(self, recipe: Recipe, folds: Sequence[int]) -> tuple[list[TrainedFold], list[str]]:
        """What is there of a recipe, and what is wrong with the rest: that is trained again."""
        found, faults = [], []
        for fold in folds:
            name = _name(recipe, fold)
            file = self.folder / name
            if name not in self.files or not os.path.lexists(file):
                continue
            try:
                _require(_is_file(file), "it is no ordinary file")
                found.append(self._fit(load(file), recipe.name, fold))
            except (ModelFileError, TypeError) as error:
                faults.append(f"the checkpoint {name} is not used and is made again: {error}")
        return found, faults

    def _fit(self, content: Any, recipe: str, fold: int) -> TrainedFold:
        """The fit that a file holds, if it is the one that it should be."""
        _require(type(content) is dict, f"it holds a {type(content).__name__}, not a fold")
        _require(content.pop("job", None) == self.digest, "it is of another job, of other data or options")
        _require(content.pop("recipe", None) == recipe and content.get("fold") == fold, "it is of another member or fold")
        found = TrainedFold(**content)
        predicted = found.predicted is None or (
            type(found.predicted) is np.ndarray and found.predicted.dtype.kind == "f" and found.predicted.ndim == 2
        )
        # What the clock has cut short was never kept; that a training was hurried is a note as well.
        noted = type(found.note) is str and not found.note.startswith(OUT_OF_TIME)
        rate = found.learning_rate is None or (type(found.learning_rate) is float and 0.0 < found.learning_rate < math.inf)
        _require(predicted and type(found.seconds) is float and type(found.curve) is dict and noted and rate, "it is damaged")
        return found

    def remove(self) -> list[str]:
        """The job is done: remove its files, and the folder if nothing else is in it. Returns the names of what else is.

        With something else in it the folder stays marked, so that it can be used again.
        """
        if not self.lock.is_held or self._is_unbegun:
            self.lock.release()
            return []
        left: list[str] = []
        with suppress(OSError):
            self._remove_files(self.files)
            self._remove_parts([MANIFEST, *self.files])
            left = [name for name in _entries(self.folder) if name not in (MANIFEST, LOCK)]
            if left:
                self.job, self.files, self.spent = {}, [], 0.0
                self._write()
            elif _is_file(self.folder / MANIFEST):
                os.unlink(self.folder / MANIFEST)
        self.lock.release()
        if self.made_folder:
            with suppress(OSError):  # there is something in it, or another process has begun to work with it
                os.rmdir(self.folder)
        return left

    def close(self) -> None:
        """Let others work with the folder. Where nothing was kept in it, it is as it was before."""
        if not self.lock.is_held:
            return
        try:
            if not self._is_unbegun and not any(_is_file(self.folder / name) for name in self.files):
                self.remove()
        finally:
            self.lock.release()

    @property
    def _is_unbegun(self) -> bool:
        """Whether what is there is of an earlier job alone, which somebody may want to resume."""
        return self.before is not None and bool(self.before.job) and not self.job

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __fspath__(self) -> str:
        return str(self.folder)

    def _write(self) -> None:
        """The manifest as it is now."""
        self._save(MANIFEST, {"kind": KIND, "job": self.job, "spent": self.spent, "files": self.files, "made_folder": self.made_folder})

    def _save(self, name: str, content: dict[str, Any]) -> None:
        """Write a file of the folder; a link there is not followed to wherever it leads."""
        file = self.folder / name
        if _is_odd(file):
            raise FileExistsError(errno.EEXIST, "it is no ordinary file, and will not be overwritten", str(file))
        save(file, content)

    def _remove_files(self, names: Iterable[str]) -> None:
        for name in names:
            if _is_file(self.folder / name):
                os.unlink(self.folder / name)

    def _remove_parts(self, names: Sequence[str]) -> None:
        """What killed processes have left: nobody else writes here while the lock is held."""
        for entry in _entries(self.folder):
            if any(is_part_of(entry, name) for name in names) and _is_file(self.folder / entry):
                os.unlink(self.folder / entry)


def read_folder(folder: Path) -> Manifest | None:
    """The manifest of a folder of checkpoints; None if it is empty. ParameterError if it was not made for checkpoints."""
    what = f"The folder {str(folder)!r}"
    entries = _entries(folder)
    if MANIFEST not in entries:
        others = [name for name in entries if name != LOCK and not is_part_of(name, MANIFEST)]
        if others:
            raise ParameterError(
                f"{what} is not empty and holds no checkpoints of Woodwind, but {others[0]!r}{' and more' if others[1:] else ''}. "
                "Nothing in it was touched. Name another folder for checkpoints."
            )
        return None
    manifest = _read_manifest(folder / MANIFEST)
    for name in entries:
        if FOLD_FILE.fullmatch(name) and name not in manifest.files:
            raise ParameterError(f"{what} has a file {name!r} that its {MANIFEST} does not list. Move it away, or name another folder.")
        if name in manifest.files and _is_odd(folder / name):
            raise ParameterError(f"{what} has something called {name!r} that is no ordinary file. Move it away, or name another folder.")
    return manifest


def _read_manifest(file: Path) -> Manifest:
    try:
        _require(_is_file(file) or file.is_dir(), "it is no ordinary file.")
        content = load(file)
        _require(type(content) is dict, f"it holds a {type(content).__name__}, not checkpoints.")
        _require(content.pop("kind", None) == KIND, "it holds no checkpoints of this version of Woodwind.")
        files = content.pop("files", None)
        found = Manifest(**content, files=tuple(files) if type(files) is list else ())
        plain = type(files) is list and type(found.job) is dict and type(found.made_folder) is bool and type(found.spent) is float
        _require(plain and math.isfinite(found.spent) and found.spent >= 0.0, "it is damaged.")
        _require(all(type(name) is str and FOLD_FILE.fullmatch(name) for name in found.files), "it lists files that Woodwind never writes.")
    except (ModelFileError, TypeError) as error:
        if not os.path.lexists(file):  # it was removed since it was looked for
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(file)) from None
        words = str(error) if str(file) in str(error) else f"{file}: {error}"
        raise ParameterError(
            f"The folder {str(file.parent)!r} cannot be used for checkpoints: {words} Nothing in it was touched. Move it away, or name "
            "another folder."
        ) from None
    return found


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(otherwise)


def _make(folder: Path) -> bool:
    """Make a folder; whether it was not there."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        if not folder.is_dir():
            raise ParameterError(f"checkpoint names {str(folder)!r}, which is not a folder. Name another folder.") from None
        return False
    return True


def _entries(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def _is_file(path: Path) -> bool:
    """Whether it is an ordinary file itself, not a link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def _is_odd(path: Path) -> bool:
    """Whether there is something that is no ordinary file."""
    try:
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def _name(recipe: Recipe, fold: int) -> str:
    """The file of a fold."""
    name = f"{recipe.name}.{'all' if fold < 0 else fold}.ww"
    assert FOLD_FILE.fullmatch(name), name
    return name


def digest_of(*parts: bytes) -> str:
    """A fingerprint of what a job was given."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()
