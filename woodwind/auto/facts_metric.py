"""The metric, as the report needs it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.link import probabilities
from woodwind.metrics.named import METRICS


def metric_facts(name: str) -> dict[str, Any]:
    """Name, a line of words, and which way is better."""
    metric = METRICS.get(name)
    if metric is None:
        return {"name": name, "words": "", "larger_is_better": False}
    return {"name": name, "words": metric.words, "larger_is_better": metric.larger_is_better}


def score_of(name: str, task: str, y: NDArray[Any], scores: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """The metric of some scores; not a number where it has none."""
    metric = METRICS.get(name)
    if metric is None or len(y) == 0:
        return float("nan")
    said = scores[:, 0] if task == "regression" else probabilities(scores)
    return metric.value(y, said, weight)
