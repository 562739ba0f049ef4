"""`woodwind.translate`: parameters of XGBoost, LightGBM, CatBoost or scikit-learn as those of our gradient boosting."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from woodwind.base.did_you_mean import did_you_mean, spelling
from woodwind.base.errors import ParameterError
from woodwind.losses.base import Loss
from woodwind.losses.named import NONE_OF_OURS, classification_loss, loss_named, regression_loss
from woodwind.losses.regression import Huber, Quantile, Quantiles, Tweedie
from woodwind.metrics.named import find_metric, nearest_metric
from woodwind.params.aliases import index
from woodwind.params.describe import declared
from woodwind.params.groups import (
    BinParams,
    BoostParams,
    CheckpointParams,
    ClassParams,
    ClusterParams,
    ConstraintParams,
    RunParams,
    SampleParams,
    StopParams,
    TreeParams,
)
from woodwind.params.no_counterpart import LIBRARIES, Row
from woodwind.params.translation import translated

NICKNAMES = {"xgb": "xgboost", "lgbm": "lightgbm", "lgb": "lightgbm", "cat": "catboost", "cb": "catboost", "scikit_learn": "sklearn"}
TASKS = {"classification": "classification", "binary": "classification", "multiclass": "classification", "regression": "regression"}
# The estimators by name, and the groups of their parameters: they are made of both, and know this file.
NAMES = {"classification": "GradientBoostingClassifier", "regression": "GradientBoostingRegressor"}
GROUPS = (BoostParams, TreeParams, BinParams, SampleParams, ConstraintParams, StopParams, ClusterParams, CheckpointParams, RunParams)
# The number of a loss where none is given; None where the library asks for one.
LEVELS = {"xgboost": None, "lightgbm": 0.9, "catboost": 0.5, "sklearn": 0.9}
DELTAS = {"lightgbm": 0.9, "catboost": None}


class Translation(NamedTuple):
    """Our parameters, ready for a constructor, and what is to be said of those that are not among them, or not quite, by their names."""

    params: dict[str, Any]
    notes: dict[str, str]

    def __str__(self) -> str:
        lines = [f"{name}={value!r}" for name, value in self.params.items()]
        return "\n".join(lines + [f"# {name}: {note}" for name, note in self.notes.items()])


def translate(library: str, parameters: Mapping[str, Any], task: str | None = None) -> Translation:
    """Parameters of another library's boosting as those of `GradientBoostingClassifier` and `GradientBoostingRegressor`.

    What is not given stays at our defaults, which are others than theirs.

    Parameters
    ----------
    library : {'xgboost', 'lightgbm', 'catboost', 'sklearn'}
        Whose names they are. Of scikit-learn, those of its gradient boosting.
    parameters : dict
        Values by their names there, aliases included.
    task : {'classification', 'binary', 'multiclass', 'regression'}, default=None
        What they are for. Parameters that only the other task has are left out, with a note. None: what the loss says, or both.

    Returns
    -------
    Translation
        `params`, a dict of our parameters, and `notes`, a dict from names there to what is to be said of them: why there is no counterpart,
        or how ours differs. Printed, it reads as a call with comments.

    Examples
    --------
    >>> import woodwind
    >>> print(woodwind.translate("lightgbm", {"num_leaves": 63, "max_depth": -1, "early_stopping_rounds": 50, "device": "gpu"}))
    max_leaf_nodes=63
    max_depth=None
    early_stopping=True
    n_iter_no_change=50
    # device: Woodwind works on the CPU.
    """
    library = known_library(library)
    if task is not None and task not in TASKS:
        raise ParameterError(f"translate: task must be None or one of {', '.join(map(repr, TASKS))}, but it is {task!r}.")
    if not isinstance(parameters, Mapping):
        raise ParameterError(f"translate: parameters must be a dict of names and values, but {type(parameters).__name__} came.")
    return translation_of(library, parameters, task)[0]


def translation_of(library: str, parameters: Mapping[str, Any], task: str | None) -> tuple[Translation, list[str]]:
    """The same for a library that is known; also the names of those that have no counterpart, in part or at all."""
    params: dict[str, Any] = {}
    notes: dict[str, str] = {}
    predicted: set[str] = set()
    missing: list[str] = []
    for name, value in parameters.items():
        answer = _one(library, str(name), value)
        if isinstance(answer, str):
            notes[str(name)] = answer
            missing.append(str(name))
            continue
        ours, note, direct = answer
        # What is said outright counts more than what follows from something else.
        params.update({key: one for key, one in ours.items() if direct == key or key not in predicted})
        predicted.update({direct}.intersection(ours))
        if note:
            notes[str(name)] = note
    _unsaid(library, parameters, params, notes)
    before = dict(notes)
    found = _loss(library, parameters, params, notes)
    if task is not None and found not in (None, TASKS[task]):
        notes[_theirs("loss", parameters)] = f"{params.pop('loss', None)!r} is for {found}, and the task is {task!r}: it was left out."
    _metric(library, parameters, params, notes)
    _fitting(found if task is None else TASKS[task], parameters, params, notes)
    _start(library, parameters, params, notes, found if task is None else TASKS[task])
    missing += [name for name, note in notes.items() if before.get(name) != note]
    return Translation(params, notes), missing


def known_library(library: str, owner: str = "translate") -> str:
    """The name of a library as the table of aliases has it; raises ParameterError where it is none."""
    plain = NICKNAMES.get(spelling(library), spelling(library)) if isinstance(library, str) else ""
    if plain not in LIBRARIES:
        raise ParameterError(
            f"{owner}: library must be one of {', '.join(map(repr, LIBRARIES))}, but it is {library!r}. "
            f"{did_you_mean(str(library), LIBRARIES)}".rstrip()
        )
    return plain


def _one(library: str, name: str, value: Any) -> tuple[dict[str, Any], str, str] | str:
    """Our parameters of one of theirs, what is to be said, and the one that it names outright; or why there is none."""
    rows = [row for row in index().get(name, ()) if name in row.names(library)]
    row = next((row for row in rows if row.name_in(_valid()) or not row.ours), None)
    if row is None and rows and rows[0].note:  # a parameter of another estimator
        return rows[0].note
    if row is None:
        names = [name for name, rows in index().items() if any(name in row.names(library) for row in rows)]
        return f"{LIBRARIES[library]} has no parameter of this name that is known here. {did_you_mean(name, names, alike=0.7)}".rstrip()
    answer = _answer(row, value, library)
    if isinstance(answer, str):
        return answer
    return answer, row.note if answer and next(iter(answer.values())) is not value else "", row.name_in(_valid())


def _answer(row: Row, value: Any, library: str) -> dict[str, Any] | str:
    ours = row.name_in(_valid())
    if not ours:
        return {} if row.rule != "same" and translated(row.rule, "", value, library) == {} else row.note
    try:
        return translated(row.rule, ours, value, library)
    except (ValueError, TypeError):
        return f"{value!r} could not be read. Give {ours} as it is described here."


def _valid() -> list[str]:
    return list(dict.fromkeys(name for task in NAMES for name in names_of(task)))


def names_of(task: str) -> list[str]:
    """The parameters of the estimator of a task."""
    groups = (*GROUPS, ClassParams) if task == "classification" else GROUPS
    own = ["loss"] if task == "classification" else ["loss", "quantile", "multi_output"]
    return [*own, *(knob.name for group in groups for knob in declared(group))]


def _theirs(ours: str, given: Mapping[str, Any]) -> str:
    """The name under which one of our parameters was given."""
    return next((name for name in given if any(ours in row.ours.split() for row in index().get(name, ()))), ours)


def _unsaid(library: str, given: Mapping[str, Any], params: dict[str, Any], notes: dict[str, str]) -> None:
    """What follows from what was not given: LightGBM draws no rows without bagging_freq, XGBoost and CatBoost limit the depth alone, and
    classic boosting of scikit-learn stops early by its patience.
    """
    drawn = any(given.get(name) for name in ("bagging_freq", "subsample_freq"))
    if library == "lightgbm" and params.get("subsample", 1.0) != 1.0 and not drawn:
        name = next(name for name in ("bagging_fraction", "subsample", "sub_row", "bagging") if name in given)
        notes[name] = f"Without bagging_freq LightGBM draws no rows. Here subsample={params['subsample']!r} would draw them."
        params["subsample"] = 1.0
    if library in ("xgboost", "catboost") and params.get("max_depth") and not {"max_leaf_nodes", "growth"}.intersection(params):
        params["max_leaf_nodes"] = None
        notes[_theirs("max_depth", given)] = "Leaves are limited by the depth alone: max_leaf_nodes=None was added."
    classic = library == "sklearn" and "max_iter" not in given and "early_stopping" not in given
    if classic and isinstance(params.get("n_iter_no_change"), int) and "n_estimators" in given:
        params["early_stopping"] = True


def _loss(library: str, given: Mapping[str, Any], params: dict[str, Any], notes: dict[str, str]) -> str | None:
    """Put the loss and its numbers together; the task that it is for, or None if that is not said."""
    numbers = {key.removeprefix("loss."): params.pop(key) for key in ("loss.alpha", "loss.power") if key in params}
    if "loss" not in params:
        if numbers:
            notes[_theirs("loss", given)] = "It belongs to the loss, and none was given."
        return None
    named = params.pop("loss")
    theirs = next((name for name in given if any(row.rule == "loss" for row in index().get(name, ()))), "loss")  # not that of its number
    if not isinstance(named, str):
        params["loss"] = named
        return None
    plain = named
    if library == "catboost" and ":" in named:
        plain, _, text = named.partition(":")
        numbers |= _catboost_numbers(text)
    found = loss_named("quantile" if spelling(plain) == "reg:quantileerror" else plain)
    if found is None:
        notes[theirs] = f"There is no loss like {named!r} here. {NONE_OF_OURS.get(spelling(plain), '')}".rstrip()
        return None
    try:
        loss = _with_numbers(library, found[0], numbers)
    except (ValueError, TypeError) as error:  # a number that the loss may not have, or none
        loss = str(error)
    if isinstance(loss, str) and loss != found[0]:
        notes[theirs] = loss
        return found[1]
    params["loss"] = loss
    return found[1]


def _catboost_numbers(text: str) -> dict[str, Any]:
    """What CatBoost writes behind the name of a loss, as in Quantile:alpha=0.9."""
    pairs = (part.partition("=") for part in text.split(";") if "=" in part)
    names = {"alpha": "alpha", "delta": "alpha", "variance_power": "power"}
    numbers = {names[name.strip()]: tuple(float(one) for one in value.split(",")) for name, _, value in pairs if name.strip() in names}
    return {name: several if len(several) > 1 else several[0] for name, several in numbers.items()}


def _with_numbers(library: str, name: str, numbers: dict[str, Any]) -> Any:
    """The loss with its number, or its name; a sentence where a number is missing."""
    category = numbers.get("alpha")
    if name == Quantile.name:
        category = LEVELS[library] if category is None else category
        if isinstance(category, list | tuple | np.ndarray):
            return Quantiles(tuple(category))
        if not isinstance(category, int | float):
            return "Give one level between 0 and 1, as in loss=woodwind.losses.Quantile(0.9), or several."
        return Quantile(float(category))
    if name == Huber.name and library in DELTAS:
        delta = DELTAS[library] if category is None else category
        return "Give delta, as in loss=woodwind.losses.Huber(delta=1.0)." if delta is None else Huber(delta=float(delta))
    if name == Huber.name and category is not None:
        return Huber(quantile=float(category))
    return Tweedie(float(numbers["power"])) if name == Tweedie.name and "power" in numbers else name


def _metric(library: str, given: Mapping[str, Any], params: dict[str, Any], notes: dict[str, str]) -> None:
    """Our names of the metrics that are watched; names of scikit-learn's scorers stay."""
    named = params.get("scoring")
    if not isinstance(named, str | list) or library == "sklearn":
        return
    found: list[str] = []
    unknown: list[str] = []
    for name in [named] if isinstance(named, str) else named:
        metric = find_metric(str(name))
        (unknown if metric is None else found).append(str(name) if metric is None else metric.name)
    found = list(dict.fromkeys(found))
    _set_metrics(params, found)
    if unknown:
        words = " ".join(f"There is no metric {name!r} here. {nearest_metric(name)}".rstrip() for name in unknown)
        notes[_theirs("scoring", given)] = words


