"""What an estimator predicts, as operations of a graph."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import NotExportableError
from woodwind.distributions.survival_functions import aft_quantile
from woodwind.losses.base import Loss
from woodwind.losses.links import BELOW_ONE, SMALLEST, Identity, Link, Log, Logit, Softmax
from woodwind.losses.own import OwnLoss
from woodwind.losses.regression import Quantiles
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.losses.survival import AcceleratedFailureTime
from woodwind.store.export.graph import Column, InputColumns, Operation, Output, clipped, concat, each, over_row, row_wise, take


@dataclass(frozen=True, eq=False)
class Answers:
    """What is predicted for the rows of a table."""

    numbers: Operation | None = None  # of a regressor (n, targets)
    probabilities: Operation | None = None  # of a classifier (n, K)
    label: Operation | None = None  # the number of the class that is predicted (n, 1)
    decision: Operation | None = None  # what decision_function gives: (n, 1) for two classes, else (n, K)
    raw: Operation | None = None  # what trees or members add up to, before any link
    classes: NDArray[Any] | None = None
    targets: "tuple[tuple[str, Answers], ...]" = ()  # of each target, where there are several with labels of their own

    def outputs(self, suffix: str = "") -> list[Output]:
        """Everything by name, as it is written to a file."""
        found = []
        if self.label is not None and self.classes is not None:
            found.append(Output(f"label{suffix}", self.label, self.classes))
        for name, operation in (("probabilities", self.probabilities), ("prediction", self.numbers), ("raw_score", self.raw)):
            if operation is not None:
                found.append(Output(f"{name}{suffix}", operation))
        return found + [output for name, one in self.targets for output in one.outputs(f"_{name}")]


# A function that describes a member: the member, the columns that it reads, the columns of the table.
Ask = Callable[[Any, Sequence[Column], InputColumns], Answers]


def one_hot(label: Operation, n_classes: int) -> Operation:
    """One in the column of the class, else zero."""
    numbers = np.arange(n_classes)
    return each("sub", each("greater_equal", label, numbers), each("greater", label, numbers))


def at_positions(values: Operation, positions: Sequence[int], width: int, otherwise: Operation | float = 0.0) -> Operation:
    """Columns at other positions among so many."""
    if list(positions) == list(range(width)):
        return values
    if not isinstance(otherwise, Operation):
        otherwise = each("mul", take(values, [0]), 0.0)
    together = concat([values, otherwise])
    where = {int(position): column for column, position in enumerate(positions)}
    return take(together, [where.get(position, values.width) for position in range(width)])


def to_mean(link: Link, score: Operation, owner: str) -> Operation:
    """The mean of a score, by the link of a loss."""
    if isinstance(link, Identity):
        return score
    if isinstance(link, Log):
        return each("exp", score)
    if isinstance(link, Logit):
        return each("expit", each("mul", link.factor, score))
    if isinstance(link, Softmax):
        return row_wise("softmax", score)
    raise NotExportableError(f"{owner}: the link {type(link).__name__} of its loss cannot be exported.")


def to_score(link: Link, mean: Operation, owner: str) -> Operation:
    """The inverse."""
    if isinstance(link, Identity):
        return mean
    if isinstance(link, Log):
        return each("log", mean)
    if isinstance(link, Logit):
        share = clipped(mean, SMALLEST, BELOW_ONE)
        return each("div", each("log", each("div", share, each("sub", 1.0, share))), link.factor)
    if isinstance(link, Softmax):
        logs = each("log", mean)
        return each("sub", logs, each("div", over_row("row_sum", logs), float(logs.width)))
    raise NotExportableError(f"{owner}: the link {type(link).__name__} of its loss cannot be exported.")


def two_classes(link: Link, score: Operation, owner: str) -> Operation:
    """Probabilities of both classes, each from its own score."""
    return concat([to_mean(link, each("neg", score), owner), to_mean(link, score, owner)])


def classified(loss: Loss, raw: Operation, classes: NDArray[Any], owner: str) -> Answers:
    """The answers of a booster of classes."""
    if isinstance(loss, OwnLoss):
        if hasattr(loss.given, "predict"):
            raise NotExportableError(f"{owner}: its loss has a method `predict` of its own, which no file can hold. Export without it.")
        second = each("expit", raw) if raw.width == 1 else None
        probabilities = row_wise("softmax", raw) if second is None else concat([each("sub", 1.0, second), second])
        return Answers(probabilities=probabilities, label=over_row("argmax", probabilities), decision=raw, raw=raw, classes=classes)
    if raw.width == 1:
        probabilities, label = two_classes(loss.link, raw, owner), each("greater", raw, 0.0)
    else:
        probabilities, label = to_mean(loss.link, raw, owner), over_row("argmax", raw)
    return Answers(probabilities=probabilities, label=label, decision=raw, raw=raw, classes=classes)


def regressed(loss: Loss, raw: Operation, owner: str) -> Operation:
    """What a booster of numbers predicts."""
    if isinstance(loss, SeveralTargetsLoss):
        parts = [regressed(one, take(raw, range(part.start, part.stop)), owner) for one, part in zip(loss.each, loss.slices, strict=True)]
        return concat(parts)
    if isinstance(loss, Quantiles):
        order = np.argsort(np.argsort(loss.levels))
        return take(row_wise("sort", raw), order)
    if isinstance(loss, AcceleratedFailureTime):
        assert loss.scale is not None
        return each("library_exp", each("add", raw, loss.scale * float(aft_quantile(loss.distribution, np.array(0.5)))))
    if isinstance(loss, OwnLoss) and hasattr(loss.given, "predict"):
        raise NotExportableError(f"{owner}: its loss has a method `predict` of its own, which no file can hold. Export without it.")
    return raw if isinstance(loss, OwnLoss) else to_mean(loss.link, raw, owner)
