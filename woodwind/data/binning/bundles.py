"""Bundles: columns of stored cells that share a byte, because they are never stored in the same row, or hardly ever (Ke et al. 2017).

docs/algorithms/sparse-and-bundling.md has a case worked by hand.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.sparse_codes import CodedCells, SparseCodes
from woodwind.kernels.binning.bundles import MOST_VALUES, find_values, place_columns

Integers = NDArray[np.int64]

# Bundles that are worth it, for each stored cell of a row on average: a row adds a byte for each bundle, or a cell for each that it stores.
MOST_BUNDLES = 1.25


@dataclass(frozen=True, eq=False)
class Bundles:
    """Which columns share a byte, and which values of it are whose. Value 0 says that none of them is stored.

    The k-th of the codes that occur in a column, ascending, has the value `offset + k` of its bundle.
    """

    n_bundles: int
    bundle: NDArray[np.int32]  # (F,) the bundle of each column; one that is nowhere stored has no values in it
    offset: Integers  # (F,) its first value there
    sizes: Integers  # (F,) how many it has
    firsts: Integers  # (F,) where its codes begin in
    values: NDArray[np.uint8]  # the codes that occur


@dataclass(frozen=True, eq=False)
class BundledCodes(SparseCodes):
    """Sparse codes whose columns are in bundles."""

    bundles: Bundles


def find_bundles(codes: SparseCodes, max_conflict_rate: float = 0.0, most: int | None = None) -> tuple[SparseCodes, Bundles] | None:
    """The table without the cells that are lost, and its bundles; None where there would be more than `most`, or than are worth it.

    Columns of most cells come first. Of two cells of a row in one bundle, that of the column that came first stays. In each bundle no more
    cells are lost than `max_conflict_rate` times the rows; with a rate of 0 the table stays as it is.
    """
    stored, n_columns = codes.by_column, codes.n_features
    firsts: Integers = np.cumsum(codes.n_bins + 1) - (codes.n_bins + 1)
    sizes, values = np.zeros(n_columns, np.int64), np.zeros(int((codes.n_bins + 1).sum()), np.uint8)
    find_values(stored.starts, stored.codes, firsts, sizes, values)
    if most is None:
        most = int(MOST_BUNDLES * len(stored.at) / max(codes.n_rows, 1)) + 1
    if sizes.sum() > MOST_VALUES * most:
        return None
    order = np.argsort(-np.diff(stored.starts), kind="stable")
    marks = np.zeros((most, -(-codes.n_rows // 64)), np.uint64)
    bundle, offset = np.zeros(n_columns, np.int32), np.ones(n_columns, np.int64)
    lost = np.zeros(len(stored.at), np.uint8)
    most_lost = int(max_conflict_rate * codes.n_rows)
    n_bundles = place_columns(stored.starts, stored.at, order, sizes, most_lost, marks, (bundle, offset, lost))
    if n_bundles < 0:
        return None
    if lost.any():
        kept = lost == 0
        starts = np.append(0, np.cumsum(kept))[stored.starts]
        codes = replace(codes, by_column=CodedCells(starts, stored.at[kept], stored.codes[kept]))
    return codes, Bundles(max(n_bundles, 1), bundle, offset, sizes, firsts, values)


def bundled(codes: SparseCodes, max_conflict_rate: float) -> SparseCodes:
    """The same table, with its columns in bundles where that is worth it."""
    found = find_bundles(codes, max_conflict_rate)
    if found is None:
        return codes
    kept, bundles = found
    return BundledCodes(kept.by_column, kept.absent, kept.n_rows, kept.n_bins, kept.width, bundles)
