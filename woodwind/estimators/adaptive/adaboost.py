"""Adaptive boosting of classifiers: AdaBoost and its kin, by trees of the engine or by any estimator."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key
from woodwind.base.validate import require_finite
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.adaboost import (
    AdaptivePlan,
    AdaptiveRows,
    chance_error,
    exponential_bound,
)
from woodwind.ensemble.codewords import code_for, decode
from woodwind.estimators.adaptive.adaboost_base import (
    LEARNERS,
    SOFT,
    VOTES,
    AdaptiveModel,
    LearnerSource,
    Rounds,
    one_margin,
    train_model,
)
from woodwind.estimators.adaptive.adaboost_stopping import (
    BaseStoppableAdaBoost,
    BoostingRecord,
    EvaluationResult,
    WatchedVotes,
    digest_of,
)
from woodwind.estimators.adaptive.second_level import SecondLevel, check_final, train_second_level
from woodwind.estimators.base.base_learner import check_estimator
from woodwind.estimators.base.model import COLUMNS
from woodwind.estimators.base.target import Target, read_labels
from woodwind.estimators.base.weights import read_weight, weighed_classes
from woodwind.losses.links import Softmax, log_of
from woodwind.params.adaptive import AdaptiveClassifierParams, AdaptiveParams, AdaptiveStopParams, OwnTreeParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]
Values = dict[str, Any]


def has_zeros_and_ones(table: Table) -> bool:
    """Whether every column of a table is of zeros and ones, none of them missing."""
    return all(not column.category and np.isin(column.block(0, table.n_rows), (0.0, 1.0)).all() for column in table.columns)


@knobs
class AdaBoostClassifier(
    AdaptiveParams,
    AdaptiveClassifierParams,
    OwnTreeParams,
    AdaptiveStopParams,
    WorkParams,
    BaseStoppableAdaBoost,
    ClassifierMixin,
    BaseEstimator,
):
    """AdaBoost for classification: learners that vote, each trained on rows that those before it got wrong.

    {learners}

    A learner that is no better than chance is discarded, and boosting ends there: trained on the same weights, the next one would be
    the same. One that draws rows or numbers is tried ten times first. Where it is the first one, there is no model, and an error says so.

    {parameters}

    Attributes
    ----------
    classes_, n_classes_
        The labels, in order, and their number.
    estimator_weights_, estimator_errors_, estimator_edges_ : arrays of shape (n_rounds,)
        Of every round, the weight of its learner, its error by the weights of the rows, and by how much that is below chance.
    training_bound_ : array of shape (n_rounds,)
        After every round, what the error on the training rows, by weight, is not above. NaN for 'samme.r' with more than two classes.
    exponential_bound_ : array of shape (n_rounds,)
        The simpler bound exp(-2 times the sum of the squared edges), for two classes.
    coef_, intercept_ : arrays of shape (1, n_features_in_) and (1,)
        The linear classifier that stumps on columns of zeros and ones add up to, for two classes.
    estimators_ : list of classifiers
        The learners; with 'mh' one for each class in every round.
    evals_result_ : dict
        What was watched in every round, with `early_stopping` or `eval_set`: by table ('validation_0' for the rows held out; tables of
        `eval_set` by their names, or 'validation_0', 'validation_1' and so on), then by metric, the value after each round that was
        trained, those after the best one included.
    code_ : array of shape (n_classes, n_bits)
        With multiclass='output_code', the words of the classes. This and 'second_level' have lists of the above, one entry for each
        model of two classes.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import AdaBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> bool((1 - model.score(X, y)) <= model.training_bound_[-1])
    True
    """

    _state: ClassVar[dict[str, Any]] = {
        "_models": list[AdaptiveModel],
        "_second": SecondLevel | None,
        "estimator_edges_": Floats | list[Floats],
        "estimator_errors_": Floats | list[Floats],
        "estimator_weights_": Floats | list[Floats],
        "training_bound_": Floats | list[Floats],
    }
    _optional_state: ClassVar[dict[str, Any]] = {"code_": NDArray[np.int8], "final_estimator_": Any, "forest_": Forest, "schema_": Schema}
    _optional_state["_zeros_and_ones"] = bool  # files of earlier versions have none
    _optional_state |= {"evals_result_": EvaluationResult, "_training_record": BoostingRecord}

    _docstring_parts: ClassVar[dict[str, str]] = {"learners": LEARNERS, "columns": COLUMNS}

    # Training.

    default_metric = "accuracy"

    def _read_watched_target(self, y: Any) -> Target:
        return read_labels(y, f"{self._owner}, eval_set", self.classes_)

    def _check(self, values: Values) -> None:
        """Refuse what cannot be trained, before any work."""
        if values["estimator"] is not None:
            check_estimator(values["estimator"], self._owner, classifies=True, soft=values["algorithm"] in SOFT)
        if values["negative_weights"] and values["algorithm"] not in VOTES:
            raise ParameterError(
                f"{self._owner}: negative_weights=True is for votes, and algorithm={values['algorithm']!r} has none. "
                "Set algorithm='samme' or 'discrete', or negative_weights=False."
            )
        if values["final_estimator"] is not None:
            check_final(values["final_estimator"], self._owner)

    def _check_native(self, how: str, values: Values, eval_set: Any) -> None:
        """Several models have no rounds in common to stop by or to go on from."""
        asked = [name for name in ("early_stopping", "warm_start") if values[name]] + (["eval_set"] if eval_set is not None else [])
        if how != "native" and asked:
            raise ParameterError(
                f"{self._owner}: {' and '.join(asked)} is for one model, and multiclass={how!r} has one for each part of "
                f"{self.n_classes_} classes. Set multiclass='native', or leave it out."
            )

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, eval_set: Any = None) -> None:
        self._check(values)
        record = self._record(values, len(self._models[0].weights) if getattr(self, "_models", None) else None)
        earlier = None if record is None else self._models[0]
        known = getattr(self, "schema_", None) if record is not None else None
        if record is None:
            self._forget(("forest_", "schema_"))
        self._forget(("code_", "final_estimator_"))
        target = read_labels(y, self._owner, None if record is None else self.classes_)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, weighing = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        self.n_classes_ = len(self.classes_)
        how = values["multiclass"] if self.n_classes_ > 2 else "native"
        self._check_native(how, values, eval_set)
        source, kept = self._opened(X, target.n_rows, weighing, values, known)
        self._zeros_and_ones = source.trees is not None and has_zeros_and_ones(source.X)
        target = target.at(kept)
        seed = self._seed_of(values, record)
        self._second: SecondLevel | None = None
        if how == "native":
            self._models = [self._boosted(source, target, seed, values, eval_set, record, earlier)]
            if self._models[0].forest is not None:
                self.forest_ = self._models[0].forest
        elif how == "output_code":
            self.code_ = code_for(self.n_classes_, values["code_size"], seed)
            self._models = [
                self._model(source, ((self.code_[target.y, bit] + 1) // 2).astype(np.int32), 2, key(seed, "bit", bit), values)
                for bit in range(self.code_.shape[1])
            ]
        else:
            self._train_second(source, target, seed, values)
        self._set_fitted(how == "native")

    def _boosted(
        self,
        source: LearnerSource,
        target: Target,
        seed: int,
        values: Values,
        eval_set: Any,
        record: BoostingRecord | None,
        earlier: AdaptiveModel | None,
    ) -> AdaptiveModel:
        """One model of all classes: stopped by rows that are watched, and added to an earlier one, if that is asked for."""
        digest = digest_of(target.y, AdaptiveRows.of(target.y, source.weight, source.count))
        if record is not None:
            self._check_rows(record, digest)
        held = self._held(values, source, target, eval_set, seed)
        tables, curves = self._tables(values, source, target, held, eval_set)
        part, rows = (source, np.arange(source.n_rows)) if held is None else source.part(np.setdiff1d(np.arange(source.n_rows), held))
        labels = self._labels(values, self.n_classes_)
        watch = WatchedVotes(tables, values["algorithm"], labels, self._decided, earlier, self._threads) if tables else None
        shape = (len(rows),) if values["algorithm"] not in ("m2", "mh") else (len(rows), self.n_classes_)
        rounds = self._rounds_plan(values, self._state_at_start(record, shape), watch)
        goes_on = earlier is not None and (rounds.state.ended or rounds.state.number >= rounds.count)
        made = None if goes_on else self._model(part, target.y[rows], self.n_classes_, seed, values, rounds, needed=earlier is None)
        self._set_curves(curves, earlier is not None, 0 if earlier is None else len(earlier.weights))
        self._keep_record(values, digest, seed, rounds.state)
        if earlier is None or made is None:
            return made if made is not None else earlier  # type: ignore[return-value]
        return earlier.join(made)

    def _labels(self, values: Values, n_labels: int) -> NDArray[Any]:
        """Learners know the labels as the user gave them, but for MH and for models of two classes among more: those say no or yes."""
        return self.classes_ if n_labels == self.n_classes_ and values["algorithm"] != "mh" else np.arange(2)

    def _train_second(self, source: LearnerSource, target: Target, seed: int, values: Values) -> None:
        """One model for each class against the rest, and one of what they predict."""

        def models(part: LearnerSource, rows: NDArray[np.int64], name: int) -> list[AdaptiveModel]:
            return [
                self._model(part, (target.y[rows] == k).astype(np.int32), 2, key(seed, "class", k, name), values)
                for k in range(self.n_classes_)
            ]

        self._models, self._second = train_second_level(source, target, models, values["final_estimator"], seed, self._threads)
        self.final_estimator_ = self._second.final

    def _model(
        self,
        source: LearnerSource,
        label: NDArray[Any],
        n_labels: int,
        seed: int,
        values: Values,
        rounds: Rounds | None = None,
        needed: bool = True,
    ) -> Any:
        """Boost learners of so many labels: an AdaptiveModel; None, unless it is needed, where there is no learner better than chance."""
        plan = AdaptivePlan(values["algorithm"], n_labels, values["learning_rate"], seed, values["negative_weights"])
        labels = self._labels(values, n_labels)
        learner = source.learner(values, labels, values["algorithm"] in SOFT)
        rows = AdaptiveRows.of(label, source.weight, source.count)
        how = Rounds(self._owner, values["n_estimators"], bool(values["verbose"])) if rounds is None else rounds
        model = train_model(rows, learner, plan, labels, how)
        if model is None and needed:
            raise DataError(
                f"{self._owner}: the first learner is no better than chance: its error is not below "
                f"{chance_error(plan.algorithm, n_labels):.3g}, and there is nothing to boost. Give it more to say (max_depth, another "
                "estimator; with many classes algorithm='samme' or 'mh'), or look whether the columns "
                "have anything to do with y."
            )
        return model

    def _set_fitted(self, alone: bool) -> None:
        """What is known about the rounds, as attributes."""
        for name, field in (("weights", "weights"), ("errors", "errors"), ("edges", "edges")):
            each = [getattr(model, field) for model in self._models]
            setattr(self, f"estimator_{name}_", each[0] if alone else each)
        bounds = [model.bounds for model in self._models]
        self.training_bound_ = bounds[0] if alone else bounds

    @property
    def exponential_bound_(self) -> Floats | list[Floats]:
        """After every round exp(-2 times the sum of the squared edges), which is not below `training_bound_` with a learning rate of one.

        For votes of two classes ('samme' and 'discrete'); else NaN. Where there are several models, a list for each.
        """
        check_is_fitted(self)
        bounds = [exponential_bound(model.errors, model.algorithm, model.n_labels) for model in self._models]
        return bounds[0] if self._is_native else bounds

    @property
    def coef_(self) -> Floats:
        """Of a vote of stumps for two classes on columns of zeros and ones: the coefficients of the columns, (1, n_features_in_).

        Such a vote is a linear classifier: `decision_function(X)` is `X @ coef_.T + intercept_`, flat. Other models have none.
        """
        return self._linear()[0]

    @property
    def intercept_(self) -> Floats:
        """The score of a row of zeros, (1,): see `coef_`."""
        return self._linear()[1]

    def _linear(self) -> tuple[Floats, Floats]:
        """Coefficients and intercept; AttributeError where the scores are not linear in the columns."""
        check_is_fitted(self)
        if not getattr(self, "_zeros_and_ones", False) or len(self._models) != 1 or self.n_classes_ != 2 or self.forest_.depth.max() > 1:
            raise AttributeError(
                f"{self._owner}: coef_ and intercept_ are of trees of one split (max_depth=1) for two classes, on columns of zeros "
                "and ones without missing values."
            )
        forest, total = self.forest_, self._models[0].total_weight
        # The score of the second class over that of the first; with 'mh' a tree is for one of the two.
        side = np.repeat(np.where(forest.output == 0, -1.0, 1.0), np.diff(forest.roots))
        margin = (forest.value[:, 1] - forest.value[:, 0] if (forest.output < 0).all() else side * forest.value[:, 0]) / total
        coefficients, begin = np.zeros(self.n_features_in_), forest.roots[:-1]
        split = begin[forest.feature[begin] >= 0]
        left = split + forest.child[split]
        np.add.at(coefficients, self.schema_.source[forest.feature[split]], margin[left + 1] - margin[left])
        constant = margin[left].sum() + margin[begin[forest.feature[begin] < 0]].sum()
        return coefficients.reshape(1, -1), np.array([constant])

    @property
    def estimators_(self) -> list[Any]:
        """The learners of all rounds; where there are several models, a list for each."""
        check_is_fitted(self)
        lists = [self._members(model) for model in self._models]
        return lists[0] if self._is_native else lists

    @property
    def feature_importances_(self) -> Floats:
        """The share that each column has in the gains of the learners, by their weights; of several models the mean."""
        check_is_fitted(self)
        return np.asarray(np.mean([self._importances(model) for model in self._models], axis=0))

    def _importances(self, model: AdaptiveModel) -> Floats:
        weights = np.repeat(np.abs(model.weights), model.per_round)
        if model.forest is not None:
            return self._shares_in_forest(model.forest, weights)
        return self._shares_of_columns(list(model.estimators), weights)

    @property
    def _is_native(self) -> bool:
        return self._second is None and not hasattr(self, "code_")

    # Prediction.

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_rows,) for two classes, where positive means the second, and (n_rows, n_classes) for more."""
        table = self._opened_for_prediction(X)
        if self._second is not None:
            return self._second.scores(self._models, table, self._threads)
        return require_finite(self._decided([model.scores(table, self._threads) for model in self._models]), self._owner)

    def _explained_forest(self) -> Forest:
        """The trees over the weight of all; of two classes the second over the first, to which the trees of 'mh' each bring one."""
        self._check_explained()
        forest, weight = self.forest_, self._models[0].total_weight
        if self.n_classes_ > 2:
            return replace(forest, value=forest.value / weight, start=forest.start / weight)
        side = np.repeat(np.where(forest.output == 0, -1.0, 1.0), np.diff(forest.roots))
        value = forest.value[:, 1] - forest.value[:, 0] if forest.value.shape[1] > 1 else side * forest.value[:, 0]
        start = forest.start[1:] - forest.start[:1]
        return replace(forest, value=value[:, None] / weight, start=start / weight, n_outputs=1, output=np.zeros(forest.n_trees, np.int32))

    def _check_explained(self) -> None:
        if not self._is_native or self._second is not None:
            raise ParameterError(
                f"{self._owner}: explain() adds up what trees bring, and with multiclass={self.multiclass!r} the scores are no sum "
                "of them. Set multiclass='native' to use it."
            )

    def _shapley(self, table: Table) -> tuple[Floats, Floats, Floats]:
        self._check_explained()
        values, base, scores = super()._shapley(table)
        weight = self._models[0].total_weight
        values, base, scores = values / weight, base / weight, scores / weight
        if self.n_classes_ > 2:
            return values, base, scores
        return values[..., 1:] - values[..., :1], base[1:] - base[:1], scores[:, 1:] - scores[:, :1]

    @property
    def _scale(self) -> str:
        return "score"

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The scores after every round; a model that has ended stays as it was."""
        table = self._opened_for_prediction(X)
        if self._second is not None:
            raise ParameterError(
                f"{self._owner}: with multiclass='second_level' the second level has been trained on the last round only, and there are "
                "no stages. Set multiclass='native' or 'output_code'."
            )
        stages = [model.staged(table, self._threads) for model in self._models]
        scores: list[Floats] = [np.zeros(0)] * len(stages)
        for _ in range(max(len(model.weights) for model in self._models)):
            scores = [next(stage, last) for stage, last in zip(stages, scores, strict=True)]
            yield require_finite(self._decided(scores), self._owner)

    def _decided(self, scores: list[Floats]) -> Floats:
        """Scores of the classes from those of the models."""
        if not self._is_native:
            return decode(0.5 * np.stack([one_margin(one) for one in scores], axis=1), self.code_)
        return one_margin(scores[0]) if self.n_classes_ == 2 else scores[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the highest score; of equals the first.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._predicted(self.decision_function(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes), in the order of `classes_`: the softmax of the scores over n_classes - 1."""
        if self._second_level:
            return self._second_probabilities(X)
        return self._probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities."""
        return log_of(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The predictions after every round."""
        for scores in self.staged_decision_function(X):
            yield self._predicted(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities after every round."""
        for scores in self.staged_decision_function(X):
            yield self._probabilities(scores)

    @property
    def _second_level(self) -> bool:
        check_is_fitted(self)
        return self._second is not None

    def _second_probabilities(self, X: Any) -> Floats:
        assert self._second is not None
        return self._second.probabilities(self._models, self._opened_for_prediction(X), self._threads)

    def _predicted(self, scores: Floats) -> NDArray[Any]:
        best = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def _probabilities(self, scores: Floats) -> Floats:
        if scores.ndim == 1:
            scores = 0.5 * np.stack([-scores, scores], axis=1)
        elif self._is_native:
            scores = scores / (self.n_classes_ - 1.0)
        else:
            # Each bit is a vote for or against, with the odds of its own model.
            scores = scores * self.code_.shape[1]
        return Softmax().to_mean(scores)
