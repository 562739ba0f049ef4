"""What adaptive boosting for classification and regression share: where the rows come from, and what can be asked of the learners."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import InterruptWarning
from woodwind.base.notice import notice
from woodwind.base.validate import require, require_array, require_labels
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.adaboost import (
    AdaptivePlan,
    AdaptiveRound,
    AdaptiveRows,
    AdaptiveState,
    RegressionRound,
    adaptive_rounds,
    scores_of,
)
from woodwind.ensemble.boosting.early_stopping import TrainingStep, until_no_better
from woodwind.ensemble.progress import with_progress
from woodwind.ensemble.weak_learner import (
    DrawnTreeLearner,
    Floats,
    Integers,
    TrainedClassifier,
    WeakClassifier,
    WeakTreeLearner,
    WeakTreeRows,
    weak_classifier,
)
from woodwind.estimators.base.base_learner import EstimatorLearner, class_answers, read_table, rows_of
from woodwind.estimators.base.model import check_lengths, read_training, row_count
from woodwind.estimators.base.tree_base import BaseTreeModel
from woodwind.estimators.base.weights import Weighing
from woodwind.estimators.forests.decision_tree import DecisionTreeClassifier
from woodwind.estimators.pools.pool_base import input_tags_of
from woodwind.tree.forest import Forest, are_probabilities, importance, joined, with_scores

# ----------------------------------------------------------------------------------------------------
# What adaptive boosting of classes has trained: learners, their weights, and the scores that they add up to.


R = TypeVar("R", AdaptiveRound, RegressionRound)

# Algorithms that ask learners for probabilities.
SOFT = ("samme.r", "m2")
VOTES = ("discrete", "samme")
ALGORITHMS = (*VOTES, "mh", *SOFT)


@dataclass(frozen=True, eq=False)
class AdaptiveModel:
    """Rounds of one adaptive boosting of `n_labels` labels; learners are trees in a forest, or estimators."""

    algorithm: str
    n_labels: int
    weights: Floats
    errors: Floats
    edges: Floats
    bounds: Floats
    forest: Forest | None
    probabilities: Floats | None  # of the nodes of the forest
    estimators: tuple[Any, ...]
    labels: NDArray[Any]  # as the estimators know them

    def check(self) -> "AdaptiveModel":
        """Learners are as many as their weights, and know the labels; returns self, or raises DataError."""
        require(self.algorithm in ALGORITHMS, "an algorithm is not known")
        require(self.n_labels >= 2 and self.weights.size >= 1, "there are no labels, or no learners")
        require_array(self.weights, (None,), "the weights of learners")
        require(0.0 < abs(self.weights[0]) <= self.total_weight < np.inf, "learners have no weight")
        require((self.weights >= 0.0).all() or self.algorithm in VOTES, "a learner has a negative weight")
        require_labels(self.labels, "learners")
        require(len(self.labels) == (2 if self.algorithm == "mh" else self.n_labels), "learners know other labels than they vote for")
        require((self.forest is None) == (self.probabilities is None), "trees have no class probabilities")
        if self.forest is not None and self.probabilities is not None:
            require(self.forest.n_outputs == self.n_labels, "the trees have other scores than there are labels")
            require(self.forest.n_trees == self.weights.size * self.per_round, "there are more weights than trees, or fewer")
            require_array(self.probabilities, (self.forest.n_nodes, len(self.labels)), "the class probabilities")
            require(are_probabilities(self.probabilities), "the class probabilities are none")
            require(not self.estimators, "there are trees and other learners")
        else:
            require(len(self.estimators) == self.weights.size * self.per_round, "there are more weights than learners, or fewer")
            require(all(hasattr(one, "predict") for one in self.estimators), "a learner is no model")
        return self

    def join(self, other: "AdaptiveModel") -> "AdaptiveModel":
        """The rounds of both, this one's first."""
        both: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("weights", "errors", "edges", "bounds")
        }
        if self.forest is None or other.forest is None or self.probabilities is None or other.probabilities is None:
            return replace(self, **both, estimators=self.estimators + other.estimators)
        probabilities = np.concatenate([self.probabilities, other.probabilities])
        return replace(self, **both, forest=joined([self.forest, other.forest]), probabilities=probabilities)

    @property
    def total_weight(self) -> float:
        """The weight of all learners, whether their votes count for or against what they say."""
        return float(np.abs(self.weights).sum())

    @property
    def is_soft(self) -> bool:
        """Whether learners are asked for probabilities."""
        return self.algorithm in SOFT

    @property
    def per_round(self) -> int:
        """Learners of a round."""
        return self.n_labels if self.algorithm == "mh" else 1

    def staged(self, X: Any, threads: int) -> Iterator[Floats]:
        """Scores of the labels after every round, (n, K), over the weights of the learners so far; `X` is a table as learners take it."""
        so_far = np.cumsum(np.abs(self.weights))
        sums = self._forest_sums(X, threads) if self.forest is not None else self._estimator_sums(X)
        for number, total in enumerate(sums):
            yield total / so_far[number]

    def scores(self, X: Any, threads: int) -> Floats:
        """The same after the last round."""
        if self.forest is not None:
            return np.asarray(self.forest.raw(X, threads) / np.abs(self.weights).sum())
        return deque(self.staged(X, threads), maxlen=1)[0]

    def _forest_sums(self, X: Any, threads: int) -> Iterator[Floats]:
        assert self.forest is not None
        return self.forest.staged_raw(X, threads, self.per_round)

    def _estimator_sums(self, X: Any) -> Iterator[Floats]:
        total = np.zeros(0)
        for number, weight in enumerate(self.weights):
            members = self.estimators[number * self.per_round : (number + 1) * self.per_round]
            answers = [class_answers(member, X, self.labels, self.algorithm in SOFT) for member in members]
            scores = np.concatenate([scores_of(self.algorithm, predicted, float(weight)) for predicted in answers], axis=1)
            total = scores if number == 0 else total + scores
            yield total


