"""Tables for a model: read by what it knows of its columns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from woodwind.auto.model import AutoModel
from woodwind.data.files import read_table, text_columns
from woodwind.data.written_schema import WrittenSchema

# Where a model keeps the schema that its training table was read by.
WRITTEN = "written_schema"


def read_rows(model: AutoModel, path: Path) -> Any:
    """A table for a model: types that were written down for training hold here too, and what was text is text."""
    names = set(model.schema.names or ())
    written = model.facts.get(WRITTEN)
    schema = None if written is None else WrittenSchema.from_dict(written)
    if schema is not None:
        schema = replace(schema, columns=tuple(column for column in schema.columns if column.name in names))
    return read_table(path, schema=schema, as_text=text_columns(model.schema))


def inputs_of(model: AutoModel, rows: Any) -> Any:
    """The columns that the model reads. Where some are missing the model gets all of them, and can say which may have been meant."""
    needed = list(model.schema.names or ())
    return rows.select(needed) if needed and set(needed) <= set(rows.column_names) else rows
