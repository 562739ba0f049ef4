"""What the scores of an estimator are called when they are explained."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.losses.base import Loss
from woodwind.losses.links import Identity, Log, Logit
from woodwind.losses.own import OwnLoss
from woodwind.tree.explained import LOG_ODDS

Floats = NDArray[np.float64]


def scale_of(loss: Loss) -> str:
    """What a booster adds up, in words."""
    if isinstance(loss, OwnLoss):
        return "raw score"
    if isinstance(loss.link, Logit):
        return LOG_ODDS if loss.link.factor == 1.0 else "half of the log-odds"
    if isinstance(loss.link, Log):
        return "logarithm of the prediction"
    return "prediction" if isinstance(loss.link, Identity) else "score"


def output_names(classes: Any, width: int) -> tuple[str, ...]:
    """What each of the scores is for: a class; of two with one score, the second; nothing for numbers."""
    if classes is None:
        return ("",) * width
    return tuple(str(label) for label in (classes if width == len(classes) else classes[-width:]))
