"""What a model file can hold beside plain values and arrays: one fixed table of classes, and how they are taken apart and put together.

A file names kinds, never modules or classes: a name that is not in the table is refused. The module of a kind is imported when a file
has such a thing, so that a model of trees loads without scikit-learn.

A dataclass, or a named tuple, is kept field by field. Fields whose names begin with an underscore are caches and left out. On the way back
every field is checked against its annotation and then the whole by its `check()`, if it has one, before anybody uses it. For a class that
is neither, the table names a keeper: `parts(thing)` gives what is kept, `whole(cls, parts)` checks it and gives the thing again.
"""

import importlib
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, NamedTuple, Protocol, cast

from woodwind.base.errors import WoodwindError
from woodwind.store.container import Damage, demand
from woodwind.store.hints import fits, is_class_variable, spelt


class Keeper(Protocol):
    """Takes things of some classes apart and puts them together."""

    def parts(self, thing: Any) -> dict[str, Any]:
        """What is kept of a thing."""

    def whole(self, cls: type, parts: dict[str, Any]) -> Any:
        """The thing, of this class, from what was kept of it; raises Damage where that is impossible."""


class Kind(NamedTuple):
    """A class that files can hold."""

    home: str  # module:class
    keeper: str = ""  # module:name of its keeper; none for a dataclass


def _kinds(module: str, *names: str, keeper: str = "", named: str = "") -> dict[str, Kind]:
    """Classes of a module, by their names in files: their own, or another where two classes have the same."""
    return {named or name: Kind(f"{module}:{name}", keeper) for name in names}


def _theirs(module: str, *names: str, keeper: str = "TheirKeeper") -> dict[str, Kind]:
    """Classes of another library: in files they have its name before theirs."""
    home = "woodwind.estimators.kept_theirs"
    return {f"{module.split('.', maxsplit=1)[0]}.{name}": Kind(f"{module}:{name}", f"{home}:{keeper}") for name in names}


def _place_of(module: str, name: str) -> tuple[str, str]:
    """Where a class is to be found: its module, or for other libraries its package."""
    return (module if module.startswith("woodwind.") else module.split(".", maxsplit=1)[0]), name


_OURS = "woodwind.estimators.kept:EstimatorKeeper"
_AUTO = "woodwind.estimators.kept:AutoKeeper"

