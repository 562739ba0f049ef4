"""Random forests and extremely randomised trees, for classification and regression."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from woodwind.base.errors import ParameterError
from woodwind.data.tables.table import Table
from woodwind.distributions.empirical import QUANTILE_LEVELS, EmpiricalDistribution
from woodwind.distributions.predicted import PredictedDistribution
from woodwind.ensemble.forest import (
    ForestGrowth,
    classification_rows,
    regression_rows,
    several_label_rows,
    several_regression_rows,
    several_unit,
    several_votes,
)
from woodwind.estimators.base.model import LogProbabilityMixin
from woodwind.estimators.base.several_targets import (
    SEVERAL_CRITERIA,
    SeveralTargets,
    check_same_targets,
    divided,
    has_several_targets,
    likeliest_labels,
    read_several_labels,
    read_several_numbers,
    several_criterion,
    weighed_labels,
    weighed_numbers,
)
from woodwind.estimators.base.target import check_poisson, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import Weighing, weighed_classes
from woodwind.estimators.forests.forest_base import AnyTarget, BaseForestModel
from woodwind.estimators.forests.like import LikeScikitLearnMixin
from woodwind.kernels.forest.score import CLASS_CRITERIA
from woodwind.params.forests import ForestBins, ForestClassifierParams, ForestParams, ForestRegressorParams, QuantileParams
from woodwind.params.groups import BY_IMPURITY
from woodwind.params.knobs import knobs
from woodwind.tree.cart import TargetUnit
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_grower import CompactForestRows, CompactTree
from woodwind.tree.leaf_targets import LeafRows

Floats = NDArray[np.float64]
Values = dict[str, Any]


class BaseForestClassifier(BaseForestModel, LogProbabilityMixin, ClassifierMixin, BaseEstimator):
    """What forests for classes have in common."""

    _optional_state: ClassVar[dict[str, Any]] = {"oob_decision_function_": Floats | list[Floats]}

    voting: Literal["soft", "hard"]

    def _read_target(self, y: Any) -> AnyTarget:
        known: Any = self.classes_ if self._goes_on() else None
        several = has_several_targets(y)
        check_same_targets(self, several)
        return read_several_labels(y, self._owner, known) if several else read_labels(y, self._owner, known)

    def _weighed(self, target: AnyTarget, weight: Floats | None, values: Values) -> tuple[AnyTarget, Weighing]:
        if isinstance(target, SeveralTargets):
            target, weighing = weighed_labels(target, weight, values["class_weight"], self._owner)
            self.classes_ = list(target.classes or ())
            return target, weighing
        target, weighing = weighed_classes(target, weight, values["class_weight"], self._owner)
        self.classes_ = np.asarray(target.classes)
        return target, weighing

    def _rows(self, target: AnyTarget, weight: Floats | None) -> CompactForestRows:
        if isinstance(target, SeveralTargets):
            return several_label_rows(target.y, target.class_counts, weight)
        return classification_rows(target.y, target.n_classes, weight)

    def _voting(self, compact_forest: CompactForest, first: int = 0) -> CompactForest:
        if self.voting == "hard" and isinstance(self.classes_, list):
            return several_votes(compact_forest, [len(labels) for labels in self.classes_], self._seed, first)
        return compact_forest.voting(self._seed, first) if self.voting == "hard" else compact_forest

    def _set_out_of_bag(self, mean: Floats) -> None:
        self.oob_decision_function_ = divided(mean, self.classes_) if isinstance(self.classes_, list) else mean

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest share of each row; of equals the first. Of several targets, of each: (n_rows, n_targets).

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._predicted(self._mean(X))

    def predict_proba(self, X: Any) -> Any:
        """Mean over the trees of the class probabilities, or of their votes; (n_rows, n_classes), in the order of `classes_`.

        Of several targets a list of these.
        """
        mean = self._mean(X)
        return divided(mean, self.classes_) if isinstance(self.classes_, list) else mean

    def _predicted(self, mean: Floats) -> NDArray[Any]:
        if isinstance(self.classes_, list):
            return likeliest_labels(mean, self.classes_)
        labels: NDArray[Any] = self.classes_[mean.argmax(axis=1)]
        return labels


class BaseForestRegressor(BaseForestModel, RegressorMixin, BaseEstimator):
    """What forests for numbers have in common."""

    _optional_state: ClassVar[dict[str, Any]] = {"leaf_rows_": LeafRows, "oob_prediction_": NDArray[Any]}

    quantiles: bool
    leaf_rows_: LeafRows

    @property
    def _criterion(self) -> str:
        """What splits are scored by; trees of random structure have none."""
        return str(getattr(self, "criterion", "squared_error"))

    @property
    def _takes_several(self) -> bool:
        return self._criterion in SEVERAL_CRITERIA and not getattr(self, "quantiles", False)

    def _read_target(self, y: Any) -> AnyTarget:
        several = has_several_targets(y)
        check_same_targets(self, several)
        if several and self._criterion not in SEVERAL_CRITERIA:
            raise several_criterion(self._criterion, self._owner)
        if several and getattr(self, "quantiles", False):
            raise ParameterError(
                f"{self._owner}: quantiles=True is for one target. Set quantiles=False, or fit one model for each column of y."
            )
        if several:
            return read_several_numbers(y, self._owner)
        return check_poisson(read_regression_target(y, self._owner), self._criterion, self._owner)

    def _weighed(self, target: AnyTarget, weight: Floats | None, values: Values) -> tuple[AnyTarget, Weighing]:
        if isinstance(target, SeveralTargets):
            return weighed_numbers(target, weight, self._owner)
        target, weighing = super()._weighed(target, weight, values)
        warn_constant(weighing.at(target.y), self._owner)
        return target, weighing

    def _rows(self, target: AnyTarget, weight: Floats | None) -> CompactForestRows:
        if isinstance(target, SeveralTargets):
            return several_regression_rows(target.y, weight)
        return regression_rows(target.y, weight, self._criterion)

    def _least_decrease(self, values: Values, target: AnyTarget) -> float:
        several = isinstance(target, SeveralTargets)
        unit = several_unit(target.y) if several else TargetUnit.by(self._criterion, target.y)
        return unit.away_gain(values["min_impurity_decrease"])

    def _set_rows(self, trees: list[CompactTree], growing: ForestGrowth, there: int) -> None:
        if not self.quantiles:
            if hasattr(self, "leaf_rows_"):
                del self.leaf_rows_
            return
        times = [growing.resampling.counts(there + tree) for tree in range(len(trees))]
        kept = LeafRows.of(trees, times, *growing.rows.real) if trees else None
        if there and not hasattr(self, "leaf_rows_"):
            raise ParameterError(f"{self._owner}: quantiles=True, but the trees that are there were grown without. Set warm_start=False.")
        if kept is not None:
            self.leaf_rows_ = self.leaf_rows_.join(kept) if there else kept

    def _calibrate(self, table: Table, growing: ForestGrowth) -> None:
        resampling = growing.resampling
        if not self.quantiles or not resampling.leaves_rows_out:
            return
        unseen = np.stack([resampling.counts(tree) == 0 for tree in range(self.compact_forest_.n_trees)])
        y, weight = growing.rows.real
        self.leaf_rows_ = self.leaf_rows_.calibrated(self.compact_forest_, table, y, weight, unseen, self._threads)

    def _set_out_of_bag(self, mean: Floats) -> None:
        self.oob_prediction_ = self._predicted(mean)

    def predict(self, X: Any) -> Floats:
        """The mean over the trees of the mean target where each row ends. Of several targets (n_rows, n_targets).

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._predicted(self._mean(X))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95), calibrated: bool = True) -> Floats:
        """Quantiles of the training targets in the leaves where each row ends (Meinshausen 2006), (n_rows, n_quantiles).

        Needs `quantiles=True`: the forest then keeps which training rows are in which leaf. These targets alone are often spread too
        widely, or not widely enough. Rows out of the bag tell by how much, and other quantiles are asked for instead, so that about the
        share that was asked for of new targets is below.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.
        quantiles : numbers between 0 and 1, default=(0.05, 0.5, 0.95)
            0.05 and 0.95 are the ends of an interval that holds nine of ten targets.
        calibrated : bool, default=True
            False for the quantiles as they stand in the leaves. Trees that have all seen every row (`bootstrap=False`) leave no choice.
        """
        table = self._read(X)
        if not hasattr(self, "quantiles"):
            raise ParameterError(
                f"{self._owner}: its leaves keep no training rows, which quantiles are made of. Use RandomForestRegressor or "
                "ExtraTreesRegressor with quantiles=True."
            )
        if not hasattr(self, "leaf_rows_"):
            raise ParameterError(f"{self._owner}: predict_quantiles needs the training rows of the leaves. Fit with quantiles=True.")
        wanted = np.atleast_1d(np.asarray(quantiles, np.float64))
        if wanted.ndim != 1 or not ((wanted >= 0.0) & (wanted <= 1.0)).all():
            raise ParameterError(f"{self._owner}: quantiles must be numbers from 0 to 1, not {quantiles!r}.")
        levels = self.leaf_rows_.levels if calibrated else None
        if levels is not None:
            wanted = np.interp(wanted, np.linspace(0.0, 1.0, len(levels)), levels)
        return self.leaf_rows_.quantiles(self.compact_forest_, table, wanted, self._threads)

    def predict_distribution(self, X: Any, calibrated: bool = True) -> PredictedDistribution:
        """The distribution of the training targets in the leaves where each row ends, by 200 of its quantiles. Needs `quantiles=True`.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.
        calibrated : bool, default=True
            As in `predict_quantiles`: quantiles of new targets, as rows out of the bag tell; False for those that stand in the leaves.

        Returns
        -------
        PredictedDistribution
            With `mean`, `std`, `median`, `quantile`, `interval`, `cdf`, `crps` and `sample`, in the shapes of SciPy; there is no density.
            The mean is that of the quantiles, not quite that of `predict`.
        """
        return PredictedDistribution(EmpiricalDistribution(), self.predict_quantiles(X, QUANTILE_LEVELS, calibrated))

    def _predicted(self, mean: Floats) -> Floats:
        return mean[:, 0] if mean.shape[1] == 1 else mean


