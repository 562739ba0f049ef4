"""Forests of random structure, for classification and regression."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.random_streams import seed_of
from woodwind.ensemble.forest import matrix_of
from woodwind.ensemble.random_structure import structure_forest
from woodwind.ensemble.resampling import Resampling
from woodwind.estimators.base.category_statistics import read_with_statistics
from woodwind.estimators.base.several_targets import has_several_targets, one_target_only
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.forests.forest_base import BaseForestModel
from woodwind.estimators.forests.forests import BaseForestClassifier, BaseForestRegressor
from woodwind.params.groups import Categorical, CategoryEncoding, ClassWeight, Jobs, RandomState
from woodwind.params.knobs import at_least, between, knobs

Floats = NDArray[np.float64]


@knobs
class StructureParams:
    """How many trees, how deep, and how the work is done."""

    n_estimators: Annotated[int, at_least(1), "Number of trees."] = 100
    max_depth: Annotated[int, between(1, 16), "Depth of every tree: each has 2 ** max_depth leaves."] = 8
    categorical_features: Categorical = None
    categorical_encoding: CategoryEncoding = "auto"
    n_jobs: Jobs = None
    random_state: RandomState = None


class BaseRandomStructureForest(BaseForestModel):
    """Trees that are drawn, and leaves that are filled."""

    warm_start = False

    @property
    def _takes_several(self) -> bool:
        return False

    def _fit(self, values: dict[str, Any], X: Any, y: Any, sample_weight: Any) -> None:
        self._seed = seed_of(values["random_state"])
        if has_several_targets(y):
            raise one_target_only("it", self._owner)
        target = self._read_target(y)
        given = read_weight(sample_weight, target.n_rows, self._owner)
        target, weighing = self._weighed(target, given, values)
        schema, table = read_with_statistics(X, values, target, weighing, lambda: self._seed, self._threads, self._owner)
        weight = np.ones(table.n_rows) if weighing.given is None else weighing.given
        if weighing.weight is not None and weighing.take is not None:
            weight = np.bincount(weighing.take, weights=weighing.weight, minlength=table.n_rows).astype(np.float64)
        n_categories = np.array([0 if column.categories is None else max(len(column.categories), 1) for column in table.columns], np.int32)
        seeds = self._seed, values["n_estimators"], self._threads
        x = matrix_of(table)
        self.compact_forest_ = structure_forest(
            x, target.y.astype(np.float64), weight, target.n_classes, n_categories, values["max_depth"], seeds
        )
        self._resampling = Resampling(self._seed, table.n_rows, table.n_rows, replace=False)
        self._set_schema(schema)


@knobs
class RandomStructureForestClassifier(StructureParams, BaseRandomStructureForest, BaseForestClassifier):
    """A forest of complete trees with random questions, for classification; only the leaves learn.

    Questions are a random feature and a random threshold in its range, drawn before a row is seen; missing values go to a random side.
    Fast, and good where many features say a little each.

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    compact_forest_ : CompactForest
        The trees, as arrays.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import RandomStructureForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomStructureForestClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    voting = "soft"
    class_weight: ClassWeight = None


@knobs
class RandomStructureForestRegressor(StructureParams, BaseRandomStructureForest, BaseForestRegressor):
    """A forest of complete trees with random questions, for regression; only the leaves learn.

    Questions are a random feature and a random threshold in its range, drawn before a row is seen; missing values go to a random side.

    {parameters}

    Attributes
    ----------
    compact_forest_ : CompactForest
        The trees, as arrays.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import RandomStructureForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomStructureForestRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    max_depth = 12
