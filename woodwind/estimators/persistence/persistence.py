"""Persisted state of our estimators: their parameters, and what training has set, each attribute with its type.

An estimator declares its state beside its code, in the class that sets it: `_state` is what a fitted model has, `_optional_state` what it
may have, by name with the type. What scikit-learn names for all estimators is declared here.
"""

import inspect
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.leaderboard import Leaderboard
from woodwind.base.errors import NotStorableError
from woodwind.base.validate import require
from woodwind.estimators.base.model_checks import check_tags
from woodwind.estimators.persistence.consistency import check_fit
from woodwind.params.check import check
from woodwind.store.kinds import check_parts

# What scikit-learn asks of every estimator, and of classifiers.
STATE: dict[str, Any] = {"n_features_in_": int}
OPTIONAL_STATE: dict[str, Any] = {"feature_names_in_": NDArray[np.object_], "classes_": NDArray[Any], "n_classes_": int}
# What others set on an estimator, fitted or not.
ASIDE: dict[str, Any] = {"n_jobs": int | None, "_sklearn_output_config": dict[str, str]}


def state_of(kind: type) -> dict[str, Any]:
    """What a fitted estimator of a class has, with types."""
    return _declared(kind, "_state", STATE)


def optional_state_of(kind: type) -> dict[str, Any]:
    """What it may have."""
    return _declared(kind, "_optional_state", OPTIONAL_STATE)


def _declared(kind: type, name: str, common: dict[str, Any]) -> dict[str, Any]:
    found = dict(common)
    for cls in reversed(kind.__mro__):
        found |= vars(cls).get(name, {})
    return found


# Where a training is done, and what it may write to, is none of the model's: no file has it, and a file that says so is not believed.
NOT_STORED = frozenset({"cluster", "checkpoint"})


class EstimatorPersister:
    """Keeps estimators of ours, fitted or not."""

    # Members of a pool, of layers or of a mixture once more, by themselves and by name.
    SHOWN = frozenset({"estimators_", "named_estimators_", "layers_", "experts_", "gate_"})

    @staticmethod
    def parts(model: Any) -> dict[str, Any]:
        """Parameters, then what training has set."""
        state, kind = dict(vars(model)), type(model)
        known = state_of(kind).keys() | optional_state_of(kind).keys() | ASIDE.keys()
        odd = sorted(state.keys() - known - set(model._get_param_names()))
        if odd:
            name = kind.__name__
            raise NotStorableError(f"{name} has the attribute {odd[0]!r}, which is none of its own: take it away with delattr first.")
        if _is_fitted(kind, state) and is_dataclass(model):
            check(model)
        return {name: None if name in NOT_STORED else value for name, value in state.items()}

    @staticmethod
    def whole(kind: Any, parts: dict[str, Any]) -> Any:
        """The estimator, without running anything but checks. A parameter that is younger than the file has its default."""
        parts = {name: None if name in NOT_STORED else value for name, value in parts.items()}
        if not parts.keys() >= set(kind._get_param_names()):
            known = inspect.signature(kind).parameters
            parts = {name: one.default for name, one in known.items() if one.default is not one.empty} | parts
        fitted, state = _is_fitted(kind, parts), state_of(kind)
        if "target_ensembles_" in parts:  # of several targets: an ensemble for each, and nothing of its own
            state = STATE
        hints = {name: ASIDE[name] for name in parts.keys() & ASIDE.keys()} | dict.fromkeys(kind._get_param_names(), Any)
        hints |= {name: hint for name, hint in optional_state_of(kind).items() if name in parts} | (state if fitted else {})
        check_parts(kind.__name__, parts, hints)
        model = kind.__new__(kind)
        vars(model).update(parts)
        if fitted:
            if is_dataclass(kind):
                check(model)
            check_fit(model)
        else:
            check_tags(model)
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
        if _is_fitted(kind, parts):
            require(len(model.leaderboard_) > 0, "the leaderboard is empty")
            require(model.n_features_in_ == model.model_.schema.n_inputs, "the model has another number of columns than its schema")
            model.leaderboard_ = Leaderboard(model.leaderboard_)
            model.score_, model.facts_ = model.leaderboard_[0].score, model.model_.facts
        return model


def _is_fitted(kind: type, state: dict[str, Any]) -> bool:
    return any(name in state for name in (state_of(kind) | optional_state_of(kind)))
