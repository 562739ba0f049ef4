"""Compiling with less ceremony: nothing stays changed, and what is left out is refused or not missed."""

import gc

import numpy as np
import pytest
from numba.core.types.functions import BaseFunction

from woodwind.kernels.runtime import jit
from woodwind.kernels.runtime import numba_patches as lean

pytestmark = pytest.mark.compiled


@jit.inner
def twice(number, out):
    out[0] += 2 * number


@jit.kernel
def six(out):
    twice(1, out)
    twice(2, out)
    twice(out[1], out)


@jit.kernel
def same(a):
    return a


@jit.kernel
def both(a):
    return a.size, a


@jit.kernel
def summed(n):
    held = np.ones(n)
    total = 0.0
    for k in range(n):
        total += held[k]
    return total


def test_a_function_is_compiled_once_for_all_integers():
    out = np.zeros(2, np.int64)
    six(out)
    assert out.tolist() == [6, 0]
    assert len(twice.overloads) == 1


@pytest.mark.parametrize("function", [same, both])
def test_no_kernel_hands_an_array_back(function):
    with pytest.raises(TypeError, match="returns an array: outputs are passed in"):
        function(np.zeros(1))


def test_a_kernel_may_make_an_array():
    assert [summed(3), summed(100_000)] == [3.0, 100_000.0]


@pytest.mark.parametrize("collecting", [True, False])
def test_nothing_stays_changed(collecting):
    before = BaseFunction.get_call_type
    own = [getattr(step.owner, step.name) for step in lean.LIGHT]
    (gc.enable if collecting else gc.disable)()
    try:
        with lean.compiling(), lean.only_for_linking(True), lean.compiling():
            assert not gc.isenabled()
            assert BaseFunction.get_call_type is not before
        assert gc.isenabled() == collecting
    finally:
        gc.enable()
    assert BaseFunction.get_call_type is before
    assert [getattr(step.owner, step.name) for step in lean.LIGHT] == own
