"""What a model file says as a graph of things, which can be changed anywhere and be written again as a file whose sums all hold."""

import functools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.model_files import OpenFile
from woodwind.store.codec import SMALL
from woodwind.store.container import little, raw


@dataclass(eq=False)
class Thing:
    """A thing of a file, its parts JSON in which arrays and things stand as themselves."""

    kind: str
    parts: dict[str, Any]


@dataclass(eq=False)
class Array:
    """An array of a file."""

    values: NDArray[Any]
    turned: bool = False


class Cycle(Exception):
    """A thing became part of itself: no file says such a thing."""


@dataclass(eq=False)
class Graph:
    """What a model file says."""

    writer: str
    root: list[Any]  # of one item, so that it has a place like all others
    things: list[Thing]

    @classmethod
    def of(cls, data: bytes) -> "Graph":
        """Read a sound file; those who ask for the same one again are given a copy, at a third of the time."""
        made: Graph = pickle.loads(_pickled(data))
        return made

    @classmethod
    def read(cls, data: bytes) -> "Graph":
        """Read a sound file."""
        opened = OpenFile.of(data)
        blocks = [
            np.frombuffer(block, entry["dtype"], int(np.prod(entry["shape"], dtype=np.int64))).reshape(entry["shape"])
            for entry, block in zip(opened.header["blocks"], opened.blocks, strict=True)
        ]
        things: list[Thing] = []
        for given in opened.header["things"]:
            things.append(Thing(given["kind"], {name: _opened(part, blocks, things) for name, part in given["parts"].items()}))
        return cls(opened.header["writer"], [_opened(opened.header["value"], blocks, things)], things)

    def data(self) -> bytes:
        """The file that says it; raises Cycle where there is none."""
        return _Writer().file(self)

    def places(self, wanted: Callable[[Any], bool] = lambda _: True) -> "list[Place]":
        """Every place of the graph whose value is wanted, those of things by their kind."""
        found: list[Place] = []
        for thing in self.things:
            _positions(thing.parts, thing.kind, "", found, wanted)
        return found


@functools.lru_cache(maxsize=1)
def _pickled(data: bytes) -> bytes:
    return pickle.dumps(Graph.read(data), pickle.HIGHEST_PROTOCOL)


@dataclass(eq=False, slots=True)
class Place:
    """Where a value stands."""

    inside: Any  # dict or list
    key: Any
    kind: str  # of the thing that it is a part of
    name: str  # of that part

    @property
    def value(self) -> Any:
        """What stands there."""
        return self.inside[self.key]

    def set(self, value: Any) -> None:
        """Put something else there."""
        self.inside[self.key] = value


def _opened(given: Any, blocks: list[NDArray[Any]], things: list[Thing]) -> Any:
    if isinstance(given, list):
        return [_opened(one, blocks, things) for one in given]
    if not isinstance(given, dict):
        return given
    if len(given) == 1:
        ((tag, inside),) = given.items()
        if tag == "thing":
            return things[inside]
        if tag in ("array", "turned"):
            return Array(blocks[inside], tag == "turned")
        if tag == "small":
            dtype, shape, text = inside
            return Array(np.frombuffer(bytes.fromhex(text), dtype).reshape(shape))
    return {key: _opened(one, blocks, things) for key, one in given.items()}


def _positions(value: Any, kind: str, name: str, found: list[Place], wanted: Callable[[Any], bool]) -> None:
    """All positions inside of a value, without going into things."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        own = name or str(key)
        if wanted(inner):
            found.append(Place(value, key, kind, own))
        if isinstance(inner, dict | list):
            _positions(inner, kind, own, found, wanted)


class _Writer:
    """Puts a graph together as a file: things before those that they are part of, arrays where their size asks for."""

    def __init__(self) -> None:
        self.things: list[Any] = []
        self.blocks: list[NDArray[Any]] = []
        self.known: dict[int, int] = {}

    def file(self, graph: Graph) -> bytes:
        value = self.value(graph.root[0])
        entries = [{"dtype": block.dtype.str, "shape": list(block.shape), "sha256": 64 * "0", "at": 0} for block in self.blocks]
        header = {"writer": graph.writer, "value": value, "things": self.things, "blocks": entries}
        return OpenFile(header, [raw(block).tobytes() for block in self.blocks]).data()

    def value(self, given: Any) -> Any:
        if isinstance(given, list):
            return [self.value(one) for one in given]
        if isinstance(given, dict):
            return {key: self.value(one) for key, one in given.items()}
        if isinstance(given, Thing):
            return {"thing": self.thing(given)}
        if isinstance(given, Array):
            return self.array(given)
        return given

    def thing(self, given: Thing) -> int:
        position = self.known.get(id(given))
        if position is None:
            self.known[id(given)] = -1
            parts = {name: self.value(part) for name, part in given.parts.items()}
            self.things.append({"kind": given.kind, "parts": parts})
            position = self.known[id(given)] = len(self.things) - 1
        if position < 0:
            raise Cycle
        return position

    def array(self, given: Array) -> Any:
        values = given.values
        if values.dtype.kind == "O":
            return {"objects": [list(values.shape), [_plain(one) for one in values.reshape(-1).tolist()]]}
        plain = little(values)
        if plain.nbytes <= SMALL and not given.turned:
            return {"small": [plain.dtype.str, list(plain.shape), raw(plain).tobytes().hex()]}
        if plain.nbytes == 0:
            return {"small": [plain.dtype.str, list(plain.shape), ""]}
        self.blocks.append(plain)
        return {"turned" if given.turned else "array": len(self.blocks) - 1}


def _plain(value: Any) -> Any:
    """A value of an array of objects as JSON."""
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    return value if isinstance(value, str | int | float | bool | None) else str(value)
