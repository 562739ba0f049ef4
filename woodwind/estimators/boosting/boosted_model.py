"""A trained model of gradient boosting: from its forest to scores, and its leaves learned once more from other rows."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError, TargetError
from woodwind.base.validate import require_finite
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.boosting.leaf_refit import RefitPlan, refit_leaves
from woodwind.estimators.base.model import COLUMNS, check_lengths, named_owner
from woodwind.estimators.base.row_predictor import RowPredictor
from woodwind.estimators.base.several_targets import SeveralTargets, joint_factors
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.tree_base import BaseTreeModel, scale_of
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.boosting.init_scores import constant_of, model_scores, read_scores
from woodwind.estimators.boosting.plan import Values, trained_loss
from woodwind.estimators.boosting.warm_start import WarmStartState
from woodwind.losses.base import Loss
from woodwind.params.check import check
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]

# For the docstrings of the estimators.
MODEL = """
n_iter_ : int
    Rounds of the model.
n_trees_per_iteration_ : int
    Trees of a round: one, or one for each class, times `n_parallel_trees`, times the folds whose models are averaged.
learning_rate_ : float
    The learning rate that was trained with, where 'auto' stands for one.
best_iteration_ : int
    The round with the best validation score; `n_iter_` where nothing was held out.
train_score_, validation_score_ : arrays
    Scores before the first round and after each: the loss, of which less is better, or what `scoring` gives, of which more is better.
    The first is of the training rows, or of 10,000 of them drawn at random; the second of the validation rows, and empty where nothing
    was held out.
evals_result_ : dict of dicts of arrays
    What was watched in every round: by table ('training', and 'validation_0' for the rows held out; tables of `eval_set` by their names, or
    'validation_0', 'validation_1' and so on), then by metric, the value after each round that was trained, those after the best one
    included. Metrics have their own sign: less is better for 'rmse'.
feature_importances_ : array of shape (n_features_in_,)
    The share of the total gain that each column brought.
forest_ : Forest
    The trees, as arrays.
"""
AUTO = """
What 'auto' means is written in woodwind/ensemble/boosting/auto_defaults.py, rule by rule. In short: larger tables take larger steps, grow
more leaves and draw a share of the rows for each tree; wide tables draw features; of a large table a share is held out to stop by, while a
small one is boosted in folds, in which every row is held out once, and the model is the mean of the models of the folds, so that a round
has a tree of each; a table of very few rows is boosted for all `n_estimators`. With `warm_start` the folds only tell the number of rounds.
"""

PREDICTED_ROWS = """
X : table
    Rows of the columns that the model was trained with; columns are matched by name.
init : scores, default=None
    Scores to add to those of the model, for a model that was trained with an array as `init`.
n_rounds : int, default=None
    Predict with the first so many rounds; None for all `n_iter_` of them.
