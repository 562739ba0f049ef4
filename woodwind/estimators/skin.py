"""What every estimator that keeps a forest has in common: how tables are read, and what can be asked of the forest."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import DataError, WoodwindError
from woodwind.base.pool import usable_threads
from woodwind.data.schema import Schema
from woodwind.data.table import Table
from woodwind.tree.forest import Forest
from woodwind.tree.importance import importance
from woodwind.tree.text import Detail, export_text

TRAINING_DATA = """
X : table
    A NumPy array, a SciPy sparse matrix, a frame of pandas or polars, an Arrow table, a list of rows; numbers, text,
    categories, dates and missing values as they come.
y : sequence of values, one for each row
    Labels of any kind for a classifier, finite numbers for a regressor.
sample_weight : sequence of numbers, one for each row, default=None
    A row of weight zero is absent, and one of weight two counts as a row given twice.
"""
COLUMNS = """
n_features_in_, feature_names_in_
    The number of columns of the training table, and their names if it had any.
"""


class Skin:
    """A model that is a forest on the features of a schema. `fit` sets `schema_` through `_keep_schema`, and `forest_`."""

    schema_: Schema
    forest_: Forest
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @property
    def _owner(self) -> str:
        return type(self).__name__

    @property
    def _threads(self) -> int:
        return usable_threads(self.n_jobs)

    def _keep_schema(self, schema: Schema) -> None:
        """Remember the columns, as scikit-learn does: names only where all columns have one."""
        self.schema_ = schema
        self.n_features_in_ = schema.n_inputs
        if schema.names is not None:
            self.feature_names_in_ = np.array(schema.names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _read(self, X: Any) -> Table:
        """A table to predict for, as the features of the model."""
        check_is_fitted(self)
        return self.schema_.read(X, owner=self._owner)

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
            at a level that training never saw, or at a missing value where training met none.
        """
        table = self._read(X)
        return self.forest_.leaves(table, self._threads)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of the total gain that each column of the training table brought; zeros where no tree has a split."""
        check_is_fitted(self)
        by_feature = importance(self.forest_, "gain")
        gain: NDArray[np.float64] = np.zeros(self.schema_.n_inputs)
        np.add.at(gain, self.schema_.source, by_feature)
        return np.asarray(gain / max(gain.sum(), np.finfo(np.float64).tiny))

    def export_text(
        self, tree: int = 0, *, decimals: int = 2, max_depth: int | None = None, max_levels: int | None = None
    ) -> str:
        """Draw one tree as text.

        Parameters
        ----------
        tree : int, default=0
            Number of the tree.
        decimals : int, default=2
            Digits after the point.
        max_depth : int or None, default=None
            Splits below this depth are left out.
        max_levels : int or None, default=None
            Of more levels on one side of a split, so many are named and the others counted.
        """
        check_is_fitted(self)
        return export_text(
            self.forest_,
            tree,
            feature_names=self.schema_.feature_names,
            levels=self.schema_.levels,
            output_names=self._output_names(),
            moments=self.schema_.moments,
            detail=Detail(decimals, max_depth, max_levels),
        )

    def _output_names(self) -> list[str] | None:
        """What the scores are called in a drawing; None for one score."""
        classes = getattr(self, "classes_", None)
        return None if classes is None or self.forest_.n_outputs == 1 else [str(label) for label in classes]


@contextmanager
def named_owner(owner: str) -> Iterator[None]:
    """Errors from inside begin with the name of the estimator."""
    try:
        yield
    except WoodwindError as error:
        raise type(error)(f"{owner}: {error}") from error


@contextmanager
def all_or_nothing(model: Any) -> Iterator[None]:
    """What fails leaves the model as it was."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


def row_count(X: Any) -> int | None:
    """Rows of something that may be a table, if it says how many it has."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape and isinstance(shape[0], int | np.integer):
        return int(shape[0])
    return len(X) if isinstance(X, list | tuple) else None


def check_lengths(owner: str, X_rows: int | None, y_rows: int, names: tuple[str, str] = ("X", "y")) -> None:
    """Raise unless a table and its target have as many rows."""
    if X_rows is not None and X_rows != y_rows:
        raise DataError(
            f"{owner}: Found input variables with inconsistent numbers of samples: {names[0]} has {X_rows:,} rows, "
            f"{names[1]} has {y_rows:,} values. Give one value of {names[1]} for each row of {names[0]}."
        )
