"""Name -> distribution, and one list of all, over which the laws are tested."""

from typing import Any

from woodwind.base.did_you_mean import did_you_mean, spelling
from woodwind.base.errors import ParameterError
from woodwind.distributions import counts, location_scale, positive
from woodwind.distributions.base import Distribution

BUILT_IN: tuple[type[Distribution], ...] = tuple(
    getattr(home, name) for home in (location_scale, positive, counts) for name in home.__all__
)
ORDER = (
    "normal", "lognormal", "laplace", "student_t", "logistic", "exponential", "gamma", "weibull", "poisson", "negative_binomial",
    "zero_inflated_poisson", "beta",
)  # fmt: skip
NAMED: dict[str, type[Distribution]] = {name: next(kind for kind in BUILT_IN if kind.name == name) for name in ORDER}


def distribution_for(given: Any) -> Distribution:
    """A distribution by its name, here or elsewhere, or as it is."""
    if isinstance(given, Distribution):
        return given
    if isinstance(given, str):
        plain = spelling(given)
        for kind in BUILT_IN:
            if plain == kind.name or plain in kind.aliases:
                return kind()
        raise ParameterError(
            f"distribution={given!r} is not known. {did_you_mean(plain, list(NAMED))}There are {', '.join(map(repr, NAMED))}."
        )
    what = f"{given.__name__} is a class: give an instance of it" if isinstance(given, type) else f"{given!r} is neither"
    raise ParameterError(f"distribution must be a name or an object derived from woodwind.distributions.Distribution; {what}.")
