"""Forged model files: a sound file changed somewhere, so that all checksums hold.

A bad disk never makes such a file; somebody who means harm does. Containers stay sound, so that what is tested is what stands behind them:
whether every number, shape and part that code will follow is looked at before it is followed.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.model_graph import Array, Cycle, Graph, Place, Thing
from woodwind.store.kinds import KINDS

# Whole numbers at which something ends: signs, bytes, 32 and 64 bits, what doubles hold, and sizes that nobody has memory for.
WHOLE = (0, 1, -1, 2, -2, 3, 127, 255, 256, 2**15, 2**20, 2**28, 2**31 - 1, 2**31, -(2**31), 2**32, 2**36, 2**40, 2**53, 2**62, 2**63 - 1)
REAL = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e-12, 1e9, 1e30, 1e150, 1e300, 1.7e308, -1.7e308, float("inf"), float("-inf"), float("nan"))
WORDS = (
    "", "x" * 50, "x" * 5000, "Forest", "auto", "nan", "\u0000", "\x1b[31m", "../../x", "euclidean", "softmax", "brute", "kd_tree", "hard",
    "0",
)  # fmt: skip
DTYPES = ("f8", "f4", "i8", "i4", "i2", "u1", "u8", "b1", "U2", "M8[s]", "f2", "O")


# ---------------------------------------------------------------------------------------------------------------- damage


def damaged(data: bytes, draw: random.Random) -> tuple[str, bytes]:
    """What a bad disk or a broken connection makes of a file: no sums are made to hold. In a word, what it was."""
    while True:
        how, out, at = draw.choice(("bit", "bytes", "cut", "longer", "exchanged", "zeros")), bytearray(data), draw.randrange(len(data))
        if how == "bit":
            out[at] ^= 1 << draw.randrange(8)
        elif how == "bytes":
            for position in range(at, min(at + draw.randrange(1, 9), len(out))):
                out[position] = draw.randrange(256)
        elif how == "cut":
            del out[at:]
        elif how == "longer":
            out += bytes(draw.randrange(256) for _ in range(draw.randrange(1, 200)))
        elif how == "exchanged":
            a, b = (64 * draw.randrange(len(data) // 64) for _ in range(2))
            out[a : a + 64], out[b : b + 64] = data[b : b + 64], data[a : a + 64]
        else:
            out[at : at + 512] = bytes(len(out[at : at + 512]))
        if out != data:  # lines may be exchanged for themselves
            return how, bytes(out)


# --------------------------------------------------------------------------------------------------------------- changes


def forged(data: bytes, draw: random.Random) -> tuple[str, bytes]:
    """A file in which one thing or several are changed and all sums hold; in words, what was changed."""
    while True:
        graph, predicted = Graph.of(data), []
        try:
            for _ in range(draw.choice((1, 1, 1, 1, 1, 1, 2, 2, 3, 5))):
                name = draw.choice(tuple(CHANGES))
                what = CHANGES[name](graph, draw)
                predicted += [f"{name}: {what}"] if what else []
            changed = graph.data() if predicted else data
        except (Cycle, RecursionError, ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError):
            continue  # one change has left nothing that another one could be made to
        if changed != data:
            return "; ".join(predicted), changed


def chosen(graph: Graph, draw: random.Random, wanted: Callable[[Any], bool]) -> Place | None:
    """A place with a value of some sort: first a kind of thing, then the place, so that kinds with few numbers are changed as often."""
    places = graph.places(wanted)
    if not places:
        return None
    kind = draw.choice(sorted({position.kind for position in places}))
    places = [position for position in places if position.kind == kind]
    name = draw.choice(sorted({position.name for position in places}))
    return draw.choice([position for position in places if position.name == name])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_of(value: Any, draw: random.Random) -> Any:
    """Another number, as JSON has it."""
    near = [value + 1, value - 1, 2 * value, -value, value // 2]
    chosen_one = draw.choice([*WHOLE, *near] if isinstance(value, int) or draw.random() < 0.2 else [*REAL, *near])
    if isinstance(chosen_one, float) and not np.isfinite(chosen_one):
        return {"float": repr(chosen_one)}
    if isinstance(chosen_one, int) and abs(chosen_one) > 2**53:
        return {"int": f"{chosen_one:x}"}
    return chosen_one


def change_number(graph: Graph, draw: random.Random) -> str:
    """A number becomes another one."""
    position = chosen(graph, draw, _is_number)
    if position is None:
        return ""
    position.set(number_of(position.value, draw))
    return f"{position.kind}.{position.name} = {position.value}"


def change_number_everywhere(graph: Graph, draw: random.Random) -> str:
    """A whole number becomes another one wherever it stands, as if the model were of another size."""
    position = chosen(graph, draw, lambda value: isinstance(value, int) and not isinstance(value, bool) and value > 1)
    if position is None:
        return ""
    old, new = position.value, draw.choice(WHOLE + (position.value + 1, position.value - 1))
    new = new if abs(new) <= 2**53 else {"int": f"{new:x}"}
    for other in graph.places():
        if type(other.value) is int and other.value == old:
            other.set(new)
    return f"{position.kind}.{position.name} = {old} -> {new}"


def change_size(graph: Graph, draw: random.Random) -> str:
    """All arrays of one length become longer or shorter, and numbers that say this length with them."""
    arrays = graph.places(lambda value: isinstance(value, Array))
    lengths = sorted({n for position in arrays for n in position.value.values.shape if n > 0})
    if not lengths:
        return ""
    old = draw.choice(lengths)
    new = draw.choice([old - 1, old + 1, 0, 1, 2 * old])
    for position in graph.places():
        if isinstance(position.value, Array):
            values = position.value.values
            for axis, length in enumerate(values.shape):
                if length == old and values.size == 0:  # and then it may be of any length
                    values = np.empty((*values.shape[:axis], new, *values.shape[axis + 1 :]), values.dtype)
                elif length == old and values.size <= 1 << 16:
                    values = np.take(values, np.arange(new) % old, axis=axis)
            position.set(Array(values, position.value.turned))
        elif type(position.value) is int and position.value == old:
            position.set(new)
    return f"{old} -> {new}"


def change_wide(graph: Graph, draw: random.Random) -> str:
    """A model says that it is of very many classes or columns, and what would have to be as wide has no rows at all."""
    position = chosen(graph, draw, lambda value: type(value) is int and value > 1)
    if position is None:
        return ""
    old, new = position.value, draw.choice((2**16, 2**20, 2**28))
    for other in graph.places():
        if type(other.value) is int and other.value == old:
            other.set(new)
        elif isinstance(other.value, Array) and other.value.values.ndim == 2 and other.value.values.shape[1] in (old - 1, old):
            width = new - old + other.value.values.shape[1]
            other.set(Array(np.empty((0, width), other.value.values.dtype)))
    return f"{position.kind}.{position.name} = {old} -> {new}"


def change_word(graph: Graph, draw: random.Random) -> str:
    """A text becomes another one."""
    position = chosen(graph, draw, lambda value: isinstance(value, str))
    if position is None:
        return ""
    others = [other.value for other in graph.places(lambda value: isinstance(value, str))]
    others = [draw.choice(others), draw.choice(others), position.value[::-1], position.value + "0", position.value[:-1]]
    position.set(draw.choice([*WORDS, *others]))
    return f"{position.kind}.{position.name} = {position.value[:30]!r}"


def change_type(graph: Graph, draw: random.Random) -> str:
    """Something becomes something of another type."""
    position = chosen(graph, draw, lambda _: True)
    if position is None:
        return ""
    value: Any = draw.choice(
        [None, [], {"tuple": []}, 0, -1, 1, 0.5, "", "a", {"dict": {}}, {"dict": {"a": 1}}, {"float": "nan"}, True, False, [None], [[]],
         {"tuple": [1, "a"]}, Array(np.zeros(0)), Array(np.zeros((2, 2))), Array(np.arange(3)), Array(np.array(["a", "b"])),
         Array(np.array([None, "a"], object)), {"scalar": ["<f8", "000000000000f87f"]}, {"scalar": ["<i8", "ffffffffffffff7f"]}]
    )  # fmt: skip
    position.set(value)
    return f"{position.kind}.{position.name} = {value if not isinstance(value, Array) else value.values.tolist()}"


def change_deeper(graph: Graph, draw: random.Random) -> str:
    """Something becomes a part of something in its place."""
    position = chosen(graph, draw, lambda _: True)
    if position is None:
        return ""
    value = position.value
    for _ in range(draw.choice((1, 2, 30, 100))):
        value = draw.choice([[value], {"tuple": [value]}, {"dict": {"a": value}}])
    position.set(value)
    return f"{position.kind}.{position.name}"


def change_array(graph: Graph, draw: random.Random) -> str:
    """An array has other numbers, or is of another length, shape or type."""
    position = chosen(graph, draw, lambda value: isinstance(value, Array))
    if position is None:
        return ""
    name = draw.choice(tuple(OF_ARRAYS))
    with np.errstate(all="ignore"):
        try:
            values = OF_ARRAYS[name](position.value.values, draw)
        except (TypeError, ValueError, OverflowError, IndexError):
            return ""
    position.set(Array(np.asarray(values), position.value.turned and np.ndim(values) == 2))
    return f"{position.kind}.{position.name} {name}"


def change_list(graph: Graph, draw: random.Random) -> str:
    """A list or dictionary has an item less, one twice, or others in another order."""
    position = chosen(graph, draw, lambda value: isinstance(value, list) and len(value) > 0)
    if position is None:
        return ""
    items = list(position.value)
    at = draw.randrange(len(items))
    name = draw.choice(("less", "twice", "reversed", "none", "many"))
    if name == "less":
        del items[at]
    elif name == "twice":
        items.insert(at, items[at])
    else:
        items = items[::-1] if name == "reversed" else [] if name == "none" else (items * 50)[:1000]
    position.set(items)
    return f"{position.kind}.{position.name} {name}"


def change_part(graph: Graph, draw: random.Random) -> str:
    """A part of a thing, or an item of a dictionary, goes, or is exchanged for one of another."""
    dictionaries = [(thing.kind, thing.parts) for thing in graph.things if thing.parts]
    dictionaries += [
        (position.kind, position.value["dict"])
        for position in graph.places()
        if isinstance(position.value, dict) and position.value.keys() == {"dict"} and position.value["dict"]
    ]
    (kind, one), (_, other) = draw.choice(dictionaries), draw.choice(dictionaries)
    name, strange, how = draw.choice(sorted(one)), draw.choice(sorted(other)), draw.random()
    if how < 0.5:
        del one[name]
        return f"{kind} without {name}"
    if how < 0.6:
        one[strange] = other[strange]
        return f"{kind} with {strange}"
    if how < 0.7:
        for _, parts in dictionaries:
            parts.pop(name, None)
        return f"nobody has {name}"
    one[name], other[strange] = other[strange], one[name]
    return f"{kind}.{name} for {strange}"


def change_kind(graph: Graph, draw: random.Random) -> str:
    """A thing says that it is of another kind, or another thing stands in its place."""
    how = draw.random()
    thing = draw.choice(graph.things)
    if how < 0.3:
        thing.kind = draw.choice([other.kind for other in graph.things] + list(KINDS))
        return thing.kind
    position = chosen(graph, draw, lambda value: isinstance(value, Thing))
    if position is None:
        return ""
    same = [other for other in graph.things if other.kind == position.value.kind]
    position.set(draw.choice(same if how < 0.6 else graph.things))
    return f"{position.kind}.{position.name} is another {position.value.kind}"


def change_learnt(graph: Graph, draw: random.Random) -> str:
    """An estimator has learned nothing, or not all."""
    fitted = [thing for thing in graph.things if thing.parts.keys() == {"parameters", "trained"}]
    own = [thing for thing in graph.things if any(name.endswith("_") for name in thing.parts)]
    if not fitted and not own:
        return ""
    thing = draw.choice(fitted + own)
    if thing in fitted:
        trained = thing.parts["trained"]["dict"]
        kept = {} if draw.random() < 0.3 else {name: part for name, part in trained.items() if draw.random() < 0.8}
        thing.parts["trained"] = {"dict": kept}
    else:
        thing.parts = {name: part for name, part in thing.parts.items() if not (name.endswith("_") or name.startswith("_"))}
    return thing.kind


def wrapped(graph: Graph, draw: random.Random) -> str:
    """A thing is held by as many others as there are."""
    position = chosen(graph, draw, lambda value: isinstance(value, Thing))
    if position is None:
        return ""
    for other in graph.places():
        if isinstance(other.value, Thing) and other.value.kind == position.value.kind:
            other.set(position.value)
    return f"all {position.value.kind} are one"


CHANGES: dict[str, Callable[[Graph, random.Random], str]] = {
    "number": change_number, "number everywhere": change_number_everywhere, "size": change_size, "wide": change_wide, "word": change_word,
    "type": change_type, "deeper": change_deeper, "array": change_array, "array again": change_array, "array once more": change_array,
    "list": change_list, "part": change_part, "kind": change_kind, "trained": change_learnt, "one for all": wrapped,
}  # fmt: skip


# Of arrays.


def _extreme(values: NDArray[Any], draw: random.Random) -> Any:
    """A value that arrays of this type can hold."""
    if values.dtype.kind == "f":
        return draw.choice(REAL)
    if values.dtype.kind in "iu":
        ends = np.iinfo(values.dtype)
        return min(max(draw.choice(WHOLE), ends.min), ends.max)
    return draw.choice(WHOLE) % 2 == 1 if values.dtype.kind == "b" else np.array(draw.choice(WORDS)).astype(values.dtype)


def _with_some(values: NDArray[Any], draw: random.Random, count: int) -> NDArray[Any]:
    out = values.copy().reshape(-1)
    value = _extreme(values, draw)
    for _ in range(count):
        out[draw.randrange(out.size)] = value
    return out.reshape(values.shape)


def _other_type(values: NDArray[Any], draw: random.Random) -> NDArray[Any]:
    wanted = np.dtype(draw.choice(DTYPES))
    if draw.random() < 0.5 or wanted.kind == "O":
        return values.astype(wanted)
    return np.frombuffer(values.tobytes()[: values.nbytes // wanted.itemsize * wanted.itemsize], wanted)


def _other_shape(values: NDArray[Any], draw: random.Random) -> NDArray[Any]:
    huge = draw.choice((2**10, 2**20, 2**28))
    return draw.choice(
        [values.reshape(-1), values[None], values[..., None], values.T, values.reshape(-1)[:1].reshape(()), np.zeros((0,), values.dtype),
         np.empty((0, huge), values.dtype), np.empty((0, *values.shape[1:]), values.dtype), np.empty((huge, 0), values.dtype)]
    )  # fmt: skip


def _flipped(values: NDArray[Any], draw: random.Random) -> NDArray[Any]:
    if values.dtype.kind not in "iuf":
        raise TypeError
    data = bytearray(values.tobytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return np.frombuffer(bytes(data), values.dtype).reshape(values.shape)


def _copied(values: NDArray[Any], draw: random.Random) -> NDArray[Any]:
    here = np.arange(values.size).reshape(values.shape) == draw.randrange(values.size)
    return np.where(here, values.flat[0], values)


def _shuffled(values: NDArray[Any], draw: random.Random) -> NDArray[Any]:
    order = np.random.default_rng(draw.randrange(2**32)).permutation(values.size)
    return values.reshape(-1)[order].reshape(values.shape)


OF_ARRAYS: dict[str, Callable[[NDArray[Any], random.Random], NDArray[Any]]] = {
    "one": lambda values, draw: _with_some(values, draw, 1),
    "one again": lambda values, draw: _with_some(values, draw, 1),
    "some": lambda values, draw: _with_some(values, draw, 1 + values.size // 3),
    "all": lambda values, draw: np.full_like(values, _extreme(values, draw)),
    "copied": _copied,
    "shuffled": _shuffled,
    "reversed": lambda values, _: values[::-1],
    "shifted": lambda values, draw: values + values.dtype.type(draw.choice((1, 1, 2, 100))),
    "negative": lambda values, _: -values,
    "scaled": lambda values, draw: values * values.dtype.type(draw.choice((2, 1e3, 1e300, -1e300))),
    "shorter": lambda values, draw: values[: draw.randrange(len(values))],
    "longer": lambda values, draw: np.concatenate([values, values[: draw.randrange(len(values)) + 1]]),
    "type": _other_type,
    "shape": _other_shape,
    "bit": _flipped,
}
