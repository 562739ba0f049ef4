"""The losses of other libraries: which of ours has the same link.

Predictions need the link alone, and those of a loss that none of ours is are the same with one of the same link; what goes by the loss
itself, such as `refit_leaves`, then goes by that one. docs/guide/importing-models.md lists them.
"""

from collections.abc import Callable

from woodwind.base.did_you_mean import spelling
from woodwind.losses.base import Loss
from woodwind.losses.named import REGRESSION, loss_named, regression_loss
from woodwind.losses.ranking import ranking_loss
from woodwind.losses.regression import Gamma, Huber, Poisson, Quantile, Squared, Tweedie
from woodwind.store.imported.contents import Unreadable

# Losses that none of ours is, whose prediction is the score itself, and those whose prediction is its exponential.
IDENTITY = (
    "reg:squaredlogerror", "mape", "fair", "lq", "expectile", "logcosh", "msle", "custom", "none", "", "numerrors", "smape", "r2",
    "medianabsoluteerror",
)  # fmt: skip
EXPONENTIAL = ("loglinquantile",)
# Rankings that none of ours is.
RANKINGS = ("rank", "lambdarank", "lambdamart", "yetirank", "query", "pairlogit", "stochasticrank", "groupquantile")


# Ours by the names of others, each with what it makes of the number.
WITH_NUMBER: dict[tuple[str, ...], Callable[[float | None], Loss]] = {
    ("reg:quantileerror", "quantile", "multiquantile"): lambda number: Quantile(0.5 if number is None else number),
    ("reg:tweedie", "tweedie"): lambda number: Tweedie(1.5 if number is None else number),
    ("reg:pseudohubererror", "huber"): lambda number: Huber(delta=number),
    ("count:poisson", "poisson", *EXPONENTIAL): lambda _: Poisson(),
    ("reg:gamma", "gamma"): lambda _: Gamma(),
    IDENTITY: lambda _: Squared(),
}


def regression_objective(name: str, number: float | None = None) -> Loss:
    """Our loss of the same link as that of another library; `number` is its level, power or width, where it has one."""
    plain = spelling(name)
    for names, make in WITH_NUMBER.items():
        if plain in names:
            return make(number)
    known = loss_named(plain)
    if known is None or known[0] not in REGRESSION:
        raise Unreadable(f"nothing here predicts as its objective {name!r} does")
    return regression_loss(known[0])


def is_ranking(name: str) -> bool:
    """Whether an objective is one of rankings, whose prediction is the score."""
    return spelling(name).replace(":", "_").startswith(RANKINGS)


def ranking_objective(name: str) -> Loss:
    """Our loss of rankings of this name, or the nearest."""
    plain = spelling(name)
    own = (
        plain
        if plain in ("rank:ndcg", "rank:map", "rank:pairwise", "lambdarank", "rank_xendcg", "pairlogit", "querysoftmax")
        else "lambdamart"
    )
    return ranking_loss(own, "exponential", "ndcg", 30, False)