"""


class BaseBoostedModel(BaseTreeModel):
    """What the estimators of gradient boosting can do once they are trained."""

    cluster: Any

    def __sklearn_clone__(self) -> Any:
        plain = copy.copy(self)  # without the cluster: a connection has no copies
        made = super(BaseBoostedModel, plain).__sklearn_clone__()  # type: ignore[misc]
        made.cluster = self.cluster
        return made

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return state | {"cluster": None}

    _state: ClassVar[dict[str, Any]] = {
        "schema_": Schema,
        "forest_": Forest,
        "loss_": Loss,
        "init_": Any,
        "_earlier": WarmStartState | None,
        "n_iter_": int,
        "best_iteration_": int,
        "n_trees_per_iteration_": int,
        "train_score_": Floats,
        "validation_score_": Floats,
    }

    _optional_state: ClassVar[dict[str, Any]] = {  # files of earlier versions have none
        "evals_result_": dict[str, dict[str, Floats]],
        "learning_rate_": float,
    }

    _docstring_parts: ClassVar[dict[str, str]] = {"model": MODEL, "columns": COLUMNS, "auto": AUTO}
    loss_: Loss
    init_: Any
    _earlier: WarmStartState | None
    n_iter_: int
    n_trees_per_iteration_: int
    evals_result_: dict[str, dict[str, Floats]]
    learning_rate_: float

    # What each task does in its own way.

    def _read_target(self, y: Any, known: Any = None) -> Target | SeveralTargets:
        raise NotImplementedError

    def _predicted(self, raw: Floats) -> NDArray[Any]:
        """Predictions from scores: those of the loss, which must be finite."""
        return require_finite(self.loss_.predict(raw, self._threads), self._owner)

    # Prediction.

    @fill_docstring(rows=PREDICTED_ROWS)
    def predict(self, X: Any, init: Any = None, n_rounds: int | None = None) -> NDArray[Any]:
        """The prediction for each row.

        Parameters
        ----------
        {rows}

        Returns
        -------
        array of shape (n_rows,), or (n_rows, n_targets) for several targets
            Classifiers give the most probable class. Regressors give a number, or for several quantiles one for each in the order of their
            levels, (n_rows, n_quantiles); of distributions it is the mean. Rankers give a score: within a query, the higher the better.
        """
        return self._predicted(self._raw(X, init, n_rounds))

    def staged_predict(self, X: Any, init: Any = None) -> Iterator[NDArray[Any]]:
        """The predictions after every round."""
        for raw in self._staged(X, init):
            yield self._predicted(raw)

    def _raw(self, X: Any, init: Any = None, n_rounds: int | None = None) -> Floats:
        """Scores (n,), or (n, K) for K scores per row; by all rounds, or by the first `n_rounds`."""
        table = self._read(X)
        raw = self.forest_.raw(table, self._threads, None if n_rounds is None else self._trees_of_rounds(n_rounds))
        raw = raw.reshape(-1) if raw.shape[1] == 1 else raw
        return self._with_init(raw, X, init)

    def _trees_of_rounds(self, n_rounds: Any) -> int:
        """The number of trees of the first rounds."""
        if isinstance(n_rounds, bool) or not isinstance(n_rounds, int | np.integer) or not 0 <= n_rounds <= self.n_iter_:
            raise ParameterError(
                f"{self._owner}: n_rounds must be None or an integer from 0 to {self.n_iter_:,}, the rounds of the model (n_iter_), "
                f"but it is {n_rounds!r}."
            )
        return int(n_rounds) * self.n_trees_per_iteration_

    def _staged(self, X: Any, init: Any = None) -> Iterator[Floats]:
        """Scores after every round."""
        table = self._read(X)
        for raw in self.forest_.staged_raw(table, self._threads, self.n_trees_per_iteration_):
            yield self._with_init(raw.reshape(-1) if raw.shape[1] == 1 else raw, X, init)

    def _with_init(self, raw: Floats, X: Any, init: Any) -> Floats:
        if self.init_ is not None:
            raw = raw + model_scores(self.init_, X, len(raw), self.loss_, getattr(self, "classes_", None), self._owner)
        return require_finite(raw if init is None else raw + read_scores(init, len(raw), self.loss_.width, self._owner), self._owner)

    def _shapley(self, table: Table) -> tuple[Floats, Floats, Floats]:
        self._explained_forest()
        return super()._shapley(table)

    def _explained_forest(self) -> Forest:
        if self.init_ is not None:
            raise ParameterError(f"{self._owner}: explain() adds up trees, and init is another model. Train without init to use it.")
        return super()._explained_forest()

    @property
    def _scale(self) -> str:
        return scale_of(self.loss_)

    def predictor(self) -> RowPredictor:
        """A small callable that predicts for one row, or for a block of rows, given as numbers; or for one row as it is.

        It is for serving: of numbers, nothing is converted or matched by name. Rows hold the features of the model in the order of
        its `feature_names`; a date column has several, and a category is its position in `categories`. A dict of values by
        column, or a tuple of them where there are categories, is one row of the table as it is.
        """
        check_is_fitted(self)
        if self.init_ is not None:
            raise ParameterError(f"{self._owner}: predictor() reads numbers, and init reads the table. Train without init to use it.")
        return RowPredictor(self.forest_, self.loss_, self.schema_)

    # Leaves learned once more.

    def refit_leaves(self, X: Any, y: Any, sample_weight: Any = None, decay_rate: float = 0.0, init: Any = None) -> Self:
        """A model with the same splits, whose starting score and leaf values are learned from other rows, such as those of a new month.

        A leaf that none of these rows reaches keeps its value. This model stays as it is.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        y : sequence of values, one for each row
            Labels that the model knows, or numbers.
        sample_weight : sequence of numbers, one for each row, default=None
            Weights, as in `fit`.
        decay_rate : float from 0 to 1, default=0.0
            Share of the old leaf values that stays: 0 takes the new ones, 0.9 goes a tenth of the way. The starting score is always new.
        init : scores, default=None
            Scores of these rows to start from, for a model that was trained with an array as `init`.

        Returns
        -------
        estimator
            A new one of the same class. Its scores of rounds are those of the training of this one.
        """
        return self._with_new_leaves(X, y, sample_weight, decay_rate, init, lambda loss, *_: loss)

    def _with_new_leaves(
        self, X: Any, y: Any, sample_weight: Any, decay_rate: float, init: Any, bound: Callable[[Loss, Any, NDArray[np.int64]], Loss]
    ) -> Self:
        """See `refit_leaves`; `bound` makes of a loss, a target and the rows of it that count the loss of those rows."""
        check_is_fitted(self)
        values = check(self)
        self._check_refit(values, decay_rate, init)
        table = self._read(X)
        target = self._read_target(y, getattr(self, "classes_", None))
        check_lengths(self._owner, table.n_rows, target.n_rows)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        columns = target.columns() if isinstance(target, SeveralTargets) else [target]
        factor = joint_factors(values.get("class_weight"), weight, columns, self._owner)
        weight = weight if factor is None else factor if weight is None else factor * weight
        rows = np.arange(target.n_rows) if weight is None else np.flatnonzero(weight)
        trained = target.at(rows)
        self._check_refit_target(trained)
        offset = None
        if self.init_ is not None or init is not None:
            width = self.loss_.width
            offset = self._with_init(np.zeros(table.n_rows if width == 1 else (table.n_rows, width)), X, init)[rows]
        size = 1 if self.forest_.n_trees == 0 or self.forest_.output[0] < 0 else self.loss_.width
        size *= values["n_parallel_trees"]
        plan = RefitPlan(
            loss=trained_loss(values, bound(self.loss_, target, rows)),
            penalties=(values["l1_regularization"], values["l2_regularization"], float(values["path_smooth"])),
            longest_step=np.inf if values["max_delta_step"] is None else values["max_delta_step"],
            learning_rate=self._trained_rate(values),
            members=self.n_trees_per_iteration_ // size,
            trees_per_round=size,
            constant=constant_of(values["init"], self._owner),
            softmax_hessian=values.get("softmax_hessian", "friedman"),
            parallel_trees=values["n_parallel_trees"],
            linear_l2=float(values["linear_l2"]),
            decay=float(decay_rate),
            threads=self._threads,
        )
        model = copy.copy(self)
        some = None if weight is None else weight[rows]
        model.forest_ = refit_leaves(self.forest_, (table, rows), self.loss_.as_target(trained.y), some, offset, plan)
        model._earlier = None if self._earlier is None else self._earlier.with_values(model.forest_)
        return model

    def _check_refit(self, values: Values, decay_rate: Any, init: Any) -> None:
        if not isinstance(decay_rate, int | float | np.number) or isinstance(decay_rate, bool) or not 0 <= decay_rate <= 1:
            raise ParameterError(f"{self._owner}: decay_rate must be a number from 0 to 1, but it is {decay_rate!r}.")
        if values["monotonic_cst"] is not None:
            raise ParameterError(
                f"{self._owner}: refit_leaves cannot keep monotonic_cst, whose bounds come from the rows that trees are grown from. "
                "Train anew, or without monotonic_cst."
            )
        if values["boosting"] == "dart":
            raise ParameterError(
                f"{self._owner}: refit_leaves goes through the rounds one by one, and with boosting='dart' each was trained without some "
                "of those before it. Train anew."
            )
        if values["init"] is not None and self.init_ is None and init is None and constant_of(values["init"], self._owner) is None:
            raise DataError(
                f"{self._owner}: init had scores for the rows of the training. Give those of these rows to refit_leaves as init."
            )

    def _check_refit_target(self, target: Target | SeveralTargets) -> None:
        """Every class has rows: without, its leaves would have nothing to say."""
        if isinstance(target, SeveralTargets) and target.n_scores != self.loss_.width:
            raise TargetError(f"{self._owner}: y has {len(target.names)} targets, but the model was trained with others.")
        for column in target.columns() if isinstance(target, SeveralTargets) else [target]:
            if column.classes is None:
                continue
            absent = np.flatnonzero(np.bincount(column.y, minlength=column.n_classes) == 0)
            if absent.size:
                raise TargetError(
                    f"{self._owner}: refit_leaves needs rows of every class, and there is none of {column.classes.tolist()[absent[0]]!r}. "
                    "Add rows of it, with a small weight if they are old ones."
                )
        with named_owner(self._owner):
            self.loss_.check_target(target.y)

    def _trained_rate(self, values: Values) -> float:
        """The learning rate of the training."""
        rate: Any = getattr(self, "learning_rate_", values["learning_rate"])
        if rate == "auto":
            raise ParameterError(
                f"{self._owner}: the learning rate of the training is not known: the model is of an earlier version or of another library. "
                "Give it with set_params(learning_rate=...), or train anew."
            )
        return float(rate)
