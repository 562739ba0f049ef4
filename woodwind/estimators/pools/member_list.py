"""The list of members that an ensemble is made of: what may be given, how members are called, and what is no member."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.estimators.base.base_learner import check_estimator
from woodwind.estimators.base.matrix import TableToMatrix
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.estimators.forests.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

Integers = NDArray[np.int64]
Pairs = list[tuple[str, Any]]

DROP = "drop"
# Strengths of regularisation that the linear model of numbers chooses from; columns are standardised.
RIDGES = tuple(10.0**power for power in range(-2, 5))
# Rooms of scikit-learn whose ensembles teach their members the numbers of classes instead of labels.
NUMBERING = ("sklearn.ensemble._forest", "sklearn.ensemble._bagging")
# Rooms whose members answer other questions than the ensemble: one class against others, one target of several.
OF_PARTS = ("sklearn.multiclass", "sklearn.multioutput")


class NamedMember(NamedTuple):
    """A member, trained or not."""

    name: str
    estimator: Any
    columns: Integers | None = None  # the columns that it sees; None for all
    labels: NDArray[Any] | None = None  # what the class numbers stand for that it speaks of; None where it speaks of labels


def default_pool(classifies: bool) -> Pairs:
    """The members that are meant by None: models of different kinds, each for any table."""
    if classifies:
        return [
            ("gradient_boosting", GradientBoostingClassifier()),
            ("random_forest", RandomForestClassifier()),
            ("extra_trees", ExtraTreesClassifier()),
            ("linear", make_pipeline(TableToMatrix(), LogisticRegression(max_iter=1000))),
        ]
    return [
        ("gradient_boosting", GradientBoostingRegressor()),
        ("random_forest", RandomForestRegressor()),
        ("extra_trees", ExtraTreesRegressor()),
        ("linear", make_pipeline(TableToMatrix(), RidgeCV(alphas=RIDGES))),
    ]


def are_fitted(members: Iterable[NamedMember]) -> bool:
    """Whether every one of them is trained."""
    return all(is_fitted(member.estimator) for member in members)


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator is trained."""
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        return False
    return True


def pairs_of(estimators: Any) -> Pairs:
    """Names and estimators of a list or a dict as far as they can be told; nothing is checked, and what has no members has no pairs.

    An estimator without a name is called by its type in small letters, with a number where there are several.
    """
    if isinstance(estimators, Mapping):
        return [(name, estimator) for name, estimator in estimators.items() if isinstance(name, str)]
    if not isinstance(estimators, list | tuple):
        return []
    times = Counter(_kind_of(one) for one in estimators if not _is_pair(one))
    seen: Counter[str] = Counter()
    out: Pairs = []
    for one in estimators:
        if _is_pair(one):
            out.append((one[0], one[1]))
            continue
        kind = _kind_of(one)
        seen[kind] += 1
        out.append((kind if times[kind] == 1 else f"{kind}-{seen[kind]}", one))
    return out


