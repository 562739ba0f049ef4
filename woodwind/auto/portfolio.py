"""The portfolio: which members are tried, in the order that pays most for the time.

The first ones are as different as can be; later ones vary what paid before. docs/decisions says what was measured.
"""

from collections.abc import Iterator
from dataclasses import replace

from woodwind.auto.recipe import Recipe

# The net and the neighbours want all columns as numbers without gaps: of very many numbers they take more time than they give.
FAMILIES = ("boosting", "forest", "linear", "neighbours", "net")

_CLASSES = (
    Recipe("boosting", "boosting"),
    Recipe("extra-trees", "forest", {"random_cuts": True, "min_rows": 2, "max_features": "sqrt"}),
    Recipe("linear", "linear"),
    Recipe("boosting-symmetric", "boosting", {"growth": "symmetric", "max_depth": 6}),
    Recipe("net", "net"),
    Recipe("boosting-few-features", "boosting", {"features_per_node": 0.4, "min_rows": 5, "max_leaves": 39}),
    Recipe("random-forest", "forest", {"min_rows": 2, "max_features": "sqrt"}),
    Recipe("boosting-small-trees", "boosting", {"max_leaves": 6, "learning_rate": 0.08}),
    Recipe("neighbours", "neighbours"),
    Recipe("boosting-large-trees", "boosting", {"max_leaves": 128, "min_rows": 3, "features_per_node": 0.5}),
    Recipe("extra-trees-more-features", "forest", {"random_cuts": True, "min_rows": 1, "max_features": 0.75, "criterion": "entropy"}),
    Recipe("boosting-slow", "boosting", {"learning_rate": 0.02, "features_per_tree": 0.6, "min_rows": 10}),
)

_NUMBERS = (
    Recipe("boosting", "boosting"),
    Recipe("extra-trees", "forest", {"random_cuts": True, "min_rows": 2, "max_features": 1.0}),
    Recipe("linear", "linear"),
    Recipe("boosting-symmetric", "boosting", {"growth": "symmetric", "max_depth": 6}),
    Recipe("net", "net"),
    Recipe("boosting-few-features", "boosting", {"features_per_node": 0.4, "min_rows": 3, "max_leaves": 64}),
    Recipe("random-forest", "forest", {"min_rows": 2, "max_features": 0.5}),
    Recipe("boosting-small-trees", "boosting", {"max_leaves": 8, "learning_rate": 0.08}),
    Recipe("neighbours", "neighbours"),
    Recipe("boosting-large-trees", "boosting", {"max_leaves": 180, "min_rows": 2, "features_per_node": 0.5}),
    Recipe("boosting-slow", "boosting", {"learning_rate": 0.02, "features_per_tree": 0.6}),
    Recipe("extra-trees-fewer-features", "forest", {"random_cuts": True, "min_rows": 1, "max_features": 0.5}),
)


def portfolio(n_classes: int, families: tuple[str, ...] = FAMILIES) -> Iterator[Recipe]:
    """Recipes without end: those of the list, then the same again with other draws, trees before others."""
    listed = [recipe for recipe in (_CLASSES if n_classes else _NUMBERS) if recipe.family in families]
    yield from listed
    again = [recipe for recipe in listed if recipe.family in ("boosting", "forest", "net")]
    for seed in range(1, 100 if again else 1):
        for recipe in again:
            yield replace(recipe, name=f"{recipe.name}-{seed + 1}", seed=seed)
