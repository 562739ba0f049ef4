"""How a tree is to be grown, in the words of the engine: numbers and arrays, all decided."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.tree.layout import BEST_FIRST, LEVEL, SYMMETRIC

DEEPEST = 1 << 40  # no limit of depth
ORDERS = {"best_first": BEST_FIRST, "level": LEVEL, "symmetric": SYMMETRIC}

# A category level is scored by its mean gradient; rare categories are drawn towards zero before they are put in order,
# and a split by category pays for its freedom with a stronger penalty.
CATEGORY_SMOOTH = 10.0
CATEGORY_L2 = 10.0


@dataclass(frozen=True)
class TreeSettings:
    """Order, limits, penalties, draws and constraints of a tree."""

    growth: str = "best_first"
    max_leaves: int = 31
    max_depth: int | None = None
    min_split: int = 2  # rows of a node that may be split
    min_rows: float = 20.0
    min_hessian: float = 1e-3
    min_gain: float = 0.0
    prune: bool = False
    l1: float = 0.0
    l2: float = 1.0
    max_step: float | None = None  # largest size of a leaf value before the learning rate; None for no limit
    path_smooth: float = 0.0  # rows by which a value is drawn towards that of the node above
    gradient_noise: float = 0.0  # while splits are looked for, as a multiple of the root mean square
    category_smooth: float = CATEGORY_SMOOTH
    category_l2: float = CATEGORY_L2
    features_per_node: int | None = None  # None: all
    features_per_level: int | None = None
    features_per_tree: int | None = None
    monotonic: NDArray[np.int64] | None = None  # (F,) of -1, 0, 1
    groups: tuple[tuple[int, ...], ...] | None = None  # features that may stand together on a path
    # Thresholds are proposed by hessian-weighted quantiles: "global", for each tree; "local", for each node; None: by the codes there are.
    candidates: str | None = None
    candidate_bins: int = 255  # most bins of a column, between which they are
    # Smallest gain of a split while growing, where splits are pruned afterwards: rounding noise is no gain.
    growing_gain: float = field(default=1e-9, repr=False)

    @property
    def penalties(self) -> tuple[float, float, float]:
        """L1, L2 and path smoothing."""
        return self.l1, self.l2, self.path_smooth

    @property
    def is_monotonic(self) -> bool:
        """Whether some feature has a monotonic constraint."""
        return self.monotonic is not None and bool(np.any(self.monotonic))

    @property
    def holds_values(self) -> bool:
        """Whether something other than penalties holds leaf values back, so that the gain of a split follows from the values."""
        return self.is_monotonic or self.max_step is not None or self.path_smooth > 0.0

    @property
    def longest_step(self) -> float:
        """Largest size of a leaf value; infinite for no limit."""
        return np.inf if self.max_step is None else float(self.max_step)


def group_bits(groups: tuple[tuple[int, ...], ...] | None, n_features: int) -> NDArray[np.uint64]:
    """Interaction groups as bits: (F, G) words. A feature in no group is a group of its own."""
    if groups is None:
        return np.zeros((n_features, 1), np.uint64)
    named = {feature for group in groups for feature in group}
    every = [*groups, *((feature,) for feature in range(n_features) if feature not in named)]
    bits = np.zeros((n_features, -(-len(every) // 64)), np.uint64)
    for number, group in enumerate(every):
        for feature in group:
            bits[feature, number // 64] |= np.uint64(1) << np.uint64(number % 64)
    return bits
