"""Models that come from a file as parts of others: each is one, is trained, and answers the question that it will be asked."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import MemberError, MemberTypeError, WoodwindError
from woodwind.base.validate import require, require_labels

T = TypeVar("T")

# They look at no column, and one that stands in for a member that met a single class was given none of its columns.
BLIND = ("DummyClassifier", "DummyRegressor")


def require_model(
    model: Any, what: str, *, classes: NDArray[Any] | None, n_columns: int | None = None, soft: bool = False, numbered: bool = False
) -> None:
    """Raise DataError unless it is a trained model: of labels among `classes`, of the numbers of labels where it is `numbered`, or of
    numbers where `classes` is None; and of so many columns, if that is known. `soft`: it gives probabilities.
    """
    require(callable(getattr(model, "predict", None)) and not isinstance(model, type), f"{what} is no model")
    require_trained(model, what)
    own = getattr(model, "classes_", None)
    require((own is None) == (classes is None), f"{what} is of another task than its owner")
    if own is not None and classes is not None:
        require_labels(own, what)
        known = set(range(len(classes)) if numbered else classes.tolist())
        require(set(own.tolist()) <= known, f"{what} knows classes that its owner does not know")
        require(not soft or hasattr(model, "predict_proba"), f"{what} gives no probabilities")
    own_columns = getattr(model, "n_features_in_", None)
    right = n_columns is None or own_columns is None or own_columns == n_columns or type(model).__name__ in BLIND
    require(right, f"{what} reads {own_columns} columns, and there are {n_columns}")


def require_trained(model: Any, what: str) -> None:
    """Raise DataError unless it is trained, in all of its steps if it has some, of which each takes what the one before gives."""
    steps = [step for _, step in model.steps if step not in (None, "passthrough")] if isinstance(model, Pipeline) else [model]
    require(steps, f"{what} has no steps")
    width: int | None = None
    for step in steps:
        if step is not model and isinstance(step, Pipeline):
            require_trained(step, what)
        try:
            check_is_fitted(step)
        except (NotFittedError, TypeError):
            require(False, f"{what} is not trained")
        own = getattr(step, "n_features_in_", None)
        fits = width is None or own is None or own == width or type(step).__name__ in BLIND
        require(fits, f"a step of {what} takes other columns than come")
        require(step is steps[-1] or hasattr(step, "transform"), f"a step of {what} passes nothing on")
        width = width_of(step)


def width_of(step: Any) -> int | None:
    """Columns that a step of a pipeline passes on; None where nobody knows."""
    form = getattr(step, "form_", None)
    if form is not None:
        return int(form.width)
    own = getattr(step, "n_features_in_", None)
    return int(own) if own is not None and type(step).__name__.endswith("Scaler") else None


def ask_model(model: Any, call: Callable[[], T]) -> T:
    """What the call gives, by which a model that is part of another one is asked; an error in it names the model, and is one of ours."""
    try:
        return call()
    except WoodwindError:
        raise
    except Exception as error:
        kind = MemberTypeError if isinstance(error, TypeError) else MemberError
        raise kind(f"The {type(model).__name__} inside could not be asked. {type(error).__name__}: {error}") from error


def check_tags(model: Any) -> None:
    """Tags of a model that is not trained are truth values and words; or whatever error asking for them is. They follow parameters that
    nobody checks before `fit`, and whoever holds the model asks for them.
    """
    groups = [group if isinstance(group, dict) else {"": group} for group in asdict(get_tags(model)).values()]
    arrays = any(isinstance(tag, np.ndarray) for group in groups for tag in group.values())
    require(not arrays, f"a {type(model).__name__} has an array for a parameter that is a word or a truth value")
