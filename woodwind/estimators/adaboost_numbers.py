"""Adaptive boosting of regressors: AdaBoost.R2, by trees of the engine or by any estimator."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.sound import finite
from woodwind.base.streams import seed_of
from woodwind.data.table import Table
from woodwind.ensemble.adaptive import AdaptiveRows
from woodwind.ensemble.adaptive_numbers import NumberPlan, number_rounds, weighted_median
from woodwind.estimators.adaptive_model import gathered
from woodwind.estimators.adaptive_skin import LEARNERS, AdaptiveSkin
from woodwind.estimators.base_learner import check_estimator, draws_anything, number_answers
from woodwind.estimators.skin import COLUMNS
from woodwind.estimators.target import read_numbers
from woodwind.estimators.trees import DecisionTreeRegressor
from woodwind.estimators.weights import Weighing, read_weight
from woodwind.params.adaptive import AdaptiveNumberParams, AdaptiveParams, OwnTreeParams
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.tree.forest import Forest
from woodwind.tree.joining import joined, with_scores

Floats = NDArray[np.float64]
Values = dict[str, Any]


@knobs
class AdaBoostRegressor(
    AdaptiveParams, AdaptiveNumberParams, OwnTreeParams, WorkParams, AdaptiveSkin, RegressorMixin, BaseEstimator
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

    _told: ClassVar[dict[str, str]] = {"learners": LEARNERS, "columns": COLUMNS}

    max_depth = 3

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        if values["estimator"] is not None:
            check_estimator(values["estimator"], self._owner, classifies=False)
        self._forget(("forest_", "schema_"))
        target = read_numbers(y, self._owner)
        weighing = Weighing.of(read_weight(sample_weight, target.n_rows, self._owner))
        source, kept = self._opened(X, target.n_rows, weighing, values)
        numbers = target.at(kept).y
        draws = values["estimator"] is not None and draws_anything(values["estimator"])
        plan = NumberPlan(values["loss"], values["learning_rate"], values["bootstrap"], seed_of(values["random_state"]), draws)
        rows = AdaptiveRows.of(np.zeros(len(numbers), np.int32), source.weight, source.count)
        rounds = number_rounds(numbers, rows, source.number_learner(values), plan, values["n_estimators"])
        done = gathered(rounds, values["n_estimators"], self._owner, bool(values["verbose"]))
        self.estimator_weights_ = np.array([one.weight for one in done])
        self.estimator_errors_ = np.array([one.error for one in done])
        members = [one.member for one in done]
        self._estimators: list[Any] = []
        if isinstance(members[0], Forest):
            self.forest_ = with_scores(joined(members), [one.value for one in members], [0] * len(members), 1)
        else:
            self._estimators = members

    @property
    def estimators_(self) -> list[Any]:
        """The learners of all rounds."""
        check_is_fitted(self)
        if self._estimators:
            return list(self._estimators)
        trees = []
        for number in range(self.forest_.n_trees):
            tree = DecisionTreeRegressor(max_depth=self.max_depth, max_bins=self.max_bins)
            tree._keep_schema(self.schema_)
            tree.forest_ = self.forest_.first(number + 1).rest(number)
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
        return weighted_median(self._said(X), self.estimator_weights_)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The predictions after every round."""
        said = self._said(X)
        for number in range(1, said.shape[1] + 1):
            yield weighted_median(said[:, :number], self.estimator_weights_[:number])

    def _said(self, X: Any) -> Floats:
        """What every learner says about every row, (n, T)."""
        table = self._opened_for_prediction(X)
        if self._estimators:
            return finite(np.stack([number_answers(one, table) for one in self._estimators], axis=1), self._owner)
        leaves = self.forest_.leaves(table, self._threads)
        return np.asarray(self.forest_.value[self.forest_.roots[:-1] + leaves, 0])
