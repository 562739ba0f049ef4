"""What adaptive boosting of classes and of numbers share: where the rows come from, and what can be asked of the learners."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.data.schema import Schema
from woodwind.data.table import Table
from woodwind.ensemble.learner import ClassLearner, Floats, Integers, TreeLearner, TreeRows, class_learner
from woodwind.estimators.adaptive_model import AdaptiveModel, tree_of
from woodwind.estimators.base_learner import EstimatorLearner, read_table, rows_of
from woodwind.estimators.composed import input_tags_of
from woodwind.estimators.skin import check_lengths, read_training, row_count
from woodwind.estimators.tree_skin import TreeSkin
from woodwind.estimators.trees import DecisionTreeClassifier
from woodwind.estimators.weights import Weighing
from woodwind.tree.forest import Forest
from woodwind.tree.importance import importance

Values = dict[str, Any]

LEARNERS = """
The learner may be any estimator; one that takes no sample_weight is trained on rows drawn by weight. Without one, trees of depth
`max_depth` are grown by Woodwind's own engine, which takes any table as it is: text, categories, dates, missing values. On columns of at
most `max_bins` different values these are the trees that scikit-learn grows; other columns are cut into bins of about equal weight;
max_bins=None considers every threshold.
"""


@dataclass(frozen=True, eq=False)
class Source:
    """The rows to learn from. `X` is a table of the engine where `trees` are there, else what estimators take."""

    X: Any
    trees: TreeRows | None
    count: Integers | None  # how many rows each stands for; None for one each
    weight: Floats | None  # of each of these
    threads: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.n_rows) if self.trees is not None else int(self.X.shape[0])

    def learner(self, values: Values, labels: NDArray[Any], soft: bool) -> ClassLearner:
        """The learner of classes."""
        if self.trees is None:
            return EstimatorLearner(values["estimator"], self.X, self.count, soft, labels)
        return class_learner(replace(self.trees, count=self.count), values["max_depth"], len(labels), self.threads)

    def number_learner(self, values: Values) -> EstimatorLearner | TreeLearner:
        """The learner of numbers."""
        if self.trees is None:
            return EstimatorLearner(values["estimator"], self.X, self.count)
        return TreeLearner(replace(self.trees, count=self.count), values["max_depth"], self.threads)

    def part(self, rows: NDArray[np.int64]) -> "tuple[Source, NDArray[np.int64]]":
        """The same with some rows only, and which of them it still has: trees mark the others as absent."""
        if self.trees is None:
            count = None if self.count is None else self.count[rows]
            return replace(self, X=rows_of(self.X, rows), count=count, weight=None if self.weight is None else self.weight[rows]), rows
        count = np.zeros(self.n_rows, np.int64)
        count[rows] = 1 if self.count is None else self.count[rows]
        return replace(self, count=count), np.arange(self.n_rows)


class AdaptiveSkin(TreeSkin):
    """A vote of learners: trees of the engine, or estimators."""

    estimator: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = input_tags_of(self.estimator)
        return tags

    def _forget(self, names: tuple[str, ...]) -> None:
        """Take away what an earlier fit has left, and this one may not set."""
        for name in names:
            vars(self).pop(name, None)

    def _opened(
        self, X: Any, n_rows: int, weighing: Weighing, values: Values, known: Schema | None = None
    ) -> tuple[Source, NDArray[np.int64] | None]:
        """The rows to learn from, and which rows of the table they are, None for all; `known` is how an earlier fit has read its table."""
        count, weight = weighing.of_rows(n_rows)
        if values["estimator"] is None:
            schema, table = read_training(X, values["categorical_features"], weighing.given, n_rows, self._owner, known)
            self._keep_schema(schema)
            trees = TreeRows.of(table, values["max_bins"], weighing.given, count, self._threads)
            return Source(table, trees, count, weight, self._threads), None
        X = read_table(self, X, reset=known is None)
        check_lengths(self._owner, row_count(X), n_rows)
        source = Source(X, None, count, weight, self._threads)
        if count is None or count.all():
            return source, None
        kept = np.flatnonzero(count)
        return source.part(kept)[0], kept

    def _opened_for_prediction(self, X: Any) -> Any:
        """A table to predict for, as the learners take it."""
        check_is_fitted(self)
        return self._read(X) if hasattr(self, "schema_") else read_table(self, X, reset=False)

    def _read(self, X: Any) -> Table:
        check_is_fitted(self)
        if not hasattr(self, "schema_"):
            kind = type(self.estimator).__name__
            raise AttributeError(f"{self._owner}: this is for Woodwind's own trees (estimator=None), and the learners are of type {kind}.")
        return super()._read(X)

    def _members(self, model: AdaptiveModel) -> list[Any]:
        """The learners of one model, as estimators."""
        if model.forest is None:
            return list(model.estimators)
        return [self._tree(tree_of(model, number), model.labels) for number in range(model.forest.n_trees)]

    def _tree(self, forest: Forest, labels: NDArray[Any]) -> DecisionTreeClassifier:
        """A tree of the engine as an estimator of its own."""
        tree = DecisionTreeClassifier(max_depth=getattr(self, "max_depth", None), max_bins=getattr(self, "max_bins", None))
        tree._keep_schema(self.schema_)
        tree.classes_ = labels
        tree.forest_ = forest
        return tree

    def _shares_of_columns(self, members: list[Any], weights: Floats) -> Floats:
        """Importances of the columns, by the weights of the learners."""
        if weights.sum() <= 0.0:
            weights = np.ones(len(members))
        each = [weight * np.asarray(member.feature_importances_) for member, weight in zip(members, weights, strict=True)]
        return np.asarray(sum(each[1:], each[0]) / weights.sum())

    def _shares_in_forest(self, forest: Forest, weights: Floats) -> Floats:
        """The same from the trees of a forest: the gains of each, as shares, by its weight."""
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.roots))
        total = np.bincount(tree, forest.gain, forest.n_trees)
        weight = np.where(total > 0.0, weights / np.where(total > 0.0, total, 1.0), 0.0)
        by_feature = importance(replace(forest, gain=forest.gain * weight[tree]), "gain")
        gain: Floats = np.zeros(self.schema_.n_inputs)
        np.add.at(gain, self.schema_.source, by_feature)
        return np.asarray(gain / weights.sum())
