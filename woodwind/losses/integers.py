"""Derivatives as integers: scales from global numbers, then the rows, on the threads that the work is worth.

`largest_derivatives` of the parts of a table are merged by their maximum, so the scales are the same for any split into parts.

Histograms sum the upper 15 of 30 bits. Where one row is a million times as large as most, in its target or by its weight, that leaves
most rows nothing: `quantise_rows` and `is_uneven` tell, and `quantise_unrounded` gives all bits that sums have room for.
See docs/decisions/0023-long-tails.md.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError
from woodwind.base.fixed import largest_of, scale_for
from woodwind.base.pool import run_ranges
from woodwind.kernels.losses.derivatives import largest, quantise, quantise_given
from woodwind.kernels.losses.multinomial import (
    multi_largest_given,
    multi_pack,
    multi_pack_given,
    multi_quantise,
    multi_quantise_given,
)
from woodwind.losses.base import WORK, Loss
from woodwind.losses.links import Floats

# A gradient or hessian becomes an integer of at most 2**30 in size: two of them fit into a 64-bit word with room to spare.
BITS = 30
# Those of a row that is not rounded for histograms: sums of all rows fit into 62 bits, and a float64 has 53.
MOST_BITS, SUM_BITS = 52, 62
# A row is precise when it has 32 steps of a histogram, of which there are 2**15: so when it is 2**-10 of the largest.
STEPS, STEPS_BELOW = 32, 2.0**-10
# Rows are not rounded where less than this share of them have enough steps. Rows that are fitted well have small gradients, which is
# no reason: so half of them for derivatives. Weights do not change from round to round.
PRECISE_SHARE, PRECISE_WEIGHTS = 0.5, 0.9


def largest_derivatives(loss: Loss, y: NDArray[Any], raw: Floats, weight: Floats | None = None, threads: int = 1) -> tuple[float, float]:
    """Largest |gradient| and largest hessian over the rows, or bounds on them where the loss knows some.

    The loss is resolved; y and raw are contiguous, as the kernels take them.
    """
    bounds = loss.bounds()
    if bounds is not None:
        heaviest = 1.0 if weight is None else largest_of(weight)
        return bounds[0] * heaviest, bounds[1] * heaviest
    formula = loss.formula
    if formula is None:
        gradient, hessian = loss.derivatives(y, raw, weight)
        return largest_of(gradient), largest_of(hessian)
    found: list[Floats] = []

    def part(begin: int, end: int) -> None:
        out = np.empty(2)
        largest(formula, y, raw, weight, begin, end, out)
        found.append(out)

    run_ranges(part, raw.shape[0], threads, WORK)
    tops = np.max(found, axis=0)
    return float(tops[0]), float(tops[1])


def refuse_runaway(tops: tuple[float, float], n_rows: int) -> None:
    """Raise where the largest gradient or the largest hessian is not finite, or the sum of so many of them might not be."""
    if not all(math.isfinite(2.0 * n_rows * top) for top in tops):
        raise DataError(
            "A gradient or hessian is not a finite number: the scores have run away. "
            "Use a smaller learning_rate, more l2_regularization, or scale the target."
        )


@lru_cache(maxsize=64)
def scales_for(tops: tuple[float, float], n_rows: int) -> Floats:
    """Powers of two that bring the largest gradient and the largest hessian of so many rows to at most 2**30.

    Kept, because most losses have the same in every round: not to be written to.
    """
    refuse_runaway(tops, n_rows)
    return np.array([scale_for(top, BITS) for top in tops])


def with_room(tops: tuple[float, float], room: float) -> tuple[float, float]:
    """The same for gradients that are `room` times as large."""
    return tops[0] * room, tops[1]


def quantise_rows(
    loss: Loss, y: NDArray[Any], raw: Floats, weight: Floats | None, out_q: NDArray[np.int64], threads: int = 1, room: float = 1.0
) -> tuple[Floats, bool]:
    """Gradient and hessian of every row, packed into out_q int64[n], for one score per row; gives the scales float64[2].

    The upper half of a word is rint(gradient * scales[0]), the lower half rint(hessian * scales[1]).
    The scales are made for gradients that are `room` times as large, here and below.
    Also tells whether enough rows are precise when histograms round them.
    """
    formula = loss.formula
    counts: list[tuple[int, int, int]] = []
    if formula is not None:
        scales = scales_for(with_room(largest_derivatives(loss, y, raw, weight, threads), room), len(raw))

        def part(begin: int, end: int) -> None:
            counts.append(quantise(formula, y, raw, weight, scales, begin, end, out_q))

    else:
        # A user's own loss, or one of whole queries, has multiplied by the weight already.
        gradient, hessian = loss.derivatives(y, raw, weight, threads)
        scales = scales_for(with_room((largest_of(gradient), largest_of(hessian)), room), len(raw))

        def part(begin: int, end: int) -> None:
            counts.append(quantise_given(gradient, hessian, None, scales, begin, end, out_q))

    run_ranges(part, raw.shape[0], threads, WORK)
    rows, gradients, hessians = map(sum, zip(*counts, strict=True))
    return scales, min(gradients, hessians) >= PRECISE_SHARE * rows


def is_uneven(weight: Floats | None) -> bool:
    """Whether too many weights are so small beside the largest that histograms would round them off."""
    if weight is None:
        return False
    most = largest_of(weight)
    return int((weight >= STEPS_BELOW * most).sum()) < PRECISE_WEIGHTS * int((weight > 0.0).sum())


def is_vast(y: NDArray[Any]) -> bool:
    """Whether the furthest target is so far from the median that most would be a few units of all the bits that a row has."""
    if y.ndim > 1:  # bounds of times, which are infinite, or targets with what is known of them
        return False
    away = np.abs(y - np.median(y))
    return bool(largest_of(away) > 2.0**40 * np.median(away) > 0.0)


def quantise_unrounded(
    loss: Loss,
    y: NDArray[Any],
    raw: Floats,
    weight: Floats | None,
    out: NDArray[np.int64],
    capacity: int,
    threads: int = 1,
    room: float = 1.0,
) -> tuple[Floats, bool]:
    """Gradients and hessians as integers of as many bits as a sum over `capacity` rows has room for: out int64[K, 2, n].

    Gives the scales float64[2], and whether enough rows are precise.
    """
    gradient, hessian = (part.reshape(len(raw), -1) for part in loss.derivatives(y, raw, weight, threads))
    if loss.longest_step is not None:
        hessian = np.maximum(hessian, np.abs(gradient) / loss.longest_step)
    tops = with_room((largest_of(gradient), largest_of(hessian)), room)
    refuse_runaway(tops, len(raw))
    bits = min(MOST_BITS, SUM_BITS - capacity.bit_length())
    scales = np.array([scale_for(top, bits) for top in tops])

    def part(begin: int, end: int) -> None:
        for k in range(len(out)):
            out[k, 0, begin:end] = np.rint(gradient[begin:end, k] * scales[0])
            out[k, 1, begin:end] = np.maximum(np.rint(hessian[begin:end, k] * scales[1]), 0.0)

    run_ranges(part, len(raw), threads, WORK * len(out))
    rows = int(np.count_nonzero((hessian > 0.0) & (gradient != 0.0)))
    least = min(int(np.count_nonzero(np.abs(out[:, k]) >= STEPS)) for k in range(2))
    return scales, least >= PRECISE_SHARE * rows


def class_scales(
    loss: Loss, y: NDArray[Any], raw: Floats, weight: Floats | None, threads: int, room: float = 1.0
) -> tuple[Floats, tuple[Floats, Floats] | None]:
    """Scales float64[2] for several scores per row, and their derivatives where no kernel computes them as integers at once."""
    if loss.softmax:
        return scales_for(with_room(largest_derivatives(loss, y, raw, weight, threads), room), len(raw)), None
    gradient, hessian = loss.derivatives(y, raw, weight, threads)
    known = None if loss.constant_hessian and weight is None else hessian
    found: list[NDArray[np.int64]] = []

    def part(begin: int, end: int) -> None:
        out = np.empty(3, np.int64)
        multi_largest_given(gradient, known, begin, end, out)
        found.append(out)

    run_ranges(part, raw.shape[0], threads, loss.width)
    largest_g, largest_h, largest_sum = np.max(found, axis=0).view(np.float64).tolist()
    # The shared hessian is half the sum of all K, which may be larger than any of them.
    return scales_for(with_room((largest_g, max(largest_h, 0.5 * largest_sum)), room), len(raw)), (gradient, hessian)


def quantise_classes(
    loss: Loss,
    y: NDArray[Any],
    raw: Floats,
    weight: Floats | None,
    out_q: NDArray[np.int32],
    out_h: NDArray[np.int32],
    threads: int = 1,
    room: float = 1.0,
) -> Floats:
    """Derivatives of several scores per row as integers, for trees that serve all of them; gives the scales float64[2].

    out_q int32[n, K + 1]: the K gradients, then the hessian of a tree that serves all K; out_h int32[n, K]: the K hessians.
    """
    scales, given = class_scales(loss, y, raw, weight, threads, room)
    all_one = loss.constant_hessian and weight is None

    def part(begin: int, end: int) -> None:
        if given is None:
            multi_quantise(y, raw, weight, scales, begin, end, out_q, out_h)
        else:
            multi_quantise_given(given[0], None if all_one else given[1], None, scales, begin, end, out_q, out_h)

    run_ranges(part, raw.shape[0], threads, WORK * loss.width)
    return scales


def pack_classes(
    loss: Loss, y: NDArray[Any], raw: Floats, weight: Floats | None, out: NDArray[np.int64], threads: int = 1, room: float = 1.0
) -> Floats:
    """The same integers for trees that serve one score each, as `quantise_rows` packs them: out int64[K, n]."""
    scales, given = class_scales(loss, y, raw, weight, threads, room)

    def part(begin: int, end: int) -> None:
        if given is None:
            multi_pack(y, raw, weight, scales, begin, end, out)
        else:
            multi_pack_given(*given, scales, begin, end, out)

    run_ranges(part, raw.shape[0], threads, WORK * loss.width)
    return scales
