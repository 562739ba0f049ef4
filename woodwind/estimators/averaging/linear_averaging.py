"""Linear regression averaged over subsets of columns."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError, WoodwindWarning
from woodwind.base.notice import notice
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require_finite
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.ensemble.bayesian_averaging import as_counts
from woodwind.ensemble.subsets import (
    Averaged,
    RegressionMoments,
    SubsetModels,
    averaged,
    chain,
    every_model,
    log_evidence,
    log_model_prior,
    within_window,
)
from woodwind.estimators.base.model import COLUMNS, BaseModel, check_lengths, row_count
from woodwind.estimators.base.target import read_regression_target, warn_constant
from woodwind.estimators.base.weights import read_weight
from woodwind.params.averaging import LinearAveragingParams
from woodwind.params.knobs import knobs

Floats = NDArray[np.float64]

# Models that are kept to be looked at; the averages are over all.
MOST_KEPT = 10_000
# A chain whose visits and weights differ by more than this about a column has not seen enough.
UNCONVERGED = 0.15


@knobs
class BayesianLinearAveragingRegressor(LinearAveragingParams, BaseModel, RegressorMixin, BaseEstimator):
    """Linear regression averaged over subsets of columns: Bayesian model averaging.

    Every subset of the columns is a linear regression of its own, and counts by how probable it is, given the rows. So a coefficient is the
    mean over models with and without its column, and its standard deviation holds the doubt about which model is right. All subsets
    are looked at where there are few columns, else those that a Markov chain (MC3) meets.

    A table of any kind becomes numbers first: categories of a category become columns of zeros and ones, missing numbers their mean and a
    column that marks them. Columns that depend on each other are never in one model.

    {parameters}

    Attributes
    ----------
    inclusion_probabilities_ : array of shape (n_terms,)
        How probable it is that each column has a part in the truth: the sum over models that have it in.
    coef_, coef_std_ : arrays of shape (n_terms,)
        Posterior means and standard deviations of the coefficients; zero in models without the column.
    coef_covariance_ : array of shape (n_terms, n_terms)
        Their posterior covariances.
    intercept_ : float
        The intercept.
    error_variance_ : float
        The mean error variance of the models.
    models_ : list of dicts
        The most probable models first: columns, size, probability, r2, log_evidence (with the prior, up to a constant). A frame of it is
        pandas.DataFrame(model.models_).
    n_models_ : int
        Models that were averaged.
    visit_shares_ : array of shape (n_terms,)
        The share of the steps of the Markov chain that had each column in, if there was a chain.
    terms_ : list of str
        What the columns of the linear models are; the columns of the table, if these are numbers without gaps.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import BayesianLinearAveragingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = BayesianLinearAveragingRegressor().fit(X, y)
    >>> model.models_[0]["columns"]
    ['sex', 'bmi', 'bp', 's3', 's5']
    >>> dict(zip(model.terms_, model.inclusion_probabilities_.round(2).tolist()))["bmi"]
    1.0
    """

    _state: ClassVar[dict[str, Any]] = {
        "_form": MatrixForm,
        "_kept": SubsetModels,
        "_center": Floats,
        "_mean_variance": float,
        "coef_": Floats,
        "coef_covariance_": Floats,
        "coef_std_": Floats,
        "error_variance_": float,
        "g_": float | None,
        "inclusion_probabilities_": Floats,
        "intercept_": float | Floats,
        "n_models_": int,
        "terms_": list[str],
    }
    _optional_state: ClassVar[dict[str, Any]] = {"visit_fractions_": Floats}

    _docstring_parts: ClassVar[dict[str, str]] = {"columns": COLUMNS}

    def _fit(self, values: dict[str, Any], X: Any, y: Any, sample_weight: Any) -> None:
        prior = self._model_prior(values["model_prior"])
        target = read_regression_target(y, self._owner)
        weight = as_counts(read_weight(sample_weight, target.n_rows, self._owner))
        check_lengths(self._owner, row_count(X), target.n_rows)
        form = MatrixForm.learn(X, scale=False, weight=weight, categorical_features=values["categorical_features"], owner=self._owner)
        matrix = form.of(X, self._owner)
        check_lengths(self._owner, len(matrix), target.n_rows)
        present = np.arange(len(matrix)) if weight is None else np.flatnonzero(weight)
        warn_constant(target.y[present], self._owner)
        self._set_header(form.schema.header)
        self._form = form
        moments = RegressionMoments.of(matrix[present], target.y[present], None if weight is None else weight[present])
        self.g_ = self._g(values["g"], moments) if values["evidence"] == "g" else None
        models = self._models(values, moments, prior)
        self._set_models(models, moments, averaged(moments, models, values["evidence"], self.g_ or 1.0))

    def _model_prior(self, given: Any) -> str | float | tuple[float, float]:
        """The prior over subsets, checked."""
        if isinstance(given, str) and given in ("uniform", "beta_binomial"):
            return given
        if isinstance(given, int | float) and not isinstance(given, bool) and 0.0 <= given <= 1.0:
            return float(given)
        if isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(one, int | float) and one > 0 for one in given):
            return float(given[0]), float(given[1])
        raise ParameterError(
            f"{self._owner}: model_prior must be 'uniform', 'beta_binomial', a number from 0 to 1 or two numbers above 0, but it is "
            f"{given!r}. The default is 'uniform'."
        )

    def _g(self, given: float | str, moments: RegressionMoments) -> float:
        """Fernández, Ley & Steel (2001) recommend the benchmark."""
        if not isinstance(given, str):
            return given
        n, square = moments.n, float(moments.n_columns**2)
        return {"unit": n, "risk": max(square, 1.0), "benchmark": max(n, square)}[given]

    def _models(self, values: dict[str, Any], moments: RegressionMoments, prior: str | float | tuple[float, float]) -> SubsetModels:
        """The models that are averaged."""
        g = self.g_ or 1.0

        def score(left: Floats, size: NDArray[Any]) -> Floats:
            return log_evidence(left, size, moments.n, values["evidence"], g) + log_model_prior(size, moments.n_columns, prior)

        self.__dict__.pop("visit_fractions_", None)
        if moments.n_columns <= values["max_enumerated"]:
            return within_window(every_model(moments, score), values["occam_window"])
        steps = values["n_steps"]
        models, self.visit_fractions_ = chain(moments, score, steps, steps // 10, seed_of(values["random_state"]))
        apart = np.abs(self.visit_fractions_ - models.probability @ models.included).max()
        if apart > UNCONVERGED:
            notice(
                f"{self._owner}: the Markov chain has not converged: by its visits and by the weights of the models it met, the "
                f"probability of a column differs by up to {apart:.2f}. Raise n_steps, which is {steps:,}, or leave columns out.",
                WoodwindWarning,
            )
        return within_window(models, values["occam_window"])

    def _set_models(self, models: SubsetModels, moments: RegressionMoments, found: Averaged) -> None:
        self.terms_ = list(self._form.names)
        self.inclusion_probabilities_: Floats = np.asarray(models.probability @ models.included)
        self.coef_, self.coef_covariance_ = found.coef, found.covariance
        self.coef_std_: Floats = np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
        self.intercept_ = float(moments.mean - moments.center @ found.coef)
        self.error_variance_ = found.noise
        self.n_models_ = len(models.probability)
        self._kept = models.first(MOST_KEPT)
        self._center, self._mean_variance = moments.center, found.mean_variance

    @property
    def models_(self) -> list[dict[str, Any]]:
        """The models, the most probable first."""
        check_is_fitted(self)
        return [
            {
                "columns": [self.terms_[position] for position in np.flatnonzero(included)],
                "size": int(included.sum()),
                "probability": float(probability),
                "r2": 1.0 - float(left),
                "log_evidence": float(evidence),
            }
            for included, left, evidence, probability in zip(*self._kept, strict=True)
        ]

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """The mean over the models, and if asked for the standard deviation of a new target.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        return_std : bool, default=False
            Give a second array: the standard deviation of a new target, from its error and from the doubt about coefficients and models.
        """
        check_is_fitted(self)
        matrix = self._form.of(X, self._owner)
        mean = require_finite(matrix @ self.coef_ + self.intercept_, self._owner)
        if not return_std:
            return mean
        apart = matrix - self._center
        spread = np.einsum("np,pq,nq->n", apart, self.coef_covariance_, apart)
        return mean, require_finite(np.sqrt(np.maximum(spread, 0.0) + self._mean_variance + self.error_variance_), self._owner)
