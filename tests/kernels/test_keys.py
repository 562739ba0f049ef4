"""Draws of features by name."""

from typing import Any

import numpy as np
import pytest

from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.runtime.keys import put_in_order


@kernel
def order_part(items: Any, begin: Any, count: Any) -> None:
    """Put a part of some items in order."""
    put_in_order(items, begin, count)


@pytest.mark.parametrize("count", [0, 1, 2, 8, 9, 10, 27, 100, 1000])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_features_are_put_in_order_and_others_stay(count, kind):
    items = np.random.default_rng(count).permutation(count + 7).astype(kind)
    expected = items.copy()
    expected[5 : 5 + count] = np.sort(expected[5 : 5 + count])
    order_part(items, 5, count)
    np.testing.assert_array_equal(items, expected)


class Moved(list):
    """A list that counts how often something is written to it."""

    count = 0

    def __setitem__(self, place, value):
        self.count += 1
        super().__setitem__(place, value)


def test_many_features_are_put_in_order_without_moving_each_past_half_of_the_others():
    items = Moved(np.random.default_rng(0).permutation(8000).tolist())
    getattr(put_in_order, "py_func", put_in_order)(items, 0, len(items))
    assert items == list(range(8000))
    assert items.count < 60 * 8000  # insertion alone: 16 million
