"""What a model file can hold beside plain values and arrays: one table of classes, and how they are taken apart and put together.

A file names kinds, never modules or classes: a name that is not in the table is refused. The module of a kind is imported when a file
has such a thing, so that a model of trees loads without scikit-learn. What is declared elsewhere is not listed here once more: losses are
those that their modules declare, and estimators those that are public.

A dataclass, or a named tuple, is persisted field by field. Fields whose names begin with an underscore are caches and left out. On the way
back every field is checked against its annotation and then the whole by its `check()`, if it has one, before anybody uses it. For a class
that is neither, the table names a persister: `parts(thing)` gives what is persisted, `whole(cls, parts)` checks it and gives the thing
again.
"""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from woodwind.base.errors import WoodwindError
from woodwind.store.annotations import fits, is_class_variable, spelt
from woodwind.store.container import Damage, require


class Persister(Protocol):
    """Takes things of some classes apart and puts them together."""

    def parts(self, thing: Any) -> dict[str, Any]:
        """What is persisted of a thing."""

    def whole(self, cls: type, parts: dict[str, Any]) -> Any:
        """The thing, of this class, from what was persisted of it; raises Damage where that is impossible."""


class Kind(NamedTuple):
    """A class that files can hold."""

    home: str  # module:class
    persister: str = ""  # module:name of its persister; none for a dataclass


def _kinds(module: str, *names: str, persister: str = "", named: str = "") -> dict[str, Kind]:
    """Classes of a module, by their names in files: their own, or another where two classes have the same."""
    return {named or name: Kind(f"{module}:{name}", persister) for name in names}


def _sklearn_kinds(module: str, *names: str, persister: str = "SklearnPersister") -> dict[str, Kind]:
    """Classes of another library: in files they have its name before theirs."""
    home = "woodwind.estimators.persistence.sklearn_persistence"
    return {f"{module.split('.', maxsplit=1)[0]}.{name}": Kind(f"{module}:{name}", f"{home}:{persister}") for name in names}


def _position_of(module: str, name: str) -> tuple[str, str]:
    """Where a class is to be found: its module, or for other libraries its package."""
    return (module if module.startswith("woodwind.") else module.split(".", maxsplit=1)[0]), name


_ESTIMATOR = "woodwind.estimators.persistence.persistence:EstimatorPersister"
_AUTO = "woodwind.estimators.persistence.persistence:AutoEnsemblePersister"


def _public_estimators() -> dict[str, Kind]:
    """The classes of `woodwind.estimators` that are public: names with a task at their end, blenders and encoders."""
    endings = ("Classifier", "Regressor", "Ranker", "SurvivalAnalysis", "Blender", "Encoder")
    public = importlib.import_module("woodwind").PUBLIC_HOMES
    homes = {name: home for name, home in public.items() if home.startswith("woodwind.estimators.") and name.endswith(endings)}
    return {name: Kind(f"{home}:{name}", _ESTIMATOR) for name, home in homes.items()}


