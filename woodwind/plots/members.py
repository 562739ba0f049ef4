"""What the members of an ensemble predict for some rows, with their names: the door of the pictures that compare members."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.diversity import hits_of
from woodwind.estimators.pools.pool import Pool, joint_classes, named_members

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MemberPredictions:
    """The truth (n,), and what members predict (n, m): labels, or numbers."""

    truth: NDArray[Any]
    predicted: NDArray[Any]
    names: tuple[str, ...]
    probabilities: Floats | None = None  # (n, m, K), where they were asked for

    @classmethod
    def of(cls, y_true: Any, y_pred: Any, names: Sequence[Any] | None, owner: str) -> "MemberPredictions":
        """Predictions that are there; a dict has names of its own."""
        if isinstance(y_pred, dict):
            names = list(y_pred) if names is None else names
            y_pred = np.column_stack([np.asarray(one) for one in y_pred.values()])
        truth, predicted = np.asarray(y_true), np.asarray(y_pred)
        if predicted.ndim != 2 or len(predicted) != len(truth) or predicted.shape[1] < 2:
            raise DataError(
                f"{owner}: predictions must have a row for each of the {len(truth):,} of y_true, and a column for each of at least two "
                f"members, but are of shape {predicted.shape}."
            )
        told = tuple(f"member {number}" for number in range(1, predicted.shape[1] + 1)) if names is None else tuple(map(str, names))
        if len(told) != predicted.shape[1]:
            raise DataError(f"{owner}: there are {predicted.shape[1]} members, but {len(told)} names.")
        return cls(truth, predicted, told)

    @classmethod
    def by(cls, estimators: Any, X: Any, y: Any, owner: str, soft: bool = False) -> "MemberPredictions":
        """Ask the members of a trained ensemble, or those of a list or dict of trained models; if `soft`, classifiers for probabilities."""
        classifies = holds_classifiers(estimators)
        named = named_members(estimators, owner, classifies)
        pool = Pool.of_fitted(named, None, joint_classes(named, np.unique(np.asarray(y))) if classifies else None, owner)
        predicted = np.asarray(pool.classes)[pool.votes(X, owner)] if classifies else pool.numbers(X, owner)
        found = cls.of(y if classifies else np.asarray(y, np.float64), predicted, pool.names, owner)
        return replace(found, probabilities=pool.probabilities(X, owner)) if soft and classifies else found

    @property
    def are_numbers(self) -> bool:
        """Whether members predict numbers with a fraction, not labels."""
        return self.truth.dtype.kind == "f"

    @property
    def hits(self) -> NDArray[np.bool_]:
        """Where members are right."""
        return hits_of(self.truth, self.predicted)


def holds_classifiers(estimators: Any) -> bool:
    """Whether the members predict classes."""
    if hasattr(estimators, "fit"):
        return hasattr(estimators, "classes_")
    first = next(iter(estimators.values() if isinstance(estimators, dict) else estimators), None)
    return hasattr(first[1] if isinstance(first, tuple | list) else first, "classes_")