def deep_parameters(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Estimators by their names, and their parameters as name__parameter."""
    out: dict[str, Any] = {}
    for name, estimator in pairs:
        out[name] = estimator
        if hasattr(estimator, "get_params") and not isinstance(estimator, type):
            out |= {f"{name}__{key}": value for key, value in estimator.get_params(deep=True).items()}
    return out


def _is_pair(one: Any) -> bool:
    return isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[0], str)


def _kind_of(estimator: Any) -> str:
    return type(estimator).__name__.lower()


def named_members(
    estimators: Any, owner: str, classifies: bool, default: Pairs | None = None, reserved: Iterable[str] = ()
) -> list[NamedMember]:
    """The members that are not dropped, checked; `reserved` are names that no member may have: the parameters of the owner."""
    if estimators is None:
        estimators = default_pool(classifies) if default is None else default
    if hasattr(estimators, "estimators_"):
        return _members_of_ensemble(estimators, owner, classifies)
    _check_collection(estimators, owner)
    pairs = pairs_of(estimators)
    _check_names([name for name, _ in pairs], set(reserved), owner)
    members = [NamedMember(name, estimator) for name, estimator in pairs if not _is_dropped(estimator)]
    if not members:
        raise ParameterError(f"{owner}: every member of estimators is 'drop'. At least one is required to be an estimator.")
    for member in members:
        check_estimator(member.estimator, owner, classifies, name=f"member {member.name!r} of estimators")
    return members


def _is_dropped(estimator: Any) -> bool:
    return isinstance(estimator, str) and estimator == DROP


def _check_collection(estimators: Any, owner: str) -> None:
    """Raise unless it is a list or a dict with something in it."""
    example = "estimators=[('forest', RandomForestClassifier()), ('linear', LogisticRegression())]"
    if hasattr(estimators, "fit") and not isinstance(estimators, type):
        raise ParameterError(
            f"{owner}: estimators is a {type(estimators).__name__}, one estimator that has no estimators_. Give several, as in {example}; "
            "or an ensemble that is already fitted, whose members are meant."
        )
    if not isinstance(estimators, list | tuple | Mapping):
        raise ParameterError(f"{owner}: estimators must be a list of estimators, not {estimators!r}. Give it as in {example}.")
    if len(estimators) == 0:
        raise ParameterError(f"{owner}: Invalid 'estimators' attribute: it should be a non-empty list. Give members as in {example}.")
    names = list(estimators) if isinstance(estimators, Mapping) else []
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise ParameterError(f"{owner}: the names of estimators must be text, but {wrong[0]!r} is a {type(wrong[0]).__name__}.")


def _check_names(names: Sequence[str], reserved: set[str], owner: str) -> None:
    """Raise unless members can be told apart, and parameters of members from those of the owner."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise ParameterError(f"{owner}: Names provided are not unique: several members are called {twice[0]!r}. Rename all but one.")
    taken = sorted(reserved & set(names))
    if taken:
        raise ParameterError(
            f"{owner}: Estimator names conflict with constructor arguments: {taken[0]!r} is a parameter of {owner}. Rename this member."
        )
    divided = [name for name in names if "__" in name or not name]
    if divided:
        raise ParameterError(
            f"{owner}: Estimator names must not contain __ or be empty, but there is {divided[0]!r}. Two underlines stand between the name "
            "of a member and that of its parameter."
        )


def _members_of_ensemble(ensemble: Any, owner: str, classifies: bool) -> list[NamedMember]:
    """The trained members of an ensemble, with the columns that each sees."""
    kind = type(ensemble).__name__
    if is_regressor(ensemble) if classifies else is_classifier(ensemble):
        raise ParameterError(f"{owner}: estimators is a {kind}, but it must be {'a classifier' if classifies else 'a regressor'}.")
    found = ensemble.estimators_
    trained = list(found.ravel()) if isinstance(found, np.ndarray) and 1 in found.shape[1:] else list(found)
    whole = all(hasattr(one, "predict") and (is_classifier(one) if classifies else not is_classifier(one)) for one in trained)
    stages = isinstance(found, np.ndarray) or type(ensemble).__module__.startswith(OF_PARTS)
    if not trained or not whole or stages:
        raise ParameterError(
            f"{owner}: the members of the {kind} that estimators is are no models of their own: each learns a part of the answer. "
            "Give an ensemble of whole models, such as a forest, bagging or voting; or a list of models."
        )
    names = list(getattr(ensemble, "named_estimators_", ()))
    names = names if len(names) == len(trained) else [f"{_kind_of(one)}-{position}" for position, one in enumerate(trained, 1)]
    labels = _numbered_labels(ensemble, trained, owner) if classifies else None
    columns = _columns_of(ensemble, len(trained))
    return [NamedMember(*one, labels) for one in zip(names, trained, columns, strict=True)]


def _columns_of(ensemble: Any, count: int) -> list[Integers | None]:
    """The columns that each member of an ensemble was given."""
    given = getattr(ensemble, "estimators_features_", None)
    if given is None:
        return [None] * count
    every = np.arange(getattr(ensemble, "n_features_in_", -1))
    return [None if np.array_equal(columns, every) else np.asarray(columns, np.int64) for columns in given]


def _numbered_labels(ensemble: Any, trained: Sequence[Any], owner: str) -> NDArray[Any] | None:
    """The labels whose numbers the members of an ensemble speak of; None where they speak of labels."""
    classes = getattr(ensemble, "classes_", None)
    if classes is None:
        return None
    spoken = {label for one in trained for label in np.asarray(getattr(one, "classes_", [])).tolist()}
    numbers = spoken <= set(range(len(classes)))
    if numbers and type(ensemble).__module__.startswith(NUMBERING):
        return np.asarray(classes)
    if spoken <= set(np.asarray(classes).tolist()):
        return None
    if numbers:
        return np.asarray(classes)
    odd = sorted(map(repr, spoken - set(np.asarray(classes).tolist())))
    raise ParameterError(
        f"{owner}: members of the {type(ensemble).__name__} that estimators is know the classes {', '.join(odd[:3])}, which the ensemble "
        "itself does not. Give its members as a list."
    )
