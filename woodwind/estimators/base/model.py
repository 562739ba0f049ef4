"""What all estimators have in common: how they are trained, and how they remember the columns."""

import importlib
import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils._pprint import _EstimatorPrettyPrinter

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, WoodwindError
from woodwind.base.pool import usable_threads
from woodwind.data.tables.schema import Header, Schema
from woodwind.data.tables.table import Table
from woodwind.params.check import check
from woodwind.params.knobs import fit_names
from woodwind.params.unknown import known_arguments, unknown_parameters
from woodwind.store.model_file import save_model

# ----------------------------------------------------------------------------------------------------
# What every estimator can do, fitted or not: be saved, be given parameters, and be printed.

# Named as text: whoever exports nothing reads nothing of it, and it stands above this file.
EXPORTING = "woodwind.estimators.export.exporting"


def _exporting() -> Any:
    return importlib.import_module(EXPORTING)


# How estimators look that are parts of one that is being printed: by identity, with themselves, so that it stays theirs.
_PRINTED: ContextVar[dict[int, tuple[Any, str]] | None] = ContextVar("_PRINTED", default=None)


class _Text(str):
    """A text that is printed as it is."""

    __slots__ = ()
    __repr__ = str.__str__


class StorableMixin:
    """An estimator that can be written to a model file."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """As scikit-learn prints it, without printing parts again and again: only to see whether a list of members is the default, it
        prints all of them, and theirs for each. Votings seven deep took 8 s; votings of pipelines took thirteen times as long per level.
        """
        known = _PRINTED.get()
        if known is not None and id(self) in known:
            return known[id(self)][1]
        token = _PRINTED.set({} if known is None else known)
        try:
            printer = _EstimatorPrettyPrinter(compact=True, indent=1, indent_at_name=True, n_max_elements_to_show=30)
            with config_context(print_changed_only=False):  # for parts that are compared and not shown: there is nothing to compare in them
                text: str = BaseEstimator.__repr__(_Text(printer.pformat(self)), N_CHAR_MAX)
        finally:
            _PRINTED.reset(token)
        if known is not None:
            known[id(self)] = (self, text)
        return text

    def save(self, path: str | os.PathLike[str], *, allow_pickle: bool = False) -> None:
        """Write the model to one file, which `woodwind.load` reads; an old file of that name stays until the new one is whole.

        The file holds arrays and plain values, no code, and is checked from the first byte to the last when it is loaded.

        Parameters
        ----------
        path : path
            Where to; the usual ending is .ww.
        allow_pickle : bool, default=False
            Write a pickle instead, for a model with members or functions of other libraries that no model file can hold. Its name must end
            in .wwpickle, and loading it can run any code: `woodwind.load` takes it only with `allow_pickle=True`.
        """
        save_model(path, self, allow_pickle)

    def to_onnx(self, *, dtype: str = "float64", exact_sums: bool = True) -> Any:
        """The trained model as an ONNX model, for onnxruntime and others that know the operators of ai.onnx.ml 5.

        It reads one matrix `X` where all columns are numbers, and else one column (n_rows, 1) for each column of the training table by its
        name: numbers, text as strings, of which the empty one is missing, and dates as their features. `onnx_inputs` makes these from a
        table. It gives `label` and `probabilities`, or `prediction`, and `raw_score`, which is what the trees add up to; of several
        targets with labels those of each. Missing values and categories that training never saw are treated as `predict` does.

        Parameters
        ----------
        dtype : {'float64', 'float32'}, default='float64'
            The type of the numbers that come and go; it computes in float64 in any case.
        exact_sums : bool, default=True
            Add trees in their order, so that raw scores have the same bits as ours on any number of threads. Without, onnxruntime adds them
            as it likes, about twice as fast, and the last digits may differ.

        Returns
        -------
        onnx.ModelProto
            `woodwind export model.ww model.onnx` writes it to a file.
        """
        return _exporting().onnx_of(self, dtype, exact_sums)

    def onnx_inputs(self, X: Any, *, dtype: str = "float64") -> dict[str, NDArray[Any]]:
        """A table as the model of `to_onnx` reads it.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        dtype : {'float64', 'float32'}, default='float64'
            What `to_onnx` was given.

        Returns
        -------
        dict of arrays
            By name of the input: what `run` of an onnxruntime.InferenceSession takes.
        """
        return _exporting().inputs_of(self, X, dtype)  # type: ignore[no-any-return]

    def to_c(self) -> str:
        """The trained model as one file of C (C99), which needs nothing but a compiler and its mathematical library.

        The top of the file says what it reads and gives. `woodwind export model.ww model.c` writes it to a file.

        Returns
        -------
        str
            The text of the file.
        """
        return _exporting().c_of(self)  # type: ignore[no-any-return]

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of members and other parts as part__parameter. A name that there is not is answered by ours.

        Parameters
        ----------
        **params : anything
            Values by name.

        Returns
        -------
        self
        """
        own: Any = super()
        valid = list(inspect.signature(type(self)).parameters)
        if any(name not in valid for name in params):
            there = self.get_params(deep=True)  # type: ignore[attr-defined]
            unknown = {name: value for name, value in params.items() if name.partition("__")[0] not in there}
            if unknown:
                raise unknown_parameters(type(self).__name__, unknown, valid, fit_names(type(self)))
        own.set_params(**params)
        return self


