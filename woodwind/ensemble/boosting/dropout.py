"""Boosting with dropout: a round is trained as if some of the earlier ones were not there (DART, Rashmi & Gilad-Bachrach 2015)."""

from collections.abc import Sequence

from woodwind.ensemble.boosting.boost import Booster, BoostingRound
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.tree_learner import Floats, Rows, Targets, TreeLearner
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.linear_leaves import LinearInputs


class DropoutBooster(Booster):
    """A booster whose plan has `dropout`."""

    def __init__(
        self,
        learner: TreeLearner,
        y: Targets,
        plan: BoostPlan,
        raw: Floats,
        weight: Floats | None = None,
        rows: Rows | None = None,
        inputs: LinearInputs | None = None,
        done: Sequence[tuple[ValuedTree, ...]] = (),
    ) -> None:
        """See `Booster`; `done` are earlier rounds, whose trees are in `raw` and shrink where they are left out."""
        super().__init__(learner, y, plan, raw, weight, rows, inputs)
        self._done = list(done)

    def _round(self, number: int) -> BoostingRound:
        """A round that is trained without k earlier ones; then it is 1 / (k + 1) of itself, and each of those k / (k + 1)."""
        assert self.plan.dropout is not None
        dropped = [tree for position in self.plan.dropout.dropped(self.plan.seed, number) for tree in self._done[position]]
        k = len(dropped) // self.trees_per_round
        leaves = [self.leaf_of(tree) for tree in dropped]

        def add(share: float) -> None:
            for tree, leaf in zip(dropped, leaves, strict=True):
                self._add([(tree.scaled(share), leaf)])

        add(-1.0)
        self._rate = self.plan.learning_rate / self.plan.parallel_trees / (k + 1)
        trees = tuple(self._trees(self._resolved(), number))
        add(k / (k + 1))
        lost = tuple(tree.scaled(-1.0 / (k + 1)) for tree in dropped)
        for tree in dropped:
            tree.shrink(k / (k + 1))
        self._done.append(trees)
        return BoostingRound(number, trees, self.raw, lost=lost)
