"""Natural-gradient boosting of classes (NGBoost, Duan et al. 2020)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from woodwind.base.validate import require
from woodwind.distributions.classes import CategoricalDistribution
from woodwind.ensemble.boosting import precompile
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import Weighing
from woodwind.estimators.boosting.boosted_classifier import BaseBoostedClassifier
from woodwind.estimators.boosting.boosted_model import Floats
from woodwind.estimators.boosting.distribution_boosting import BaseDistributionBoosting, NaturalGradientParams
from woodwind.estimators.boosting.plan import Values, has_own_thresholds
from woodwind.losses.base import Loss
from woodwind.losses.distribution_score import DistributionScore
from woodwind.params.groups import (
    BinParams,
    BoostParams,
    ClassWeight,
    ClusterParams,
    ConstraintParams,
    RunParams,
    SampleParams,
    StopParams,
    TreeParams,
)
from woodwind.params.knobs import knobs


@knobs
class DistributionBoostingClassifier(
    NaturalGradientParams,
    BoostParams,
    TreeParams,
    BinParams,
    SampleParams,
    ConstraintParams,
    StopParams,
    ClusterParams,
    RunParams,
    BaseDistributionBoosting,
    BaseBoostedClassifier,
    BaseEstimator,
):
    """Natural-gradient boosting of classes: Bernoulli's distribution for two, the categorical one for more.

    Scores are the log-odds of every class against the first. `GradientBoostingClassifier` makes Newton steps for the same loss, and is as
    a rule quicker and better; this is the method of NGBoost.

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    distribution_ : Distribution
        The family that was learned.
    {model}
    {columns}

    Notes
    -----
    {auto}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import DistributionBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DistributionBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    class_weight: ClassWeight = None

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing]:
        target, weighing = super()._weighed(target, weight, values)
        self._check_options(values, CategoricalDistribution(target.n_classes))
        return target, weighing

    def _make_loss(self, target: Target) -> Loss:
        loss = DistributionScore(CategoricalDistribution(target.n_classes), natural=self.natural_gradient)
        return loss if self.line_search else loss.for_target(target.y, None)

    def _precompile(self, values: Values, n_classes: int) -> None:
        if not has_own_thresholds(values):
            together = values["multi_output"] == "vector" and values["growth"] != "symmetric"
            precompile.start(n_classes - 1 if together else 1, values["growth"])

    def _probabilities(self, raw: Floats) -> Floats:
        family = self.distribution_
        assert isinstance(family, CategoricalDistribution)
        return family.probabilities(raw.reshape(len(raw), -1))

    def _decision(self, raw: Floats) -> Floats:
        return raw if raw.ndim == 1 else np.hstack([np.zeros((len(raw), 1)), raw])

    def _predicted(self, raw: Floats) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[self._probabilities(raw).argmax(axis=1)]
        return labels

    def _score_names(self, width: int) -> tuple[str, ...]:
        return tuple(f"log-odds of {label} against {self.classes_[0]}" for label in self.classes_[1:])

    def _check_state(self) -> None:
        """There is a score for each class but the first."""
        require(isinstance(self.loss_, DistributionScore), "the loss is of another task")
        require(self.distribution_ == CategoricalDistribution(len(self.classes_)), "there are other classes than in the distribution")
        require(self.forest_.n_outputs == len(self.classes_) - 1, "there are other scores than classes")
