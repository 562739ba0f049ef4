"""AdaBoost that stops by rows held out, and that goes on from where it was: what classifier and regressor share."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.adaboost import AdaptiveRound, AdaptiveRows, AdaptiveState, RegressionRound, scores_of, weighted_median
from woodwind.ensemble.boosting.early_stopping import Evaluator
from woodwind.ensemble.held_out import hold_out
from woodwind.estimators.adaptive.adaboost_base import SOFT, AdaptiveModel, BaseAdaBoost, LearnerSource, Rounds, Values
from woodwind.estimators.base.base_learner import class_answers, read_table, regression_answers
from woodwind.estimators.base.model import TRAINING_DATA, all_or_nothing, check_lengths, row_count
from woodwind.estimators.base.scoring import EvaluationCurves, read_metrics, scorer_evaluator
from woodwind.estimators.base.splits import VALIDATION, read_eval_sets
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import read_weight
from woodwind.params.check import check
from woodwind.params.unknown import known_arguments
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
EvaluationResult = dict[str, dict[str, Floats]]


@dataclass(frozen=True, eq=False)
class WatchedTable:
    """Rows that are predicted after every round, and how that is scored, less being better; `rows` None for all of the table."""

    X: Any  # as learners take it
    rows: Integers | None
    evaluate: Evaluator

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """What belongs to the watched rows."""
        return values if self.rows is None else values[self.rows]


@dataclass(eq=False)
class WatchedVotes:
    """The scores of classes that watched rows have after every round."""

    tables: list[WatchedTable]
    algorithm: str
    labels: NDArray[Any]
    decide: Callable[[list[Floats]], Floats]
    earlier: AdaptiveModel | None
    threads: int
    _totals: list[Floats] = field(default_factory=list)
    _weight: float = 0.0

    def __call__(self, finished: AdaptiveRound) -> float:
        """The loss on the last table after one more round."""
        if not self._totals:
            self._weight = 0.0 if self.earlier is None else self.earlier.total_weight
            before = [
                0.0 if self.earlier is None else one.of(self.earlier.scores(one.X, self.threads)) * self._weight for one in self.tables
            ]
            self._totals = [np.asarray(total) for total in before]
        self._weight += abs(finished.weight)
        loss = np.inf
        for position, table in enumerate(self.tables):
            self._totals[position] = self._totals[position] + table.of(self._scores(finished, table.X))
            loss = table.evaluate(self.decide([self._totals[position] / self._weight]))
        return loss

    def _scores(self, finished: AdaptiveRound, X: Any) -> Floats:
        """What the learners of a round add to the scores of all rows of a table."""
        parts = []
        for one in finished.trained:
            if isinstance(one.member, Forest):
                probabilities = one.nodes[one.member.leaves(X, self.threads)[:, 0]]
            else:
                probabilities = class_answers(one.member, X, self.labels, self.algorithm in SOFT)
            parts.append(scores_of(self.algorithm, probabilities, finished.weight))
        return np.concatenate(parts, axis=1)


@dataclass(eq=False)
class WatchedMedians:
    """The numbers that watched rows are predicted to have after every round."""

    tables: list[WatchedTable]
    weights: list[float]  # of earlier learners
    predicted: list[list[Floats]]  # what these say, for each table
    threads: int

    def __call__(self, finished: RegressionRound) -> float:
        """The loss on the last table after one more round."""
        self.weights.append(finished.weight)
        loss = np.inf
        for table, columns in zip(self.tables, self.predicted, strict=True):
            columns.append(table.of(number_answers(finished.member, table.X, self.threads)))
            loss = table.evaluate(weighted_median(np.stack(columns, axis=1), np.array(self.weights)))
        return loss


def number_answers(member: Any, X: Any, threads: int) -> Floats:
    """What a learner of numbers says about all rows of a table."""
    if isinstance(member, Forest):
        return np.asarray(member.value[member.leaves(X, threads)[:, 0], 0])
    return regression_answers(member, X)


class IdentityModel:
    """A model whose scores are its predictions, for `scorer_evaluator`."""

    def _predicted(self, raw: Floats) -> Floats:
        return raw


@dataclass(frozen=True, eq=False)
class BoostingRecord:
    """What another fit must have to go on: which rows it was, the seed of all that is drawn, and where boosting was."""

    rows: str
    seed: int
    state: AdaptiveState


def digest_of(y: NDArray[Any], rows: AdaptiveRows) -> str:
    """Tells tables apart by their targets and weights."""
    parts = [np.ascontiguousarray(y), rows.weight, *([] if rows.count is None else [rows.count])]
    return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=16).hexdigest()


class BaseStoppableAdaBoost(BaseAdaBoost):
    """AdaBoost with early stopping and warm start."""

    default_metric: str
    warm_start: bool
    schema_: Schema
    estimator_weights_: Any
    estimator_errors_: Any
    _models: list[AdaptiveModel]
    _estimators: list[Any]

    @known_arguments
    @fill_docstring(data=TRAINING_DATA)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        {data}
        eval_set : (X, y) or (X, y, sample_weight), or several of them in a list or, by name, in a dict; default=None
            Data that are watched: `evals_result_` has the curves of all. With `early_stopping=True` they are stopped by, instead of a
            share of the rows, by the last table of several.

        Returns
        -------
        self
        """
        values = check(self)
        with all_or_nothing(self):
            self._fit(values, X, y, sample_weight, eval_set)
        return self

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, eval_set: Any = None) -> None:
        raise NotImplementedError

    def _read_watched_target(self, y: Any) -> Target:
        """The target of validation data."""
        raise NotImplementedError

    # Going on.

    def _record(self, values: Values, n_rounds: int | None) -> BoostingRecord | None:
        """The record of an earlier fit to go on from; None to begin anew. `n_rounds`: of the model that is there."""
        if not values["warm_start"] or n_rounds is None:
            return None
        record: BoostingRecord | None = vars(self).get("_training_record")
        if record is None:
            raise ParameterError(
                f"{self._owner}: warm_start=True goes on from the weights of the rows, and those of this model were not kept: it was "
                "trained with warm_start=False. Set warm_start=False to begin anew."
            )
        if values["n_estimators"] < n_rounds:
            raise ParameterError(
                f"{self._owner}: n_estimators={values['n_estimators']} is less than the {n_rounds} rounds that are there already, and "
                "warm_start=True only adds to them. Raise n_estimators, or set warm_start=False."
            )
        if (values["estimator"] is None) != hasattr(self, "schema_"):
            raise ParameterError(
                f"{self._owner}: warm_start=True goes on with learners of one kind: estimator=None as before, or an estimator as before. "
                "Set warm_start=False to begin anew."
            )
        return record

    def _state_at_start(self, record: BoostingRecord | None, shape: tuple[int, ...]) -> AdaptiveState:
        """Where to begin; `shape` is that of the weights."""
        if record is None:
            return AdaptiveState()
        state = record.state.copy()
        require(state.weight is None or state.weight.shape == shape, "the weights of rows are not as many as there are rows")
        require(state.scores is None or state.scores.shape[:1] == shape[:1], "the scores of rows are not as many as there are rows")
        return state

    def _check_rows(self, record: BoostingRecord, rows: str) -> None:
        if record.rows != rows:
            raise ParameterError(
                f"{self._owner}: warm_start=True goes on from the weights of the rows, and these are other rows, or other weights, than "
                "before. Give the same X, y and sample_weight, or set warm_start=False to begin anew."
            )

    def _keep_record(self, values: Values, rows: str, seed: int, state: AdaptiveState) -> None:
        """Remember where boosting was, for those who want to go on."""
        self._forget(("_training_record",))
        if values["warm_start"]:
            self._training_record = BoostingRecord(rows, seed, state.copy())

    def _seed_of(self, values: Values, record: BoostingRecord | None) -> int:
        return seed_of(values["random_state"]) if record is None else record.seed

    # Stopping.

    def _held(self, values: Values, source: LearnerSource, target: Target, eval_set: Any, seed: int) -> Integers | None:
        """The rows to hold out; None for none."""
        if not values["early_stopping"] or eval_set is not None:
            return None
        present = np.arange(source.n_rows) if source.count is None else np.flatnonzero(source.count)
        classes = target.y[present] if target.classes is not None else None
        return present[hold_out(seed, len(present), values["validation_fraction"], classes, None, self._owner)]

    def _tables(
        self, values: Values, source: LearnerSource, target: Target, held: Integers | None, eval_set: Any
    ) -> tuple[list[WatchedTable], EvaluationCurves | None]:
        """The tables that are watched, the last of which decides, and where their curves are kept."""
        if held is None and eval_set is None:
            return [], None
        given = list(values["scoring"]) if isinstance(values["scoring"], list | tuple) else [values["scoring"]]
        named = [self.default_metric if one is None else one for one in given]
        stand_in: Any = self if target.classes is not None else IdentityModel()
        curves = EvaluationCurves(read_metrics(named, stand_in, None, self._owner))  # type: ignore[arg-type]

        def watched(name: str, X: Any, rows: Integers | None, y: NDArray[Any], weight: Floats | None) -> WatchedTable:
            each = [scorer_evaluator(metric.scorer, stand_in, np.zeros((len(y), 1)), y, weight) for metric in curves.metrics]
            return WatchedTable(X, rows, curves.evaluator(name, each))

        if held is not None:
            parts = [part[held] for part in (source.weight, source.count) if part is not None]
            weight = np.prod(parts, axis=0).astype(np.float64) if parts else None
            return [watched(f"{VALIDATION}_0", source.X, held, target.at(held).labels(), weight)], curves
        tables = []
        for name, (X, y, sample_weight) in read_eval_sets(eval_set, self._owner).items():
            owner = f"{self._owner}, eval_set"
            other = self._read_watched_target(y)
            weight = read_weight(sample_weight, other.n_rows, owner)
            table = self.schema_.read(X, owner=owner) if source.trees is not None else read_table(self, X, reset=False)
            check_lengths(owner, table.n_rows if source.trees is not None else row_count(table), other.n_rows)
            tables.append(watched(name, table, None, other.labels(), weight))
        return tables, curves

    def _set_curves(self, curves: EvaluationCurves | None, goes_on: bool, n_before: int) -> None:
        """The curves of all rounds that were made, those after the best one included."""
        earlier = getattr(self, "evals_result_", {}) if goes_on else {}
        self._forget(("evals_result_",))
        if curves is None:
            return
        for found in curves.found.values():
            for curve in found.values():
                curve.insert(0, np.nan)  # before the first round there is no vote to score
        self.evals_result_ = curves.result(earlier, n_before)

    def _rounds_plan(self, values: Values, state: AdaptiveState, watch: Any) -> Rounds:
        patience = values["n_iter_no_change"] if values["early_stopping"] and watch is not None else None
        return Rounds(self._owner, values["n_estimators"], bool(values["verbose"]), state, watch, patience, values["tol"])
