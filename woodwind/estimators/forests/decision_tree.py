"""Single decision trees: CART for classification and regression, every threshold considered."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.fixed import exact_sum
from woodwind.base.random_streams import key, seed_of
from woodwind.base.validate import require_finite
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.forest_codes import ForestCodes
from woodwind.data.binning.ranks import Ranks
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.forest import (
    classification_rows,
    regression_rows,
    several_label_rows,
    several_regression_rows,
    several_unit,
    single_tree,
)
from woodwind.estimators.base.category_statistics import read_with_statistics
from woodwind.estimators.base.model import COLUMNS, LogProbabilityMixin
from woodwind.estimators.base.several_targets import (
    SEVERAL_CRITERIA,
    SeveralTargets,
    SeveralTargetsMixin,
    divided,
    has_several_targets,
    likeliest_labels,
    read_several_labels,
    read_several_numbers,
    several_criterion,
    weighed_labels,
    weighed_numbers,
)
from woodwind.estimators.base.target import LARGEST, Target, check_poisson, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.tree_base import BaseTreeModel, path_matrix
from woodwind.estimators.base.weights import Weighing, class_factors, read_weight, weighed_classes
from woodwind.estimators.boosting.plan import feature_count, monotonic
from woodwind.kernels.exact.score import CLASS_CRITERIA
from woodwind.params.check import check
from woodwind.params.groups import BY_IMPURITY, CartClassifierParams, CartParams, CartRegressorParams
from woodwind.params.knobs import knobs
from woodwind.tree.cart import CartData, CartPlan, TargetUnit, class_impurity, classification_tree, regression_impurity, regression_tree
from woodwind.tree.compact_forest_grower import CompactForestRows, CompactForestSettings
from woodwind.tree.exact_grower import ranks_of_codes
from woodwind.tree.forest import Forest
from woodwind.tree.prune import pruned, pruning_path
from woodwind.tree.settings import TreeSettings

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Values = dict[str, Any]

NO_LIMIT = 1 << 40


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table that has been read and coded: any number of trees can be grown from it."""

    schema: Schema
    ranks: Ranks
    cuts: Cuts | None  # the edges, if the ranks are codes of bins

    @classmethod
    def of(cls, schema: Schema, table: Table, max_bins: int | None, weight: Floats | None, threads: int) -> "CodedTable":
        """Ranks, or bins; `weight` says how much each row counts for the edges of bins."""
        if max_bins is None:
            return cls(schema, Ranks.of(table, threads), None)
        cuts = Cuts.fit(table, max_bins, weight, threads)
        return cls(schema, ranks_of_codes(cuts.encode(table, threads)), cuts)


@dataclass(frozen=True, eq=False)
class ForestEngineData:
    """What a tree is grown from that the forest engine grows: random splits, and criteria that the exact engine does not have."""

    forest_codes: ForestCodes
    count: Integers  # (n,) how many rows each stands for; 0: absent
    weight: Floats | None  # (n,) of each of these; None for one

    @property
    def total(self) -> Floats:
        """Weight of each row of the table."""
        return self.count.astype(np.float64) if self.weight is None else self.count * self.weight

    def tree(self, rows: CompactForestRows, plan: CartPlan, unit: TargetUnit) -> Forest:
        """Grow it: the first tree of extremely randomised trees with the same seed, where splits are random."""
        settings, weight = plan.settings, exact_sum(self.total)
        grown = single_tree(
            self.forest_codes,
            rows,
            CompactForestSettings(
                criterion=plan.criterion,
                random_cuts=plan.random_splits,
                exact=True,
                max_depth=settings.max_depth,
                max_leaves=None if settings.max_leaves == NO_LIMIT else settings.max_leaves,
                min_split=plan.min_split,
                min_rows=int(settings.min_rows),
                min_weight_share=settings.min_hessian / weight,
                min_decrease=unit.away_gain(settings.min_gain) / weight,
                n_candidates=settings.features_per_node or self.forest_codes.n_features,
            ),
            self.count,
            plan.name,
        )
        return replace(grown, gain=unit.back_gain(grown.gain))


