"""Any table as an Arrow table, for whoever looks at its columns one by one: what the report says of the data."""

import hashlib
import io
from typing import Any

import numpy as np
import pyarrow as pa

from woodwind.data.convert import open_columns
from woodwind.data.frames import open_table
from woodwind.data.raw import Coded, LazyColumn, SparseColumn, Values


def as_arrow(X: Any) -> pa.Table:
    """The same table in Arrow; columns without names are called x0, x1 and so on."""
    if isinstance(X, pa.Table):
        return X
    raw = open_table(X)
    names = raw.names or tuple(f"x{place}" for place in range(raw.n_columns))
    return pa.table({name: _column(column.values) for name, column in zip(names, open_columns(raw, check=False), strict=True)})


def _column(values: Values) -> Any:
    if isinstance(values, pa.ChunkedArray):
        return values
    if isinstance(values, Coded):
        dictionary = values.dictionary if isinstance(values.dictionary, pa.Array) else pa.array(values.dictionary)
        places = pa.array(values.places.astype(np.int32), mask=values.places < 0)
        return pa.DictionaryArray.from_arrays(places, dictionary)
    dense = values.dense() if isinstance(values, SparseColumn | LazyColumn) else values
    return pa.array(np.ascontiguousarray(dense))


def fingerprint(X: Any) -> str:
    """A digest of every value of a table, of its types and of its names: another one as soon as anything differs."""
    total = _Hashed()
    table = as_arrow(X).combine_chunks()
    with pa.ipc.new_stream(pa.PythonFile(total, mode="w"), table.schema) as stream:
        stream.write_table(table)
    return total.digest.hexdigest()


class _Hashed(io.RawIOBase):
    """A file that keeps nothing of what is written to it but a digest."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Take bytes in."""
        self.digest.update(data)
        return memoryview(data).nbytes
