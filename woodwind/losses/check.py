"""check_loss: does the gradient belong to the loss, and the hessian to the gradient?"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.losses.base import Loss
from woodwind.losses.links import Floats
from woodwind.losses.own import OwnLoss, adopt

# Central differences with this step have an error of about 1e-9, far below what counts as close.
STEP = 1e-4
CLOSE = 1e-5
# Differences with two steps agree to 1e-8 where the function is smooth. Where they do not there is a kink between the points,
# and nothing is claimed there.
KINK = 1e-3

N_ROWS = 24


def check_loss(loss: object, y: NDArray[Any] | None = None) -> None:
    """Raise ParameterError, in words, where a loss contradicts itself; give None where it does not.

    Checked on a few rows: shapes and finiteness; the gradient against differences of the loss; the hessian against differences of the
    gradient, unless the loss says `exact_hessian = False`; that no hessian is negative; that a row of weight two counts as two.
    `y` is a sample of targets from the domain of the loss; without it, standard normal numbers.

    >>> from woodwind.losses.regression import Squared
    >>> check_loss(Squared())
    """
    adopted = adopt(loss)
    title = type(adopted.given).__name__ if isinstance(adopted, OwnLoss) else type(adopted).__name__
    exact = adopted.exact if isinstance(adopted, OwnLoss) else adopted.exact_hessian
    rng = np.random.default_rng(0)
    target = rng.normal(size=N_ROWS) if y is None else np.ravel(y)[:N_ROWS]
    adopted.check_target(target)
    shape = (target.shape[0],) if adopted.width == 1 else (target.shape[0], adopted.width)
    raw = adopted.start(target) + rng.normal(size=shape)
    resolved = adopted.resolved(target, raw)
    gradient, hessian = resolved.derivatives(target, raw)

    _compare(title, "gradient", "value", gradient, _value_differences(resolved, target, raw))
    if exact:
        _compare(title, "hessian", "gradient", hessian, _gradient_differences(resolved, target, raw))
    if (hessian < 0.0).any():
        count = int((hessian < 0.0).sum())
        raise ParameterError(f"{title}: the hessian is negative in {count} of {hessian.size} positions, and a leaf divides by its sum.")
    _check_weight(title, resolved, target, raw)


def _value_differences(loss: Loss, y: NDArray[Any], raw: Floats) -> tuple[Floats, Floats]:
    """Differences of the loss of each row, by each of its scores, with a whole step and with half a step."""
    whole, half = np.empty_like(raw), np.empty_like(raw)
    for position in np.ndindex(*raw.shape):
        row = slice(position[0], position[0] + 1)
        for out, step in ((whole, STEP), (half, 0.5 * STEP)):
            up, down = raw[row].copy(), raw[row].copy()
            up[(0, *position[1:])] += step
            down[(0, *position[1:])] -= step
            out[position] = (loss.value(y[row], up) - loss.value(y[row], down)) / (2.0 * step)
    return whole, half


def _gradient_differences(loss: Loss, y: NDArray[Any], raw: Floats) -> tuple[Floats, Floats]:
    """Differences of each gradient by its own score, with a whole step and with half a step."""
    whole, half = np.empty_like(raw), np.empty_like(raw)
    for k in range(loss.width):
        column: Any = slice(None) if loss.width == 1 else (slice(None), k)
        for out, step in ((whole, STEP), (half, 0.5 * STEP)):
            up, down = raw.copy(), raw.copy()
            up[column] += step
            down[column] -= step
            out[column] = (loss.derivatives(y, up)[0][column] - loss.derivatives(y, down)[0][column]) / (2.0 * step)
    return whole, half


def _compare(title: str, what: str, source: str, given: Floats, differences: tuple[Floats, Floats]) -> None:
    """Raise where the given derivative is not the slope, kinks aside; guess the reason where it is a usual one."""
    whole, half = differences
    smooth = np.abs(whole - half) <= KINK * (1.0 + np.abs(half))
    wrong = smooth & (np.abs(given - half) > CLOSE * (1.0 + np.abs(half)))
    if not wrong.any():
        return
    position = tuple(int(i) for i in np.argwhere(wrong)[0])
    guess = ""
    for factor, reason in ((-1.0, "its sign is the wrong way round"), (2.0, "it is twice too large"), (0.5, "it is twice too small")):
        if np.allclose(given[smooth], factor * half[smooth], rtol=1e-4, atol=1e-6):
            guess = f" It looks as if {reason}."
    raise ParameterError(
        f"{title}: the {what} does not belong to the {source}. At row {position[0]} it is {given[position]:.6g}, "
        f"but differences of the {source} give {half[position]:.6g}; {int(wrong.sum())} of {wrong.size} positions differ.{guess}"
    )


def _check_weight(title: str, loss: Loss, y: NDArray[Any], raw: Floats) -> None:
    """Raise where a row of weight two is not two rows."""
    times = 1 + np.arange(y.shape[0]) % 2
    weight = times.astype(np.float64)
    shape = (-1,) if raw.ndim == 1 else (-1, 1)
    for what, plain, weighted in zip(("gradient", "hessian"), loss.derivatives(y, raw), loss.derivatives(y, raw, weight), strict=True):
        if not np.allclose(weighted, plain * weight.reshape(shape), rtol=1e-9, atol=1e-12):
            raise ParameterError(f"{title}: with weights, the {what} must be the {what} without weights times the weight of its row.")
    repeated = loss.value(np.repeat(y, times), np.repeat(raw, times, axis=0))
    if not np.isclose(loss.value(y, raw, weight), repeated, rtol=1e-9, atol=1e-12):
        raise ParameterError(f"{title}: the value must be the mean loss by weight, so that a weight of two equals a row given twice.")