# Over several lines where one is too short, as scikit-learn prints estimators that leave the printing to it.
_EstimatorPrettyPrinter._dispatch[StorableMixin.__repr__] = _EstimatorPrettyPrinter._pprint_estimator


TRAINING_DATA = """
X : table
    A NumPy array, a SciPy sparse matrix, a frame of pandas or polars, an Arrow table, a list of rows; numbers, text,
    categories, dates and missing values as they come.
y : sequence of values, one for each row
    Labels of any kind for a classifier, finite numbers for a regressor. Single trees, random forests, extra-trees, gradient boosting,
    voting, bagging and stacking take several targets: (n_rows, n_targets).
sample_weight : sequence of numbers, one for each row, default=None
    A row of weight zero is absent, and one of weight two counts as a row given twice.
"""
COLUMNS = """
n_features_in_, feature_names_in_
    The number of columns of the training table, and their names if it had any.
"""


class BaseModel(StorableMixin):
    """An estimator: `fit` checks the parameters and leaves the rest to `_fit`, which sets what was learned."""

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

    @known_arguments
    @fill_docstring(data=TRAINING_DATA)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        {data}

        Returns
        -------
        self
        """
        values = check(self)
        with all_or_nothing(self):
            self._fit(values, X, y, sample_weight)
        return self

    def _fit(self, values: dict[str, Any], X: Any, y: Any, sample_weight: Any) -> None:
        """Train by checked parameters; what fails leaves the model as it was."""
        raise NotImplementedError

    def _set_header(self, header: Header) -> None:
        """Remember the columns, as scikit-learn does: names only where all columns have one."""
        self.n_features_in_ = header.n_columns
        if header.names is not None:
            self.feature_names_in_ = np.array(header.names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


class BaseGroupedModel(BaseModel):
    """An estimator that holds rows out while it is trained, those of one group together."""

    @known_arguments
    @fill_docstring(data=TRAINING_DATA)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        {data}
        groups : sequence of labels, one for each row, default=None
            Rows of one group are held out together, where rows are held out.

        Returns
        -------
        self
        """
        values = check(self)
        with all_or_nothing(self):
            self._fit(values, X, y, sample_weight, groups)
        return self

    def _fit(self, values: dict[str, Any], X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        raise NotImplementedError


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


def read_training(
    X: Any, marked: Any, weight: NDArray[np.float64] | None, n_rows: int, owner: str, known: Schema | None = None, told: bool = True
) -> tuple[Schema, Table]:
    """A table to train on, of so many rows, and how it is read; `known` is how an earlier training has read its own.

    `told`: warn of categories that are taken as one.
    """
    if weight is not None:
        check_lengths(owner, row_count(X), n_rows)
    if known is None:
        schema, table = Schema.learn(X, marked, weight=weight, owner=owner)
        if told:
            schema.warn_merged(owner)
    else:
        schema, table = known, known.read(X, owner=owner)
    check_lengths(owner, table.n_rows, n_rows)
    return schema, table


# ----------------------------------------------------------------------------------------------------
# Logarithms of probabilities.


class LogProbabilityMixin:
    """A classifier that has probabilities has their logarithms."""

    predict_proba: Any

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities; minus infinity for a class that has none."""
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(part) for part in probabilities] if isinstance(probabilities, list) else np.asarray(np.log(probabilities))
