"""How members, layers and stacks are scored: by a scorer of scikit-learn, from predictions that they have made already."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone

from woodwind.base.errors import ParameterError
from woodwind.base.formatting import printable
from woodwind.base.random_streams import key, seed_of
from woodwind.ensemble.layers import as_probabilities, members_mean
from woodwind.estimators.base.model import check_lengths
from woodwind.estimators.base.scoring import by_metric, no_scorer
from woodwind.estimators.base.splits import SplitRequest, read_folds, read_groups
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.pools.pool import open_table_of

Floats = NDArray[np.float64]
# From what was predicted, (n, K) probabilities or (n, 1) numbers, the truth and the weights of rows to a score: more is better.
Score = Callable[[Floats, Target, Floats | None], float]


def read_score(scoring: Any, target: Target, soft: bool, owner: str) -> Score:
    """What `scoring` means. `soft` says whether there are probabilities wherever something is scored."""
    if scoring is None:
        return (minus_log_loss if soft else accuracy) if target.classes is not None else minus_rmse
    stand_in = FixedRegressor() if target.classes is None else FixedClassifier(target.classes)
    known = by_metric(scoring, target.classes is not None, owner)
    try:
        scorer = sklearn.metrics.check_scoring(stand_in, scoring=known)
    except (ValueError, TypeError) as error:
        raise no_scorer(error, scoring, owner, "a scorer, or None") from error

    def score(predicted: Floats, truth: Target, weight: Floats | None) -> float:
        scored = (FixedRegressor() if truth.classes is None else FixedClassifier(truth.classes)).response(predicted)
        more = {} if weight is None else {"sample_weight": weight}
        found = scorer(scored, np.zeros((len(predicted), 1)), truth.labels(), **more)
        if not isinstance(found, int | float | np.number) or isinstance(found, bool | np.bool_):
            raise ParameterError(f"{owner}: scoring must return a number, but it returned {found!r}.")
        return float(found)

    return score


def minus_log_loss(predicted: Floats, truth: Target, weight: Floats | None) -> float:
    """Minus the mean of -log p of the true class, p at least the smallest step from zero, as in scikit-learn."""
    own = predicted[np.arange(len(predicted)), truth.y]
    return float(np.average(np.log(np.maximum(own, np.finfo(np.float64).eps)), weights=weight))


def accuracy(predicted: Floats, truth: Target, weight: Floats | None) -> float:
    """The share of rows whose largest probability is that of the true class."""
    return float(np.average(predicted.argmax(axis=1) == truth.y, weights=weight))


def minus_rmse(predicted: Floats, truth: Target, weight: Floats | None) -> float:
    """Minus the root of the mean squared error."""
    return -float(np.sqrt(np.average((predicted[:, 0] - truth.y) ** 2, weights=weight)))


class FixedPredictions(BaseEstimator):
    """Answers a scorer with what was predicted, whatever table it is asked about."""

    predicted: Floats

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: there is a method of this name because scikit-learn asks for one."""
        return self

    def response(self, predicted: Floats) -> Self:
        """The same with these answers."""
        self.predicted = predicted
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class FixedRegressor(RegressorMixin, FixedPredictions):
    """For numbers."""

    def predict(self, X: Any) -> Floats:
        """What was predicted."""
        return self.predicted[:, 0]


class FixedClassifier(ClassifierMixin, FixedPredictions):
    """For classes."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return np.asarray(self.classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels of the largest probabilities."""
        return np.asarray(self.classes_[self.predicted.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """What was predicted."""
        return self.predicted


# ----------------------------------------------------------------------------------------------------
# Scores of several things, each taken several times.


@dataclass(frozen=True, eq=False)
class RepeatedScores:
    """A score of each name in every repeat or fold."""

    names: tuple[str, ...]
    scores: Floats  # (repeats, names)

    @property
    def mean(self) -> Floats:
        """The mean over repeats, in the order of `names`."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """The standard error of the mean: the standard deviation of the repeats over the square root of their number."""
        return np.asarray(self.scores.std(axis=0, ddof=1) / np.sqrt(len(self.scores)))


# ----------------------------------------------------------------------------------------------------
# How good a stack is, measured on rows that no part of it has seen: outer folds around all that it does.


OUTER_FOLDS = 5


@dataclass(frozen=True, eq=False)
class ErrorEstimate(RepeatedScores):
    """Scores of every member, of every layer and of the whole stack in outer folds. More is better, as scorers have it.

    Names are "layer 1: tree" for a member, "layer 1" for the mean of a layer, and "stack".
    """

    def __getitem__(self, name: str) -> tuple[float, float]:
        position = self.names.index(name)
        return float(self.mean[position]), float(self.standard_error[position])

    def __str__(self) -> str:
        width = max(map(len, self.names))
        rows = zip(self.names, self.mean, self.standard_error, strict=True)
        return "\n".join(printable(f"{name:<{width}}  {mean:10.4f} ± {error:.4f}") for name, mean, error in rows)


def estimate_error(stack: Any, X: Any, y: Any, *, cv: Any, sample_weight: Any, groups: Any, scoring: Any) -> ErrorEstimate:
    """Train copies of a stack without each outer fold, and let all of its parts be scored by that fold."""
    owner = type(stack).__name__
    _check_inner(stack, owner)
    target = stack._read_target(y)
    weight = read_weight(sample_weight, target.n_rows, owner)
    numbers = read_groups(groups, target.n_rows, owner)
    table = open_table_of(X, None, owner)
    check_lengths(owner, table.n_rows, target.n_rows)
    folds = read_folds(_outer(stack, cv), table.X, SplitRequest(owner, target, numbers, key(seed_of(stack.random_state), "outer")))
    if len(folds) < 2:
        raise ParameterError(f"{owner}: a standard error takes at least two outer folds, and cv gives {len(folds)}.")
    labels = target.labels()
    found = []
    for train_rows, held in folds:
        part = clone(stack)
        more = {"sample_weight": None if weight is None else weight[train_rows], "groups": None if numbers is None else numbers[train_rows]}
        part.fit(table.take(None, train_rows), labels[train_rows], **more)
        scored = held if weight is None else held[weight[held] > 0.0]
        truth = Target(target.y[scored], target.classes)
        found.append(_scores(part, table.take(None, scored), truth, None if weight is None else weight[scored], scoring))
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
    soft = all(response == "probabilities" for layer in part._chains[0] for response in layer.responses)
    score = read_score(part.scoring if scoring is None else scoring, truth, soft, type(part).__name__)

    def scored(predicted: Floats) -> float:
        return score(_spread(predicted, classes, truth), truth, weight)

    out: dict[str, float] = {}
    steps = list(part._tables(X))
    for number, (blocks, _) in enumerate(steps, 1):
        n_classes = 0 if classes is None else len(classes)
        out |= {f"layer {number}: {block.name}": scored(as_probabilities(block, n_classes)) for block in blocks}
        out[f"layer {number}"] = scored(members_mean(blocks, n_classes))
    return out | {"stack": scored(part._final_probabilities(part.final_estimator_, steps[-1][1].X))}


def _spread(predicted: Floats, classes: NDArray[Any] | None, truth: Target) -> Floats:
    """Probabilities for all classes, where a part of the table has not all of them."""
    if classes is None or truth.classes is None or len(classes) == truth.n_classes:
        return predicted
    out = np.zeros((len(predicted), truth.n_classes))
    out[:, np.isin(truth.classes, classes)] = predicted
    return out
