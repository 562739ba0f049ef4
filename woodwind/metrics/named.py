"""Metrics by name."""

import difflib

from woodwind.base.errors import ParameterError
from woodwind.metrics import labels, numbers, probabilities, ranking
from woodwind.metrics.metric import CLASSES, NUMBERS, SEVERAL, TWO, Metric

TASKS = (TWO, SEVERAL, NUMBERS)

METRICS: dict[str, Metric] = {
    metric.name: metric for metric in (*probabilities.METRICS, *ranking.METRICS, *labels.METRICS, *numbers.METRICS)
}

# Names that people know from elsewhere, scikit-learn's scorers above all.
SYNONYMS: dict[str, str] = {
    "neg_log_loss": "log_loss",
    "logloss": "log_loss",
    "cross_entropy": "log_loss",
    "neg_brier_score": "brier",
    "brier_score": "brier",
    "brier_score_loss": "brier",
    "roc_auc": "auc",
    "roc_auc_score": "auc",
    "roc_auc_ovr_weighted": "auc",
    "average_precision_score": "average_precision",
    "pr_auc": "average_precision",
    "accuracy_score": "accuracy",
    "acc": "accuracy",
    "error": "error_rate",
    "zero_one_loss": "error_rate",
    "balanced_accuracy_score": "balanced_accuracy",
    "f1_score": "f1",
    "macro_f1": "f1_macro",
    "matthews_corrcoef": "mcc",
    "cohen_kappa_score": "cohen_kappa",
    "kappa": "cohen_kappa",
    "neg_root_mean_squared_error": "rmse",
    "root_mean_squared_error": "rmse",
    "neg_mean_squared_error": "mse",
    "mean_squared_error": "mse",
    "squared_error": "mse",
    "neg_mean_absolute_error": "mae",
    "mean_absolute_error": "mae",
    "absolute_error": "mae",
    "neg_median_absolute_error": "median_absolute_error",
    "r2_score": "r2",
    "neg_mean_absolute_percentage_error": "mape",
    "mean_absolute_percentage_error": "mape",
    "neg_root_mean_squared_log_error": "rmsle",
    "root_mean_squared_log_error": "rmsle",
    "spearmanr": "spearman",
}

DEFAULTS = {TWO: "log_loss", SEVERAL: "log_loss", NUMBERS: "rmse"}


def names_for(task: str) -> tuple[str, ...]:
    """The metrics of a task, the default one first."""
    default = DEFAULTS[_known(task)]
    return (default, *(name for name, metric in METRICS.items() if task in metric.tasks and name != default))


def default_metric(task: str) -> Metric:
    """What a task is judged by when nobody says: log loss for classes, root mean squared error for numbers."""
    return METRICS[DEFAULTS[_known(task)]]


def metric_named(name: str, task: str | None = None) -> Metric:
    """The metric of a name, or of one that scikit-learn has for it; "auto" is the default of the task."""
    if task is not None:
        _known(task)
        if name == "auto":
            return default_metric(task)
    plain = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    metric = METRICS.get(SYNONYMS.get(plain, plain))
    allowed = tuple(METRICS) if task is None else names_for(task)
    if metric is None:
        near = difflib.get_close_matches(plain, (*METRICS, *SYNONYMS), n=1, cutoff=0.5)
        hint = f" Did you mean {SYNONYMS.get(near[0], near[0])!r}?" if near else ""
        raise ParameterError(f"metric must be one of {', '.join(allowed)}, but it is {name!r}.{hint}")
    if task is not None and task not in metric.tasks:
        kind = "classes" if metric.tasks == CLASSES else "numbers"
        raise ParameterError(f"metric {metric.name!r} is for {kind}, and the task is {task!r}. Choose one of {', '.join(allowed)}.")
    return metric


def _known(task: str) -> str:
    if task not in TASKS:
        raise ParameterError(f"A task is one of {', '.join(TASKS)}, not {task!r}.")
    return task
