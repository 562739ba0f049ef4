"""Decision: which of two classes is the positive one, and from which probability on it is predicted.

A threshold is a number, or found from rows out of fold: the one with the best F1, the best balanced accuracy, or the least cost. What is
found from rows looks better on them than on new ones. So labels that are scored are cross-fitted: the rows of each part are decided by a
threshold that was found from the others. Compare FixedThresholdClassifier and TunedThresholdClassifierCV of scikit-learn.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.formatting import figure
from woodwind.base.random_streams import key, permutation

Floats = NDArray[np.float64]

PARTS = 5
ALLOWED = "a number between 0 and 1, 'f1', 'balanced', or costs such as 'cost:fp=1,fn=5'"
COST = re.compile(r"cost:fp=([0-9.eE+-]+),fn=([0-9.eE+-]+)")


@dataclass(frozen=True)
class DecisionRule:
    """How a threshold is chosen."""

    kind: str  # "fixed", "f1", "balanced" or "cost"
    value: float = 0.5  # of a fixed one
    false_positive: float = 1.0  # costs
    false_negative: float = 1.0

    @classmethod
    def read(cls, given: Any, owner: str) -> "DecisionRule | None":
        """The rule that a user has written; None where the likelier class is predicted. Raises ParameterError."""
        if given is None:
            return None
        text = str(given).strip().lower().replace(" ", "")
        if text in ("f1", "balanced", "balanced_accuracy"):
            return cls("f1" if text == "f1" else "balanced")
        try:
            cost = COST.fullmatch(text)
            numbers = [float(part) for part in (cost.groups() if cost else (text,))]
        except ValueError:
            numbers = []
        if cost and len(numbers) == 2 and all(0.0 < one < np.inf for one in numbers):
            return cls("cost", 0.5, *numbers)
        if not cost and len(numbers) == 1 and 0.0 < numbers[0] < 1.0 and not isinstance(given, bool):
            return cls("fixed", numbers[0])
        raise ParameterError(f"{owner}: threshold must be {ALLOWED}, but it is {given!r}.")

    @property
    def words(self) -> str:
        """What it is chosen by, for the user."""
        if self.kind == "cost":
            costs = f"{figure(self.false_positive)} for a false positive, {figure(self.false_negative)} for a false negative"
            return f"the least cost ({costs}) of rows out of fold"
        return {"fixed": "the call", "f1": "the best F1 of rows out of fold", "balanced": "the best balanced accuracy of rows out of fold"}[
            self.kind
        ]

    def choose(self, is_positive: NDArray[np.bool_], probability: Floats, weight: Floats | None) -> float:
        """The threshold for rows with this probability of the positive class: half-way between the last row that is taken and the next."""
        if self.kind == "fixed":
            return self.value
        weight = np.ones(len(probability)) if weight is None else weight
        order = np.argsort(-probability, kind="stable")
        last = np.append(np.flatnonzero(np.diff(probability[order])), len(order) - 1)  # rows of equal probability are taken together
        # Taking none comes first.
        hits = np.append(0.0, np.cumsum(np.where(is_positive, weight, 0.0)[order])[last])
        alarms = np.append(0.0, np.cumsum(np.where(is_positive, 0.0, weight)[order])[last])
        if hits[-1] <= 0.0 or alarms[-1] <= 0.0:
            return 0.5  # rows of one class say nothing about it
        worth = {
            "f1": 2.0 * hits / (hits + alarms + hits[-1]),
            "balanced": hits / hits[-1] - alarms / alarms[-1],
            "cost": -(self.false_positive * alarms + self.false_negative * (hits[-1] - hits)),
        }[self.kind]
        best = int(np.argmax(worth))
        values = np.concatenate([[1.0], probability[order][last], [0.0]])
        # Strictly inside, so that nothing that a file or a call allows is left.
        return float(np.clip((values[best] + values[best + 1]) / 2.0, 1e-9, 1.0 - 1e-9))


def decided(proba: Floats, positive: int, threshold: float | None) -> NDArray[np.int64]:
    """Class numbers (n,): the likeliest class; of two the positive one where its probability is at least the threshold."""
    if threshold is None or proba.shape[1] != 2:
        return np.asarray(proba.argmax(axis=1))
    return np.where(proba[:, positive] >= threshold, positive, 1 - positive).astype(np.int64)


def cross_fitted(
    rule: DecisionRule | None, y: NDArray[Any], proba: Floats, weight: Floats | None, positive: int, seed: int
) -> NDArray[np.int64]:
    """Class numbers (n,) by thresholds that were found without the row."""
    if rule is None or rule.kind == "fixed" or proba.shape[1] != 2:
        return decided(proba, positive, None if rule is None else rule.value)
    part = permutation(key(seed, "threshold"), len(y)) % PARTS
    out = np.empty(len(y), np.int64)
    for number in range(min(PARTS, len(y))):
        here, others = part == number, part != number
        found = rule.choose(y[others] == positive, proba[others, positive], None if weight is None else weight[others])
        out[here] = decided(proba[here], positive, found)
    return out


def rarer_class(y: NDArray[Any]) -> int:
    """The one of two classes with fewer rows; the second where both have as many."""
    first, second = np.bincount(np.asarray(y, np.int64), minlength=2)[:2].tolist()
    return 0 if first < second else 1
