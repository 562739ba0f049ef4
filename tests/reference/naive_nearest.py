"""The slow, obvious twin of `kernels/neighbours/nearest.py`."""

from typing import Any

import numpy as np


def nearest(queries: Any, table: Any, k: int) -> tuple[Any, Any]:
    """The k nearest rows to each query, of equals the first by number, and their distances."""
    rows, distances = [], []
    for query in queries:
        squared = [float(sum((a - b) ** 2 for a, b in zip(query, row, strict=True))) for row in table]
        order = sorted(range(len(table)), key=lambda row: (squared[row], row))[:k]
        rows.append(order)
        distances.append([float(np.sqrt(squared[row])) for row in order])
    return np.array(rows), np.array(distances)
