"""Whole numbers that no double can tell apart, as identifiers of 64 bits are: as numbers neighbours become equal, as levels they do not."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from woodwind.base.errors import PrecisionWarning
from woodwind.base.notice import notice
from woodwind.data.raw import LazyColumn, SparseColumn

# Whole numbers up to this have a double each.
EXACT = 2**53

# Columns that one warning names.
MOST_NAMED = 5
# What to do about such numbers in a column, and in a target.
AS_TEXT = "If they are identifiers, drop them, or make them text: levels are told apart."
SUBTRACT = "if they are quantities, subtract what they have in common."


def are_beyond_doubles(values: Any) -> bool:
    """Whether values of any kind are whole numbers by their type, and some of them have no double of their own."""
    if isinstance(values, SparseColumn):
        values = values.values
    if isinstance(values, LazyColumn):
        values = np.array([values.native.min(), values.native.max()], getattr(values.native.dtype, "subtype", np.float64))
    if isinstance(values, np.ndarray):
        wide = values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size > 0
        return wide and max(int(values.max()), -int(values.min())) > EXACT
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        return False
    kind = values.type
    if kind in (pa.int64(), pa.uint64()) or (pa.types.is_decimal(kind) and kind.scale <= 0):
        ends = pc.min_max(values).as_py()
        return max(ends["max"] or 0, -(ends["min"] or 0)) > EXACT
    return False


def warn_of_precision(labels: list[str], remedy: str = AS_TEXT) -> None:
    """Warn of columns whose numbers are beyond doubles."""
    more = f" and {len(labels) - MOST_NAMED:,} more" if len(labels) > MOST_NAMED else ""
    notice(
        f"{', '.join(labels[:MOST_NAMED])}{more} {'holds' if len(labels) == 1 else 'hold'} whole numbers above 2**53: neighbouring "
        f"ones become equal as floating-point numbers. {remedy}",
        PrecisionWarning,
    )
