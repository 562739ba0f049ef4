"""Training that goes on: what another fit needs in order to add rounds to those of an earlier one."""

from dataclasses import dataclass, replace

import numpy as np

from woodwind.base.errors import ParameterError
from woodwind.base.validate import require, require_array
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.boosting.training import TrainedBoosting
from woodwind.estimators.boosting.plan import Values, uses_ranks
from woodwind.tree.assemble import check_tree_for
from woodwind.tree.forest import Forest
from woodwind.tree.grown_tree import ValuedTree


@dataclass(frozen=True, eq=False)
class WarmStartState:
    """What another fit needs in order to go on from this one."""

    schema: Schema
    cuts: Cuts | Ranking
    seed: int
    trained: TrainedBoosting

    def check(self) -> "WarmStartState":
        """The trees are of the features that the cuts are of; returns self, or raises DataError."""
        # Codes are counted by kernels: a category more than the cuts have room for would be counted elsewhere.
        fewest = 1 if isinstance(self.cuts, Cuts) else 0
        categories = [0 if names is None else max(len(names), fewest) for names in self.schema.categories]
        require(self.cuts.n_categories.tolist() == categories, "the cuts are of other features than the schema")
        for tree in (*self.trained.trees, *(tree for trees in self.trained.rounds for tree in trees)):
            check_tree_for(tree, self.cuts)
            n_scores, width = self.trained.first.size, tree.value.shape[1]
            fits = width == n_scores if tree.output < 0 else width == 1 and tree.output < n_scores
            require(fits and tree.output >= -1, "a tree adds to a score that is not there")
        require_array(self.trained.first, (None,), "the first scores")
        return self

    def with_values(self, forest: Forest) -> "WarmStartState":
        """The same rounds with the values and the start of a forest that has their trees."""
        nodes = (slice(*forest.roots[tree : tree + 2]) for tree in range(forest.n_trees))

        def renewed(tree: ValuedTree, at: slice) -> ValuedTree:
            linear = None if tree.linear is None or forest.linear is None else forest.linear.part(at.start, at.stop)
            return replace(tree, value=np.array(forest.value[at]), cover=np.array(forest.cover[at]), linear=linear)

        rounds = tuple(tuple(renewed(tree, at) for tree, at in zip(trees, nodes, strict=False)) for trees in self.trained.rounds)
        return replace(self, trained=replace(self.trained, rounds=rounds, first=np.array(forest.start)))

    def check_goes_on(self, values: Values, owner: str) -> None:
        """Refuse parameters with which no more rounds can be added, before any work is done."""
        there = len(self.trained.rounds)
        if values["n_estimators"] < there:
            raise ParameterError(
                f"{owner}: n_estimators={values['n_estimators']} is less than the {there} rounds that are there already, "
                "and warm_start=True only adds to them. Raise n_estimators, or set warm_start=False."
            )
        if uses_ranks(values) != isinstance(self.cuts, Ranking):
            how = "without bins" if isinstance(self.cuts, Ranking) else "on bins"
            given = f"max_bins={values['max_bins']}" + (f", candidates={values['candidates']!r}" if values["candidates"] else "")
            raise ParameterError(
                f"{owner}: {given}, but warm_start=True goes on from trees that were grown {how}. "
                "Set max_bins and candidates as they were, or warm_start=False."
            )