_LISTED: dict[str, Kind] = {
    # What predicts without scikit-learn.
    **_kinds("woodwind.tree.forest", "Forest"),
    **_kinds("woodwind.tree.compact_forest", "CompactForest"),
    **_kinds("woodwind.tree.leaf_targets", "LeafRows"),
    **_kinds("woodwind.tree.grown_tree", "ValuedTree"),
    **_kinds("woodwind.tree.linear_leaves", "LinearLeaves"),
    **_kinds("woodwind.data.tables.schema", "Schema"),
    **_kinds("woodwind.data.tables.fields", "NumberField", "EmptyField", "CategoryField", "StatisticsField", "TimeField"),
    **_kinds("woodwind.data.tables.fields", "OpenCategoryField", "SentinelField"),
    **_kinds(
        "woodwind.data.tables.categories", "Categories", "AllCategories", persister="woodwind.data.tables.categories:CategoriesPersister"
    ),
    **_kinds("woodwind.data.tables.schema", "Header"),
    **_kinds("woodwind.data.tables.target_statistics", "TargetStatistics"),
    **_kinds("woodwind.data.tables.matrix_form", "MatrixForm", "NumberPart", "CategoryPart"),
    **_kinds("woodwind.data.binning.cuts", "Cuts"),
    **_kinds("woodwind.data.binning.ranks", "Ranking"),
    **_kinds("woodwind.losses.distribution_score", "DistributionScore"),
    **_kinds("woodwind.distributions.censored", "CensoredDistribution"),
    **_kinds("woodwind.losses.several_targets", "SeveralTargetsLoss"),
    **_kinds("woodwind.auto.model", "AutoModel"),
    **_kinds("woodwind.auto.several_targets", "SeveralTargetsModel"),
    **_kinds("woodwind.auto.intervals", "PredictionIntervals"),
    **_kinds("woodwind.auto.members.tree_members", "ForestMember", "CompactForestMember", "MeanMember"),
    **_kinds("woodwind.auto.members.target_encoding", "EncodedMember", "Encoding"),
    **_kinds("woodwind.auto.members.linear_member", "LinearMember"),
    **_kinds("woodwind.auto.members.knn_member", "KnnMember"),
    **_kinds("woodwind.auto.members.mlp_member", "MlpMember", "PiecewiseInputs"),
    **_kinds("woodwind.auto.outcome", "Entry"),
    # Parts of estimators.
    **_kinds("woodwind.ensemble.boosting.training", "TrainedBoosting"),
    **_kinds("woodwind.ensemble.resampling", "Resampling"),
    **_kinds("woodwind.ensemble.additive", "AdditiveMember"),
    **_kinds("woodwind.ensemble.blend", "LogPool", "LinearPool"),
    **_kinds("woodwind.ensemble.conformal", "ConformityScores"),
    **_kinds("woodwind.ensemble.mixture_of_experts", "SoftmaxGate", "GateTree"),
    **_kinds("woodwind.ensemble.subsets", "SubsetModels"),
    **_kinds("woodwind.selection.facts", "SelectionFacts", "RegressionFacts"),
    **_kinds("woodwind.selection.neighbours", "Search"),
    **_kinds("woodwind.selection.regions", "BalancedSearch", "ClusterSearch", "FastSearch"),
    **_kinds("woodwind.selection.competence_meta", "NaiveBayes"),
    **_kinds("woodwind.selection.competence_meta", "MetaModel"),
    **_kinds("woodwind.selection.competence_confidence", "ConfidenceModel"),
    **_kinds("woodwind.selection.choice_diverse", "Clusters"),
    **_kinds("woodwind.selection.methods", "Method", persister="woodwind.selection.methods:MethodPersister"),
    **_kinds("woodwind.estimators.base.target", "Target"),
    **_kinds("woodwind.estimators.boosting.warm_start", "WarmStartState"),
    **_kinds("woodwind.estimators.pools.members", "EstimatorMembers"),
    **_kinds("woodwind.estimators.pools.members", "BagTask"),
    **_kinds("woodwind.estimators.bagging.tree_members", "TreeMembers"),
    **_kinds("woodwind.estimators.adaptive.adaboost_base", "AdaptiveModel"),
    **_kinds("woodwind.estimators.adaptive.second_level", "SecondLevel"),
    **_kinds("woodwind.estimators.adaptive.adaboost_stopping", "BoostingRecord"),
    **_kinds("woodwind.ensemble.adaboost", "AdaptiveState"),
    **_kinds("woodwind.estimators.pools.pool", "Pool"),
    **_kinds("woodwind.estimators.selection.pruned", "TreePool"),
    **_kinds("woodwind.estimators.stacking.layers", "StackingLayer", "Passthrough"),
    **_kinds("woodwind.estimators.mixture.training", "StandardizedColumns"),
    **_kinds("woodwind.estimators.mixture.training", "MixtureParts"),
    **_kinds("woodwind.estimators.stacking.blenders", "TargetScale"),
    **_kinds("woodwind.estimators.dynamic.dynamic_model", "DynamicModel", "Selector", "FeatureSpace"),
    **_kinds("woodwind.estimators.dynamic.dynamic_base", "MetaClassifier", "MetaClassifierTraining"),
    # Estimators: those that are public, and two that are members of them.
    **_public_estimators(),
    **_kinds("woodwind.estimators.auto.auto_ensemble", "AutoEnsembleClassifier", "AutoEnsembleRegressor", persister=_AUTO),
    **_kinds("woodwind.estimators.auto.auto_ranker", "AutoEnsembleRanker", persister=_AUTO),
    **_kinds("woodwind.estimators.mixture.training", "SoftmaxRegression", persister=_ESTIMATOR),
    **_kinds("woodwind.estimators.base.matrix", "TableToMatrix", persister=_ESTIMATOR),
    # Of other libraries: classes whose fitted state is arrays and plain values.
    **_sklearn_kinds("sklearn.linear_model", "LogisticRegression", "LinearRegression", "Ridge", "RidgeCV", "RidgeClassifier"),
    **_sklearn_kinds("sklearn.linear_model", "Lasso", "ElasticNet"),
    **_sklearn_kinds("sklearn.preprocessing", "StandardScaler", "MinMaxScaler", "RobustScaler", "LabelBinarizer"),
    **_sklearn_kinds("sklearn.neural_network", "MLPClassifier", "MLPRegressor"),
    **_sklearn_kinds("sklearn.dummy", "DummyClassifier", "DummyRegressor"),
    **_sklearn_kinds("sklearn.naive_bayes", "GaussianNB"),
    **_sklearn_kinds("sklearn.pipeline", "Pipeline"),
    **_sklearn_kinds("sklearn.neighbors", "KNeighborsClassifier", "KNeighborsRegressor"),
    **_sklearn_kinds("sklearn.tree", "DecisionTreeClassifier", "DecisionTreeRegressor"),
    **_sklearn_kinds(
        "sklearn.model_selection", "KFold", "StratifiedKFold", "GroupKFold", "StratifiedGroupKFold", persister="SplitterPersister"
    ),
    **_sklearn_kinds("sklearn.model_selection", "TimeSeriesSplit", "ShuffleSplit", "StratifiedShuffleSplit", persister="SplitterPersister"),
    **_sklearn_kinds("sklearn.utils", "Bunch", persister="BunchPersister"),
    **_sklearn_kinds("numpy.random", "RandomState", persister="RandomStatePersister"),
}

