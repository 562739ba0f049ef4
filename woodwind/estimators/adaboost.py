"""Adaptive boosting of classifiers: AdaBoost and its kin, by trees of the engine or by any estimator."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.sound import finite
from woodwind.base.streams import key, seed_of
from woodwind.data.table import Table
from woodwind.ensemble.adaptive import AdaptivePlan, AdaptiveRows, chance
from woodwind.ensemble.codewords import code_for, decode
from woodwind.estimators.adaptive_model import SOFT, AdaptiveModel, one_margin, train_model
from woodwind.estimators.adaptive_skin import LEARNERS, AdaptiveSkin, Source
from woodwind.estimators.base_learner import check_estimator
from woodwind.estimators.second_level import SecondLevel, check_final, train_second_level
from woodwind.estimators.skin import COLUMNS
from woodwind.estimators.target import Target, read_labels
from woodwind.estimators.weights import read_weight, weighed_classes
from woodwind.losses.links import Softmax, log_of
from woodwind.params.adaptive import AdaptiveClassParams, AdaptiveParams, OwnTreeParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs

Floats = NDArray[np.float64]
Values = dict[str, Any]


@knobs
class AdaBoostClassifier(
    AdaptiveParams, AdaptiveClassParams, OwnTreeParams, WorkParams, AdaptiveSkin, ClassifierMixin, BaseEstimator
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
    estimators_ : list of classifiers
        The learners; with 'mh' one for each class in every round.
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

    _told: ClassVar[dict[str, str]] = {"learners": LEARNERS, "columns": COLUMNS}

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        if values["estimator"] is not None:
            check_estimator(values["estimator"], self._owner, classifies=True, soft=values["algorithm"] in SOFT)
        if values["final_estimator"] is not None:
            check_final(values["final_estimator"], self._owner)
        self._forget(("forest_", "schema_", "code_", "final_estimator_"))
        target = read_labels(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, weighing = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        self.n_classes_ = len(self.classes_)
        source, kept = self._opened(X, target.n_rows, weighing, values)
        target = target.at(kept)
        seed = seed_of(values["random_state"])
        how = values["multiclass"] if self.n_classes_ > 2 else "native"
        self._second: SecondLevel | None = None
        if how == "native":
            self._models = [self._model(source, target.y, self.n_classes_, seed, values)]
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
        self._keep(how == "native")

    def _train_second(self, source: Source, target: Target, seed: int, values: Values) -> None:
        """One model for each class against the rest, and one of what they say."""

        def models(part: Source, rows: NDArray[np.int64], name: int) -> list[AdaptiveModel]:
            return [
                self._model(part, (target.y[rows] == k).astype(np.int32), 2, key(seed, "class", k, name), values)
                for k in range(self.n_classes_)
            ]

        self._models, self._second = train_second_level(source, target, models, values["final_estimator"], seed, self._threads)
        self.final_estimator_ = self._second.final

    def _model(self, source: Source, label: NDArray[np.int32], n_labels: int, seed: int, values: Values) -> AdaptiveModel:
        """Boost learners of so many labels."""
        plan = AdaptivePlan(values["algorithm"], n_labels, values["learning_rate"], seed)
        # Learners know the labels as the user gave them, but for MH and for models of two classes among more: those say no or yes.
        labels = self.classes_ if n_labels == self.n_classes_ and plan.algorithm != "mh" else np.arange(2)
        learner = source.learner(values, labels, values["algorithm"] in SOFT)
        rows = AdaptiveRows.of(label, source.weight, source.count)
        model = train_model(rows, learner, plan, values["n_estimators"], labels, (self._owner, bool(values["verbose"])))
        if model is None:
            raise DataError(
                f"{self._owner}: the first learner is no better than chance: its error is not below "
                f"{chance(plan.algorithm, n_labels):.3g}, and there is nothing to boost. Give it more to say (max_depth, another "
                "estimator; with many classes algorithm='samme' or 'mh'), or look whether the columns "
                "have anything to do with y."
            )
        return model

    def _keep(self, alone: bool) -> None:
        """What is known about the rounds, as attributes."""
        for name, field in (("weights", "weights"), ("errors", "errors"), ("edges", "edges")):
            each = [getattr(model, field) for model in self._models]
            setattr(self, f"estimator_{name}_", each[0] if alone else each)
        bounds = [model.bounds for model in self._models]
        self.training_bound_ = bounds[0] if alone else bounds

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
        weights = np.repeat(model.weights, model.per_round)
        if model.forest is not None:
            return self._shares_in_forest(model.forest, weights)
        return self._shares_of_columns(list(model.estimators), weights)

    @property
    def _is_native(self) -> bool:
        return len(self._models) == 1

    # Prediction.

    def decision_function(self, X: Any) -> Floats:
        """Scores: (n_rows,) for two classes, where positive means the second, and (n_rows, n_classes) for more."""
        table = self._opened_for_prediction(X)
        if self._second is not None:
            return self._second.scores(self._models, table, self._threads)
        return finite(self._decided([model.scores(table, self._threads) for model in self._models]), self._owner)

    def _shapley(self, table: Table) -> tuple[Floats, Floats, Floats]:
        if not self._is_native or self._second is not None:
            raise ParameterError(
                f"{self._owner}: explain() adds up what trees bring, and with multiclass={self.multiclass!r} the scores are no sum "
                "of them. Set multiclass='native' to use it."
            )
        values, base, scores = super()._shapley(table)
        weight = self._models[0].weights.sum()
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
                f"{self._owner}: with multiclass='second_level' the second level has learnt from the last round only, and there are "
                "no stages. Set multiclass='native' or 'output_code'."
            )
        stages = [model.staged(table, self._threads) for model in self._models]
        scores: list[Floats] = [np.zeros(0)] * len(stages)
        for _ in range(max(len(model.weights) for model in self._models)):
            scores = [next(stage, last) for stage, last in zip(stages, scores, strict=True)]
            yield finite(self._decided(scores), self._owner)

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
