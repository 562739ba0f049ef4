"""A callable that predicts for one row or a block of rows, with as little overhead as possible."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError, TableError
from woodwind.base.validate import require, require_finite
from woodwind.data.tables.fields import CategoryField, EmptyField, Field, OpenCategoryField, SentinelField, StatisticsField, TimeField
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import MISSING, UNSEEN
from woodwind.losses.base import Loss
from woodwind.losses.classification import TwoClasses
from woodwind.losses.own import OwnLoss
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.forest import Forest


class RowPredictor:
    """Predictions with little ceremony: from numbers alone, nothing is looked up by name, converted or checked but the number of features.

    Give it one row, a list or an array of as many numbers as `feature_names` has names, in that order, or a two-dimensional array
    of such rows. NaN is missing; a category is its position in `categories`, -2 for one that training never saw. Categories that
    the model reads as means of the target are these means.
    Or give it one row of the table as it is: a dict of values by the names of columns, or, where there are categories, a tuple of
    values in the order of columns. None and NaN are missing. That takes a few microseconds more, and dates are refused.
    It answers with what `predict` gives for regression and `predict_proba` for classification, bit for bit; for one row
    without the axis of rows.
    """

    def __init__(self, forest: Forest, loss: Loss, schema: Schema) -> None:
        self.raw = forest.predictor()
        self.feature_names = schema.feature_names
        self.categories = schema.categories
        self._has_categories = any(isinstance(field, CategoryField | StatisticsField) for field in schema.fields)
        self._columns = [(field.name, _numbers_of(field)) for field in schema.fields]
        self._loss = loss
        self._two = isinstance(loss, TwoClasses)
        # Where the largest score that there can be has a finite mean, no prediction needs a look.
        self._is_finite = False
        if not isinstance(loss, OwnLoss):
            with np.errstate(all="ignore"):
                self._is_finite = bool(np.isfinite(loss.predict(forest.largest_scores().reshape(1, -1))).all())

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """Predict."""
        if isinstance(rows, dict) or (self._has_categories and isinstance(rows, tuple)):
            rows = self._read(rows)
        answer = self._predicted(rows)
        if not self._is_finite:
            require_finite(np.atleast_1d(answer), "predictor")
        return answer

    def _predicted(self, rows: Any) -> NDArray[np.float64]:
        if isinstance(rows, np.ndarray) and rows.ndim == 2 and len(rows) == 1:
            return np.asarray(self._predicted(rows[0]))[None]  # half the time of a block
        raw = self.raw(rows)
        if raw.ndim == 2:
            return self._loss.predict(raw)
        if self._two:
            # Both probabilities from one call, each from its own score as in `TwoClasses.predict`.
            return self._loss.link.to_mean(np.array([-raw[0], raw[0]]))
        answer: NDArray[np.float64] = self._loss.predict(raw.reshape(1, -1))[0]
        return answer

    def _read(self, row: dict[str, Any] | tuple[Any, ...]) -> list[float]:
        """The values of one row as numbers."""
        if isinstance(row, dict):
            absent = [name for name, _ in self._columns if name not in row]
            if absent:
                raise TableError(f"predictor: the row has no value for column {absent[0]!r}. Give None where a value is missing.")
            values: Iterable[Any] = (row[name] for name, _ in self._columns)
        elif len(row) != len(self._columns):
            raise TableError(f"predictor: the row has {len(row)} values, and the table has {len(self._columns)} columns.")
        else:
            values = row
        out: list[float] = []
        for (name, number), value in zip(self._columns, values, strict=True):
            try:
                # What is missing is None, or differs from itself.
                missing = value is None or value != value  # noqa: PLR0124
                if isinstance(number, _Statistics):
                    out.extend(number(None if missing else value))
                else:
                    out.append(np.nan if missing else number(value))
            except (TypeError, ValueError) as error:
                raise TableError(f"predictor: column {name!r} cannot be {value!r}: {error}.") from error
        return out


class _Statistics:
    """How a value of a column becomes what is known of the target there; None is missing."""

    def __init__(self, field: StatisticsField) -> None:
        values = field.categories.values.tolist()
        self._number = _lookup(field.categories.is_text, dict(zip(values, range(len(values)), strict=True)))
        self._means = field.statistics.means.T.tolist()

    def __call__(self, value: Any) -> list[float]:
        """The statistics of one value."""
        means: list[float] = self._means[MISSING if value is None else int(self._number(value))]
        return means


def _numbers_of(field: Field) -> "Callable[[Any], float] | _Statistics":
    """How a value of a column becomes a number, or several."""
    if isinstance(field, StatisticsField):
        return _Statistics(field)
    if isinstance(field, TimeField):
        return _refuse_time
    if isinstance(field, EmptyField):
        return lambda _: np.nan
    if isinstance(field, SentinelField | OpenCategoryField):
        return field.number_of
    if not isinstance(field, CategoryField):
        return float
    categories = field.categories
    return _lookup(categories.is_text, dict(zip(categories.values.tolist(), categories.codes.tolist(), strict=True)))


def _lookup(is_text: bool, codes: dict[Any, int]) -> Callable[[Any], float]:
    """How a category becomes its code."""
    if not is_text:
        return lambda value: codes.get(float(value), UNSEEN)

    def of_text(value: Any) -> float:
        if not isinstance(value, str):
            raise TypeError("its categories are text")
        return codes.get(value, UNSEEN)

    return of_text


def _refuse_time(_: Any) -> float:
    raise TypeError("dates and times are read by predict alone; here they are the numbers of feature_names, in a list")


# ----------------------------------------------------------------------------------------------------
# A callable that predicts for one row or a block of rows of a forest, with as little overhead as possible.


Floats = NDArray[np.float64]


class CompactForestPredictor:
    """Predictions from numbers alone: nothing is looked up by name, converted or checked but the number of features."""

    def __init__(self, compact_forest: CompactForest) -> None:
        # Class probabilities are finite; of numbers it is enough if the largest could be added up so often.
        largest = 1.0 if compact_forest.n_classes else float(np.abs(compact_forest.mixed).max(initial=0.0))
        require(np.isfinite(largest * max(compact_forest.n_trees, 1)), "what trees add up to is not finite")
        self._compact_forest = compact_forest
        self._add = compact_forest.predictor()
        self._zero = np.zeros((1, compact_forest.n_outputs))
        self._share = 1.0 / max(compact_forest.n_trees, 1)

    def __reduce__(self) -> tuple[Any, ...]:
        return CompactForestPredictor, (self._compact_forest,)

    def __call__(self, rows: Any) -> Floats:
        """Predict."""
        x = np.ascontiguousarray(rows, np.float64)
        n_features = len(self._compact_forest.n_categories)
        if x.shape[-1] != n_features:
            raise ParameterError(f"a row has {n_features} features, not {x.shape[-1]}")
        if x.ndim == 2:
            mean = self._compact_forest.mean(x)
            return np.maximum(mean, 0.0, out=mean) if self._compact_forest.n_classes else mean[:, 0] if mean.shape[1] == 1 else mean
        out = self._zero.copy()
        x.flags.writeable = False
        self._add(x, out)
        out /= max(self._compact_forest.n_trees, 1)
        answer: Floats = np.maximum(out[0], 0.0) if self._compact_forest.n_classes else out[0, 0] if out.shape[1] == 1 else out[0]
        return answer
