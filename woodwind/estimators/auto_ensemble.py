"""The main job as estimators: give them a table and a time, and they try members of all families and blend them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

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
        """The likeliest class of each row.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        likeliest = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = np.asarray(self.classes_)[likeliest]
        return labels


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
