"""Metrics by name."""

from woodwind.base.did_you_mean import nearest, spelling
from woodwind.base.errors import ParameterError
from woodwind.metrics import labels, probabilities, query_names, ranking, regression
from woodwind.metrics.metric import CLASSES, RANKING, REGRESSION, SEVERAL, TWO, Metric

TASKS = (TWO, SEVERAL, REGRESSION, RANKING)

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (*probabilities.METRICS, *ranking.METRICS, *labels.METRICS, *regression.METRICS, *query_names.METRICS)
}

# Names that people know from elsewhere, and what they mean here.
SYNONYMS: dict[str, str] = {alias: metric.name for metric in METRICS.values() for alias in metric.aliases}

# Metrics of other libraries that none of ours is, and what comes nearest.
NONE_OF_OURS: dict[str, str] = {
    "aucpr": "It joins the points by curves. The nearest is 'average_precision', which has steps.",
    "prauc": "It joins the points by lines. The nearest is 'average_precision', which has steps.",
    "auc_mu": "The nearest is 'auc'.",
    "totalf1": "The nearest is 'f1_macro'.",
    "f1_weighted": "The nearest is 'f1_macro'.",
    "msle": "The nearest is 'rmsle', its root.",
    "mean_squared_log_error": "The nearest is 'rmsle', its root.",
    "smape": "The nearest is 'mape'.",
    "precision": "The nearest is 'f1', or 'average_precision'.",
    "recall": "The nearest is 'f1', or 'balanced_accuracy'.",
    "quantile": "The nearest is 'mae'.",
    "huber": "The nearest is 'mae'.",
    "poisson": "The nearest is 'rmse'.",
    "gamma": "The nearest is 'rmse'.",
    "tweedie": "The nearest is 'rmse'.",
}

DEFAULTS = {TWO: "log_loss", SEVERAL: "log_loss", REGRESSION: "rmse", RANKING: query_names.NAMES[0]}


def names_for(task: str) -> tuple[str, ...]:
    """The metrics of a task, the default one first."""
    default = DEFAULTS[_known(task)]
    return (default, *(name for name, metric in METRICS.items() if task in metric.tasks and name != default))


def default_metric(task: str) -> Metric:
    """What a task is scored by when nobody says: log loss for classes, root mean squared error for numbers, NDCG for rankings."""
    return METRICS[DEFAULTS[_known(task)]]


def find_metric(name: str) -> Metric | None:
    """The metric of a name, ours or another library's; None where there is none."""
    plain = spelling(name)
    return METRICS.get(SYNONYMS.get(plain, plain))


def nearest_metric(name: str) -> str:
    """What comes nearest to a name that no metric has, or may have been meant by it; "" where that cannot be guessed."""
    if spelling(name) in NONE_OF_OURS:
        return NONE_OF_OURS[spelling(name)]
    near = nearest(name, (*METRICS, *SYNONYMS))
    return f"Did you mean {SYNONYMS.get(near[0], near[0])!r}?" if near else ""


def metric_named(name: str, task: str | None = None) -> Metric:
    """The metric of a name, or of one that scikit-learn has for it; "auto" is the default of the task."""
    if task is not None:
        _known(task)
        if name == "auto":
            return default_metric(task)
    metric = find_metric(name)
    allowed = tuple(METRICS) if task is None else names_for(task)
    if metric is None:
        raise ParameterError(f"metric must be one of {', '.join(allowed)}, but it is {name!r}. {nearest_metric(name)}".rstrip())
    if task is not None and task not in metric.tasks:
        kind = "classes" if metric.tasks == CLASSES else "rankings" if metric.tasks == (RANKING,) else "numbers"
        raise ParameterError(f"metric {metric.name!r} is for {kind}, and the task is {task!r}. Choose one of {', '.join(allowed)}.")
    return metric


def _known(task: str) -> str:
    if task not in TASKS:
        raise ParameterError(f"A task is one of {', '.join(TASKS)}, not {task!r}.")
    return task
