"""What every estimator that keeps trees has in common: how tables are read, and what can be asked of the trees."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.validate import require_finite
from woodwind.data.blocks.block_columns import read_blocks
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.tables.cells import Cells
from woodwind.data.tables.frames import frame_of
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.estimators.base.model import BaseModel
from woodwind.losses.base import Loss
from woodwind.losses.links import Identity, Log, Logit
from woodwind.losses.own import OwnLoss
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.tree.forest import Forest, Kind, importance
from woodwind.tree.shap import explain, explain_interactions
from woodwind.tree.shap_result import LOG_ODDS, Explanation, by_column
from woodwind.tree.text import Detail, ForestNames, export_text, node_columns, to_json

# Named as text: it stands above this file, and few ask for it.
SHAP_TREES = "woodwind.estimators.export.shap_trees"

# Kinds of importance, and what XGBoost calls those of them that mean nothing else here.
IMPORTANCE_TYPES = ("gain", "split", "cover", "mean_gain", "mean_cover")
IMPORTANCE_ALIASES = {"total_gain": "gain", "total_cover": "cover", "weight": "split"}

# ----------------------------------------------------------------------------------------------------
# What the scores of an estimator are called when they are explained.


Floats = NDArray[np.float64]

RAW_SCORE = "raw score"


def scale_of(loss: Loss) -> str:
    """What a booster adds up, in words."""
    if isinstance(loss, SeveralTargetsLoss):
        scales = {scale_of(one) if one.width == 1 else RAW_SCORE for one in loss.each}
        return scales.pop() if len(scales) == 1 else RAW_SCORE
    if isinstance(loss, OwnLoss):
        return RAW_SCORE
    if isinstance(loss.link, Logit):
        return LOG_ODDS if loss.link.factor == 1.0 else "half of the log-odds"
    if isinstance(loss.link, Log):
        return "logarithm of the prediction"
    return "prediction" if isinstance(loss.link, Identity) else "score"


def output_names(classes: Any, width: int) -> tuple[str, ...]:
    """What each of the scores is for: a class; of two with one score, the second; nothing for numbers."""
    if classes is None:
        return ("",) * width
    return tuple(str(label) for label in (classes if width == len(classes) else classes[-width:]))


class BaseTreeModel(BaseModel):
    """A model that is a forest on the features of a schema. `fit` sets `schema_` through `_set_schema`, and `forest_`."""

    schema_: Schema
    forest_: Forest

    def _set_schema(self, schema: Schema) -> None:
        self.schema_ = schema
        self._set_header(schema.header)

    def _read(self, X: Any) -> Table:
        """A table to predict for, as the features of the model."""
        check_is_fitted(self)
        if isinstance(X, BlockTable):
            return read_blocks(X, self.schema_, self._owner, self._threads, self._thresholds())
        return self.schema_.read(X, owner=self._owner)

    def _thresholds(self) -> list[NDArray[np.float64]] | None:
        """The thresholds of each feature; None where trees need the numbers themselves."""
        forest = self.forest_
        if forest.linear is not None:
            return None
        return [forest.threshold[forest.feature == feature] for feature in range(forest.n_features)]

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Where each row ends in each tree.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.

        Returns
        -------
        array of shape (n_rows, n_trees)
            The number of the node, counted from the root of its tree. It is a leaf, except where a row stops on its way:
            at a category that training never saw, or at a missing value where training met none.
        """
        table = self._read(X)
        return self.forest_.leaves(table, self._threads)

    def explain(self, X: Any) -> Explanation:
        """What each column brings to the score of each row: exact Shapley values, which add up to it.

        Explained is what the trees add up: probabilities and means for single trees and forests, the raw score (for two classes the
        log-odds of the second) for boosting. Columns that are not known are averaged over the training rows of each node.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.

        Returns
        -------
        Explanation
            `values` (n_rows, n_columns, n_scores) and `base` (n_scores,), which add up to `scores`; `to_text(row)` tells it in words.

        Examples
        --------
        >>> from woodwind import DecisionTreeRegressor
        >>> rooms, price = [[2, 0], [3, 0], [4, 0], [4, 1]], [100, 100, 200, 300]
        >>> explanation = DecisionTreeRegressor().fit(rooms, price).explain([[4, 1]])
        >>> print(explanation.to_text())
        prediction: 300, on average 175
          +87.5  x0 = 4
          +37.5  x1 = 1
        <BLANKLINE>
        """
        table = self._read(X)
        values, base, scores = self._shapley(table)
        require_finite(values, self._owner), require_finite(scores, self._owner)
        names = tuple(field.name for field in self.schema_.fields)
        outputs = self._score_names(scores.shape[1])
        return Explanation(by_column(values, self.schema_), base, scores, names, outputs, self._scale, Cells(self.schema_, table))

    def _shapley(self, table: Table) -> tuple[Floats, Floats, Floats]:
        """Values of the features (n, F, width), the base (width,) and the scores (n, width) that are explained."""
        values, base = explain(self.forest_, table, self._threads)
        return values, base, self.forest_.raw(table, self._threads)

    def shap_interaction_values(self, X: Any) -> Floats:
        """What each pair of columns brings to the score of each row together: exact Shapley interaction values.

        A row of the matrix adds up to the Shapley value of its column, as `explain` gives it. Half of the interaction of two columns stands
        on either side of the diagonal, and on it what a column brings alone.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.

        Returns
        -------
        array of shape (n_rows, n_columns, n_columns), or (n_rows, n_columns, n_columns, n_scores) where there are several scores

        Examples
        --------
        >>> from woodwind import DecisionTreeRegressor
        >>> rooms, price = [[2, 0], [3, 0], [4, 0], [4, 1]], [100, 100, 200, 300]
        >>> DecisionTreeRegressor().fit(rooms, price).shap_interaction_values([[4, 1]]).round(1).tolist()
        [[[75.0, 12.5], [12.5, 25.0]]]
        """
        table = self._read(X)
        values = explain_interactions(self._explained_forest(), table, self._threads)
        both = by_column(by_column(values, self.schema_).swapaxes(1, 2), self.schema_).swapaxes(1, 2)
        return require_finite(both[..., 0] if both.shape[3] == 1 else both, self._owner)

    def to_shap(self) -> dict[str, Any]:
        """The trees in the dictionary format of the shap library, for its TreeExplainer.

        shap.TreeExplainer(model.to_shap()) explains rows of `shap_features`, one column for each feature of the trees, and agrees with
        `explain`. It knows tests of numbers alone, so that sets of categories become long ways; trees that would become too large are
        refused. To draw with shap what `explain` has computed, take `explain(X).to_shap()`.

        Returns
        -------
        dict
        """
        check_is_fitted(self)
        trees: dict[str, Any] = importlib.import_module(SHAP_TREES).shap_trees(
            self._explained_forest(), self.schema_.code_counts, self._owner
        )
        return trees

    def shap_features(self, X: Any) -> Floats:
        """A table as the trees of `to_shap` read it.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.

        Returns
        -------
        array of shape (n_rows, n_features)
            In the order of `schema_.feature_names`. Categories are codes: -1 for missing ones, -2 for those that training never saw.
        """
        return self._read(X).float_matrix()

    def _explained_forest(self) -> Forest:
        """The trees whose scores are those that `explain` explains."""
        return self.forest_

    def _score_names(self, width: int) -> tuple[str, ...]:
        """What each of the scores that are explained is for."""
        return output_names(getattr(self, "classes_", None), width)

    @property
    def _scale(self) -> str:
        """What is explained, in words."""
        return "prediction" if getattr(self, "classes_", None) is None else "probability"

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of the total gain that each column of the training table brought; zeros where no tree has a split."""
        check_is_fitted(self)
        by_feature = importance(self.forest_, "gain")
        gain: NDArray[np.float64] = np.zeros(self.schema_.n_inputs)
        np.add.at(gain, self.schema_.source, by_feature)
        return np.asarray(gain / max(gain.sum(), np.finfo(np.float64).tiny))

    def feature_importance(self, importance_type: str = "gain") -> NDArray[np.float64]:
        """How much the trees rely on each column, one number for each column of the training table; not divided by their sum.

        Parameters
        ----------
        importance_type : {'gain', 'split', 'cover', 'mean_gain', 'mean_cover'}, default='gain'
            'gain' is the sum of the gains of all splits by the column, 'split' the number of them, 'cover' the weight of the training rows
            that met them; 'mean_gain' and 'mean_cover' are divided by the number of splits. LightGBM calls the first two 'gain' and
            'split'. XGBoost calls them 'total_gain', 'weight', 'total_cover', 'gain' and 'cover', in this order; 'total_gain',
            'total_cover' and 'weight' are understood here too. Its covers are sums of hessians, where these are weights of rows: the same
            for the squared error. In forests the gain is the Gini index or the squared error that a split removes, times the weight of its
            rows, whatever the criterion was.

        Returns
        -------
        array of shape (n_features_in_,)

        Examples
        --------
        >>> from woodwind import DecisionTreeRegressor
        >>> tree = DecisionTreeRegressor().fit([[2, 0], [3, 0], [4, 0], [4, 1]], [100, 100, 200, 300])
        >>> tree.feature_importance("gain").tolist(), tree.feature_importance("split").tolist()
        ([22500.0, 5000.0], [1.0, 1.0])
        """
        check_is_fitted(self)
        kind = IMPORTANCE_ALIASES.get(importance_type, importance_type) if isinstance(importance_type, str) else importance_type
        if kind not in IMPORTANCE_TYPES:
            raise ParameterError(
                f"{self._owner}: importance_type must be one of {', '.join(map(repr, IMPORTANCE_TYPES))}, but it is {importance_type!r}."
            )
        forest = self.forest_

        def by_column(kind: Kind) -> NDArray[np.float64]:
            total: NDArray[np.float64] = np.zeros(self.schema_.n_inputs)
            np.add.at(total, self.schema_.source, importance(forest, kind))
            return total

        sums: dict[str, Kind] = {"gain": "gain", "split": "splits", "cover": "cover", "mean_gain": "gain", "mean_cover": "cover"}
        total = by_column(sums[kind])
        return total / np.maximum(by_column("splits"), 1.0) if kind.startswith("mean") else total

    def trees_to_dataframe(self, backend: str = "pandas") -> Any:
        """All trees as a table with a row for each node.

        Parameters
        ----------
        backend : {'pandas', 'polars', 'pyarrow'}, default='pandas'
            Whose frame is made.

        Returns
        -------
        frame
            `tree_index`, `round`, `node_index` (counted from the root of its tree, which is 0), `node_depth`, `parent_index`, `left_child`
            and `right_child` (-1 where there is none), `split_feature`, `decision_type` ('<=' for numbers, 'in' for categories),
            `threshold`, `left_categories` and `right_categories`, `missing_direction` ('left', 'right', or 'stop' where a missing value
            takes the value of the node), `split_gain`, `cover` (weight of the training rows), and `value`: what a row that ends there adds
            to the score. With a score for each class there is a `value_` of each class, or an `output` that says which class it is.
            A date column has several features, and thresholds of dates are seconds since 1970.
        """
        check_is_fitted(self)
        columns = node_columns(self.forest_, self._forest_names(), getattr(self, "n_trees_per_iteration_", 1))
        return frame_of(columns, backend, f"{self._owner}: trees_to_dataframe")

    def trees_to_json(self, indent: int | None = None) -> str:
        """All trees as JSON, to be read by other programs.

        The score of a row is `start` plus, for each of the `trees`, the `value` of the node where it ends, added to the `output` of the
        tree, or to all outputs where that is null. A walk begins at node 0 of `nodes` and goes to `left` where the value of `feature` is at
        most `threshold`, or one of `left_categories`, and to `right` where it is larger, or one of `right_categories`; where it is missing,
        as `missing` says. It ends at a node without `feature`, at 'stop', and at a category in neither list. Infinite numbers are written
        as the texts 'Infinity' and '-Infinity'.

        Parameters
        ----------
        indent : int or None, default=None
            Spaces for each level; None for one line.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return to_json(self.forest_, self._forest_names(), indent)

    def _forest_names(self) -> ForestNames:
        outputs = self._output_names() or ["score"] * self.forest_.n_outputs
        return ForestNames(self.schema_.feature_names, self.schema_.categories, outputs)

    def export_text(self, tree: int = 0, *, decimals: int = 2, max_depth: int | None = None, max_categories: int | None = None) -> str:
        """Draw one tree as text.

        Parameters
        ----------
        tree : int, default=0
            Number of the tree.
        decimals : int, default=2
            Digits after the point.
        max_depth : int or None, default=None
            Splits below this depth are left out.
        max_categories : int or None, default=None
            Of more categories on one side of a split, so many are named and the others counted.
        """
        check_is_fitted(self)
        return export_text(
            self.forest_,
            tree,
            feature_names=self.schema_.feature_names,
            categories=self.schema_.categories,
            output_names=self._output_names(),
            moments=self.schema_.moments,
            detail=Detail(decimals, max_depth, max_categories),
        )

    def _output_names(self) -> list[str] | None:
        """What the scores are called in a drawing; None for one score, and for scores that have no names."""
        names = self._score_names(self.forest_.n_outputs)
        return list(names) if len(names) > 1 and any(names) else None


# ----------------------------------------------------------------------------------------------------
# The ways of rows through trees, as a sparse matrix.


def path_matrix(ends: NDArray[np.integer], parents: Sequence[NDArray[np.int64]]) -> Any:
    """The nodes that each row passes: ones in a matrix (n_rows, n_nodes), the nodes of one tree after those of another.

    `ends` (n_rows, n_trees) are the nodes where rows end, `parents` of each tree the node above each node, -1 for the root.
    """
    rows, nodes, begin = [], [], 0
    for tree, parent in enumerate(parents):
        row, node = np.arange(len(ends)), ends[:, tree].astype(np.int64)
        while row.size:
            rows.append(row)
            nodes.append(begin + node)
            above = parent[node]
            row, node = row[above >= 0], above[above >= 0]
        begin += len(parent)
    position = np.concatenate(rows), np.concatenate(nodes)
    path = csr_matrix((np.ones(len(position[0]), np.int64), position), shape=(len(ends), begin))
    path.sort_indices()
    return path
