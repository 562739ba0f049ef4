"""Several targets at once: y of shape (n, k), for regression and for several columns of labels. docs/algorithms/several-targets.md.

What comes out follows scikit-learn: `predict` gives (n, k), `predict_proba` a list with the probabilities of each target, and `classes_` is
a list with the labels of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError, TargetError
from woodwind.base.validate import require, require_labels
from woodwind.estimators.base.target import LARGEST, Target, class_type, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import Weighing, class_factors

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SeveralTargets:
    """k targets of n rows: numbers, or class numbers with the labels of each target in order."""

    y: NDArray[Any]  # (n, k)
    names: tuple[str, ...]  # of the targets: those of the columns of a frame, otherwise y0, y1 ...
    classes: tuple[NDArray[Any], ...] | None = None  # None for numbers

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """0: a single number of classes there is not."""
        return 0

    @property
    def class_counts(self) -> tuple[int, ...]:
        """Number of classes of each target; none for numbers."""
        return () if self.classes is None else tuple(map(len, self.classes))

    @property
    def n_sums(self) -> int:
        """Numbers that are predicted of a row: one for each target, or one for each class of each."""
        return sum(self.class_counts) or self.y.shape[1]

    @property
    def n_scores(self) -> int:
        """Raw scores of a row: one for numbers and for up to two classes, otherwise one for each class."""
        return sum(1 if count <= 2 else count for count in self.class_counts) or self.y.shape[1]

    def columns(self) -> list[Target]:
        """Each target by itself."""
        classes: Sequence[Any] = (None,) * self.y.shape[1] if self.classes is None else self.classes
        return [Target(self._column(k), labels) for k, labels in enumerate(classes)]

    def _column(self, k: int) -> NDArray[Any]:
        column = np.ascontiguousarray(self.y[:, k])
        return column if self.classes is None else column.astype(class_type(len(self.classes[k])))

    def labels(self) -> NDArray[Any]:
        """What the user gave, (n, k)."""
        return self.y if self.classes is None else side_by_side_labels([one.labels() for one in self.columns()])

    def at(self, rows: NDArray[Any] | None) -> "SeveralTargets":
        """The targets of some rows."""
        return self if rows is None else SeveralTargets(self.y[rows], self.names, self.classes)

    def indicators(self) -> Floats:
        """Numbers as they are; of labels, whether a row is of each class but the first of each target: (n, ...)."""
        if self.classes is None:
            return self.y
        columns = [self.y[:, k] == number for k, count in enumerate(self.class_counts) for number in range(1, count)]
        return np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((self.n_rows, 1))


def has_several_targets(y: Any) -> bool:
    """Whether y has more columns than one."""
    shape = getattr(y, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) == 2 and shape[1] > 1 and not hasattr(y, "tocsc")
    return isinstance(y, list | tuple) and len(y) > 0 and isinstance(y[0], list | tuple | np.ndarray) and np.size(y[0]) > 1


def named_columns(y: Any, owner: str) -> tuple[tuple[str, ...], list[Any]]:
    """The columns of y and their names."""
    if hasattr(y, "iloc"):
        return tuple(map(str, y.columns)), [y.iloc[:, k] for k in range(y.shape[1])]
    if hasattr(y, "column_names") and hasattr(y, "column"):
        return tuple(y.column_names), [y.column(k) for k in range(y.shape[1])]
    if hasattr(y, "columns") and hasattr(y, "get_column"):
        return tuple(y.columns), [y.get_column(name) for name in y.columns]
    if isinstance(y, np.ma.MaskedArray) and y.ndim == 2:  # what is masked is missing
        return tuple(f"y{k}" for k in range(y.shape[1])), [y[:, k] for k in range(y.shape[1])]
    try:
        array = np.asarray(y)
        if isinstance(y, list | tuple) and array.dtype.kind in "US":
            array = np.array(y, dtype=object)  # NumPy has turned the numbers among the strings into strings
    except ValueError as error:
        raise TargetError(f"{owner}: y has rows of different lengths: {error}. Give as many targets for every row.") from error
    if array.ndim != 2:
        raise TargetError(f"{owner}: y has the shape {array.shape}. Give (n_rows,), or (n_rows, n_targets) for several targets.")
    return tuple(f"y{k}" for k in range(array.shape[1])), list(array.T)


def read_several_numbers(y: Any, owner: str, largest: float = LARGEST) -> SeveralTargets:
    """Several targets of numbers, all finite."""
    names, columns = named_columns(y, owner)
    read = [read_regression_target(column, f"{owner}: target {name!r}", largest) for name, column in zip(names, columns, strict=True)]
    return SeveralTargets(np.stack([one.y for one in read], axis=1), names)


def read_several_labels(y: Any, owner: str, known: Sequence[NDArray[Any]] | None = None) -> SeveralTargets:
    """Several columns of labels; with `known` classes of each, no others are allowed."""
    names, columns = named_columns(y, owner)
    if known is not None and len(known) != len(names):
        raise TargetError(f"{owner}: y has {len(names)} targets, but the training data had {len(known)}.")
    classes: Sequence[Any] = (None,) * len(names) if known is None else known
    given = zip(names, columns, classes, strict=True)
    read = [read_labels(column, f"{owner}: target {name!r}", own) for name, column, own in given]
    return SeveralTargets(np.stack([one.y.astype(np.int64) for one in read], axis=1), names, tuple(np.asarray(one.classes) for one in read))


def weighed_numbers(target: SeveralTargets, weight: Floats | None, owner: str) -> tuple[SeveralTargets, Weighing]:
    """The targets and what weights mean; a target that is the same in every row is warned of."""
    weighing = Weighing.of(weight)
    for name, column in zip(target.names, weighing.at(target.y).T, strict=True):
        warn_constant(column, f"{owner}: target {name!r}")
    return target, weighing


def joint_factors(class_weight: Any, weight: Floats | None, columns: Sequence[Target], owner: str) -> Floats | None:
    """The product over the targets of the weight of the class of every row; None where all classes weigh one."""
    factor: Floats | None = None
    for column in columns:
        own = class_factors(class_weight, weight, column, owner)
        factor = own if factor is None or own is None else factor * own
    return factor


def weighed_labels(target: SeveralTargets, weight: Floats | None, class_weight: Any, owner: str) -> tuple[SeveralTargets, Weighing]:
    """Class weights of all targets count with those of rows; classes of which all rows weigh nothing are absent.

    A target of one class is allowed, as in scikit-learn, unless all are.
    """
    if class_weight is not None and class_weight != "balanced":
        raise ParameterError(
            f"{owner}: class_weight={class_weight!r} names classes of one target, but y has {len(target.names)}. "
            "Give 'balanced' or None, or weigh the rows by sample_weight."
        )
    weighing = Weighing.of(weight, joint_factors(class_weight, weight, target.columns(), owner))
    present = [np.unique(weighing.at(target.y)[:, k]) for k in range(target.y.shape[1])]
    if all(len(some) < 2 for some in present):
        raise TargetError(
            f"{owner}: y has one class only in each of its {len(present)} targets, and a classifier needs at least 2 classes."
        )
    assert target.classes is not None
    y = target.y.copy()
    for k, some in enumerate(present):
        if len(some) < target.class_counts[k]:
            number = np.zeros(target.class_counts[k], np.int64)
            number[some] = np.arange(len(some))
            y[:, k] = number[y[:, k]]
    classes = tuple(labels[some] for labels, some in zip(target.classes, present, strict=True))
    return SeveralTargets(y, target.names, classes), weighing


# What is predicted.


def divided(scores: Floats, classes: Sequence[NDArray[Any]]) -> list[Floats]:
    """The scores of all classes of all targets (n, s) as those of each target."""
    ends = np.cumsum([len(labels) for labels in classes])[:-1]
    return [np.ascontiguousarray(part) for part in np.split(scores, ends, axis=1)]


def likeliest_labels(scores: Floats, classes: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The label with the highest score of each target, (n, k); of equals the first."""
    parts = divided(scores, classes)
    return side_by_side_labels([labels[part.argmax(axis=1)] for labels, part in zip(classes, parts, strict=True)])


