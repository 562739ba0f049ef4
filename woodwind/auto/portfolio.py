"""The portfolio: which members are tried, in the order that pays most for the time.

The first ones are as different as can be; later ones vary what paid before. docs/decisions says what was measured.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from woodwind.auto.outcome import Entry
from woodwind.auto.training.recipe import Recipe
from woodwind.data.tables.categories import MOST_CODES

# Categories of a column from which on they are numbers to a member: few are told apart as well by sets, unless trees are symmetric.
MANY, SOME = 12, 3
# Where a column has more categories than trees can part by sets, reading them as numbers comes first.
_ENCODED_FIRST = Recipe("boosting-encoded", "boosting", {"encode_from": MANY}, least_categories=MOST_CODES + 1)
_ENCODED = replace(_ENCODED_FIRST, least_categories=MANY, most_categories=MOST_CODES)
_SYMMETRIC_ENCODED = Recipe(
    "boosting-symmetric-encoded",
    "boosting",
    {"encode_from": SOME, "growth": "symmetric", "max_depth": 6, "subsample": 1.0},
    least_categories=MANY,
)

FAMILIES = ("boosting", "forest", "linear", "neighbours", "net")

_TWO_CLASSES = (
    _ENCODED_FIRST,
    Recipe("boosting", "boosting"),
    _ENCODED,
    Recipe("extra-trees", "forest", {"random_cuts": True, "min_rows": 2, "max_features": "sqrt"}),
    Recipe("boosting-slow", "boosting", {"rate": 0.4, "features_per_tree": 0.6, "min_rows": 10, "subsample": 1.0}),
    Recipe("linear", "linear"),
    _SYMMETRIC_ENCODED,
    Recipe("boosting-symmetric", "boosting", {"growth": "symmetric", "max_depth": 6, "subsample": 1.0}),
    Recipe("boosting-few-features", "boosting", {"features_per_node": 0.4, "min_rows": 5, "max_leaves": 39}),
    Recipe("net", "net"),
    Recipe("boosting-small-trees", "boosting", {"max_leaves": 6, "rate": 1.5, "subsample": 1.0}),
    Recipe("random-forest", "forest", {"min_rows": 2, "max_features": "sqrt"}),
    Recipe("neighbours", "neighbours"),
    Recipe("boosting-large-trees", "boosting", {"max_leaves": 128, "min_rows": 3, "features_per_node": 0.5, "rate": 0.6}),
    Recipe("extra-trees-more-features", "forest", {"random_cuts": True, "min_rows": 1, "max_features": 0.75, "criterion": "entropy"}),
)

# A tree of several classes serves them all and costs as much as many; symmetric ones are grown one for each class.
_SEVERAL_CLASSES = (
    Recipe("boosting", "boosting"),
    Recipe("extra-trees", "forest", {"random_cuts": True, "min_rows": 1, "max_features": "sqrt"}),
    Recipe("net", "net"),
    Recipe("linear", "linear"),
    Recipe("boosting-few-features", "boosting", {"features_per_node": 0.4, "min_rows": 5, "max_leaves": 39}),
    Recipe("random-forest", "forest", {"min_rows": 1, "max_features": "sqrt"}),
    Recipe("neighbours", "neighbours"),
    Recipe("boosting-large-trees", "boosting", {"max_leaves": 128, "min_rows": 3, "features_per_node": 0.5}),
    Recipe("extra-trees-more-features", "forest", {"random_cuts": True, "min_rows": 1, "max_features": 0.75, "criterion": "entropy"}),
    Recipe("boosting-slow", "boosting", {"rate": 0.5, "features_per_tree": 0.6, "min_rows": 10}),
    Recipe("boosting-symmetric", "boosting", {"growth": "symmetric", "max_depth": 6}),
)

_NUMBERS = (
    _ENCODED_FIRST,
    Recipe("boosting", "boosting"),
    _ENCODED,
    Recipe("extra-trees", "forest", {"random_cuts": True, "min_rows": 2, "max_features": 1.0}),
    Recipe("boosting-slow", "boosting", {"rate": 0.4, "features_per_tree": 0.6}),
    Recipe("linear", "linear"),
    _SYMMETRIC_ENCODED,
    Recipe("boosting-symmetric", "boosting", {"growth": "symmetric", "max_depth": 6}),
    Recipe("net", "net"),
    Recipe("boosting-few-features", "boosting", {"features_per_node": 0.4, "min_rows": 3, "max_leaves": 64}),
    Recipe("random-forest", "forest", {"min_rows": 2, "max_features": 0.5}),
    Recipe("boosting-small-trees", "boosting", {"max_leaves": 8, "rate": 1.5}),
    Recipe("neighbours", "neighbours"),
    Recipe("boosting-large-trees", "boosting", {"max_leaves": 180, "min_rows": 2, "features_per_node": 0.5, "rate": 0.6}),
    Recipe("extra-trees-fewer-features", "forest", {"random_cuts": True, "min_rows": 1, "max_features": 0.5}),
)

# Documents of queries: by the order in each query, and as numbers, each document by itself. What looks at places alone is good at the first
# of them, what looks at numbers at all, and they err apart.
_RANKING = (
    Recipe("boosting-encoded", "boosting", {"encode_from": MANY, "loss": "lambdamart"}, least_categories=MOST_CODES + 1),
    Recipe("boosting-lambdamart", "boosting", {"loss": "lambdamart"}),
    Recipe("boosting-listwise", "boosting", {"loss": "listwise_softmax"}),
    Recipe("boosting-regression", "boosting"),
    Recipe("extra-trees", "forest", {"random_cuts": True, "min_rows": 2, "max_features": 1.0}),
    Recipe("boosting-pairwise", "boosting", {"loss": "pairwise_logistic"}),
    Recipe("linear", "linear"),
    Recipe("boosting-lambdamart-slow", "boosting", {"loss": "lambdamart", "rate": 0.5, "features_per_tree": 0.6}),
    Recipe("random-forest", "forest", {"min_rows": 2, "max_features": 0.5}),
    Recipe("net", "net"),
    Recipe("boosting-listwise-few-features", "boosting", {"loss": "listwise_softmax", "features_per_node": 0.4}),
    Recipe("neighbours", "neighbours"),
    Recipe("boosting-regression-large-trees", "boosting", {"max_leaves": 128, "features_per_node": 0.5, "rate": 0.6}),
)

# Families whose members differ when they are trained again with other draws.
DRAWN = ("boosting", "forest", "net")
# So many of the best are trained again, in turn.
BEST = 3


def is_for_blocks(recipe: Recipe) -> bool:
    """Whether a recipe can be trained on blocks of codes."""
    return recipe.family == "boosting" and "encode_from" not in recipe.settings


class Portfolio:
    """Recipes without end: those of the list, then the best of them again with other draws."""

    def __init__(self, n_classes: int, families: tuple[str, ...] = FAMILIES, *, ranks: bool = False, in_blocks: bool = False) -> None:
        """`in_blocks`: of a table in blocks there are bins and categories, which only boosting by sets of categories is trained on."""
        listed = _RANKING if ranks else _NUMBERS if n_classes == 0 else _TWO_CLASSES if n_classes == 2 else _SEVERAL_CLASSES
        self.listed = [recipe for recipe in listed if recipe.family in families and not (in_blocks and not is_for_blocks(recipe))]
        self.position = 0
        self.times: dict[str, int] = {}

    def next(self, done: Sequence[Entry]) -> Recipe | None:
        """What to try next, where these are the entries of those that were tried; None if there is nothing."""
        if self.position < len(self.listed):
            self.position += 1
            return self.listed[self.position - 1]
        by_name = {recipe.name: recipe for recipe in self.listed if recipe.family in DRAWN}
        best = sorted((entry for entry in done if entry.name in by_name and math.isfinite(entry.loss)), key=lambda entry: entry.loss)[:BEST]
        if not best:
            return None
        name = min((entry.name for entry in best), key=lambda name: self.times.get(name, 0))
        self.times[name] = self.times.get(name, 0) + 1
        return replace(by_name[name], name=f"{name}-{self.times[name] + 1}", seed=self.times[name])
