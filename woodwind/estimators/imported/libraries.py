"""Models of XGBoost, LightGBM and CatBoost as fitted estimators: docs/guide/importing-models.md."""

import os
import tempfile
from typing import Any

import numpy as np

from woodwind.base.errors import ModelFileError, ParameterError
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.estimators.boosting.gradient_boosting_ranker import GradientBoostingRanker
from woodwind.estimators.persistence.consistency import check_fit
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.store.imported.catboost_json import read_catboost
from woodwind.store.imported.contents import bytes_of, demand, refusing
from woodwind.store.imported.lightgbm_text import read_lightgbm
from woodwind.store.imported.read_model import CLASSIFICATION, RANKING, ReadModel
from woodwind.store.imported.xgboost_json import read_xgboost

GradientBoosting = GradientBoostingClassifier | GradientBoostingRegressor | GradientBoostingRanker


def from_xgboost(model: Any, n_rounds: int | None = None) -> GradientBoosting:
    """A model of XGBoost as a fitted estimator: predictions are the same, and everything here works on it.

    XGBoost itself is needed only where an object is given. What a file says that cannot be done here, such as a linear booster, is refused.

    Parameters
    ----------
    model : path, bytes, xgboost.Booster or estimator of xgboost.sklearn
        A file that `save_model` has written as .json or .ubj, its contents, or the trained object.
    n_rounds : int or None, default=None
        Take the first so many rounds. None takes what XGBoost predicts with: all rounds of a Booster, and of an estimator or a file
        those up to its best iteration, where it has one.

    Returns
    -------
    GradientBoostingClassifier, GradientBoostingRegressor or GradientBoostingRanker
        Of the task of its objective.

    Examples
    --------
    >>> import woodwind
    >>> model = woodwind.from_xgboost("model.ubj")  # doctest: +SKIP
    >>> model.explain(X).to_text()  # doctest: +SKIP
    """
    check_rounds("from_xgboost", n_rounds)
    sentinel, best, labels = None, True, None
    if is_path(model):
        data, name = bytes_of(model, "XGBoost")
    else:
        name = f"the given {type(model).__name__}"
        best = hasattr(model, "get_booster")
        if best:
            given = getattr(model, "missing", np.nan)
            sentinel = None if given is None or np.isnan(given) else float(given)
            labels = getattr(model, "classes_", None)
        data = bytes(raw_of(model, "xgboost"))
    with refusing(name, "XGBoost"):
        read = read_xgboost(data, n_rounds, best, sentinel)
        made: GradientBoosting = estimator_of(with_labels(read, labels))
    return made


def from_lightgbm(model: Any, n_rounds: int | None = None) -> GradientBoosting:
    """A model of LightGBM as a fitted estimator: predictions are the same, and everything here works on it.

    LightGBM itself is needed only where an object is given. What a file says that cannot be done here is refused.

    Parameters
    ----------
    model : path, bytes, lightgbm.Booster or estimator of lightgbm.sklearn
        A text file that `save_model` has written, its contents, or the trained object.
    n_rounds : int or None, default=None
        Take the first so many rounds; None takes all that LightGBM predicts with, which end at the best iteration where it has one.

    Returns
    -------
    GradientBoostingClassifier, GradientBoostingRegressor or GradientBoostingRanker
        Of the task of its objective.

    Examples
    --------
    >>> import woodwind
    >>> model = woodwind.from_lightgbm("model.txt")  # doctest: +SKIP
    """
    check_rounds("from_lightgbm", n_rounds)
    labels = None
    if is_path(model):
        data, name = bytes_of(model, "LightGBM")
    else:
        name = f"the given {type(model).__name__}"
        labels = getattr(model, "classes_", None)
        data = str(raw_of(model, "lightgbm")).encode()
    with refusing(name, "LightGBM"):
        made: GradientBoosting = estimator_of(with_labels(read_lightgbm(data, n_rounds), labels))
    return made


