"""What the data is: kinds, gaps and distributions of columns, and of the target."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import Countdown
from woodwind.auto.facts.json_values import brief
from woodwind.auto.outcome import Outcome
from woodwind.base.random_streams import choose, key

MOST_ROWS = 100_000  # of which distributions are taken
MOST_COLUMNS = 400  # that are described one by one
BINS = 24
MOST_CATEGORIES = 12
MOST_CLASSES = 60
CORRELATED = 0.9  # rank correlation from which on two columns are told
CORRELATED_ROWS = 5_000
CORRELATED_COLUMNS = 200  # that are compared with each other
MOST_PAIRS = 12


def data_facts(outcome: Outcome, clock: Countdown) -> dict[str, Any]:
    """Rows, columns, their kinds, gaps and distributions, of as many as there is time for; the target's too."""
    table, n = outcome.X, len(outcome.y)
    rows = None if n <= MOST_ROWS else choose(key(outcome.seed, "facts", "data"), n, MOST_ROWS)
    names = [str(name) for name in table.column_names]
    described: list[dict[str, Any]] = []
    for position, name in enumerate(names[:MOST_COLUMNS]):
        if clock.left <= 0.0:
            break
        described.append(column_facts(name, table.column(position), rows))
    kinds = Counter(kind_of(str(table.column(position).type)) for position in range(len(names)))
    return {
        "n_rows": n,
        "n_columns": len(names),
        "described": len(described),
        "sampled": None if rows is None else len(rows),
        "kinds": dict(kinds),
        "columns": described,
        "scored": int(np.count_nonzero(outcome.scored)),
        "weighted": outcome.weight is not None,
        "groups": None if outcome.groups is None else len(np.unique(outcome.groups)),
        "target": target_facts(outcome),
        "correlated": correlated_columns(table, choose(key(outcome.seed, "facts", "correlated"), n, min(n, CORRELATED_ROWS))),
    }


def column_facts(name: str, column: Any, rows: NDArray[np.int64] | None) -> dict[str, Any]:
    """What one column of an Arrow table holds."""
    missing = column.null_count / max(len(column), 1)
    held = column if rows is None else column.take(rows)
    sort = str(column.type)
    facts: dict[str, Any] = {"name": brief(name), "type": brief(sort, 40), "missing": missing, "kind": kind_of(sort)}
    if facts["kind"] in ("number", "date"):
        values = np.asarray(held.drop_null().to_numpy())
        if facts["kind"] == "number":
            values = values.astype(np.float64)
            gaps = np.isnan(values)
            facts["missing"] = missing + (1.0 - missing) * float(gaps.mean()) if len(values) else missing
            values = values[~gaps]
        facts.update(spread(values))
    elif facts["kind"] != "other":
        facts.update(category_facts(held))
    return facts


def correlated_columns(table: Any, rows: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Pairs of columns of numbers that say nearly the same: rank correlation (Spearman 1904) over rows that have both."""
    names = [str(name) for name in table.column_names]
    positions = [position for position in range(len(names)) if kind_of(str(table.column(position).type)) == "number"][:CORRELATED_COLUMNS]
    if len(positions) < 2 or len(rows) < 20:
        return []
    ranks = np.column_stack([centred_ranks(table.column(position).take(rows)) for position in positions])
    there = np.isfinite(ranks)
    ranks = np.where(there, ranks, 0.0)
    spread = (ranks**2).T @ there  # of the first column over the rows that the second one has, too
    size = np.sqrt(spread * spread.T)
    rho = np.divide(ranks.T @ ranks, size, out=np.zeros_like(size), where=size > 0.0)
    pairs = [(int(one), int(other)) for one, other in np.argwhere(np.abs(np.triu(rho, 1)) >= CORRELATED)]
    pairs.sort(key=lambda pair: -abs(rho[pair]))
    return [{"one": brief(names[positions[a]]), "other": brief(names[positions[b]]), "rho": rho[a, b]} for a, b in pairs[:MOST_PAIRS]]


def centred_ranks(column: Any) -> NDArray[np.float64]:
    """Ranks of numbers or dates of an Arrow column less their mean, those of equal values the same; NaN for what is missing."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind == "M":
        values = np.where(np.isnat(values), np.nan, values.astype("datetime64[s]").astype(np.float64))
    values = values.astype(np.float64)
    out = np.full(len(values), np.nan)
    there = ~np.isnan(values)
    _, position, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - 0.5 * (counts - 1.0))[position]
    out[there] = ranks - ranks.mean() if len(ranks) else ranks
    return out


