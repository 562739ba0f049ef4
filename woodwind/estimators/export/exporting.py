"""From any estimator to a graph of operations, and from there to ONNX and C."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeCV,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from woodwind.auto.export import AutoModelWriter
from woodwind.base.errors import NotExportableError
from woodwind.data.tables.schema import Header
from woodwind.estimators.adaptive.adaboost import AdaBoostClassifier
from woodwind.estimators.adaptive.adaboost_regressor import AdaBoostRegressor
from woodwind.estimators.auto.auto_ensemble import BaseAutoEnsemble
from woodwind.estimators.bagging.bagging import BaseBagging
from woodwind.estimators.boosting.boosted_model import BaseBoostedModel
from woodwind.estimators.boosting.distribution_boosting import BaseDistributionBoosting
from woodwind.estimators.export.answers import Answers, Ask
from woodwind.estimators.export.ensembles import bagging, linear_model, logistic_blender, number_blender, stacking, voting
from woodwind.estimators.export.tree_models import adaboost_classifier, adaboost_regressor, boosted, decision_tree, forest
from woodwind.estimators.forests.decision_tree import BaseDecisionTree
from woodwind.estimators.forests.forest_base import BaseForestModel
from woodwind.estimators.pools.voting import BaseVoting
from woodwind.estimators.stacking.blenders import LogisticBlender, NonNegativeBlender
from woodwind.estimators.stacking.stacking_base import BaseStacking
from woodwind.store.export.c_writer import to_c
from woodwind.store.export.columns import table_inputs
from woodwind.store.export.graph import Column, Graph, InputColumns, Operation, concat, each, take
from woodwind.store.export.onnx_writer import to_onnx

LINEAR = (LogisticRegression, LogisticRegressionCV, LinearRegression, Ridge, RidgeCV, Lasso, LassoCV, ElasticNet, ElasticNetCV)
EXPORTED = (
    "decision trees, random forests, extra-trees, gradient boosting, AdaBoost, voting, bagging and stacking of these, AutoEnsemble models, "
    "and linear models of scikit-learn as members"
)


def graph_of(model: Any) -> Graph:
    """The graph of a trained estimator."""
    check_is_fitted(model)
    owner = type(model).__name__
    header = Header(tuple(map(str, model.feature_names_in_)) if hasattr(model, "feature_names_in_") else None, int(model.n_features_in_))
    columns = InputColumns(header, owner)
    found = answers_of(model, list(range(header.n_columns)), columns)
    names = [columns.name(position) for position in range(header.n_columns)]
    return Graph(columns, tuple(found.outputs()), {"model": owner, "columns": "\n".join(names)})


def onnx_of(model: Any, dtype: str, exact_sums: bool) -> Any:
    """A trained estimator as an onnx.ModelProto."""
    return to_onnx(graph_of(model), dtype, exact_sums)


def inputs_of(model: Any, X: Any, dtype: str) -> dict[str, Any]:
    """A table as the exported estimator reads it."""
    return table_inputs(graph_of(model), X, np.dtype(dtype))


def c_of(model: Any) -> str:
    """A trained estimator as a file of C."""
    return to_c(graph_of(model))


def answers_of(model: Any, columns: Sequence[Column], given: InputColumns) -> Answers:
    """What an estimator predicts from some columns, as operations."""
    if hasattr(model, "target_ensembles_"):
        return _of_targets(model, columns, given)
    if isinstance(model, BaseDistributionBoosting):
        raise NotExportableError(
            f"{given.owner}: {type(model).__name__} predicts distributions, whose functions are not exported. Export a gradient booster of "
            "the mean or of quantiles instead."
        )
    for kind, describe in DESCRIBED:
        if isinstance(model, kind):
            return describe(model, columns, given, answers_of)
    return _of_numbers(model, columns, given)


def _of_targets(model: Any, columns: Sequence[Column], given: InputColumns) -> Answers:
    """An ensemble for each of several targets."""
    found = [answers_of(one, columns, given) for one in model.target_ensembles_]
    numbers = [one.numbers for one in found if one.numbers is not None]
    if len(numbers) == len(found):
        together = concat(numbers)
        return Answers(numbers=together, raw=together)
    return Answers(targets=tuple(zip(model.target_names_, found, strict=True)))


def _auto(estimator: BaseAutoEnsemble, columns: Sequence[Column], given: InputColumns, _: Ask) -> Answers:
    """A blend of the main job."""
    model = estimator.model_
    writer = AutoModelWriter(model, columns, given)
    scores = writer.scores()
    if not model.classifies:
        return Answers(numbers=scores, raw=scores)
    probabilities = writer.probabilities(scores)
    return Answers(
        probabilities=probabilities, label=writer.label(probabilities), decision=scores, raw=scores, classes=np.array(model.classes)
    )


def _of_numbers(model: Any, columns: Sequence[Column], given: InputColumns) -> Answers:
    """Blenders, and what scikit-learn makes of columns of numbers."""
    operations = [column if isinstance(column, Operation) else given.number(column) for column in columns]
    if isinstance(model, LogisticBlender):
        return logistic_blender(model, operations)
    if isinstance(model, NonNegativeBlender):
        return number_blender(model, operations)
    if isinstance(model, LINEAR):
        return linear_model(model, concat(operations))
    if isinstance(model, Pipeline):
        table = concat(operations)
        for _, step in model.steps[:-1]:
            if not isinstance(step, StandardScaler):
                raise _not_exported(step, given.owner)
            table = table if step.mean_ is None else each("sub", table, step.mean_)
            table = table if step.scale_ is None else each("div", table, step.scale_)
        parts: list[Column] = [take(table, [column]) for column in range(table.width)]
        return answers_of(model.steps[-1][1], parts, given)
    raise _not_exported(model, given.owner)


def _not_exported(model: Any, owner: str) -> NotExportableError:
    name = type(model).__name__
    whose = f"{owner}: " if name == owner else f"{owner}: its member {name} cannot be exported. "
    return NotExportableError(f"{whose}what can be exported are {EXPORTED}. Save the model with save() and load it where it is needed.")


DESCRIBED: tuple[tuple[type, Callable[[Any, Sequence[Column], InputColumns, Ask], Answers]], ...] = (
    (BaseBoostedModel, boosted),
    (BaseDecisionTree, decision_tree),
    (BaseForestModel, forest),
    (AdaBoostClassifier, adaboost_classifier),
    (AdaBoostRegressor, adaboost_regressor),
    (BaseVoting, voting),
    (BaseBagging, bagging),
    (BaseStacking, stacking),
    (BaseAutoEnsemble, _auto),
)
