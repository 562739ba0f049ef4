"""A loss whose second derivatives are not used: gradient boosting of the first order (Friedman 2001, algorithm 1).

Its hessian is the weight of a row, so that gains are those of least squares on the gradients, and the value of a leaf is their sum over the
number of its rows and L2. CatBoost calls the method `Gradient`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from woodwind.losses.base import Loss
from woodwind.losses.links import Floats


@dataclass(frozen=True)
class FirstOrder(Loss):
    """Another loss, of which trees see the gradients alone."""

    of: Loss

    constant_hessian: ClassVar[bool] = True
    exact_hessian: ClassVar[bool] = False

    @property
    def width(self) -> int:
        """Scores per row."""
        return self.of.width

    def bounds(self) -> tuple[float, float] | None:
        """Largest |gradient|, and a hessian of one."""
        known = self.of.bounds()
        return None if known is None else (known[0], 1.0)

    @property
    def is_resolved(self) -> bool:
        """Whether the other is."""
        return self.of.is_resolved

    def resolved(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None) -> "FirstOrder":
        """The loss as it stands in a round that begins with these scores."""
        return FirstOrder(self.of.resolved(y, raw, weight))

    def with_known(self, y: NDArray[Any], raw: Floats, threads: int = 1) -> "FirstOrder":
        """With what the other has in memory."""
        return FirstOrder(self.of.with_known(y, raw, threads))

    def as_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """The target as the other takes it."""
        return self.of.as_target(y)

    def check_target(self, y: NDArray[Any]) -> None:
        """Raise TargetError where the other does."""
        self.of.check_target(y)

    def start(self, y: NDArray[Any], weight: Floats | None = None) -> Floats:
        """Best constant score: float64[width]."""
        return self.of.start(y, weight)

    def derivatives(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[Floats, Floats]:
        """Gradient of every row times its weight, and its weight, in the shape of raw."""
        gradient, _ = self.of.derivatives(y, raw, weight, threads)
        hessian = np.ones_like(gradient)
        if weight is not None:
            hessian *= weight if hessian.ndim == 1 else weight[:, None]
        return gradient, hessian

    def total(self, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
        """Sum of the losses by weight, and sum of the weights."""
        return self.of.total(y, raw, weight, threads)

    def predict(self, raw: Floats, threads: int = 1) -> Floats:
        """What users see for raw scores."""
        return self.of.predict(raw, threads)
