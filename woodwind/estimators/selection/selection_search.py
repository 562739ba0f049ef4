"""From parameters to a search: which function of `woodwind.selection` chooses the members."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import key
from woodwind.estimators.base.bootstrap_checks import read_oob_score
from woodwind.estimators.base.target import Target
from woodwind.estimators.selection.pruned import can_be_pruned
from woodwind.losses.base import Loss
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.losses.named import CLASSIFICATION, REGRESSION, classification_loss, loss_named, regression_loss
from woodwind.losses.regression import Absolute, Squared
from woodwind.metrics.named import find_metric
from woodwind.selection.clusters import clustered
from woodwind.selection.exhaustive import MOST_MEMBERS, exhaustive
from woodwind.selection.genetic import GeneticSettings, genetic
from woodwind.selection.greedy import bagged, greedy
from woodwind.selection.member_selection import MemberSelection, first_of
from woodwind.selection.objectives import Metric, Objective, objective_of, squared_distances, with_diversity
from woodwind.selection.ordering import ordered

Floats = NDArray[np.float64]
Values = dict[str, Any]


def members_wanted(values: Values, m: int, owner: str) -> int | None:
    """How many members to keep; None for as many as score best. What cannot be is said before any work."""
    wanted = values["n_selected"]
    if values["method"] == "exhaustive" and m > MOST_MEMBERS:
        raise ParameterError(
            f"{owner}: method='exhaustive' tries all choices of at most {MOST_MEMBERS} members, but there are {m}. "
            "Use method='greedy' or 'genetic', or give fewer members."
        )
    if wanted == "auto":
        return None
    if isinstance(wanted, int) and wanted > m:
        raise ParameterError(f"{owner}: n_selected={wanted}, but there are {m} members. Give at most as many, a share, or 'auto'.")
    return wanted if isinstance(wanted, int) else max(1, math.ceil(round(wanted * m, 9)))


def search(values: Values, objective: Objective, predicted: Floats, target: Target, weight: Floats | None, seed: int) -> MemberSelection:
    """Choose."""
    method, most = values["method"], members_wanted(values, predicted.shape[1], "search")
    if method == "ordering":
        return first_of(objective, ordered(values["order"], predicted, target.y, objective, weight), most)
    if method == "clustering":
        how_many = values["clusters_by"] if most is None else most
        more: Values = {"linkage": values["linkage"], "seed": key(seed, "clusters")}
        return clustered(objective, squared_distances(predicted, weight), how_many, **more)
    if method == "genetic":
        breeding = GeneticSettings(values["n_generations"], values["population"], genes=values["genes"])
        return genetic(objective, key(seed, "genetic"), breeding, most)
    if method == "exhaustive":
        return exhaustive(objective, most)
    replace = not can_be_pruned(values["estimators"]) if values["with_replacement"] == "auto" else values["with_replacement"]
    options: Values = {"replace": replace, "start": values["n_start"], "most": most}
    if values["n_bags"] > 1:
        return bagged(objective, key(seed, "bags"), values["n_bags"], values["bag_share"], values["n_steps"], **options)
    return greedy(objective, values["n_steps"], **options)


# ----------------------------------------------------------------------------------------------------
# By what selections of members are scored: names, scorers, losses and functions become objectives of `woodwind.selection`.

# Scorers of scikit-learn and losses that the objectives know by heart.
OF_CLASSES = {
    None: "log_loss", "log_loss": "log_loss", "neg_log_loss": "log_loss", "accuracy": "accuracy",
    "brier": "brier", "neg_brier_score": "brier",
}  # fmt: skip
OF_REGRESSION = {
    None: "squared_error", "squared_error": "squared_error", "neg_mean_squared_error": "squared_error",
    "absolute_error": "absolute_error", "neg_mean_absolute_error": "absolute_error", "mse": "squared_error", "mae": "absolute_error",
}  # fmt: skip
# Functions of scikit-learn whose names end so are better when they are smaller.
SMALLER_IS_BETTER = ("_error", "_loss", "_deviance")


def objective_for(scoring: Any, model: Any, predicted: Floats, target: Target, weight: Floats | None, diversity: float) -> Objective:
    """What a model selects its members by, from what these predict for rows and what is true of them."""
    metric = read_metric(scoring, model, predicted, target, weight)
    objective = objective_of(predicted, target.y, metric, weight, model._threads)
    return with_diversity(objective, predicted, diversity, weight)


def read_metric(scoring: Any, model: Any, predicted: Floats, target: Target, weight: Floats | None) -> str | Metric:
    """The name of a metric that objectives know, or a function of (truth, mean, weight)."""
    owner, known = type(model).__name__, OF_CLASSES if target.classes is not None else OF_REGRESSION
    scoring = _plain_name(scoring)
    if scoring is None or (isinstance(scoring, str) and scoring in known):
        return known[scoring]
    if isinstance(scoring, str) and scoring in ("roc_auc", "auc") and target.n_classes == 2:
        return "roc_auc"
    losses = CLASSIFICATION if target.classes is not None else REGRESSION
    if isinstance(scoring, str) and scoring in losses:
        scoring = classification_loss(scoring, target.n_classes) if target.classes is not None else regression_loss(scoring)
    if isinstance(scoring, Loss):
        return _by_loss(scoring, predicted, target, weight, owner)
    if not isinstance(scoring, str) and not callable(scoring):
        raise ParameterError(
            f"{owner}: scoring must be None, the name of a scorer or of a loss, a scorer, a loss or a function of the truth and the "
            f"prediction, but it is {scoring!r}."
        )
    return _by_scorer(scoring, model, target)


def _plain_name(scoring: Any) -> Any:
    """Our name of a metric or a loss that was named in the manner of another library; scikit-learn's scorers keep theirs."""
    if not isinstance(scoring, str) or scoring in sklearn.metrics.get_scorer_names():
        return scoring
    metric, loss = find_metric(scoring), loss_named(scoring)
    return metric.name if metric is not None else loss[0] if loss is not None else scoring


