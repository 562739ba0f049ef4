"""Adaptive boosting of regressors: AdaBoost.R2, by trees of the engine or by any estimator."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.validate import require_finite
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.adaboost import AdaptiveRows, RegressionPlan, RegressionRound, regression_rounds, weighted_median
from woodwind.estimators.adaptive.adaboost_base import LEARNERS, LearnerSource
from woodwind.estimators.adaptive.adaboost_stopping import (
    BaseStoppableAdaBoost,
    BoostingRecord,
    EvaluationResult,
    WatchedMedians,
    digest_of,
    number_answers,
)
from woodwind.estimators.base.base_learner import check_estimator, draws_anything, regression_answers
from woodwind.estimators.base.model import COLUMNS
from woodwind.estimators.base.target import Target, read_regression_target
from woodwind.estimators.base.weights import Weighing, read_weight
from woodwind.estimators.forests.decision_tree import DecisionTreeRegressor
from woodwind.params.adaptive import AdaptiveParams, AdaptiveRegressorParams, AdaptiveStopParams, OwnTreeParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.tree.forest import Forest, joined, tree_of, with_scores

Floats = NDArray[np.float64]
Values = dict[str, Any]


@knobs
class AdaBoostRegressor(
    AdaptiveParams,
    AdaptiveRegressorParams,
    OwnTreeParams,
    AdaptiveStopParams,
    WorkParams,
    BaseStoppableAdaBoost,
    RegressorMixin,
    BaseEstimator,
):
    """AdaBoost.R2 for regression: learners that draw rows which those before them got wrong; the prediction is their weighted median.

    {learners}

    Boosting ends at a learner whose mean loss, by the weights of the rows, is one half or more: it is discarded, after ten tries where
    rows or numbers are drawn. The first learner is kept whatever its loss.

    {parameters}

    Attributes
    ----------
    estimator_weights_, estimator_errors_ : arrays of shape (n_rounds,)
        Of every round, the weight of its learner, and its mean loss by the weights of the rows.
    estimators_ : list of regressors
        The learners.
    evals_result_ : dict
        What was watched in every round, with `early_stopping` or `eval_set`: by table ('validation_0' for the rows held out; tables of
        `eval_set` by their names, or 'validation_0', 'validation_1' and so on), then by metric, the value after each round that was
        trained, those after the best one included.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaBoostRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    _state: ClassVar[dict[str, Any]] = {
        "_estimators": list[Any],
        "estimator_errors_": Floats | list[Floats],
        "estimator_weights_": Floats | list[Floats],
    }
    _optional_state: ClassVar[dict[str, Any]] = {
        "forest_": Forest, "schema_": Schema, "evals_result_": EvaluationResult, "_training_record": BoostingRecord,
    }  # fmt: skip

    _docstring_parts: ClassVar[dict[str, str]] = {"learners": LEARNERS, "columns": COLUMNS}

    max_depth = 3

    default_metric = "rmse"

    def _read_watched_target(self, y: Any) -> Target:
        return read_regression_target(y, f"{self._owner}, eval_set")

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, eval_set: Any = None) -> None:
        if values["estimator"] is not None:
            check_estimator(values["estimator"], self._owner, classifies=False)
        record = self._record(values, len(self.estimator_weights_) if hasattr(self, "estimator_weights_") else None)
        known = getattr(self, "schema_", None) if record is not None else None
        before = [] if record is None else self._trained_members()
        if record is None:
            self._forget(("forest_", "schema_"))
        target = read_regression_target(y, self._owner)
        weighing = Weighing.of(read_weight(sample_weight, target.n_rows, self._owner))
        source, kept = self._opened(X, target.n_rows, weighing, values, known)
        done = self._boosted(source, target.at(kept), values, eval_set, record, before)
        earlier = (np.zeros(0), np.zeros(0)) if record is None else (self.estimator_weights_, self.estimator_errors_)
        self.estimator_weights_ = np.concatenate([earlier[0], [one.weight for one in done]])
        self.estimator_errors_ = np.concatenate([earlier[1], [one.error for one in done]])
        members = before + [one.member for one in done]
        self._estimators = []
        if isinstance(members[0], Forest):
            self.forest_ = with_scores(joined(members), [one.value for one in members], [0] * len(members), 1)
        else:
            self._estimators = members

    def _boosted(
        self, source: LearnerSource, target: Target, values: Values, eval_set: Any, record: BoostingRecord | None, before: list[Any]
    ) -> list[RegressionRound]:
        """The rounds that are not there yet: stopped by rows that are watched, if that is asked for."""
        digest = digest_of(target.y, AdaptiveRows.of(np.zeros(len(target.y), np.int32), source.weight, source.count))
        if record is not None:
            self._check_rows(record, digest)
        seed = self._seed_of(values, record)
        held = self._held(values, source, target, eval_set, seed)
        tables, curves = self._tables(values, source, target, held, eval_set)
        part, rows = (source, np.arange(source.n_rows)) if held is None else source.part(np.setdiff1d(np.arange(source.n_rows), held))
        watch = None
        if tables:
            known = [[one.of(number_answers(member, one.X, self._threads)) for member in before] for one in tables]
            watch = WatchedMedians(tables, list(self.estimator_weights_) if before else [], known, self._threads)
        rounds = self._rounds_plan(values, self._state_at_start(record, (len(rows),)), watch)
        draws = values["estimator"] is not None and draws_anything(values["estimator"])
        plan = RegressionPlan(values["loss"], values["learning_rate"], values["bootstrap"], seed, draws)
        weighed, numbers = AdaptiveRows.of(np.zeros(len(rows), np.int32), part.weight, part.count), target.y[rows]
        done: list[RegressionRound] = []
        if not rounds.state.ended:
            made = regression_rounds(numbers, weighed, part.weak_regressor(values), plan, rounds.count, rounds.state)
            done = rounds.gathered(made)
        self._set_curves(curves, bool(before), len(before))
        self._keep_record(values, digest, seed, rounds.state)
        return done

    def _trained_members(self) -> list[Any]:
        """The learners that are there: trees of the engine as they were grown, or estimators."""
        if self._estimators:
            return list(self._estimators)
        return [tree_of(self.forest_, number) for number in range(self.forest_.n_trees)]

    @property
    def estimators_(self) -> list[Any]:
        """The learners of all rounds."""
        check_is_fitted(self)
        if self._estimators:
            return list(self._estimators)
        trees = []
        for number in range(self.forest_.n_trees):
            tree = DecisionTreeRegressor(max_depth=self.max_depth, max_bins=self.max_bins)
            tree._set_schema(self.schema_)
            tree.forest_ = tree_of(self.forest_, number)
            trees.append(tree)
        return trees

    @property
    def feature_importances_(self) -> Floats:
        """The share that each column has in the gains of the learners, by their weights."""
        check_is_fitted(self)
        if self._estimators:
            return self._shares_of_columns(self._estimators, self.estimator_weights_)
        return self._shares_in_forest(self.forest_, self.estimator_weights_)

    def _shapley(self, table: Table) -> tuple[Floats, Floats, Floats]:
        self._explained_forest()
        return super()._shapley(table)

    def _explained_forest(self) -> Forest:
        raise ParameterError(
            f"{self._owner}: explain() adds up what trees bring, and the weighted median of trees is no sum of them. "
            "Explain a GradientBoostingRegressor or a forest instead."
        )

    def predict(self, X: Any) -> Floats:
        """The weighted median of what the learners say.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return weighted_median(self._predicted(X), self.estimator_weights_)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The predictions after every round."""
        predicted = self._predicted(X)
        for number in range(1, predicted.shape[1] + 1):
            yield weighted_median(predicted[:, :number], self.estimator_weights_[:number])

    def _predicted(self, X: Any) -> Floats:
        """What every learner says about every row, (n, T)."""
        table = self._opened_for_prediction(X)
        if self._estimators:
            return require_finite(np.stack([regression_answers(one, table) for one in self._estimators], axis=1), self._owner)
        leaves = self.forest_.leaves(table, self._threads)
        return np.asarray(self.forest_.value[self.forest_.roots[:-1] + leaves, 0])
