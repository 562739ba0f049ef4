"""Persisted state of our estimators: its parameters, and what training has set, each attribute with its type.

An attribute means the same wherever it stands, so one list of types serves all estimators; NEEDED says which of them an estimator must
have once it is fitted, by the names of the classes that it is made of.
"""

import inspect
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from woodwind.auto.leaderboard import Leaderboard
from woodwind.auto.model import AutoModel
from woodwind.auto.outcome import Entry
from woodwind.base.errors import NotStorableError
from woodwind.base.validate import require
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Header, Schema
from woodwind.ensemble.additive import AdditiveMember
from woodwind.ensemble.blend import LinearPool, LogPool
from woodwind.ensemble.resampling import Resampling
from woodwind.ensemble.subsets import SubsetModels
from woodwind.estimators.adaptive.adaboost_base import AdaptiveModel
from woodwind.estimators.adaptive.second_level import SecondLevel
from woodwind.estimators.bagging.tree_members import TreeMembers
from woodwind.estimators.boosting.gradient_boosting_base import WarmStartState
from woodwind.estimators.dynamic.dynamic_model import DynamicModel
from woodwind.estimators.mixture.training import MixtureParts, StandardizedColumns
from woodwind.estimators.persistence.consistency import check_fit
from woodwind.estimators.pools.members import EstimatorMembers
from woodwind.estimators.pools.pool import Pool
from woodwind.estimators.selection.pruned import TreePool
from woodwind.estimators.stacking.blenders import TargetScale
from woodwind.estimators.stacking.layers import Passthrough, StackingLayer
from woodwind.losses.base import Loss
from woodwind.params.check import check
from woodwind.selection.methods import Method
from woodwind.store.kinds import check_parts
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.forest import Forest
from woodwind.tree.leaf_targets import LeafRows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Labels = NDArray[Any]
Estimators = list[Any]
Folds = list[list[tuple[Integers, Integers]]]

ATTRIBUTES: dict[str, Any] = {
    # Tables, classes and members.
    "n_features_in_": int, "feature_names_in_": NDArray[np.object_], "classes_": Labels, "n_classes_": int, "schema_": Schema,
    "_header": Header, "_labels": Labels | None, "_form": MatrixForm, "form_": MatrixForm, "_columns": StandardizedColumns,
    "_passage": Passthrough | None,
    "estimators_": Estimators, "named_estimators_": Bunch, "estimator_": Any, "final_estimator_": Any, "member_names_": list[str],
    "_pool": Pool | TreePool | LogPool | LinearPool, "_members": EstimatorMembers | TreeMembers, "_estimators": Estimators, "_seed": int,
    "_resampling": Resampling,
    # Trees and boosting.
    "forest_": Forest, "compact_forest_": CompactForest, "leaf_rows_": LeafRows, "loss_": Loss, "init_": Any,
    "_earlier": WarmStartState | None,
    "n_iter_": int,
    "best_iteration_": int, "n_trees_per_iteration_": int, "train_score_": Floats, "validation_score_": Floats, "oob_improvement_": Floats,
    "oob_score_": float, "oob_prediction_": Labels, "oob_decision_function_": Floats, "_models": list[AdaptiveModel],
    "_second": SecondLevel | None, "estimator_errors_": Floats | list[Floats], "estimator_weights_": Floats | list[Floats],
    "estimator_edges_": Floats | list[Floats], "training_bound_": Floats | list[Floats], "code_": NDArray[np.int8],
    "_rounds": tuple[tuple[AdditiveMember, ...], ...], "start_": Floats, "steps_": Floats,
    # Ensembles of different models.
    "weights_": Floats | None, "_member_weights": Floats | None, "_counts": Floats, "_given": Any, "scores_": Floats, "selected_": Integers,
    "order_": Integers, "path_": Floats, "best_score_": float, "_chains": list[list[StackingLayer]], "_own_blender": bool, "folds_": Folds,
    "layers_": list[Estimators], "member_scores_": list[dict[str, float]], "layer_scores_": list[float], "oof_predictions_": list[Labels],
    "_oof_probabilities": list[Floats], "_model": DynamicModel, "method_": Method, "n_neighbors_": int | None, "selection_rows_": Integers,
    # Likelihoods and mixtures.
    "log_likelihood_": Floats, "criterion_": Floats | None, "member_parameters_": Floats | None, "error_variances_": Floats,
    "error_variance_": float, "combinations_": Floats, "probabilities_": Floats, "effective_combinations_": float,
    "weights_covariance_": Floats, "_parts": MixtureParts, "bic_": dict[int, float], "converged_": bool, "experts_": Estimators,
    "gate_": Any,
    "gate_coef_": Floats, "gate_intercept_": Floats, "n_experts_": int, "responsibilities_": Floats, "terms_": list[str],
    # Blenders and linear models.
    "model_": AutoModel, "leaderboard_": tuple[Entry, ...], "score_": float, "facts_": dict[str, Any],
    "_positions": Integers, "_scale": TargetScale, "_frequency": Floats, "penalty_": float, "losses_": dict[float, float], "coef_": Floats,
    "intercept_": float | Floats, "coef_std_": Floats, "coef_covariance_": Floats, "g_": float | None, "inclusion_probabilities_": Floats,
    "visit_fractions_": Floats, "n_models_": int, "_kept": SubsetModels, "_center": Floats, "_mean_variance": float,
}  # fmt: skip
# What others set on an estimator, fitted or not.
ASIDE: dict[str, Any] = {"n_jobs": int | None, "_sklearn_output_config": dict[str, str]}

