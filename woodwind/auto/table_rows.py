"""Tables for a model of the main job: read by what it knows of its columns. Nothing here needs scikit-learn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from woodwind.auto.model import AutoModel
from woodwind.data.reading.files import is_path, read_table, text_columns
from woodwind.data.reading.sources import FilePath
from woodwind.data.reading.written_schema import WrittenSchema
from woodwind.data.tables.frames import as_arrow
from woodwind.data.tables.roles import is_columns, table_of_columns

# Where a model keeps the schema that its training table was read by.
WRITTEN = "written_schema"


def read_rows(model: AutoModel, path: FilePath | Sequence[FilePath], as_text: Sequence[str] = ()) -> Any:
    """A table for a model: types that were written down for training hold here too, and what was text is text."""
    return read_table(path, schema=schema_of(model), as_text=(*text_columns(model.schema), *as_text))


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
