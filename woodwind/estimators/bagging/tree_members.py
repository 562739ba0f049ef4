"""Members of a bag that are decision trees of Woodwind: all are grown from one coded table, and kept in one forest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from woodwind.base.validate import require
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.bag import in_order
from woodwind.ensemble.combine import ballots, tie_keys
from woodwind.ensemble.resampling import Resampling
from woodwind.estimators.base.bootstrap_checks import check_distributions
from woodwind.estimators.forests.decision_tree import (
    CodedTable,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    TreeSample,
    needs_forest_engine,
)
from woodwind.estimators.pools.members import BagTask, Kind
from woodwind.params.check import check
from woodwind.tree.forest import Forest, check_probabilities, joined, on_features, tree_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def can_share(base: Any, distributions: Any) -> bool:
    """Whether members can be grown from one coded table: trees of ours, of the exact engine, that agree on what is a category."""
    if type(base) not in (DecisionTreeClassifier, DecisionTreeRegressor) or needs_forest_engine(base.get_params()):
        return False
    return not {"categorical_features", "splitter", "criterion"} & set(distributions)


class SharedTable:
    """A table that trees are grown from: read once, and coded once for each number of bins."""

    def __init__(self, task: BagTask, schema: Schema, table: Table, given: Floats | None, threads: int) -> None:
        self.task, self.schema, self.table, self.given, self.threads = task, schema, table, given, threads
        self._lock, self._coded = Lock(), dict[int | None, CodedTable]()

    def coded(self, max_bins: int | None) -> CodedTable:
        """The codes; whoever comes first makes them."""
        with self._lock:
            if max_bins not in self._coded:
                self._coded[max_bins] = CodedTable.of(self.schema, self.table, max_bins, self.given, self.threads)
            return self._coded[max_bins]

    def trees(self, numbers: Sequence[int]) -> Iterator[Forest]:
        """The trees of some members, in their order."""
        # What is wrong with parameters of the estimator itself is said before any work.
        self.coded(check(self.task.base)["max_bins"])
        sides = min(self.threads, len(numbers))
        inner = self.threads if sides == 1 else 1
        return in_order(lambda member: self.task.named(member, lambda: self.grow(member, inner)), numbers, sides)

    def grow(self, member: int, threads: int) -> Forest:
        """One tree, whose features are those of the whole table."""
        task = self.task
        tree = task.estimator(member)
        columns = None if task.resampling.all_columns else np.unique(task.resampling.columns(member))
        drawn = TreeSample(task.resampling.counts(member).astype(np.int64), task.weight, columns)
        return tree._member(self.coded(tree.max_bins), task.target_of(member), drawn, threads)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class TreeMembers:
    """Decision trees as one forest, whose scores are the sums of what they predict."""

    task: BagTask
    schema: Schema
    forest: Forest

    @classmethod
    def of(cls, task: BagTask, schema: Schema, trees: Sequence[Forest]) -> "TreeMembers":
        """Keep the trees, and of the task only what is needed to tell them apart."""
        return cls(replace(task, target=replace(task.target, y=task.target.y[:0]), weight=None), schema, joined(trees))

    def check(self) -> "TreeMembers":
        """The trees have the features of the schema; returns self, or raises DataError."""
        counts = self.schema.code_counts
        right = self.forest.n_features == len(counts) and np.array_equal(self.forest.set_words, -(-counts // 64))
        require(right and self.forest.n_trees > 0, "the trees have other features than the schema")
        require(self.resampling.n_columns == self.schema.n_inputs, "trees see other columns than there are")
        kind = DecisionTreeRegressor if self.task.target.classes is None else DecisionTreeClassifier
        require(type(self.task.base) is kind, "the trees are no trees")
        check_distributions(dict(self.task.distributions), self.task.base, "a bag")
        require(self.forest.n_outputs == max(self.task.target.n_classes, 1), "the trees have other scores than there are classes")
        if self.task.target.classes is not None:
            check_probabilities(self.forest)
        return self

    def __len__(self) -> int:
        return self.forest.n_trees

    def __getstate__(self) -> dict[str, Any]:
        return {"task": self.task, "schema": self.schema, "forest": self.forest}

    @property
    def resampling(self) -> Resampling:
        """What the members have seen."""
        return self.task.resampling

    @cached_property
    def _estimators(self) -> tuple[Any, ...]:
        return tuple(self._estimator(member) for member in range(len(self)))

    def estimators(self) -> list[Any]:
        """Each tree as an estimator; they are made when somebody asks for them, and share the arrays of the forest."""
        return list(self._estimators)

    def _estimator(self, member: int) -> Any:
        tree = clone(self.task.base).set_params(**self.task.parameters(member))
        schema, forest = self.schema, tree_of(self.forest, member)
        if not self.resampling.all_columns:
            # Columns that have names cannot be given twice.
            columns = self.resampling.columns(member)
            columns = columns if schema.names is None else np.unique(columns)
            forest = on_features(forest, np.concatenate([schema.features_of(column) for column in columns]))
            names = None if schema.names is None else tuple(schema.names[column] for column in columns)
            schema = Schema(names, tuple(schema.fields[column] for column in columns), schema.sparse_absent)
        tree._set_schema(schema)
        tree.forest_ = forest
        if self.task.target.classes is not None:
            tree.classes_ = self.task.target.classes
        return tree

    @cached_property
    def _voters(self) -> Forest:
        """The same trees, with ballots as values."""
        forest, n_classes = self.forest, self.forest.value.shape[1]
        votes = forest.value.argmax(axis=1)
        by_tree = [
            ballots(votes[begin:end], tie_keys(self.resampling.seed, member, n_classes))
            for member, (begin, end) in enumerate(zip(forest.roots[:-1], forest.roots[1:], strict=True))
        ]
        return replace(forest, value=np.concatenate(by_tree), n_outputs=n_classes + 1, start=np.zeros(n_classes + 1))

    def _response(self, kind: Kind) -> Forest:
        return self._voters if kind == "ballots" else self.forest

    def total(self, X: Any, kind: Kind, owner: str, threads: int) -> Floats:
        """The sum of what all trees say."""
        return self._response(kind).raw(self.schema.read(X, owner=owner), threads)

    def staged(self, X: Any, kind: Kind, owner: str, threads: int) -> Iterator[Floats]:
        """The running sums."""
        yield from self._response(kind).staged_raw(self.schema.read(X, owner=owner), threads)

    def out_of_bag(self, table: Table, kind: Kind, threads: int) -> Iterator[tuple[Integers, Floats]]:
        """For each member the rows that it has not seen, and what it predicts for them."""
        forest = self._response(kind)

        def of_member(member: int) -> tuple[Integers, Floats]:
            rows = np.flatnonzero(self.resampling.counts(member) == 0)
            return rows, tree_of(forest, member).raw(table)[rows]

        return in_order(of_member, range(len(self)), min(threads, len(self)))
