"""The losses of other libraries: which of ours has the same link.

Predictions need the link alone, and those of a loss that none of ours is are the same with one of the same link; what goes by the loss
itself, such as `refit_leaves`, then goes by that one. docs/guide/importing-models.md lists them.
"""

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


def regression_objective(name: str, number: float | None = None) -> Loss:
    """Our loss of the same link as that of another library; `number` is its level, power or width, where it has one."""
    plain = spelling(name)
    if plain.startswith("reg:quantile") or plain in ("quantile", "multiquantile"):
        return Quantile(0.5 if number is None else number)
    if plain in ("reg:tweedie", "tweedie"):
        return Tweedie(1.5 if number is None else number)
    if plain in ("reg:pseudohubererror", "huber"):
        return Huber(delta=number)
    if plain in ("count:poisson", "poisson"):
        return Poisson()
    if plain in ("reg:gamma", "gamma"):
        return Gamma()
    if plain in IDENTITY:
        return Squared()
    if plain in EXPONENTIAL:
        return Poisson()
    known = loss_named(plain)
    if known is not None and known[0] in REGRESSION:
        return regression_loss(known[0])
    raise Unreadable(f"nothing here predicts as its objective {name!r} does")


def is_ranking(name: str) -> bool:
    """Whether an objective is one of rankings, whose prediction is the score."""
    return spelling(name).replace(":", "_").startswith(RANKINGS)


def ranking_objective(name: str) -> Loss:
    """Our loss of rankings of this name, or the nearest."""
    plain = spelling(name)
    own = plain if plain in ("rank:ndcg", "rank:map", "rank:pairwise", "lambdarank", "rank_xendcg", "pairlogit", "querysoftmax") else "lambdamart"
    return ranking_loss(own, "exponential", "ndcg", 30, False)
