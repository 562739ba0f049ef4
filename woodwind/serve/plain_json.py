"""The plain endpoint: rows by the names of their columns, predictions as objects."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from woodwind.base.did_you_mean import did_you_mean
from woodwind.base.errors import DataError
from woodwind.data.tables.convert import CATEGORY
from woodwind.data.tables.json_values import MOST_LETTERS, described, short
from woodwind.serve.bodies import RequestError, keys_of, truth
from woodwind.serve.served_models import Predicted, ServedModel
from woodwind.tree.shap_result import Explanation

ROW, ROWS, COLUMNS = "row", "rows", "columns"
OPTIONS = ("model", "explain", "probabilities", "interval")
# Categories of a column that /schema lists; of more, it says how many there are.
MOST_CATEGORIES = 1000
# Rows in which a sentence counts, and sentences of warning in an answer.
MOST_WARNINGS = 10


@dataclass(frozen=True, eq=False)
class PlainRequest:
    """What is asked for."""

    given: Any  # an object, a list of objects, or an object of lists
    shape: str  # row, rows or columns
    model: str | None = None
    explain: bool = False
    probabilities: bool = True
    interval: float | None = None


def read_request(body: Any, asked: Mapping[str, str]) -> PlainRequest:
    """A body in one of its forms. Options stand beside row, rows or columns, or in the address."""
    keys_of(dict(asked), OPTIONS, "the address")
    options: dict[str, Any] = dict(asked)
    shape, given = ROWS if isinstance(body, list) else ROW, body
    if isinstance(body, dict):
        # The values of a row are no lists and no objects: a column may be called "rows".
        forms = [name for name in (ROW, ROWS, COLUMNS) if isinstance(body.get(name), dict | list)]
        if len(forms) > 1:
            raise RequestError(f"the body has {' and '.join(forms)}: give one of them.")
        if forms:
            shape, given = forms[0], body[forms[0]]
            keys_of(body, (shape, *OPTIONS), "the body")
            options |= {name: body[name] for name in OPTIONS if name in body}
    elif not isinstance(body, list):
        raise RequestError(f"the body must be a row, a list of rows, or an object with rows or columns, but it is {described(body)}.")
    wanted: type = list if shape == ROWS else dict
    if not isinstance(given, wanted):
        raise RequestError(f"the field {shape} must be {'a list' if wanted is list else 'an object'}, but it is {described(given)}.")
    return PlainRequest(given, shape, *read_options(options))


def read_options(options: Mapping[str, Any]) -> tuple[str | None, bool, bool, float | None]:
    """Model, explain, probabilities and interval, checked."""
    model = options.get("model")
    if model is not None and not isinstance(model, str):
        raise RequestError(f"the field model must be the name of a model as text, but it is {described(model)}.")
    explain, proba = truth(options.get("explain", False), "explain"), truth(options.get("probabilities", True), "probabilities")
    return model, explain, proba, read_interval(options.get("interval"))


def read_interval(given: Any) -> float | None:
    """The share of new rows that intervals are to hold."""
    if given is None:
        return None
    try:
        level = float(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else math.nan
    except (ValueError, OverflowError):
        level = math.nan
    if not 0.0 < level < 1.0:
        raise RequestError(f"the field interval must be a share between 0 and 1 such as 0.9, but it is {described(given)}.")
    return level


def read_rows(request: PlainRequest, model: ServedModel, most_rows: int) -> list[list[Any]]:
    """The rows that are asked about, checked value by value."""
    if request.shape == COLUMNS:
        return _rows_of_columns(request.given, model, most_rows)
    rows = [request.given] if request.shape == ROW else request.given
    check_count(len(rows), most_rows)
    several = request.shape == ROWS
    return [_row(row, model, f" in row {position}" if several else "") for position, row in enumerate(rows)]


def check_count(n_rows: int, most_rows: int) -> None:
    """There are rows, and not too many."""
    if n_rows == 0:
        raise RequestError("there are no rows: send one at least.")
    if n_rows > most_rows:
        raise RequestError(f"there are {n_rows:,} rows, and a request may have {most_rows:,}. Send them in parts.", 413)


def _row(row: Any, model: ServedModel, where: str) -> list[Any]:
    """One row, in the order of the columns."""
    if not isinstance(row, dict):
        raise RequestError(f"a row must be an object of values by column{where}, but it is {described(row)}.")
    if row.keys() != model.position_of.keys():
        check_names(row, model, where)
    return [checked(column, row[column.name], where) for column in model.columns]


def checked(column: Any, given: Any, where: str) -> Any:
    """A value as its column holds it."""
    try:
        return column.value(given)
    except DataError as error:
        raise RequestError(f"{str(error).removesuffix('.')}{where}.") from None


def check_names(given: Mapping[str, Any], model: ServedModel, where: str) -> None:
    """There is a value for each column, and for nothing else."""
    for name in given:
        if name not in model.position_of:
            near = did_you_mean(name[: 2 * MOST_LETTERS], [column.name for column in model.columns])
            hint = " Put it beside row." if name in OPTIONS else f" {near}" if near else ""
            raise RequestError(f"there is no column {short(name)}{where}.{hint}")
    missing = [column.name for column in model.columns if column.name not in given]
    if missing:
        more = f", nor for {len(missing) - 1} others" if len(missing) > 1 else ""
        raise RequestError(f"there is no value for column {short(missing[0])}{more}{where}: give null where it is missing.")


def _rows_of_columns(given: dict[str, Any], model: ServedModel, most_rows: int) -> list[list[Any]]:
    """Lists of values by column, as rows."""
    check_names(given, model, "")
    for name, values in given.items():
        if not isinstance(values, list):
            raise RequestError(f"column {short(name)} must be a list of values, but it is {described(values)}.")
    sizes = {name: len(values) for name, values in given.items()}
    first = model.columns[0].name
    for name, size in sizes.items():
        if size != sizes[first]:
            raise RequestError(f"column {short(name)} has {size:,} values, and column {short(first)} has {sizes[first]:,}.")
    check_count(sizes[first], most_rows)
    read = [[checked(column, one, f" in row {row}") for row, one in enumerate(given[column.name])] for column in model.columns]
    return [list(row) for row in zip(*read, strict=True)]


def unseen(model: ServedModel, rows: list[list[Any]]) -> list[tuple[str, Any, int]]:
    """Column, value and number of rows of categories that training never saw."""
    found: dict[tuple[str, Any], int] = {}
    for position, column in enumerate(model.columns):
        if column.kind == CATEGORY:
            for row in rows:
                if column.is_unseen(row[position]):
                    key = (column.name, row[position])
                    found[key] = found.get(key, 0) + 1
    return [(name, value, count) for (name, value), count in found.items()]


def warnings_of(found: list[tuple[str, Any, int]]) -> list[str]:
    """Sentences about categories that training never saw."""
    words = [f"column {short(name)} has {described(value)}, which training never saw." for name, value, _ in found[:MOST_WARNINGS]]
    return words + ([f"{len(found) - MOST_WARNINGS} more values were never seen."] if len(found) > MOST_WARNINGS else [])


def predictions(model: ServedModel, request: PlainRequest, predicted: Predicted, explanation: Explanation | None) -> list[dict[str, Any]]:
    """An object for each row."""
    found: list[dict[str, Any]] = [{"prediction": value} for value in predicted.values]
    if request.probabilities and predicted.proba is not None:
        names = [str(label) for label in model.classes]
        for one, proba in zip(found, predicted.proba.tolist(), strict=True):
            one["probabilities"] = dict(zip(names, proba, strict=True))
    if request.interval is not None:
        for one, (name, held) in zip(found, intervals_of(model, predicted, request.interval), strict=True):
            one[name] = held
    if explanation is not None:
        for position, one in enumerate(found):
            one["explanation"] = explained(explanation, position)
    return found


def intervals_of(model: ServedModel, predicted: Predicted, level: float) -> list[tuple[str, dict[str, Any]]]:
    """For each row an interval, or a set of labels, that holds the truth of such a share of new rows."""
    if model.intervals is None:
        raise RequestError("the field interval cannot be answered: the model knows nothing of its errors on rows held out.")
    try:
        asked = model.intervals.coverage(level, "interval")
        if predicted.proba is None or predicted.decided is None:
            low, high = model.intervals.bounds(np.array(predicted.values, np.float64), asked)
            pairs = zip(low.tolist(), high.tolist(), strict=True)
            return [("interval", {"level": level, "lower": finite(one), "upper": finite(two)}) for one, two in pairs]
        inside = model.intervals.sets(predicted.proba, asked, predicted.decided)
    except DataError as error:
        raise RequestError(f"the field interval cannot be answered: {error}") from None
    return [("set", {"level": level, "labels": [model.classes[place] for place in np.flatnonzero(row)]}) for row in inside]


def finite(value: float) -> float | None:
    """A number, or null where a bound is infinite."""
    return value if math.isfinite(value) else None


def explained(explanation: Explanation, row: int) -> dict[str, Any]:
    """What each column brings to each score of a row, the largest first."""
    values = explanation.values[row]
    cells = explanation.cells.row(row) if explanation.cells is not None else ("",) * len(explanation.names)
    order = np.argsort(-np.abs(values).max(axis=1), kind="stable").tolist()
    return {
        "scale": explanation.scale,
        "outputs": list(explanation.outputs),
        "base": explanation.base.tolist(),
        "scores": explanation.scores[row].tolist(),
        "exact_share": explanation.exact_share,
        "columns": [{"column": explanation.names[c], "value": cells[c], "contributions": values[c].tolist()} for c in order],
    }


def schema_of(model: ServedModel) -> dict[str, Any]:
    """What a client has to know to ask."""
    columns = []
    for column in model.columns:
        about: dict[str, Any] = {"name": column.name, "kind": column.kind, "datatype": column.datatype}
        if column.kind == CATEGORY:
            about["n_categories"] = len(column.categories)
            if len(column.categories) <= MOST_CATEGORIES:
                about["categories"] = [finite(one) if isinstance(one, float) else one for one in column.categories]
        if column.zone is not None:
            about["time_zone"] = column.zone
        columns.append(about)
    return {
        "model": model.name, "version": model.version, "task": model.task, "target": model.target, "classes": list(model.classes),
        "columns": columns, "intervals": model.intervals is not None, "explains": model.explains, "example": model.example,
    }  # fmt: skip
