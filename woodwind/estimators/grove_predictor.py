"""A callable that predicts for one row or a block of rows of a forest, with as little ceremony as can be."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.sound import sound
from woodwind.tree.grove import Grove

Floats = NDArray[np.float64]


class GrovePredictor:
    """Predictions from numbers alone: nothing is looked up by name, converted or checked but the number of features."""

    def __init__(self, grove: Grove) -> None:
        # Shares of classes are finite; of numbers it is enough if the largest could be added up so often.
        largest = 1.0 if grove.n_classes else float(np.abs(grove.mixed).max(initial=0.0))
        sound(np.isfinite(largest * max(grove.n_trees, 1)), "what trees add up to is not finite")
        self._grove = grove
        self._add = grove.predictor()
        self._zero = np.zeros((1, grove.n_outputs))
        self._share = 1.0 / max(grove.n_trees, 1)

    def __reduce__(self) -> tuple[Any, ...]:
        return GrovePredictor, (self._grove,)

    def __call__(self, rows: Any) -> Floats:
        """Predict."""
        x = np.ascontiguousarray(rows, np.float64)
        n_features = len(self._grove.n_levels)
        if x.shape[-1] != n_features:
            raise ParameterError(f"a row has {n_features} features, not {x.shape[-1]}")
        if x.ndim == 2:
            mean = self._grove.mean(x)
            return mean if self._grove.n_classes else mean[:, 0]
        out = self._zero.copy()
        x.flags.writeable = False
        self._add(x, out)
        out /= max(self._grove.n_trees, 1)
        answer: Floats = out[0] if self._grove.n_classes else out[0, 0]
        return answer
