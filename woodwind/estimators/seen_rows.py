"""Members that are taken as they are may have learnt the rows that they are to be judged by: a perfect record gives them away."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import SeenRowsWarning
from woodwind.base.notice import notice

# With fewer rows than this, being right about all of them means little.
FEW_ROWS = 50
# Errors of numbers that are no larger than this share of their spread are none.
NO_ERROR = 1e-9


def tell_of_perfect(names: Sequence[str], said: NDArray[Any], truth: NDArray[Any], owner: str) -> None:
    """Warn of members that are right about every row: votes or numbers (n, m), or probabilities (n, m, K)."""
    if len(truth) < FEW_ROWS:
        return
    if said.ndim == 3 or said.dtype.kind in "iu":
        right = (said.argmax(axis=2) if said.ndim == 3 else said) == truth[:, None]
    else:
        right = np.abs(said - truth[:, None]) <= NO_ERROR * np.std(truth)
    perfect = [name for name, always in zip(names, right.all(axis=0), strict=True) if always]
    if perfect and np.ptp(truth) > 0:
        who = f"member {perfect[0]!r} is" if len(perfect) == 1 else f"members {', '.join(map(repr, perfect[:3]))} are"
        more = f" and {len(perfect) - 3} more" if len(perfect) > 3 else ""
        notice(
            f"{owner}: {who}{more} right about all {len(truth):,} rows. If they were trained on these rows, they cannot be judged by them: "
            "give rows that members have not seen, or set prefit=False to train copies of them. prefit=True says that all is well.",
            SeenRowsWarning,
        )
