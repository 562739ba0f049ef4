"""How good a ranking is, from queries that it had not been trained on: NDCG by cut-off, and from query to query."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.facts.json_values import brief
from woodwind.auto.facts.scored_rows import ScoredRows
from woodwind.auto.outcome import Outcome
from woodwind.data.tables.queries import QueryRows
from woodwind.metrics.queries import QueryMetric, mean_over_queries

Floats = NDArray[np.float64]

CUTOFFS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
BINS = 20
SIZE_PARTS = 5  # parts of the queries by how many documents they have


def ranking_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any] | None:
    """NDCG by cut-off of the ensemble, of its best member and of a random order; the share of queries with each value, and by size."""
    if scored.queries is None or not len(scored.rows):
        return None
    queries = QueryRows.of(scored.queries)
    weight = None if outcome.weight is None else queries.means(scored.weight)
    longest = int(queries.sizes.max())
    cutoffs = [cutoff for cutoff in CUTOFFS if cutoff < longest] + [min(longest, CUTOFFS[-1])]
    known = QueryMetric("ndcg", 10).by_query(scored.y, scored.scores[:, 0], queries)
    relevant = np.add.reduceat((scored.y[queries.order] > 0.0).astype(np.float64), queries.begin[:-1]) > 0.0
    order = np.argsort(queries.sizes, kind="stable")
    return {
        "queries": queries.n_queries,
        "single": int((queries.sizes == 1).sum()),
        "without_relevant": int((~relevant).sum()),
        "documents": {"least": int(queries.sizes.min()), "median": float(np.median(queries.sizes)), "most": longest},
        "first_is_relevant": _first_is_relevant(scored, queries, weight),
        "cutoffs": sorted(set(cutoffs)),
        "lines": _lines(outcome, scored, queries, weight, sorted(set(cutoffs))),
        "histogram": {"edges": np.linspace(0.0, 1.0, BINS + 1), "counts": np.histogram(known[relevant], BINS, (0.0, 1.0))[0]},
        "by_size": [
            {"least": int(queries.sizes[part[0]]), "most": int(queries.sizes[part[-1]]), "count": len(part), **_mean(known[part])}
            for part in np.array_split(order, max(1, min(SIZE_PARTS, len(order) // 5)))
        ],
    }


def _lines(outcome: Outcome, scored: ScoredRows, queries: QueryRows, weight: Floats | None, cutoffs: list[int]) -> list[dict[str, Any]]:
    """NDCG at each cut-off with its standard error: of the ensemble, of its best member, of any order."""
    named = [("ensemble", scored.scores[:, 0])]
    single = [entry for entry in outcome.leaderboard if entry.name in scored.names and np.isfinite(entry.loss)]
    if single:
        best = min(single, key=lambda entry: entry.loss)
        named.append((brief(best.name, 80), scored.members[:, scored.names.index(best.name), 0]))
    named.append(("any order", np.zeros(len(scored.rows))))
    out = []
    for name, scores in named:
        pairs = [mean_over_queries(QueryMetric("ndcg", cutoff).by_query(scored.y, scores, queries), weight) for cutoff in cutoffs]
        out.append({"name": name, "value": [value for value, _ in pairs], "error": [error for _, error in pairs]})
    return out


def _first_is_relevant(scored: ScoredRows, queries: QueryRows, weight: Floats | None) -> float:
    """The share of queries whose first document is relevant."""
    return mean_over_queries(QueryMetric("mrr", 1).by_query(scored.y, scored.scores[:, 0], queries), weight)[0]


def _mean(values: Floats) -> dict[str, float]:
    mean, error = mean_over_queries(values)
    return {"value": mean, "error": error}
