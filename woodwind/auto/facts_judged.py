"""Judged rows: a sample of those that were held out, with what the ensemble and its members said of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.decision import decided
from woodwind.auto.link import log_losses, probabilities
from woodwind.auto.outcome import Outcome
from woodwind.base.streams import choose, key

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_ROWS = 100_000  # so many give every number of the report three digits
ABSOLUTE = ("mae", "mean_absolute_error", "median_absolute_error")  # metrics whose loss is the absolute error


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows that were held out. All predictions are by members that had not learnt the row."""

    task: str
    absolute: bool  # whether errors of numbers are judged by their size, not by its square
    rows: Integers  # their places in the table
    y: NDArray[Any]
    weight: Floats
    scores: Floats  # (n, width) of the ensemble
    members: Floats  # (n, M, width)
    names: tuple[str, ...]
    positive: int = 1  # of two classes
    threshold: float | None = None

    @classmethod
    def of(cls, outcome: Outcome, most: int = MOST_ROWS) -> "Judged":
        """A sample by key, with scores that are all there; rows without any are left out."""
        known = np.asarray(outcome.judged, np.bool_) & np.isfinite(outcome.blend_out_of_fold).all(axis=1)
        rows = np.flatnonzero(known)
        if len(rows) > most:
            rows = rows[choose(key(outcome.seed, "facts", "judged"), len(rows), most)]
        members = outcome.out_of_fold[rows]
        whole = np.asarray(np.isfinite(members).all(axis=(0, 2))) & (len(rows) > 0)
        weight = np.ones(len(rows)) if outcome.weight is None else np.asarray(outcome.weight, np.float64)[rows]
        return cls(
            outcome.model.task,
            outcome.model.metric in ABSOLUTE,
            rows,
            np.asarray(outcome.y)[rows],
            weight,
            outcome.blend_out_of_fold[rows],
            members[:, whole],
            tuple(name for name, there in zip(outcome.names, whole.tolist(), strict=True) if there),
            outcome.model.positive,
            outcome.model.threshold,
        )

    @cached_property
    def proba(self) -> Floats:
        """The chance that the ensemble gives to each class, (n, K)."""
        return probabilities(self.scores)

    @cached_property
    def said(self) -> NDArray[Any]:
        """What the ensemble says: class numbers, or numbers."""
        return self.scores[:, 0] if self.task == "regression" else decided(self.proba, self.positive, self.threshold)

    def losses(self, scores: Floats) -> Floats:
        """The loss of each row (n,) under other scores for these rows."""
        return row_losses(self.task, self.y, scores, absolute=self.absolute)

    def part(self, most: int, what: str, seed: int) -> Integers:
        """Places of at most so many of these rows, drawn by key."""
        n = len(self.rows)
        return choose(key(seed, "facts", what), n, min(most, n))


def row_losses(task: str, y: NDArray[Any], scores: Floats, *, absolute: bool = False) -> Floats:
    """Log loss of classes, squared or absolute error of numbers, for each row."""
    if task == "regression":
        away = scores[:, 0] - np.asarray(y, np.float64)
        return np.abs(away) if absolute else away * away
    return log_losses(scores, np.asarray(y, np.int64))


def mean_and_error(values: Floats, weight: Floats) -> tuple[float, float]:
    """A weighted mean and its standard error."""
    total = float(weight.sum())
    if total <= 0.0:
        return float("nan"), float("nan")
    mean = float(weight @ values) / total
    error = float(np.sqrt((weight**2) @ (values - mean) ** 2)) / total
    return mean, error


@dataclass(frozen=True)
class Unit:
    """What losses are told in: the log loss as it is; squared errors by their root, in units of the target."""

    name: str
    rooted: bool

    @classmethod
    def of(cls, judged: Judged) -> "Unit":
        """The unit of the losses of these rows."""
        if judged.task != "regression":
            return cls("log loss", False)
        return cls("mean absolute error" if judged.absolute else "root mean squared error", not judged.absolute)

    def value(self, loss: float) -> float:
        """A mean loss in this unit."""
        return float(np.sqrt(loss)) if self.rooted else loss

    def change(self, base: float, more: float, error: float) -> tuple[float, float]:
        """A change of the mean loss from `base`, and the standard error of the change, in this unit."""
        if not self.rooted:
            return more, error
        root = float(np.sqrt(max(base, 1e-300)))
        after = float(np.sqrt(max(base + more, 0.0)))
        return after - root, error / max(after + root, 1e-300)


def wilson(hits: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """An interval for a share: Wilson (1927), which stays between 0 and 1."""
    if n <= 0.0:
        return 0.0, 1.0
    share = hits / n
    middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * float(np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n)))
    return max(middle - half, 0.0), min(middle + half, 1.0)
