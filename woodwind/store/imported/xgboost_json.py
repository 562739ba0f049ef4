"""A model of XGBoost from its JSON or UBJSON file: docs/guide/importing-models.md.

XGBoost compares values and thresholds of 32 bits with "less than", adds up 32 bits, and keeps the score before the first tree on the scale
of predictions. A category goes right where a split names it; all others go left.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.categories import AllCategories
from woodwind.kernels.tree.layout import LEFT, RIGHT
from woodwind.losses.base import Loss
from woodwind.losses.classification import LogLoss
from woodwind.losses.links import Log, Logit
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.store.imported import contents
from woodwind.store.imported.contents import MOST_COLUMNS, MOST_OUTPUTS, Unreadable, child, demand, integer, integers, items, numbers
from woodwind.store.imported.layout import CategorySplit, ParsedTree, assemble_forest, below_float32, rounding_to_float32
from woodwind.store.imported.objectives import is_ranking, ranking_objective, regression_objective
from woodwind.store.imported.read_model import (
    CLASSIFICATION,
    RANKING,
    REGRESSION,
    Columns,
    ReadModel,
    classification,
    codes_of,
    mentioned,
    several,
)
from woodwind.store.imported.ubjson import is_ubjson, parsed_ubjson

# XGBoost has no categories beyond these.
MOST_CATEGORIES = 1 << 24
# So many scores a model may have that has fewer trees.
FEW_OUTPUTS = 1024
LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
# Numbers of objectives: where they stand in a file.
OBJECTIVE_NUMBERS = (
    ("tweedie_regression_param", "tweedie_variance_power"),
    ("pseudo_huber_param", "huber_slope"),
    ("quantile_loss_param", "quantile_alpha"),
)
Sets = dict[int, NDArray[np.int64]]


def read_xgboost(data: bytes, n_rounds: int | None = None, best: bool = True, sentinel: float | None = None) -> ReadModel:
    """The model of a file.

    n_rounds: take so many rounds; None for all, or, with `best`, for those up to the best iteration, where the file tells it.
    sentinel: the number that stands for a missing value, where it is not NaN.
    """
    learner = child(parsed_ubjson(data) if is_ubjson(data) else contents.parsed_json(data), "learner")
    booster, weights = _booster(child(learner, "gradient_booster"))
    general = child(learner, "learner_model_param")
    n_columns = integer(general, "num_feature", 1, MOST_COLUMNS)
    n_classes = integer(general, "num_class", 0, MOST_OUTPUTS, 0)
    n_targets = integer(general, "num_target", 1, MOST_OUTPUTS, 1)
    width = max(n_classes, n_targets, 1)
    trees = items(booster, "trees")
    demand(weights is None or weights.size == len(trees), "trees have not one weight each")
    group = integers(booster, "tree_info", len(trees))
    parallel = integer(child(booster, "gbtree_model_param"), "num_parallel_tree", 0, 1 << 20, 1) or 1
    parsed = [_parsed(tree, n_columns, width, 1.0 if weights is None else float(weights[k])) for k, tree in enumerate(trees)]
    vector = any(one.value.shape[1] > 1 for one, _ in parsed)
    demand(vector or width <= max(len(trees), FEW_OUTPUTS), "it has more scores than trees")
    demand(vector or ((group >= 0) & (group < width)).all(), "a tree adds to a score that there is not")
    per_round = parallel * (1 if vector else width)
    kept = _rounds(learner, n_rounds, best, len(parsed) // per_round) * per_round if n_rounds is not None or best else len(parsed)
    columns, named = _columns(learner, booster, n_columns, [sets for _, sets in parsed], [one.feature for one, _ in parsed], sentinel)
    made = [_with_sets(one, sets, columns, named) for one, sets in parsed[:kept]]
    objective = _objective(learner, n_classes, n_targets)
    output = [-1] * kept if vector else group[:kept].tolist()
    forest = assemble_forest(made, columns.n_codes, output, start_scores(_base_score(general, width), objective.loss))
    loss, classes = objective.loss, objective.classes
    if n_classes:
        forest, loss, classes = classification(forest, n_classes)
    params: dict[str, Any] = {"boosting": "dart"} if weights is not None else {}
    return ReadModel("XGBoost", objective.task, forest, columns.schema(), loss, classes, per_round, parallel, None, params).check()


def _booster(given: Any) -> tuple[Any, NDArray[np.float64] | None]:
    """The part of a file that has the trees, and the weights of trees where some were dropped while others were trained."""
    name = contents.text(given, "name")
    if name == "gbtree":
        return child(given, "model"), None
    if name == "dart":
        return child(given, "gbtree", "model"), numbers(given, "weight_drop").astype(np.float32).astype(np.float64)
    raise Unreadable(f"its booster is {name!r}, and only trees can be read ('gbtree' and 'dart')")


def _rounds(learner: Any, wanted: int | None, best: bool, there: int) -> int:
    """The number of rounds to take."""
    if wanted is not None:
        demand(0 <= wanted <= there, f"n_rounds is {wanted}, and it has {there} rounds")
        return wanted
    attributes = learner.get("attributes") or {}
    if best and isinstance(attributes, dict) and "best_iteration" in attributes:
        return min(integer(attributes, "best_iteration", 0, 1 << 31) + 1, there)
    return there


def _base_score(general: Any, width: int) -> NDArray[np.float32]:
    """The score before the first tree, on the scale of predictions."""
    given = child(general, "base_score")
    try:
        # Older versions have one number, newer ones a list in the form of text.
        found = json.loads(given) if isinstance(given, str) else given
        scores = np.atleast_1d(np.asarray(found, np.float32))
    except (ValueError, TypeError, RecursionError):
        raise Unreadable("'base_score' is no number") from None
    demand(scores.ndim == 1 and scores.size in (1, width) and np.isfinite(scores).all(), "'base_score' has not one number for each score")
    return np.broadcast_to(scores, (width,))


def start_scores(base: NDArray[np.float32], loss: Loss) -> NDArray[np.float64]:
    """The score before the first tree, as XGBoost computes it in 32 bits."""
    link = (loss.each[0] if isinstance(loss, SeveralTargetsLoss) else loss).link
    if isinstance(link, Logit):
        demand(((base > 0.0) & (base < 1.0)).all(), "'base_score' is no probability")
        return np.asarray(-np.log(np.float32(1.0) / base - np.float32(1.0)), np.float64)
    if isinstance(link, Log):
        demand((base > 0.0).all(), "'base_score' is not above zero")
        return np.log(base).astype(np.float64)
    return base.astype(np.float64)


# ----------------------------------------------------------------------------------------------------
# What scores mean.


@dataclass(frozen=True)
class _Objective:
    task: str
    loss: Loss
    classes: Any = None


def _objective(learner: Any, n_classes: int, n_targets: int) -> _Objective:
    given = child(learner, "objective")
    name = contents.text(given, "name")
    if name in LOGISTIC:
        both = np.arange(2)
        return _Objective(CLASSIFICATION, several(LogLoss(), n_targets), both if n_targets == 1 else [both] * n_targets)
    if n_classes:
        demand(name.startswith("multi:") and n_classes >= 2, f"its objective {name!r} has {n_classes} classes")
        return _Objective(CLASSIFICATION, several(regression_objective("reg:squarederror"), n_classes))  # the loss is that of the classes
    if is_ranking(name):
        demand(n_targets == 1, "a ranking has several targets")
        return _Objective(RANKING, ranking_objective(name))
    found = _objective_numbers(given)
    if len(found) > 1 and len(found) == n_targets:  # a level for each quantile
        return _Objective(REGRESSION, SeveralTargetsLoss(tuple(regression_objective(name, number) for number in found)))
    return _Objective(REGRESSION, several(regression_objective(name, found[0] if found else None), n_targets))


def _objective_numbers(given: Any) -> list[float]:
    """The levels, the power or the width of an objective, where it has such."""
    for part, key in OBJECTIVE_NUMBERS:
        if isinstance(given.get(part), dict) and key in given[part]:
            value = given[part][key]
            found = json.loads(value) if isinstance(value, str) else value
            return [float(one) for one in (found if isinstance(found, list) else [found])]
    return []


# ----------------------------------------------------------------------------------------------------
# Columns.


def _columns(
    learner: Any, booster: Any, n_columns: int, sets: list[Sets], features: list[NDArray[np.int64]], sentinel: float | None
) -> tuple[Columns, set[int]]:
    """The columns, and which of them have categories with names."""
    names = contents.texts(learner, "feature_names") if "feature_names" in learner else []
    types = contents.texts(learner, "feature_types") if "feature_types" in learner else []
    demand(not names or len(names) == n_columns, "columns have not one name each")
    demand(not types or len(types) == n_columns, "columns have not one type each")
    found: dict[int, list[NDArray[np.int64]]] = {}
    for own, feature in zip(sets, features, strict=True):
        for node, members in own.items():
            found.setdefault(int(feature[node]), []).append(members)
    for column, kind in enumerate(types):
        if kind == "c":
            found.setdefault(column, [])
    by_name = _named_categories(booster, n_columns)
    categories = {column: by_name.get(column) or mentioned(members) for column, members in found.items()}
    marked = {} if sentinel is None else {column: rounding_to_float32(sentinel) for column in range(n_columns) if column not in categories}
    return Columns(tuple(names) or None, n_columns, categories, marked), {column for column in categories if column in by_name}


def _named_categories(booster: Any, n_columns: int) -> dict[int, AllCategories]:
    """The categories that a frame had in training, in the order of their codes; files of XGBoost before 3.1 have none."""
    cats = booster.get("cats")
    if not isinstance(cats, dict) or not cats.get("enc"):
        return {}
    given = items(cats, "enc")
    demand(len(given) == n_columns, "columns have not one list of categories each")
    found = {}
    for column, one in enumerate(given):
        values = numbers(one, "values")
        if values.size == 0:
            continue
        if "offsets" not in one:
            found[column] = AllCategories.of(values.tolist())
            continue
        ends = integers(one, "offsets")
        demand(ends.size > 0 and ends[0] == 0 and (np.diff(ends) >= 0).all() and ends[-1] == values.size, "names of categories are cut off")
        # XGBoost 3.1 and 3.2 count characters and write bytes: behind the first letter that takes two of them, names are those of others.
        demand(
            ((values >= 0) & (values < 128)).all(),
            "XGBoost has cut off names of categories that have letters beyond ASCII. Train with the codes of the categories instead",
        )
        whole = values.astype(np.uint8).tobytes().decode("ascii")
        found[column] = AllCategories.of([whole[a:b] for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)])
    return found


# ----------------------------------------------------------------------------------------------------
# Trees.


def _parsed(tree: Any, n_columns: int, width: int, weight: float) -> tuple[ParsedTree, Sets]:
    """One tree, its values times its weight, and the categories that its splits send to the right."""
    left = integers(tree, "left_children")
    size = left.size
    demand(size >= 1, "a tree has no nodes")
    right, feature = integers(tree, "right_children", size), integers(tree, "split_indices", size)
    threshold = numbers(tree, "split_conditions", size).astype(np.float32)
    is_leaf = left == -1
    leaf_width = integer(child(tree, "tree_param"), "size_leaf_vector", 0, MOST_OUTPUTS, 1) or 1
    if leaf_width > 1:
        demand(leaf_width == width, "leaves have other scores than the model")
        value = _leaf_vectors(tree, is_leaf, right, leaf_width)
    else:
        value = np.where(is_leaf, threshold, 0.0).astype(np.float64)[:, None]
    demand((feature[~is_leaf] < n_columns).all() and (feature[~is_leaf] >= 0).all(), "a split uses a column that there is not")
    demand(np.isfinite(threshold[~is_leaf]).all(), "a threshold is not finite")
    default_left = integers(tree, "default_left", size) != 0
    made = ParsedTree(
        left=left,
        right=np.where(is_leaf, -1, right),
        feature=feature,
        threshold=below_float32(np.where(is_leaf, np.float32(0.0), threshold)),
        missing=np.where(default_left, LEFT, RIGHT).astype(np.uint8),
        value=value * weight,
        cover=numbers(tree, "sum_hessian", size) if "sum_hessian" in tree else np.zeros(size),
        gain=numbers(tree, "loss_changes", size) if "loss_changes" in tree else np.zeros(size),
    )
    return made, _sets(tree, size)


def _leaf_vectors(tree: Any, is_leaf: NDArray[np.bool_], right: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """Values of leaves for several scores: in a list of their own, to which leaves refer, or in older files those of all nodes."""
    if "leaf_weights" not in tree:
        return np.where(is_leaf[:, None], numbers(tree, "base_weights", is_leaf.size * width).reshape(-1, width), 0.0)
    own = numbers(tree, "leaf_weights")
    demand(own.size % width == 0, "leaves have other scores than the model")
    rows, at = own.reshape(-1, width), np.where(is_leaf, right, 0)
    demand(((at >= 0) & (at < max(len(rows), 1))).all() and len(rows), "a leaf has no value")
    return np.where(is_leaf[:, None], rows[at], 0.0)


def _sets(tree: Any, size: int) -> Sets:
    """The categories that go right, by node."""
    if "categories_nodes" not in tree:
        return {}
    nodes = integers(tree, "categories_nodes")
    begins, sizes = integers(tree, "categories_segments", nodes.size), integers(tree, "categories_sizes", nodes.size)
    members = integers(tree, "categories")
    demand(((nodes >= 0) & (nodes < size)).all() and np.unique(nodes).size == nodes.size, "categories are of no node")
    fits = (begins >= 0) & (sizes >= 0) & (begins <= members.size) & (sizes <= members.size - begins)
    demand(fits.all() and sizes.sum() <= members.size, "categories of a split are not there")
    demand(((members >= 0) & (members < MOST_CATEGORIES)).all(), "a category is no number of one")
    split_type = integers(tree, "split_type", size)
    demand(np.array_equal(np.flatnonzero(split_type == 1), np.sort(nodes)), "a split by categories has none")
    return {node: members[a : a + n] for node, a, n in zip(nodes.tolist(), begins.tolist(), sizes.tolist(), strict=True)}


def _with_sets(tree: ParsedTree, sets: Sets, columns: Columns, named: set[int]) -> ParsedTree:
    """The tree with its categories as codes."""
    for node, members in sets.items():
        column = int(tree.feature[node])
        demand(column in columns.categories, "a split by categories is of a column of numbers")
        tree.sets[node] = CategorySplit(codes_of(columns.categories[column], members, column in named), RIGHT)
    return tree
