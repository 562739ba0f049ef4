"""Ensembles with some of their members: the trees of a forest asked together, and copies of ensembles with fewer members."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.validate import require
from woodwind.estimators.base.several_targets import one_target_only
from woodwind.estimators.forests.forest_base import BaseForestModel
from woodwind.estimators.pools.pool import Pool, Response
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_parts import leaf_rows_of, predicted_by_trees, trees_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Ensembles of scikit-learn whose answer is the plain mean of their members'.
PLAIN_MEANS = ("sklearn.ensemble._forest", "sklearn.ensemble._bagging")
# What was found out with all members, and holds for fewer no more.
OF_ALL = ("oob_score_", "oob_decision_function_", "oob_prediction_")


@dataclass(frozen=True, eq=False)
class TreePool:
    """The trees of a forest of ours, asked together without being taken apart; as a `Pool` in all that a selection needs."""

    forest: BaseForestModel
    compact_forest: CompactForest
    classes: NDArray[Any] | None
    positions: tuple[int, ...]  # their numbers in the forest

    @classmethod
    def of(cls, forest: BaseForestModel) -> "TreePool":
        """All trees; those of a forest that counts votes say whom they vote for."""
        if forest._has_several:
            raise one_target_only("a selection of trees", type(forest).__name__)
        return cls(
            forest, forest._voting(forest.compact_forest_), getattr(forest, "classes_", None), tuple(range(forest.compact_forest_.n_trees))
        )

    def check(self) -> "TreePool":
        """The trees are some of those of the forest, which is trained; returns self, or raises DataError."""
        require(hasattr(self.forest, "compact_forest_") and len(self.positions) > 0, "the forest is not trained, or no tree is there")
        whole = self.forest.compact_forest_
        require(np.array_equal(self.compact_forest.n_categories, whole.n_categories), "the trees have other features than the forest")
        require(
            self.compact_forest.n_classes == whole.n_classes == (0 if self.classes is None else len(self.classes)),
            "the trees have other classes",
        )
        one_target = self.compact_forest.n_outputs == whole.n_outputs == max(whole.n_classes, 1)
        require(one_target, "the trees are of several targets")
        inside = all(0 <= position < whole.n_trees for position in self.positions)
        require(inside and self.compact_forest.n_trees == len(self.positions), "a tree is not one of the forest")
        own = getattr(self.forest, "classes_", None)
        same = own is None if self.classes is None else own is not None and np.array_equal(own, self.classes)
        require(same, "the trees have other classes")
        return self

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def names(self) -> tuple[str, ...]:
        """Trees are counted from one."""
        kind = "decisiontreeregressor" if self.classes is None else "decisiontreeclassifier"
        return tuple(f"{kind}-{position + 1}" for position in self.positions)

    @property
    def members(self) -> tuple[Any, ...]:
        """Each tree as an estimator; made when somebody asks."""
        every = self.forest.estimators_
        return tuple(every[position] for position in self.positions)

    def only(self, positions: Iterable[int]) -> "TreePool":
        """Some of the trees."""
        chosen = [int(position) for position in positions]
        return replace(
            self, compact_forest=trees_of(self.compact_forest, chosen), positions=tuple(self.positions[position] for position in chosen)
        )

    def predicted(self, X: Any, response: Response, owner: str, threads: int = 1, hard_where_needed: bool = False) -> Floats:
        """What all trees predict for the rows of a table, (n, m, width)."""
        predicted = predicted_by_trees(self.compact_forest, self.forest._read(getattr(X, "X", X)), threads)
        return predicted.argmax(axis=2)[:, :, None].astype(np.float64) if response == "votes" else predicted


AnyPool: TypeAlias = Pool | TreePool


def can_be_pruned(ensemble: Any) -> bool:
    """Whether a smaller copy of a fitted ensemble can be made."""
    forest = isinstance(ensemble, BaseForestModel) and hasattr(ensemble, "compact_forest_")
    return forest or (type(ensemble).__module__.startswith(PLAIN_MEANS) and hasattr(ensemble, "estimators_"))


def pruned_ensemble(ensemble: Any, positions: Sequence[int], owner: str) -> Any:
    """A copy of an ensemble with these of its members only, one as often as it is named: it says their mean."""
    made = copy.copy(ensemble)
    if isinstance(ensemble, BaseForestModel):
        _prune_forest(made, ensemble, positions)
    elif can_be_pruned(ensemble):
        for name in ("estimators_", "estimators_features_"):
            if hasattr(ensemble, name):
                setattr(made, name, [getattr(ensemble, name)[position] for position in positions])
        if hasattr(ensemble, "_seeds"):
            made._seeds = np.asarray(ensemble._seeds)[list(positions)]
    else:
        raise ParameterError(
            f"{owner}: estimators is a {type(ensemble).__name__}, of which no smaller copy can be made. That is done for random forests "
            "and extra-trees of Woodwind, and for these and bagging of scikit-learn. The selection itself predicts with what it kept."
        )
    made.n_estimators = len(positions)
    for name in OF_ALL:
        vars(made).pop(name, None)
    return made


def _prune_forest(made: Any, forest: BaseForestModel, positions: Sequence[int]) -> None:
    """A forest of ours. What trees have not seen can no longer be told by their numbers: none of it is claimed."""
    compact_forest = forest._voting(forest.compact_forest_)
    made.compact_forest_ = trees_of(compact_forest, positions, getattr(forest, "criterion", "gini"))
    resampling = forest._resampling
    made._resampling = replace(resampling, replace=False, n_draws=resampling.n_units)
    if hasattr(forest, "leaf_rows_"):
        made.leaf_rows_ = leaf_rows_of(forest.leaf_rows_, compact_forest, positions)
