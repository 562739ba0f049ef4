"""Gradient boosting for classification and regression."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from woodwind.estimators.base.several_targets import (
    SeveralTargets,
    has_several_targets,
    likeliest_labels,
    read_several_labels,
    read_several_numbers,
    weighed_labels,
)
from woodwind.estimators.base.target import read_labels, read_regression_target
from woodwind.estimators.base.weights import Weighing, read_weight
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
from woodwind.estimators.boosting.plan import Values
from woodwind.estimators.boosting.several_boosting import (
    AnyTarget,
    check_known,
    several_class_loss,
    several_probabilities,
    several_regression_loss,
    takes_several,
)
from woodwind.estimators.boosting.training_input import BoostingInput
from woodwind.losses.base import Loss
from woodwind.losses.named import takes_several_classes
from woodwind.losses.regression import Quantiles
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.params.groups import (
    BinParams,
    BoostParams,
    CheckpointParams,
    ClassParams,
    ClusterParams,
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
    ClusterParams,
    CheckpointParams,
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
    classes_ : array of shape (n_classes,), or list of arrays
        The labels, in order; of several targets those of each.
    target_names_ : list of str
        Names of the targets. Where there are several.
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

    @property
    def _takes_several(self) -> bool:
        return takes_several(self)

    def _read_target(self, y: Any, known: Any = None) -> AnyTarget:
        several = has_several_targets(y)
        check_known(known, several, self._owner)
        return read_several_labels(y, self._owner, known) if several else read_labels(y, self._owner, known)

    def _weighed(self, target: Any, weight: Floats | None, values: Values) -> tuple[Any, Weighing]:
        if not isinstance(target, SeveralTargets):
            return super()._weighed(target, weight, values)
        target, weighing = weighed_labels(target, weight, values["class_weight"], self._owner)
        self.classes_ = list(target.classes or ())
        return target, weighing

    def _make_loss(self, target: Any) -> Loss:
        if isinstance(target, SeveralTargets):
            return several_class_loss(self.loss, target)
        return classification_loss_for(self.loss, target.n_classes)

    def _predicted(self, raw: Floats) -> NDArray[Any]:
        if isinstance(self.classes_, list):
            return likeliest_labels(np.hstack(self._probabilities(raw)), self.classes_)
        labels: NDArray[Any] = self.classes_[likeliest(self.loss_, raw, self._threads)]
        return labels

    def _probabilities(self, raw: Floats) -> Any:
        if isinstance(self.loss_, SeveralTargetsLoss) and isinstance(self.classes_, list):
            return several_probabilities(self.loss_, raw, self.classes_, self._threads)
        return probabilities(self.loss_, raw, self._threads)


@knobs
class GradientBoostingRegressor(
    BoostParams,
    TreeParams,
    BinParams,
    SampleParams,
    ConstraintParams,
    StopParams,
    ClusterParams,
    CheckpointParams,
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
    target_names_ : list of str
        Names of the targets. Where there are several.
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

    multi_output: Annotated[
        Literal["vector", "one_per_target"],
        "With several targets, or quantiles: 'vector' grows one tree in each round, whose leaves hold a value for each; 'one_per_target' "
        "grows one for each. Symmetric trees, and those with path_smooth, are always of one.",
    ] = "vector"

    @property
    def _takes_several(self) -> bool:
        return takes_several(self) and not isinstance(self.quantile, Sequence | np.ndarray)

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None, eval_set: Any = None) -> None:
        one_each = values["multi_output"] == "one_per_target"
        super()._fit(values | {"multiclass": "one_per_class" if one_each else "vector"}, X, y, sample_weight, groups, eval_set)

    def _read_target(self, y: Any, known: Any = None) -> AnyTarget:
        return read_several_numbers(y, self._owner) if has_several_targets(y) else read_regression_target(y, self._owner)

    def _make_loss(self, target: Any) -> Loss:
        if isinstance(target, SeveralTargets):
            each = (quantile_loss_for(self.quantile, one) for one in several_regression_loss(self.loss, target, self._owner).each)
            return SeveralTargetsLoss(tuple(each))
        return quantile_loss_for(self.quantile, regression_loss_for(self.loss, target, self._owner, several=True))

    def _bound_loss(self, given: BoostingInput, training: Any) -> Loss:
        if isinstance(self.loss_, SeveralTargetsLoss):
            return self.loss_.for_target(training.y, given.weighing.weight)
        return super()._bound_loss(given, training)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 of the predictions; with several quantiles D2, the share of the pinball loss of the best constants that they remove."""
        if not isinstance(self.loss_, Quantiles):
            return float(super().score(X, y, sample_weight))
        target = read_regression_target(y, self._owner).y
        weight = read_weight(sample_weight, len(target), self._owner)
        constants = np.broadcast_to(self.loss_.start(target, weight), (len(target), self.loss_.width))
        return 1.0 - self.loss_.value(target, self.predict(X), weight) / self.loss_.value(target, constants, weight)

    def _score_names(self, width: int) -> tuple[str, ...]:
        if isinstance(self.loss_, Quantiles):
            return tuple(f"quantile {level:g}" for level in self.loss_.levels)
        return super()._score_names(width)
