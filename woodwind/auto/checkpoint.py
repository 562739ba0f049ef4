"""Checkpoints: a folder with a file for every fold that was trained, so that a job that was killed goes on where it was."""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from woodwind.auto.recipe import Fit, Recipe
from woodwind.base.errors import ModelFileError, ParameterError
from woodwind.store import load, save

MANIFEST = "job.ww"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A folder of fits."""

    folder: Path
    job: dict[str, Any] = field(default_factory=dict)  # what decides the result

    @classmethod
    def begin(cls, folder: Path, job: dict[str, Any], resume: bool) -> "tuple[Checkpoint, float]":
        """Open a folder for a job; with `resume` go on from what is there. Also the seconds that were spent before.

        `job` is what decides the result, in plain values: a folder of another job is refused, and the first thing that differs is named.
        """
        manifest = folder / MANIFEST
        if resume and manifest.exists():
            before = load(manifest)
            for name, value in job.items():
                if before["job"].get(name) != value:
                    raise ParameterError(
                        f"The job in {str(folder)!r} cannot be resumed: {name} was {before['job'].get(name)!r} there and is {value!r} now. "
                        "Give what was given then, or start anew without resume."
                    )
            return cls(folder, job), float(before["spent"])
        if folder.exists():
            if not resume and any(folder.iterdir()) and not manifest.exists():
                raise ParameterError(f"The folder {str(folder)!r} is not empty and holds no checkpoints. Name another one for checkpoints.")
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        save(manifest, {"job": job, "spent": 0.0})
        return cls(folder, job), 0.0

    def spend(self, seconds: float) -> None:
        """Write down how long the job has worked: whoever goes on has the rest of the time."""
        save(self.folder / MANIFEST, {"job": self.job, "spent": seconds})

    def keep(self, recipe: Recipe, fit: Fit) -> None:
        """Keep a fit."""
        save(self._file(recipe, fit.fold), {
            "fold": fit.fold, "said": fit.said, "model": fit.model, "seconds": fit.seconds, "curve": fit.curve, "note": fit.note,
        })  # fmt: skip

    def holds(self, recipe: Recipe) -> bool:
        """Whether there is something of a recipe: to read it takes no time."""
        return next(self.folder.glob(f"{recipe.name}.*.ww"), None) is not None

    def fits(self, recipe: Recipe, folds: Sequence[int]) -> tuple[list[Fit], list[str]]:
        """What is there of a recipe, and what could not be read: that is trained again."""
        found, faults = [], []
        for fold in folds:
            file = self._file(recipe, fold)
            if not file.exists():
                continue
            try:
                found.append(Fit(**load(file)))
            except (ModelFileError, TypeError) as error:
                faults.append(f"the checkpoint {file.name} is damaged and is made again: {error}")
        return found, faults

    def remove(self) -> None:
        """The job is done: nothing need be kept."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, recipe: Recipe, fold: int) -> Path:
        which = "all" if fold < 0 else str(fold)
        return self.folder / f"{recipe.name}.{which}.ww"


def digest_of(*parts: bytes) -> str:
    """A fingerprint of what a job was given."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()