KINDS: dict[str, Kind] = {
    # What predicts without scikit-learn.
    **_kinds("woodwind.tree.forest", "Forest"),
    **_kinds("woodwind.tree.grove", "Grove"),
    **_kinds("woodwind.tree.leaf_targets", "LeafRows"),
    **_kinds("woodwind.tree.assemble", "ValuedTree"),
    **_kinds("woodwind.data.schema", "Schema"),
    **_kinds("woodwind.data.fields", "NumberField", "EmptyField", "CategoryField", "TimeField"),
    **_kinds("woodwind.data.categories", "Levels", keeper="woodwind.data.categories:LevelsKeeper"),
    **_kinds("woodwind.data.header", "Header"),
    **_kinds("woodwind.data.matrix_form", "MatrixForm", "NumberPart", "LevelPart"),
    **_kinds("woodwind.data.cuts", "Cuts"),
    **_kinds("woodwind.data.ranks", "Ranking"),
    **_kinds("woodwind.losses.regression", "Squared", "Absolute", "Huber", "Quantile", "Poisson", "Gamma", "Tweedie"),
    **_kinds("woodwind.losses.classification", "LogLoss", "Exponential", "Multinomial"),
    **_kinds("woodwind.auto.model", "AutoModel"),
    **_kinds("woodwind.auto.members", "ForestMember", "GroveMember", "MeanMember"),
    **_kinds("woodwind.auto.encoding", "EncodedMember", "Encoding"),
    **_kinds("woodwind.auto.plain_linear", "LinearMember"),
    **_kinds("woodwind.auto.plain_neighbours", "NeighboursMember"),
    **_kinds("woodwind.auto.plain_net", "NetMember", "Pieces"),
    **_kinds("woodwind.auto.outcome", "Entry"),
    # Parts of estimators.
    **_kinds("woodwind.ensemble.training", "Trained"),
    **_kinds("woodwind.ensemble.drawing", "Drawing"),
    **_kinds("woodwind.ensemble.additive", "Member", named="AdditiveMember"),
    **_kinds("woodwind.ensemble.blend", "LogPool", "LinearPool"),
    **_kinds("woodwind.ensemble.gate", "Softmax"),
    **_kinds("woodwind.ensemble.subsets", "Models", named="Subsets"),
    **_kinds("woodwind.select.facts", "SelectionFacts", "NumberFacts"),
    **_kinds("woodwind.select.neighbours", "Search"),
    **_kinds("woodwind.select.regions", "BalancedSearch", "ClusterSearch", "FastSearch"),
    **_kinds("woodwind.select.competence_meta", "NaiveBayes"),
    **_kinds("woodwind.select.competence_meta", "Learnt", named="LearntMeta"),
    **_kinds("woodwind.select.competence_confidence", "Learnt", named="LearntConfidence"),
    **_kinds("woodwind.select.choice_diverse", "Clusters"),
    **_kinds("woodwind.select.methods", "Method", keeper="woodwind.select.methods:MethodKeeper"),
    **_kinds("woodwind.estimators.target", "Target"),
    **_kinds("woodwind.estimators.boosted", "Earlier"),
    **_kinds("woodwind.estimators.members", "AnyMembers"),
    **_kinds("woodwind.estimators.members", "Task", named="BagTask"),
    **_kinds("woodwind.estimators.tree_members", "TreeMembers"),
    **_kinds("woodwind.estimators.adaptive_model", "AdaptiveModel"),
    **_kinds("woodwind.estimators.second_level", "SecondLevel"),
    **_kinds("woodwind.estimators.pool", "Pool"),
    **_kinds("woodwind.estimators.pruned", "TreePool"),
    **_kinds("woodwind.estimators.stacking_layers", "Layer", "Passage"),
    **_kinds("woodwind.estimators.mixture", "Columns"),
    **_kinds("woodwind.estimators.mixture", "Parts", named="MixtureParts"),
    **_kinds("woodwind.estimators.blenders", "Scale"),
    **_kinds("woodwind.estimators.dynamic_model", "DynamicModel", "Manner", "Space"),
    **_kinds("woodwind.estimators.dynamic_skin", "Judge", "JudgeTraining"),
    # Estimators.
    **_kinds("woodwind.estimators.boosting", "GradientBoostingClassifier", "GradientBoostingRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.trees", "DecisionTreeClassifier", "DecisionTreeRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.forests", "RandomForestClassifier", "RandomForestRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.forests", "ExtraTreesClassifier", "ExtraTreesRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.structure", "RandomStructureForestClassifier", "RandomStructureForestRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.adaboost", "AdaBoostClassifier", keeper=_OURS),
    **_kinds("woodwind.estimators.adaboost_numbers", "AdaBoostRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.additive", "AdditiveClassifier", "AdditiveRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.bagging", "BaggingClassifier", "BaggingRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.averaging", "BayesianModelAveragingClassifier", "BayesianModelAveragingRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.linear_averaging", "BayesianLinearAveragingRegressor", keeper=_OURS),
    **_kinds(
        "woodwind.estimators.model_combination", "BayesianModelCombinationClassifier", "BayesianModelCombinationRegressor", keeper=_OURS
    ),
    **_kinds("woodwind.estimators.dynamic", "DynamicSelectionClassifier", "DynamicSelectionRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.selection", "EnsembleSelectionClassifier", "EnsembleSelectionRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.blenders", "LogisticBlender", "NonNegativeBlender", keeper=_OURS),
    **_kinds("woodwind.estimators.experts", "MixtureOfExpertsClassifier", "MixtureOfExpertsRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.stacking", "StackingClassifier", "StackingRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.voting", "VotingClassifier", "VotingRegressor", keeper=_OURS),
    **_kinds("woodwind.estimators.auto_ensemble", "AutoEnsembleClassifier", "AutoEnsembleRegressor", keeper=_AUTO),
    **_kinds("woodwind.estimators.softmax", "SoftmaxRegression", keeper=_OURS),
    **_kinds("woodwind.estimators.matrix", "TableToMatrix", keeper=_OURS),
    # Of other libraries: classes whose fitted state is arrays and plain values.
    **_theirs("sklearn.linear_model", "LogisticRegression", "LinearRegression", "Ridge", "RidgeCV", "RidgeClassifier"),
    **_theirs("sklearn.linear_model", "Lasso", "ElasticNet"),
    **_theirs("sklearn.preprocessing", "StandardScaler", "MinMaxScaler", "RobustScaler", "LabelBinarizer"),
    **_theirs("sklearn.neural_network", "MLPClassifier", "MLPRegressor"),
    **_theirs("sklearn.dummy", "DummyClassifier", "DummyRegressor"),
    **_theirs("sklearn.naive_bayes", "GaussianNB"),
    **_theirs("sklearn.pipeline", "Pipeline"),
    **_theirs("sklearn.neighbors", "KNeighborsClassifier", "KNeighborsRegressor"),
    **_theirs("sklearn.tree", "DecisionTreeClassifier", "DecisionTreeRegressor"),
    **_theirs("sklearn.model_selection", "KFold", "StratifiedKFold", "GroupKFold", "StratifiedGroupKFold", keeper="SplitterKeeper"),
    **_theirs("sklearn.model_selection", "TimeSeriesSplit", "ShuffleSplit", "StratifiedShuffleSplit", keeper="SplitterKeeper"),
    **_theirs("sklearn.utils", "Bunch", keeper="BunchKeeper"),
    **_theirs("numpy.random", "RandomState", keeper="RandomStateKeeper"),
}

