"""The file of finished rounds: a training on a table in blocks that was killed goes on from it."""

import hashlib
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ModelFileError, ParameterError, WoodwindWarning
from woodwind.base.notice import notice
from woodwind.data.blocks.block_table import BlockTable
from woodwind.ensemble.boosting.recorded_rounds import RoundRecord, Rounds
from woodwind.ensemble.boosting.training import TrainedBoosting
from woodwind.estimators.boosting.encoded_table import EncodedTable
from woodwind.estimators.boosting.plan import Values
from woodwind.estimators.boosting.warm_start import WarmStartState
from woodwind.store.model_file import load, save

# What changes nothing about the trees.
NO_MATTER = ("n_jobs", "verbose", "callbacks", "cluster", "checkpoint", "n_estimators", "scoring", "tol", "n_iter_no_change", "refit")


class RoundCheckpoint:
    """A file that finished rounds are written to, of one training: `job` names it by all that decides about its trees."""

    def __init__(self, path: Path, job: str, state: WarmStartState) -> None:
        self.path, self.job, self.state = path, job, state

    @classmethod
    def of(cls, values: Values, encoded: EncodedTable, seed: int, rows: tuple[Any, ...], owner: str) -> "RoundCheckpoint | None":
        """The checkpoint that the parameters ask for; `rows` is what else the trees depend on, in arrays."""
        given = values.get("checkpoint")
        if given is None:
            return None
        if not isinstance(given, str | os.PathLike):
            raise ParameterError(f"{owner}: checkpoint must be None or the path of a file, but it is {given!r}.")
        table: Any = getattr(encoded.codes, "table", None)
        check_goes_together(values, table, owner)
        digest = hashlib.sha256(f"{owner} {table.token} {seed}".encode())
        for name in sorted(values.keys() - set(NO_MATTER)):
            digest.update(f"{name}={values[name]!r}".encode())
        for part in (*rows, *(value for value in values.values() if isinstance(value, np.ndarray))):
            digest.update(b"none" if part is None else np.ascontiguousarray(part).tobytes())
        empty = TrainedBoosting((), np.zeros(1), (), np.zeros(1))
        return cls(Path(given), digest.hexdigest(), WarmStartState(encoded.schema, encoded.cuts, seed, empty))

    def record(self, start: NDArray[np.float64]) -> RoundRecord:
        """What is there, and where the rounds to come are written."""

        def keep(rounds: Rounds) -> None:
            trained = replace(self.state.trained, rounds=rounds, first=start, start=start)
            save(self.path, {"job": self.job, "rounds": replace(self.state, trained=trained)})

        return RoundRecord(self._known(), keep)

    def _known(self) -> Rounds:
        """The rounds that are there of this very training; none where the file is absent, damaged, or of another."""
        if not os.path.lexists(self.path):
            return ()
        try:
            content = load(self.path)
        except ModelFileError as error:
            raise ParameterError(f"checkpoint: {error} Name another file, or remove it.") from error
        if not isinstance(content, dict) or not isinstance(content.get("rounds"), WarmStartState):
            raise ParameterError(f"checkpoint names {str(self.path)!r}, which holds something else. Name another file.")
        if content.get("job") != self.job:
            notice(
                f"The checkpoint {str(self.path)!r} is of other data or other parameters: the training begins anew, and it is overwritten.",
                WoodwindWarning,
            )
            return ()
        found: Rounds = content["rounds"].trained.rounds
        return found

    def remove(self) -> None:
        """The training has ended: the model is what there is."""
        with suppress(FileNotFoundError):
            self.path.unlink()


def check_goes_together(values: Values, table: Any, owner: str) -> None:
    """Refuse what a checkpoint cannot be for."""
    if not isinstance(table, BlockTable):
        raise ParameterError(
            f"{owner}: checkpoint is for tables in blocks, whose training may take days. Write one with woodwind.BlockTable.write, or set "
            "checkpoint=None."
        )
    if values["boosting"] != "plain":
        raise ParameterError(
            f"{owner}: checkpoint is for boosting='plain': with boosting={values['boosting']!r} rounds depend on more than their trees. "
            "Set checkpoint=None."
        )
    if values["warm_start"]:
        raise ParameterError(f"{owner}: warm_start and checkpoint both go on from earlier rounds. Set one of them.")
    if not isinstance(values["random_state"], int):
        raise ParameterError(f"{owner}: checkpoint needs a seed that is the same when the training goes on. Set random_state=0.")
