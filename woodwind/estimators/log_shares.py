"""Logarithms of probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class LogShares:
    """A classifier that has probabilities has their logarithms."""

    predict_proba: Any

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities; minus infinity for a class that has none."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))
