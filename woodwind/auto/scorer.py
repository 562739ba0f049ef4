"""Scorer: what scores are worth by the metric of a job."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.link import probabilities
from woodwind.metrics.metric import Metric
from woodwind.metrics.named import METRICS
from woodwind.metrics.queries import bound

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BlendScorer:
    """A metric, and the truth about the rows that it is taken of."""

    metric: Metric
    y: NDArray[Any]
    weight: Floats | None
    classifies: bool
    clusters: NDArray[np.int64] | None = None  # rows of one are not independent of each other
    queries: NDArray[np.int64] | None = None  # the number of the query of each row, where rows are ranked

    def __post_init__(self) -> None:
        # A metric that cannot be had for the target is an error before the first member is trained, not the failure of each of them.
        self.metric.check(self.y)

    def at(self, rows: NDArray[Any]) -> "BlendScorer":
        """The same for some of the rows."""
        weight, clusters, queries = (None if one is None else one[rows] for one in (self.weight, self.clusters, self.queries))
        return BlendScorer(self.metric, self.y[rows], weight, self.classifies, clusters, queries)

    @cached_property
    def measure(self) -> Metric:
        """The metric of these rows."""
        return self.metric if self.queries is None else bound(self.metric, self.y, self.queries)

    def prediction(self, scores: Floats) -> NDArray[Any]:
        """Scores as the metric wants them: probabilities, class numbers, or numbers."""
        if not self.classifies:
            return scores[:, 0]
        probability = probabilities(scores)
        return probability if self.metric.needs == "proba" else probability.argmax(axis=1)

    def score(self, scores: Floats) -> float:
        """The metric as people know it."""
        return self.measure.value(self.y, self.prediction(scores), self.weight)

    def loss(self, scores: Floats) -> float:
        """The same, of which less is better."""
        return self.measure.loss(self.y, self.prediction(scores), self.weight)

    def standard_error(self, scores: Floats) -> float:
        """How far the score may be off by chance."""
        return self.measure.standard_error(self.y, self.prediction(scores), self.weight, self.clusters)


def metric_of_rows(name: str, y: NDArray[Any], positive: int = 1, queries: NDArray[np.int64] | None = None) -> Metric:
    """A metric by name, of the positive class or of the queries of rows where it is one of those."""
    metric = METRICS[name].for_positive(positive)
    return bound(metric, y, queries) if queries is not None and metric.needs == "rank" and not metric.undefined(y) else metric
