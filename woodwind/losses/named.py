"""Name -> loss, and one list of all losses, over which the laws are tested."""

import difflib
from dataclasses import asdict
from typing import Any

from woodwind.base.errors import ParameterError
from woodwind.losses.base import Loss
from woodwind.losses.classification import Exponential, LogLoss, Multinomial
from woodwind.losses.own import OwnLoss
from woodwind.losses.regression import Absolute, Gamma, Huber, Poisson, Quantile, Squared, Tweedie

REGRESSION: dict[str, type[Loss]] = {kind.name: kind for kind in (Squared, Absolute, Huber, Quantile, Poisson, Gamma, Tweedie)}
CLASSIFICATION: dict[str, type[Loss]] = {kind.name: kind for kind in (LogLoss, Exponential)}

ALL: tuple[Loss, ...] = (
    Squared(),
    Absolute(),
    Huber(),
    Huber(delta=0.7),
    Quantile(0.5),
    Quantile(0.9),
    Poisson(),
    Gamma(),
    Tweedie(1.5),
    Tweedie(1.1),
    LogLoss(),
    Exponential(),
    Multinomial(3),
    Multinomial(7),
)


def regression_loss(name: str, **numbers: float) -> Loss:
    """Loss for numbers by its name, with its own parameters, such as `regression_loss("quantile", level=0.9)`."""
    return _make(REGRESSION, name, numbers)


def classification_loss(name: str, n_classes: int) -> Loss:
    """Loss for classes by its name: log loss of two classes has one score per row, of more one per class."""
    if name == LogLoss.name and n_classes > 2:
        return Multinomial(n_classes)
    if name == Exponential.name and n_classes > 2:
        raise ParameterError(f"Loss 'exponential' is for two classes, and the target has {n_classes}. Use loss='log_loss'.")
    return _make(CLASSIFICATION, name, {})


def describe(loss: Loss) -> dict[str, Any]:
    """A loss as name and numbers, fit for JSON; `loss_from` is the way back."""
    if isinstance(loss, OwnLoss):
        raise ParameterError(f"{type(loss.given).__name__} is not one of Woodwind's losses: it cannot be stored by name and numbers.")
    return {"name": loss.name, **asdict(loss)}


def loss_from(description: dict[str, Any]) -> Loss:
    """Loss from what `describe` gave."""
    numbers = {key: value for key, value in description.items() if key != "name"}
    if "n_classes" in numbers:
        return Multinomial(**numbers)
    return _make(REGRESSION | CLASSIFICATION, description["name"], numbers)


def _make(known: dict[str, type[Loss]], name: str, numbers: dict[str, Any]) -> Loss:
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"loss must be one of {', '.join(map(repr, known))}, or an object of your own, not {name!r}.{hint}")
    try:
        return known[name](**numbers)
    except TypeError:
        raise ParameterError(f"Loss {name!r} does not take {', '.join(numbers)}.") from None