NEEDED: dict[str, tuple[str, ...]] = {
    "BaseModel": ("n_features_in_",),
    "ClassifierMixin": ("classes_",),
    "BaseGradientBoosting": (
        "schema_", "forest_", "loss_", "init_", "_earlier", "n_iter_", "best_iteration_", "n_trees_per_iteration_", "train_score_",
        "validation_score_",
    ),
    "BaseDecisionTree": ("schema_", "forest_"),
    "BaseForestModel": ("schema_", "compact_forest_", "_resampling", "_seed"),
    "AdaBoostClassifier": ("_models", "_second", "estimator_edges_", "estimator_errors_", "estimator_weights_", "training_bound_"),
    "AdaBoostRegressor": ("_estimators", "estimator_errors_", "estimator_weights_"),
    "BaseAdditiveModel": ("_rounds", "_seed", "loss_", "n_iter_", "start_", "steps_", "train_score_", "validation_score_",
    "oob_improvement_"),
    "BaseBagging": ("_members", "_resampling", "estimator_"),
    "BaseWeightedPool": ("_pool", "_seed", "weights_", "estimators_", "named_estimators_", "log_likelihood_"),
    "BaseModelAveraging": ("criterion_", "member_parameters_"),
    "BaseModelCombination": ("combinations_", "probabilities_", "effective_combinations_", "weights_covariance_"),
    "BaseDynamicSelection": ("_model", "method_", "n_neighbors_", "selection_rows_", "named_estimators_"),
    "BaseEnsembleSelection": ("_pool", "_counts", "_given", "weights_", "selected_", "scores_", "order_", "path_", "best_score_",
    "member_names_"),
    "BaseStacking": (
        "_chains", "_header", "_labels", "_own_blender", "_passage", "final_estimator_", "estimators_", "layers_", "folds_",
        "layer_scores_", "member_scores_", "named_estimators_",
    ),
    "BaseVoting": ("_pool", "_member_weights", "weights_", "estimators_", "named_estimators_"),
    "BaseMixtureOfExperts": (
        "_columns", "_parts", "bic_", "converged_", "experts_", "gate_", "log_likelihood_", "n_experts_", "n_iter_", "responsibilities_",
        "terms_",
    ),
    "BaseBlender": ("n_features_in_", "_pool", "_positions", "_scale", "weights_", "intercept_", "coef_", "losses_", "penalty_"),
    "LogisticBlender": ("_frequency",),
    "BayesianLinearAveragingRegressor": (
        "_form", "_kept", "_center", "_mean_variance", "coef_", "coef_covariance_", "coef_std_", "error_variance_", "g_",
        "inclusion_probabilities_", "intercept_", "n_models_", "terms_",
    ),
    "BaseAutoEnsemble": ("model_", "leaderboard_"),
    "SoftmaxRegression": ("coef_", "intercept_", "n_features_in_"),
    "TableToMatrix": ("form_", "n_features_in_"),
}  # fmt: skip


