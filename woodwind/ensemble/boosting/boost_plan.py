"""What a boosting run does, all decided: the loss, the trees, the steps, and what is drawn."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from woodwind.base.random_streams import key, uniform
from woodwind.ensemble.boosting.gradient_sampling import GradientSampling
from woodwind.losses.base import Loss
from woodwind.tree.settings import TreeSettings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DropoutPlan:
    """Which earlier rounds are left out while a round is trained: DART, Rashmi & Gilad-Bachrach 2015."""

    drop_rate: float = 0.1  # probability of every earlier round to be left out
    skip_drop: float = 0.5  # probability of a round to leave nothing out
    max_drop: int | None = 50  # most rounds that are left out on average

    def dropped(self, seed: int, number: int) -> list[int]:
        """The numbers of the rounds that round `number` is trained without."""
        drawn = uniform(key(seed, "dropout", number), number + 1)
        if number == 0 or drawn[0] < self.skip_drop:
            return []
        rate = self.drop_rate if self.max_drop is None else min(self.drop_rate, self.max_drop / number)
        return [int(position) for position in np.flatnonzero(drawn[1:] < rate)]


@dataclass(frozen=True)
class BoostPlan:
    """What a boosting run does, all decided."""

    loss: Loss
    tree: TreeSettings = field(default_factory=TreeSettings)
    learning_rate: float = 0.1
    subsample: float = 1.0
    bootstrap: bool = False
    sampling: GradientSampling | None = None  # rows are drawn by their gradients; None: all alike, by `subsample`
    one_per_class: bool = False
    parallel_trees: int = 1  # trees of a round for the same scores, each with rows and features of its own; their mean is added
    seed: int = 0
    threads: int = 1
    dropout: DropoutPlan | None = None  # see dropout.py
    softmax_hessian: str = "friedman"  # see `hessian_factors`
    linear_l2: float | None = None  # leaves are linear, and what the square of a coefficient costs; None: leaves are constant
    permutations: int = 0  # orders of the rows for ordered boosting (ordered_boosting.py); none for plain boosting
    line_search: bool = False  # the trees of a round are stretched together, as far as the loss of the training rows falls


def hessian_factors(loss: Loss, convention: str) -> tuple[float, float]:
    """What the hessians p (1 - p) of several classes are multiplied by in gains, and in values of leaves; one for other losses.

    Scores of classes move together, so that one class alone takes K / (K - 1) of its own (Friedman 2001). Libraries differ.
    """
    if not loss.redundant_scores:
        return 1.0, 1.0
    alone = loss.width / (loss.width - 1.0)
    return {"friedman": (1.0, alone), "xgboost": (2.0, 2.0), "lightgbm": (alone, alone), "sklearn": (1.0, 1.0)}[convention]


def leaf_hessian(plan: BoostPlan, hessian: Floats) -> Floats:
    """Hessian of a leaf, from one that has its factor in gains already."""
    in_gains, in_leaves = hessian_factors(plan.loss, plan.softmax_hessian)
    return hessian if in_leaves == in_gains else hessian * (in_leaves / in_gains)
