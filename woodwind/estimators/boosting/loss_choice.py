"""From what users give as a loss to the loss itself, and from scores back to what they see."""

from collections.abc import Iterable
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.did_you_mean import spelling
from woodwind.base.errors import ParameterError
from woodwind.estimators.base.target import Target, warn_constant
from woodwind.losses.base import Loss
from woodwind.losses.classification import Multinomial, TwoClasses
from woodwind.losses.links import Logit, Softmax
from woodwind.losses.named import (
    CLASSIFICATION,
    REGRESSION,
    TWO_CLASSES_ONLY,
    classification_loss,
    regression_loss,
    takes_several_classes,
)
from woodwind.losses.own import OwnLoss, adopt
from woodwind.losses.regression import Quantile, Quantiles
from woodwind.params.knobs import spelled

Floats = NDArray[np.float64]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


# What may be given as a loss, declared once for all estimators that minimise one.
OWN = (
    "An object of your own has three methods: start(y, weight), the score to begin with; derivatives(y, raw, weight), a "
    "tuple of gradient and hessian of every row, times its weight; and value(y, raw, weight), the mean loss by weight. y and raw are "
    "arrays with a number for each row, raw (n, width) for a loss with several scores per row, and weight is such an array or None. "
    "woodwind.losses.check_loss tries it out."
)

ClassLoss = Annotated[
    Any,
    spelled(f"{_listed(CLASSIFICATION)} or a loss object"),
    "What is minimised; other libraries' names for it, such as 'binary:logistic', are understood. "
    f"{_listed(TWO_CLASSES_ONLY)} {'is' if len(TWO_CLASSES_ONLY) == 1 else 'are'} for two classes. " + OWN,
]
RegressionLoss = Annotated[
    Any,
    spelled(f"{_listed(REGRESSION)} or a loss object"),
    "What is minimised; other libraries' names for it, such as 'l1', are understood. An object carries its own numbers, as in "
    "loss=woodwind.losses.Quantile(0.9). " + OWN,
]


def classification_loss_for(given: Any, n_classes: int) -> Loss:
    """The loss of so many classes."""
    if isinstance(given, str):
        if n_classes > 2 and not takes_several_classes(given):
            raise ParameterError(
                f"Only binary classification is supported with loss={spelling(given)!r}. The type of the target is "
                f"multiclass: it has {n_classes} classes. Use loss='log_loss'."
            )
        return classification_loss(given, n_classes)
    loss = adopt(given)
    fits = loss.width == (1 if n_classes == 2 else n_classes)
    if not fits or not isinstance(loss, TwoClasses | Multinomial | OwnLoss):
        raise ParameterError(
            f"loss={loss!r} is not for {n_classes} classes. Use loss='log_loss', or an object with a width of "
            "1 for two classes and of one score per class for more."
        )
    return loss


def regression_loss_for(given: Any, target: Target, owner: str, several: bool = False) -> Loss:
    """The loss of a regression target, one number for each row or also `several`; a target that is the same in every row is told of."""
    warn_constant(target.y, owner)
    if isinstance(given, str):
        return regression_loss(given)
    loss = adopt(given)
    if isinstance(loss, TwoClasses) or not (loss.width == 1 or (several and isinstance(loss, Quantiles))):
        raise ParameterError(f"loss={loss!r} is not for numbers. Use one of woodwind.losses that is for regression.")
    return loss


def quantile_loss_for(level: Any, loss: Loss) -> Loss:
    """The loss with the level, or the levels, that `quantile` gives."""
    if level is None:
        return loss
    if loss != Quantile():
        raise ParameterError(f"quantile={level!r} is for loss='quantile', and the loss is {loss.name or loss!r}. Set quantile=None.")
    several = isinstance(level, Iterable) and not isinstance(level, str)
    levels = tuple(level) if several else (level,)
    for one in levels:
        if isinstance(one, bool) or not isinstance(one, int | float | np.number) or not 0.0 < one < 1.0:
            raise ParameterError(f"quantile must be a number between 0 and 1, or several such numbers, not {level!r}.")
    if several and len(set(levels)) < max(len(levels), 1):
        raise ParameterError(f"quantile must name at least one level, and each once, not {level!r}.")
    return Quantiles(levels) if several else Quantile(float(level))


def probabilities(loss: Loss, raw: Floats, threads: int) -> Floats:
    """Probabilities of the classes, (n, K), from scores."""
    if not isinstance(loss, OwnLoss):
        return loss.predict(raw, threads)
    if hasattr(loss.given, "predict"):
        probability = loss.predict(raw)
    else:
        probability = (Logit() if raw.ndim == 1 else Softmax()).to_mean(raw)
    return np.stack([1.0 - probability, probability], axis=1) if probability.ndim == 1 else probability


def likeliest(loss: Loss, raw: Floats, threads: int) -> NDArray[np.intp]:
    """The number of the most probable class of each row, from scores."""
    if isinstance(loss, OwnLoss):
        return np.asarray(probabilities(loss, raw, threads).argmax(axis=1))
    return np.asarray((raw > 0.0).astype(np.intp) if raw.ndim == 1 else raw.argmax(axis=1))
