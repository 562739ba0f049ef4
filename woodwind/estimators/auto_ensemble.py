"""The main job as estimators: give them a table and a time, and they try members of all families and blend them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.auto.link import probabilities
from woodwind.estimators.auto_skin import AutoEnsemble
from woodwind.estimators.target import Target, read_labels, read_numbers, tell_of_constant
from woodwind.estimators.weights import read_weight, weighed_classes
from woodwind.params.auto import AutoParams
from woodwind.params.knobs import knobs

Floats = NDArray[np.float64]


@knobs
class AutoEnsembleClassifier(AutoParams, AutoEnsemble, ClassifierMixin, BaseEstimator):
    """The best blend of members of many kinds that a given time allows, for classes.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    positive_ : label or None
        The positive one of two classes.
    threshold_ : float or None
        The probability from which on it is predicted; None: the likelier class is.
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from woodwind import AutoEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoEnsembleClassifier(models=2).fit(X, y)
    >>> bool(model.score_ < 0.15)
    True
    >>> [entry.name for entry in model.leaderboard_][0]
    'ensemble'
    """

    def _read_target(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_labels(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        return weighed_classes(target, weight, None, self._owner)[0], weight

    def _keep_classes(self, target: Target) -> None:
        self.classes_ = target.classes

    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class, (n_rows, n_classes), in the order of `classes_`.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        return probabilities(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row; with a `threshold` the positive class where its probability is at least that.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        proba = self.predict_proba(X)  # first: it says so where nothing was fitted
        labels: NDArray[Any] = np.asarray(self.classes_)[self.model_.decide(proba)]
        return labels

    @property
    def positive_(self) -> Any:
        """The label of the positive one of two classes; None where there are more."""
        check_is_fitted(self)
        return np.asarray(self.classes_)[self.model_.positive] if self.model_.task == "binary" else None

    @property
    def threshold_(self) -> float | None:
        """The probability from which on the positive class is predicted; None: the likelier class is."""
        check_is_fitted(self)
        return self.model_.threshold


@knobs
class AutoEnsembleRegressor(AutoParams, AutoEnsemble, RegressorMixin, BaseEstimator):
    """The best blend of members of many kinds that a given time allows, for numbers.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import AutoEnsembleRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoEnsembleRegressor(models=2).fit(X, y)
    >>> bool(model.score_ < 60)
    True
    """

    def _read_target(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_numbers(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        tell_of_constant(target.y if weight is None else target.y[weight > 0.0], self._owner)
        return target, weight

    def predict(self, X: Any) -> Floats:
        """The number that is expected for each row.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        return np.asarray(self._scores(X)[:, 0])
