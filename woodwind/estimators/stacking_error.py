"""How good a stack is, said by rows that no part of it has seen: outer folds around all that it does."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from woodwind.base.errors import ParameterError
from woodwind.base.figures import printable
from woodwind.base.streams import key, seed_of
from woodwind.ensemble.layers import as_shares, members_mean
from woodwind.estimators.pool import open_table_of
from woodwind.estimators.repeated_scores import RepeatedScores
from woodwind.estimators.skin import check_lengths
from woodwind.estimators.splits import Asking, read_folds
from woodwind.estimators.stacking_scores import read_score
from woodwind.estimators.target import Target
from woodwind.estimators.validation import read_groups
from woodwind.estimators.weights import read_weight

Floats = NDArray[np.float64]
OUTER_FOLDS = 5


@dataclass(frozen=True, eq=False)
class ErrorEstimate(RepeatedScores):
    """Scores of every member, of every layer and of the whole stack in outer folds. More is better, as scorers have it.

    Names are "layer 1: tree" for a member, "layer 1" for the mean of a layer, and "stack".
    """

    def __getitem__(self, name: str) -> tuple[float, float]:
        place = self.names.index(name)
        return float(self.mean[place]), float(self.standard_error[place])

    def __str__(self) -> str:
        width = max(map(len, self.names))
        rows = zip(self.names, self.mean, self.standard_error, strict=True)
        return "\n".join(printable(f"{name:<{width}}  {mean:10.4f} ± {error:.4f}") for name, mean, error in rows)


def estimate_error(stack: Any, X: Any, y: Any, *, cv: Any, sample_weight: Any, groups: Any, scoring: Any) -> ErrorEstimate:
    """Train copies of a stack without each outer fold, and let all of its parts be judged by that fold."""
    owner = type(stack).__name__
    _check_inner(stack, owner)
    target = stack._read_target(y)
    weight = read_weight(sample_weight, target.n_rows, owner)
    numbers = read_groups(groups, target.n_rows, owner)
    table = open_table_of(X, None, owner)
    check_lengths(owner, table.n_rows, target.n_rows)
    folds = read_folds(_outer(stack, cv), table.X, Asking(owner, target, numbers, key(seed_of(stack.random_state), "outer")))
    if len(folds) < 2:
        raise ParameterError(f"{owner}: a standard error takes at least two outer folds, and cv gives {len(folds)}.")
    labels = target.labels()
    found = []
    for learnt, held in folds:
        part = clone(stack)
        more = {"sample_weight": None if weight is None else weight[learnt], "groups": None if numbers is None else numbers[learnt]}
        part.fit(table.take(None, learnt), labels[learnt], **more)
        judged = held if weight is None else held[weight[held] > 0.0]
        truth = Target(target.y[judged], target.classes)
        found.append(_scores(part, table.take(None, judged), truth, None if weight is None else weight[judged], scoring))
    return ErrorEstimate(tuple(found[0]), np.array([list(scores.values()) for scores in found]))


def _check_inner(stack: Any, owner: str) -> None:
    if isinstance(stack.cv, Iterable) and not isinstance(stack.cv, str) and not hasattr(stack.cv, "split"):
        raise ParameterError(
            f"{owner}: cv is a list of splits of one table, which outer folds cannot use: they train on parts of it. Give cv as a number "
            "or a splitter."
        )


def _outer(stack: Any, cv: Any) -> Any:
    """Outer folds: those that are asked for; else made as the stack makes its own."""
    if cv is not None:
        return cv
    return OUTER_FOLDS if stack.blending != "folds" or isinstance(stack.cv, str) else stack.cv


def _scores(part: Any, X: Any, truth: Target, weight: Floats | None, scoring: Any) -> dict[str, float]:
    """Scores of all parts of a trained stack on rows that are new to it."""
    classes = part._labels
    soft = all(saying == "probabilities" for layer in part._chains[0] for saying in layer.sayings)
    score = read_score(part.scoring if scoring is None else scoring, truth, soft, type(part).__name__)

    def judged(said: Floats) -> float:
        return score(_spread(said, classes, truth), truth, weight)

    out: dict[str, float] = {}
    steps = list(part._tables(X))
    for number, (blocks, _) in enumerate(steps, 1):
        n_classes = 0 if classes is None else len(classes)
        out |= {f"layer {number}: {block.name}": judged(as_shares(block, n_classes)) for block in blocks}
        out[f"layer {number}"] = judged(members_mean(blocks, n_classes))
    return out | {"stack": judged(part._final_shares(part.final_estimator_, steps[-1][1].X))}


def _spread(said: Floats, classes: NDArray[Any] | None, truth: Target) -> Floats:
    """Probabilities for all classes, where a part of the table has not all of them."""
    if classes is None or truth.classes is None or len(classes) == truth.n_classes:
        return said
    out = np.zeros((len(said), truth.n_classes))
    out[:, np.isin(truth.classes, classes)] = said
    return out
