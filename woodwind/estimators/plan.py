"""Checked parameters to a plan of boosting in which everything is decided."""

import math
from typing import Any

from woodwind.base.errors import ParameterError
from woodwind.data.schema import Schema
from woodwind.ensemble import rules
from woodwind.ensemble.boost import BoostPlan
from woodwind.estimators.constraints import interactions, monotonic
from woodwind.losses.base import Loss
from woodwind.tree.settings import TreeSettings

Values = dict[str, Any]


def check_exact(values: Values, n_classes: int, owner: str) -> None:
    """Refuse what trees without bins cannot do, before any work is done."""
    if values["max_bins"] is not None:
        return
    if values["growth"] == "symmetric":
        raise ParameterError(
            f"{owner}: growth='symmetric' needs bins: with max_bins=None every node has thresholds of its own. "
            "Set max_bins=255, growth='best_first' or growth='level'."
        )
    if n_classes > 2 and values["multiclass"] == "vector":
        raise ParameterError(
            f"{owner}: multiclass='vector' needs bins: with max_bins=None a tree is for one class, and y has {n_classes}. "
            "Set multiclass='one_per_class' or max_bins=255."
        )
    if values["gradient_noise"] > 0.0:
        raise ParameterError(
            f"{owner}: gradient_noise={values['gradient_noise']} needs bins: with max_bins=None gradients are taken as they are. "
            "Set max_bins=255 or gradient_noise=0."
        )


def one_per_class(values: Values) -> bool:
    """Whether each of several classes has trees of its own: a symmetric tree has one output."""
    return values["growth"] == "symmetric" or values.get("multiclass") == "one_per_class"


def boost_plan(values: Values, loss: Loss, schema: Schema, n_rows: int, is_class: bool, seed: int, threads: int, owner: str) -> BoostPlan:
    """How to boost a table of so many rows."""
    rate, share = values["learning_rate"], values["subsample"]
    tree = tree_settings(values, schema, n_rows, is_class, owner)
    symmetric = tree.growth == "symmetric"
    if tree.monotonic is not None and tree.monotonic.any():
        if loss.width > 1:
            raise ParameterError(f"{owner}: monotonic_cst is for two classes, but y has {loss.width}. Set monotonic_cst=None.")
        if symmetric:
            raise ParameterError(f"{owner}: monotonic_cst is not for growth='symmetric'. Set growth='best_first' or growth='level'.")
    return BoostPlan(
        loss=loss,
        tree=tree,
        learning_rate=rules.learning_rate(n_rows, loss.width) if rate == "auto" else rate,
        subsample=rules.subsample(n_rows) if share == "auto" else share,
        bootstrap=values["bootstrap"],
        one_per_class=one_per_class(values),
        seed=seed,
        threads=threads,
    )


def tree_settings(values: Values, schema: Schema, n_rows: int, is_class: bool, owner: str) -> TreeSettings:
    """How to grow a tree on a table of so many rows."""
    leaves, rows, depth = values["max_leaf_nodes"], values["min_samples_leaf"], values["max_depth"]
    if leaves is None:
        leaves = n_rows if depth is None else min(n_rows, 1 << min(depth, 30))
    elif leaves == "auto":
        leaves = rules.max_leaves(is_class, n_rows, values["growth"], depth)
    per_tree, per_level, per_node = feature_counts(values, len(schema.feature_names), owner)
    return TreeSettings(
        growth=values["growth"],
        max_leaves=max(leaves, 2),
        max_depth=depth,
        min_rows=float(rules.min_rows(is_class, n_rows) if rows == "auto" else rows),
        min_hessian=values["min_hessian_leaf"],
        min_gain=values["min_gain"],
        prune=values["prune"],
        l1=values["l1_regularization"],
        l2=values["l2_regularization"],
        gradient_noise=float(values["gradient_noise"]),
        category_l2=rules.category_l2(n_rows),
        category_smooth=rules.category_smooth(n_rows),
        features_per_node=per_node,
        features_per_level=per_level,
        features_per_tree=per_tree,
        monotonic=monotonic(values["monotonic_cst"], schema, owner),
        groups=interactions(values["interaction_cst"], schema, owner),
    )


def feature_counts(values: Values, n_features: int, owner: str) -> tuple[int | None, int | None, int | None]:
    """Features drawn for each tree, of those for each level, and of those for each node; None for all."""
    counts, pool = [], n_features
    later = (values["max_features_level"], values["max_features"])
    drawn_later = any(given is not None and not (isinstance(given, float) and given == 1.0) for given in later)
    for name in ("max_features_tree", "max_features_level", "max_features"):
        given = values[name]
        if given == "auto":
            given = None if drawn_later else rules.feature_share(n_features)
        count = feature_count(given, pool, n_features, name, owner)
        counts.append(count if count < pool else None)
        pool = count
    return counts[0], counts[1], counts[2]


def feature_count(given: Any, pool: int, n_features: int, name: str, owner: str) -> int:
    """One such number: a count, a share of the pool, or a rule; at least one."""
    if given is None:
        return pool
    if isinstance(given, int):
        if given > n_features:
            raise ParameterError(f"{owner}: {name}={given}, but the table has {n_features} features. Give a share, or None for all.")
        return min(given, pool)
    if isinstance(given, str):
        return max(1, math.isqrt(pool) if given == "sqrt" else int(math.log2(pool)))
    return max(1, int(given * pool))
