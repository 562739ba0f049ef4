"""Models as the server holds them: loaded, checked, asked and loaded anew."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind import store
from woodwind.auto.intervals import PredictionIntervals
from woodwind.auto.members.link import probabilities
from woodwind.auto.model import AutoModel
from woodwind.auto.shap import explain_model
from woodwind.base.errors import DataError, ModelFileError, WoodwindError
from woodwind.base.notice import no_notices
from woodwind.data.tables.json_values import JsonColumn, json_columns, table_of_values, unknown_columns
from woodwind.tree.shap_result import Explanation

Floats = NDArray[np.float64]
Rows = Sequence[Sequence[Any]]  # values in the order of columns, as JsonColumn.value lets them in

CLASSIFICATION, REGRESSION, RANKING = "classification", "regression", "ranking"
# A file may be replaced while it is read: it is read again then, so often.
ATTEMPTS = 3


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a model predicts for n rows."""

    values: list[Any]  # (n,) labels, numbers or scores, as JSON holds them
    proba: Floats | None = None  # (n, classes)
    decided: NDArray[np.int64] | None = None  # (n,) positions of the labels

    def part(self, begin: int, end: int) -> "Predicted":
        """Some of the rows."""
        cut = slice(begin, end)
        return Predicted(
            self.values[cut],
            None if self.proba is None else self.proba[cut],
            None if self.decided is None else self.decided[cut],
        )


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model of any kind, as endpoints see it."""

    name: str
    version: str  # the beginning of the digest of its file
    columns: tuple[JsonColumn, ...]
    task: str  # classification, regression or ranking
    classes: tuple[Any, ...]  # as JSON holds them
    target: str = ""
    example: dict[str, Any] | None = None  # a row to begin with
    intervals: PredictionIntervals | None = None

    @cached_property
    def position_of(self) -> dict[str, int]:
        """The position of each column by its name."""
        return {column.name: position for position, column in enumerate(self.columns)}

    @property
    def explains(self) -> bool:
        """Whether it can say which columns made a prediction what it is."""
        return True

    def predict(self, rows: Rows, threads: int = 1) -> Predicted:
        """What is predicted for some rows."""
        if len(rows) == 1:
            fast = self._predict_one(rows[0])
            if fast is not None:
                return fast
        with no_notices():  # of categories never seen the answer itself tells
            return self._predict(table_of_values(self.columns, rows), threads)

    def explain(self, rows: Rows, threads: int = 1) -> Explanation:
        """What each column brings to the scores of some rows."""
        with no_notices():
            return self._explain(table_of_values(self.columns, rows), threads)

    def warm(self) -> "ServedModel":
        """Ask once for everything, so that no request waits for a compiler; whatever cannot be asked raises."""
        nothing = [None] * len(self.columns)
        for rows in ([nothing], [nothing, nothing]):
            self.predict(rows)
        if self.explains:
            self.explain([nothing])
        return self

    def _predict_one(self, row: Sequence[Any]) -> Predicted | None:
        """The same for one row in less time; None where there is no such way."""
        return None

    def _predict(self, table: Any, threads: int) -> Predicted:
        raise NotImplementedError

    def _explain(self, table: Any, threads: int) -> Explanation:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ServedAutoModel(ServedModel):
    """What `woodwind fit` has made."""

    model: AutoModel = None  # type: ignore[assignment]  # always given

    def _predict(self, table: Any, threads: int) -> Predicted:
        scores = self.model.scores(table, threads)
        if not self.classes:
            return Predicted(scores[:, 0].tolist())
        proba = probabilities(scores)
        decided = self.model.decide(proba)
        return Predicted([self.classes[position] for position in decided.tolist()], proba, decided)

    def _explain(self, table: Any, threads: int) -> Explanation:
        return explain_model(self.model, table, threads)


@dataclass(frozen=True, eq=False)
class ServedEstimator(ServedModel):
    """An estimator that was saved by its `save`."""

    model: Any = None
    predictor: Any = None  # of one row, where the estimator has one that reads rows as they are

    @property
    def explains(self) -> bool:
        """Whether it can say which columns made a prediction what it is."""
        return hasattr(self.model, "explain") and getattr(self.model, "init_", None) is None

    def _predict_one(self, row: Sequence[Any]) -> Predicted | None:
        if self.predictor is None:
            return None
        found = self.predictor({column.name: value for column, value in zip(self.columns, row, strict=True)})
        if not self.classes:
            return Predicted([float(found)]) if np.ndim(found) == 0 else None
        best = int(found.argmax())
        if np.count_nonzero(found == found[best]) > 1:  # then scores decide, which probabilities are rounded from
            return None
        return Predicted([self.classes[best]], found[None], np.array([best]))

    def _predict(self, table: Any, threads: int) -> Predicted:
        found = np.asarray(self.model.predict(table))
        if found.ndim != 1:
            raise DataError("the model predicts several values for each row, and only models of one target are served.")
        if not self.classes:
            return Predicted(found.astype(np.float64).tolist())
        labels = np.asarray(self.model.classes_)
        decided = np.array([int(np.flatnonzero(labels == label)[0]) for label in found], np.int64)
        proba = np.asarray(self.model.predict_proba(table), np.float64) if hasattr(self.model, "predict_proba") else None
        return Predicted([self.classes[position] for position in decided.tolist()], proba, decided)

    def _explain(self, table: Any, threads: int) -> Explanation:
        found: Explanation = self.model.explain(table)
        return found


def load(name: str, path: Path) -> ServedModel:
    """The model of a file, ready to be asked. Raises WoodwindError where the file is damaged, or holds something that cannot be served."""
    for _ in range(ATTEMPTS):
        before = digest(path)
        made = store.load(path, expect=object)
        if digest(path) == before:
            break
    else:
        raise ModelFileError(f"{path}: it is written while it is read. Replace the file in one step, as Woodwind does.")
    try:
        return _served(name, before[:12], made, path).warm()
    except WoodwindError:
        raise
    except Exception as error:
        raise ModelFileError(f"{path}: its {type(made).__name__} cannot be served: {type(error).__name__}: {error}") from error


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelFileError(f"{path}: it cannot be read: {error.strerror}.") from error


def _served(name: str, version: str, made: Any, path: Path) -> ServedModel:
    if isinstance(made, AutoModel):
        task = CLASSIFICATION if made.classes else RANKING if made.task == "ranking" else REGRESSION
        classes = tuple(map(json_label, made.classes))
        columns, example = json_columns(made.schema), _example(made)
        return ServedAutoModel(name, version, columns, task, classes, made.target, example, made.intervals, made)
    if not hasattr(made, "predict") or not hasattr(made, "n_features_in_"):
        raise ModelFileError(f"{path}: it holds a {type(made).__name__}, which predicts nothing or was not trained. Serve a trained model.")
    labels = getattr(made, "classes_", None)
    if isinstance(labels, list):
        raise ModelFileError(f"{path}: it predicts several targets, and only models of one target are served.")
    classes = () if labels is None else tuple(map(json_label, np.asarray(labels).tolist()))
    task = CLASSIFICATION if classes else RANKING if type(made).__name__.endswith("Ranker") else REGRESSION
    return ServedEstimator(name, version, _columns(made), task, classes, model=made, predictor=_predictor(made))


def _columns(made: Any) -> tuple[JsonColumn, ...]:
    """What the columns of an estimator are; ensembles of other estimators know their names alone."""
    if hasattr(made, "schema_"):
        return json_columns(made.schema_)
    return unknown_columns(getattr(made, "feature_names_in_", [f"x{position}" for position in range(made.n_features_in_)]))


def _predictor(made: Any) -> Any:
    """What predicts one row by the names of its columns; None for estimators without it, and where a column is a date."""
    if not hasattr(made, "predictor") or not hasattr(made, "schema_"):
        return None
    nothing = dict.fromkeys(field.name for field in made.schema_.fields)
    if any(field.kind == "time" for field in made.schema_.fields):
        return None
    try:
        predictor = made.predictor()
        predictor(nothing)
    except (WoodwindError, TypeError):
        return None
    return predictor


def _example(model: AutoModel) -> dict[str, Any] | None:
    """A row of the training table that the model has kept for its report, if there is one."""
    use = model.facts.get("use")
    example = use.get("example") if isinstance(use, dict) else None
    if not isinstance(example, dict):
        return None
    found = {}
    for column in json_columns(model.schema):
        try:
            found[column.name] = None if column.value(example.get(column.name)) is None else example[column.name]
        except DataError:
            found[column.name] = None
    return found


def json_label(label: Any) -> Any:
    """A label as JSON holds it: text, a number or a truth value; anything else as its text."""
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, float) and not np.isfinite(plain):
        return str(plain)
    return plain if isinstance(plain, str | int | float | bool) else str(plain)


class ModelShelf:
    """The models that are served, by name. One is replaced in one step: whoever has asked for the old one keeps it until it is answered."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.files = files
        self.models = {name: load(name, path) for name, path in files.items()}

    def reload(self, name: str) -> ServedModel:
        """Load the file of a model again. Where that fails the old model stays, and the error says why."""
        model = load(name, self.files[name])
        self.models[name] = model
        return model


def names_of(paths: Sequence[str]) -> dict[str, Path]:
    """Names and files of models, given as paths or as name=path; the name of a path is that of its file without the ending."""
    found: dict[str, Path] = {}
    for given in paths:
        name, sign, rest = given.partition("=")
        path = Path(rest if sign and not os.path.exists(given) else given)
        name = name if sign and not os.path.exists(given) else path.stem
        if name in found:
            raise DataError(f"two models are called {name!r}. Give one of them a name of its own: {name}-2={path}.")
        if not name or "/" in name or len(name) > 100:
            raise DataError(f"a model is called by a short name without a slash, and {name!r} is none. Give one: model={path}.")
        found[name] = path
    return found
