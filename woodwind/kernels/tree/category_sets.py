"""Sets of categories: the row of a set has four words of those that go left, then four of those that go right.

A category that a split has not met is in neither. The sets that are tried are the first so many categories in the order of some key.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import counters, memory
from woodwind.kernels.tree.layout import SET_WORDS


@inner
def new_set(tree: Tree) -> Any:
    """Room for one more set; returns its row."""
    row = counters.n_sets(tree)
    counters.set_n_sets(tree, row + 1)
    return row


@inlined
def is_left(tree: Tree, row: Any, code: Any) -> Any:
    """1 if a category goes left, 0 if not."""
    return (memory.set_word(tree, row, code >> 6) >> np.uint64(code & 63)) & np.uint64(1)


@inlined
def put_right(tree: Tree, row: Any, code: Any) -> None:
    """Note that a category goes right."""
    word = SET_WORDS + (code >> 6)
    memory.put_set_word(tree, row, word, memory.set_word(tree, row, word) | (np.uint64(1) << np.uint64(code & 63)))


@inner
def take_found(tree: Tree, row: Any, which: int) -> None:
    """Write the set that was found, of categories that go left, to a row."""
    for word in range(SET_WORDS):
        memory.put_set_word(tree, row, word, memory.found_set_word(tree, which, word))
        memory.put_set_word(tree, row, SET_WORDS + word, 0)


@inner
def sort_places(keys: Any, k: Any, places: Any) -> None:
    """Fill places[:k] with 0 .. k-1 in ascending order of keys, equal keys by place (Shell 1959: k is at most 256)."""
    for j in range(k):
        places[j] = j
    for gap in (121, 40, 13, 4, 1):
        for j in range(gap, k):
            moved = places[j]
            i = j
            while i >= gap:
                other = places[i - gap]
                if keys[other] < keys[moved] or (keys[other] == keys[moved] and other < moved):
                    break
                places[i] = other
                i -= gap
            places[i] = moved
