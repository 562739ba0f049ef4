"""What is predicted for a name that is not a parameter, or not an argument of `fit`: ours, the nearest, or which there are."""

import functools
import inspect
import reprlib
from collections.abc import Callable, Collection
from typing import Any, TypeVar, cast

from woodwind.base.did_you_mean import nearest
from woodwind.base.errors import ParameterNameError
from woodwind.params.aliases import index, libraries_of
from woodwind.params.no_counterpart import LIBRARIES, Row
from woodwind.params.translation import translated

F = TypeVar("F", bound=Callable[..., Any])

# Names are longer than values, and have more letters in common by chance.
ALIKE = 0.7

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60
_short.maxdict = 6


def unknown_parameters(owner: str, given: dict[str, Any], valid: Collection[str], fit_names: Collection[str] = ()) -> ParameterNameError:
    """The error for names that the constructor of `owner` does not have."""
    sentences = [_of_constructor(owner, name, value, valid, fit_names) for name, value in given.items()]
    return ParameterNameError(f"{owner}: {_joined(sentences)}{_way_out(given, valid)}")


def unknown_arguments(owner: str, given: dict[str, Any], valid: Collection[str], parameters: Collection[str]) -> ParameterNameError:
    """The error for names that `fit` of `owner` does not have."""
    sentences = [_of_fit(owner, name, value, valid, parameters) for name, value in given.items()]
    return ParameterNameError(f"{owner}.fit: {_joined(sentences)}")


def unknown_options(owner: str, given: dict[str, Any], valid: Collection[str]) -> ParameterNameError:
    """The error for names that a function does not have, which takes parameters and arguments alike."""
    sentences = [_known_meaning(name, value, valid, of_fit=True) or _nearest(owner, name, valid, "option") for name, value in given.items()]
    return ParameterNameError(f"{owner}: {_joined(sentences)}")


def known_arguments(method: F) -> F:
    """A `fit` that answers arguments it does not have by what they are called here."""
    signature = inspect.signature(method)
    names = list(signature.parameters)[1:]

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **named: Any) -> Any:
        unknown = {name: value for name, value in named.items() if name not in names}
        if unknown:
            raise unknown_arguments(type(self).__name__, unknown, names[2:], list(self.get_params(deep=False)))
        return method(self, *args, **named)

    checked.__signature__ = signature  # type: ignore[attr-defined]
    return cast("F", checked)


def _of_constructor(owner: str, name: str, value: Any, valid: Collection[str], fit_names: Collection[str]) -> str:
    if name in fit_names:
        return f"{name} is given to fit: fit(X, y, {name}=...)."
    if predicted := _known_meaning(name, value, valid):
        return predicted
    if row := next((row for row in index(of_fit=True).get(name, ()) if row.name_in(fit_names)), None):
        ours = row.name_in(fit_names)
        return f"{name} is called {ours} here, and is given to fit: fit(X, y, {ours}=...)."
    return _nearest(owner, name, valid)


def _of_fit(owner: str, name: str, value: Any, valid: Collection[str], parameters: Collection[str]) -> str:
    rows = index(of_fit=True).get(name, ())
    for row in rows:
        if ours := row.name_in(valid):
            answer = translated(row.rule, ours, value, _library(row, name))
            return f"{name} is called {ours} here. {answer if isinstance(answer, str) else row.note}".rstrip()
    if name in parameters:
        return f"{name} is given to the constructor: {owner}({name}={_short.repr(value)})."
    if predicted := _known_meaning(name, value, parameters):
        return f"{predicted} Parameters are given to the constructor."
    if rows:
        return f"there is no {name}. {rows[0].note or f'{rows[0].ours} is an argument of other estimators, such as gradient boosting.'}"
    return _nearest(f"{owner}.fit", name, valid, "argument")


def _known_meaning(name: str, value: Any, valid: Collection[str], of_fit: bool = False) -> str:
    """What the table predicts for a name; nothing where it is not in it. With `of_fit`, arguments of `fit` are looked for, too."""
    rows = (*index().get(name, ()), *(index(of_fit=True).get(name, ()) if of_fit else ()))
    meant = [row for row in rows if row.name_in(valid)]
    if meant:
        predicted = list(dict.fromkeys(_meaning(row, name, value, valid) for row in meant))
        if len(predicted) == 1:
            return predicted[0]
        return " ".join(f"In {' and '.join(libraries_of(row, name))}, {_meaning(row, name, value, valid)}" for row in meant)
    without = next((row for row in rows if not row.ours), None)
    if without is not None:
        if without.rule.startswith("only ") and translated(without.rule, "", value, _library(without, name)) == {}:
            return f"{name}={value!r} need not be said: it is what is done here."
        return f"{name} has no counterpart. {without.note}"
    if rows:
        ours = rows[0].ours.split()[0]
        called = "a parameter" if ours == name else f"called {ours}"
        members = " Members may have it." if {"estimator", "estimators"}.intersection(valid) else ""
        return f"{name} is {called} in other estimators of Woodwind; this one has none like it.{members}"
    return ""


def _meaning(row: Row, name: str, value: Any, valid: Collection[str]) -> str:
    """One row as a sentence."""
    ours = row.name_in(valid)
    answer = translated(row.rule, ours, value, _library(row, name))
    if isinstance(answer, str):
        return f"{name} is called {ours} here. {answer}"
    if any("." in key for key in answer):
        kind = {"loss.alpha": f"Quantile({value!r})", "loss.power": f"Tweedie({value!r})"}[next(iter(answer))]
        return f"{name} is part of the loss here: write loss=woodwind.losses.{kind}."
    there = {key: one for key, one in answer.items() if key in valid}
    if not there:
        return f"{name}={_short.repr(value)} need not be said: it is what is done here."
    if list(there) == [ours] and _is_same(there[ours], value):
        return f"{name} is called {ours} here."
    written = ", ".join(f"{key}={_short.repr(one)}" for key, one in there.items())
    return f"{name} is called {ours} here: write {written}. {row.note}".rstrip()


def _is_same(one: Any, other: Any) -> bool:
    """Whether a value was left as it is; 1 and 1.0 are not the same where one is a count."""
    return one is other or (type(one) is type(other) and isinstance(one, int | float | str) and one == other)


def _nearest(owner: str, name: str, valid: Collection[str], kind: str = "parameter") -> str:
    """The nearest name, among ours and among those that the table knows, or which there are."""
    own = nearest(name, valid, alike=ALIKE)
    if own:
        return f"there is no {kind} {name!r}. Did you mean {own[0]!r}?"
    for other in nearest(name, index(), alike=0.8):
        ours = next((row.name_in(valid) for row in index()[other] if row.name_in(valid)), "")
        if ours:
            return f"there is no {kind} {name!r}. Did you mean {other!r}? It is called {ours!r} here."
    return f"there is no {kind} {name!r}. {owner} has {', '.join(valid)}."


def _library(row: Row, name: str) -> str:
    """A library that has this name for it."""
    return next((library for library in LIBRARIES if name in row.names(library)), "other")


def _joined(sentences: list[str]) -> str:
    return "\n".join(sentences)


def _way_out(given: dict[str, Any], valid: Collection[str]) -> str:
    """Of several foreign names, how to translate all at once; the table is that of gradient boosting."""
    rows = {name: index().get(name, ()) for name in given}
    owners = [library for library in LIBRARIES if all(any(name in row.names(library) for row in found) for name, found in rows.items())]
    if len(given) < 2 or not owners or "max_features_level" not in valid:
        return ""
    return f"\nwoodwind.translate({owners[0]!r}, {{...}}) translates all parameters of {LIBRARIES[owners[0]]} at once."
