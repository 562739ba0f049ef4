"""Boosting of several targets: which options it takes, and its loss. docs/algorithms/several-targets.md."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError, TargetError
from woodwind.estimators.base.several_targets import SeveralTargets, divided
from woodwind.estimators.base.target import Target
from woodwind.estimators.boosting.init_scores import is_model
from woodwind.estimators.boosting.loss_choice import classification_loss_for, regression_loss_for
from woodwind.estimators.boosting.plan import Values, is_constrained
from woodwind.losses.several_targets import SeveralTargetsLoss

Floats = NDArray[np.float64]
AnyTarget = Target | SeveralTargets


def check_several_options(values: Values, target: AnyTarget, owner: str) -> None:
    """Refuse what boosting of several targets cannot do, before any work is done."""
    if not isinstance(target, SeveralTargets):
        return
    held = {"monotonic_cst": is_constrained(values["monotonic_cst"]), "max_delta_step": values["max_delta_step"] is not None}
    held |= {"linear_leaves": values["linear_leaves"], "boosting": values["boosting"] == "ordered"}
    for name in (name for name, given in held.items() if given):
        raise ParameterError(f"{owner}: {name}={values[name]!r} is for one target. Leave it out, or fit one model for each column of y.")
    if values.get("quantile") is not None and not isinstance(values["quantile"], int | float):
        raise ParameterError(f"{owner}: several quantiles are for one target. Give one level, or fit one model for each column of y.")
    if is_model(values["init"]):
        raise ParameterError(f"{owner}: a model as init is for one target. Give an array of scores, one column for each score, or None.")


def takes_several(model: Any) -> bool:
    """Whether an estimator takes several targets, with the parameters that it has."""
    return not (
        is_constrained(model.monotonic_cst)
        or model.max_delta_step is not None
        or model.linear_leaves
        or model.boosting == "ordered"
        or is_model(model.init)
    )


def check_known(known: Any, several: bool, owner: str) -> None:
    """A training that goes on, and rows to score it by, have one target, or several, as before."""
    if known is not None and several != isinstance(known, list | tuple):
        raise TargetError(f"{owner}: y has {'several targets' if several else 'one target'}, unlike that of the training data.")


def several_regression_loss(given: Any, target: SeveralTargets, owner: str) -> SeveralTargetsLoss:
    """The loss of each target, side by side."""
    named = zip(target.names, target.columns(), strict=True)
    return SeveralTargetsLoss(tuple(regression_loss_for(given, column, f"{owner}: target {name!r}") for name, column in named))


def several_class_loss(given: Any, target: SeveralTargets) -> SeveralTargetsLoss:
    """The same for labels; a target of one class has the loss of two, and none of the second."""
    return SeveralTargetsLoss(tuple(classification_loss_for(given, max(count, 2)) for count in target.class_counts))


def several_probabilities(loss: SeveralTargetsLoss, raw: Floats, classes: list[NDArray[Any]], threads: int) -> list[Floats]:
    """Probabilities of the classes of each target."""
    parts = divided(loss.predict(raw, threads), [np.arange(max(len(labels), 2)) for labels in classes])
    return [part if len(labels) > 1 else np.ones((len(part), 1)) for part, labels in zip(parts, classes, strict=True)]


def check_as_many(target: AnyTarget, n_outputs: int, owner: str) -> None:
    """A training that goes on has as many targets as before."""
    count = len(target.names) if isinstance(target, SeveralTargets) else 1
    if count != n_outputs:
        raise TargetError(f"{owner}: y has {count} targets, but warm_start=True goes on with {n_outputs}. Set warm_start=False.")


def check_same_width(target: AnyTarget, other: AnyTarget, owner: str) -> None:
    """Other rows have as many targets."""
    if np.shape(other.y)[1:] != np.shape(target.y)[1:]:
        raise TargetError(f"{owner}: y has the shape {np.shape(other.y)}, but that of the training data is {np.shape(target.y)}.")