def kind_of(sort: str) -> str:
    """Number, category, truth value, date or other, by how Arrow writes the type."""
    if sort.startswith(("int", "uint", "float", "double", "half", "decimal")):
        return "number"
    if sort.startswith("bool"):
        return "truth value"
    if sort.startswith(("timestamp", "date")):
        return "date"
    if sort.startswith(("string", "large_string", "string_view", "utf8", "large_utf8", "dictionary")):
        return "category"
    return "other"


def spread(values: NDArray[Any]) -> dict[str, Any]:
    """Least, median, largest, and a histogram between the 0.5 % and the 99.5 % quantiles: one odd value must not hide the rest."""
    if len(values) == 0:
        return {"distinct": 0}
    distinct = len(np.unique(values))
    dates = values.dtype.kind == "M"
    numbers = values.astype("datetime64[s]").astype(np.float64) if dates else values
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers) == 0:
        return {"distinct": distinct}

    def written(value: float) -> Any:
        return str(np.datetime64(round(value), "s"))[:10] if dates else value

    low, middle, high = (written(one) for one in (numbers.min(), np.median(numbers), numbers.max()))
    return {"distinct": distinct, "low": low, "median": middle, "high": high, "histogram": histogram(numbers, written=written)}


def histogram(numbers: NDArray[np.float64], bins: int = BINS, *, written: Any = None) -> dict[str, Any]:
    """Counts between equal edges; what lies beyond the outer half per cents is counted at the ends, and said."""
    low, high = np.quantile(numbers, [0.005, 0.995])
    if not high > low:
        low, high = numbers.min(), numbers.max()
    if not high > low or not np.isfinite(high - low):
        return {"edges": [], "counts": [len(numbers)], "below": 0, "above": 0}
    few = np.unique(numbers)
    if len(few) <= bins and np.allclose(few, np.round(few)) and few[-1] - few[0] < bins:
        edges = np.arange(few[0], few[-1] + 2.0) - 0.5
    else:
        edges = np.linspace(low, high, bins + 1)
    below, above = int((numbers < edges[0]).sum()), int((numbers > edges[-1]).sum())
    counts = np.histogram(np.clip(numbers, edges[0], edges[-1]), edges)[0]
    ends = [edges[0], edges[-1]]
    out = {"edges": edges, "counts": counts, "below": below, "above": above}
    return out if written is None else {**out, "ends": [written(float(end)) for end in ends]}


def category_facts(column: Any) -> dict[str, Any]:
    """The commonest categories of a column, with counts, and how many others there are."""
    counted = [(one["values"], one["counts"]) for one in column.value_counts().to_pylist() if one["values"] is not None]
    counted.sort(key=lambda pair: (-pair[1], str(pair[0])))
    rest = counted[MOST_CATEGORIES:]
    return {
        "distinct": len(counted),
        "levels": [{"name": brief(category), "count": rows} for category, rows in counted[:MOST_CATEGORIES]],
        "others": {"levels": len(rest), "count": sum(rows for _, rows in rest)},
    }


def target_facts(outcome: Outcome) -> dict[str, Any]:
    """How the target is distributed."""
    model = outcome.model
    if not model.classifies:
        y = np.asarray(outcome.y, np.float64)
        return {"name": brief(model.target), "mean": float(y.mean()), "deviation": float(y.std()), **spread(y)}
    counts = np.bincount(np.asarray(outcome.y, np.int64), minlength=len(model.classes))
    order = np.arange(len(counts)) if len(counts) <= MOST_CLASSES else np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    classes = [{"name": brief(model.classes[position]), "count": int(counts[position])} for position in order]
    return {"name": brief(model.target), "n_classes": len(counts), "classes": classes}
