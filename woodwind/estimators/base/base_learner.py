"""Estimators of scikit-learn's kind as learners: copies with seeds of their own, weights or drawn rows, predictions as arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, has_fit_parameter, validate_data

from woodwind.base.errors import ParameterError, TableError
from woodwind.base.random_streams import key
from woodwind.ensemble.weak_learner import Floats, Integers, Labels, TrainedClassifier, draw_by_weight
from woodwind.estimators.base.model_checks import ask_model

# A draw of rows that all have one label is drawn again so often.
DRAWS = 20


def check_estimator(estimator: Any, owner: str, classifies: bool, soft: bool = False, name: str = "estimator") -> None:
    """Refuse what cannot be the learner, before any work is done."""
    if isinstance(estimator, type):
        raise ParameterError(f"{owner}: {name} is the class {estimator.__name__}. Give an instance of it: {name}={estimator.__name__}().")
    lacking = [method for method in ("fit", "predict", "get_params") if not callable(getattr(estimator, method, None))]
    if lacking:
        without = " and no ".join(lacking)
        raise ParameterError(f"{owner}: {name} must be an estimator of scikit-learn's kind, but {estimator!r} has no {without}.")
    kind = "classifier" if classifies else "regressor"
    wrong = is_regressor(estimator) if classifies else is_classifier(estimator)
    if wrong:
        raise ParameterError(f"{owner}: {name} must be a {kind}, and {type(estimator).__name__} is none.")
    if soft and not hasattr(estimator, "predict_proba"):
        raise ParameterError(
            f"{owner}: this algorithm needs probabilities, and {type(estimator).__name__} has no predict_proba. "
            "Set algorithm='samme', or give another estimator."
        )


def with_seed(estimator: Any, name: int) -> Any:
    """A copy of an estimator; all that it draws is named by `name`."""
    copy = clone(estimator)
    seeds = [one for one in copy.get_params(deep=True) if _is_seed(one)]
    if seeds:
        copy.set_params(**{one: key(name, one) % (1 << 31) for one in sorted(seeds)})
    return copy


def with_open_seeds(estimator: Any, name: int) -> Any:
    """A copy of an estimator; what it draws without a seed of its own is named by `name`, and seeds that were given are kept."""
    copy = clone(estimator)
    seeds = [one for one, value in copy.get_params(deep=True).items() if value is None and _is_seed(one)]
    if seeds:
        copy.set_params(**{one: key(name, one) % (1 << 31) for one in sorted(seeds)})
    return copy


def _is_seed(parameter: str) -> bool:
    return parameter == "random_state" or parameter.endswith("__random_state")


def draws_anything(estimator: Any) -> bool:
    """Whether an estimator has a seed, or is trained on rows that are drawn."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return True
    return any(_is_seed(one) for one in estimator.get_params(deep=True))


