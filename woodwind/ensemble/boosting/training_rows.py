"""The rows of a training: codes, target, weights, where scores start, and the booster that learns from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.codes import Codes
from woodwind.data.binning.ranks import Ranks
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.ensemble.boosting import precompile
from woodwind.ensemble.boosting.approximate_learner import ApproximateLearner
from woodwind.ensemble.boosting.boost import Booster
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.dropout import DropoutBooster
from woodwind.ensemble.boosting.exact_learner import ExactLearner
from woodwind.ensemble.boosting.histogram_learner import HistogramLearner
from woodwind.ensemble.boosting.ordered_boosting import OrderedBooster, OrderedOrigin
from woodwind.ensemble.boosting.tree_learner import TreeLearner
from woodwind.losses.base import Loss, in_rows
from woodwind.losses.integers import is_uneven
from woodwind.shards.shards import Shards
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.linear_leaves import LinearInputs

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows of a training: codes, target, weights, and scores to start from (None: the best constant)."""

    codes: Codes | SparseCodes | Ranks | Shards
    y: NDArray[Any]
    weight: Floats | None
    offset: Floats | None
    # Codes for a training on some of the rows, with a number of its own, where codes know something of targets.
    codes_for: Callable[[NDArray[np.int32], int], Codes | SparseCodes | Ranks] | None = None
    # Codes for a training on some of the rows in a given order, where a row knows the targets of those before it.
    codes_in: Callable[[NDArray[np.int32]], Codes | SparseCodes | Ranks] | None = None
    constant: float | None = None  # the score to start from, where it is given and the same for all rows
    inputs: LinearInputs | None = None  # the numbers of the rows, where leaves are linear

    @property
    def numbers(self) -> Floats | None:
        """The numbers of the rows (n, F), where leaves are linear."""
        return None if self.inputs is None else self.inputs.values

    def learned_from(self, rows: NDArray[np.int32] | None, number: int = 0) -> "TrainingRows":
        """The same rows as a booster sees them that is trained on some of them."""
        return self if self.codes_for is None or rows is None else replace(self, codes=self.codes_for(rows, number), codes_for=None)

    def start(self, loss: Loss, rows: NDArray[np.int32] | None) -> Floats:
        """Score before the first tree, from some of the rows."""
        if self.offset is not None or self.constant is not None:
            return np.full(loss.width, self.constant or 0.0)
        if rows is None:
            return loss.start(self.y, self.weight)
        return loss.start(self.y[rows], None if self.weight is None else self.weight[rows])

    def booster(
        self,
        plan: BoostPlan,
        raw: Floats,
        learn: NDArray[np.int32] | None = None,
        done: Sequence[tuple[ValuedTree, ...]] = (),
        start: Floats | None = None,
    ) -> Booster:
        """Boosting from these scores, with the learner that the rows are coded for; `learn` as `rows` of `Booster`.

        `start` is the score before the rounds that are done.
        """
        weight = in_rows(self.weight)
        learner = self._learner(self.codes, plan, weight, learn)
        if plan.dropout is not None:
            return DropoutBooster(learner, self.y, plan, raw, weight, learn, self.inputs, done)
        if not plan.permutations:
            return Booster(learner, self.y, plan, raw, weight, learn, self.inputs)
        codes_in = self.codes_in
        learner_in = None if codes_in is None else lambda order: self._learner(codes_in(order), plan, weight, learn)
        given = None if self.constant is None else self.raw(np.full(plan.loss.width, self.constant))
        first = raw if start is None else self.raw(start)
        origin = OrderedOrigin(first, done, given if self.offset is None else self.offset, learner_in)
        return OrderedBooster(learner, self.y, plan, raw, weight, learn, origin)

    def _learner(
        self, codes: Codes | SparseCodes | Ranks | Shards, plan: BoostPlan, weight: Floats | None, learn: NDArray[np.int32] | None
    ) -> TreeLearner:
        # The lanes of a tree for all classes have no room for weights of very different sizes.
        outputs = plan.loss.width if not plan.one_per_class and not is_uneven(weight) else 1
        capacity = codes.n_rows if learn is None else len(learn)
        if isinstance(codes, Ranks):
            if plan.tree.candidates == "global":
                return ApproximateLearner(codes, self.y, weight, plan, capacity, outputs, precompile.wait)
            return ExactLearner(codes, self.y, plan, outputs)
        return HistogramLearner(codes, self.y, weight, plan, capacity, outputs, precompile.wait)

    def raw(self, start: Floats) -> Floats:
        """Scores of all rows before the first tree: (n,), or (n, K) for K scores per row."""
        n = self.codes.n_rows
        raw = np.full(n, start[0]) if len(start) == 1 else np.tile(start, (n, 1))
        if self.offset is not None:
            raw += self.offset
        return raw
