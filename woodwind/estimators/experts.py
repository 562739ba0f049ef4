"""Mixtures of experts, for classes and for numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from woodwind.base.errors import ParameterError
from woodwind.base.sound import finite
from woodwind.ensemble.averaging import as_counts
from woodwind.ensemble.experts import Course, categorical_log_density, gaussian_log_density, mixture_moments, mixture_quantiles
from woodwind.estimators.expert_skin import Experts, Floats, Values
from woodwind.estimators.log_shares import LogShares
from woodwind.estimators.mixture import Parts
from woodwind.estimators.skin import check_lengths
from woodwind.estimators.target import Target, read_labels, read_numbers, tell_of_constant
from woodwind.estimators.weights import read_weight, weighed_classes
from woodwind.params.experts import ExpertNumberParams, ExpertParams
from woodwind.params.knobs import knobs


@knobs
class MixtureOfExpertsClassifier(ExpertParams, Experts, LogShares, ClassifierMixin, BaseEstimator):
    """A mixture of experts for classification.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_classes_ : int
        How many there are.
    {model}
    {columns}

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind import MixtureOfExpertsClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")  # no line separates the classes, but two lines and a gate do
    >>> model = MixtureOfExpertsClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _classifies = True

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_labels(y, self._owner)
        weight = as_counts(read_weight(sample_weight, target.n_rows, self._owner))
        target, _ = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        self.n_classes_ = target.n_classes
        return target, weight

    def _points(self, target: Target, weight: Floats) -> Floats:
        return np.asarray(np.eye(target.n_classes)[target.y])

    def _log_density(self, y: Any, said: Floats) -> Floats:
        target = read_labels(y, self._owner, self.classes_)
        check_lengths(self._owner, len(said), target.n_rows)
        return categorical_log_density(np.asarray(target.y, np.int64), said)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes): those of the experts, each counting as the gate says.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        gate, said = self._said(X)
        mixed = np.einsum("nk,nkc->nc", gate, said)
        return finite(np.asarray(mixed / mixed.sum(axis=1, keepdims=True)), self._owner)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class, of equals the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


@knobs
class MixtureOfExpertsRegressor(ExpertParams, ExpertNumberParams, Experts, RegressorMixin, BaseEstimator):
    """A mixture of experts for regression.

    {about}

    The errors of each expert are normal, with a variance of its own: so the mixture says a whole distribution, whose mean is predicted.

    {parameters}

    Attributes
    ----------
    {model}
    error_variances_ : array of shape (n_experts_,)
        The variance of the errors of each expert.
    {columns}

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind import MixtureOfExpertsRegressor
    >>> x = np.linspace(0, 10, 200)
    >>> y = np.where(x < 4, 2 * x, 8 - (x - 4))  # a line with a kink at 4
    >>> model = MixtureOfExpertsRegressor(random_state=0).fit(x[:, None], y)
    >>> sorted(round(float(expert.coef_[0]), 3) for expert in model.experts_)
    [-1.0, 2.0]
    """

    _classifies = False

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_numbers(y, self._owner)
        weight = as_counts(read_weight(sample_weight, target.n_rows, self._owner))
        tell_of_constant(target.y if weight is None else target.y[weight > 0.0], self._owner)
        return target, weight

    def _points(self, target: Target, weight: Floats) -> Floats:
        apart = target.y - weight @ target.y / weight.sum()
        spread = float(np.sqrt(weight @ apart**2 / weight.sum()))
        return np.asarray(apart / (spread or 1.0))[:, None]

    def _keep_parts(self, parts: Parts, course: Course, present: NDArray[np.int64], n_rows: int, values: Values) -> None:
        super()._keep_parts(parts, course, present, n_rows, values)
        assert parts.variance is not None
        self.error_variances_ = parts.variance

    def _log_density(self, y: Any, said: Floats) -> Floats:
        target = read_numbers(y, self._owner)
        check_lengths(self._owner, len(said), target.n_rows)
        return gaussian_log_density(target.y, said, self.error_variances_)

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """The mean of what the experts say, each counting as the gate says; if asked for, with the standard deviation of a new target.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        return_std : bool, default=False
            Give a second array: the standard deviation of the mixture, from the errors of experts and from how far apart they are.
        """
        gate, said = self._said(X)
        mean, variance = mixture_moments(gate, said, self.error_variances_)
        finite(mean, self._owner)
        return (mean, finite(np.sqrt(variance), self._owner)) if return_std else mean

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the mixture of normal distributions that the experts say, (n_rows, n_quantiles).

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.
        quantiles : numbers between 0 and 1, default=(0.05, 0.5, 0.95)
            0.05 and 0.95 are the ends of an interval that holds nine of ten targets.
        """
        wanted = np.atleast_1d(np.asarray(quantiles, np.float64))
        if wanted.ndim != 1 or not ((wanted >= 0.0) & (wanted <= 1.0)).all():
            raise ParameterError(f"{self._owner}: quantiles must be numbers from 0 to 1, not {quantiles!r}.")
        gate, said = self._said(X)
        return mixture_quantiles(gate, said, self.error_variances_, wanted)
