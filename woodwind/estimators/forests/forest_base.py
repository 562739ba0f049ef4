"""What all forests have in common: training, the rows out of the bag, and what can be asked of the trees."""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.mapped import MappedRoom
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require_finite
from woodwind.data.binning.forest_codes import ForestCodes, mapped_forest_codes
from woodwind.data.blocks.block_columns import read_blocks, table_of_blocks, without_values
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.ensemble.bag import gathered, in_order
from woodwind.ensemble.forest import ForestGrowth, OutOfBagForest, debiased_importance, permutation_importance, several_error
from woodwind.ensemble.resampling import OutOfBag, Resampling
from woodwind.estimators.base.bootstrap_checks import (
    Score,
    asks_unseen,
    check_oob,
    check_same_draws,
    read_oob_score,
    rows_drawn,
    warn_without_out_of_bag,
)
from woodwind.estimators.base.category_statistics import KnownTarget, StatisticsTable, has_statistics, read_with_statistics
from woodwind.estimators.base.model import COLUMNS, TRAINING_DATA, all_or_nothing, check_lengths
from woodwind.estimators.base.row_predictor import CompactForestPredictor
from woodwind.estimators.base.several_targets import SeveralTargets, SeveralTargetsMixin, one_target_only
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.tree_base import BaseTreeModel, path_matrix
from woodwind.estimators.base.weights import Weighing, read_weight
from woodwind.estimators.boosting.plan import feature_count
from woodwind.estimators.forests.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from woodwind.params.check import check
from woodwind.params.unknown import known_arguments
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_grower import CompactForestRows, CompactForestSettings, CompactTree
from woodwind.tree.forest import Forest
from woodwind.tree.shap import explain

Floats = NDArray[np.float64]
Values = dict[str, Any]

# Trees that are grown before the error out of the bag is looked at again, at most how many, and which change of it is none.
AUTO_STEP = 50
AUTO_MOST = 1000
AUTO_CHANGE = 0.005

FOREST = """
Each tree is grown on rows drawn with replacement, and each of its nodes looks at features drawn for it. Categories are split into two sets,
and missing values go where they fit best. What training never saw stops at the split and takes what is known there.
"""
EXTRA = """
Each tree is grown on all rows; each of its nodes draws some features and one threshold for each, and takes the best of these.
Categories are split into two random sets of categories, and missing values go where they fit best. What training never saw stops at the
split and takes what is known there.
"""
MODEL = """
compact_forest_ : CompactForest
    The trees, as arrays.
estimators_ : list of decision trees
    Each tree as an estimator; made when somebody asks.
feature_importances_ : array of shape (n_features_in_,)
    The share of the impurity removed that each column brought, averaged over the trees.
target_names_ : list of str
    Names of the targets. Where there are several.
oob_score_ : float
    Score of the predictions by trees that have not seen a row. With `oob_score`.
"""
CLASS_MODEL = f"""
classes_ : array of shape (n_classes,), or list of arrays
    The labels, in order; of several targets those of each.
{MODEL.strip()}
oob_decision_function_ : array of shape (n_rows, n_classes), or list of arrays
    Mean of the trees that have not seen a row; NaN where all have. With `oob_score`.
"""
REGRESSION_MODEL = f"""
{MODEL.strip()}
leaf_rows_ : LeafRows
    Which training targets are in which leaf. With `quantiles`.
oob_prediction_ : array of shape (n_rows,), or (n_rows, n_targets)
    Mean of the trees that have not seen a row; NaN where all have. With `oob_score`.
"""


AnyTarget = Target | SeveralTargets


