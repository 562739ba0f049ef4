"""Derivatives of Cox's partial likelihood: sums over the rows that are still at risk, by time.

Rows come in groups of one time, the earliest first. Sums of a group are those of integers, and groups are added in the order of time, so
that rows of one time may stand in any order. Twins: `tests/reference/naive_survival.py`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.losses.exponential import exp, log
from woodwind.kernels.runtime.jit import inner, kernel

# Scores that are further below the largest are taken as this far: the square of one over such an exponential is still a float.
WIDEST = 300.0
# A float64 counts so far, and an int64 a little less than this many bits.
MOST_BITS, SUM_BITS = 52, 62


class RiskSets(NamedTuple):
    """The rows in the order of time."""

    order: Any  # int32[n], rows, the earliest first
    begin: Any  # int64[G + 1], where each time begins in `order`
    group: Any  # int32[n], number of the time of each row
    event: Any  # uint8[n], whether each row had its event


class RiskSums(NamedTuple):
    """Sums of each time, float64[G] each, by weight."""

    risk: Any  # exponentials of the rows at risk
    tied: Any  # exponentials of the rows with an event at this time
    deaths: Any  # weights of those rows
    count: Any  # how many they are


@kernel
def relative_risks(raw: Any, top: float, begin: int, end: int, out: Any) -> None:
    """out[i] = exp(raw[i] - top), for scores that are at most `top`: float64[n]."""
    raw, out = raw[begin:end], out[begin:end]
    for i in range(raw.shape[0]):
        away = raw[i] - top
        out[i] = exp(-WIDEST if away < -WIDEST else away)


@inner
def weighed(values: Any, weight: Any, row: Any) -> Any:
    """The value of a row by its weight; the weight alone where values are None."""
    value = 1.0 if values is None else values[row]
    return value if weight is None else value * weight[row]


@inner
def group_sum(values: Any, weight: Any, rows: Any, event: Any) -> Any:
    """The sum over some rows, the same for any order of them; with `event`, over those that have one. No value is negative."""
    top, count = 0.0, 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if event is None or event[row] != 0:
            value = weighed(values, weight, row)
            top = value if value > top else top
            count += 1
    if count <= 1 or top == 0.0:
        return top
    bits = 0
    while (count - 1) >> bits > 0:
        bits += 1
    exponent = math.frexp(top)[1]
    scale = math.ldexp(1.0, min(min(MOST_BITS, SUM_BITS - bits) - exponent, 1023))
    total = np.int64(0)
    for i in range(rows.shape[0]):
        row = rows[i]
        if event is None or event[row] != 0:
            total += np.int64(np.rint(weighed(values, weight, row) * scale))
    return total / scale


@kernel
def risk_sums(sets: Any, relative: Any, weight: Any, out: Any) -> None:
    """Sums of every time, from the last to the first: relative float64[n], weight float64[n] or None, out a `RiskSums`."""
    above = 0.0
    for group in range(sets.begin.shape[0] - 2, -1, -1):
        rows = sets.order[sets.begin[group] : sets.begin[group + 1]]
        above += group_sum(relative, weight, rows, None)
        count = 0
        for i in range(rows.shape[0]):
            row = rows[i]
            count += 1 if sets.event[row] != 0 and (weight is None or weight[row] > 0.0) else 0
        out.risk[group], out.count[group] = above, count
        out.tied[group] = group_sum(relative, weight, rows, sets.event) if count > 0 else 0.0
        out.deaths[group] = group_sum(None, weight, rows, sets.event) if count > 0 else 0.0


@kernel
def hazard_sums(sums: Any, efron: bool, out: Any) -> None:
    """Sums of hazards over all times up to each, out float64[4, G].

    Of a row that is at risk, the sum and that of squares; then both of a row with an event at that very time, which Efron takes for being
    at risk by a part.
    """
    first, second = 0.0, 0.0
    for group in range(sums.risk.shape[0]):
        count, risk = int(sums.count[group]), sums.risk[group]
        before, before_squared = first, second
        own, own_squared = 0.0, 0.0
        if count == 1 or (count > 0 and not efron):
            hazard = sums.deaths[group] / risk
            first += hazard
            second += hazard / risk
            own, own_squared = first - before, second - before_squared
        elif count > 0:
            mean = sums.deaths[group] / count
            for place in range(count):
                gone = place / count
                left = risk - gone * sums.tied[group]
                hazard = mean / left
                first += hazard
                second += hazard / left
                own += (1.0 - gone) * hazard
                own_squared += (1.0 - gone) * (1.0 - gone) * hazard / left
        out[0, group], out[1, group] = first, second
        out[2, group], out[3, group] = before + own, before_squared + own_squared


@kernel
def cox_rows(sets: Any, hazards: Any, relative: Any, begin: int, end: int, out_gradient: Any, out_hessian: Any) -> None:
    """Gradient and hessian of the rows begin .. end, for a weight of one: float64[n] each."""
    for row in range(begin, end):
        group, event = sets.group[row], sets.event[row]
        kind = 2 if event != 0 else 0
        share = relative[row] * hazards[kind, group]
        squared = relative[row] * relative[row] * hazards[kind + 1, group]
        out_gradient[row] = share - event
        out_hessian[row] = share - squared if share > squared else 0.0


@kernel
def log_risks(sums: Any, efron: bool, out: Any) -> None:
    """What each time adds to minus the log likelihood, but for the scores of those with an event: out float64[G]."""
    for group in range(sums.risk.shape[0]):
        count, risk, total = int(sums.count[group]), sums.risk[group], 0.0
        if count == 1 or (count > 0 and not efron):
            total = sums.deaths[group] * log(risk)
        elif count > 0:
            for place in range(count):
                total += log(risk - place / count * sums.tied[group])
            total *= sums.deaths[group] / count
        out[group] = total
