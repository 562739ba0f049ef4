"""What is read from a file, whichever library wrote it: a forest on the columns of a schema, and what its scores mean."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.categories import AllCategories
from woodwind.data.tables.fields import Field, NumberField, OpenCategoryField, SentinelField
from woodwind.data.tables.schema import Schema
from woodwind.losses.base import Loss
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.store.imported.contents import demand
from woodwind.tree.forest import Forest

CLASSIFICATION, REGRESSION, RANKING = "classification", "regression", "ranking"


@dataclass(frozen=True, eq=False)
class ReadModel:
    """A model of another library."""

    library: str
    task: str
    forest: Forest
    schema: Schema
    loss: Loss
    classes: Any = None  # labels in order, of several targets a list of them; None for numbers
    trees_per_round: int = 1
    parallel_trees: int = 1
    learning_rate: float | None = None  # None where the file does not tell
    params: dict[str, Any] = field(default_factory=dict)  # further parameters of the estimator

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting."""
        return self.forest.n_trees // self.trees_per_round

    def check(self) -> "ReadModel":
        """Scores are those of the loss, and rounds are whole; returns self."""
        demand(self.forest.n_outputs == self.loss.width, "its trees have other scores than its objective")
        demand(self.forest.n_trees % self.trees_per_round == 0, "its last round is not whole")
        self.schema.check()
        for one in self.schema.fields:
            if hasattr(one, "check"):
                one.check()
        return self

    def with_classes(self, labels: Any) -> "ReadModel":
        """The same with other names of its classes, given in the order of its scores; they are put in their own order."""
        names = np.asarray(labels)
        demand(names.ndim == 1 and self.classes is not None and names.size == len(self.classes), "labels are not one for each class")
        order = np.argsort(names)
        forest = self.forest
        if not np.array_equal(order, np.arange(names.size)):
            forest = negated(forest) if names.size == 2 else reordered(forest, order)
        return replace(self, classes=names[order], forest=forest)


def negated(forest: Forest) -> Forest:
    """The same trees for the other of two classes."""
    return replace(forest, value=-forest.value, start=-forest.start)


def reordered(forest: Forest, order: NDArray[np.int64]) -> Forest:
    """The same trees with their scores in another order."""
    position = np.argsort(order)
    output = np.where(forest.output >= 0, position[forest.output], -1)
    value = forest.value[:, order] if forest.value.shape[1] > 1 else forest.value
    return replace(forest, value=value, output=output, start=forest.start[order])


def two_scores_as_one(forest: Forest) -> Forest:
    """A softmax of two scores is the logistic function of their difference: the second less the first."""
    wide = forest.value.shape[1] == 2
    sign = np.where(forest.output == 0, -1.0, 1.0)
    by_node = np.repeat(sign, np.diff(forest.roots))[:, None]
    value = forest.value[:, 1:] - forest.value[:, :1] if wide else forest.value * by_node
    return replace(forest, value=value, output=np.zeros(forest.n_trees, np.int32), n_outputs=1, start=forest.start[1:] - forest.start[:1])


def classification(forest: Forest, n_classes: int) -> tuple[Forest, Loss, NDArray[np.int64]]:
    """A forest of scores of classes, its loss and the numbers of the classes."""
    if n_classes == 2 and forest.n_outputs == 2:
        forest = two_scores_as_one(forest)
    return forest, LogLoss() if n_classes == 2 else Multinomial(n_classes), np.arange(n_classes)


def several(loss: Loss, count: int) -> Loss:
    """The loss of so many targets, which is the same for each."""
    return loss if count == 1 else SeveralTargetsLoss((loss,) * count)


# ----------------------------------------------------------------------------------------------------
# Columns.


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns that a file speaks of: their names, and which of them hold categories."""

    names: tuple[str, ...] | None  # None where the library has made them up
    n_columns: int
    categories: dict[int, AllCategories]  # by column
    sentinels: dict[int, tuple[float, float]] = field(default_factory=dict)  # by column: the range of what stands for missing
    hashed: bool = False  # categories are hashes

    def schema(self) -> Schema:
        """How tables are read."""
        demand(self.n_columns >= 1, "it has no columns")
        names = self.names if self.names is not None else tuple(f"x{column}" for column in range(self.n_columns))
        demand(len(names) == self.n_columns == len(set(names)), "columns have not one name each")
        return Schema(self.names, tuple(self._field(column, name) for column, name in enumerate(names))).check()

    def _field(self, column: int, name: str) -> Field:
        if column in self.categories:
            return OpenCategoryField(name, self.categories[column], self.hashed)
        if column in self.sentinels:
            return SentinelField(name, *self.sentinels[column])
        return NumberField(name)

    @property
    def n_codes(self) -> NDArray[np.int64]:
        """Codes of each column, that of categories never seen included; 0 for numbers."""
        return np.array([len(self.categories[c].values) + 1 if c in self.categories else 0 for c in range(self.n_columns)], np.int64)


def mentioned(numbers: Sequence[NDArray[np.int64]]) -> AllCategories:
    """The categories that splits name, as numbers: all that a file tells where it has no names of them."""
    return AllCategories.of(np.unique(np.concatenate([np.zeros(0, np.int64), *numbers])).astype(np.float64).tolist())


def codes_of(categories: AllCategories, numbers: NDArray[np.int64], named: bool) -> NDArray[np.int64]:
    """The codes of categories that a split names by their numbers: these themselves where categories have names."""
    return numbers if named else np.searchsorted(np.asarray(categories.values), numbers)