def _set_metrics(params: dict[str, Any], names: list[str]) -> None:
    """One name, a list of several, or nothing at all."""
    if names:
        params["scoring"] = names if len(names) > 1 else names[0]
    else:
        params.pop("scoring", None)


def _fitting(task: str | None, given: Mapping[str, Any], params: dict[str, Any], notes: dict[str, str]) -> None:
    """Leave out what only the other task has, and say so."""
    if task is None:
        return
    owner, valid = NAMES[task], set(names_of(task))
    if task == "regression" and "multiclass" in params:  # XGBoost has one name for classes and for targets
        params["multi_output"] = "vector" if params.pop("multiclass") == "vector" else "one_per_target"
    for name in [name for name in params if name not in valid]:
        notes[_theirs(name, given)] = f"{owner} has no {name}: {params.pop(name)!r} was left out."
    named = params.get("scoring")
    watched = named if isinstance(named, list) else [named] if isinstance(named, str) else []
    wrong = [name for name in watched if (metric := find_metric(name)) is not None and (metric.needs == "number") != (task == "regression")]
    if wrong:
        _set_metrics(params, [name for name in watched if name not in wrong])
        notes[_theirs("scoring", given)] = f"{', '.join(map(repr, wrong))} is not for {task}: it was left out."


def _start(library: str, given: Mapping[str, Any], params: dict[str, Any], notes: dict[str, str], task: str | None) -> None:
    """XGBoost's base_score is a prediction, and `init` a score. With several classes any number for all of them is the same as none."""
    if library != "xgboost" or not isinstance(params.get("init"), int | float) or "base_score" not in given:
        return
    named = params.get("loss", "log_loss" if task == "classification" else "squared_error")
    loss = named if isinstance(named, Loss) else None
    if isinstance(named, str) and (found := loss_named(named)) is not None:
        loss = classification_loss(found[0], 2) if found[1] == "classification" else regression_loss(found[0])
    if loss is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            score = loss.link.to_score(np.array([float(params["init"])]))
        # A link takes what is outside of its domain to the edge, and back to that.
        if np.allclose(loss.link.to_mean(score), params["init"], rtol=1e-6, atol=1e-12):
            params["init"] = float(score[0])
            return
    notes["base_score"] = f"{params.pop('init')!r} is no prediction of this loss. Give init as a score."
