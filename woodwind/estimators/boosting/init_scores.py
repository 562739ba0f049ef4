"""Where boosting starts: from the best constant, from scores that the caller gives, or from another model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from woodwind.base.errors import ParameterError
from woodwind.estimators.base.model_checks import ask_model
from woodwind.losses.base import Loss

Floats = NDArray[np.float64]

# A model that is sure of a class is taken at its word only so far: a score of about 14, which trees can still correct.
SUREST = 1e-6


def is_model(init: Any) -> bool:
    """Whether scores are made from the table: by an estimator, or by a function of it."""
    return not isinstance(init, type) and (hasattr(init, "predict") or callable(init))


def constant_of(init: Any, owner: str) -> float | None:
    """The score that all rows start from, where one number is given; None where it is something else."""
    if isinstance(init, bool) or not isinstance(init, int | float | np.number):
        return None
    if not np.isfinite(init):
        raise ParameterError(f"{owner}: init must be finite, but it is {init!r}. Set init=None to start from the best constant.")
    return float(init)


def fitted_init(init: Any, X: Any, y: NDArray[Any], weight: Floats | None, owner: str) -> Any:
    """The estimator or function that gives starting scores: as it is if it is fitted, else a fitted clone."""
    if not hasattr(init, "fit"):
        return init
    try:
        check_is_fitted(init)
    except NotFittedError:
        more = {"sample_weight": weight} if weight is not None and has_fit_parameter(init, "sample_weight") else {}
        return clone(init).fit(X, y, **more)
    except TypeError as error:
        raise ParameterError(f"{owner}: init must be an estimator, a function or an array of scores, and {init!r} is none.") from error
    return init


def model_scores(init: Any, X: Any, n_rows: int, loss: Loss, classes: NDArray[Any] | None, owner: str) -> Floats:
    """Starting scores of a table from an estimator, by its predictions, or from a function, as it gives them."""
    if not hasattr(init, "predict"):
        return read_scores(init(X), n_rows, loss.width, owner)
    if classes is None:
        mean = ask_model(init, lambda: np.asarray(init.predict(X), np.float64).reshape(-1))
        score = loss.link.to_score(mean)
        if np.abs(score).max(initial=0.0) > 500.0 and np.abs(mean).max(initial=0.0) < 1e100:
            raise ParameterError(f"{owner}: init predicts values that are not positive, which have no logarithm. Use another init.")
        return read_scores(score, n_rows, loss.width, owner)
    if not hasattr(init, "predict_proba"):
        raise ParameterError(f"{owner}: init must have predict_proba, and {type(init).__name__} has not. Use a classifier that has.")
    share = np.zeros((n_rows, len(classes)))
    number = {label: position for position, label in enumerate(classes.tolist())}
    for column, label in enumerate(np.asarray(init.classes_).tolist()):
        if label not in number:
            raise ParameterError(f"{owner}: init knows a class {label!r} that y has not. Fit it on the same labels.")
        share[:, number[label]] = ask_model(init, lambda: init.predict_proba(X))[:, column]
    share = np.clip(share, SUREST, 1.0 - SUREST)
    return read_scores(loss.link.to_score(share[:, 1] if loss.width == 1 else share), n_rows, loss.width, owner)


def read_scores(scores: Any, n_rows: int, width: int, owner: str) -> Floats:
    """Scores that the caller gives as float64 (n,), or (n, K) for K scores per row; always a new array."""
    if isinstance(scores, type):
        raise ParameterError(f"{owner}: init is the class {scores.__name__}. Give an instance of it.")
    try:
        array = np.array(scores, np.float64)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"{owner}: init must be None, scores, an estimator or a function, not {type(scores).__name__}.") from error
    if width == 1 and array.shape == (n_rows, 1):
        array = array.reshape(-1)
    shape = (n_rows,) if width == 1 else (n_rows, width)
    if array.shape != shape:
        raise ParameterError(f"{owner}: init must hold scores of shape {shape}, one row for each row of X, but its shape is {array.shape}.")
    wrong = np.flatnonzero(~np.isfinite(array).reshape(n_rows, -1).all(axis=1))
    if wrong.size:
        raise ParameterError(f"{owner}: init must be finite, but it is not in {wrong.size:,} rows, first in row {wrong[0]}.")
    return array
