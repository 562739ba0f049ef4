"""Several targets of one table: a model for each of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.model import AutoModel
from woodwind.base.errors import DataError
from woodwind.base.validate import require
from woodwind.data.tables.table_errors import listed


@dataclass(frozen=True, eq=False)
class SeveralTargetsModel:
    """What the main job makes of several targets: models that read the same columns and predict one target each."""

    models: tuple[AutoModel, ...]

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the targets, in the order in which they were given."""
        return tuple(model.target for model in self.models)

    def of(self, target: str) -> AutoModel:
        """The model of one target. Raises DataError where there is none."""
        if target not in self.targets:
            raise DataError(f"The model has no target {target!r}. Its targets are {listed(self.targets)}.")
        return self.models[self.targets.index(target)]

    def predict(self, X: Any, threads: int = 1) -> NDArray[Any]:
        """Labels or numbers, (n, targets): objects where some are labels and some are numbers."""
        return in_columns([model.predict(X, threads) for model in self.models])

    def check(self) -> "SeveralTargetsModel":
        """Raise DataError where parts do not fit together."""
        require(len(self.models) > 1, "there are not several targets")
        require(all(self.targets) and len(set(self.targets)) == len(self.targets), "targets have no names, or the same")
        require(all(model.task != "ranking" for model in self.models), "one of several targets is a ranking")
        require(len({model.schema.names for model in self.models}) == 1, "models of several targets read other columns")
        return self


def in_columns(predicted: list[NDArray[Any]]) -> NDArray[Any]:
    """What is predicted for each target (n,) side by side: objects where they are not all numbers, or all of one type."""
    numbers = all(one.dtype.kind in "iuf" for one in predicted)
    same = len({one.dtype.kind for one in predicted}) == 1
    if numbers or same:
        return np.column_stack(predicted)
    out = np.empty((len(predicted[0]), len(predicted)), object)
    for k, one in enumerate(predicted):
        out[:, k] = one
    return out
