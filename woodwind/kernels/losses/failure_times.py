"""Accelerated failure time: likelihoods of times that are known, or known to be within bounds, and their derivatives.

The logarithm of a time is a score plus `scale` times a draw of a standard distribution: normal, logistic, or the extreme value
distribution, of which Weibull's times are made. Twins: `tests/reference/naive_survival.py`.
"""

from typing import Any, NamedTuple

from woodwind.kernels.losses.exponential import SQRT2, exp, expit, log, log1p_unit, log_of_one_plus
from woodwind.kernels.runtime.jit import inner, kernel

NORMAL, LOGISTIC, EXTREME = range(3)

HALF_LOG_TWO_PI = 0.9189385332046727
ROOT_HALF_PI = 1.2533141373155003
ROOT_PI_INVERSE = 0.5641895835477563
LN2 = 0.6931471805599453
# Distances from the score, in scales, that are taken as such: exp of the last and its square are floats.
FURTHEST, FURTHEST_EXTREME = 1e6, 80.0
# Bounds that are nearer to each other, in scales, are a density times their distance: the difference of two densities would be rounding.
NARROW = 1e-4


class FailureRule(NamedTuple):
    """Which distribution, and how wide."""

    distribution: int
    scale: float


@inner
def scaled_erfc(x: Any) -> Any:
    """exp(x**2) erfc(x) for x >= 0, by the rational approximations of Cody 1969."""
    if x <= 0.46875:
        y = x * x
        top = (((1.85777706184603153e-1 * y + 3.16112374387056560) * y + 1.13864154151050156e2) * y + 3.77485237685302021e2) * y
        top += 3.20937758913846947e3
        low = (((y + 2.36012909523441209e1) * y + 2.44024637934444173e2) * y + 1.28261652607737228e3) * y + 2.84423683343917062e3
        return exp(y) * (1.0 - x * top / low)
    if x <= 4.0:
        top = (((2.15311535474403846e-8 * x + 5.64188496988670089e-1) * x + 8.88314979438837594) * x + 6.61191906371416295e1) * x
        top = (((top + 2.98635138197400131e2) * x + 8.81952221241769090e2) * x + 1.71204761263407058e3) * x
        top = (top + 2.05107837782607147e3) * x + 1.23033935479799725e3
        low = (((x + 1.57449261107098347e1) * x + 1.17693950891312499e2) * x + 5.37181101862009858e2) * x
        low = (((low + 1.62138957456669019e3) * x + 3.29079923573345963e3) * x + 4.36261909014324716e3) * x
        return top / ((low + 3.43936767414372164e3) * x + 1.23033935480374942e3)
    y = 1.0 / (x * x)
    top = (((1.63153871373020978e-2 * y + 3.05326634961232344e-1) * y + 3.60344899949804439e-1) * y + 1.25781726111229246e-1) * y
    top = (top + 1.60837851487422766e-2) * y + 6.58749161529837803e-4
    low = (((y + 2.56852019228982242) * y + 1.87295284992346725) * y + 5.27905102951428412e-1) * y
    low = (low + 6.05183413124413191e-2) * y + 2.33520497626869185e-3
    return (ROOT_PI_INVERSE - y * top / low) / x


@inner
def log_rest(share: Any) -> Any:
    """log(1 - share), for shares from 0 to almost 1."""
    return log_of_one_plus(-share) if share < 0.25 else log(max(1.0 - share, 1e-300))


@inner
def log_density(distribution: int, z: Any) -> Any:
    """Logarithm of the standard density."""
    if distribution == NORMAL:
        return -0.5 * z * z - HALF_LOG_TWO_PI
    if distribution == LOGISTIC:
        return -abs(z) - 2.0 * log1p_unit(exp(-abs(z)))
    return z - exp(z)


@inner
def log_density_derivatives(distribution: int, z: Any) -> Any:
    """First and second derivative of the logarithm of the standard density."""
    if distribution == NORMAL:
        return -z, -1.0
    if distribution == LOGISTIC:
        below = expit(z)
        return 1.0 - 2.0 * below, -2.0 * below * expit(-z)
    return 1.0 - exp(z), -exp(z)


@inner
def upper_tail(distribution: int, z: Any) -> Any:
    """Logarithm of the probability above z; the hazard, density over that probability; and the derivative of the hazard."""
    if distribution == NORMAL:
        mills = scaled_erfc(abs(z) / SQRT2)
        if z >= 0.0:
            hazard = 1.0 / (ROOT_HALF_PI * mills)
            return -0.5 * z * z + log(0.5 * mills), hazard, hazard * (hazard - z)
        log_share = log_rest(0.5 * mills * exp(-0.5 * z * z))
        hazard = exp(-0.5 * z * z - HALF_LOG_TWO_PI - log_share)
        return log_share, hazard, hazard * (hazard - z)
    if distribution == LOGISTIC:
        return -log1p_unit(exp(-abs(z))) - (z if z > 0.0 else 0.0), expit(z), expit(z) * expit(-z)
    return -exp(z), exp(z), exp(z)


