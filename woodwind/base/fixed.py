"""Fixed point: sums of floats that do not depend on the order of the rows.

A float is turned into an integer number of units, and integers add the same way in any order and in any split
into parts. The unit is a power of two, so turning is a shift of the exponent and loses nothing but the bits
below the unit. It is chosen from global numbers only (the largest absolute value, the number of rows).

`partial_sum` keeps two digits of about 31 bits, 62 bits below the largest value: the error of a sum of n rows is below
n * largest * 2**-62. Partial sums are Python integers: they add, and `finish_sum` turns their total into the nearest float.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, WeightError

# The first digit of a row is at most 2**30 in size and the second at most 2**31: the sums of a chunk of 2**16 rows stay
# below 2**47, where a float64 counts exactly, and a chunk fits into the second-level cache.
FIRST_BITS = 30
SECOND = 2.0**32
CHUNK = 1 << 16

LARGEST_EXPONENT = 1023

# Bytes may be summed as well: they become floats chunk by chunk, where they are multiplied by the scale.
Numbers = NDArray[np.float64] | NDArray[np.uint8]


def scale_for(largest: float, bits: int) -> float:
    """Give the largest power of two with `largest * scale <= 2**bits`; 1.0 where there is nothing but zeros.

    >>> scale_for(0.25, 30) == 2.0**32
    True
    >>> scale_for(3.0, 30) == 2.0**28
    True
    """
    if largest == 0.0:
        return 1.0
    if not math.isfinite(largest) or largest < 0.0:
        raise DataError(f"A scale needs a finite largest value, not {largest}.")
    share, exponent = math.frexp(largest)
    if share == 0.5:
        exponent -= 1
    # Below 2**-993 the ideal scale is itself too large for a float64.
    return math.ldexp(1.0, min(bits - exponent, LARGEST_EXPONENT))


def sum_scale(largest: float, n_rows: int, bits: int = 62) -> float:
    """Give the largest power of two for which `n_rows` integers `rint(value * scale)` add up to at most 2**bits.

    Whole numbers stay exact as long as the result is 1.0 or more.
    """
    return scale_for(largest, bits - max(n_rows - 1, 0).bit_length())


def largest_of(values: NDArray[Any]) -> float:
    """Give the largest absolute value: an exact reduction, the same in any order."""
    if values.size == 0:
        return 0.0
    return max(abs(float(values.max())), abs(float(values.min())))


def partial_sum(values: Numbers, scale: float, weight: NDArray[np.float64] | None = None) -> int:
    """Sum the rows, times their weight, in units of `2**-32 / scale`; the sums of parts add up to the sum of the whole.

    `scale` comes from `scale_for(largest, FIRST_BITS)`, with the largest |value * weight| of all parts.
    """
    total = 0
    for first in range(0, values.shape[0], CHUNK):
        part = values[first : first + CHUNK]
        units = part * scale if weight is None else part * weight[first : first + CHUNK] * scale
        digits = np.rint(units)
        units -= digits
        units *= SECOND
        np.rint(units, out=units)
        total += (int(digits.sum()) << 32) + int(units.sum())
    return total


def finish_sum(total: int, scale: float) -> float:
    """Turn a total of partial sums into the nearest float."""
    return float(Fraction(total, 1 << 32) / Fraction(scale))


def exact_sum(values: Numbers, weight: NDArray[np.float64] | None = None) -> float:
    """Sum the values, times their weight, to about 62 bits below the largest, whatever the order of the rows."""
    scale = _scale_of(values, weight)
    return finish_sum(partial_sum(values, scale, weight), scale)


def exact_mean(values: Numbers, weight: NDArray[np.float64] | None = None) -> float:
    """Mean of the values by weight, rounded once from the exact sums, whatever the order of the rows."""
    scale = _scale_of(values, weight)
    return finish_mean(partial_sum(values, scale, weight), scale, values.shape[0], weight)


def finish_mean(total: int, scale: float, n_rows: int, weight: NDArray[np.float64] | None = None) -> float:
    """Turn a total of partial sums of so many rows, which were multiplied by these weights, into their mean."""
    top = Fraction(total) / Fraction(scale)
    if weight is None:
        return float(top / (n_rows << 32))
    weight_scale = _scale_of(weight, None)
    weights = partial_sum(weight, weight_scale)
    if weights <= 0:
        raise WeightError("A mean needs weights with a sum above zero.")
    return float(top / weights * Fraction(weight_scale))


def _scale_of(values: Numbers, weight: NDArray[np.float64] | None) -> float:
    """Give the scale of the first digit for these rows; raise where a row is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = largest_of(values if weight is None else values * weight)
    if not math.isfinite(largest):
        raise DataError("A sum needs finite numbers: a value, or a value times its weight, is infinite or missing.")
    return scale_for(largest, FIRST_BITS)


# Integer weights of one column sum to at most 2 to this, with what rounding up adds: see `place_cuts`.
MOST_WEIGHT_BITS = 51


def integer_weights(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as integers, by one power-of-two scale from the largest and the number of rows.

    Whole weights stay exact multiples of each other, so that a weight of two counts as two rows.
    A positive weight never becomes zero: such a row is light, but it is there.
    """
    scale = sum_scale(float(weight.max(initial=0.0)), weight.shape[0], MOST_WEIGHT_BITS)
    scaled = np.rint(weight * scale).astype(np.int64)
    return np.maximum(scaled, weight > 0)
