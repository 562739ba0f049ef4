"""Lists of the stored cells of rows."""

import numpy as np
import pytest

from woodwind.base.errors import TableError
from woodwind.data.binning.sparse_codes import CodedCells, SparseCodes
from woodwind.tree.code_layouts import row_lists


def one_long_row(stored):
    """Two rows, the second of which stores so many cells."""
    starts = np.arange(stored + 1)
    cells = CodedCells(starts, np.ones(stored, np.int32), np.ones(stored, np.uint8))
    return SparseCodes(cells, np.zeros(stored, np.uint8), 2, np.full(stored, 2, np.int32), 4)


def test_a_row_of_more_cells_than_a_list_can_have_is_refused_by_name():
    row_lists(one_long_row(262_140))
    with pytest.raises(TableError, match="Row 1 of the sparse table stores 262,141 cells"):
        row_lists(one_long_row(262_141))
