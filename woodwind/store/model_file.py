"""Saving and loading whatever a model file can hold."""

import importlib
import os
from typing import Any

from woodwind.base.errors import ModelFileError, NotStorableError, ParameterError
from woodwind.base.file_endings import MODEL, meaning_of
from woodwind.store import container
from woodwind.store.codec import ValueEncoder
from woodwind.store.decoding import ValueDecoder, reached
from woodwind.store.kinds import CORES, KINDS, class_of

# The ending of pickles: nobody loads one by mistake.
PICKLES = ".wwpickle"
PICKLING = "woodwind.store.pickled"

Path = str | os.PathLike[str]


def save(path: Path, thing: Any) -> None:
    """Write a value as a model file: plain values, arrays, and things of the kinds in `kinds.py`.

    Before anything is written it is read back, as `load` does it: what could not be opened again is never written.
    """
    encoder = ValueEncoder()
    value = encoder.value(thing, type(thing).__name__)
    try:
        ValueDecoder(encoder.arrays, encoder.things).finished(value)
    except container.Damage as damage:
        why = str(damage).removeprefix("the file is damaged: ")
        raise NotStorableError(f"{type(thing).__name__} could not be opened again from a model file: {why}") from damage.__cause__
    writer = f"woodwind {importlib.import_module('woodwind').__version__}"
    container.write(path, {"writer": writer, "value": value, "things": encoder.things}, encoder.arrays)


def save_model(path: Path, model: Any, allow_pickle: bool = False) -> None:
    """Write an estimator as a model file, or, where the user says so, as a pickle, whose name says so too."""
    name = os.fspath(path)
    if allow_pickle != name.endswith(PICKLES):
        right = f"end in {PICKLES} with allow_pickle=True" if allow_pickle else f"end in {PICKLES} only with allow_pickle=True"
        raise ParameterError(f"the name of the file must {right}, but it is {name!r}. The usual ending of a model file is .ww.")
    if meaning_of(name) not in ("", MODEL):
        raise ParameterError(f"the ending of {name!r} says {meaning_of(name)}, and a model file would be written. Let it end in .ww.")
    if allow_pickle:
        importlib.import_module(PICKLING).save(path, model)
        return
    try:
        save(path, model)
    except NotStorableError as error:
        raise NotStorableError(
            f"{error} A model file holds data and no code: plain values, arrays, Woodwind's own parts and some of scikit-learn's. Take it "
            f"out of the model; or write a pickle, with save('{os.path.splitext(os.path.basename(name))[0]}{PICKLES}', allow_pickle=True), "
            "which only those should load who trust you."
        ) from error


def load(path: Path, expect: type | tuple[type, ...] | None = None, *, allow_pickle: bool = False) -> Any:
    """Read a model file: the model as it was saved, validated, without running any code that the file could bring along.

    Parameters
    ----------
    path : path
        What `save` has written.
    expect : class or tuple of classes, default=None
        What it should be; anything else is an error. An AutoModel is also found inside of the estimator that it is the model of, which is
        then not made: predicting needs no scikit-learn.
    allow_pickle : bool, default=False
        Also read a pickle that was saved with `allow_pickle=True`, which can run any code: only of an origin that you trust.

    Returns
    -------
    model
        Of the class that was saved, with the same parameters and what it had learned; its predictions are the same, bit for bit.
    """
    name = os.fspath(path)
    if name.endswith(PICKLES):
        if not allow_pickle:
            raise ModelFileError(
                f"{name}: it is a pickle, which can run any code when it is loaded. If you trust where it is from, give allow_pickle=True."
            )
        made = importlib.import_module(PICKLING).load(path)
    else:
        contents, arrays = container.read(path)
        try:
            core = None if expect is None else core_of(contents, expect)
            only = None if core is None else reached(core, contents["things"])
            decoder = ValueDecoder(arrays, contents["things"], only)
            made = decoder.finished(contents["value"]) if core is None else decoder.part(core)
        except container.Damage as damage:
            raise ModelFileError(f"{name}: {damage}") from damage.__cause__
    return expected(made, expect, name)


def expected(made: Any, expect: type | tuple[type, ...] | None, name: str) -> Any:
    """What a file held, if it is what was expected."""
    if expect is not None and not isinstance(made, expect):
        wanted = " or ".join(one.__name__ for one in (expect if isinstance(expect, tuple) else (expect,)))
        raise ModelFileError(f"{name}: it holds a {type(made).__name__}, not a {wanted}.")
    return made


def core_of(contents: dict[str, Any], expect: type | tuple[type, ...]) -> int | None:
    """The place of the part that is expected, where the file holds something that has it as its core; None where it does not."""
    try:
        whole = contents["things"][contents["value"]["thing"]]
        place = whole["parts"][CORES[whole["kind"]]]["thing"]
        name = contents["things"][place]["kind"]
    except (KeyError, IndexError, TypeError):
        return None
    right = type(place) is int and place >= 0 and type(name) is str and name in KINDS
    return place if right and issubclass(class_of(name), expect) else None