def from_catboost(model: Any, n_rounds: int | None = None) -> GradientBoosting:
    """A model of CatBoost as a fitted estimator: predictions are the same, and everything here works on it.

    CatBoost itself is needed only where an object is given. A model that uses statistics of categories (CTR) is refused: train with
    `one_hot_max_size` at least as large as the number of categories of every column.

    Parameters
    ----------
    model : path, bytes or catboost.CatBoost
        A file that `save_model(..., format="json")` has written, its contents, or the trained object.
    n_rounds : int or None, default=None
        Take the first so many trees; None takes all.

    Returns
    -------
    GradientBoostingClassifier, GradientBoostingRegressor or GradientBoostingRanker
        Of the task of its loss function.

    Examples
    --------
    >>> import woodwind
    >>> model = woodwind.from_catboost("model.json")  # doctest: +SKIP
    """
    check_rounds("from_catboost", n_rounds)
    if is_path(model):
        data, name = bytes_of(model, "CatBoost")
    else:
        name = f"the given {type(model).__name__}"
        data = raw_of(model, "catboost")
    with refusing(name, "CatBoost"):
        made: GradientBoosting = estimator_of(read_catboost(data, n_rounds))
    return made


def is_path(model: Any) -> bool:
    """Whether a file or its contents are given, not an object."""
    return isinstance(model, str | os.PathLike | bytes | bytearray | memoryview)


def check_rounds(owner: str, n_rounds: Any) -> None:
    """A number of rounds is one."""
    if n_rounds is not None and (isinstance(n_rounds, bool) or not isinstance(n_rounds, int | np.integer) or n_rounds < 0):
        raise ParameterError(f"{owner}: n_rounds must be None or an integer of at least 0, but it is {n_rounds!r}.")


def raw_of(model: Any, library: str) -> Any:
    """What an object of a library would write to a file."""
    try:
        if library == "xgboost" and (hasattr(model, "get_booster") or hasattr(model, "save_raw")):
            return (model.get_booster() if hasattr(model, "get_booster") else model).save_raw("ubj")
        if library == "lightgbm" and (hasattr(model, "booster_") or hasattr(model, "model_to_string")):
            return (model.booster_ if hasattr(model, "booster_") else model).model_to_string()
        if library == "catboost" and hasattr(model, "save_model") and hasattr(model, "tree_count_"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.json")
                model.save_model(path, format="json")
                with open(path, "rb") as file:
                    return file.read()
    except Exception as error:
        raise ModelFileError(f"from_{library}: the given {type(model).__name__} cannot be written, is it trained? {error}") from error
    raise ParameterError(f"from_{library} takes a path, the contents of a file or a trained model, not {type(model).__name__}.")


def with_labels(model: ReadModel, labels: Any) -> ReadModel:
    """The model with the labels of its classes, where the object knows more than their numbers."""
    one_list = model.classes is not None and not isinstance(model.classes, list)
    return model.with_classes(labels) if one_list and labels is not None and len(labels) == len(model.classes) else model


def estimator_of(read: ReadModel) -> Any:
    """The fitted estimator of a model that was read, checked as one from a model file is."""
    given: dict[str, Any] = {"n_estimators": max(read.n_rounds, 1), "n_parallel_trees": read.parallel_trees, **read.params}
    if read.learning_rate is not None:
        given["learning_rate"] = read.learning_rate
    loss = read.loss.each[0] if isinstance(read.loss, SeveralTargetsLoss) else read.loss
    kind: Any = GradientBoostingRegressor
    if read.task == CLASSIFICATION:
        kind = GradientBoostingClassifier
    elif read.task == RANKING:
        kind, given["loss"] = GradientBoostingRanker, loss
    elif not isinstance(loss, LogLoss | Multinomial):
        given["loss"] = loss.name if loss == type(loss)() else loss
    model = kind(**given)
    model._set_schema(read.schema)
    model.forest_, model.loss_, model.init_, model._earlier = read.forest, read.loss, None, None
    model.n_iter_ = model.best_iteration_ = read.n_rounds
    model.n_trees_per_iteration_ = read.trees_per_round
    model.train_score_ = model.validation_score_ = np.zeros(0)
    model.evals_result_ = {}
    if read.learning_rate is not None:
        model.learning_rate_ = read.learning_rate
    if read.classes is not None:
        model.classes_ = read.classes
    if isinstance(read.loss, SeveralTargetsLoss):
        model.target_names_ = [f"y{number}" for number in range(len(read.loss.each))]
    check_fit(model)
    demand(np.isfinite(read.forest.largest_scores()).all() or read.forest.linear is not None, "its scores could leave the numbers")
    return model
