"""Ensembles with some of their members: the trees of a forest asked together, and copies of ensembles with fewer members."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.sound import sound
from woodwind.estimators.forest_skin import ForestSkin
from woodwind.estimators.pool import Pool, Saying
from woodwind.tree.grove import Grove
from woodwind.tree.grove_part import leaf_rows_of, said_by_trees, trees_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Ensembles of scikit-learn whose answer is the plain mean of their members'.
PLAIN_MEANS = ("sklearn.ensemble._forest", "sklearn.ensemble._bagging")
# What was found out with all members, and holds for fewer no more.
OF_ALL = ("oob_score_", "oob_decision_function_", "oob_prediction_")


@dataclass(frozen=True, eq=False)
class TreePool:
    """The trees of a forest of ours, asked together without being taken apart; as a `Pool` in all that a selection needs."""

    forest: ForestSkin
    grove: Grove
    classes: NDArray[Any] | None
    places: tuple[int, ...]  # their numbers in the forest

    @classmethod
    def of(cls, forest: ForestSkin) -> "TreePool":
        """All trees; those of a forest that counts votes say whom they vote for."""
        return cls(forest, forest._voting(forest.grove_), getattr(forest, "classes_", None), tuple(range(forest.grove_.n_trees)))

    def check(self) -> "TreePool":
        """The trees are some of those of the forest, which is trained; gives itself, or raises DataError."""
        sound(hasattr(self.forest, "grove_") and len(self.places) > 0, "the forest is not trained, or no tree is there")
        whole = self.forest.grove_
        sound(np.array_equal(self.grove.n_levels, whole.n_levels), "the trees have other features than the forest")
        sound(self.grove.n_classes == whole.n_classes == (0 if self.classes is None else len(self.classes)), "the trees have other classes")
        inside = all(0 <= place < whole.n_trees for place in self.places)
        sound(inside and self.grove.n_trees == len(self.places), "a tree is not one of the forest")
        own = getattr(self.forest, "classes_", None)
        same = own is None if self.classes is None else own is not None and np.array_equal(own, self.classes)
        sound(same, "the trees have other classes")
        return self

    def __len__(self) -> int:
        return len(self.places)

    @property
    def names(self) -> tuple[str, ...]:
        """Trees are counted from one."""
        kind = "decisiontreeregressor" if self.classes is None else "decisiontreeclassifier"
        return tuple(f"{kind}-{place + 1}" for place in self.places)

    @property
    def members(self) -> tuple[Any, ...]:
        """Each tree as an estimator; made when somebody asks."""
        every = self.forest.estimators_
        return tuple(every[place] for place in self.places)

    def only(self, places: Iterable[int]) -> "TreePool":
        """Some of the trees."""
        chosen = [int(place) for place in places]
        return replace(self, grove=trees_of(self.grove, chosen), places=tuple(self.places[place] for place in chosen))

    def said(self, X: Any, saying: Saying, owner: str, threads: int = 1, hard_where_needed: bool = False) -> Floats:
        """What all trees say of the rows of a table, (n, m, width)."""
        said = said_by_trees(self.grove, self.forest._read(getattr(X, "X", X)), threads)
        return said.argmax(axis=2)[:, :, None].astype(np.float64) if saying == "votes" else said


AnyPool = Pool | TreePool


def can_be_pruned(ensemble: Any) -> bool:
    """Whether a smaller copy of a fitted ensemble can be made."""
    forest = isinstance(ensemble, ForestSkin) and hasattr(ensemble, "grove_")
    return forest or (type(ensemble).__module__.startswith(PLAIN_MEANS) and hasattr(ensemble, "estimators_"))


def pruned_ensemble(ensemble: Any, places: Sequence[int], owner: str) -> Any:
    """A copy of an ensemble with these of its members only, one as often as it is named: it says their mean."""
    made = copy.copy(ensemble)
    if isinstance(ensemble, ForestSkin):
        _prune_forest(made, ensemble, places)
    elif can_be_pruned(ensemble):
        for name in ("estimators_", "estimators_features_"):
            if hasattr(ensemble, name):
                setattr(made, name, [getattr(ensemble, name)[place] for place in places])
        if hasattr(ensemble, "_seeds"):
            made._seeds = np.asarray(ensemble._seeds)[list(places)]
    else:
        raise ParameterError(
            f"{owner}: estimators is a {type(ensemble).__name__}, of which no smaller copy can be made. That is done for random forests "
            "and extra-trees of Woodwind, and for these and bagging of scikit-learn. The selection itself predicts with what it kept."
        )
    made.n_estimators = len(places)
    for name in OF_ALL:
        vars(made).pop(name, None)
    return made


def _prune_forest(made: Any, forest: ForestSkin, places: Sequence[int]) -> None:
    """A forest of ours. What trees have not seen can no longer be told by their numbers: none of it is claimed."""
    grove = forest._voting(forest.grove_)
    made.grove_ = trees_of(grove, places, getattr(forest, "criterion", "") in ("entropy", "log_loss"))
    drawing = forest._drawing
    made._drawing = replace(drawing, replace=False, n_draws=drawing.n_units)
    if hasattr(forest, "leaf_rows_"):
        made.leaf_rows_ = leaf_rows_of(forest.leaf_rows_, grove, places)