def needs_forest_engine(values: Values) -> bool:
    """Whether parameters ask for a tree that the exact engine does not grow."""
    return values["splitter"] == "random" or values["criterion"] in ("absolute_error", "poisson")


@dataclass(frozen=True, eq=False)
class TreeSample:
    """What one tree of an ensemble sees of a table."""

    count: Integers  # (n,) how often each row was drawn; 0: absent
    weight: Floats | None  # (n,) of each of these; None for one
    columns: Integers | None  # input columns that it may use, ascending; None for all


# For the docstrings of the estimators.
SPLITS = """
Every threshold is considered, unless `max_bins` or `splitter` says otherwise; categories are split into sets of categories, and missing
values go where they fit best. What training never saw stops at the split and takes what is known there.
"""


AnyTarget = Target | SeveralTargets


class BaseDecisionTree(SeveralTargetsMixin, BaseTreeModel):
    """What both kinds of tree share."""

    _state: ClassVar[dict[str, Any]] = {"schema_": Schema, "forest_": Forest}

    _docstring_parts: ClassVar[dict[str, str]] = {"splits": SPLITS, "columns": COLUMNS}
    ccp_alpha: float
    monotonic_cst: Any
    max_bins: int | None
    classes_: NDArray[Any] | list[NDArray[Any]]

    # What each task does in its own way.

    def _read_target(self, y: Any) -> AnyTarget:
        raise NotImplementedError

    def _weighed(self, target: AnyTarget, weight: Floats | None, values: Values) -> tuple[AnyTarget, Weighing]:
        """The target and the weights as they are trained on."""
        return target, Weighing.of(weight)

    def _grow(self, data: CartData | ForestEngineData, target: AnyTarget, plan: CartPlan) -> Forest:
        raise NotImplementedError

    def _impurity(self, data: CartData | ForestEngineData, target: AnyTarget, plan: CartPlan) -> float:
        raise NotImplementedError

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        schema, data, target, plan = self._given(values, X, y, sample_weight)
        forest = self._grow(data, target, plan)
        self._set_schema(schema)
        self._set_targets(target)
        self.forest_ = pruned(forest, self.ccp_alpha) if self.ccp_alpha > 0.0 else forest

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """How the tree shrinks as the price of a leaf rises.

        Takes what `fit` takes, and leaves the estimator as it is. Each of the alphas, given as `ccp_alpha`, grows the tree of its step.

        Returns
        -------
        Bunch with the arrays `ccp_alphas`, ascending from 0, and `impurities`: the mean impurity of the leaves at each step.
        """
        classes = getattr(self, "classes_", None)
        try:
            _schema, data, target, plan = self._given(check(self), X, y, sample_weight)
            alphas, impurities = pruning_path(self._grow(data, target, plan), self._impurity(data, target, plan))
        finally:
            self._restore_classes(classes)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def _restore_classes(self, classes: NDArray[Any] | None) -> None:
        """A path leaves no trace."""
        if classes is not None:
            self.classes_ = classes
        elif hasattr(self, "classes_"):
            del self.classes_

    def _given(self, values: Values, X: Any, y: Any, sample_weight: Any) -> tuple[Schema, CartData | ForestEngineData, AnyTarget, CartPlan]:
        """What fit was given, read and checked."""
        self._check_engine(values)
        target = self._read_target(y)
        several = isinstance(target, SeveralTargets)
        if several:
            self._check_several(values)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, weighing = self._weighed(target, weight, values)
        state = values["random_state"]
        # A tree that draws nothing else is the same every time.
        seed = (lambda: 0) if state is None else (lambda: seed_of(state))
        schema, table = read_with_statistics(X, values, target, weighing, seed, self._threads, self._owner)
        data: CartData | ForestEngineData
        if several or needs_forest_engine(values):
            count, own = weighing.of_rows(table.n_rows)
            forest_codes = ForestCodes.of(table, 255, weighing.given, self._threads)
            data = ForestEngineData(forest_codes, np.ones(table.n_rows, np.int64) if count is None else count, own)
        else:
            data = self._data(CodedTable.of(schema, table, values["max_bins"], weighing.given, self._threads), weighing)
        return schema, data, target, self._plan(schema, exact_sum(data.total), values)

    def _check_engine(self, values: Values) -> None:
        """Combinations that no engine grows."""
        if not needs_forest_engine(values):
            return
        what = "splitter='random'" if values["splitter"] == "random" else f"criterion={values['criterion']!r}"
        for name in ("monotonic_cst", "max_bins"):
            if values[name] is not None:
                raise ParameterError(f"{self._owner}: {name} cannot be had with {what}. Set {name}=None.")
        if values["criterion"] == "gain_ratio":
            raise ParameterError(
                f"{self._owner}: criterion='gain_ratio' compares the best splits of all features, and splitter='random' looks for none. "
                "Give criterion='entropy', or splitter='best'."
            )

    @property
    def _takes_several(self) -> bool:
        return vars(self).get("criterion") in SEVERAL_CRITERIA and self.monotonic_cst is None and self.max_bins is None

    def _check_several(self, values: Values) -> None:
        """What trees of several targets are not grown with."""
        for name in ("monotonic_cst", "max_bins"):
            if values[name] is not None:
                raise ParameterError(f"{self._owner}: {name} is for one target. Set {name}=None, or fit one model for each column of y.")
        if values["criterion"] not in SEVERAL_CRITERIA:
            raise several_criterion(values["criterion"], self._owner)

    def _data(self, coded: CodedTable, weighing: Weighing) -> CartData:
        """The coded table, and how much each row counts."""
        count, weight = weighing.of_rows(coded.ranks.n_rows)
        return CartData(coded.ranks, coded.cuts, np.ones(coded.ranks.n_rows, np.int64) if count is None else count, weight)

    def _plan(self, schema: Schema, weight: float, values: Values, features: Integers | None = None) -> CartPlan:
        """How to grow the tree, from all features or from some."""
        n_features = len(schema.feature_names) if features is None else len(features)
        per_node = feature_count(values["max_features"], n_features, n_features, "max_features", self._owner)
        leaves = values["max_leaf_nodes"]
        settings = TreeSettings(
            growth="level" if leaves is None else "best_first",
            max_leaves=NO_LIMIT if leaves is None else leaves,
            max_depth=values["max_depth"],
            min_rows=float(values["min_samples_leaf"]),
            min_hessian=values["min_weight_fraction_leaf"] * weight,
            min_gain=values["min_gain"],
            l2=0.0,
            category_smooth=0.0,
            category_l2=0.0,
            features_per_node=per_node,
            monotonic=monotonic(values["monotonic_cst"], schema, self._owner),
        )
        at_random, name = values["splitter"] == "random", 0
        if needs_forest_engine(values) and (at_random or per_node < n_features):
            name = key(seed_of(values["random_state"]), "tree", 0)  # that of the first tree of a forest
        elif per_node < n_features:
            name = key(seed_of(values["random_state"]), "tree")
        return CartPlan(settings, values["criterion"], values["min_samples_split"], name, self._threads, features, at_random)

    # Trees of an ensemble, which share one coded table.

    def _member(self, coded: CodedTable, target: Target, drawn: TreeSample, threads: int) -> Forest:
        """The tree of some rows and columns of a table that was coded before; its features are those of the whole table."""
        values = check(self)
        weight = self._member_weight(target, drawn, values)
        features = None if drawn.columns is None else np.flatnonzero(np.isin(coded.schema.source, drawn.columns))
        data = CartData(coded.ranks, coded.cuts, drawn.count, weight)
        plan = replace(self._plan(coded.schema, exact_sum(data.total), values, features), threads=threads)
        forest = self._grow(data, target, plan)
        return pruned(forest, self.ccp_alpha) if self.ccp_alpha > 0.0 else forest

    def _member_weight(self, target: Target, drawn: TreeSample, values: Values) -> Floats | None:
        """Weight of each row on top of how often it was drawn."""
        return drawn.weight

    # What the tree is like.

    def get_depth(self) -> int:
        """Splits between the root and the deepest leaf."""
        check_is_fitted(self)
        return int(self.forest_.depth.max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return int((self.forest_.feature < 0).sum())

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the node where each row ends, (n_rows,).

        It is a leaf, except where a row stops on its way: at a category that training never saw, or at a missing value where training
        met none.
        """
        return super().apply(X)[:, 0]

    def decision_path(self, X: Any) -> Any:
        """The nodes that each row passes: a sparse matrix of ones, (n_rows, n_nodes)."""
        ends = self.apply(X)
        child = self.forest_.child
        parent: NDArray[np.int64] = np.full(len(child), -1, np.int64)
        inner = np.flatnonzero(child)
        parent[child[inner]] = parent[child[inner] + 1] = inner
        return path_matrix(ends[:, None], [parent])


@knobs
class DecisionTreeClassifier(CartClassifierParams, CartParams, BaseDecisionTree, LogProbabilityMixin, ClassifierMixin, BaseEstimator):
    """A decision tree for classification.

    {splits}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or list of arrays
        The labels, in order; of several targets those of each.
    target_names_ : list of str
        Names of the targets. Where there are several.
    feature_importances_ : array of shape (n_features_in_,)
        The share of the impurity removed that each column brought.
    forest_ : Forest
        The tree, as arrays; its values are the class probabilities.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(DecisionTreeClassifier(max_depth=1).fit(X, y).export_text())
    |--- petal length (cm) <= 2.45
    |   |--- value: 0 1.00, 1 0.00, 2 0.00 (cover 50.00)
    |--- petal length (cm) >  2.45
    |   |--- value: 0 0.00, 1 0.50, 2 0.50 (cover 100.00)
    |--- petal length (cm) is missing: value: 0 0.33, 1 0.33, 2 0.33
    <BLANKLINE>
    """

    criterion: Annotated[Literal[CLASS_CRITERIA], BY_IMPURITY] = "gini"  # type: ignore[valid-type]

    def _read_target(self, y: Any) -> AnyTarget:
        return read_several_labels(y, self._owner) if has_several_targets(y) else read_labels(y, self._owner)

    def _weighed(self, target: AnyTarget, weight: Floats | None, values: Values) -> tuple[AnyTarget, Weighing]:
        if isinstance(target, SeveralTargets):
            target, weighing = weighed_labels(target, weight, values["class_weight"], self._owner)
            self.classes_ = list(target.classes or ())
            return target, weighing
        target, weighing = weighed_classes(target, weight, values["class_weight"], self._owner)
        self._check_constraints(target, values)
        self.classes_ = np.asarray(target.classes)
        return target, weighing

    def _check_constraints(self, target: Target, values: Values) -> None:
        if values["monotonic_cst"] is not None and target.n_classes > 2:
            raise ParameterError(f"{self._owner}: monotonic_cst is for two classes, but y has {target.n_classes}. Set monotonic_cst=None.")

    def _member_weight(self, target: Target, drawn: TreeSample, values: Values) -> Floats | None:
        self._check_constraints(target, values)
        total = drawn.count if drawn.weight is None else drawn.count * drawn.weight
        factor = class_factors(values["class_weight"], total.astype(np.float64), target, self._owner)
        return drawn.weight if factor is None else factor if drawn.weight is None else factor * drawn.weight

    def _grow(self, data: CartData | ForestEngineData, target: AnyTarget, plan: CartPlan) -> Forest:
        if isinstance(target, SeveralTargets):
            assert isinstance(data, ForestEngineData)
            return data.tree(several_label_rows(target.y, target.class_counts, data.weight), plan, TargetUnit())
        if isinstance(data, ForestEngineData):
            return data.tree(classification_rows(target.y, target.n_classes, data.weight), plan, TargetUnit())
        return classification_tree(data, target.y, target.n_classes, plan)

    def _impurity(self, data: CartData | ForestEngineData, target: AnyTarget, plan: CartPlan) -> float:
        if isinstance(target, SeveralTargets):
            return float(np.mean([class_impurity(data, one.y, one.n_classes, plan.criterion) for one in target.columns()]))
        return class_impurity(data, target.y, target.n_classes, plan.criterion)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most frequent class where each row ends; of equals the first. Of several targets, of each: (n_rows, n_targets).

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        probabilities = self._probabilities(X)
        if isinstance(self.classes_, list):
            return likeliest_labels(probabilities, self.classes_)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities where each row ends, (n_rows, n_classes), in the order of `classes_`; of several targets a list of these."""
        probabilities = self._probabilities(X)
        return divided(probabilities, self.classes_) if isinstance(self.classes_, list) else probabilities

    def _probabilities(self, X: Any) -> Floats:
        table = self._read(X)
        return require_finite(self.forest_.raw(table, self._threads), self._owner)


@knobs
class DecisionTreeRegressor(CartRegressorParams, CartParams, BaseDecisionTree, RegressorMixin, BaseEstimator):
    """A decision tree for regression.

    {splits}

    {parameters}

    Attributes
    ----------
    feature_importances_ : array of shape (n_features_in_,)
        The share of the error removed that each column brought.
    forest_ : Forest
        The tree, as arrays; its values are the means, or medians, of the targets.
    target_names_ : list of str
        Names of the targets. Where there are several.
    {columns}

    Examples
    --------
    >>> from woodwind import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [4.0], [5.0]], [1.0, 3.0, 10.0, 12.0])
    >>> tree.predict([[0.5], [4.5]])
    array([ 2., 11.])
    """

    def _read_target(self, y: Any) -> AnyTarget:
        # The exact engine adds whole numbers of units, and nothing overflows.
        largest = LARGEST if needs_forest_engine(check(self)) else np.inf
        if has_several_targets(y):
            return read_several_numbers(y, self._owner)
        return check_poisson(read_regression_target(y, self._owner, largest), self.criterion, self._owner)

    def _weighed(self, target: AnyTarget, weight: Floats | None, values: Values) -> tuple[AnyTarget, Weighing]:
        if isinstance(target, SeveralTargets):
            return weighed_numbers(target, weight, self._owner)
        target, weighing = super()._weighed(target, weight, values)
        warn_constant(weighing.at(target.y), self._owner)
        return target, weighing

    def _grow(self, data: CartData | ForestEngineData, target: AnyTarget, plan: CartPlan) -> Forest:
        if isinstance(data, ForestEngineData):
            # An absent row has no say in units either.
            y = np.where((data.count > 0).reshape((-1,) + (1,) * (target.y.ndim - 1)), target.y, target.y[data.count > 0][0])
            if isinstance(target, SeveralTargets):
                return data.tree(several_regression_rows(y, data.weight), plan, several_unit(y))
            return data.tree(regression_rows(y, data.weight, plan.criterion), plan, TargetUnit.by(plan.criterion, y))
        return regression_tree(data, target.y, plan)

    def _impurity(self, data: CartData | ForestEngineData, target: AnyTarget, plan: CartPlan) -> float:
        columns = target.columns() if isinstance(target, SeveralTargets) else [target]
        return float(np.mean([regression_impurity(data, one.y, plan.criterion) for one in columns]))

    def predict(self, X: Any) -> Floats:
        """The mean target where each row ends; with `criterion="absolute_error"` the median. Of several targets (n_rows, n_targets).

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        table = self._read(X)
        raw = require_finite(self.forest_.raw(table, self._threads), self._owner)
        return raw if self._has_several else raw[:, 0]
