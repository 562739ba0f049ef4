"""Woodwind: ensemble learning on tables.

Importing this loads nothing heavy. A public name is looked up when it is first used, and its room is imported then.
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
    from woodwind.estimators.adaboost import AdaBoostClassifier
    from woodwind.estimators.adaboost_numbers import AdaBoostRegressor
    from woodwind.estimators.additive import AdditiveClassifier, AdditiveRegressor
    from woodwind.estimators.auto_ensemble import AutoEnsembleClassifier, AutoEnsembleRegressor
    from woodwind.estimators.auto_fit import fit
    from woodwind.estimators.auto_load import load
    from woodwind.estimators.averaging import BayesianModelAveragingClassifier, BayesianModelAveragingRegressor
    from woodwind.estimators.bagging import BaggingClassifier, BaggingRegressor
    from woodwind.estimators.blenders import LogisticBlender, NonNegativeBlender
    from woodwind.estimators.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from woodwind.estimators.dynamic import DynamicSelectionClassifier, DynamicSelectionRegressor
    from woodwind.estimators.experts import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
    from woodwind.estimators.forests import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from woodwind.estimators.laboratory import bias_variance, measure_diversity
    from woodwind.estimators.leak_probe import leak_probe
    from woodwind.estimators.linear_averaging import BayesianLinearAveragingRegressor
    from woodwind.estimators.model_combination import BayesianModelCombinationClassifier, BayesianModelCombinationRegressor
    from woodwind.estimators.out_of_fold import out_of_fold_predictions
    from woodwind.estimators.selection import EnsembleSelection, EnsembleSelectionClassifier, EnsembleSelectionRegressor
    from woodwind.estimators.stacking import StackingClassifier, StackingRegressor
    from woodwind.estimators.structure import RandomStructureForestClassifier, RandomStructureForestRegressor
    from woodwind.estimators.translate import translate
    from woodwind.estimators.trees import DecisionTreeClassifier, DecisionTreeRegressor
    from woodwind.estimators.voting import VotingClassifier, VotingRegressor

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
    "woodwind.estimators.adaboost": ("AdaBoostClassifier",),
    "woodwind.estimators.adaboost_numbers": ("AdaBoostRegressor",),
    "woodwind.estimators.additive": ("AdditiveClassifier", "AdditiveRegressor"),
    "woodwind.estimators.auto_ensemble": ("AutoEnsembleClassifier", "AutoEnsembleRegressor"),
    "woodwind.estimators.auto_fit": ("fit",),
    "woodwind.estimators.auto_load": ("load",),
    "woodwind.estimators.averaging": ("BayesianModelAveragingClassifier", "BayesianModelAveragingRegressor"),
    "woodwind.estimators.bagging": ("BaggingClassifier", "BaggingRegressor"),
    "woodwind.estimators.blenders": ("LogisticBlender", "NonNegativeBlender"),
    "woodwind.estimators.boosting": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "woodwind.estimators.dynamic": ("DynamicSelectionClassifier", "DynamicSelectionRegressor"),
    "woodwind.estimators.experts": ("MixtureOfExpertsClassifier", "MixtureOfExpertsRegressor"),
    "woodwind.estimators.forests": (
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    ),
    "woodwind.estimators.laboratory": ("bias_variance", "measure_diversity"),
    "woodwind.estimators.linear_averaging": ("BayesianLinearAveragingRegressor",),
    "woodwind.estimators.model_combination": ("BayesianModelCombinationClassifier", "BayesianModelCombinationRegressor"),
    "woodwind.estimators.out_of_fold": ("out_of_fold_predictions",),
    "woodwind.estimators.selection": ("EnsembleSelection", "EnsembleSelectionClassifier", "EnsembleSelectionRegressor"),
    "woodwind.estimators.leak_probe": ("leak_probe",),
    "woodwind.estimators.stacking": ("StackingClassifier", "StackingRegressor"),
    "woodwind.estimators.structure": ("RandomStructureForestClassifier", "RandomStructureForestRegressor"),
    "woodwind.estimators.translate": ("translate",),
    "woodwind.estimators.trees": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "woodwind.estimators.voting": ("VotingClassifier", "VotingRegressor"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}
# Rooms that are public as a whole. That of the pictures needs matplotlib, which may be absent, so it is not among the names for a star.
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