def one_margin(scores: Floats) -> Floats:
    """The score of the second of two labels over that of the first."""
    return np.asarray(scores[:, 1] - scores[:, 0])


@dataclass(eq=False)
class Rounds:
    """How rounds are gathered: how many, who shows them, what is watched while they are made, and when that ends them."""

    owner: str
    count: int
    verbose: bool
    state: AdaptiveState = field(default_factory=AdaptiveState)  # where to begin; afterwards that of the last round which is kept
    watch: Callable[[Any], float] | None = None  # the loss on rows to stop by, after a round
    patience: int | None = None  # None: watched, but not stopped by
    tol: float = 0.0

    def gathered(self, rounds: Iterable[R]) -> list[R]:
        """All rounds; an interrupt ends them with a warning, unless it comes before the end of the first."""
        began, before = time.perf_counter(), self.state.number
        best = self.state.copy()  # of the rounds so far, where some may be taken back

        def watched() -> Iterator[TrainingStep]:
            nonlocal best
            lowest = math.inf
            for one in rounds:
                loss = None if self.watch is None else self.watch(one)
                if loss is not None and self.patience is not None and loss < lowest:
                    lowest, best = loss, self.state.copy()
                yield TrainingStep(one, one.error, loss, time.perf_counter() - began)

        steps: Iterable[TrainingStep] = watched()
        if self.patience is not None:
            steps = until_no_better(steps, self.patience, self.tol)
        done: list[Any] = []
        try:
            for step in with_progress(steps, self.count, self.owner) if self.verbose else steps:
                done.append(step.round)  # noqa: PERF401  (an interrupt must not lose those before it)
        except KeyboardInterrupt:
            if not done:
                raise
            notice(
                f"{self.owner} was interrupted after {before + len(done):,} of {self.count:,} rounds: the model of the rounds that were "
                "finished is kept.",
                InterruptWarning,
            )
        if self.patience is not None and done and best.number > before:
            done, self.state = done[: best.number - before], best
        return done


def train_model(rows: AdaptiveRows, learner: WeakClassifier, plan: AdaptivePlan, labels: NDArray[Any], how: Rounds) -> AdaptiveModel | None:
    """Boost; None where no learner is better than chance."""
    done = how.gathered(adaptive_rounds(rows, learner, plan, how.count, how.state))
    return None if not done else model_of(done, plan, labels)