def read_table(model: Any, X: Any, reset: bool) -> Any:
    """A table as the learners get it: as it is, its columns counted and their names compared."""
    if getattr(X, "shape", None) is None and not hasattr(X, "__dataframe__"):
        X = np.asarray(X)
    if hasattr(X, "tocsr"):
        X = X.tocsr()  # of the sparse kinds, some have no rows that could be taken
    shape = getattr(X, "shape", (0, 0))
    if len(shape) != 2:
        raise TableError(
            f"{type(model).__name__}: Expected 2D array, got an array of shape {shape} instead. Reshape your data: one row for each "
            "row of the table, X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    try:
        validate_data(model, X, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise TableError(str(error)) from error
    for what, there in zip(("sample", "feature"), shape, strict=True):
        if there == 0:
            raise TableError(f"{type(model).__name__}: X has 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
    return X


def rows_of(X: Any, rows: NDArray[Any]) -> Any:
    """Some rows of a table that learners take."""
    try:
        return _safe_indexing(X, rows)
    except (TypeError, ValueError, AttributeError) as error:
        kind = type(X).__name__
        raise TableError(f"Rows of a table of type {kind} cannot be taken. Give an array, a sparse matrix or a frame.") from error


class EstimatorLearner:
    """A learner of labels, or of numbers, for the rows of one table. `count` is how many rows each stands for, None for one each.

    With `bootstrap`, rows are drawn by weight also for an estimator that takes weights.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        count: Integers | None,
        soft: bool = False,
        labels: NDArray[Any] | None = None,
        bootstrap: bool = False,
    ) -> None:
        self.estimator, self.X, self.count, self.soft, self.labels = estimator, X, count, soft, labels
        self.takes_weight = has_fit_parameter(estimator, "sample_weight") and not bootstrap
        self.draws = bootstrap or draws_anything(estimator)

    def learn(self, label: Labels, n_labels: int, weight: Floats, name: int) -> TrainedClassifier:
        """A classifier, trained on labels as the user gave them, or on 0 and 1."""
        total = weight if self.count is None else weight * self.count
        own = np.arange(n_labels) if self.labels is None else self.labels
        y = own[label]
        copy = with_seed(self.estimator, name)
        if self.takes_weight:
            copy.fit(self.X, y, sample_weight=total)
        else:
            rows = self._drawn(label, total, name)
            copy.fit(rows_of(self.X, rows), y[rows])
        return TrainedClassifier(copy, class_answers(copy, self.X, own, self.soft))

    def _drawn(self, label: Labels, weight: Floats, name: int) -> Integers:
        """Rows drawn by weight, of at least two labels: most classifiers refuse to learn one."""
        rows = draw_by_weight(key(name, "rows"), weight, len(weight))
        for trial in range(1, DRAWS):
            if (label[rows] != label[rows[0]]).any():
                break
            rows = draw_by_weight(key(name, "rows", trial), weight, len(weight))
        return rows

    def learn_numbers(self, y: Floats, weight: Floats | None, count: Integers | None, name: int) -> tuple[Any, Floats]:
        """A regressor; rows that were drawn are repeated."""
        copy = with_seed(self.estimator, name)
        if is_classifier(copy):
            y = np.where(y >= 0.0, 1, -1)  # its predictions are these numbers
        times = self.count if count is None else count
        if weight is not None and not self.takes_weight:
            total = weight if times is None else weight * times
            times = np.bincount(draw_by_weight(key(name, "rows"), total, len(y)), minlength=len(y))
            weight = None
        if times is not None:
            rows = np.repeat(np.arange(len(y)), times)
            X = rows_of(self.X, rows)
            more = {} if weight is None else {"sample_weight": weight[rows]}
            copy.fit(X, y[rows], **more)
        else:
            copy.fit(self.X, y, **({} if weight is None else {"sample_weight": weight}))
        return copy, regression_answers(copy, self.X)

    def leaf_numbers(self, member: Any) -> NDArray[np.integer]:
        """The leaf of every row."""
        return leaf_answers(member, self.X)


def leaf_answers(estimator: Any, X: Any) -> NDArray[np.integer]:
    """The leaf of every row, for estimators that have leaves: (n,)."""
    return ask_model(estimator, lambda: np.asarray(estimator.apply(X)).reshape(_num_samples(X)))


def class_answers(estimator: Any, X: Any, labels: NDArray[Any], soft: bool) -> Floats:
    """What a classifier says about rows as shares of the labels, (n, K): its probabilities, or all to the class that it predicts."""
    known = np.asarray(estimator.classes_ if hasattr(estimator, "classes_") else labels)
    number = {label: position for position, label in enumerate(labels.tolist())}
    columns = np.array([number[label] for label in known.tolist()])
    if soft:
        given = ask_model(estimator, lambda: np.asarray(estimator.predict_proba(X), np.float64))
        probabilities = np.zeros((len(given), len(labels)))
        probabilities[:, columns] = given
        return probabilities
    predicted = ask_model(estimator, lambda: np.asarray(estimator.predict(X)))
    probabilities = np.zeros((len(predicted), len(labels)))
    probabilities[np.arange(len(predicted)), [number[label] for label in predicted.tolist()]] = 1.0
    return probabilities


def regression_answers(estimator: Any, X: Any) -> Floats:
    """What a regressor says about rows, (n,)."""
    predicted = ask_model(estimator, lambda: np.asarray(estimator.predict(X), np.float64))
    if predicted.shape not in ((_num_samples(X),), (_num_samples(X), 1)):
        shape = f"an array of shape {predicted.shape} for {_num_samples(X)} rows"
        raise ParameterError(f"{type(estimator).__name__} predicts {shape}. Give a regressor of one target.")
    return predicted.reshape(-1)
