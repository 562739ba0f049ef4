"""How many rows and columns files have, about, without reading them: whether a table fits is asked before it is read."""

import os
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.dataset

from woodwind.data.reading.csv_file import open_text
from woodwind.data.reading.sources import READ_ERRORS, Source, damaged, find_sources, kind_of_contents

# Bytes at the beginning of a text file by which its lines are counted, and how much larger a packed one is.
LOOKED_AT, PACKED = 1 << 20, 5


def rows_and_columns(tables: Sequence[str]) -> tuple[int, int]:
    """How large a table of some files is, without reading it: Parquet and Arrow say it, of text the first lines do."""
    rows, columns = 0.0, 0
    for table in tables:
        if os.path.isdir(table):
            dataset = pa.dataset.dataset(table, format="parquet", partitioning="hive")
            rows, columns = rows + dataset.count_rows(), max(columns, len(dataset.schema))
            continue
        for source in find_sources(table):
            some, width = _file_size(source)
            rows, columns = rows + some, max(columns, width)
    return round(rows), columns


def _file_size(source: Source) -> tuple[float, int]:
    """Rows and columns of a file."""
    kind = kind_of_contents(source)
    if kind == "text":
        file = open_text(source)
        head = file.head(LOOKED_AT)
        size = os.path.getsize(source.path or "") * (PACKED if source.packing() else 1)
        return size / max(len(head), 1) * max(head.count(b"\n"), 1), len(file.names)
    try:
        dataset = pa.dataset.dataset([source.path], format="parquet" if kind == "parquet" else "ipc")
        return float(dataset.count_rows()), len(dataset.schema)
    except READ_ERRORS as error:
        raise damaged(source, error) from error
