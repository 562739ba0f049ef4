"""Checked parameters to a plan of boosting in which everything is decided."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.data.binning.cuts import MOST_BINS
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.boosting import auto_defaults
from woodwind.ensemble.boosting.boost_plan import BoostPlan, DropoutPlan
from woodwind.ensemble.boosting.gradient_sampling import GradientSampling
from woodwind.losses.base import Loss
from woodwind.losses.first_order import FirstOrder
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.tree.settings import TreeSettings

# ----------------------------------------------------------------------------------------------------
# Constraints on input columns as constraints on the features of the engine.


def monotonic(given: Any, schema: Schema, owner: str) -> NDArray[np.int64] | None:
    """-1, 0 or 1 for each feature; None where nothing is constrained."""
    if given is None:
        return None
    by_column: NDArray[np.int64] = np.zeros(schema.n_inputs, np.int64)
    if isinstance(given, dict):
        pairs = [(column_index(name, schema, owner, "monotonic_cst"), sign) for name, sign in given.items()]
    else:
        signs = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else None
        if signs is None or len(signs) != schema.n_inputs:
            came = f"{len(signs)} values" if signs is not None else repr(given)
            raise ParameterError(
                f"{owner}: monotonic_cst must be a dict from column to sign, or one of -1, 0 and 1 for each of the {schema.n_inputs} "
                f"columns, not {came}."
            )
        pairs = list(enumerate(signs))
    for position, sign in pairs:
        if isinstance(sign, bool) or sign not in (-1, 0, 1):
            label = _label(position, schema)
            raise ParameterError(f"{owner}: monotonic_cst must be -1, 0 or 1 for each column, but for {label} it is {sign!r}.")
        by_column[position] = sign
    for constrained in np.flatnonzero(by_column).tolist():
        features = schema.features_of(constrained)
        is_category = hasattr(schema.fields[constrained], "categories")
        if len(features) > 1 or is_category:
            kind = "a category, which has no order" if is_category else "a date, of which several features are made"
            label = _label(constrained, schema)
            raise ParameterError(f"{owner}: monotonic_cst is for columns of numbers, and {label} is {kind}. Make it a number first.")
    return by_column[schema.source] if by_column.any() else None


def interactions(given: Any, schema: Schema, owner: str) -> tuple[tuple[int, ...], ...] | None:
    """Groups of features that may stand together on a path; None where all may.

    As in scikit-learn, the columns that no group names form one more group.
    """
    if given is None:
        return None
    columns = range(schema.n_inputs)
    if isinstance(given, str):
        if given not in ("pairwise", "no_interactions"):
            allowed = "None, 'pairwise', 'no_interactions' or groups of columns"
            raise ParameterError(f"{owner}: interaction_cst must be {allowed}, not {given!r}.")
        pairs = given == "pairwise" and schema.n_inputs > 1
        groups: list[set[int]] = [set(pair) for pair in combinations(columns, 2)] if pairs else [{column} for column in columns]
    else:
        if not isinstance(given, Iterable) or any(isinstance(group, str) or not isinstance(group, Iterable) for group in given):
            allowed = "a sequence of groups of columns, such as [{0, 1}, {2}]"
            raise ParameterError(f"{owner}: interaction_cst must be {allowed}, not {given!r}.")
        groups = [{column_index(name, schema, owner, "interaction_cst") for name in group} for group in given]
        rest = set(columns).difference(*groups)
        groups += [rest] if rest else []
    return tuple(tuple(feature for column in sorted(group) for feature in schema.features_of(column)) for group in groups if group)


def column_index(name: Any, schema: Schema, owner: str, what: str) -> int:
    """The position of a column that is given by name or by position."""
    if isinstance(name, str) and name in schema.position_of:
        return schema.position_of[name]
    if isinstance(name, int | np.integer) and not isinstance(name, bool) and 0 <= name < schema.n_inputs:
        return int(name)
    known = f"named {', '.join(map(repr, schema.names[:10]))}" if schema.names is not None else "without names"
    there = f"X has {schema.n_inputs} columns, {known}"
    raise ParameterError(f"{owner}: {what} names the column {name!r}, but {there}. Give a name or a position.")


def _label(position: int, schema: Schema) -> str:
    return f"column {position}" if schema.names is None else f"column {schema.names[position]!r}"


Values = dict[str, Any]

MVS_SHARE = 0.5  # of the rows that sampling='mvs' draws, where nothing is said


def uses_ranks(values: Values) -> bool:
    """Whether columns are ranked, because thresholds are found or proposed while trees are grown, instead of being cut into bins before."""
    return values["max_bins"] is None or values["candidates"] is not None


def has_own_thresholds(values: Values) -> bool:
    """Whether every node has thresholds of its own."""
    return values["max_bins"] is None or values["candidates"] == "local"


def candidate_bins(values: Values) -> int:
    """Most bins of a column, where candidates are proposed: so many that no more than sketch_eps is between two of them."""
    eps = values["sketch_eps"]
    return int(values["max_bins"] or MOST_BINS) if eps is None else math.ceil(1.0 / eps - 1e-9)


def check_candidates(values: Values, owner: str) -> None:
    """Refuse what makes no sense together, before any work is done."""
    method, eps = values["candidates"], values["sketch_eps"]
    if method is None and eps is not None:
        raise ParameterError(
            f"{owner}: sketch_eps={eps} is for proposed thresholds. Set candidates='global' or 'local', or sketch_eps=None."
        )
    if method is not None and values["max_bins"] is None:
        raise ParameterError(
            f"{owner}: candidates={method!r} proposes thresholds, and max_bins=None considers all. Set max_bins=255 or candidates=None."
        )
    if method == "global" and candidate_bins(values) > MOST_BINS:
        raise ParameterError(
            f"{owner}: sketch_eps={eps} asks for {candidate_bins(values):,} bins, and candidates='global' has {MOST_BINS} at most. "
            f"Set sketch_eps={1 / MOST_BINS:.4f} or more, or candidates='local'."
        )


def check_exact(values: Values, owner: str) -> None:
    """Refuse what trees whose nodes have thresholds of their own cannot do, before any work is done."""
    check_candidates(values, owner)
    if not has_own_thresholds(values):
        return
    exact = values["max_bins"] is None
    given, other = ("max_bins=None", "max_bins=255") if exact else ("candidates='local'", "candidates='global'")
    if values["growth"] == "symmetric":
        raise ParameterError(
            f"{owner}: growth='symmetric' needs bins: with {given} every node has thresholds of its own. "
            f"Set {other}, growth='best_first' or growth='level'."
        )
    if values["gradient_noise"] > 0.0:
        raise ParameterError(
            f"{owner}: gradient_noise={values['gradient_noise']} needs bins: with {given} gradients are taken as they are. "
            f"Set {other} or gradient_noise=0."
        )


def one_per_class(values: Values) -> bool:
    """Whether each of several classes has trees of its own: a symmetric tree has one output, and so has one whose values are held back.

    Where nothing says which, as for several quantiles, trees without bins are of one.
    """
    if "multiclass" not in values and has_own_thresholds(values):
        return True
    held = is_constrained(values["monotonic_cst"]) or values["max_delta_step"] is not None or values["path_smooth"] > 0.0
    return values["growth"] == "symmetric" or values.get("multiclass") == "one_per_class" or held or values["linear_leaves"]


def is_constrained(given: Any) -> bool:
    """Whether monotonic constraints, as they were given, name a direction."""
    signs = given.values() if isinstance(given, dict) else given if isinstance(given, Sequence | np.ndarray) else ()
    return any(sign in (-1, 1) for sign in signs)


def given_options(values: Values) -> dict[str, Any]:
    """Options of leaves and of rounds that are not what they are by default, with the default."""
    defaults = {"max_delta_step": None, "path_smooth": 0.0, "leaf_estimation": "newton", "linear_leaves": False, "n_parallel_trees": 1}
    return {name: default for name, default in defaults.items() if values[name] != default}


def check_leaves(values: Values, loss: Loss, owner: str) -> None:
    """Refuse what makes no sense together, before any work is done."""
    for name, default in given_options(values).items():
        if values["boosting"] == "ordered" and name in ("path_smooth", "linear_leaves", "n_parallel_trees"):
            raise ParameterError(f"{owner}: {name}={values[name]} is not for boosting='ordered'. Set {name}={default} or boosting='plain'.")
    if values["growth"] == "symmetric":
        other = "Set growth='best_first' or growth='level'."
        if is_constrained(values["monotonic_cst"]):
            raise ParameterError(f"{owner}: monotonic_cst is not for growth='symmetric'. {other}")
        if values["path_smooth"] > 0.0:
            raise ParameterError(
                f"{owner}: path_smooth={values['path_smooth']} is not for growth='symmetric', whose nodes share a split. {other}"
            )
        if values["min_samples_split"] > 2:
            raise ParameterError(
                f"{owner}: min_samples_split={values['min_samples_split']} is not for growth='symmetric', where all nodes of a level are "
                f"split. {other}"
            )
    has_steps = values["leaf_estimation"] == "gradient" or ((loss.is_resolved or loss.task == "survival") and not loss.refits)
    if values["linear_leaves"]:
        check_linear_leaves(values, loss, has_steps, owner)
    if not has_steps and values["path_smooth"] > 0.0:
        raise ParameterError(
            f"{owner}: path_smooth={values['path_smooth']} needs leaf values that are steps, and with loss={loss.name!r} they are found "
            "from medians or quantiles. Set leaf_estimation='gradient' or path_smooth=0."
        )


def check_linear_leaves(values: Values, loss: Loss, has_steps: bool, owner: str) -> None:
    """Refuse what holds the value of a leaf, which here differs from row to row."""
    holders = {
        "monotonic_cst": is_constrained(values["monotonic_cst"]),
        "max_delta_step": values["max_delta_step"] is not None,
        "path_smooth": values["path_smooth"] > 0.0,
    }
    for name in (name for name, holds in holders.items() if holds):
        raise ParameterError(f"{owner}: {name} holds the values of leaves, and linear leaves have no one value. Set linear_leaves=False.")
    if not has_steps:
        raise ParameterError(
            f"{owner}: linear_leaves=True needs leaves that are steps by derivatives, and with loss={loss.name!r} they are found from "
            "medians or quantiles. Set leaf_estimation='gradient' or linear_leaves=False."
        )


def boost_plan(values: Values, loss: Loss, schema: Schema, n_rows: int, is_class: bool, seed: int, threads: int, owner: str) -> BoostPlan:
    """How to boost a table of so many rows."""
    rate, share = values["learning_rate"], values["subsample"]
    tree = tree_settings(values, schema, n_rows, is_class, owner, loss.tail)
    check_leaves(values, loss, owner)
    return BoostPlan(
        loss=trained_loss(values, loss),
        tree=tree,
        learning_rate=auto_defaults.learning_rate(n_rows, loss.width) if rate == "auto" else rate,
        subsample=auto_defaults.subsample(n_rows) if share == "auto" else share,
        bootstrap=values["bootstrap"],
        sampling=gradient_sampling(values, owner),
        one_per_class=one_per_class(values),
        parallel_trees=values["n_parallel_trees"],
        seed=seed,
        threads=threads,
        linear_l2=float(values["linear_l2"]) if values["linear_leaves"] else None,
        dropout=DropoutPlan(values["drop_rate"], values["skip_drop"], values["max_drop"]) if values["boosting"] == "dart" else None,
        softmax_hessian=values.get("softmax_hessian", "friedman"),
        permutations=values["n_permutations"] if values["boosting"] == "ordered" else 0,
    )


def trained_loss(values: Values, loss: Loss) -> Loss:
    """The loss as trees see it."""
    if values["leaf_estimation"] != "gradient":
        return loss
    if isinstance(loss, SeveralTargetsLoss):  # it has the units of its targets, which steps are given back in
        return replace(loss, each=tuple(map(FirstOrder, loss.each)))
    return FirstOrder(loss)


def gradient_sampling(values: Values, owner: str) -> GradientSampling | None:
    """How rows are drawn by their gradients; None where all are as likely."""
    method, share, top, other = (values[name] for name in ("sampling", "subsample", "top_rate", "other_rate"))
    if method == "uniform":
        return None
    if values["bootstrap"]:
        raise ParameterError(f"{owner}: bootstrap=True draws all rows alike, and sampling={method!r} does not. Set bootstrap=False.")
    if method == "goss" and share not in ("auto", 1.0):
        raise ParameterError(f"{owner}: sampling='goss' draws by top_rate and other_rate, not by subsample={share}. Set subsample='auto'.")
    if method == "goss" and not 0.0 < top + other <= 1.0:
        raise ParameterError(f"{owner}: top_rate={top} and other_rate={other} must add up to more than 0 and at most 1.")
    return GradientSampling(method, MVS_SHARE if share == "auto" else share, top, other)


def check_dropout(values: Values, owner: str) -> None:
    """Refuse what cannot be with rounds that change later, before any work is done."""
    if values["boosting"] == "dart" and values["early_stopping"] is True:
        raise ParameterError(
            f"{owner}: early_stopping=True is not for boosting='dart', where later rounds change earlier ones, so that none is the best. "
            "Set early_stopping=False and choose n_estimators, by cross-validation or by the curves of evals_result_."
        )


def tree_settings(values: Values, schema: Schema, n_rows: int, is_class: bool, owner: str, tail: float = 0.5) -> TreeSettings:
    """How to grow a tree on a table of so many rows."""
    leaves, rows, depth = values["max_leaf_nodes"], values["min_samples_leaf"], values["max_depth"]
    if leaves is None:
        leaves = n_rows if depth is None else min(n_rows, 1 << min(depth, 30))
    elif leaves == "auto":
        leaves = auto_defaults.max_leaves(is_class, n_rows, values["growth"], depth, tail)
    per_tree, per_level, per_node = feature_counts(values, len(schema.feature_names), owner)
    return TreeSettings(
        growth=values["growth"],
        max_leaves=max(leaves, 2),
        max_depth=depth,
        min_split=values["min_samples_split"],
        min_rows=float(auto_defaults.min_rows(is_class, n_rows, tail) if rows == "auto" else rows),
        min_hessian=values["min_hessian_leaf"],
        min_gain=values["min_gain"],
        prune=values["prune"],
        l1=values["l1_regularization"],
        l2=values["l2_regularization"],
        max_step=values["max_delta_step"],
        path_smooth=float(values["path_smooth"]),
        gradient_noise=float(values["gradient_noise"]),
        candidates=values["candidates"],
        candidate_bins=candidate_bins(values),
        category_l2=auto_defaults.category_l2(n_rows),
        category_smooth=auto_defaults.category_smooth(n_rows),
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
            given = None if drawn_later else auto_defaults.feature_share(n_features)
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
