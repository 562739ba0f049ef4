"""The metric, as the report needs it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.decision import cross_fitted
from woodwind.auto.facts_judged import Judged
from woodwind.auto.link import probabilities
from woodwind.auto.outcome import Outcome
from woodwind.metrics.named import METRICS, names_for


def metric_facts(name: str) -> dict[str, Any]:
    """Name, a line of words, and which way is better."""
    metric = METRICS.get(name)
    if metric is None:
        return {"name": name, "words": "", "larger_is_better": False}
    return {"name": name, "words": metric.words, "larger_is_better": metric.larger_is_better}


def score_of(
    name: str, task: str, y: NDArray[Any], scores: NDArray[np.float64], weight: NDArray[np.float64], positive: int = 1
) -> float:
    """The metric of some scores; not a number where it has none."""
    metric = METRICS.get(name)
    if metric is None or len(y) == 0:
        return float("nan")
    said = scores[:, 0] if task == "regression" else probabilities(scores)
    return metric.for_positive(positive).value(y, said, weight)


def all_metric_facts(outcome: Outcome, judged: Judged) -> dict[str, Any] | None:
    """All metrics of the task, of rows out of fold: what the ensemble can be held to when it is tried on others.

    Labels are decided by a threshold that was found without the row.
    """
    model = outcome.model
    if len(judged.rows) == 0:
        return None
    said: NDArray[Any] = judged.scores[:, 0] if judged.task == "regression" else judged.proba
    labels = None
    if judged.task != "regression":
        labels = cross_fitted(outcome.rule, judged.y, judged.proba, judged.weight, judged.positive, outcome.seed)
    weight = None if outcome.weight is None else judged.weight
    out = {}
    for name in names_for(model.task):
        metric = METRICS[name].for_positive(judged.positive)
        if not metric.undefined(judged.y, len(model.classes)):
            prediction = labels if metric.needs == "label" and labels is not None else said
            out[name] = {
                "score": metric.value(judged.y, prediction, weight), "standard_error": metric.standard_error(judged.y, prediction, weight),
            }  # fmt: skip
    return {"rows": len(judged.rows), "scores": out}
