"""Constraints on input columns as constraints on the features of the engine."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.data.schema import Schema


def monotonic(given: Any, schema: Schema, owner: str) -> NDArray[np.int64] | None:
    """-1, 0 or 1 for each feature; None where nothing is constrained."""
    if given is None:
        return None
    by_column: NDArray[np.int64] = np.zeros(schema.n_inputs, np.int64)
    if isinstance(given, dict):
        pairs = [(column_place(name, schema, owner, "monotonic_cst"), sign) for name, sign in given.items()]
    else:
        signs = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else None
        if signs is None or len(signs) != schema.n_inputs:
            came = f"{len(signs)} values" if signs is not None else repr(given)
            raise ParameterError(
                f"{owner}: monotonic_cst must be a dict from column to sign, or one of -1, 0 and 1 for each of the {schema.n_inputs} "
                f"columns, not {came}."
            )
        pairs = list(enumerate(signs))
    for place, sign in pairs:
        if isinstance(sign, bool) or sign not in (-1, 0, 1):
            label = _label(place, schema)
            raise ParameterError(f"{owner}: monotonic_cst must be -1, 0 or 1 for each column, but for {label} it is {sign!r}.")
        by_column[place] = sign
    for constrained in np.flatnonzero(by_column).tolist():
        features = schema.features_of(constrained)
        if len(features) > 1 or schema.levels[features[0]] is not None:
            kind = "a date, of which several features are made" if len(features) > 1 else "a category, which has no order"
            label = _label(constrained, schema)
            raise ParameterError(f"{owner}: monotonic_cst is for columns of numbers, and {label} is {kind}. Make it a number first.")
    return by_column[schema.source] if by_column.any() else None


def interactions(given: Any, schema: Schema, owner: str) -> tuple[tuple[int, ...], ...] | None:
    """Groups of features that may stand together on a path; None where all may.

    As in scikit-learn, the columns that no group names form one more group.
    """
    if given is None:
        return None
    columns = range(schema.n_inputs)
    if isinstance(given, str):
        if given not in ("pairwise", "no_interactions"):
            allowed = "None, 'pairwise', 'no_interactions' or groups of columns"
            raise ParameterError(f"{owner}: interaction_cst must be {allowed}, not {given!r}.")
        pairs = given == "pairwise" and schema.n_inputs > 1
        groups: list[set[int]] = [set(pair) for pair in combinations(columns, 2)] if pairs else [{column} for column in columns]
    else:
        if not isinstance(given, Iterable) or any(isinstance(group, str) or not isinstance(group, Iterable) for group in given):
            allowed = "a sequence of groups of columns, such as [{0, 1}, {2}]"
            raise ParameterError(f"{owner}: interaction_cst must be {allowed}, not {given!r}.")
        groups = [{column_place(name, schema, owner, "interaction_cst") for name in group} for group in given]
        rest = set(columns).difference(*groups)
        groups += [rest] if rest else []
    return tuple(tuple(feature for column in sorted(group) for feature in schema.features_of(column)) for group in groups if group)


def column_place(name: Any, schema: Schema, owner: str, what: str) -> int:
    """The place of a column that is given by name or by place."""
    if isinstance(name, str) and name in schema.place_of:
        return schema.place_of[name]
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < schema.n_inputs:
        return int(name)
    known = f"named {', '.join(map(repr, schema.names[:10]))}" if schema.names is not None else "without names"
    there = f"X has {schema.n_inputs} columns, {known}"
    raise ParameterError(f"{owner}: {what} names the column {name!r}, but {there}. Give a name or a place.")


def _label(place: int, schema: Schema) -> str:
    return f"column {place}" if schema.names is None else f"column {schema.names[place]!r}"
