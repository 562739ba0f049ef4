"""A user's own loss: any object with `start`, `derivatives` and `value`; it runs between kernels, never inside one.

    class LogCosh:
        def start(self, y, weight):
            return np.median(y)

        def derivatives(self, y, raw, weight):
            t = np.tanh(raw - y)
            w = 1.0 if weight is None else weight
            return w * t, w * (1.0 - t * t)

        def value(self, y, raw, weight):
            return np.average(np.log(np.cosh(raw - y)), weights=weight)

`check_loss` of `check.py` tests such an object against finite differences before hours are spent on it.
Optional: `predict(raw)`, `check_target(y)`, `width` for several scores per row (raw is then (n, width)), and
`exact_hessian = False` where the hessian is a stand-in.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.losses.base import Loss, class_indices, plain_weight, weight_sum
from woodwind.losses.links import Floats


@runtime_checkable
class UserLoss(Protocol):
    """The least that a user's own loss must have. `weight` may be None; derivatives are times the weight, value is the mean."""

    def start(self, y: Any, weight: Any) -> Any:
        """Constant score to begin with."""

    def derivatives(self, y: Any, raw: Any, weight: Any) -> tuple[Any, Any]:
        """Gradient and hessian of every row, times its weight."""

    def value(self, y: Any, raw: Any, weight: Any) -> float:
        """Mean loss by weight."""


@dataclass(frozen=True)
class OwnLoss(Loss):
    """A user's own loss in the clothes of ours: what it leaves out has defaults, what it returns is checked."""

    given: UserLoss

    @property
    def width(self) -> int:
        """Scores per row: the loss's own `width`, else 1."""
        return int(getattr(self.given, "width", 1))

    @property
    def redundant_scores(self) -> bool:
        """Several scores are taken for those of classes."""
        return self.width > 1

    def check_target(self, y: NDArray[Any]) -> None:
        """Call the loss's own check, where it has one."""
        check = getattr(self.given, "check_target", None)
        if check is None:
            super().check_target(y)
        else:
            # In bytes, as numbers of classes are kept, what a user adds or multiplies would wrap around.
            check(class_indices(y) if np.asarray(y).dtype == np.uint8 else y)

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Give its start, as float64[width]."""
        start = np.array(np.broadcast_to(np.asarray(self.given.start(y, weight), np.float64).reshape(-1), (self.width,)))
        if not np.isfinite(start).all():
            raise ParameterError(f"{self._title}.start must be finite, not {start}.")
        return start

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Give its gradient and hessian, in the shape of raw, all finite."""
        pair = self.given.derivatives(y, raw, weight)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ParameterError(f"{self._title}.derivatives must return a tuple (gradient, hessian), not {type(pair).__name__}.")
        return self._plain("gradient", pair[0], raw), self._plain("hessian", pair[1], raw)

    def _plain(self, what: str, values: Any, raw: Floats) -> Floats:
        array = np.ascontiguousarray(values, np.float64)
        if array.shape != raw.shape:
            raise ParameterError(f"{self._title}.derivatives gave a {what} of shape {array.shape} for scores of shape {raw.shape}.")
        if not np.isfinite(array).all():
            position = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise ParameterError(f"{self._title}.derivatives gave a {what} that is not finite: {array[position]} at {position}.")
        return array

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Give its mean loss times the sum of the weights, and that sum."""
        weights = weight_sum(plain_weight(weight), np.shape(raw)[0])
        return float(self.given.value(y, raw, weight)) * weights, weights

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """Give its predictions, where it makes any; else the scores, (n,) for one score per row."""
        predict = getattr(self.given, "predict", None)
        if predict is None:
            return raw.reshape(-1) if self.width == 1 else raw
        return np.asarray(predict(raw))

    @property
    def exact(self) -> bool:
        """Whether the hessian is meant to be the second derivative."""
        return bool(getattr(self.given, "exact_hessian", True))

    @property
    def _title(self) -> str:
        return type(self.given).__name__


def adopt(loss: object) -> Loss:
    """Give one of our losses as it is, and a user's own in our clothes; raise where something is missing."""
    if isinstance(loss, Loss):
        return loss
    missing = [name for name in ("start", "derivatives", "value") if not callable(getattr(loss, name, None))]
    if missing or isinstance(loss, type):
        lack = f"{loss.__name__} is a class: give an instance of it" if isinstance(loss, type) else f"it lacks {', '.join(missing)}"
        raise ParameterError(f"A loss must have the methods start, derivatives and value; {type(loss).__name__} does not do: {lack}.")
    assert isinstance(loss, UserLoss)
    return OwnLoss(loss)
