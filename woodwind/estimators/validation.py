"""Rows to stop by that the caller gives, and groups of rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.estimators.target import missing_places, one_dimension


def read_groups(groups: Any, n_rows: int, owner: str) -> NDArray[np.int64] | None:
    """Groups of any labels as numbers (n,); None for none."""
    if groups is None:
        return None
    array = one_dimension(groups, owner, "groups")
    if array.size != n_rows:
        raise DataError(f"{owner}: groups has {array.size:,} values, and X has {n_rows:,} rows. Give one group for each row.")
    missing = np.flatnonzero(missing_places(array))
    if missing.size:
        raise DataError(f"{owner}: groups is missing in {missing.size:,} rows, first in row {missing[0]}. Give each row a group.")
    if array.dtype.kind == "O":
        array = array.astype(str)
    return np.unique(array, return_inverse=True)[1].reshape(-1).astype(np.int64)


def read_eval_set(eval_set: Any, owner: str) -> tuple[Any, Any, Any]:
    """Validation data as (X, y, weight), the weight None where it is not given."""
    if isinstance(eval_set, list) and len(eval_set) == 1 and isinstance(eval_set[0], tuple):
        eval_set = eval_set[0]
    if not isinstance(eval_set, tuple | list) or len(eval_set) not in (2, 3) or isinstance(eval_set[0], tuple):
        came = f"{len(eval_set)} values" if isinstance(eval_set, tuple | list) else f"a value of type {type(eval_set).__name__}"
        raise DataError(f"{owner}: eval_set must be (X, y) or (X, y, sample_weight) of one validation table, but {came} came.")
    X, y, *weight = eval_set
    return X, y, weight[0] if weight else None
