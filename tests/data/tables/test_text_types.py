"""Blocks of text as numbers: many columns in one go are what they would be one by one."""

from random import Random

import pyarrow as pa
import pytest

from woodwind.data.tables.text_types import GrowingColumn, add_together

# Cells of one kind each, and some that change the answer for a column.
KINDS = (
    ["0", "7", "-12", "305", "9223372036854775807"],
    ["0.5", "-1.25", "3", "1e5", "-.5", "2."],
    ["1", "2", "+3", "4"],
    ["1.5", "", "2.5", ""],
    ["5", "NA", "?", "-", "6"],
    [" 5", "6 ", "7"],
    ["007", "12", "0x1f"],
    ["12345678901234567890", "1"],
    ["inf", "-inf", "1.5", "nan"],
    ["12-3", "4"],
    ["red", "green", "7"],
    ["", ""],
)


def blocks_of(seed):
    """Some columns of some blocks; most columns are of one kind of cell, some change their kind on the way."""
    rng = Random(seed)
    n_columns, lengths = rng.randint(1, 9), [rng.randint(1, 6) for _ in range(rng.randint(1, 4))]
    kinds = [rng.choice(KINDS[: rng.choice((2, 3, len(KINDS)))]) for _ in range(n_columns)]
    for length in lengths:
        kinds = [rng.choice(KINDS) if rng.random() < 0.1 else kind for kind in kinds]
        yield [pa.array([rng.choice(kind) or None for _ in range(length)], pa.string()) for kind in kinds]


def read(columns):
    return [(one.is_text, one.lost, (one.text() if one.is_text and not one.lost else one.numbers())) for one in columns]


@pytest.mark.parametrize("seed", range(300))
def test_columns_taken_together_are_those_taken_one_by_one(seed):
    n_columns = len(next(blocks_of(seed)))
    alone, together = ([GrowingColumn() for _ in range(n_columns)] for _ in range(2))
    for blocks in blocks_of(seed):
        for column, block in zip(alone, blocks, strict=True):
            column.add(block)
        add_together(together, blocks)
    for one, other in zip(read(alone), read(together), strict=True):
        assert one[:2] == other[:2]
        assert one[2].type == other[2].type
        assert [repr(value) for value in one[2].to_pylist()] == [repr(value) for value in other[2].to_pylist()]


def test_parts_of_a_block_are_read_where_they_begin():
    """Blocks are slices: the first row of a file is its header."""
    blocks = [pa.array(["name", "1", "2"]).slice(1), pa.array(["other", "0.5", "7"]).slice(1)]
    columns = [GrowingColumn(), GrowingColumn()]
    add_together(columns, blocks)
    assert [one.numbers().to_pylist() for one in columns] == [[1, 2], [0.5, 7.0]]
    assert [one.numbers().type for one in columns] == [pa.int64(), pa.float64()]
