"""Categories as means of the target, as a step of a pipeline: statistics that training rows take from earlier rows, or from other folds."""

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import TargetError
from woodwind.base.pool import LEAST_WORK, side_by_side
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require
from woodwind.data.tables.frames import open_table
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.data.tables.target_statistics import StatisticsTarget, TargetStatistics
from woodwind.ensemble.held_out import fold_numbers
from woodwind.estimators.base.model import COLUMNS, TRAINING_DATA, BaseModel, all_or_nothing, check_lengths
from woodwind.estimators.base.target import Target, one_dimension, read_labels, read_regression_target
from woodwind.estimators.base.weights import read_weight
from woodwind.losses.base import in_rows
from woodwind.params.check import check
from woodwind.params.groups import Auto, Jobs, RandomState
from woodwind.params.knobs import at_least, knobs
from woodwind.params.unknown import known_arguments

Floats = NDArray[np.float64]

UNSEEN_HAVE_THE_PRIOR = "Nothing is known of them: each such row has the prior."


@knobs
class OrderedTargetEncoder(BaseModel, TransformerMixin, BaseEstimator):
    """Categories as smoothed means of the target, without a row that finds its own target in its number.

    As with TargetEncoder of scikit-learn, `fit_transform(X, y)` is for the rows that a model is trained on, and is not
    `fit(X, y).transform(X)`: there, each row has the mean of earlier rows of its category in a drawn order, or of the rows of other folds.
    Rows to come have that of all training rows.

    Every column is taken as categories, whatever it holds: give others to another step of scikit-learn's `ColumnTransformer`.
    Missing values are a category of their own. A category that training never saw has the prior.

    {parameters}

    Attributes
    ----------
    statistics_ : tuple of TargetStatistics, one for each column
        Sums, counts, prior and its strength, by category.
    target_type_ : str
        'continuous', 'binary' or 'multiclass'.
    classes_ : array of shape (n_classes,)
        The labels, in order; only where y has classes.
    {columns}

    Examples
    --------
    >>> from woodwind import OrderedTargetEncoder
    >>> wood, price = [["oak"], ["oak"], ["elm"], ["oak"]], [1.5, 3.0, 2.0, 8.5]
    >>> encoder = OrderedTargetEncoder(smooth=1.0).fit(wood, price)
    >>> encoder.transform([["oak"], ["elm"]]).round(2)  # the mean of all prices, 3.75, counts as one more row
    array([[4.19],
           [2.88]])
    """

    _docstring_parts: ClassVar[dict[str, str]] = {"columns": COLUMNS}
    _state: ClassVar[dict[str, Any]] = {
        "schema_": Schema,
        "statistics_": tuple[TargetStatistics, ...],
        "target_type_": str,
    }

    mode: Annotated[
        Literal["ordered", "out_of_fold"],
        "Which rows a row of `fit_transform` knows: those before it in a drawn order, or those of the other folds.",
    ] = "ordered"
    target_type: Annotated[
        Literal["auto", "continuous", "binary", "multiclass"],
        "What y holds: numbers, two classes or several. 'auto' looks, as scikit-learn does: fractions are numbers, all else classes.",
    ] = "auto"
    smooth: Annotated[
        float | Auto,
        at_least(0),
        "Rows that the prior counts as. 'auto' is the variance inside categories over that of their true means, for each column (empirical "
        "Bayes).",
    ] = "auto"
    prior: Annotated[float | None, "The mean where nothing is known. None is that of all training rows."] = None
    counts: Annotated[bool, "Add for each column how many rows the means are of."] = False
    n_folds: Annotated[int, at_least(2), "Folds, where mode='out_of_fold'."] = 5
    n_jobs: Jobs = None
    random_state: RandomState = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # With ordered statistics fit_transform is not what transform is, on purpose; scikit-learn has no other word for that.
        tags.non_deterministic = self.mode == "ordered"
        return tags

    def _fit(self, values: dict[str, Any], X: Any, y: Any, sample_weight: Any) -> None:
        self._learn(values, X, y, sample_weight)

    @known_arguments
    @fill_docstring(data=TRAINING_DATA)
    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Learn the statistics of all rows, and give what each of them may know: for the rows that a model is trained on.

        Parameters
        ----------
        {data}

        Returns
        -------
        array of shape (n_rows, n_statistics)
            In the order of `get_feature_names_out`.
        """
        values = check(self)
        with all_or_nothing(self):
            table, target = self._learn(values, X, y, sample_weight)
        seed = seed_of(values["random_state"])
        ordered = values["mode"] == "ordered"
        order = target.order(seed) if ordered else np.full(table.n_rows, -1)
        if not ordered:
            order[target.rows] = fold_numbers(seed, len(target.rows), values["n_folds"])

        def of_column(_: int, position: int) -> tuple[Floats, Floats]:
            own, numbers = self.statistics_[position], _numbers(table, position)
            return own.ordered(target, numbers, order) if ordered else own.out_of_fold(target, numbers, order)

        return self._joined(side_by_side(of_column, range(len(table.columns)), self._sides(table)))

    def transform(self, X: Any) -> Floats:
        """The statistics of all training rows, for rows to come.

        Parameters
        ----------
        X : table
            Rows of the columns that were learned; columns are matched by name.

        Returns
        -------
        array of shape (n_rows, n_statistics)
            In the order of `get_feature_names_out`.
        """
        check_is_fitted(self)
        table = self.schema_.read(X, owner=self._owner, unseen=UNSEEN_HAVE_THE_PRIOR)
        columns = [(own, _numbers(table, position)) for position, own in enumerate(self.statistics_)]
        return self._joined([(own.means[:, numbers], own.counts[numbers]) for own, numbers in columns])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """What the numbers are: the column; with several classes one for each; then the count, if there are counts."""
        check_is_fitted(self)
        del input_features
        classes = [f"_{label}" for label in self.classes_.tolist()] if self.target_type_ == "multiclass" else [""]
        endings = [*classes, *(["_count"] if self.counts else [])]
        return np.array([f"{field.name}{ending}" for field in self.schema_.fields for ending in endings], object)

    def _learn(self, values: dict[str, Any], X: Any, y: Any, sample_weight: Any) -> tuple[Table, StatisticsTarget]:
        kind, target = self._read_target(values["target_type"], y)
        weight = in_rows(read_weight(sample_weight, target.n_rows, self._owner))
        raw = open_table(X)
        check_lengths(self._owner, raw.n_rows, target.n_rows)
        schema, table = Schema.learn(X, [True] * raw.n_columns, weight=weight, owner=self._owner)
        rows = np.arange(table.n_rows) if weight is None else np.flatnonzero(weight)
        last = target.n_classes - 1
        classes = () if kind == "continuous" else (last,) if kind == "binary" else tuple(range(last + 1))
        known = StatisticsTarget(target.y, rows, weight, classes)
        strength = None if values["smooth"] == "auto" else float(values["smooth"])

        def of_column(_: int, position: int) -> TargetStatistics:
            count = int(schema.category_counts[position])
            return TargetStatistics.learn(known, _numbers(table, position), count, values["prior"], strength)

        _ = known.amounts, known.weights, known.moments  # once, before threads share them
        self.statistics_ = tuple(side_by_side(of_column, range(len(table.columns)), self._sides(table)))
        self.schema_, self.target_type_ = schema, kind
        if target.classes is not None:
            self.classes_: NDArray[Any] = target.classes
        elif hasattr(self, "classes_"):
            del self.classes_
        self._set_header(schema.header)
        return table, known

    def _read_target(self, kind: str, y: Any) -> tuple[str, Target]:
        if kind == "auto":
            kind = str(type_of_target(one_dimension(y, self._owner), input_name="y"))
        if kind == "continuous":
            return kind, read_regression_target(y, self._owner)
        target = read_labels(y, self._owner)
        if kind == "binary" and target.n_classes > 2:
            raise TargetError(f"{self._owner}: target_type='binary', but y has {target.n_classes} classes. Set target_type='multiclass'.")
        return kind, target

    def _sides(self, table: Table) -> int:
        count = len(table.columns)
        return min(self._threads, count) if table.n_rows * count >= LEAST_WORK else 1

    def _joined(self, found: list[tuple[Floats, Floats]]) -> Floats:
        """Means of each column, and counts where they are wanted, as one matrix."""
        parts = [part for means, counts in found for part in (means, *([counts[None]] if self.counts else []))]
        return np.ascontiguousarray(np.concatenate(parts).T)

    def _check_state(self) -> None:
        """There are statistics of each column, for each of its categories."""
        require(self.schema_.n_inputs == self.n_features_in_, "the encoder has another number of columns than its schema")
        require(len(self.statistics_) == len(self.schema_.feature_names) == self.n_features_in_, "columns have not one statistic each")
        require(self.target_type_ in ("continuous", "binary", "multiclass"), "the target is of no known type")
        require(hasattr(self, "classes_") == (self.target_type_ != "continuous"), "classes do not fit the target")
        width = len(self.classes_) if self.target_type_ == "multiclass" else 1
        sizes = [own.means.shape for own in self.statistics_]
        require(sizes == [(width, count + 2) for count in self.schema_.category_counts.tolist()], "statistics are of other categories")


def _numbers(table: Table, position: int) -> NDArray[np.int32]:
    """The number of the category of each row."""
    read = table.columns[position].category_numbers
    assert read is not None  # every column is taken as categories
    return np.asarray(read(0, table.n_rows), np.int32)
