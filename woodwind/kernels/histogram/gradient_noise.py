"""A random part of gradients while splits are looked for: trees then no longer follow every accident of their rows.

What is disturbed is what histograms are summed from: the gradient that a row carries (kernels/histogram/layout.py), or its lanes
(kernels/histogram/multi_output.py). The statistics that leaves are summed from are somewhere else and stay as they are.

The four 16-bit pieces of a hash are added: a sum of four even draws is nearly normal, has no tails to speak of, and takes no logarithm.
Its size is a whole number in steps of 2**-16, so that all is integers: the same bits anywhere. The hash is of the number that callers
know a row by, and does not depend on threads, on the order of rows or on which of them a tree is grown from.
Twins: `tests/reference/naive_noise.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.keys import hash_item
from woodwind.kernels.runtime.records import Tree

U = np.uint64
PIECE, S16, S32, S48 = U(0xFFFF), U(16), U(32), U(48)
MIDDLE = 2 * 0xFFFF  # of four pieces
LARGEST_GRADIENT = 32767  # the field of a gradient has 16 bits


@inner
def drawn_sum(key: Any, item: Any) -> Any:
    """Sum of the four pieces of the hash of an item of a key, both uint64, less its mean."""
    word = hash_item(key, item)
    return np.int64((word & PIECE) + ((word >> S16) & PIECE) + ((word >> S32) & PIECE) + (word >> S48)) - MIDDLE


@inner
def noise_of(key: Any, item: Any, factor: Any) -> Any:
    """Random part of an item of a key, both uint64: about normal, of standard deviation factor * 0.57735."""
    return (drawn_sum(key, item) * factor + 32768) >> 16


@kernel
def draw_sums(order: Any, key: Any, out: Any) -> None:
    """`drawn_sum` of every row of a table: out float64[n]; order as in `fill_rows`."""
    state = U(key)
    for i in range(len(out)):
        out[i] = drawn_sum(state, U(i if order is None else order[i]))


@kernel
def square_rows(tree: Tree, begin: Any, end: Any) -> Any:
    """Sum of the squares of the gradients that rows begin to end of the first buffer carry; 2**31 rows of them fit."""
    rows = memory.rows(tree)
    total = np.int64(0)
    for i in range(begin, end):
        gradient = (rows[i] << 32) >> 48
        total += gradient * gradient
    return total


@kernel
def disturb_rows(tree: Tree, order: Any, key: Any, factor: Any, begin: Any, end: Any) -> None:
    """Add their noise to the gradients that rows begin to end of the first buffer carry; order as in `fill_rows`."""
    rows = memory.rows(tree)
    state = U(key)
    for i in range(begin, end):
        row = rows[i] >> 32
        number = U(row if order is None else order[row])
        gradient = ((rows[i] << 32) >> 48) + noise_of(state, number, factor)
        gradient = min(max(gradient, -LARGEST_GRADIENT), LARGEST_GRADIENT)
        rows[i] = (row << 32) | ((gradient & 0xFFFF) << 16) | (rows[i] & 0xFFFF)


@kernel
def square_lanes(tree: Tree, lanes: Any, begin: Any, end: Any, out: Any) -> None:
    """Add the squares of each gradient of rows begin to end of the first buffer to out int64[K]; lanes int32[n, > K]."""
    rows = memory.rows(tree)
    for i in range(begin, end):
        row = rows[i] >> 32
        for k in range(len(out)):
            out[k] += np.int64(lanes[row, k]) * np.int64(lanes[row, k])


@kernel
def disturb_lanes(lanes: Any, order: Any, key: Any, factors: Any, most: Any, begin: Any, end: Any) -> None:
    """Add noise to the gradients of rows begin to end of the table, by factors int64[K]; none becomes larger than `most`."""
    width = len(factors)
    state = U(key)
    for i in range(begin, end):
        first = np.int64(i if order is None else order[i]) * width
        for k in range(width):
            gradient = np.int64(lanes[i, k]) + noise_of(state, U(first + k), factors[k])
            lanes[i, k] = min(max(gradient, -most), most)
