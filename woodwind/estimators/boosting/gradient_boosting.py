"""Gradient boosting for classification and regression."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from woodwind.estimators.base.target import Target, read_regression_target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.boosting.boosted_classifier import BaseBoostedClassifier
from woodwind.estimators.boosting.boosted_model import Floats
from woodwind.estimators.boosting.gradient_boosting_base import BaseGradientBoosting
from woodwind.estimators.boosting.like import LikeLibraryMixin
from woodwind.estimators.boosting.loss_choice import (
    ClassLoss,
    RegressionLoss,
    classification_loss_for,
    likeliest,
    probabilities,
    quantile_loss_for,
    regression_loss_for,
)
from woodwind.losses.base import Loss
from woodwind.losses.named import takes_several_classes
from woodwind.losses.regression import Quantiles
from woodwind.params.groups import (
    BinParams,
    BoostParams,
    ClassParams,
    ConstraintParams,
    RunParams,
    SampleParams,
    StopParams,
    TreeParams,
)
from woodwind.params.knobs import knobs, spelled


@knobs
class GradientBoostingClassifier(
    BoostParams,
    ClassParams,
    TreeParams,
    BinParams,
    SampleParams,
    ConstraintParams,
    StopParams,
    RunParams,
    LikeLibraryMixin,
    BaseBoostedClassifier,
    BaseEstimator,
):
    """Gradient boosting for classification.

    Tables come as they are: text, categories, dates, missing values, labels of any kind. With enough rows, a share is held out
    to find the number of rounds, and then given back: the leaves of all trees are fitted once more from all rows.

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {model}
    {columns}

    Notes
    -----
    {auto}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    loss: ClassLoss = "log_loss"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = takes_several_classes(self.loss)
        return tags

    def _make_loss(self, target: Target) -> Loss:
        return classification_loss_for(self.loss, target.n_classes)

    def _predicted(self, raw: Floats) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[likeliest(self.loss_, raw, self._threads)]
        return labels

    def _probabilities(self, raw: Floats) -> Floats:
        return probabilities(self.loss_, raw, self._threads)


@knobs
class GradientBoostingRegressor(
    BoostParams,
    TreeParams,
    BinParams,
    SampleParams,
    ConstraintParams,
    StopParams,
    RunParams,
    LikeLibraryMixin,
    BaseGradientBoosting,
    RegressorMixin,
    BaseEstimator,
):
    """Gradient boosting for regression.

    Tables come as they are: text, categories, dates, missing values. With enough rows, a share is held out to find the number of rounds,
    and then given back: the leaves of all trees are fitted once more from all rows.

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Notes
    -----
    {auto}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    loss: RegressionLoss = "squared_error"
    quantile: Annotated[
        float | Sequence[float] | None,
        spelled("None, a number between 0 and 1, or several"),
        "Level of loss='quantile'; None for the median. With several levels one model predicts them all, a column for each, and no "
        "quantile is above one of a higher level.",
    ] = None

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        return read_regression_target(y, self._owner)

    def _make_loss(self, target: Target) -> Loss:
        return quantile_loss_for(self.quantile, regression_loss_for(self.loss, target, self._owner, several=True))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 of the predictions; with several quantiles D2, the share of the pinball loss of the best constants that they remove."""
        if not isinstance(self.loss_, Quantiles):
            return float(super().score(X, y, sample_weight))
        target = self._read_target(y).y
        weight = read_weight(sample_weight, len(target), self._owner)
        constants = np.broadcast_to(self.loss_.start(target, weight), (len(target), self.loss_.width))
        return 1.0 - self.loss_.value(target, self.predict(X), weight) / self.loss_.value(target, constants, weight)

    def _score_names(self, width: int) -> tuple[str, ...]:
        if isinstance(self.loss_, Quantiles):
            return tuple(f"quantile {level:g}" for level in self.loss_.levels)
        return super()._score_names(width)