# Modules of which every class in `__all__` is a kind. They are imported when a name is asked for that is not listed above.
_DECLARING = (
    "woodwind.losses.regression",
    "woodwind.losses.classification",
    "woodwind.losses.ranking",
    "woodwind.losses.survival",
    "woodwind.distributions.location_scale",
    "woodwind.distributions.positive",
    "woodwind.distributions.counts",
    "woodwind.distributions.classes",
)


class _Kinds(Mapping[str, Kind]):
    """All kinds by their names in files."""

    def __init__(self, listed: dict[str, Kind]) -> None:
        self._known, self._complete = listed, False

    def __getitem__(self, name: str) -> Kind:
        if name not in self._known:
            self._complete_it()
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        self._complete_it()
        return iter(self._known)

    def __len__(self) -> int:
        self._complete_it()
        return len(self._known)

    def _complete_it(self) -> None:
        if not self._complete:
            for module in _DECLARING:
                self._known |= _kinds(module, *importlib.import_module(module).__all__)
            self._complete = True


KINDS: Mapping[str, Kind] = _Kinds(_LISTED)

# Kinds of which one part predicts alone: who needs no more is spared the rest, and what that imports.
CORES = {"AutoEnsembleClassifier": "model_", "AutoEnsembleRegressor": "model_", "AutoEnsembleRanker": "model_"}

# Classes of other libraries live in other modules than they are imported from: these are found by package.
_BY_CLASS = {(_position_of(*kind.home.split(":"))): name for name, kind in _LISTED.items()}


