"""Pools whose members are weighed by how likely rows are under what they predict: what averaging and combination share."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key, seed_of
from woodwind.base.validate import require_finite
from woodwind.ensemble.bayesian_averaging import as_counts
from woodwind.estimators.base.model import COLUMNS, LogProbabilityMixin, check_lengths
from woodwind.estimators.base.splits import read_groups
from woodwind.estimators.base.target import Target, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import read_weight, weighed_classes
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.out_of_fold import out_of_fold
from woodwind.estimators.pools.pool import (
    NamedMember,
    Pool,
    Response,
    header_for,
    joint_classes,
    open_table_of,
    trained_pool,
    without_probabilities,
)
from woodwind.estimators.pools.pool_base import BasePool

Floats = NDArray[np.float64]
Values = dict[str, Any]


class BaseWeightedPool(BasePool):
    """Members that are trained, and scored by rows: out of fold, by those they have learned, or, taken as they are, by those given."""

    _state: ClassVar[dict[str, Any]] = {
        "_pool": Pool,
        "_seed": int,
        "weights_": Floats | None,
        "estimators_": list[Any],
        "named_estimators_": Bunch,
        "log_likelihood_": Floats,
    }

    _docstring_parts: ClassVar[dict[str, str]] = {"columns": COLUMNS}
    _pool: Pool
    _seed: int
    weights_: Floats

    # What each kind does in its own way.

    def _read_target(self, y: Any, weight: Any) -> tuple[Target, Floats | None]:
        """The target and the weights of rows."""
        raise NotImplementedError

    def _response(self) -> Response:
        raise NotImplementedError

    def _check_more(self, values: Values, names: list[str]) -> None:
        """Raise where parameters do not fit the members."""

    def _asks_out_of_fold(self, values: Values) -> bool:
        """Whether rows score members that have not been trained on them."""
        return True

    def _evaluate(self, predicted: Floats, target: Target, weight: Floats | None, values: Values) -> None:
        """Keep weights, from what members predict for rows, (n, m, width). Weights of rows are numbers of rows."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        named = self._named()
        self._check_soft(named)
        self._check_more(values, [member.name for member in named])
        target, weight = self._read_target(y, sample_weight)
        groups = read_groups(groups, target.n_rows, self._owner)
        table = open_table_of(X, None, self._owner)
        check_lengths(self._owner, table.n_rows, target.n_rows)
        if target.n_rows == 1 and not values["prefit"]:
            raise DataError(f"{self._owner}: there is one sample only (n_samples = 1), and members are compared by several rows.")
        self._seed = seed_of(values["random_state"])
        if values["prefit"]:
            predicted, scored, target = self._take(named, table, target)
        else:
            predicted, scored = self._train(named, table, target, weight, groups, values)
        counts = as_counts(weight)
        rows = np.flatnonzero(scored if counts is None else scored & (counts > 0.0))
        if not len(rows):
            raise ParameterError(f"{self._owner}: cv holds out no row that has a weight, so that nothing can be said of the members.")
        self._evaluate(predicted[rows], target.at(rows), None if counts is None else counts[rows], values)
        self._set_header(self._pool.header or table.header)
        self.estimators_ = list(self._pool.members)
        self._name_trained(self.estimators_)

    def _check_soft(self, named: list[NamedMember]) -> None:
        if self._response() != "probabilities":
            return
        for member in named:
            if not hasattr(member.estimator, "predict_proba"):
                raise ParameterError(without_probabilities(member.name, member.estimator, self._owner))

    def _train(
        self, named: list[NamedMember], table: AnyTable, target: Target, weight: Floats | None, groups: Any, values: Values
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Train the members; what they predict for rows that score them, and which those are."""
        found = None
        if self._asks_out_of_fold(values):
            found = out_of_fold(
                named,
                table,
                target,
                cv=values["cv"],
                groups=groups,
                weight=weight,
                kind=self._response(),
                seed=key(self._seed, "weights"),
                threads=self._threads,
                owner=self._owner,
                verbose=values["verbose"],
            )
        if target.classes is not None:
            self.classes_: NDArray[Any] = target.classes
        more = {"threads": self._threads, "owner": self._owner, "verbose": values["verbose"]}
        self._pool = trained_pool(named, table, target, weight, seed=self._seed, **more)
        if found is not None:
            return found.predicted, found.scored
        return self._pool.predicted(table, self._response(), self._owner, self._threads), np.ones(target.n_rows, np.bool_)

    def _take(self, named: list[NamedMember], table: AnyTable, target: Target) -> tuple[Floats, NDArray[np.bool_], Target]:
        """Members as they are, scored by the rows that are given."""
        classes = None
        if target.classes is not None:
            classes = joint_classes(named, target.classes)
            if classes is not target.classes:
                position = {label: number for number, label in enumerate(classes.tolist())}
                target = target.renumbered([position[label] for label in target.classes.tolist()], classes)
            self.classes_ = classes
        self._pool = Pool.of_fitted(named, header_for(self.estimators, named, table.header), classes, self._owner)
        predicted = self._pool.predicted(table.X, self._response(), self._owner, self._threads)
        return predicted, np.ones(target.n_rows, np.bool_), target

    # Prediction.

    def _predicted(self, X: Any) -> Floats:
        """What members predict for the rows of a table, (n, m, width)."""
        check_is_fitted(self)
        return self._pool.predicted(X, self._response(), self._owner, self._threads)


class WeightedClassifierPool(LogProbabilityMixin, BaseWeightedPool):
    """Classifiers whose probabilities are averaged."""

    _classifies = True

    def _response(self) -> Response:
        return "probabilities"

    def _read_target(self, y: Any, weight: Any) -> tuple[Target, Floats | None]:
        target = read_labels(y, self._owner)
        read = read_weight(weight, target.n_rows, self._owner)
        return weighed_classes(target, read, None, self._owner)[0], read

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes), averaged over the members by their weights.

        Parameters
        ----------
        X : table
            Rows of the columns that the members were trained with; columns are matched by name.
        """
        predicted = self._predicted(X)
        return require_finite(np.asarray(np.einsum("nmk,m->nk", predicted, self.weights_)), self._owner)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest mean probability, of equals the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


class WeightedRegressorPool(BaseWeightedPool):
    """Regressors whose numbers are averaged."""

    _classifies = False

    def _response(self) -> Response:
        return "numbers"

    def _read_target(self, y: Any, weight: Any) -> tuple[Target, Floats | None]:
        target = read_regression_target(y, self._owner)
        read = read_weight(weight, target.n_rows, self._owner)
        warn_constant(target.y if read is None else target.y[read > 0.0], self._owner)
        return target, read
