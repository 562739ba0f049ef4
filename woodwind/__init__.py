"""Woodwind: ensemble learning on tables.

Importing this loads nothing heavy. A public name is looked up when it is first used, and its package is imported then.
"""

import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from woodwind import diversity, losses
    from woodwind import plots as plots
    from woodwind.base.errors import DataError, ModelFileError, ParameterError, WoodwindError, WoodwindWarning
    from woodwind.estimators.adaptive.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from woodwind.estimators.adaptive.additive import AdditiveClassifier, AdditiveRegressor
    from woodwind.estimators.auto.auto_ensemble import AutoEnsembleClassifier, AutoEnsembleRegressor
    from woodwind.estimators.auto.fit import fit
    from woodwind.estimators.auto.load import load
    from woodwind.estimators.averaging.linear_averaging import BayesianLinearAveragingRegressor
    from woodwind.estimators.averaging.model_averaging import BayesianModelAveragingClassifier, BayesianModelAveragingRegressor
    from woodwind.estimators.averaging.model_combination import BayesianModelCombinationClassifier, BayesianModelCombinationRegressor
    from woodwind.estimators.bagging.bagging import BaggingClassifier, BaggingRegressor
    from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from woodwind.estimators.boosting.translate import translate
    from woodwind.estimators.diagnostics.diversity_tools import bias_variance, measure_diversity
    from woodwind.estimators.dynamic.dynamic_selection import DynamicSelectionClassifier, DynamicSelectionRegressor
    from woodwind.estimators.forests.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
    from woodwind.estimators.forests.forests import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from woodwind.estimators.forests.random_structure import RandomStructureForestClassifier, RandomStructureForestRegressor
    from woodwind.estimators.mixture.mixture_of_experts import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
    from woodwind.estimators.pools.out_of_fold import out_of_fold_predictions
    from woodwind.estimators.pools.voting import VotingClassifier, VotingRegressor
    from woodwind.estimators.selection.ensemble_selection import EnsembleSelection, EnsembleSelectionClassifier, EnsembleSelectionRegressor
    from woodwind.estimators.stacking.blenders import LogisticBlender, NonNegativeBlender
    from woodwind.estimators.stacking.leak_probe import leak_probe
    from woodwind.estimators.stacking.stacking import StackingClassifier, StackingRegressor

__version__ = "0.1.0.dev0"

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "AdditiveClassifier",
    "AdditiveRegressor",
    "AutoEnsembleClassifier",
    "AutoEnsembleRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BayesianLinearAveragingRegressor",
    "BayesianModelAveragingClassifier",
    "BayesianModelAveragingRegressor",
    "BayesianModelCombinationClassifier",
    "BayesianModelCombinationRegressor",
    "DataError",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelection",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LogisticBlender",
    "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor",
    "ModelFileError",
    "NonNegativeBlender",
    "ParameterError",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomStructureForestClassifier",
    "RandomStructureForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "WoodwindError",
    "WoodwindWarning",
    "__version__",
    "bias_variance",
    "diversity",
    "fit",
    "leak_probe",
    "load",
    "losses",
    "measure_diversity",
    "out_of_fold_predictions",
    "translate",
]

_ROOMS = {
    "woodwind.base.errors": ("DataError", "ModelFileError", "ParameterError", "WoodwindError", "WoodwindWarning"),
    "woodwind.estimators.adaptive.adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "woodwind.estimators.adaptive.additive": ("AdditiveClassifier", "AdditiveRegressor"),
    "woodwind.estimators.auto.auto_ensemble": ("AutoEnsembleClassifier", "AutoEnsembleRegressor"),
    "woodwind.estimators.auto.fit": ("fit",),
    "woodwind.estimators.auto.load": ("load",),
    "woodwind.estimators.averaging.model_averaging": ("BayesianModelAveragingClassifier", "BayesianModelAveragingRegressor"),
    "woodwind.estimators.bagging.bagging": ("BaggingClassifier", "BaggingRegressor"),
    "woodwind.estimators.stacking.blenders": ("LogisticBlender", "NonNegativeBlender"),
    "woodwind.estimators.boosting.gradient_boosting": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "woodwind.estimators.dynamic.dynamic_selection": ("DynamicSelectionClassifier", "DynamicSelectionRegressor"),
    "woodwind.estimators.mixture.mixture_of_experts": ("MixtureOfExpertsClassifier", "MixtureOfExpertsRegressor"),
    "woodwind.estimators.forests.forests": (
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    ),
    "woodwind.estimators.diagnostics.diversity_tools": ("bias_variance", "measure_diversity"),
    "woodwind.estimators.averaging.linear_averaging": ("BayesianLinearAveragingRegressor",),
    "woodwind.estimators.averaging.model_combination": ("BayesianModelCombinationClassifier", "BayesianModelCombinationRegressor"),
    "woodwind.estimators.pools.out_of_fold": ("out_of_fold_predictions",),
    "woodwind.estimators.selection.ensemble_selection": ("EnsembleSelection", "EnsembleSelectionClassifier", "EnsembleSelectionRegressor"),
    "woodwind.estimators.stacking.leak_probe": ("leak_probe",),
    "woodwind.estimators.stacking.stacking": ("StackingClassifier", "StackingRegressor"),
    "woodwind.estimators.forests.random_structure": ("RandomStructureForestClassifier", "RandomStructureForestRegressor"),
    "woodwind.estimators.boosting.translate": ("translate",),
    "woodwind.estimators.forests.decision_tree": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "woodwind.estimators.pools.voting": ("VotingClassifier", "VotingRegressor"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}
# Packages that are public as a whole. That of the plots needs matplotlib, which may be absent, so it is not among the names for a star.
_WHOLE = ("diversity", "losses", "plots")


def __getattr__(name: str) -> object:
    if name not in _HOME and name not in _WHOLE:
        raise AttributeError(f"module 'woodwind' has no attribute {name!r}")
    with _without_collecting():
        room = importlib.import_module(_HOME.get(name, f"woodwind.{name}"))
    value: object = getattr(room, name) if name in _HOME else room
    globals()[name] = value  # found once, an ordinary name from then on
    return value


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Importing makes half a million things and no garbage: looking for some takes a tenth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def __dir__() -> list[str]:
    return sorted(__all__)