def _by_loss(loss: Loss, predicted: Floats, target: Target, weight: Floats | None, owner: str) -> str | Metric:
    """Minus a loss; of one that depends on the spread of errors, as it stands for the mean of all members."""
    simple: dict[type, str] = {LogLoss: "log_loss", Multinomial: "log_loss", Squared: "squared_error", Absolute: "absolute_error"}
    if type(loss) in simple and (predicted.ndim == 3) == (simple[type(loss)] == "log_loss"):
        return simple[type(loss)]
    fits = predicted.ndim == 2 if type(loss) in REGRESSION.values() else predicted.ndim == 3 and predicted.shape[2] == max(loss.width, 2)
    if not fits:
        raise ParameterError(f"{owner}: scoring={loss!r} is a loss for another task, or for another number of classes.")

    def raw_of(mean: Floats) -> Floats:
        return np.asarray(loss.link.to_score(mean[:, 1] if mean.ndim == 2 and loss.width == 1 else mean))

    loss.check_target(target.y)
    resolved = loss.resolved(target.y, raw_of(predicted.mean(axis=1)), weight)

    def metric(truth: NDArray[Any], mean: Floats, weight: Floats | None) -> float:
        return -resolved.value(truth, raw_of(mean), weight)

    return metric


def _by_scorer(scoring: Any, model: Any, target: Target) -> Metric:
    """A scorer of scikit-learn, or a function of the truth and the prediction."""
    score = read_oob_score(scoring, model, "scoring")
    assert score is not None
    sign = -1.0 if is_small(scoring) else 1.0
    classes = target.classes

    def of_numbers(truth: NDArray[Any], mean: Floats, weight: Floats | None) -> float:
        return sign * score(truth, mean, None, weight)

    def of_classes(truth: NDArray[Any], mean: Floats, weight: Floats | None) -> float:
        assert classes is not None
        return sign * score(classes[truth], classes[mean.argmax(axis=1)], mean, weight)

    return of_numbers if classes is None else of_classes


def is_small(scoring: Any) -> bool:
    """Whether it is a plain function that is better when it is smaller, to tell by its name; scorers never are."""
    name = getattr(scoring, "__name__", "")
    plain: Callable[[str], bool] = name.endswith
    return not isinstance(scoring, str) and not hasattr(scoring, "_score_func") and any(map(plain, SMALLER_IS_BETTER))
