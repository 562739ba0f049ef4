"""The declared parameters of a class as records, as a section of its docstring, and as a table."""

import dataclasses
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from woodwind.base.docstrings import filled_text
from woodwind.params.bounds import Bound, OneOf, Spelled, alternatives, noun

WIDTH = 100

_known: "WeakKeyDictionary[type, tuple[Knob, ...]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Knob:
    """One parameter: everything that is known about it, from its one declaration."""

    name: str
    kind: Any
    bounds: tuple[Bound, ...]
    names: tuple[str, ...]
    spelled: str
    words: str
    default: Any

    def options(self) -> tuple[str, ...]:
        """All strings that are allowed by name."""
        literals = [name for part in alternatives(self.kind) if get_origin(part) is Literal for name in get_args(part)]
        return (*literals, *self.names)

    def allowed(self) -> str:
        """What the value may be, as it follows 'must be'."""
        if self.spelled:
            return self.spelled
        texts = [text for part in alternatives(self.kind) for text in self._texts(part)]
        return f"{', '.join(texts[:-1])} or {texts[-1]}" if len(texts) > 1 else texts[0]

    def _texts(self, part: Any) -> Sequence[str]:
        if get_origin(part) is Literal:
            return [repr(name) for name in get_args(part)]
        if part is str and self.names:
            return [repr(name) for name in self.names]
        if part is bool:
            return ["True", "False"]
        text = noun(part)
        for bound in self.bounds:
            text = bound.words(text) if part in (int, float) else text
        return [text]


def declared(cls: type) -> tuple[Knob, ...]:
    """The parameters of a class, in the order in which its bases name them, each where it was first declared.

    A dataclass orders its fields from the last base to the first; a reader goes the other way.
    """
    if cls not in _known:
        _known[cls] = tuple(_declared(cls))
    return _known[cls]


def _declared(cls: type) -> Iterator[Knob]:
    hints = get_type_hints(cls, include_extras=True)
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    bodies = {base: inspect.get_annotations(base) for base in cls.__mro__ if dataclasses.is_dataclass(base)}
    first = {name: base for base, names in bodies.items() for name in names}
    names = [name for base, body in bodies.items() for name in body if first[name] is base and name in fields]
    return (_knob(fields[name], hints[name]) for name in names)


def _knob(field: "dataclasses.Field[Any]", hint: Any) -> Knob:
    kind, *notes = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    return Knob(
        name=field.name,
        kind=kind,
        bounds=tuple(note for note in notes if isinstance(note, Bound)),
        names=tuple(name for note in notes if isinstance(note, OneOf) for name in note.names),
        spelled="".join(note.text for note in notes if isinstance(note, Spelled)),
        words=" ".join(note for note in notes if isinstance(note, str)),
        default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
    )


def section(cls: type) -> str:
    """The parameters as the section of a docstring in the manner of NumPy."""
    return f"Parameters\n----------\n{entries(cls)}"


def entries(cls: type) -> str:
    """The same without its heading."""
    lines = []
    for knob in declared(cls):
        default = "" if knob.default is inspect.Parameter.empty else f", default={knob.default!r}"
        lines.append(f"{knob.name} : {knob.allowed()}{default}")
        lines += textwrap.wrap(knob.words, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def table(cls: type) -> str:
    """The parameters as a table in Markdown."""
    lines = ["| parameter | may be | default | meaning |", "| --- | --- | --- | --- |"]
    lines += [f"| `{knob.name}` | {knob.allowed()} | `{knob.default!r}` | {knob.words} |" for knob in declared(cls)]
    return "\n".join(lines)


def fill(cls: type) -> None:
    """Put the parameters where the docstring says {parameters}, and what classes have in common where it names that.

    What they have in common is the `_docstring_parts` of a base: texts by name.
    """
    text = inspect.cleandoc(cls.__doc__ or "")
    if "{parameters}" in text:
        cls.__doc__ = filled_text(text, {"parameters": section(cls), **getattr(cls, "_docstring_parts", {})})
