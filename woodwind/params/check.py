"""One validator, one wording: owner, parameter, what is allowed, what came, what to do."""

import inspect
import reprlib
from typing import Any, Literal, TypeVar, get_origin

from woodwind.base.did_you_mean import did_you_mean
from woodwind.base.errors import ParameterError
from woodwind.params.bounds import alternatives, fits, is_number, plain
from woodwind.params.describe import Knob, declared

G = TypeVar("G")

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def check(owner: object) -> dict[str, Any]:
    """The values of all parameters of `owner` as plain Python kinds, or an error that names the first wrong one."""
    return {knob.name: _checked(owner, knob, plain(getattr(owner, knob.name))) for knob in declared(type(owner))}


def pick(group: type[G], values: dict[str, Any]) -> G:
    """The checked values of one group, as an object of that group."""
    return group(**{knob.name: values[knob.name] for knob in declared(group)})


def _checked(owner: object, knob: Knob, value: Any) -> Any:
    if not _is_allowed(knob, value):
        came = "None" if value is None else f"{_short.repr(value)} ({type(value).__name__})"
        raise ParameterError(f"{type(owner).__name__}: {knob.name} must be {knob.allowed()}, but it is {came}. {_advice(knob, value)}")
    # A kernel compiles once for each kind of number: 1 becomes 1.0 where no integer is meant.
    parts = alternatives(knob.kind)
    return float(value) if is_number(value) and float in parts and int not in parts else value


def _is_allowed(knob: Knob, value: Any) -> bool:
    return any(fits(value, part) and _is_within(knob, part, value) for part in alternatives(knob.kind))


def _is_within(knob: Knob, part: Any, value: Any) -> bool:
    """Limits of the declaration, for a value that is of one of its kinds."""
    if get_origin(part) is Literal:
        return True
    if part is str and knob.names:
        return value in knob.names
    return all(bound.allows(value) for bound in knob.bounds)


def _advice(knob: Knob, value: Any) -> str:
    """What to do next: the nearest spelling, the number that was meant, or else the default."""
    if isinstance(value, str) and (meant := did_you_mean(value, knob.options())):
        return meant
    number = _meant(value)
    if number is not None and _is_allowed(knob, number):
        return f"Write {knob.name}={number!r}."
    return "It has no default." if knob.default is inspect.Parameter.empty else f"The default is {knob.name}={knob.default!r}."


def _meant(value: Any) -> float | None:
    """The number that a string or a whole fraction stands for."""
    if not isinstance(value, str | float):
        return None
    try:
        number = float(value)
        return int(number) if number.is_integer() else number
    except (ValueError, OverflowError):
        return None
