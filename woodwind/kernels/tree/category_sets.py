"""Sets of categories: the row of a set has four words of those that go left, then four of those that go right.

A category that a split has not met is in neither. The sets that are tried are the first so many categories in the order of some key.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory
from woodwind.kernels.tree.layout import LEFT, RIGHT, SET_WORDS


@inner
def new_set(tree: Tree) -> Any:
    """Room for one more set; returns its row."""
    row = memory.n_sets(tree)
    memory.set_n_sets(tree, row + 1)
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
def take_split_set(tree: Tree, row: Any, which: int) -> None:
    """Write the categories that go left at a split that was found to a row."""
    for word in range(SET_WORDS):
        memory.put_set_word(tree, row, word, memory.split_set_word(tree, which, word))
        memory.put_set_word(tree, row, SET_WORDS + word, 0)


@inner
def write_first(codes: Any, count: Any, missing: Any, out: Any) -> Any:
    """Set the bits of codes[:count] in out (SET_WORDS words); returns the side of missing values, which have the code `missing`."""
    side = RIGHT
    for word in range(SET_WORDS):
        out[word] = 0
    for j in range(count):
        code = codes[j]
        if code == missing:
            side = LEFT
        else:
            out[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    return side


@inner
def argsort(keys: Any, k: Any, out: Any) -> None:
    """Fill out[:k] with 0 .. k-1 in ascending order of keys, equal keys by position (Shell 1959: k is at most 256)."""
    for j in range(k):
        out[j] = j
    for gap in (121, 40, 13, 4, 1):
        for j in range(gap, k):
            moved = out[j]
            i = j
            while i >= gap:
                other = out[i - gap]
                if keys[other] < keys[moved] or (keys[other] == keys[moved] and other < moved):
                    break
                out[i] = other
                i -= gap
            out[i] = moved
