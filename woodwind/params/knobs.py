"""The decorator `knobs`, and the words to declare a parameter with.

    @knobs
    class TreeParams:
        max_depth: Annotated[int | None, at_least(1), "Deepest level; None for no limit."] = None

A class with knobs is a dataclass compared by identity, whose parameters are given by name; only one that is declared as `first` may come
without. Its constructor stores what it is given and checks
nothing, as scikit-learn asks; `check` looks at the values when `fit` is called.
"""

import dataclasses
import functools
import inspect
from typing import Any, TypeVar, dataclass_transform, get_type_hints

from woodwind.base.errors import ParameterNameError
from woodwind.params.bounds import CountOrShare, First, NotZero, OneOf, Range, Spelled
from woodwind.params.describe import declared, fill
from woodwind.params.unknown import unknown_parameters

__all__ = ["above", "at_least", "between", "count_or_share", "first", "inside", "knobs", "not_zero", "one_of", "share", "spelled"]

C = TypeVar("C", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False)
def knobs(cls: C) -> C:
    """Make a class of annotated defaults a group of parameters, or an estimator that has them.

    A subclass changes a default by naming it: `max_bins = None`. Type, bounds and words stay as declared.
    """
    _inherit_annotations(cls)
    for name, kind in get_type_hints(cls, include_extras=True).items():
        if name in inspect.get_annotations(cls) and is_first(kind):
            setattr(cls, name, dataclasses.field(default=getattr(cls, name), kw_only=False))
    dataclasses.dataclass(kw_only=True, eq=False, repr=False)(cls)  # changes the class in place
    if hasattr(cls, "set_params"):
        _answer_unknown_names(cls)
    _order_signature(cls)
    fill(cls)
    return cls


def at_least(low: float) -> Range:
    """Numbers from `low` on."""
    return Range(low)


def above(low: float) -> Range:
    """Numbers larger than `low`."""
    return Range(low, low_is_in=False)


def between(low: float, high: float) -> Range:
    """Numbers from `low` to `high`, both allowed."""
    return Range(low, high)


def inside(low: float, high: float) -> Range:
    """Numbers between `low` and `high`, neither allowed."""
    return Range(low, high, low_is_in=False, high_is_in=False)


def share() -> Range:
    """A part of all: above 0, and 1 for all."""
    return Range(0, 1, low_is_in=False)


def count_or_share() -> CountOrShare:
    """An integer counts; a fraction is a share of all."""
    return CountOrShare()


def not_zero() -> NotZero:
    """Any number but zero."""
    return NotZero()


def first() -> First:
    """May be given without its name, where scikit-learn allows it too; of the parameters of an estimator at most one."""
    return First()


def is_first(kind: Any) -> bool:
    """Whether a parameter was declared so."""
    return any(isinstance(note, First) for note in getattr(kind, "__metadata__", ()))


def one_of(*options: str) -> OneOf:
    """Strings from a list."""
    return OneOf(options)


def spelled(text: str) -> Spelled:
    """Words for a kind that the type alone does not describe."""
    return Spelled(text)


def _inherit_annotations(cls: type) -> None:
    """Give a default that the class body changes the annotation under which the parameter was declared."""
    own = inspect.get_annotations(cls)
    known: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        if dataclasses.is_dataclass(base):
            known |= get_type_hints(base, include_extras=True)
    cls.__annotations__ = own | {name: known[name] for name in cls.__dict__ if name in known and name not in own}


def _answer_unknown_names(cls: type) -> None:
    """Let the constructor of an estimator say what a name that it does not have is called here, and that values have names."""
    plain: Any = cls.__init__  # type: ignore[misc]
    valid = [knob.name for knob in declared(cls)]
    loose = sum(not field.kw_only for field in dataclasses.fields(cls))

    @functools.wraps(plain)
    def init(self: Any, *given: Any, **named: Any) -> None:
        owner = type(self).__name__
        unknown = {name: value for name, value in named.items() if name not in valid}
        if unknown:
            raise unknown_parameters(owner, unknown, valid, fit_names(type(self)))
        if len(given) > loose:
            raise ParameterNameError(
                f"{owner}: {len(given) - loose} of the values came without a name. Give each with its name, as in "
                f"{owner}({valid[0]}=...). There are {', '.join(valid)}."
            )
        plain(self, *given, **named)

    cls.__init__ = init  # type: ignore[misc]


def fit_names(cls: type) -> list[str]:
    """The arguments of `fit` beside the table and its target."""
    return [name for name in inspect.signature(cls.fit).parameters if name not in ("self", "X", "y")] if hasattr(cls, "fit") else []


def _order_signature(cls: type) -> None:
    """Show every parameter with its real default and its plain type, in reading order."""
    fields: Any = cls
    loose = {field.name for field in dataclasses.fields(fields) if not field.kw_only}
    by_position, by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    named = [
        inspect.Parameter(k.name, by_position if k.name in loose else by_name, default=k.default, annotation=k.kind) for k in declared(cls)
    ]
    named.sort(key=lambda parameter: parameter.kind)
    itself = inspect.Parameter("self", by_position)
    init: Any = cls.__init__  # type: ignore[misc]
    init.__signature__ = inspect.Signature([itself, *named], return_annotation=None)
