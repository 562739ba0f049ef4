"""Loss, gradient and hessian of one row, side by side; and the loops around them.

A loss is a `Formula`: a switch and at most one number. The formulas are functions of one target y and one raw score f. Two functions
hold the switch, `fill_losses` and `fill_derivatives`; they work on a block of rows that stays in the first-level
cache, so the choice is made once per block and every other loop is written once, without knowing the loss.
Weights multiply what the formulas give. Targets are float64, or uint8, as two classes are kept: no formula does anything with y
before it meets a float. Twins: `tests/reference/naive_derivatives.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.losses.exponential import ROUND, exp, log1p_unit
from woodwind.kernels.runtime.jit import inner, kernel

# Switches are baked into compiled kernels. Model files do not hold them.
SQUARED, ABSOLUTE, HUBER, QUANTILE, POISSON, GAMMA, TWEEDIE, LOGISTIC, EXPONENTIAL = range(9)

# Rows that are worked on at once: gradient and hessian of a block take 8 kB.
BLOCK = 512

# Loss sums are taken over fixed blocks of rows, counted from row 0, and inside a block over fixed lanes (row modulo
# SUM_LANES): the sum of floats then has one order, whatever the threads.
SUM_BLOCK = 4096
SUM_LANES = 256

LARGEST = 1073741824.0  # 2**30
LEAST_PRECISE = 1048576.0  # 2**20: 32 steps of a histogram, which has 2**15
SHIFT = np.int64(32)
LOW_HALF = np.int64(0xFFFFFFFF)


class Formula(NamedTuple):
    """Which loss, and its number: the level of a quantile, delta of Huber, the power of Tweedie; else 0."""

    switch: int
    number: float


@inner
def squared_loss(y: Any, f: Any) -> Any:
    """Half the squared error, so that the hessian is 1."""
    return 0.5 * (f - y) * (f - y)


@inner
def squared_derivatives(y: Any, f: Any) -> Any:
    """Derivatives of `squared_loss`."""
    return f - y, 1.0


@inner
def absolute_loss(y: Any, f: Any) -> Any:
    """|y - f|."""
    return abs(f - y)


@inner
def absolute_derivatives(y: Any, f: Any) -> Any:
    """Sign of f - y, -1 where they are equal. The true hessian is 0; with 1 in its place a leaf is a mean of signs."""
    return (1.0 if f > y else -1.0), 1.0


@inner
def huber_loss(y: Any, f: Any, delta: Any) -> Any:
    """Half the squared error up to delta, then linear: Huber 1964."""
    r = abs(f - y)
    return 0.5 * r * r if r <= delta else delta * (r - 0.5 * delta)


@inner
def huber_derivatives(y: Any, f: Any, delta: Any) -> Any:
    """f - y, clipped at delta on both sides. The hessian is 1 also in the linear parts, where the true one is 0."""
    r = f - y
    r = delta if r > delta else r
    return (-delta if r < -delta else r), 1.0


@inner
def quantile_loss(y: Any, f: Any, level: Any) -> Any:
    """Pinball loss: Koenker & Bassett 1978."""
    return level * (y - f) if y >= f else (1.0 - level) * (f - y)


@inner
def quantile_derivatives(y: Any, f: Any, level: Any) -> Any:
    """Slopes of the pinball loss, that of y > f where they are equal. The true hessian is 0; 1 stands in its place."""
    return (1.0 - level if f > y else -level), 1.0


@inner
def poisson_loss(y: Any, f: Any) -> Any:
    """Half the Poisson deviance with mean exp(f), without y log(y) - y, which does not depend on f."""
    return exp(f) - y * f


@inner
def poisson_derivatives(y: Any, f: Any) -> Any:
    """Derivatives of `poisson_loss`."""
    mean = exp(f)
    return mean - y, mean


@inner
def gamma_loss(y: Any, f: Any) -> Any:
    """Half the Gamma deviance with mean exp(f), without -log(y) - 1, which does not depend on f."""
    return f + y * exp(-f)


@inner
def gamma_derivatives(y: Any, f: Any) -> Any:
    """Derivatives of `gamma_loss`."""
    ratio = y * exp(-f)
    return 1.0 - ratio, ratio


# Tweedie needs two exponentials. Two in one loop are not vectorised (16 against 4 ns), so they are separate formulas with a
# loop each: half the deviance is level / (2 - p) - slope / (1 - p), without y**(2 - p) / ((1 - p)(2 - p)).


@inner
def tweedie_level(f: Any, p: Any) -> Any:
    """mean**(2 - p) with mean exp(f)."""
    return exp((2.0 - p) * f)


@inner
def tweedie_slope(y: Any, f: Any, p: Any) -> Any:
    """y * mean**(1 - p) with mean exp(f)."""
    return y * exp((1.0 - p) * f)


@inner
def tweedie_derivatives(level: Any, slope: Any, p: Any) -> Any:
    """Derivatives of half the Tweedie deviance; both parts of the hessian are positive because 1 < p < 2."""
    return level - slope, (2.0 - p) * level + (p - 1.0) * slope


@inner
def logistic_loss(y: Any, f: Any) -> Any:
    """log(1 + exp(f)) - y f, arranged so that nothing overflows."""
    return log1p_unit(exp(-abs(f))) + ((f if f > 0.0 else 0.0) - y * f)


@inner
def logistic_derivatives(y: Any, f: Any) -> Any:
    """p - y and p (1 - p), from the smaller and the larger of p and 1 - p, so that neither tail loses its digits."""
    e = exp(-abs(f))
    large = 1.0 / (1.0 + e)
    small = e * large
    up = f >= 0.0
    p = large if up else small
    q = small if up else large
    return (1.0 - y) * p - y * q, large * small


@inner
def exponential_loss(y: Any, f: Any) -> Any:
    """exp(-s f) with s = 2 y - 1: the loss that AdaBoost minimises (Friedman, Hastie & Tibshirani 2000)."""
    return exp((1.0 - 2.0 * y) * f)


@inner
def exponential_derivatives(y: Any, f: Any) -> Any:
    """-s exp(-s f) and exp(-s f)."""
    loss = exp((1.0 - 2.0 * y) * f)
    return (1.0 - 2.0 * y) * loss, loss


@inner
def fill_losses(formula: Any, y: Any, raw: Any, out: Any) -> None:
    """Loss of every row of a block: y float64 or uint8[m]; raw float64[m]; out float64[>= m]."""
    n, a = y.shape[0], formula.number
    if formula.switch == SQUARED:
        for i in range(n):
            out[i] = squared_loss(y[i], raw[i])
    elif formula.switch == ABSOLUTE:
        for i in range(n):
            out[i] = absolute_loss(y[i], raw[i])
    elif formula.switch == HUBER:
        for i in range(n):
            out[i] = huber_loss(y[i], raw[i], a)
    elif formula.switch == QUANTILE:
        for i in range(n):
            out[i] = quantile_loss(y[i], raw[i], a)
    elif formula.switch == POISSON:
        for i in range(n):
            out[i] = poisson_loss(y[i], raw[i])
    elif formula.switch == GAMMA:
        for i in range(n):
            out[i] = gamma_loss(y[i], raw[i])
    elif formula.switch == TWEEDIE:
        for i in range(n):
            out[i] = tweedie_level(raw[i], a) / (2.0 - a)
        for i in range(n):
            out[i] -= tweedie_slope(y[i], raw[i], a) / (1.0 - a)
    elif formula.switch == LOGISTIC:
        for i in range(n):
            out[i] = logistic_loss(y[i], raw[i])
    elif formula.switch == EXPONENTIAL:
        for i in range(n):
            out[i] = exponential_loss(y[i], raw[i])


@inner
def fill_derivatives(formula: Any, y: Any, raw: Any, out_g: Any, out_h: Any) -> None:
    """Gradient and hessian of every row of a block: y float64 or uint8[m]; raw float64[m]; out_g, out_h float64[>= m]."""
    n, a = y.shape[0], formula.number
    if formula.switch == SQUARED:
        for i in range(n):
            out_g[i], out_h[i] = squared_derivatives(y[i], raw[i])
    elif formula.switch == ABSOLUTE:
        for i in range(n):
            out_g[i], out_h[i] = absolute_derivatives(y[i], raw[i])
    elif formula.switch == HUBER:
        for i in range(n):
            out_g[i], out_h[i] = huber_derivatives(y[i], raw[i], a)
    elif formula.switch == QUANTILE:
        for i in range(n):
            out_g[i], out_h[i] = quantile_derivatives(y[i], raw[i], a)
    elif formula.switch == POISSON:
        for i in range(n):
            out_g[i], out_h[i] = poisson_derivatives(y[i], raw[i])
    elif formula.switch == GAMMA:
        for i in range(n):
            out_g[i], out_h[i] = gamma_derivatives(y[i], raw[i])
    elif formula.switch == TWEEDIE:
        for i in range(n):
            out_g[i] = tweedie_level(raw[i], a)
        for i in range(n):
            out_h[i] = tweedie_slope(y[i], raw[i], a)
        for i in range(n):
            out_g[i], out_h[i] = tweedie_derivatives(out_g[i], out_h[i], a)
    elif formula.switch == LOGISTIC:
        for i in range(n):
            out_g[i], out_h[i] = logistic_derivatives(y[i], raw[i])
    elif formula.switch == EXPONENTIAL:
        for i in range(n):
            out_g[i], out_h[i] = exponential_derivatives(y[i], raw[i])


@inner
def times_weight(weight: Any, out_g: Any, out_h: Any) -> None:
    """Multiply gradient and hessian of a block by the weights float64[m]."""
    for i in range(weight.shape[0]):
        out_g[i] *= weight[i]
        out_h[i] *= weight[i]


@kernel
def derivatives(formula: Any, y: Any, raw: Any, weight: Any, begin: int, end: int, out_g: Any, out_h: Any) -> None:
    """Gradient and hessian of rows begin .. end, times their weight: y float64 or uint8[n], others float64[n], weight may be None."""
    fill_derivatives(formula, y[begin:end], raw[begin:end], out_g[begin:end], out_h[begin:end])
    if weight is not None:
        times_weight(weight[begin:end], out_g[begin:end], out_h[begin:end])


@inner
def largest_bits(values: Any, n: int) -> Any:
    """Largest of the first n absolute values, as the bits of a float64: those of positive floats are in the order of the floats.

    A maximum of integers is vectorised, one of floats is not (0.6 against 1.5 ns per row). A NaN is above everything.
    """
    top = np.int64(0)
    for i in range(n):
        bits = np.float64(abs(values[i])).view(np.int64)
        top = bits if bits > top else top
    return top


@kernel
def largest(formula: Any, y: Any, raw: Any, weight: Any, begin: int, end: int, out: Any) -> None:
    """Largest |gradient| and largest hessian of rows begin .. end, times their weight, into out float64[2]."""
    g, h = np.empty(BLOCK), np.empty(BLOCK)
    top_g = top_h = np.int64(0)
    for first in range(begin, end, BLOCK):
        last = min(first + BLOCK, end)
        fill_derivatives(formula, y[first:last], raw[first:last], g, h)
        if weight is not None:
            times_weight(weight[first:last], g, h)
        top_g = max(top_g, largest_bits(g, last - first))
        top_h = max(top_h, largest_bits(h, last - first))
    out[0] = np.int64(top_g).view(np.float64)
    out[1] = np.int64(top_h).view(np.float64)


@inner
def pack(g: Any, h: Any, scales: Any, out_q: Any) -> None:
    """Round a block to integers, gradient in the upper half of a word and hessian in the lower: out_q int64[m].

    Adding ROUND rounds to the nearest whole number, as rint does, and leaves it in the low bits of the float: converting to
    integers is then a shift, which vectorises on every machine.
    """
    scale_g, scale_h = scales[0], scales[1]
    for i in range(out_q.shape[0]):
        up = g[i] * scale_g
        up = LARGEST if up > LARGEST else up
        up = -LARGEST if up < -LARGEST else up
        low = h[i] * scale_h
        low = LARGEST if low > LARGEST else low
        low = 0.0 if low < 0.0 else low
        upper = np.float64(up + ROUND).view(np.int64) << SHIFT
        out_q[i] = upper + (np.float64(low + ROUND).view(np.int64) & LOW_HALF)


@inner
def count_precise(g: Any, h: Any, n: int, scales: Any) -> Any:
    """Of the first n rows of a block: how many have derivatives, and how many a gradient and a hessian of enough steps of a histogram."""
    rows = gradients = hessians = np.int64(0)
    least_g, least_h = LEAST_PRECISE / scales[0], LEAST_PRECISE / scales[1]
    for i in range(n):
        there = (h[i] > 0.0) & (g[i] != 0.0)
        rows += np.int64(there)
        gradients += np.int64(there & (abs(g[i]) >= least_g))
        hessians += np.int64(there & (h[i] >= least_h))
    return rows, gradients, hessians


@kernel
def quantise(formula: Any, y: Any, raw: Any, weight: Any, scales: Any, begin: int, end: int, out_q: Any) -> Any:
    """Gradient and hessian of rows begin .. end as packed integers, rint(g * scales[0]) << 32 + rint(h * scales[1]).

    y float64 or uint8[n]; raw, weight float64[n], weight may be None; scales float64[2]; out_q int64[n]. Both are clipped at 2**30.
    Returns what `count_precise` counts.
    """
    g, h = np.empty(BLOCK), np.empty(BLOCK)
    rows = gradients = hessians = np.int64(0)
    for first in range(begin, end, BLOCK):
        last = min(first + BLOCK, end)
        fill_derivatives(formula, y[first:last], raw[first:last], g, h)
        if weight is not None:
            times_weight(weight[first:last], g, h)
        pack(g, h, scales, out_q[first:last])
        some = count_precise(g, h, last - first, scales)
        rows += some[0]
        gradients += some[1]
        hessians += some[2]
    return rows, gradients, hessians


@kernel
def quantise_given(g: Any, h: Any, weight: Any, scales: Any, begin: int, end: int, out_q: Any) -> Any:
    """Pack derivatives that were computed elsewhere, times their weight: g, h float64[n], the rest as in `quantise`."""
    block_g, block_h = np.empty(BLOCK), np.empty(BLOCK)
    rows = gradients = hessians = np.int64(0)
    for first in range(begin, end, BLOCK):
        last = min(first + BLOCK, end)
        for i in range(last - first):
            block_g[i] = g[first + i]
            block_h[i] = h[first + i]
        if weight is not None:
            times_weight(weight[first:last], block_g, block_h)
        pack(block_g, block_h, scales, out_q[first:last])
        some = count_precise(block_g, block_h, last - first, scales)
        rows += some[0]
        gradients += some[1]
        hessians += some[2]
    return rows, gradients, hessians


@kernel
def loss_sums(formula: Any, y: Any, raw: Any, weight: Any, begin: int, end: int, out_blocks: Any) -> None:
    """Sum of the losses, times their weight, of every block of SUM_BLOCK rows: out_blocks float64[ceil(n / SUM_BLOCK)].

    `begin` is a multiple of SUM_BLOCK.
    """
    losses, lanes = np.empty(SUM_LANES), np.empty(SUM_LANES)
    for start in range(begin, end, SUM_BLOCK):
        for i in range(SUM_LANES):
            lanes[i] = 0.0
        for first in range(start, min(start + SUM_BLOCK, end), SUM_LANES):
            last = min(first + SUM_LANES, end)
            fill_losses(formula, y[first:last], raw[first:last], losses)
            add_losses(losses[: last - first], weight, first, lanes)
        out_blocks[start // SUM_BLOCK] = sum_lanes(lanes)


@inner
def add_losses(losses: Any, weight: Any, first: int, out_lanes: Any) -> None:
    """Add losses float64[m] of the rows from `first` on, times their weight, to the lanes."""
    if weight is None:
        for i in range(losses.shape[0]):
            out_lanes[i] += losses[i]
    else:
        part = weight[first : first + losses.shape[0]]
        for i in range(losses.shape[0]):
            out_lanes[i] += losses[i] * part[i]


@inner
def sum_lanes(lanes: Any) -> float:
    """Sum of the lanes, from the first to the last."""
    total = 0.0
    for i in range(lanes.shape[0]):
        total += lanes[i]
    return total