def side_by_side_labels(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Columns of labels as (n, k): of their type where all have the same kind, of objects otherwise."""
    if len({column.dtype.kind for column in columns}) == 1:
        return np.stack(columns, axis=1)
    out = np.empty((len(columns[0]), len(columns)), object)
    for k, column in enumerate(columns):
        out[:, k] = column
    return out


def sum_names(names: Sequence[str], classes: Sequence[NDArray[Any]] | None) -> tuple[str, ...]:
    """What each of the numbers that are predicted is for: a target, or a class of a target."""
    if classes is None:
        return tuple(names)
    return tuple(f"{name}={label}" for name, labels in zip(names, classes, strict=True) for label in labels)


def require_several(names: Any, classes: Any, width: int | None, owner: str) -> None:
    """Names of targets and their labels from a file fit the numbers that are predicted, if these are known; or DataError."""
    require(isinstance(names, list) and len(names) > 1 and all(type(name) is str for name in names), f"{owner} has no names of targets")
    if classes is not None:
        require(isinstance(classes, list) and len(classes) == len(names), f"{owner} has other classes than targets")
        for labels in classes:
            require_labels(labels, owner)
    require(width is None or width == len(sum_names(names, classes)), f"{owner} predicts other numbers than its targets have")


# What splits of trees are scored by: the mean over the targets.
SEVERAL_CRITERIA = ("squared_error", "gini", "entropy", "log_loss")


def several_criterion(criterion: str, owner: str) -> ParameterError:
    """The error for a criterion that is of one target only."""
    other = "'squared_error'" if criterion in ("absolute_error", "poisson") else "'gini' or 'entropy'"
    return ParameterError(f"{owner}: criterion={criterion!r} is for one target. Give {other}, or fit one model for each column of y.")


def one_target_only(what: str, owner: str, advice: str = "Fit one model for each column of y.") -> ParameterError:
    """The error for something that is of one target only."""
    return ParameterError(f"{owner}: {what} is for one target. {advice}")


def check_same_targets(model: Any, several: bool) -> None:
    """A training that goes on has one target, or several, as before."""
    if model._goes_on() and several != model._has_several:
        count = "several targets" if model._has_several else "one target"
        raise TargetError(f"{model._owner}: warm_start=True goes on with {count}, as before. Give y as before, or set warm_start=False.")


def has_one_target(model: Any) -> bool:
    """Whether a model is not one of several targets: a question for `available_if`."""
    return "target_names_" not in vars(model)


class SeveralTargetsMixin:
    """An estimator that takes several targets; `target_names_` is there if it was trained with several."""

    _optional_state: ClassVar[dict[str, Any]] = {"target_names_": list[str], "classes_": NDArray[Any] | list[NDArray[Any]]}

    target_names_: list[str]

    @property
    def _takes_several(self) -> bool:
        """Whether it takes several targets, with the parameters that it has."""
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = self._takes_several
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = self._takes_several
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 of a regressor, the mean over the targets; of a classifier the share of rows that are right.

        With several columns of labels a row is right if all of its labels are.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.
        y : sequence of values, one for each row, or (n_rows, n_targets)
            The truth.
        sample_weight : sequence of numbers, one for each row, default=None
            How much each row counts.

        Returns
        -------
        float
        """
        if self._has_several and "classes_" in vars(self):
            truth = side_by_side_labels([np.asarray(column) for column in named_columns(y, type(self).__name__)[1]])
            predicted = self.predict(X)  # type: ignore[attr-defined]
            if truth.shape != predicted.shape:
                raise TargetError(f"{type(self).__name__}: y has the shape {truth.shape}, but {predicted.shape} is predicted.")
            return float(np.average((predicted == truth).all(axis=1), weights=sample_weight))
        return float(super().score(X, y, sample_weight))  # type: ignore[misc]

    @property
    def n_outputs_(self) -> int:
        """Number of targets."""
        return len(getattr(self, "target_names_", ("y",)))

    @property
    def _has_several(self) -> bool:
        return "target_names_" in vars(self)

    def _score_names(self, width: int) -> tuple[str, ...]:
        if self._has_several:
            classes: Any = getattr(self, "classes_", None)
            found = sum_names(self.target_names_, classes)
            if len(found) == width:
                return found
            return sum_names(self.target_names_, [labels[-1:] if len(labels) <= 2 else labels for labels in classes])
        names: tuple[str, ...] = super()._score_names(width)  # type: ignore[misc]
        return names

    def _set_targets(self, target: Target | SeveralTargets) -> None:
        """Remember the names of several targets."""
        vars(self).pop("target_names_", None)
        if isinstance(target, SeveralTargets):
            self.target_names_ = list(target.names)
