"""Tables for a model of the main job: read by what it knows of its columns. Nothing here needs scikit-learn."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from woodwind.auto.model import AutoModel
from woodwind.data.blocks.batches import open_files
from woodwind.data.blocks.text_batches import TextSource
from woodwind.data.reading.files import is_path, read_table, text_columns
from woodwind.data.reading.sources import FilePath, find_sources
from woodwind.data.reading.written_schema import WrittenSchema
from woodwind.data.tables.frames import as_arrow
from woodwind.data.tables.roles import is_columns, table_of_columns

# Where a model keeps the schema that its training table was read by.
WRITTEN = "written_schema"


def read_rows(model: AutoModel, path: FilePath | Sequence[FilePath], as_text: Sequence[str] = ()) -> Any:
    """A table for a model: types that were written down for training hold here too, and what was text is text."""
    return read_table(path, schema=schema_of(model), as_text=(*text_columns(model.schema), *as_text))


# Files of more bytes are read and predicted a part at a time.
LARGE_BYTES = 1 << 26


def large_source(
    model: AutoModel,
    path: FilePath | Sequence[FilePath],
    beside: Sequence[str],
    as_text: Sequence[str] = (),
    watch: Callable[[int], None] = lambda _: None,
) -> Any:
    """Large files as a source of batches; None for small ones, which are read at once, and for those that cannot be read in parts.

    Types are found as `read_rows` finds them, of the columns of the model and of those `beside` them. `watch` is called with
    the number of rows of every part of a text file that is looked at for that.
    """
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    files = find_sources(given) if "-" not in given else []
    if not files or sum(os.path.getsize(one.path) for one in files if one.path is not None) < LARGE_BYTES:
        return None
    texts = {*text_columns(model.schema), *as_text}
    schema = schema_of(model)
    texts |= set() if schema is None else set(schema.as_text)
    wanted = None if model.schema.names is None else {*model.schema.names, *beside}
    written = set(beside) - set(model.schema.names or ())
    return open_files(files, lambda some: TextSource(some, wanted, as_text=texts, as_written=written, watch=watch))


def typed_batch(model: AutoModel, batch: Any) -> Any:
    """A batch of a source, with the types that were written down for training."""
    schema = schema_of(model)
    return batch if schema is None else schema.apply(batch)


def schema_of(model: AutoModel) -> WrittenSchema | None:
    """What was written down of the columns that the model reads."""
    written = model.facts.get(WRITTEN)
    if written is None:
        return None
    names = set(model.schema.names or ())
    schema = WrittenSchema.from_dict(written)
    return replace(schema, columns=tuple(column for column in schema.columns if column.name in names))


def inputs_of(model: AutoModel, rows: Any) -> Any:
    """The columns that the model reads. Where some are missing the model gets all of them, and can say which may have been meant."""
    needed = list(model.schema.names or ())
    return rows.select(needed) if needed and set(needed) <= set(rows.column_names) else rows


def table_of(model: AutoModel, X: Any) -> Any:
    """What the model is asked about, as `woodwind.fit` takes it: a file or several, a dictionary of columns, or any table."""
    if is_path(X):
        return inputs_of(model, read_rows(model, X))
    if is_columns(X):
        X = table_of_columns(X)
    schema = schema_of(model)
    return X if schema is None else schema.apply(as_arrow(X))
