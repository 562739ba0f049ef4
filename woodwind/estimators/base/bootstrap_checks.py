"""What is wrong with the parameters of a bag or a forest, said before any work is done; and how out-of-bag predictions are scored."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier, is_regressor

from woodwind.base.errors import DataError, OutOfBagWarning, ParameterError
from woodwind.base.notice import notice
from woodwind.ensemble.resampling import OutOfBag, Resampling
from woodwind.estimators.base.scoring import by_metric, no_scorer

Floats = NDArray[np.float64]
Values = dict[str, Any]


def check_base(base: Any, bag: Any) -> None:
    """Raise unless the estimator can be a member."""
    owner = type(bag).__name__
    if isinstance(base, type):
        raise ParameterError(f"{owner}: estimator is the class {base.__name__}. Give an instance of it: estimator={base.__name__}().")
    missing = [name for name in ("fit", "predict", "get_params", "set_params") if not hasattr(base, name)]
    if missing:
        raise ParameterError(
            f"{owner}: estimator must be an estimator of scikit-learn's kind, but {type(base).__name__} has no {', '.join(missing)}."
        )
    wrong = is_regressor(base) if is_classifier(bag) else is_classifier(base)
    if wrong:
        wanted, other = ("a classifier", "BaggingRegressor") if is_classifier(bag) else ("a regressor", "BaggingClassifier")
        raise ParameterError(f"{owner}: estimator must be {wanted}, and {type(base).__name__} is none. Give {wanted}, or use {other}.")


def check_distributions(distributions: Values, base: Any, owner: str) -> None:
    """Raise unless every name is a parameter of the estimator, and something can be drawn for it."""
    known = base.get_params()
    for name, options in distributions.items():
        if name not in known:
            raise ParameterError(
                f"{owner}: param_distributions names {name!r}, which is no parameter of {type(base).__name__}. "
                f"There are {', '.join(sorted(known))}."
            )
        if name == "random_state" or name.endswith("__random_state"):
            raise ParameterError(f"{owner}: param_distributions must not name {name!r}: each member has a seed of its own already.")
        if hasattr(options, "rvs"):
            continue
        if not _is_list(options):
            raise ParameterError(
                f"{owner}: param_distributions[{name!r}] must be a list of values, not empty, or a distribution with rvs, "
                f"but it is {options!r}."
            )


def _is_list(options: Any) -> bool:
    """Whether one of them can be drawn by its number; a dictionary is asked by its keys."""
    if isinstance(options, str | bytes | Mapping) or getattr(options, "ndim", 1) < 1:
        return False
    return hasattr(options, "__len__") and hasattr(options, "__getitem__") and len(options) > 0


def rows_drawn(values: Values, n_units: int, owner: str, more: bool) -> int:
    """Rows drawn for each member; `more` says whether they may be more than there are."""
    given = values["max_samples"]
    if given is None:
        return n_units
    count = given if isinstance(given, int) else max(1, round(float(given) * n_units))
    if count > n_units and not more:
        raise ParameterError(
            f"{owner}: max_samples={given}, but there are {n_units:,} rows, and with bootstrap={values['bootstrap']} at most so many are "
            "drawn here. Give as many or fewer, or a share."
        )
    return int(count)


def rows_of_fragment(values: Values, n_units: int, owner: str) -> int:
    """Rows of the largest of n_estimators fragments."""
    count, share = values["n_estimators"], values["max_samples"]
    if share != 1.0 or isinstance(share, int):
        raise ParameterError(
            f"{owner}: bootstrap='disjoint' parts all rows among the members, and max_samples={share} would draw some of them. "
            "Leave max_samples at 1.0, or set bootstrap=False for parts that overlap."
        )
    if count > n_units:
        raise ParameterError(
            f"{owner}: bootstrap='disjoint' needs a row for each of the n_estimators={count} members, but there are {n_units:,}. "
            "Set n_estimators lower."
        )
    return int(-(-n_units // count))


def asks_unseen(values: Values) -> str | None:
    """The parameter that asks about rows out of the bag, as it was given; None where none does."""
    if values["oob_score"] is not False:
        return f"oob_score={values['oob_score']!r}"
    return "n_estimators='auto'" if values["n_estimators"] == "auto" else None


def check_oob(values: Values, resampling: Resampling, owner: str) -> None:
    """Raise unless rows are left out that members can be asked about."""
    request = asks_unseen(values)
    if request is not None and not resampling.leaves_rows_out:
        raise ParameterError(
            f"{owner}: Out of bag estimation only available if bootstrap=True or max_samples leaves rows out: {request} needs rows that a "
            f"member has not seen, but bootstrap=False with max_samples={values['max_samples']} shows all rows to every member. "
            "Set one of the two."
        )


def warn_without_out_of_bag(found: OutOfBag, weight: Floats | None, owner: str) -> None:
    """Say which rows have no out-of-bag prediction, of those that weigh anything."""
    silent = found.silent
    if weight is not None:
        silent = silent[weight[silent] > 0.0]
    if silent.size:
        shown = ", ".join(map(str, silent[:5])) + (" ..." if silent.size > 5 else "")
        notice(
            f"{owner}: {silent.size:,} of {len(found.voters):,} rows have no out-of-bag prediction, because every member has "
            f"seen them: rows {shown}. They are NaN, and the score leaves them out. Raise n_estimators.",
            OutOfBagWarning,
        )


# Scoring: a function (truth, labels or numbers, probabilities or None, weight or None) -> float.
Score = Callable[..., float]


def read_oob_score(given: Any, bag: Any, name: str = "oob_score") -> Score | None:
    """How out-of-bag predictions are scored, by the parameter of that name; None for not at all."""
    if given is False:
        return None
    if given is True:
        given = sklearn.metrics.accuracy_score if is_classifier(bag) else sklearn.metrics.r2_score
    if isinstance(given, str) or _is_scorer(given):
        return _by_scorer(_read_scorer(given, bag, name), bag)

    def score(truth: NDArray[Any], predicted: NDArray[Any], _probabilities: Floats | None, weight: Floats | None) -> float:
        return float(given(truth, predicted, **_weighted(given, weight)))

    return score


def _is_scorer(given: Any) -> bool:
    """Scorers take an estimator, a table and the truth; metrics the truth and the prediction."""
    if hasattr(given, "_score_func"):
        return True
    try:
        names = list(inspect.signature(given).parameters)
    except (ValueError, TypeError):
        return False
    return bool(names) and names[0] in ("estimator", "clf", "model")


def _read_scorer(given: Any, bag: Any, name: str) -> Any:
    owner, answers = type(bag).__name__, OutOfBagClassifier() if is_classifier(bag) else OutOfBagRegressor()
    known = by_metric(given, is_classifier(bag), owner, name)
    try:
        return sklearn.metrics.check_scoring(answers, scoring=known)
    except (ValueError, TypeError) as error:
        otherwise = "True" if name == "oob_score" else "None"
        raise no_scorer(error, given, owner, f"a function of the truth and the prediction, or {otherwise}", name) from error


def _by_scorer(scorer: Any, bag: Any) -> Score:
    def score(truth: NDArray[Any], predicted: NDArray[Any], probabilities: Floats | None, weight: Floats | None) -> float:
        answers = OutOfBagRegressor() if probabilities is None else OutOfBagClassifier()
        answers.predicted, answers.probabilities, answers.classes_ = predicted, probabilities, getattr(bag, "classes_", None)
        metric = getattr(scorer, "_score_func", scorer)
        # A table that a scorer never looks at: the answers are known already.
        return float(scorer(answers, np.zeros((len(truth), 1)), truth, **_weighted(metric, weight)))

    return score


def _weighted(metric: Any, weight: Floats | None) -> dict[str, Floats]:
    """Weights for a metric that takes them."""
    if weight is None:
        return {}
    try:
        return {"sample_weight": weight} if "sample_weight" in inspect.signature(metric).parameters else {}
    except (ValueError, TypeError):
        return {}


class FixedOutOfBag(BaseEstimator):
    """Out-of-bag predictions in the place of a model, for scorers."""

    predicted: Any = None
    probabilities: Any = None
    classes_: Any = None

    def fit(self, X: Any, y: Any = None) -> "FixedOutOfBag":
        """Do nothing: there is a method of this name because scikit-learn asks for one."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels or numbers."""
        return np.asarray(self.predicted)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class OutOfBagRegressor(RegressorMixin, FixedOutOfBag):
    """For numbers."""


class OutOfBagClassifier(ClassifierMixin, FixedOutOfBag):
    """For classes."""

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities, or shares of votes."""
        return np.asarray(self.probabilities)


def check_same_draws(now: Resampling, before: Resampling, owner: str) -> None:
    """Draws are not stored but drawn again: that takes the same rows and columns."""
    names = ("n_rows", "n_draws", "replace", "n_columns", "n_drawn_columns", "replace_columns", "n_fragments")
    other = [name for name in names if getattr(now, name) != getattr(before, name)]
    if other:
        changes = ", ".join(f"{name} was {getattr(before, name)} and is {getattr(now, name)}" for name in other)
        raise DataError(
            f"{owner}: warm_start=True adds members that are drawn from the same table in the same way, but {changes}. "
            "Fit on the same rows with the same parameters, or set warm_start=False."
        )
