"""Model files as commands open them."""

from dataclasses import fields
from math import nan
from pathlib import Path
from typing import Any

from woodwind import store
from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import Entry
from woodwind.base.errors import ModelFileError
from woodwind.metrics.named import METRICS


def open_model(path: Path) -> AutoModel:
    """The model in a file."""
    opened = store.load(path)
    model = getattr(opened, "model_", opened)  # what Python has saved has the estimator around it
    if not isinstance(model, AutoModel):
        what = type(opened).__name__
        raise ModelFileError(f"{path}: it holds a {what}, and this command is for what woodwind fit writes. Use woodwind.load in Python.")
    return model


def entries_of(model: AutoModel) -> tuple[Entry, ...]:
    """The leaderboard that was kept with a model; what is not a finite number is not kept, as JSON has none."""
    kept: list[dict[str, Any]] = model.facts.get("leaderboard", [])
    if not kept:
        raise ModelFileError("The model was saved without its leaderboard. Train it with woodwind fit, which keeps it.")
    return tuple(entry_of(entry) for entry in kept)


def entry_of(kept: dict[str, Any]) -> Entry:
    """A row of the leaderboard from what was kept of it."""
    values: dict[str, Any] = {field.name: nan if kept[field.name] is None else kept[field.name] for field in fields(Entry)}
    return Entry(**values)


def metric_words(name: str) -> str:
    """What the score of a leaderboard is."""
    metric = METRICS[name]
    return f"{name}: {metric.words}; {'larger' if metric.larger_is_better else 'smaller'} is better"
