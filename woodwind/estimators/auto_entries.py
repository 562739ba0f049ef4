"""The leaderboard that was kept with a model."""

from dataclasses import fields
from math import nan
from typing import Any

from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import Entry
from woodwind.base.errors import ModelFileError


def kept_entries(model: AutoModel) -> tuple[Entry, ...]:
    """The entries; none where a model was made by hand."""
    kept = model.facts.get("leaderboard")
    return tuple(entry_of(entry) for entry in kept) if isinstance(kept, list | tuple) else ()


def entry_of(kept: Any) -> Entry:
    """An entry from what was kept of it; what is not a finite number is not kept, as JSON has none."""
    values: dict[str, Any] = {}
    for field in fields(Entry):
        value = kept.get(field.name) if isinstance(kept, dict) else None
        if field.name == "also" and isinstance(value, dict):
            values["also"] = {str(name): nan if one is None else one for name, one in value.items() if isinstance(one, int | float | None)}
            continue
        wanted = str if field.type is str else int | float | None
        if not isinstance(value, wanted):
            raise ModelFileError(f"The leaderboard of the model is damaged: {field.name} of an entry is {value!r}. Train it once more.")
        values[field.name] = nan if value is None and field.name != "also" else value
    return Entry(**values)