def kind_of(thing: Any) -> str | None:
    """The kind of a thing; None if it is of a class that files cannot hold, such as a class derived from one that they can."""
    cls = type(thing)
    declared = cls.__name__ if cls.__module__ in _DECLARING and cls.__name__ in KINDS else None
    name = _BY_CLASS.get(_position_of(cls.__module__, cls.__qualname__), declared)
    return name if name is not None and class_of(name) is cls else None


def class_of(name: str) -> type:
    """The class of a kind."""
    return cast(type, _found(KINDS[name].home))


def _found(home: str) -> Any:
    module, name = home.split(":")
    return getattr(importlib.import_module(module), name)


def parts_of(name: str, thing: Any) -> dict[str, Any]:
    """What is persisted of a thing of this kind."""
    persister = KINDS[name].persister
    if persister:
        return cast(Persister, _found(persister)).parts(thing)
    return {field: getattr(thing, field) for field in hints_of(type(thing))}


def shown_of(name: str) -> frozenset[str]:
    """Parts of things of this kind that hold what others hold already, for people to look at: nobody who asks a model goes through them."""
    persister = KINDS[name].persister
    found: frozenset[str] = getattr(_found(persister), "SHOWN", frozenset()) if persister else frozenset()
    return found


def whole_of(name: str, parts: dict[str, Any]) -> Any:
    """The thing of this kind that these parts make, validated."""
    cls, persister = class_of(name), KINDS[name].persister
    try:
        # Sums of forged numbers may overflow on the way to their refusal, which says enough.
        with np.errstate(all="ignore"):
            thing = cast(Persister, _found(persister)).whole(cls, parts) if persister else _from_fields(name, cls, parts)
            if not persister and hasattr(cls, "check"):
                thing.check()
    except WoodwindError as error:
        raise Damage(f"the file is damaged: {name}: {error}") from error
    # Parts that fit their annotations and yet cannot be put together are damage, whatever NumPy or Python say about them.
    except (ArithmeticError, AttributeError, LookupError, MemoryError, OverflowError, TypeError, ValueError) as error:
        raise Damage(f"the file is damaged: {name} cannot be put together from its parts ({type(error).__name__}: {error}).") from error
    return thing


def _from_fields(name: str, cls: type, parts: dict[str, Any]) -> Any:
    """A field that is younger than the file, which its class names in YOUNGER, has its default."""
    young = getattr(cls, "YOUNGER", ())
    if young:
        parts = {field.name: field.default for field in fields(cls) if field.name in young} | parts
    check_parts(name, parts, hints_of(cls))
    return cls(**parts)


def check_parts(name: str, parts: dict[str, Any], hints: dict[str, Any]) -> None:
    """All parts are there, no others are, and each fits its annotation."""
    missing, extra = hints.keys() - parts.keys(), parts.keys() - hints.keys()
    require(not missing, f"{name} has no {', '.join(sorted(missing))}")
    require(not extra, f"{name} has parts that it should not have: {', '.join(sorted(extra))[:100]}")
    for part, hint in hints.items():
        require(fits(parts[part], hint), f"{part} of {name} is not what it should be ({spelt(hint)})")


_HINTS: dict[type, dict[str, Any]] = {}


def hints_of(cls: type) -> dict[str, Any]:
    """The fields of a dataclass or named tuple that are kept, with their annotations."""
    if cls not in _HINTS:
        if is_dataclass(cls):
            found = {field.name: field.type for field in fields(cls) if field.init and not _is_cache(field)}
        else:
            found = {field: cls.__annotations__[field] for field in cls._fields}  # type: ignore[attr-defined]
        _HINTS[cls] = {field: hint for field, hint in found.items() if not is_class_variable(hint)}
    return _HINTS[cls]


def _is_cache(field: Any) -> bool:
    return field.name.startswith("_") and (field.default is not MISSING or field.default_factory is not MISSING)
