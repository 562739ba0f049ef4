"""Metrics of rankings by name. What computes them is in `queries.py`, which binds one to the queries of some rows.

Nothing here needs a compiler, so that commands can tell the names.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.metrics.metric import RANKING, Floats, Metric

# The first is the default. Places that count stand behind an @.
NAMES = ("ndcg@10", "ndcg@5", "ndcg@3", "ndcg@1", "ndcg", "map@10", "map", "mrr@10", "mrr")
KINDS = {
    "ndcg": ("normalised discounted cumulative gain{}, mean over queries", "NDCG{}"),
    "map": ("average precision{}, mean over queries", "Mean average precision{}"),
    "mrr": ("one over the place of the first relevant document{}, mean over queries", "Mean reciprocal rank{}"),
}


def nothing_relevant(y: NDArray[Any], _: int) -> str:
    """Why rows say nothing of a ranking."""
    return "no document is relevant" if not (y > 0).any() else ""


def _unbound(_y: NDArray[Any], _prediction: NDArray[Any], _weight: Floats | None) -> float:
    raise DataError("A metric of rankings needs the queries of rows: woodwind.metrics.queries binds them.")


def _declared(name: str) -> Metric:
    kind, _, places = name.partition("@")
    words, title = KINDS[kind]
    return Metric(
        name, words.format(f" of the first {places}" if places else ""), (RANKING,), True, "rank", _unbound, _unbound, nothing_relevant,
        title=title.format(f"@{places}" if places else ""),
    )  # fmt: skip


METRICS: tuple[Metric, ...] = tuple(map(_declared, NAMES))


def is_relevance(y: NDArray[Any]) -> bool:
    """Whether numbers can be the relevance of documents."""
    return bool((np.isfinite(y) & (y >= 0)).all())
