"""A model tried on rows whose target is known: metrics with their standard errors, and whether it keeps what it promised."""

from dataclasses import dataclass
from math import hypot, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.link import probabilities
from woodwind.auto.model import AutoModel
from woodwind.estimators.auto_entries import kept_entries
from woodwind.metrics.metric import Metric
from woodwind.metrics.named import METRICS, names_for

Floats = NDArray[np.float64]

# So many standard errors apart are no accident.
APART = 3.0


@dataclass(frozen=True)
class Measured:
    """A metric of the rows."""

    metric: str
    value: float  # NaN where the rows say nothing about it
    standard_error: float
    why: str = ""  # why it is NaN


@dataclass(frozen=True)
class Trial:
    """What came of it."""

    rows: int
    measured: tuple[Measured, ...]  # the metric of the model first, then the others of its task
    claimed: float  # the score of the model out of fold, NaN where it is not known
    claimed_error: float

    @property
    def worse(self) -> float:
        """How many standard errors worse the rows are than what the model claimed; below zero where they are better."""
        here = self.measured[0]
        spread = hypot(here.standard_error, self.claimed_error)
        sign = -1.0 if METRICS[here.metric].larger_is_better else 1.0
        return sign * (here.value - self.claimed) / spread if spread > 0.0 else nan

    @property
    def verdict(self) -> str:
        """Whether the model keeps what it promised; nothing where that cannot be told."""
        if not np.isfinite(self.worse):
            return ""
        by = f"by {abs(self.worse):.1f} standard errors"
        if self.worse > APART:
            return f"Worse than the model claimed, {by}: these rows are of another kind than those it has learnt, or those told too much."
        if self.worse < -APART:
            return f"Better than the model claimed, {by}: these rows are easier, or it has learnt them; then they are no test."
        return "The model keeps what it claimed: the difference may be chance."


def tried(model: AutoModel, X: Any, y: NDArray[Any], weight: Floats | None = None, threads: int = 1) -> Trial:
    """Ask a model about rows, and judge it by what is known of them."""
    scores = model.scores(X, threads)
    said = scores[:, 0] if model.task == "regression" else probabilities(scores)
    names = (model.metric, *(name for name in names_for(model.task) if name != model.metric))
    entries = kept_entries(model)
    claimed = (entries[0].score, entries[0].standard_error) if entries else (nan, nan)
    n_rows = len(y)
    if weight is not None:
        y, said, weight = y[weight > 0.0], said[weight > 0.0], weight[weight > 0.0]
    return Trial(n_rows, tuple(_measured(METRICS[name], y, said, weight) for name in names), *claimed)


def _measured(metric: Metric, y: NDArray[Any], said: NDArray[Any], weight: Floats | None) -> Measured:
    """A metric, or why these rows say nothing about it."""
    if why := metric.undefined(y, said.shape[1] if said.ndim == 2 else None):
        return Measured(metric.name, nan, nan, why)
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the largest double squares are infinite
        value, spread = metric.value(y, said, weight), metric.standard_error(y, said, weight)
    return Measured(metric.name, value, spread) if np.isfinite(value) else Measured(metric.name, nan, nan, "the numbers are too large")