def model_of(rounds: list[AdaptiveRound], plan: AdaptivePlan, labels: NDArray[Any]) -> AdaptiveModel:
    """The model of finished rounds."""
    trained: list[tuple[TrainedClassifier, float]] = [(one, finished.weight) for finished in rounds for one in finished.trained]
    forest, probabilities, estimators = None, None, ()
    if isinstance(trained[0][0].member, Forest):
        values = [scores_of(plan.algorithm, one.nodes, weight) for one, weight in trained]
        output = [position % plan.n_labels if plan.algorithm == "mh" else -1 for position in range(len(trained))]
        forest = with_scores(joined([one.member for one, _ in trained]), values, output, plan.n_labels)
        probabilities = np.concatenate([one.member.value for one, _ in trained])
    else:
        estimators = tuple(one.member for one, _ in trained)
    return AdaptiveModel(
        algorithm=plan.algorithm,
        n_labels=plan.n_labels,
        weights=np.array([one.weight for one in rounds]),
        errors=np.array([one.error for one in rounds]),
        edges=np.array([one.edge for one in rounds]),
        bounds=np.array([one.bound for one in rounds]),
        forest=forest,
        probabilities=probabilities,
        estimators=estimators,
        labels=labels,
    )


def tree_of(model: AdaptiveModel, number: int) -> Forest:
    """One tree of the model, with the class probabilities as its values."""
    assert model.forest is not None
    assert model.probabilities is not None
    one = model.forest.first(number + 1).rest(number)
    begin, end = model.forest.roots[number], model.forest.roots[number + 1]
    value = model.probabilities[begin:end]
    return replace(one, value=value, output=np.array([-1]), n_outputs=value.shape[1], start=np.zeros(value.shape[1]))


Values = dict[str, Any]

LEARNERS = """
The learner may be any estimator; one that takes no sample_weight is trained on rows drawn by weight. Without one, trees of depth
`max_depth` are grown by Woodwind's own engine, which takes any table as it is: text, categories, dates, missing values. On columns of at
most `max_bins` different values these are the trees that scikit-learn grows; other columns are cut into bins of about equal weight;
max_bins=None considers every threshold.
"""


@dataclass(frozen=True, eq=False)
class LearnerSource:
    """The rows to learn from. `X` is a table of the engine where `trees` are there, else what estimators take."""

    X: Any
    trees: WeakTreeRows | None
    count: Integers | None  # how many rows each stands for; None for one each
    weight: Floats | None  # of each of these
    threads: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.n_rows) if self.trees is not None else int(self.X.shape[0])

    def learner(self, values: Values, labels: NDArray[Any], soft: bool) -> WeakClassifier:
        """The learner of classes."""
        if self.trees is None:
            return EstimatorLearner(values["estimator"], self.X, self.count, soft, labels, values.get("bootstrap", False))
        if values.get("bootstrap", False):
            return DrawnTreeLearner(replace(self.trees, count=self.count), values["max_depth"], self.threads)
        return weak_classifier(replace(self.trees, count=self.count), values["max_depth"], len(labels), self.threads)

    def weak_regressor(self, values: Values) -> EstimatorLearner | WeakTreeLearner:
        """The learner of numbers."""
        if self.trees is None:
            return EstimatorLearner(values["estimator"], self.X, self.count)
        return WeakTreeLearner(replace(self.trees, count=self.count), values["max_depth"], self.threads)

    def part(self, rows: NDArray[np.int64]) -> "tuple[LearnerSource, NDArray[np.int64]]":
        """The same with some rows only, and which of them it still has: trees mark the others as absent."""
        if self.trees is None:
            count = None if self.count is None else self.count[rows]
            return replace(self, X=rows_of(self.X, rows), count=count, weight=None if self.weight is None else self.weight[rows]), rows
        count = np.zeros(self.n_rows, np.int64)
        count[rows] = 1 if self.count is None else self.count[rows]
        return replace(self, count=count), np.arange(self.n_rows)


class BaseAdaBoost(BaseTreeModel):
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
    ) -> tuple[LearnerSource, NDArray[np.int64] | None]:
        """The rows to learn from, and which rows of the table they are, None for all; `known` is how an earlier fit has read its table."""
        count, weight = weighing.of_rows(n_rows)
        if values["estimator"] is None:
            schema, table = read_training(X, values["categorical_features"], weighing.given, n_rows, self._owner, known)
            self._set_schema(schema)
            trees = WeakTreeRows.of(table, values["max_bins"], weighing.given, count, self._threads)
            return LearnerSource(table, trees, count, weight, self._threads), None
        X = read_table(self, X, reset=known is None)
        check_lengths(self._owner, row_count(X), n_rows)
        source = LearnerSource(X, None, count, weight, self._threads)
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
        tree._set_schema(self.schema_)
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
