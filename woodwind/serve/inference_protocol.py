"""The Open Inference Protocol, version 2: tensors in, tensors out (https://github.com/kserve/open-inference-protocol).

Each column of the table is one tensor of shape [n] or [n, 1]; a model whose columns are all numbers also takes one tensor of shape
[n, columns], whatever its name. A missing value is null.
"""

import math
from collections.abc import Callable
from typing import Any

from woodwind import __version__
from woodwind.data.tables.convert import NUMBER
from woodwind.data.tables.json_values import ANY, described, short
from woodwind.serve.bodies import RequestError, keys_of, truth
from woodwind.serve.plain_json import check_count, check_names, checked, intervals_of, read_interval
from woodwind.serve.served_models import CLASSIFICATION, Predicted, ServedModel
from woodwind.tree.shap_result import Explanation

PREDICTION, PROBABILITIES, LOWER, UPPER, CONTRIBUTIONS, BASE = "prediction", "probabilities", "lower", "upper", "contributions", "base"
INTEGERS = {f"{kind}{bits}": (0 if kind == "UINT" else -(2 ** (bits - 1)), 2 ** (bits - (kind == "INT")) - 1)
            for kind in ("UINT", "INT") for bits in (8, 16, 32, 64)}  # fmt: skip
FLOATS = {"FP16": 65504.0, "FP32": 3.4028234663852886e38, "FP64": math.inf}
DATATYPES = ("BOOL", *INTEGERS, *FLOATS, "BYTES")
PARAMETERS = ("explain", "interval")
# Axes of a tensor: rows and columns.
MOST_AXES = 2


def server_metadata() -> dict[str, Any]:
    """What the server is."""
    return {"name": "woodwind", "version": __version__, "extensions": []}


def model_metadata(model: ServedModel) -> dict[str, Any]:
    """What the model reads and what it gives."""
    return {
        "name": model.name,
        "versions": [model.version],
        "platform": "woodwind",
        "inputs": [{"name": column.name, "datatype": column.datatype, "shape": [-1]} for column in model.columns],
        "outputs": [
            {"name": PREDICTION, "datatype": label_type(model), "shape": [-1]},
            *([{"name": PROBABILITIES, "datatype": "FP64", "shape": [-1, len(model.classes)]}] if model.classes else []),
        ],
    }


def read_infer(body: Any, model: ServedModel, most_rows: int) -> tuple[list[list[Any]], dict[str, Any]]:
    """The rows of a request, and what else it asks for: id, outputs, explain, interval."""
    if not isinstance(body, dict):
        raise RequestError(f"the body must be an object with inputs, but it is {described(body)}.")
    keys_of(body, ("id", "parameters", "inputs", "outputs"), "the body")
    inputs = body.get("inputs")
    if not isinstance(inputs, list) or not inputs:
        raise RequestError(f"the field inputs must be a list of tensors, but it is {described(inputs) if inputs != [] else 'empty'}.")
    if not isinstance(body.get("id", ""), str):
        raise RequestError(f"the field id must be text, but it is {described(body['id'])}.")
    parameters = body.get("parameters", {})
    if not isinstance(parameters, dict):
        raise RequestError(f"the field parameters must be an object, but it is {described(parameters)}.")
    # Others are for other servers, and the protocol lets them be.
    asked = {
        "id": body.get("id"),
        "explain": truth(parameters.get("explain", False), "explain"),
        "interval": read_interval(parameters.get("interval")),
        "outputs": read_outputs(body.get("outputs"), model),
    }
    tensors = {}
    for position, given in enumerate(inputs):
        name, shape, data = read_tensor(given, f"input {position}")
        if name in tensors:
            raise RequestError(f"the input {short(name)} comes twice.")
        tensors[name] = shape, data
    return rows_of(tensors, model, most_rows), asked


def read_tensor(given: Any, where: str) -> tuple[str, list[int], list[Any]]:
    """Name, shape and values of a tensor, row by row."""
    if not isinstance(given, dict):
        raise RequestError(f"{where} must be an object, but it is {described(given)}.")
    keys_of(given, ("name", "shape", "datatype", "parameters", "data"), where)
    name = given.get("name")
    if not isinstance(name, str):
        raise RequestError(f"the field name of {where} must be text, but it is {described(name)}.")
    where = f"input {short(name)}"
    if isinstance(given.get("parameters"), dict) and "binary_data_size" in given["parameters"]:
        raise RequestError(f"the parameter binary_data_size of {where} is not supported: send data as JSON.")
    shape, kind = given.get("shape"), given.get("datatype")
    if not isinstance(shape, list) or not all(type(one) is int and 0 <= one < 2**31 for one in shape) or not 1 <= len(shape) <= MOST_AXES:
        raise RequestError(f"the field shape of {where} must be one or two whole numbers, such as [1] or [1, 4].")
    if not isinstance(kind, str) or kind not in DATATYPES:
        raise RequestError(f"the field datatype of {where} must be one of {', '.join(DATATYPES)}, but it is {described(kind)}.")
    if not isinstance(given.get("data"), list):
        raise RequestError(f"the field data of {where} must be a list, but it is {described(given.get('data'))}.")
    data = flat(given["data"], shape, where)
    if len(data) != math.prod(shape):
        raise RequestError(f"the field data of {where} has {len(data):,} values, and its shape {shape} asks for {math.prod(shape):,}.")
    check = checker(kind, where)
    return name, shape, [None if value is None else check(value) for value in data]


