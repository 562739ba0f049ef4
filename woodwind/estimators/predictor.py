"""A callable that predicts for one row or a block of rows, with as little ceremony as can be."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TableError
from woodwind.base.sound import finite
from woodwind.data.fields import CategoryField, EmptyField, Field, TimeField
from woodwind.data.schema import Schema
from woodwind.data.table import UNSEEN
from woodwind.losses.base import Loss
from woodwind.losses.classification import TwoClasses
from woodwind.losses.own import OwnLoss
from woodwind.tree.forest import Forest


class RowPredictor:
    """Predictions with little ceremony: from numbers alone, nothing is looked up by name, converted or checked but the number of features.

    Give it one row, a list or an array of as many numbers as `feature_names` has names, in that order, or a two-dimensional array
    of such rows. NaN is missing; a category is the number of its level in `levels`, -2 for one that training never saw.
    Or give it one row of the table as it is: a dict of values by the names of columns, or, where there are categories, a tuple of
    values in the order of columns. None and NaN are missing. That takes a few microseconds more, and dates are refused.
    It answers with what `predict` gives for regression and `predict_proba` for classification, bit for bit; for one row
    without the axis of rows.
    """

    def __init__(self, forest: Forest, loss: Loss, schema: Schema) -> None:
        self.raw = forest.predictor()
        self.feature_names = schema.feature_names
        self.levels = schema.levels
        self._has_levels = any(levels is not None for levels in schema.levels)
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
        if isinstance(rows, dict) or (self._has_levels and isinstance(rows, tuple)):
            rows = self._read(rows)
        answer = self._predicted(rows)
        if not self._is_finite:
            finite(np.atleast_1d(answer), "predictor")
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
        out = []
        for (name, number), value in zip(self._columns, values, strict=True):
            try:
                # What is missing is None, or differs from itself.
                out.append(np.nan if value is None or value != value else number(value))  # noqa: PLR0124
            except (TypeError, ValueError) as error:
                raise TableError(f"predictor: column {name!r} cannot be {value!r}: {error}.") from error
        return out


def _numbers_of(field: Field) -> Callable[[Any], float]:
    """How a value of a column becomes a number."""
    if isinstance(field, TimeField):
        return _refuse_time
    if isinstance(field, EmptyField):
        return lambda _: np.nan
    if not isinstance(field, CategoryField):
        return float
    levels = field.levels
    codes: dict[Any, float] = dict(zip(levels.values.tolist(), levels.codes.tolist(), strict=True))
    if not levels.is_text:
        return lambda value: codes.get(float(value), UNSEEN)

    def of_text(value: Any) -> float:
        if not isinstance(value, str):
            raise TypeError("its categories are text")
        return codes.get(value, UNSEEN)

    return of_text


def _refuse_time(_: Any) -> float:
    raise TypeError("dates and times are read by predict alone; here they are the numbers of feature_names, in a list")
