"""Multinomial log loss: K scores per row, the class of the row as an integer.

Rows are worked on sideways, LANES at a time, so that a vector holds one class of many rows. Twins: `tests/reference/naive_multinomial.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.losses.derivatives import LARGEST, SHIFT, SUM_BLOCK, add_losses, pack, sum_lanes
from woodwind.kernels.losses.exponential import LANES, ROUND, log, softmax_lanes
from woodwind.kernels.runtime.jit import inner, kernel


@kernel
def multi_derivatives(y: Any, raw: Any, weight: Any, begin: int, end: int, out_g: Any, out_h: Any) -> None:
    """Multinomial: gradient p - [class of the row] and hessian p (1 - p) of every class, times the weight.

    y int32[n]; raw, out_g, out_h float64[n, K]; weight float64[n] or None.
    """
    n_classes = raw.shape[1]
    shares, top, total = np.empty((n_classes, LANES)), np.empty(LANES), np.empty(LANES)
    for first in range(begin, end, LANES):
        n_rows = min(LANES, end - first)
        softmax_lanes(raw[first : first + n_rows], shares, top, total)
        for i in range(n_rows):
            w = 1.0 if weight is None else weight[first + i]
            for k in range(n_classes):
                p = shares[k, i]
                out_g[first + i, k] = w * p
                out_h[first + i, k] = w * (p * (1.0 - p))
            own = y[first + i]
            out_g[first + i, own] = w * (shares[own, i] - 1.0)


@inner
def to_int32(x: Any) -> Any:
    """Nearest integer, clipped at 2**30, without a conversion that keeps loops from being vectorised: see `derivatives.pack`."""
    x = LARGEST if x > LARGEST else x
    x = -LARGEST if x < -LARGEST else x
    return np.int32((np.float64(x + ROUND).view(np.int64) << SHIFT) >> SHIFT)


@inner
def quantise_class(share: Any, w: Any, scales: Any, out_q: Any, out_h: Any, out_shared: Any, spare: Any) -> None:
    """Gradient as if no row were of this class, and hessian, which is also added to the shared one.

    share, w, out_shared float64[LANES]; out_q, out_h int32[m], columns of the results; spare int32[2, LANES].
    """
    n_rows, scale_g, scale_h = out_q.shape[0], scales[0], scales[1]
    q, h = spare[0], spare[1]
    for i in range(n_rows):
        hessian = w[i] * (share[i] * (1.0 - share[i]))
        out_shared[i] += hessian
        q[i] = to_int32(w[i] * share[i] * scale_g)
        h[i] = to_int32(hessian * scale_h)
    # Cells of a column are far apart: they are copied from a buffer, so that the loop above stays vector code.
    for i in range(n_rows):
        out_q[i] = q[i]
        out_h[i] = h[i]


@kernel
def multi_quantise(y: Any, raw: Any, weight: Any, scales: Any, begin: int, end: int, out_q: Any, out_h: Any) -> None:
    """Multinomial derivatives as integers: the K gradients, the hessian that a shared tree uses, and the K hessians.

    y int32[n]; raw float64[n, K]; weight float64[n] or None; scales float64[2]. out_q int32[n, K + 1]: rint of p - [class]
    times scales[0], then of the shared hessian, half the sum of p (1 - p), times scales[1]; out_h int32[n, K]:
    rint of p (1 - p) times scales[1].
    """
    n_classes = raw.shape[1]
    shares, top, total = np.empty((n_classes, LANES)), np.empty(LANES), np.empty(LANES)
    w, shared, spare = np.ones(LANES), np.empty(LANES), np.empty((2, LANES), np.int32)
    for first in range(begin, end, LANES):
        n_rows = min(LANES, end - first)
        softmax_lanes(raw[first : first + n_rows], shares, top, total)
        q, hessians, own = out_q[first : first + n_rows], out_h[first : first + n_rows], y[first : first + n_rows]
        if weight is not None:
            for i in range(n_rows):
                w[i] = weight[first + i]
        for i in range(n_rows):
            shared[i] = 0.0
        for k in range(n_classes):
            quantise_class(shares[k], w, scales, q[:, k], hessians[:, k], shared, spare)
        # The row's own class is put right afterwards: to ask in the loop over classes is a guess that fails once per row.
        for i in range(n_rows):
            q[i, own[i]] = to_int32(w[i] * (shares[own[i], i] - 1.0) * scales[0])
            q[i, n_classes] = to_int32(0.5 * shared[i] * scales[1])


@kernel
def multi_largest_given(g: Any, h: Any, begin: int, end: int, out: Any) -> None:
    """Largest |gradient|, largest hessian, and largest sum of the hessians of a row, of rows begin to end: g, h float64[n, K].

    h is None where all of them are one. out int64[3]: bits of the numbers; for one that is none they are above all others.
    """
    g = g[begin:end]
    top_g = np.int64(0)
    top_h = np.float64(1.0).view(np.int64)
    top_sum = np.float64(g.shape[1]).view(np.int64)
    for i in range(g.shape[0]):
        for k in range(g.shape[1]):
            top_g = max(top_g, np.float64(abs(g[i, k])).view(np.int64))
    if h is not None:
        h = h[begin:end]
        top_h = np.int64(0)
        top_sum = np.int64(0)
        for i in range(h.shape[0]):
            total = 0.0
            for k in range(h.shape[1]):
                top_h = max(top_h, np.float64(abs(h[i, k])).view(np.int64))
                total += h[i, k]
            top_sum = max(top_sum, np.float64(abs(total)).view(np.int64))
    out[0] = top_g
    out[1] = top_h
    out[2] = top_sum


@kernel
def multi_quantise_given(g: Any, h: Any, weight: Any, scales: Any, begin: int, end: int, out_q: Any, out_h: Any) -> None:
    """Derivatives computed elsewhere, g and h float64[n, K], as integers; the rest as in `multi_quantise`.

    h is None where all hessians are one, and there are no weights.
    """
    n_classes = g.shape[1]
    if h is None:
        scale = scales[0]
        one, shared_one = to_int32(scales[1]), to_int32(0.5 * n_classes * scales[1])
        for i in range(begin, end):
            for k in range(n_classes):
                out_q[i, k] = to_int32(g[i, k] * scale)
                out_h[i, k] = one
            out_q[i, n_classes] = shared_one
        return
    for i in range(begin, end):
        w = 1.0 if weight is None else weight[i]
        shared = 0.0
        for k in range(n_classes):
            hessian = w * max(h[i, k], 0.0)
            shared += hessian
            out_q[i, k] = to_int32(w * g[i, k] * scales[0])
            out_h[i, k] = to_int32(hessian * scales[1])
        out_q[i, n_classes] = to_int32(0.5 * shared * scales[1])


@kernel
def multi_pack(y: Any, raw: Any, weight: Any, scales: Any, begin: int, end: int, out: Any) -> None:
    """Derivatives of every class as packed integers, class by class, the same numbers as from `multi_quantise`: out int64[K, n]."""
    n_classes = raw.shape[1]
    shares, top, total = np.empty((n_classes, LANES)), np.empty(LANES), np.empty(LANES)
    w, g, h = np.ones(LANES), np.empty(LANES), np.empty(LANES)
    for first in range(begin, end, LANES):
        n_rows = min(LANES, end - first)
        softmax_lanes(raw[first : first + n_rows], shares, top, total)
        own = y[first : first + n_rows]
        if weight is not None:
            for i in range(n_rows):
                w[i] = weight[first + i]
        for k in range(n_classes):
            share = shares[k]
            for i in range(n_rows):
                g[i] = w[i] * (share[i] - (1.0 if own[i] == k else 0.0))
                h[i] = w[i] * (share[i] * (1.0 - share[i]))
            pack(g, h, scales, out[k, first : first + n_rows])


@kernel
def multi_pack_given(g: Any, h: Any, scales: Any, begin: int, end: int, out: Any) -> None:
    """Derivatives computed elsewhere, g and h float64[n, K], as in `multi_pack`."""
    block_g, block_h = np.empty(LANES), np.empty(LANES)
    for first in range(begin, end, LANES):
        n_rows = min(LANES, end - first)
        for k in range(g.shape[1]):
            for i in range(n_rows):
                block_g[i] = g[first + i, k]
                block_h[i] = h[first + i, k]
            pack(block_g, block_h, scales, out[k, first : first + n_rows])


@kernel
def multi_loss_sums(y: Any, raw: Any, weight: Any, begin: int, end: int, out_blocks: Any) -> None:
    """Sum of log sum exp(raw) - raw[class], times the weight, of every block of SUM_BLOCK rows, as `loss_sums`."""
    n_classes = raw.shape[1]
    shares, top, total = np.empty((n_classes, LANES)), np.empty(LANES), np.empty(LANES)
    losses, lanes = np.empty(LANES), np.empty(LANES)
    for start in range(begin, end, SUM_BLOCK):
        for i in range(LANES):
            lanes[i] = 0.0
        for first in range(start, min(start + SUM_BLOCK, end), LANES):
            n_rows = min(LANES, end - first)
            softmax_lanes(raw[first : first + n_rows], shares, top, total)
            for i in range(n_rows):
                losses[i] = log(total[i]) + (top[i] - raw[first + i, y[first + i]])
            add_losses(losses[:n_rows], weight, first, lanes)
        out_blocks[start // SUM_BLOCK] = sum_lanes(lanes)