@knobs
class RandomForestClassifier(ForestClassifierParams, ForestBins, ForestParams, LikeScikitLearnMixin, BaseForestClassifier):
    """A random forest for classification (Breiman 2001).

    {forest}

    {parameters}

    Attributes
    ----------
    {class_model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    criterion: Annotated[Literal[CLASS_CRITERIA], BY_IMPURITY] = "gini"  # type: ignore[valid-type]


@knobs
class RandomForestRegressor(ForestRegressorParams, ForestBins, ForestParams, QuantileParams, LikeScikitLearnMixin, BaseForestRegressor):
    """A random forest for regression (Breiman 2001).

    {forest}

    {parameters}

    Attributes
    ----------
    {number_model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.35)
    True
    """

    max_features = 1.0


@knobs
class ExtraTreesClassifier(ForestClassifierParams, ForestParams, LikeScikitLearnMixin, BaseForestClassifier):
    """Extremely randomised trees for classification (Geurts, Ernst & Wehenkel 2006).

    {extra}

    {parameters}

    Attributes
    ----------
    {class_model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import ExtraTreesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExtraTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    criterion: Annotated[Literal[CLASS_CRITERIA], BY_IMPURITY] = "gini"  # type: ignore[valid-type]
    bootstrap = False
    _random_cuts = True


@knobs
class ExtraTreesRegressor(ForestRegressorParams, ForestParams, QuantileParams, LikeScikitLearnMixin, BaseForestRegressor):
    """Extremely randomised trees for regression (Geurts, Ernst & Wehenkel 2006).

    {extra}

    {parameters}

    Attributes
    ----------
    {number_model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import ExtraTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ExtraTreesRegressor(min_samples_leaf=3, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    bootstrap = False
    max_features = 1.0
    _random_cuts = True
