"""Scorer: what scores are worth by the metric of a job."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.link import probabilities
from woodwind.metrics.metric import Metric

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BlendScorer:
    """A metric, and the truth about the rows that it is taken of."""

    metric: Metric
    y: NDArray[Any]
    weight: Floats | None
    classifies: bool
    clusters: NDArray[np.int64] | None = None  # rows of one are not independent of each other

    def __post_init__(self) -> None:
        # A metric that cannot be had for the target is an error before the first member is trained, not the failure of each of them.
        self.metric.check(self.y)

    def at(self, rows: NDArray[Any]) -> "BlendScorer":
        """The same for some of the rows."""
        weight, clusters = (None if one is None else one[rows] for one in (self.weight, self.clusters))
        return BlendScorer(self.metric, self.y[rows], weight, self.classifies, clusters)

    def prediction(self, scores: Floats) -> NDArray[Any]:
        """Scores as the metric wants them: probabilities, class numbers, or numbers."""
        if not self.classifies:
            return scores[:, 0]
        probability = probabilities(scores)
        return probability if self.metric.needs == "proba" else probability.argmax(axis=1)

    def score(self, scores: Floats) -> float:
        """The metric as people know it."""
        return self.metric.value(self.y, self.prediction(scores), self.weight)

    def loss(self, scores: Floats) -> float:
        """The same, of which less is better."""
        return self.metric.loss(self.y, self.prediction(scores), self.weight)

    def standard_error(self, scores: Floats) -> float:
        """How far the score may be off by chance."""
        return self.metric.standard_error(self.y, self.prediction(scores), self.weight, self.clusters)