@inner
def lower_tail(distribution: int, z: Any) -> Any:
    """Logarithm of the probability up to z, density over that probability, and minus the derivative of this ratio."""
    if distribution != EXTREME:
        return upper_tail(distribution, -z)
    w = exp(z)
    if w < 0.01:
        share = 1.0 - 0.5 * w * (1.0 - w / 3.0 * (1.0 - 0.25 * w * (1.0 - 0.2 * w)))
        ratio = exp(-w) / share
        return z + log(share), ratio, ratio * (ratio - 1.0 + w)
    log_share = log_rest(exp(-w))
    ratio = exp(z - w - log_share)
    return log_share, ratio, ratio * (ratio - 1.0 + w)


@inner
def within(distribution: int, low: Any, high: Any) -> Any:
    """Logarithm of the probability between two points, and the densities at the upper and at the lower one over that probability."""
    if low > 0.0:
        near, far = upper_tail(distribution, low)[0], upper_tail(distribution, high)[0]
        log_share = near + log_rest(exp(far - near))
    elif high < 0.0:
        near, far = lower_tail(distribution, high)[0], lower_tail(distribution, low)[0]
        log_share = near + log_rest(exp(far - near))
    else:
        log_share = log_rest(exp(upper_tail(distribution, high)[0]) + exp(lower_tail(distribution, low)[0]))
    return log_share, exp(log_density(distribution, high) - log_share), exp(log_density(distribution, low) - log_share)


@inner
def failure_row(rule: Any, lower: Any, upper: Any, score: Any) -> Any:
    """Minus the log likelihood of a row, its gradient and hessian by the score, and its gradient by the logarithm of the scale."""
    distribution, scale = rule.distribution, rule.scale
    most = FURTHEST_EXTREME if distribution == EXTREME else FURTHEST
    low, high = -most, most
    if lower > 0.0:
        low = min(max((log(lower) - score) / scale, -most), most)
    if upper < 1e308:
        high = min(max((log(upper) - score) / scale, -most), most)
    if lower == upper:
        first, second = log_density_derivatives(distribution, low)
        loss = log(scale) + log(lower) - log_density(distribution, low)
        return loss, first / scale, -second / (scale * scale), 1.0 + first * low
    if upper >= 1e308:
        if lower <= 0.0:
            return 0.0, 0.0, 0.0, 0.0
        log_share, hazard, hessian = upper_tail(distribution, low)
        return -log_share, -hazard / scale, max(hessian, 0.0) / (scale * scale), -low * hazard
    if lower <= 0.0:
        log_share, ratio, hessian = lower_tail(distribution, high)
        return -log_share, ratio / scale, max(hessian, 0.0) / (scale * scale), high * ratio
    if high - low < NARROW:
        middle = 0.5 * (low + high)
        first, second = log_density_derivatives(distribution, middle)
        wide = log(upper / lower) / scale
        return -log_density(distribution, middle) - log(wide), first / scale, -second / (scale * scale), 1.0 + first * middle
    log_share, at_high, at_low = within(distribution, low, high)
    gradient = at_high - at_low
    of_high, _ = log_density_derivatives(distribution, high)
    of_low, _ = log_density_derivatives(distribution, low)
    hessian = gradient * gradient - of_high * at_high + of_low * at_low
    return -log_share, gradient / scale, max(hessian, 0.0) / (scale * scale), high * at_high - low * at_low


@kernel
def failure_derivatives(rule: Any, y: Any, raw: Any, weight: Any, begin: int, end: int, out_gradient: Any, out_hessian: Any) -> None:
    """Gradient and hessian of the rows begin .. end by weight: y float64[n, 2] lower and upper bound of each, the others float64[n]."""
    for row in range(begin, end):
        _, gradient, hessian, _ = failure_row(rule, y[row, 0], y[row, 1], raw[row])
        factor = 1.0 if weight is None else weight[row]
        out_gradient[row], out_hessian[row] = gradient * factor, hessian * factor


@kernel
def failure_losses(rule: Any, y: Any, raw: Any, begin: int, end: int, out: Any) -> None:
    """Minus the log likelihood of the rows begin .. end: out float64[n]."""
    for row in range(begin, end):
        out[row] = failure_row(rule, y[row, 0], y[row, 1], raw[row])[0]


@kernel
def log_scale_gradients(rule: Any, y: Any, raw: Any, begin: int, end: int, out: Any) -> None:
    """Its gradient by the logarithm of the scale: out float64[n]."""
    for row in range(begin, end):
        out[row] = failure_row(rule, y[row, 0], y[row, 1], raw[row])[3]
