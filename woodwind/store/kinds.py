"""What a model file can hold beside plain values and arrays: one fixed table of classes, and how they are taken apart and put together.

A file names kinds, never modules or classes: a name that is not in the table is refused. The module of a kind is imported when a file
has such a thing, so that a model of trees loads without scikit-learn.

A dataclass, or a named tuple, is kept field by field. Fields whose names begin with an underscore are caches and left out. On the way back
every field is checked against its annotation and then the whole by its `check()`, if it has one, before anybody uses it. For a class that
is neither, the table names a keeper: `parts(thing)` gives what is kept, `whole(cls, parts)` checks it and gives the thing again.
"""

import importlib
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, NamedTuple, Protocol, cast

from woodwind.base.errors import WoodwindError
from woodwind.store.container import Damage, demand
from woodwind.store.hints import fits, is_class_variable, spelt


class Keeper(Protocol):
    """Takes things of some classes apart and puts them together."""

    def parts(self, thing: Any) -> dict[str, Any]:
        """What is kept of a thing."""

    def whole(self, cls: type, parts: dict[str, Any]) -> Any:
        """The thing, of this class, from what was kept of it; raises Damage where that is impossible."""


class Kind(NamedTuple):
    """A class that files can hold."""

    home: str  # module:class
    keeper: str = ""  # module:name of its keeper; none for a dataclass


def _kinds(module: str, *names: str, keeper: str = "") -> dict[str, Kind]:
    return {name: Kind(f"{module}:{name}", keeper) for name in names}


KINDS: dict[str, Kind] = {
    **_kinds("woodwind.tree.forest", "Forest"),
    **_kinds("woodwind.tree.grove", "Grove"),
    **_kinds("woodwind.tree.leaf_targets", "LeafRows"),
    **_kinds("woodwind.data.schema", "Schema"),
    **_kinds("woodwind.data.fields", "NumberField", "EmptyField", "CategoryField", "TimeField"),
    **_kinds("woodwind.data.categories", "Levels", keeper="woodwind.data.categories:LevelsKeeper"),
    **_kinds("woodwind.data.header", "Header"),
    **_kinds("woodwind.data.matrix_form", "MatrixForm", "NumberPart", "LevelPart"),
    **_kinds("woodwind.data.cuts", "Cuts"),
    **_kinds("woodwind.data.ranks", "Ranking"),
    **_kinds("woodwind.losses.regression", "Squared", "Absolute", "Huber", "Quantile", "Poisson", "Gamma", "Tweedie"),
    **_kinds("woodwind.losses.classification", "LogLoss", "Exponential", "Multinomial"),
}

# By package and name of the class: scikit-learn's classes live in other modules than they are imported from.
_BY_CLASS = {(kind.home.split(".")[0].split(":")[0], kind.home.split(":")[1]): name for name, kind in KINDS.items()}


def kind_of(thing: Any) -> str | None:
    """The kind of a thing; None if it is of a class that files cannot hold, such as a class derived from one that they can."""
    cls = type(thing)
    name = _BY_CLASS.get((cls.__module__.split(".")[0], cls.__qualname__))
    return name if name is not None and class_of(name) is cls else None


def class_of(name: str) -> type:
    """The class of a kind."""
    return cast(type, _found(KINDS[name].home))


def _found(home: str) -> Any:
    module, name = home.split(":")
    return getattr(importlib.import_module(module), name)


def parts_of(name: str, thing: Any) -> dict[str, Any]:
    """What is kept of a thing of this kind."""
    keeper = KINDS[name].keeper
    if keeper:
        return cast(Keeper, _found(keeper)).parts(thing)
    return {field: getattr(thing, field) for field in hints_of(type(thing))}


def whole_of(name: str, parts: dict[str, Any]) -> Any:
    """The thing of this kind that these parts make, proved sound."""
    cls, keeper = class_of(name), KINDS[name].keeper
    try:
        thing = cast(Keeper, _found(keeper)).whole(cls, parts) if keeper else _from_fields(name, cls, parts)
        if is_dataclass(cls) and hasattr(cls, "check"):
            thing.check()
    except WoodwindError as error:
        raise Damage(f"the file is damaged: {name}: {error}") from error
    # Parts that fit their annotations and yet cannot be put together are damage, whatever NumPy or Python say about them.
    except (ArithmeticError, AttributeError, LookupError, MemoryError, OverflowError, TypeError, ValueError) as error:
        raise Damage(f"the file is damaged: {name} cannot be put together from its parts ({type(error).__name__}: {error}).") from error
    return thing


def _from_fields(name: str, cls: type, parts: dict[str, Any]) -> Any:
    check_parts(name, parts, hints_of(cls))
    return cls(**parts)


def check_parts(name: str, parts: dict[str, Any], hints: dict[str, Any]) -> None:
    """All parts are there, no others are, and each fits its annotation."""
    missing, extra = hints.keys() - parts.keys(), parts.keys() - hints.keys()
    demand(not missing, f"{name} has no {', '.join(sorted(missing))}")
    demand(not extra, f"{name} has parts that it should not have: {', '.join(sorted(extra))[:100]}")
    for part, hint in hints.items():
        demand(fits(parts[part], hint), f"{part} of {name} is not what it should be ({spelt(hint)})")


_HINTS: dict[type, dict[str, Any]] = {}


def hints_of(cls: type) -> dict[str, Any]:
    """The fields of a dataclass or named tuple that are kept, with their annotations."""
    if cls not in _HINTS:
        if is_dataclass(cls):
            found = {field.name: field.type for field in fields(cls) if field.init and not _is_cache(field)}
        else:
            found = {field: cls.__annotations__[field] for field in cls._fields}  # type: ignore[attr-defined]
        _HINTS[cls] = {field: hint for field, hint in found.items() if not is_class_variable(hint)}
    return _HINTS[cls]


def _is_cache(field: Any) -> bool:
    return field.name.startswith("_") and (field.default is not MISSING or field.default_factory is not MISSING)
