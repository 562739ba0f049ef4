"""Does a value fit the annotation of the field that it is to stand in? A small reader of annotations, stricter than Python itself."""

import functools
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

import numpy as np

# A whole number will do where a number is asked for; a truth value is neither.
WHOLE = (int, np.integer)
NUMBERS = (int, float, np.integer, np.floating)
EXACT = {bool: (bool, np.bool_), int: WHOLE, float: NUMBERS, str: (str,), bytes: (bytes,)}


def fits(value: Any, hint: Any) -> bool:  # noqa: PLR0911
    """Whether the value is what the annotation says, all the way down."""
    hint = unaliased(hint)
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and fits_dtype(value.dtype, parts)
    if origin is not None:
        return fits_container(value, origin, parts)
    if hint in EXACT:
        return isinstance(value, EXACT[hint]) and (hint is bool or not isinstance(value, bool | np.bool_))
    if getattr(hint, "_is_protocol", False):
        return all(hasattr(value, name) for name in promised(hint))
    return isinstance(hint, type) and isinstance(value, hint)


def unaliased(hint: Any) -> Any:
    """What a type alias of Python 3.12 stands for, with its parameters filled in: `NDArray` is one from NumPy 2.5 on."""
    origin = get_origin(hint) or hint
    while hasattr(origin, "__value__") and hasattr(origin, "__type_params__"):
        parts = get_args(hint)
        hint = origin.__value__[parts] if parts else origin.__value__
        origin = get_origin(hint) or hint
    return hint


def fits_dtype(dtype: np.dtype[Any], parts: tuple[Any, ...]) -> bool:
    """Whether an array is of the type of `NDArray[...]`."""
    wanted = get_args(parts[1])[0] if len(parts) > 1 else Any
    return wanted is Any or (isinstance(wanted, type) and issubclass(dtype.type, wanted))


def fits_container(value: Any, origin: Any, parts: tuple[Any, ...]) -> bool:
    """Tuples of a fixed and of any length, lists, sequences, dictionaries, and whatever else is generic."""
    if origin is tuple:
        if len(parts) == 2 and parts[1] is Ellipsis:
            return type(value) is tuple and all(fits(item, parts[0]) for item in value)
        return isinstance(value, tuple) and len(value) == len(parts) and all(map(fits, value, parts))
    if origin in (list, Sequence):
        kinds = (list,) if origin is list else (list, tuple)
        return isinstance(value, kinds) and all(fits(item, parts[0]) for item in value)
    if origin in (set, frozenset):
        return type(value) is origin and all(fits(item, parts[0]) for item in value)
    if origin in (dict, Mapping):
        return type(value) is dict and all(fits(key, parts[0]) and fits(item, parts[1]) for key, item in value.items())
    return isinstance(origin, type) and isinstance(value, origin)


@functools.cache
def promised(protocol: type) -> list[str]:
    """The names that a protocol asks for."""
    own = [one for one in protocol.__mro__ if getattr(one, "_is_protocol", False)]
    names = {name for one in own for name in (*vars(one), *inspect.get_annotations(one))}
    return sorted(name for name in names if not name.startswith("_"))


def is_class_variable(hint: Any) -> bool:
    """Whether an annotation is of the class and not of its instances."""
    return hint is ClassVar or get_origin(hint) is ClassVar


def spelt(hint: Any) -> str:
    """An annotation in few words."""
    return str(getattr(hint, "__name__", hint) if not get_args(hint) else hint).replace("typing.", "")
