"""Name -> loss, and one list of all losses, over which the laws are tested."""

from dataclasses import asdict
from typing import Any

from woodwind.base.did_you_mean import did_you_mean, spelling
from woodwind.base.errors import ParameterError
from woodwind.losses import classification, regression
from woodwind.losses.base import Loss
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.losses.own import OwnLoss
from woodwind.losses.regression import Quantiles

BUILT_IN: tuple[type[Loss], ...] = tuple(getattr(home, name) for home in (regression, classification) for name in home.__all__)

# Quantiles go by one name as well; several levels make it the loss for several.
REGRESSION: dict[str, type[Loss]] = {kind.name: kind for kind in BUILT_IN if kind.task == "regression" and kind is not Quantiles}
# Log loss goes by one name; `classification_loss` takes its form for several classes where there are several.
CLASSIFICATION: dict[str, type[Loss]] = {kind.name: kind for kind in BUILT_IN if kind.task == "classification" and kind is not Multinomial}
TWO_CLASSES_ONLY = tuple(name for name in CLASSIFICATION if name != LogLoss.name)

ALL: tuple[Loss, ...] = tuple(example for kind in BUILT_IN for example in kind.examples())


# Losses of other libraries that none of ours is, and what comes nearest.
NONE_OF_OURS: dict[str, str] = {
    "reg:quantileerror": "Use loss=woodwind.losses.Quantile(0.9), with the level that you want.",
    "reg:pseudohubererror": "The nearest is loss=woodwind.losses.Huber(delta=1.0), whose turn is sharp.",
    "reg:squaredlogerror": "Use loss='squared_error', and train on numpy.log1p(y).",
    "reg:logistic": "Its target is a probability. Classes have loss='log_loss'.",
    "binary:logitraw": "Use loss='log_loss'; raw scores come from decision_function.",
    "binary:hinge": "Use loss='log_loss'.",
    "multiclassova": "It trains a model for each class. Use loss='log_loss', or OneVsRestClassifier of scikit-learn.",
    "multiclassonevsall": "It trains a model for each class. Use loss='log_loss', or OneVsRestClassifier of scikit-learn.",
    "cross_entropy_lambda": "Use loss='log_loss'.",
    "focal": "Use loss='log_loss' and class_weight.",
    "mape": "Use loss='absolute_error' and sample_weight=1 / abs(y).",
    "fair": "The nearest is loss='huber'.",
    "logcosh": "The nearest is loss='huber'.",
    "lq": "Use loss='squared_error' for the power 2, loss='absolute_error' for 1.",
    "expectile": "The nearest is loss=woodwind.losses.Quantile(level).",
    "rmsewithuncertainty": "Use DistributionBoostingRegressor, whose default is the normal distribution.",
    "multirmse": "Use loss='squared_error', and give y a column for each target.",
    "friedman_mse": "It is a way to choose splits. Use loss='squared_error'.",
}
# Tasks of other estimators, by how the names of their losses begin.
OF_SURVIVAL = ("survival:", "survivalaft", "cox", "aft")
OF_RANKINGS = ("rank:", "rank_", "lambdarank", "lambdamart", "yetirank", "query", "pairlogit", "stochasticrank")


def loss_named(name: str) -> tuple[str, str] | None:
    """Our name of a loss that was named in the manner of any library, and "classification" or "regression"; None if it is none of ours."""
    plain = spelling(name)
    for kind in BUILT_IN:
        if plain == kind.name or plain in kind.aliases:
            return kind.name, kind.task
    return None


def takes_several_classes(given: Any) -> bool:
    """Whether a loss, by its name or as an object, may be for more than two classes."""
    found = loss_named(given) if isinstance(given, str) else None
    return found is None or found[0] not in TWO_CLASSES_ONLY


def regression_loss(name: str, **numbers: float) -> Loss:
    """Loss for numbers by its name here or elsewhere, with its own parameters, such as `regression_loss("quantile", level=0.9)`."""
    return _make(REGRESSION, _own_name(name, "regression"), numbers)


def classification_loss(name: str, n_classes: int) -> Loss:
    """Loss for classes by its name: log loss of two classes has one score per row, of more one per class."""
    own = _own_name(name, "classification")
    if own == LogLoss.name:
        _check_classes(name, n_classes)
        if n_classes > 2:
            return Multinomial(n_classes)
    if own in TWO_CLASSES_ONLY and n_classes > 2:
        raise ParameterError(f"Loss {own!r} is for two classes, and the target has {n_classes}. Use loss='log_loss'.")
    return _make(CLASSIFICATION, own, {})


def _check_classes(name: str, n_classes: int) -> None:
    """A name of the log loss that is for two classes, or for more, is given for so many."""
    kind, other = (Multinomial, LogLoss) if n_classes > 2 else (LogLoss, Multinomial)
    if spelling(name) not in (LogLoss.name, *kind.aliases):
        meant = "two classes" if other is LogLoss else "three classes or more"
        raise ParameterError(f"Loss {name!r} is for {meant}, and the target has {n_classes}. Use loss='log_loss'.")


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
    if "levels" in numbers:
        return Quantiles(**numbers)
    return _make(REGRESSION | CLASSIFICATION, description["name"], numbers)


def _own_name(name: str, task: str) -> str:
    """Our name of a loss of a task, or an error that gives what comes nearest."""
    found = loss_named(name)
    if found is not None and found[1] == task:
        return found[0]
    known = tuple(REGRESSION if task == "regression" else CLASSIFICATION)
    if found is not None:
        hint = f" It is for {'classes' if task == 'regression' else 'numbers'}, and this estimator is for {task}."
    elif spelling(name) in NONE_OF_OURS:
        hint = f" There is none like it here. {NONE_OF_OURS[spelling(name)]}"
    elif spelling(name).startswith(OF_SURVIVAL):
        hint = " It is for survival times, which GradientBoostingSurvivalAnalysis learns."
    elif spelling(name).startswith(OF_RANKINGS):
        hint = " It is for rankings, which GradientBoostingRanker learns."
    else:
        hint = f" {did_you_mean(name, known, alike=0.6)}".rstrip()
    raise ParameterError(f"loss must be one of {', '.join(map(repr, known))}, or an object of your own, not {name!r}.{hint}")


def _make(known: dict[str, type[Loss]], name: str, numbers: dict[str, Any]) -> Loss:
    if name not in known:
        raise ParameterError(f"There is no loss {name!r}; there are {', '.join(map(repr, known))}.")
    try:
        return known[name](**numbers)
    except TypeError:
        raise ParameterError(f"Loss {name!r} does not take {', '.join(numbers)}.") from None
