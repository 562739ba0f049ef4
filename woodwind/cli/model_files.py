"""Model files as commands open them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind import store
from woodwind.auto.leaderboard import stored_entries
from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import Entry
from woodwind.auto.several_targets import SeveralTargetsModel
from woodwind.base.errors import ModelFileError
from woodwind.cli.command import nearest, wrong
from woodwind.cli.console import show
from woodwind.data.tables.roles import no_column, query_numbers
from woodwind.data.tables.table_errors import listed
from woodwind.metrics.named import METRICS


def open_models(path: Path) -> tuple[AutoModel, ...]:
    """The models in a file: one for each target."""
    # What Python has saved has the estimator around it: whoever expects anything gets the model out of it, without scikit-learn.
    model = store.load(path, expect=object)
    if isinstance(model, SeveralTargetsModel):
        return model.models
    if not isinstance(model, AutoModel):
        what = type(model).__name__
        raise ModelFileError(f"{path}: it holds a {what}, and this command is for what woodwind fit writes. Use woodwind.load in Python.")
    return (model,)


def open_model(path: Path, target: str | None = None) -> AutoModel:
    """The model in a file; of several targets the one that is named."""
    models = open_models(path)
    names = [model.target for model in models]
    if target is not None and target not in names:
        wrong(f"--target: the model has no target {target!r}. {nearest(target, names)}")
    if target is None and len(models) > 1:
        wrong(f"the model has the targets {listed(names)}. Give one of them with --target.")
    return models[0 if target is None else names.index(target)]


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


def show_target(model: AutoModel, number: int, several: bool) -> None:
    """The name of a target above what is shown of it, where there are several."""
    if several:
        if number:
            show()
        show(f"target {model.target}")
