"""What is written down while the layers of a stack are trained."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.ensemble.layers import as_shares, members_mean
from woodwind.estimators.pool import Named, Saying
from woodwind.estimators.splits import Fold
from woodwind.estimators.stacking_layers import Layer, Trained
from woodwind.estimators.stacking_rows import Rows
from woodwind.estimators.stacking_scores import Score

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Plan(NamedTuple):
    """What is to be trained, and where results are written down."""

    layers: list[tuple[list[Named], tuple[Saying, ...]]]
    values: dict[str, Any]
    score: Score
    kept: "Kept"


class Kept:
    """What is written down while layers are trained, by the numbers that rows have in the table of `fit`."""

    def __init__(self, n_rows: int, wanted: bool) -> None:
        self.n_rows, self.wanted = n_rows, wanted
        self.folds: list[list[Fold]] = []
        self.member_scores: list[dict[str, float]] = []
        self.layer_scores: list[float] = []
        self.predictions: list[Floats] = []
        self.shares: list[Floats] = []  # what each layer says together, and last the blender

    def layer(self, trained: Trained, layer: Layer, columns: Floats, rows: Rows, score: Score) -> None:
        """A layer was trained on such rows."""
        judged, n_classes = rows.at(trained.judged), layer.n_classes
        self.folds.append([(rows.number[learnt], rows.number[held]) for learnt, held in trained.folds])
        scores = {block.name: score(as_shares(block, n_classes), judged.target, judged.weight) for block in trained.blocks}
        self.member_scores.append(scores)
        together = members_mean(trained.blocks, n_classes)
        self.layer_scores.append(score(together, judged.target, judged.weight))
        if self.wanted:
            self.shares.append(self._spread(together, judged.number))
            self.predictions.append(self._spread(columns, judged.number))

    def blender(self, said: Floats, rows: Rows, score: Score) -> None:
        """The blender was judged."""
        judged: NDArray[np.bool_] = np.asarray(~np.isnan(said).any(axis=1))
        seen = rows.at(judged)
        self.layer_scores.append(score(said[judged], seen.target, seen.weight))
        out = self._spread(said, rows.number)
        self.shares.append(out)
        self.predictions.append(out if rows.target.classes is not None else out[:, 0])

    def _spread(self, values: Floats, numbers: Integers) -> Floats:
        out = np.full((self.n_rows, values.shape[1]), np.nan)
        out[numbers] = values
        return out
