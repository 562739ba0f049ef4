"""Trees that are grown over blocks of rows are those of the engine in memory, byte for byte, however the rows are divided."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from laws.test_same_bits import CASES, target
from reference.boosted import boosted
from woodwind.base import pool
from woodwind.shards import shard_grower
from woodwind.shards.memory_shards import MemoryShards

# Every way to grow trees of bins.
BINNED = {name: case for name, case in CASES.items() if "max_bins" not in case[2]}
BLOCKS = (1, 3, 17, 50)


def divided(codes, blocks):
    """So many blocks of uneven sizes; some of many are empty."""
    rng = np.random.default_rng(blocks)
    inside = np.sort(rng.integers(0, codes.n_rows + 1, blocks - 1)) if blocks > 1 else np.empty(0, np.int64)
    if blocks > 5:
        inside[2:4] = inside[2]
        inside[0] = 0
    return MemoryShards(codes, [0, *inside.tolist(), codes.n_rows])


@pytest.mark.parametrize("case", BINNED)
def test_the_forest_does_not_depend_on_how_rows_are_divided(monkeypatch, case):
    monkeypatch.setattr(pool, "LEAST_WORK", 1)
    monkeypatch.setattr(shard_grower, "LEAST_WORK", 0)
    x, plan, given = CASES[case]
    y = target(plan.loss, x)
    known = boosted(x, y, plan, 3, **given).forest.digest()
    for blocks, threads in zip(BLOCKS, (1, 2, 3, 2), strict=True):
        found = boosted(x, y, replace(plan, threads=threads), 3, **given, divided=partial(divided, blocks=blocks))
        assert found.forest.digest() == known, blocks
