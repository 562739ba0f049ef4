"""A callable that predicts for one row or a block of rows, with as little ceremony as can be."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.losses.base import Loss
from woodwind.losses.classification import TwoClasses
from woodwind.tree.predictor import Predictor


class RowPredictor:
    """Predictions from numbers alone: nothing is looked up by name, converted or checked but the number of features.

    Give it one row, a sequence of as many numbers as `feature_names` has names, in that order, or a two-dimensional array
    of such rows. NaN is missing; a category is the number of its level in `levels`, -2 for one that training never saw.
    It answers with what `predict` gives for regression and `predict_proba` for classification, bit for bit; for one row
    without the axis of rows.
    """

    def __init__(self, raw: Predictor, loss: Loss, feature_names: tuple[str, ...], levels: tuple[tuple[Any, ...] | None, ...]) -> None:
        self.raw = raw
        self.feature_names = feature_names
        self.levels = levels
        self._loss = loss
        self._two = isinstance(loss, TwoClasses)

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """Predict."""
        if isinstance(rows, np.ndarray) and rows.ndim == 2 and len(rows) == 1:
            return np.asarray(self(rows[0]))[None]  # half the time of a block
        raw = self.raw(rows)
        if raw.ndim == 2:
            return self._loss.predict(raw)
        if self._two:
            # Both probabilities from one call, each from its own score as in `TwoClasses.predict`.
            return self._loss.link.to_mean(np.array([-raw[0], raw[0]]))
        answer: NDArray[np.float64] = self._loss.predict(raw.reshape(1, -1))[0]
        return answer
