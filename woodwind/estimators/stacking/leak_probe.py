"""A probe for leaks: a stack that finds something in a target that was shuffled has seen what it should not see."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import key, permutation, seed_of
from woodwind.estimators.base.model import named_owner
from woodwind.estimators.base.splits import Fold, read_groups
from woodwind.estimators.base.target import Target
from woodwind.estimators.stacking.stacking_base import BaseStacking
from woodwind.estimators.stacking.stacking_scores import RepeatedScores

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeakReport(RepeatedScores):
    """What every layer of a stack finds in shuffled targets, by rows that were held out; names are "layer 1" and so on, and "blender"."""

    measure: str = "AUC"  # of which nothing is 0.5, or "R2", of which nothing is 0 or less

    @property
    def nothing(self) -> float:
        """The score of somebody who knows nothing."""
        return 0.5 if self.measure == "AUC" else 0.0

    @property
    def leaks(self) -> NDArray[np.bool_]:
        """Which layers find more than nothing, by over three standard errors: one clean layer in 700 is accused."""
        return np.asarray(self.mean > self.nothing + 3.0 * self.standard_error)

    def __str__(self) -> str:
        rows = zip(self.names, self.mean, self.standard_error, self.leaks, strict=True)
        width = max(map(len, self.names))
        lines = [f"{name:<{width}}  {mean:7.4f} ± {error:.4f}{'  leaks' if leaks else ''}" for name, mean, error, leaks in rows]
        return "\n".join([f"{self.measure} of shuffled targets, {self.nothing:g} for nothing, {len(self.scores)} times", *lines])


def leak_probe(stack: Any, X: Any, y: Any, *, groups: Any = None, repeats: int = 10, random_state: Any = None) -> LeakReport:
    """Train copies of a stack on shuffled targets, and tell by layer what they find out of fold: there is nothing to find.

    What is found nevertheless has leaked: rows that are not independent of each other but not held out together, members that remember
    what they saw in another fold, or layers that learn from answers that knew the rows they are scored by. The target is shuffled between
    rows; with groups, each group gets the target of another one for all its rows, so that who has seen a part of it knows the rest.

    Parameters
    ----------
    stack : StackingClassifier or StackingRegressor
        As it is meant to be used; it is not changed.
    X : table
        As for its `fit`.
    y : sequence of values, one for each row
        As for its `fit`; shuffled here.
    groups : sequence of labels, one for each row, default=None
        Rows that belong together. They are not handed to the splitter of the stack unless it asks for groups, so that the probe can
        tell whether it keeps them together.
    repeats : int, default=10
        How often it is shuffled.
    random_state : int, generator or None, default=None
        Seed of the shuffling.

    Returns
    -------
    LeakReport
        The AUC within folds (the mean over classes, each against the others), or R², by layer and of the blender: mean, standard error, and
        whether that is a leak.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from woodwind import StackingClassifier, leak_probe
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> report = leak_probe(StackingClassifier(estimators=[GaussianNB(), LogisticRegression()]), X, X[:, 0] > 0, repeats=3, random_state=0)
    >>> report.names, report.leaks.tolist()
    (('layer 1', 'blender'), [False, False])
    """
    owner = "leak_probe"
    _check(stack, repeats, owner)
    target = stack._read_target(y)
    numbers = read_groups(groups, target.n_rows, owner)
    seed = seed_of(random_state)
    handed = numbers if numbers is not None and _wants_groups(stack.cv) else None
    found = []
    for repeat in range(repeats):
        shuffled = Target(shuffled_target(target.y, numbers, key(seed, "shuffle", repeat)), target.classes)
        copy = clone(stack).set_params(oof_score=True, random_state=key(seed, "stack", repeat) % (1 << 31))
        with named_owner(owner):
            copy.fit(X, shuffled.labels(), groups=handed)
        found.append(_found(copy, shuffled))
    names = (*(f"layer {number}" for number in range(1, len(found[0]))), "blender")
    return LeakReport(names, np.array(found), "R2" if target.classes is None else "AUC")


def _check(stack: Any, repeats: int, owner: str) -> None:
    if not isinstance(stack, BaseStacking):
        raise ParameterError(f"{owner}: stack must be a StackingClassifier or StackingRegressor of Woodwind, not {stack!r}.")
    if isinstance(stack.cv, str):
        raise ParameterError(
            f"{owner}: cv='prefit' takes members as they are: what they have seen was seen before. Give the members untrained, with folds."
        )
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 2:
        raise ParameterError(f"{owner}: repeats must be an integer of at least 2, for a standard error, but it is {repeats!r}.")


def _wants_groups(cv: Any) -> bool:
    return "Group" in type(cv).__name__


def shuffled_target(y: NDArray[Any], groups: NDArray[np.int64] | None, name: int) -> NDArray[Any]:
    """The target in another order; with groups, the first row of each group speaks for it, and groups change positions."""
    if groups is None:
        return y[permutation(name, len(y))]
    first = np.unique(groups, return_index=True)[1]
    return y[first[permutation(name, len(first))]][groups]


def _found(stack: Any, target: Target) -> list[float]:
    """What each layer and the blender found, out of fold."""
    folds = [*stack.folds_, stack.folds_[-1]]
    return [_score(predicted, target, of_layer) for predicted, of_layer in zip(stack._oof_probabilities, folds, strict=True)]


def _score(predicted: Floats, target: Target, folds: list[Fold]) -> float:
    """The mean AUC within folds: between folds, models differ in what they expect, and less of a class here means more of it there."""
    scored: NDArray[np.bool_] = np.asarray(~np.isnan(predicted).any(axis=1))
    if target.classes is None:
        y, answer = target.y[scored], predicted[scored, 0]
        return 1.0 - float(((y - answer) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    total, weight = 0.0, 0
    for _, held in folds:
        rows = held[scored[held]]
        for position in range(1 if target.n_classes == 2 else 0, target.n_classes):
            is_class = target.y[rows] == position
            if 0 < is_class.sum() < len(rows):
                total += len(rows) * float(roc_auc_score(is_class, predicted[rows, position]))
                weight += len(rows)
    return total / weight if weight else float("nan")
