"""Models with parts that no model file can hold, as pickles: only where the user asks for it by name, on both sides.

Nothing imports this file but `model_file.py`, and that only after `allow_pickle=True`.
"""

import hashlib
import os
import pickle
from typing import Any

import numpy as np

from woodwind.base.atomic import write_file
from woodwind.base.errors import ModelFileError
from woodwind.store.container import Damage, fill, opened, require

MAGIC = b"WWPICKLE"


def save(path: str | os.PathLike[str], model: Any) -> None:
    """Write a model; an old file of that name stays until the new one is whole."""
    data = pickle.dumps(model, protocol=5)
    write_file(path, [MAGIC, hashlib.sha256(data).digest(), data])


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model, and run whatever code the file brings along."""
    with opened(path) as (file, size):
        data = bytes(fill(file, np.empty(size, np.uint8)))
        if data[: len(MAGIC)] != MAGIC:
            raise Damage("it is not a pickle that Woodwind has written.")
        require(hashlib.sha256(data[40:]).digest() == data[8:40], "its checksum does not hold")
    try:
        return pickle.loads(data[40:])
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"{os.fspath(path)}: its pickle cannot be read on this machine ({why}).") from error
