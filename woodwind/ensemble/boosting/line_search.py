"""The line search of natural-gradient boosting: how far the trees of a round are followed (Duan et al. 2020, algorithm 1).

As the reference implementation does it: the step is doubled while the loss of the training rows does not rise above what it was, then
halved until it is below. The learning rate is applied afterwards.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.losses.base import Loss
from woodwind.tree.grown_tree import TreeWithLeaves

Floats = NDArray[np.float64]

LONGEST = 256.0  # the last step that is doubled
SHORTEST = 1e-4  # a step of this mean length is taken whatever it brings


def search_line(loss: Loss, y: NDArray[Any], raw: Floats, weight: Floats | None, trees: Sequence[TreeWithLeaves], rate: float) -> float:
    """Stretch the values of the trees of a round, which are times the learning rate `rate`, in place; gives the factor."""
    width = raw.shape[1] if raw.ndim == 2 else 1
    step: Floats = np.zeros((len(raw), width))
    for tree, leaf in trees:
        step[:, slice(None) if tree.output < 0 else tree.output] += tree.value[leaf] if tree.output < 0 else tree.value[leaf, 0]
    step /= rate
    if weight is None:
        length = float(np.linalg.norm(step, axis=1).mean())
    else:
        length = float(np.average(np.linalg.norm(step, axis=1), weights=weight))
    step = step.reshape(raw.shape)

    def value(scale: float) -> float:
        with np.errstate(all="ignore"):
            return loss.value(y, raw + scale * step, weight)

    before, scale = value(0.0), 1.0
    while True:
        found = value(scale)
        if not np.isfinite(found) or found > before or scale > LONGEST:
            break
        scale *= 2.0
    while length * scale >= SHORTEST:
        found = value(scale)
        if np.isfinite(found) and found < before:
            break
        scale *= 0.5
    for tree, _ in trees:
        tree.shrink(scale)
    return scale