class BaseForestModel(SeveralTargetsMixin, BaseTreeModel):
    """Training of independent trees, and what can be asked of them."""

    _state: ClassVar[dict[str, Any]] = {"schema_": Schema, "compact_forest_": CompactForest, "_resampling": Resampling, "_seed": int}
    _optional_state: ClassVar[dict[str, Any]] = {"oob_score_": float}

    _docstring_parts: ClassVar[dict[str, str]] = {
        "forest": FOREST,
        "extra": EXTRA,
        "class_model": CLASS_MODEL,
        "number_model": REGRESSION_MODEL,
        "columns": COLUMNS,
    }
    _random_cuts: ClassVar[bool] = False
    compact_forest_: CompactForest
    classes_: NDArray[Any] | list[NDArray[Any]]
    _resampling: Resampling
    warm_start: bool
    bootstrap: bool

    # What each task does in its own way.

    def _read_target(self, y: Any) -> AnyTarget:
        raise NotImplementedError

    def _weighed(self, target: AnyTarget, weight: Floats | None, values: Values) -> tuple[AnyTarget, Weighing]:
        """The target and the weights as they are trained on."""
        return target, Weighing.of(weight)

    def _rows(self, target: AnyTarget, weight: Floats | None) -> CompactForestRows:
        raise NotImplementedError

    def _least_decrease(self, values: Values, target: AnyTarget) -> float:
        """The smallest drop of the impurity, in the units of the trees."""
        least: float = values["min_impurity_decrease"]
        return least

    def _voting(self, compact_forest: CompactForest, first: int = 0) -> CompactForest:
        """What trees of which the first has this number predict with."""
        return compact_forest

    def _set_out_of_bag(self, mean: Floats) -> None:
        raise NotImplementedError

    def _predicted(self, mean: Floats) -> NDArray[Any]:
        raise NotImplementedError

    # Training.

    @known_arguments
    @fill_docstring(data=TRAINING_DATA)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train. Random forests and extremely randomised trees take a `woodwind.BlockTable` as X, one that was written with `values=True`:
        target and weights are those inside, unless others are given.

        Parameters
        ----------
        {data}

        Returns
        -------
        self
        """
        values = check(self)
        if isinstance(X, BlockTable):
            y, sample_weight = X.target if y is None else y, X.weight if sample_weight is None else sample_weight
        with all_or_nothing(self):
            self._fit(values, X, y, sample_weight)
        return self

    def _read_blocks(self, X: Any, values: Values, known: Schema | None) -> tuple[tuple[Schema, Table], MappedRoom] | tuple[None, None]:
        """A table in blocks as it is trained on, and room for codes on its disk; nothing for other tables."""
        if not isinstance(X, BlockTable):
            return None, None
        if values["categorical_features"] not in (None, "from_dtype"):
            raise ParameterError(
                f"{self._owner}: categorical_features is decided when blocks are written. Give it to BlockTable.write, and leave it out "
                "here."
            )
        if not X.value_files:
            raise DataError(without_values(self._owner))
        room = MappedRoom(X.path, self._owner)
        if known is not None:
            return (known, read_blocks(X, known, self._owner, self._threads, None)), room
        return (X.schema, table_of_blocks(X, self._threads)), room

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        there = self._trees_there(values)
        score = read_oob_score(values["oob_score"], self)
        target = self._read_target(y)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, weighing = self._weighed(target, weight, values)
        known = self.schema_ if there else None
        read, room = self._read_blocks(X, values, known)
        schema, table = read_with_statistics(X, values, target, weighing, lambda: self._seed, self._threads, self._owner, known, read)
        growing = self._growing(table, target, weighing, values, room)
        if there and (asks_unseen(values) or values.get("quantiles")):
            check_same_draws(growing.resampling, self._resampling, self._owner)
        self._resampling = growing.resampling
        check_oob(values, self._resampling, self._owner)
        width = target.n_sums if isinstance(target, SeveralTargets) else max(target.n_classes, 1)
        watched = OutOfBagForest.of(table, self._resampling, width, room) if asks_unseen(values) else None
        if there and watched is not None:
            watched.ask(self._voting(self.compact_forest_), self._threads)
        compact_forest = self._grown(growing, watched, values, there)
        self._set_schema(schema)
        self._set_targets(target)
        self.compact_forest_ = compact_forest if not there else self.compact_forest_.join(compact_forest)
        self._calibrate(table, growing)
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
            self.__dict__.pop(name, None)  # of an earlier training
        if watched is not None and score is not None:
            warn_without_out_of_bag(watched.found, weighing.given, self._owner)
            self._evaluate(watched.found, target, score, weight)

    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "compact_forest_")

    def _trees_there(self, values: Values) -> int:
        """Trees of an earlier training to go on from."""
        if not self._goes_on():
            self._seed = seed_of(values["random_state"])
            return 0
        there, wanted = self.compact_forest_.n_trees, values["n_estimators"]
        if wanted != "auto" and wanted < there:
            raise ParameterError(
                f"{self._owner}: n_estimators={wanted}, but with warm_start=True {there} trees are there already. "
                "Give at least as many, or set warm_start=False."
            )
        return there

    def _growing(self, table: Table, target: AnyTarget, weighing: Weighing, values: Values, room: MappedRoom | None) -> ForestGrowth:
        """How the trees are grown, and from which rows."""
        n = table.n_rows
        units, weight = weighing.of_rows(n)
        # Sums leave room for rows that are drawn as often as in a sample of as many draws as rows.
        size = rows_drawn(values, n if units is None else int(units.sum()), self._owner, more=False)
        resampling = Resampling(self._seed, n, size, values["bootstrap"], units=units)
        bins = values.get("max_bins", 255)  # trees of random cuts have no bins
        most = 255 if bins is None else bins
        if room is None:
            forest_codes = ForestCodes.of(table, most, weighing.given, self._threads)
        else:
            forest_codes = mapped_forest_codes(table, room, most, weighing.given, self._threads, self._random_cuts)
        n_features = forest_codes.n_features
        settings = CompactForestSettings(
            criterion=values["criterion"],
            random_cuts=self._random_cuts,
            exact=bins is None,
            max_depth=values["max_depth"],
            max_leaves=values["max_leaf_nodes"],
            min_split=values["min_samples_split"],
            min_rows=values["min_samples_leaf"],
            min_weight_share=values["min_weight_fraction_leaf"],
            min_decrease=self._least_decrease(values, target),
            n_candidates=feature_count(values["max_features"], n_features, n_features, "max_features", self._owner),
        )
        return ForestGrowth(forest_codes, self._rows(target, weight), settings, resampling, bool(values.get("quantiles")), room=room)

    def _grown(self, growing: ForestGrowth, watched: OutOfBagForest | None, values: Values, there: int) -> CompactForest:
        """The trees that are not there yet."""
        wanted = AUTO_MOST if values["n_estimators"] == "auto" else values["n_estimators"]
        new = self._trees_until_stable if values["n_estimators"] == "auto" else self._trees
        trees: list[CompactTree] = []
        if there < wanted:
            trees = gathered(new(growing, watched, range(there, wanted)), there, wanted, self._owner, bool(values["verbose"]), noun="tree")
        self._ask(watched, trees, growing, there)
        self._set_rows(trees, growing, there)
        return self._compact_forest(trees, growing)

    def _trees(self, growing: ForestGrowth, _watched: OutOfBagForest | None, numbers: range) -> Iterator[CompactTree]:
        """The trees of some numbers, each on one thread."""
        return in_order(growing.tree, numbers, min(self._threads, len(numbers)))

    def _trees_until_stable(self, growing: ForestGrowth, watched: OutOfBagForest | None, numbers: range) -> Iterator[CompactTree]:
        """The same until the error out of the bag no longer falls, which is looked at now and then."""
        assert watched is not None
        before = np.inf
        trees: list[CompactTree] = []
        for first in range(0, len(numbers), AUTO_STEP):
            for tree in self._trees(growing, None, numbers[first : first + AUTO_STEP]):
                trees.append(tree)
                yield tree
            self._ask(watched, trees, growing, numbers.start)
            error = self._error(watched.found, growing.rows)
            if before - error < AUTO_CHANGE * error:
                return
            before = error

    def _ask(self, watched: OutOfBagForest | None, trees: list[CompactTree], growing: ForestGrowth, there: int) -> None:
        """Ask those of the trees that were not asked yet about rows that they have not seen."""
        if watched is not None and watched.n_trees < there + len(trees):
            new = self._compact_forest(trees[watched.n_trees - there :], growing)
            watched.ask(self._voting(new, watched.n_trees), self._threads)

    def _compact_forest(self, trees: list[CompactTree], growing: ForestGrowth) -> CompactForest:
        return CompactForest.of(trees, growing.forest_codes.n_categories, growing.rows.n_classes)

    def _set_rows(self, trees: list[CompactTree], growing: ForestGrowth, there: int) -> None:
        """Keep which training rows are in which leaf, where that is wanted."""

    def _calibrate(self, table: Table, growing: ForestGrowth) -> None:
        """Learn from rows out of the bag what can be learned of the finished forest."""

    def _error(self, found: OutOfBag, rows: CompactForestRows) -> float:
        """Squared error out of the bag: of numbers, or of the class probabilities."""
        scored = found.voters > 0
        if rows.several is not None:
            return several_error(found.mean()[scored], rows.several, scored)
        mean, y = found.mean()[scored], rows.real[0, scored]
        if rows.n_classes:
            mean[np.arange(len(mean)), y.astype(np.int64)] -= 1.0
            return float((mean**2).sum() / max(len(mean), 1))
        return float(((mean[:, 0] - y) ** 2).mean()) if len(mean) else np.inf

    def _evaluate(self, found: OutOfBag, target: AnyTarget, score: Score, weight: Floats | None) -> None:
        """Predictions and score out of the bag; rows count by the weight that they were given."""
        mean, scored = found.mean(), found.voters > 0
        self._set_out_of_bag(mean)
        predicted = mean[scored]
        probabilities = predicted if target.classes is not None else None
        weights = None if weight is None else weight[scored]
        self.oob_score_ = score(target.labels()[scored], self._predicted(predicted), probabilities, weights) if scored.any() else np.nan

    # Prediction.

    def _thresholds(self) -> None:
        """Thresholds lie between numbers, of which bins know nothing."""

    def _mean(self, X: Any) -> Floats:
        """Means of the trees; no probability is below zero, where the first class has what the weights of others leave, up to rounding."""
        table = self._read(X)
        mean = require_finite(self._voting(self.compact_forest_).mean(table, self._threads), self._owner)
        return np.maximum(mean, 0.0, out=mean) if hasattr(self, "classes_") else mean

    def _shapley(self, table: Table) -> tuple[Floats, Floats, Floats]:
        compact_forest = self._voting(self.compact_forest_)
        return *explain(compact_forest, table, self._threads), compact_forest.mean(table, self._threads)

    def _explained_forest(self) -> Forest:
        return self._voting(self.compact_forest_).forest()

    def predictor(self) -> Any:
        """A callable that predicts for one row or a block of rows with as little overhead as possible.

        Give it numbers in the order of `schema_.feature_names`; categories as their positions in `schema_.categories`, NaN for missing.
        It answers as `predict` does for regression and `predict_proba` for classification.
        """
        check_is_fitted(self)
        return CompactForestPredictor(self._voting(self.compact_forest_))

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the node where each row ends in each tree, (n_rows, n_trees).

        Inner nodes of a tree come first, from the root downwards, then its leaves. Where a row ends is a leaf, except where it stops on
        its way: at a category that training never saw, or at a missing value where training met none.
        """
        table = self._read(X)
        ends = self.compact_forest_.ends(table, self._threads)
        inner = np.diff(self.compact_forest_.roots[:, 0]).astype(np.int32)
        return np.where(ends >= 0, ends + inner, -1 - ends)

    def decision_path(self, X: Any) -> tuple[Any, NDArray[np.int64]]:
        """The nodes that each row passes: a sparse matrix of ones (n_rows, n_nodes), and where the nodes of each tree begin in it."""
        ends = self.apply(X)
        sizes = np.diff(self.compact_forest_.roots, axis=0).sum(axis=1)
        begin = np.concatenate([[0], np.cumsum(sizes)])
        parents = []
        for tree in range(self.compact_forest_.n_trees):
            left, right = self.compact_forest_.children(tree)
            parent = np.full(sizes[tree], -1)
            parent[left] = parent[right] = np.arange(len(left))
            parents.append(parent)
        return path_matrix(ends, parents), begin

    def proximity(self, X: Any, Y: Any = None) -> Floats:
        """The share of trees in which two rows end in the same node (Breiman 2001): (n_rows of X, n_rows of Y, or of X without it)."""
        own = self.apply(X)
        other = own if Y is None else self.apply(Y)
        out = np.zeros((len(own), len(other)))
        for tree in range(own.shape[1]):
            out += own[:, tree, None] == other[None, :, tree]
        out /= max(own.shape[1], 1)
        return out

    # What the forest is like.

    @property
    def forest_(self) -> Forest:  # type: ignore[override]
        """The trees as the library's general model; made anew each time, and much larger."""
        check_is_fitted(self)
        return self.compact_forest_.forest()

    @property
    def estimators_(self) -> list[Any]:
        """Each tree as an estimator; they are made when somebody asks for them, much larger than the trees of the forest."""
        check_is_fitted(self)
        made = []
        for forest in self.compact_forest_.separate():
            tree = DecisionTreeClassifier() if hasattr(self, "classes_") else DecisionTreeRegressor()
            tree._set_schema(self.schema_)
            tree.forest_ = forest
            for name in ("classes_", "target_names_"):
                if name in vars(self):
                    setattr(tree, name, vars(self)[name])
            made.append(tree)
        return made

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows that each tree was trained on, ascending, a row as often as it was drawn. Drawn again whenever they are asked for."""
        check_is_fitted(self)
        return [self._resampling.rows(tree) for tree in range(self.compact_forest_.n_trees)]

    @property
    def feature_importances_(self) -> Floats:
        """The share of the impurity removed that each column of the training table brought, averaged over the trees."""
        check_is_fitted(self)
        gain = np.zeros(self.schema_.n_inputs)
        np.add.at(gain, self.schema_.source, self.compact_forest_.importance)
        return np.asarray(gain / max(gain.sum(), np.finfo(np.float64).tiny))

    def permutation_importance_oob(self, X: Any, y: Any) -> Floats:
        """How much worse trees are on rows out of their bag when a column is shuffled among these (Breiman 2001), one for each column.

        Give the table and the target of the training once more. The error is the share of wrong votes, or the squared error.
        """
        bag, truth = self._bag(X, y)
        return permutation_importance(self.compact_forest_, bag, truth, np.asarray(self.schema_.source), self._seed, self._threads)

    def unbiased_importance_oob(self, X: Any, y: Any) -> Floats:
        """The impurity that splits by each column remove, as rows out of the bag see it; about zero for noise, one for each column.

        Give the table and the target of the training once more.
        """
        bag, truth = self._bag(X, y)
        return debiased_importance(self.compact_forest_, bag, truth, np.asarray(self.schema_.source), self._threads)

    def _bag(self, X: Any, y: Any) -> tuple[OutOfBagForest, Floats]:
        """The rows of the training, to be asked about trees that have not seen them."""
        table = self._read(X)
        if self._has_several:
            raise one_target_only("importance out of the bag", self._owner)
        target = self._read_target(y)
        assert isinstance(target, Target)  # a model of one target reads one
        check_lengths(self._owner, table.n_rows, target.n_rows)
        if not hasattr(self, "bootstrap"):
            raise ParameterError(
                f"{self._owner}: its trees learn from all rows, so that none is out of a bag. Hold rows out, and give them to "
                "permutation_importance of sklearn.inspection."
            )
        if table.n_rows != self._resampling.n_rows or not self._resampling.leaves_rows_out:
            raise ParameterError(
                f"{self._owner}: importance out of the bag needs the {self._resampling.n_rows:,} rows of the training, and trees that have "
                f"not seen all of them; given are {table.n_rows:,} rows. Train with bootstrap=True or max_samples, and give the same table."
            )
        if has_statistics(self.schema_):
            # A row knows the rows of other folds, as in training: means of all rows would tell its own target.
            told = KnownTarget.of(target, Weighing.of(None), None, vars(self)["categorical_encoding"], self._seed, self._threads)
            table = StatisticsTable(self.schema_, table, told).for_training()
        return OutOfBagForest.of(table, self._resampling, max(target.n_classes, 1)), target.y.astype(np.float64)