class EstimatorPersister:
    """Keeps estimators of ours, fitted or not."""

    # Members of a pool, of layers or of a mixture once more, by themselves and by name.
    SHOWN = frozenset({"estimators_", "named_estimators_", "layers_", "experts_", "gate_"})

    @staticmethod
    def parts(model: Any) -> dict[str, Any]:
        """Parameters, then what training has set."""
        state = dict(vars(model))
        odd = sorted(state.keys() - ATTRIBUTES.keys() - ASIDE.keys() - set(model._get_param_names()))
        if odd:
            name = type(model).__name__
            raise NotStorableError(f"{name} has the attribute {odd[0]!r}, which is none of its own: take it away with delattr first.")
        if _is_fitted(state) and is_dataclass(model):
            check(model)
        return state

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The estimator, without running anything but checks. A parameter that is younger than the file has its default."""
        if not parts.keys() >= set(kind._get_param_names()):
            known = inspect.signature(kind).parameters
            parts = {name: one.default for name, one in known.items() if one.default is not one.empty} | parts
        fitted = _is_fitted(parts)
        needed = {name for cls in kind.__mro__ for name in NEEDED.get(cls.__name__, ())} if fitted else set()
        hints = {name: ASIDE[name] for name in parts.keys() & ASIDE.keys()} | dict.fromkeys(kind._get_param_names(), Any)
        hints |= {name: ATTRIBUTES[name] for name in needed | (parts.keys() & ATTRIBUTES.keys())}
        check_parts(kind.__name__, parts, hints)
        model = kind.__new__(kind)
        vars(model).update(parts)
        if fitted:
            if is_dataclass(kind):
                check(model)
            check_fit(model)
        return model


# Parameters of a training that are not of the model: who listened, and which folder it could write to and remove from. A file comes from
# anywhere, and whoever trains what it holds once more has chosen none of these.
NOT_RESTORED: dict[str, Any] = {"listener": None, "checkpoint": None, "resume": False}


class AutoEnsemblePersister:
    """Keeps estimators of the main job, without twice what the model has already."""

    SHOWN = EstimatorPersister.SHOWN

    @staticmethod
    def parts(model: Any) -> dict[str, Any]:
        """Parameters, the model and the leaderboard."""
        state = EstimatorPersister.parts(model) | NOT_RESTORED
        if "leaderboard_" in state:
            state["leaderboard_"] = tuple(state["leaderboard_"])
        return {name: value for name, value in state.items() if name not in ("score_", "facts_")}

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The estimator."""
        model = EstimatorPersister.whole(kind, parts | NOT_RESTORED)
        if _is_fitted(parts):
            require(len(model.leaderboard_) > 0, "the leaderboard is empty")
            require(model.n_features_in_ == model.model_.schema.n_inputs, "the model has another number of columns than its schema")
            model.leaderboard_ = Leaderboard(model.leaderboard_)
            model.score_, model.facts_ = model.leaderboard_[0].score, model.model_.facts
        return model


def _is_fitted(state: dict[str, Any]) -> bool:
    return any(name in state for name in ATTRIBUTES)
