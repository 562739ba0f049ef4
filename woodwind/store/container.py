"""The container of a model file: a table of contents as JSON, and arrays as they lie in memory. It knows nothing of models.

    bytes 0-7      WOODWIND
    bytes 8-11     version of the format
    bytes 12-15    nought
    bytes 16-23    length of the header, a multiple of 64
    bytes 24-31    length of the file
    bytes 32-63    SHA-256 of bytes 0-31 and the header
    then           the header: JSON, filled up with spaces. Its "blocks" say type, shape, place and SHA-256 of each array
    then           the arrays, little-endian, in C order, each filled up with zeros to a multiple of 64 bytes

The sum of the header covers the sums of the arrays, and so the whole file. All numbers are little-endian. The reader is strict: it takes
what the writer writes and nothing else, and allocates nothing before all lengths are known to fit the file.
"""

import hashlib
import io
import json
import math
import os
import re
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.atomic import MOST_AT_ONCE, write_file
from woodwind.base.errors import ModelFileError, NotStorableError

MAGIC = b"WOODWIND"
VERSION = 2  # fields have the names of the field since 2; 1 was written before the first release
FIRST = struct.Struct("<8sIIQQ")
START = 64  # of the header
LINE = 64
# Nothing that a model says in words comes near this; a header takes some ten times its length in memory.
MOST_HEADER = 1 << 28
MOST_DIMENSIONS = 8
# Truth values, whole and other numbers, text, bytes, dates and spans: types whose bytes mean the same everywhere.
DTYPES = re.compile(r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[0-9]{1,9}|\|S[0-9]{1,9}|<[mM]8\[(?:[0-9]{1,9})?(?:Y|M|W|D|h|m|s|ms|us|ns)\]")
KEYS = {"blocks", "things", "value", "writer"}
BLOCK_KEYS = {"at", "dtype", "sha256", "shape"}
LAST_POINT = 0x10FFFF


class ArrayBlock(NamedTuple):
    """An array of the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    at: int
    size: int  # in bytes
    sum: str


# ------------------------------------------------------------------------------------------------------------- writing


def write(path: str | os.PathLike[str], contents: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> None:
    """Write contents, which JSON can hold, and arrays as one file; an old file of that name stays until the new one is whole."""
    plain = [little(array) for array in arrays]
    header = header_of(contents, plain)
    first = FIRST.pack(MAGIC, VERSION, 0, len(header), START + len(header) + sum(padded(array.nbytes) for array in plain))
    pieces: list[Any] = [first, hashlib.sha256(first + header).digest(), header]
    for array in plain:
        pieces += [raw(array), bytes(padded(array.nbytes) - array.nbytes)]
    write_file(path, pieces)


def header_of(contents: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> bytes:
    """The header; it says where the arrays are, which depends on its own length, so it is tried until the two agree."""
    text = as_json(contents)[:-1]
    blocks: list[dict[str, Any]] = [
        {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": hashlib.sha256(raw(array)).hexdigest()} for array in arrays
    ]
    length = 0
    while True:
        at = START + length
        for block, array in zip(blocks, arrays, strict=True):
            block["at"] = at
            at += padded(array.nbytes)
        encoded = f'{text},"blocks":{as_json(blocks)}}}'.encode()
        if len(encoded) > MOST_HEADER:
            raise NotStorableError(f"the model says {len(encoded):,} bytes in words and lists; a model file has room for {MOST_HEADER:,}.")
        if len(encoded) <= length:
            return encoded.ljust(length)
        length = padded(len(encoded))


def as_json(value: Any) -> str:
    """JSON without a space too many, and without what JSON does not have."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def padded(size: int) -> int:
    """The next multiple of a line."""
    return -(-size // LINE) * LINE


def little(array: NDArray[Any]) -> NDArray[Any]:
    """The array as it is kept."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)


def raw(array: NDArray[Any]) -> memoryview:
    """The bytes of an array in C order."""
    return memoryview(array.reshape(-1).view(np.uint8) if array.nbytes else b"")  # type: ignore[arg-type]


def storable_dtype(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this type can be kept."""
    return DTYPES.fullmatch(dtype.newbyteorder("<").str) is not None


# ------------------------------------------------------------------------------------------------------------- reading


class Damage(Exception):
    """What is wrong with a file, before its name is known."""


def require(holds: Any, what: str) -> None:
    """The file is damaged unless this holds."""
    if not holds:
        raise Damage(f"the file is damaged: {what}.")


def required(given: Any, key: str, kind: type) -> Any:
    """The value of a key of the header, which is of this type and of no other."""
    value = given[key]
    require(type(value) is kind, f"{key} in its header is no {kind.__name__}")
    return value


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Contents and arrays of a file, or ModelFileError."""
    with opened(path) as (file, size):
        contents, end = read_header(file, size)
        blocks = [read_block(given, size) for given in required(contents, "blocks", list)]
        for block in blocks:
            require(block.at == end, "an array is not where the one before ends")
            end += padded(block.size)
        require(end <= size, "its arrays reach beyond its end")
        require(end == size, f"{size - end:,} bytes follow behind the last array")
        return contents, [read_array(file, block) for block in blocks]


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[io.FileIO, int]]:
    """An ordinary file and its length; whatever is wrong with it is told in one line that begins with its name."""
    name = os.fspath(path)
    try:
        # Without this flag, opening a pipe would wait for somebody to write.
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError)
        raise ModelFileError(f"{name}: there is no such file." if missing else f"{name}: it cannot be opened ({error}).") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Damage(f"it is {'a folder' if stat.S_ISDIR(status.st_mode) else 'a device or a pipe'}, not a model file.")
        yield io.FileIO(descriptor, "rb", closefd=False), status.st_size
    except Damage as damage:
        raise ModelFileError(f"{name}: {damage}") from None
    except MemoryError:
        raise ModelFileError(f"{name}: there is not enough memory for its {status.st_size:,} bytes.") from None
    except OSError as error:
        raise ModelFileError(f"{name}: it cannot be read ({error.strerror}).") from None
    finally:
        os.close(descriptor)


def read_first(file: io.FileIO, size: int) -> tuple[bytes, int]:
    """The fixed bytes at the beginning, and the length of the header that they announce."""
    if size == 0:
        raise Damage("the file is empty.")
    first = file.read(min(size, START)) or b""
    if first[: len(MAGIC)] != MAGIC[: len(first)]:
        raise Damage("it is not a Woodwind model file.")
    require(len(first) == START, f"it was cut off after {size:,} bytes")
    _, version, nought, length, whole = FIRST.unpack_from(first)
    if version > VERSION:
        raise Damage(f"it has version {version} of the format, which is newer than this library; version {VERSION} is the newest known.")
    require(version >= 1 and nought == 0, "its first bytes say nothing that is known")
    if version < VERSION:
        raise Damage(
            f"it has version {version} of the format, from before the first release, which is not read any more: train and save the model "
            "again."
        )
    require(whole <= size, f"it was cut off after {size:,} of {whole:,} bytes")
    require(whole == size, f"{size - whole:,} bytes were added at its end")
    require(length % LINE == 0 and 0 < length <= min(MOST_HEADER, size - START), "the length of its header is impossible")
    return first, length


def read_header(file: io.FileIO, size: int) -> tuple[dict[str, Any], int]:
    """The JSON of the header, checked against its sum, and where the first array begins."""
    first, length = read_first(file, size)
    header = bytes(fill(file, np.empty(length, np.uint8)))
    require(hashlib.sha256(first[: FIRST.size] + header).digest() == first[FIRST.size :], "its checksum does not hold")
    try:
        contents = json.loads(header.decode("utf-8"), object_pairs_hook=distinct, parse_constant=refuse_number, parse_float=finite)
    except (ValueError, RecursionError):
        raise Damage("the file is damaged: its header is not JSON as this library writes it.") from None
    require(type(contents) is dict and contents.keys() == KEYS, "its header has other keys than it should")
    require(type(contents["writer"]) is str, "nobody knows who wrote it")
    return contents, START + length


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which no key comes twice."""
    made = dict(pairs)
    require(len(made) == len(pairs), "a key of its header comes twice")
    return made


def refuse_number(word: str) -> Any:
    """NaN and infinities are not JSON."""
    raise Damage(f"the file is damaged: {word} is not JSON.")


def finite(digits: str) -> float:
    """A number of JSON, which is not beyond all doubles."""
    number = float(digits)
    require(math.isfinite(number), f"{digits[:20]} is no number")
    return number


def read_block(given: Any, limit: int) -> ArrayBlock:
    """One entry of the table of arrays; its size is below the limit, whatever it claims."""
    require(type(given) is dict and given.keys() == BLOCK_KEYS, "an array is described in other words than it should be")
    code, shape, at = required(given, "dtype", str), required(given, "shape", list), required(given, "at", int)
    require(DTYPES.fullmatch(code), "an array is of a type that no model file holds")
    require(len(shape) <= MOST_DIMENSIONS and all(type(n) is int and n >= 0 for n in shape), "an array has an impossible shape")
    try:
        dtype = np.dtype(code)
    except (TypeError, ValueError):
        raise Damage("the file is damaged: an array is of a type that NumPy does not know.") from None
    # Whole numbers of Python, which do not wrap around.
    size = math.prod(shape) * dtype.itemsize
    require(0 < size <= limit, "an array is larger than the file, or empty")
    return ArrayBlock(dtype, tuple(shape), at, size, required(given, "sha256", str))


def read_array(file: io.FileIO, block: ArrayBlock) -> NDArray[Any]:
    """The next array of the file, checked against its sum."""
    data = fill(file, np.empty(block.size, np.uint8))
    require(hashlib.sha256(raw(data)).hexdigest() == block.sum, "the checksum of an array does not hold")
    gap = fill(file, np.empty(padded(block.size) - block.size, np.uint8))
    require(not gap.any(), "there is something between two arrays")
    return validated(data, block.dtype).reshape(block.shape)


def fill(file: io.FileIO, buffer: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The buffer, filled with what comes next in the file."""
    view, done = raw(buffer), 0
    while done < len(view):
        count = file.readinto(view[done : done + MOST_AT_ONCE])
        require(count, "it became shorter while it was read")
        done += int(count or 0)
    return buffer


def validated(data: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Bytes as numbers of a type, in the order of this machine; bits that stand for nothing are refused."""
    if dtype.kind == "b":
        require(data.size == 0 or data.max() <= 1, "a truth value is neither true nor false")
    if dtype.kind == "U" and data.size:
        require(data.view("<u4").max() <= LAST_POINT, "a text has characters that do not exist")
    array: NDArray[Any] = data.view(dtype)
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))
