"""By what selections of members are judged: names, scorers, losses and functions become objectives of `woodwind.select`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.estimators.bag_checks import read_oob_score
from woodwind.estimators.target import Target
from woodwind.losses.base import Loss
from woodwind.losses.classification import LogLoss, Multinomial
from woodwind.losses.named import CLASSIFICATION, REGRESSION, classification_loss, loss_named, regression_loss
from woodwind.losses.regression import Absolute, Squared
from woodwind.metrics.named import find_metric
from woodwind.select.objectives import Metric, Objective, objective_of, with_diversity

Floats = NDArray[np.float64]

# Scorers of scikit-learn and losses that the objectives know by heart.
OF_CLASSES = {
    None: "log_loss", "log_loss": "log_loss", "neg_log_loss": "log_loss", "accuracy": "accuracy",
    "brier": "brier", "neg_brier_score": "brier",
}  # fmt: skip
OF_NUMBERS = {
    None: "squared_error", "squared_error": "squared_error", "neg_mean_squared_error": "squared_error",
    "absolute_error": "absolute_error", "neg_mean_absolute_error": "absolute_error", "mse": "squared_error", "mae": "absolute_error",
}  # fmt: skip
# Functions of scikit-learn whose names end so are better when they are smaller.
SMALLER_IS_BETTER = ("_error", "_loss", "_deviance")


def objective_for(scoring: Any, model: Any, said: Floats, target: Target, weight: Floats | None, diversity: float) -> Objective:
    """What a model selects its members by, from what these say of rows and what is true of them."""
    metric = read_metric(scoring, model, said, target, weight)
    objective = objective_of(said, target.y, metric, weight, model._threads)
    return with_diversity(objective, said, diversity, weight)


def read_metric(scoring: Any, model: Any, said: Floats, target: Target, weight: Floats | None) -> str | Metric:
    """The name of a metric that objectives know, or a function of (truth, mean, weight)."""
    owner, known = type(model).__name__, OF_CLASSES if target.classes is not None else OF_NUMBERS
    scoring = _plain_name(scoring)
    if scoring is None or (isinstance(scoring, str) and scoring in known):
        return known[scoring]
    if isinstance(scoring, str) and scoring in ("roc_auc", "auc") and target.n_classes == 2:
        return "roc_auc"
    losses = CLASSIFICATION if target.classes is not None else REGRESSION
    if isinstance(scoring, str) and scoring in losses:
        scoring = classification_loss(scoring, target.n_classes) if target.classes is not None else regression_loss(scoring)
    if isinstance(scoring, Loss):
        return _by_loss(scoring, said, target, weight, owner)
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


def _by_loss(loss: Loss, said: Floats, target: Target, weight: Floats | None, owner: str) -> str | Metric:
    """Minus a loss; of one that depends on the spread of errors, as it stands for the mean of all members."""
    simple: dict[type, str] = {LogLoss: "log_loss", Multinomial: "log_loss", Squared: "squared_error", Absolute: "absolute_error"}
    if type(loss) in simple and (said.ndim == 3) == (simple[type(loss)] == "log_loss"):
        return simple[type(loss)]
    fits = said.ndim == 2 if type(loss) in REGRESSION.values() else said.ndim == 3 and said.shape[2] == max(loss.width, 2)
    if not fits:
        raise ParameterError(f"{owner}: scoring={loss!r} is a loss for another task, or for another number of classes.")

    def raw_of(mean: Floats) -> Floats:
        return np.asarray(loss.link.to_score(mean[:, 1] if mean.ndim == 2 and loss.width == 1 else mean))

    loss.check_target(target.y)
    settled = loss.settled(target.y, raw_of(said.mean(axis=1)), weight)

    def metric(truth: NDArray[Any], mean: Floats, weight: Floats | None) -> float:
        return -settled.value(truth, raw_of(mean), weight)

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
