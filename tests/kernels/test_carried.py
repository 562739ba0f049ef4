"""What a row carries, and what is kept beside it: together the statistics, bit for bit."""

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from woodwind.kernels.histogram.layout import rounded_off, whole_gradient, whole_hessian, with_stats
from woodwind.kernels.runtime.jit import kernel

MOST = 2**30


@kernel
def taken_apart(row: Any, gradient: Any, hessian: Any, out: Any) -> None:
    carried = with_stats(row, (np.int64(gradient) << 32) + np.int64(hessian))
    rest = rounded_off(carried, (np.int64(gradient) << 32) + np.int64(hessian))
    out[0] = carried
    out[1] = rest
    out[2] = whole_gradient(carried, np.int32(rest))
    out[3] = whole_hessian(carried, np.int32(rest))


@given(st.integers(0, 2**31 - 1), st.integers(-MOST, MOST), st.integers(0, MOST))
@example(2**31 - 1, MOST, MOST)
@example(0, -MOST, 0)
@example(5, MOST - 16384, 16384)
@example(5, -16385, 16383)
def test_nothing_is_lost(row, gradient, hessian):
    out = np.zeros(4, np.int64)
    taken_apart(row, gradient, hessian, out)
    assert out[0] >> 32 == row
    assert -(2**31) <= out[1] < 2**31
    assert out[2:].tolist() == [gradient, hessian]
    # What is carried is the nearest multiple of 2**15, or the largest that there is room for.
    assert abs((out[0] << 32 >> 48) * 2**15 - gradient) <= 2**14 or gradient > 32767 * 2**15
    assert abs((out[0] & 0xFFFF) * 2**15 - hessian) <= 2**14
