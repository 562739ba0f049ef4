"""Values fit annotations, also those that are aliases: `NDArray` is one of Python's own kind from NumPy 2.5 on."""

from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from woodwind.store.annotations import fits, unaliased

Item = TypeVar("Item")


class Alias:
    """What `type Pair[Item] = tuple[Item, int]` makes in Python 3.12."""

    __value__ = tuple[Item, int]
    __type_params__ = (Item,)


@pytest.mark.parametrize(("hint", "fit"), [
    (NDArray[np.int64], True), (NDArray[np.integer], True), (NDArray[Any], True), (NDArray[np.float64], False),
    (NDArray[np.int64] | None, True),
])  # fmt: skip
def test_arrays_fit_by_their_type(hint, fit):
    assert fits(np.zeros(3, np.int64), hint) is fit
    assert not fits(3, hint)


def test_an_alias_is_what_it_stands_for():
    assert unaliased(Alias) == tuple[Item, int]
    assert unaliased(int) is int
    assert unaliased(tuple[int, ...]) == tuple[int, ...]
