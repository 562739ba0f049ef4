"""How much a forest relies on each feature, read from its arrays alone."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from woodwind.tree.forest import Forest

Kind = Literal["gain", "cover", "splits"]


def importance(forest: Forest, kind: Kind = "gain", normalise: bool = False) -> NDArray[np.float64]:
    """One number for each feature of the engine (F,).

    gain    the sum of the gains of its splits
    cover   the sum of the weight of training rows that met its splits
    splits  how many splits use it
    Normalised, the numbers add up to one; where nothing is split, all are zero.
    """
    split = forest.feature >= 0
    weights = {"gain": forest.gain, "cover": forest.cover, "splits": np.ones(forest.n_nodes)}[kind]
    total = np.bincount(forest.feature[split], weights=weights[split], minlength=forest.n_features).astype(np.float64)
    whole = total.sum()
    return total / whole if normalise and whole > 0 else total