def flat(data: list[Any], shape: list[int], where: str) -> list[Any]:
    """Values in one list: they may come so, or as lists of the last axis."""
    if len(shape) < MOST_AXES or not any(isinstance(one, list) for one in data):
        return data
    for one in data:
        if not isinstance(one, list) or len(one) != shape[1]:
            raise RequestError(f"the field data of {where} must hold lists of {shape[1]} values, as its shape says.")
    return [value for one in data for value in one]


def checker(kind: str, where: str) -> Callable[[Any], Any]:
    """What lets in the values of a type, and refuses others."""

    def unfit(value: Any) -> RequestError:
        return RequestError(f"the field data of {where} must hold {kind}, but it has {described(value)}.")

    def of_integer(value: Any) -> Any:
        low, high = INTEGERS[kind]
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not low <= value <= high:
            raise unfit(value)
        return value

    def of_float(value: Any) -> Any:
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= FLOATS[kind]:
            raise unfit(value)
        return value

    def of_type(value: Any) -> Any:
        if not isinstance(value, bool if kind == "BOOL" else str):
            raise unfit(value)
        return value

    return of_integer if kind in INTEGERS else of_float if kind in FLOATS else of_type


def rows_of(tensors: dict[str, tuple[list[int], list[Any]]], model: ServedModel, most_rows: int) -> list[list[Any]]:
    """Tensors as rows of the model."""
    only = next(iter(tensors))
    if len(tensors) == 1 and only not in model.position_of and all(column.kind in (NUMBER, ANY) for column in model.columns):
        shape, data = tensors[only]
        width = len(model.columns)
        if len(shape) != MOST_AXES or shape[1] != width:
            raise RequestError(f"the field shape of input {short(only)} must be [rows, {width}], one value for each column.")
        check_count(shape[0], most_rows)
        cells = [data[begin : begin + width] for begin in range(0, len(data), width)]
    else:
        check_names(tensors, model, " among the inputs")
        for name, (shape, _) in tensors.items():
            if len(shape) == MOST_AXES and shape[1] != 1:
                raise RequestError(f"the field shape of input {short(name)} must be [rows] or [rows, 1], but it is {shape}.")
        first = model.columns[0].name
        n_rows = tensors[first][0][0]
        for name, (shape, _) in tensors.items():
            if shape[0] != n_rows:
                raise RequestError(f"input {short(name)} has {shape[0]:,} rows, and input {short(first)} has {n_rows:,}.")
        check_count(n_rows, most_rows)
        cells = [list(row) for row in zip(*(tensors[column.name][1] for column in model.columns), strict=True)]
    return [
        [checked(column, value, f" in row {number}") for column, value in zip(model.columns, row, strict=True)]
        for number, row in enumerate(cells)
    ]


def read_outputs(given: Any, model: ServedModel) -> list[str] | None:
    """The names of the outputs that are asked for; None for all."""
    if given is None or given == []:
        return None
    known = [PREDICTION, *([PROBABILITIES] if model.task == CLASSIFICATION else []), LOWER, UPPER, CONTRIBUTIONS, BASE]
    if not isinstance(given, list):
        raise RequestError(f"the field outputs must be a list, but it is {described(given)}.")
    names = []
    for one in given:
        name = one.get("name") if isinstance(one, dict) else None
        if name not in known:
            raise RequestError(f"the field outputs must name some of {', '.join(known)}, but it has {described(name)}.")
        names.append(str(name))
    return names


def infer_answer(model: ServedModel, predicted: Predicted, explanation: Explanation | None, asked: dict[str, Any]) -> dict[str, Any]:
    """The response: tensors of what is predicted."""
    n = len(predicted.values)
    kind = label_type(model)
    outputs = [tensor(PREDICTION, [n], kind, list(map(str, predicted.values)) if kind == "BYTES" else predicted.values)]
    if predicted.proba is not None:
        outputs.append(tensor(PROBABILITIES, list(predicted.proba.shape), "FP64", predicted.proba.ravel().tolist()))
    if asked["interval"] is not None:
        found = [held for _, held in intervals_of(model, predicted, asked["interval"])]
        if model.task == CLASSIFICATION:
            raise RequestError("the parameter interval is for numbers here: ask /predict for sets of labels.")
        outputs += [tensor(name, [n], "FP64", [one[name] for one in found]) for name in (LOWER, UPPER)]
    if explanation is not None:
        values = explanation.values
        outputs.append(tensor(CONTRIBUTIONS, list(values.shape), "FP64", values.ravel().tolist()))
        outputs.append(tensor(BASE, list(explanation.base.shape), "FP64", explanation.base.tolist()))
    if asked["outputs"] is not None:
        absent = [name for name in asked["outputs"] if name not in [one["name"] for one in outputs]]
        if absent:
            needed = "interval" if absent[0] in (LOWER, UPPER) else "explain"
            raise RequestError(f"the output {absent[0]} is there only with the parameter {needed}.")
        outputs = [one for one in outputs if one["name"] in asked["outputs"]]
    made: dict[str, Any] = {"model_name": model.name, "model_version": model.version, "outputs": outputs}
    return made if asked["id"] is None else {**made, "id": asked["id"]}


def tensor(name: str, shape: list[int], datatype: str, data: list[Any]) -> dict[str, Any]:
    """An output."""
    return {"name": name, "shape": shape, "datatype": datatype, "data": data}


def label_type(model: ServedModel) -> str:
    """The type of what is predicted."""
    if not model.classes:
        return "FP64"
    kinds = {type(label) for label in model.classes}
    return {bool: "BOOL", int: "INT64", float: "FP64"}.get(kinds.pop(), "BYTES") if len(kinds) == 1 else "BYTES"
