"""The metric, as the report needs it."""

from typing import Any

from woodwind.metrics.named import METRICS


def metric_facts(name: str) -> dict[str, Any]:
    """Name, a line of words, and which way is better."""
    metric = METRICS.get(name)
    if metric is None:
        return {"name": name, "words": "", "larger_is_better": False}
    return {"name": name, "words": metric.words, "larger_is_better": metric.larger_is_better}
