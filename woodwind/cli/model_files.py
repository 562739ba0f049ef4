"""Model files as commands open them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind import store
from woodwind.auto.leaderboard import stored_entries
from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import Entry
from woodwind.base.errors import ModelFileError
from woodwind.cli.command import wrong
from woodwind.data.tables.roles import no_column, query_numbers
from woodwind.metrics.named import METRICS


def open_model(path: Path) -> AutoModel:
    """The model in a file."""
    # What Python has saved has the estimator around it: whoever expects anything gets the model out of it, without scikit-learn.
    model = store.load(path, expect=object)
    if not isinstance(model, AutoModel):
        what = type(model).__name__
        raise ModelFileError(f"{path}: it holds a {what}, and this command is for what woodwind fit writes. Use woodwind.load in Python.")
    return model


def queries_in(model: AutoModel, rows: Any, given: str | None) -> NDArray[np.int64]:
    """The number of the query of each row of a table, by the column that is given, or else the one that the model was trained with."""
    name = given or model.query
    if not name:
        wrong("the model does not know the name of its query column. Give --query.")
    if name not in rows.column_names:
        raise no_column(name, rows.column_names)
    return query_numbers(rows.column(name), name)


def entries_of(model: AutoModel) -> tuple[Entry, ...]:
    """The leaderboard that was stored with a model."""
    entries = stored_entries(model)
    if not entries:
        raise ModelFileError("The model was saved without its leaderboard. Train it with woodwind fit, which keeps it.")
    return entries


def metric_words(name: str) -> str:
    """What the score of a leaderboard is."""
    metric = METRICS[name]
    return f"{name}: {metric.words}; {'larger' if metric.larger_is_better else 'smaller'} is better"


def decision_words(positive: object, threshold: float | None) -> str:
    """Which class is the positive one, and when it is predicted."""
    when = "where it is likelier" if threshold is None else f"from a probability of {threshold:.4g} on"
    return f"positive class: {positive!r}, predicted {when}"