# Kinds of which one part predicts alone: who needs no more is spared the rest, and what that imports.
CORES = {"AutoEnsembleClassifier": "model_", "AutoEnsembleRegressor": "model_"}

# Classes of other libraries live in other modules than they are imported from: these are found by package.
_BY_CLASS = {(_place_of(*kind.home.split(":"))): name for name, kind in KINDS.items()}


def kind_of(thing: Any) -> str | None:
    """The kind of a thing; None if it is of a class that files cannot hold, such as a class derived from one that they can."""
    cls = type(thing)
    name = _BY_CLASS.get(_place_of(cls.__module__, cls.__qualname__))
    return name if name is not None and class_of(name) is cls else None


def class_of(name: str) -> type:
    """The class of a kind."""
    return cast(type, _found(KINDS[name].home))


def _found(home: str) -> Any:
    module, name = home.split(":")
    return getattr(importlib.import_module(module), name)


def parts_of(name: str, thing: Any) -> dict[str, Any]:
    """What is kept of a thing of this kind."""
    keeper = KINDS[name].keeper
    if keeper:
        return cast(Keeper, _found(keeper)).parts(thing)
    return {field: getattr(thing, field) for field in hints_of(type(thing))}


def shown_of(name: str) -> frozenset[str]:
    """Parts of things of this kind that hold what others hold already, for people to look at: nobody who asks a model goes through them."""
    keeper = KINDS[name].keeper
    found: frozenset[str] = getattr(_found(keeper), "SHOWN", frozenset()) if keeper else frozenset()
    return found


def whole_of(name: str, parts: dict[str, Any]) -> Any:
    """The thing of this kind that these parts make, proved sound."""
    cls, keeper = class_of(name), KINDS[name].keeper
    try:
        thing = cast(Keeper, _found(keeper)).whole(cls, parts) if keeper else _from_fields(name, cls, parts)
        if not keeper and hasattr(cls, "check"):
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
    demand(not missing, f"{name} has no {', '.join(sorted(missing))}")
    demand(not extra, f"{name} has parts that it should not have: {', '.join(sorted(extra))[:100]}")
    for part, hint in hints.items():
        demand(fits(parts[part], hint), f"{part} of {name} is not what it should be ({spelt(hint)})")


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
