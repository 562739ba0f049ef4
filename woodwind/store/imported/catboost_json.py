"""A model of CatBoost from its JSON file: docs/guide/importing-models.md.

CatBoost compares values and borders of 32 bits with "greater than". A symmetric tree asks the same question in all nodes of a level; the
first split is the lowest bit of the number of a leaf. Categories are known by hashes of their texts. Statistics of categories (CTR) are
numbers that the file has no rule for, and a model that uses them is refused.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.categories import AllCategories
from woodwind.kernels.tree.layout import LEFT, RIGHT
from woodwind.losses.classification import LogLoss
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.store.imported import contents
from woodwind.store.imported.contents import MOST_COLUMNS, MOST_OUTPUTS, Unreadable, child, demand, integer, items
from woodwind.store.imported.layout import CategorySplit, ParsedTree, assemble_forest, at_most_as_float32
from woodwind.store.imported.objectives import is_ranking, ranking_objective, regression_objective
from woodwind.store.imported.read_model import (
    CLASSIFICATION,
    RANKING,
    REGRESSION,
    Columns,
    ReadModel,
    classification,
    mentioned,
    several,
)

FLOAT, ONE_HOT = "FloatFeature", "OneHotFeature"
REFUSED = {
    "OnlineCtr": "statistics of categories (CTR), for which the file has no rule. Train with one_hot_max_size at least as large as the "
    "number of categories of every column, or turn the categories into numbers before",
}
# CatBoost grows no deeper trees.
DEEPEST = 16
LOGISTIC = ("Logloss", "CrossEntropy")


def read_catboost(data: bytes, n_rounds: int | None = None) -> ReadModel:
    """The model of a file; of its first trees, or of all."""
    whole = contents.parsed_json(data)
    demand(isinstance(whole, dict), "it has no parts")
    demand("oblivious_trees" in whole or "trees" in whole, "it has no trees")
    symmetric = "oblivious_trees" in whole
    given = items(whole, "oblivious_trees" if symmetric else "trees")
    demand(n_rounds is None or 0 <= n_rounds <= len(given), f"n_rounds is {n_rounds}, and it has {len(given)} trees")
    scale, bias = _scale_and_bias(whole)
    features = _Features.of(child(whole, "features_info"))
    read = _symmetric if symmetric else _asymmetric
    trees = [read(tree, features, bias.size) for tree in given[: len(given) if n_rounds is None else n_rounds]]
    known = mentioned([np.array(sorted({one.value for tree in trees for one in tree.splits if not one.is_float}), np.int64)])
    columns = features.columns(known)
    made = [tree.made(columns, features, scale) for tree in trees]
    forest = assemble_forest(made, columns.n_codes, [-1 if bias.size > 1 else 0] * len(made), bias)
    return _model(whole, forest, columns).check()


def _scale_and_bias(whole: Any) -> tuple[float, NDArray[np.float64]]:
    """The factor of all trees, and the scores before the first."""
    given = whole.get("scale_and_bias", [1.0, [0.0]])
    demand(isinstance(given, list) and len(given) == 2 and isinstance(given[0], int | float), "'scale_and_bias' is damaged")
    bias = np.atleast_1d(np.asarray(given[1]))
    demand(bias.ndim == 1 and 1 <= bias.size <= MOST_OUTPUTS and bias.dtype.kind in "if", "'scale_and_bias' is damaged")
    return float(given[0]), bias.astype(np.float64)


# ----------------------------------------------------------------------------------------------------
# What scores mean.


def _params(whole: Any) -> tuple[str, dict[str, float], float | None]:
    """The loss with its numbers, and the learning rate: parameters are JSON, or JSON in a text."""
    info = whole.get("model_info")
    given = info.get("params") if isinstance(info, dict) else None
    params = json.loads(given) if isinstance(given, str) else given
    loss = params.get("loss_function") if isinstance(params, dict) else None
    if not isinstance(loss, dict) or not isinstance(loss.get("type"), str):
        return "custom", {}, None
    numbers = loss.get("params") or {}
    found = {key: float(value) for key, value in numbers.items() if _is_number(value)} if isinstance(numbers, dict) else {}
    options = params.get("boosting_options") if isinstance(params, dict) else None
    rate = options.get("learning_rate") if isinstance(options, dict) else None
    return loss["type"], found, float(rate) if isinstance(rate, int | float) and rate > 0 else None


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, str | int | float) and np.isfinite(float(value))
    except ValueError:
        return False


def _model(whole: Any, forest: Any, columns: Columns) -> ReadModel:
    name, numbers, rate = _params(whole)
    width, schema = forest.n_outputs, columns.schema()
    common: dict[str, Any] = {"learning_rate": rate}
    if name in LOGISTIC and width == 1:
        model = ReadModel("CatBoost", CLASSIFICATION, forest, schema, LogLoss(), np.arange(2), **common)
        return model.with_classes(_labels(whole, 2))
    if name == "MultiClass":
        demand(width >= 2, "it has one score for several classes")
        labels = _labels(whole, width)
        forest, loss, classes = classification(forest, width)
        return ReadModel("CatBoost", CLASSIFICATION, forest, schema, loss, classes, **common).with_classes(labels)
    if name in ("MultiLogloss", "MultiCrossEntropy") and width > 1:
        each = [np.arange(2)] * width
        return ReadModel("CatBoost", CLASSIFICATION, forest, schema, SeveralTargetsLoss((LogLoss(),) * width), each, **common)
    if is_ranking(name):
        demand(width == 1, "a ranking has several scores")
        return ReadModel("CatBoost", RANKING, forest, schema, ranking_objective(name), **common)
    demand(width == 1 or name in ("MultiRMSE", "MultiRMSEWithMissingValues", "MultiQuantile"), f"nothing here predicts as {name!r} does")
    plain = {"MultiRMSE": "RMSE", "MultiRMSEWithMissingValues": "RMSE", "MultiQuantile": "Quantile"}.get(name, name)
    number = numbers.get("alpha", numbers.get("variance_power", numbers.get("delta")))
    return ReadModel("CatBoost", REGRESSION, forest, schema, several(regression_objective(plain, number), width), **common)


def _labels(whole: Any, count: int) -> NDArray[Any]:
    """The labels in the order of the scores; numbers where the file has none."""
    given = whole.get("model_info", {}).get("class_params")
    names = given.get("class_names") if isinstance(given, dict) else None
    if not isinstance(names, list) or len(names) != count:
        return np.arange(count)
    whole_numbers = all(isinstance(name, int | float) and float(name).is_integer() for name in names)
    demand(whole_numbers or all(isinstance(name, str | int | float) for name in names), "a class is neither a text nor a number")
    return np.array([int(name) for name in names] if whole_numbers else names)


# ----------------------------------------------------------------------------------------------------
# Columns.


@dataclass(frozen=True)
class _Features:
    floats: dict[int, int]  # column of each float feature
    categories: dict[int, int]  # column of each category feature
    missing: dict[int, int]  # where a missing value goes, by column
    names: dict[int, str]

    @classmethod
    def of(cls, info: Any) -> "_Features":
        demand(
            not info.get("text_features") and not info.get("embedding_features"),
            "it has features of text or embeddings, which cannot be read",
        )
        found: tuple[dict[int, int], dict[int, int], dict[int, int], dict[int, str]] = ({}, {}, {}, {})
        for key, columns in (("float_features", found[0]), ("categorical_features", found[1])):
            for one in items(info, key) if info.get(key) else []:
                column = integer(one, "flat_feature_index", 0, MOST_COLUMNS - 1)
                demand(column not in found[3], "a column is two features")
                columns[integer(one, "feature_index", 0, MOST_COLUMNS - 1)] = column
                name = one.get("feature_name") or one.get("feature_id")
                found[3][column] = name if isinstance(name, str) and name else str(column)
                # A missing value is below or above all borders; where training met none, nothing is greater with it.
                found[2][column] = RIGHT if one.get("nan_value_treatment") == "AsTrue" else LEFT
        return cls(*found)

    def columns(self, known: AllCategories) -> Columns:
        """The columns; every column of categories has all hashes that splits name."""
        count = max(self.names, default=-1) + 1
        demand(count <= 16 * (len(self.names) + 16), "it has columns without features")
        names = tuple(self.names.get(column, str(column)) for column in range(count))
        made_up = names == tuple(str(column) for column in range(count))
        return Columns(None if made_up else names, count, dict.fromkeys(self.categories.values(), known), hashed=True)


@dataclass(frozen=True)
class _Split:
    """A question: is the value of a float feature greater than a border, or has a category this hash?"""

    is_float: bool
    feature: int
    border: float = 0.0
    value: int = 0

    @classmethod
    def of(cls, given: Any, features: _Features) -> "_Split":
        kind = contents.text(given, "split_type")
        demand(kind not in REFUSED, f"it uses {REFUSED.get(kind)}")
        if kind == FLOAT:
            number = integer(given, "float_feature_index", 0, MOST_COLUMNS)
            border = child(given, "border")
            demand(number in features.floats and isinstance(border, int | float), "a split uses a feature that there is not")
            return cls(True, features.floats[number], float(border))
        if kind == ONE_HOT:
            number = integer(given, "cat_feature_index", 0, MOST_COLUMNS)
            demand(number in features.categories, "a split uses a feature that there is not")
            return cls(False, features.categories[number], value=integer(given, "value", -(1 << 31), (1 << 32) - 1))
        raise Unreadable(f"it has splits of the type {kind[:40]!r}, which cannot be read")


# ----------------------------------------------------------------------------------------------------
# Trees.


@dataclass(frozen=True, eq=False)
class _CatBoostTree:
    """Inner nodes first, then leaves."""

    splits: list[_Split]  # of the inner nodes
    left: NDArray[np.int64]  # (n,) -1 at a leaf
    right: NDArray[np.int64]
    value: NDArray[np.float64]  # (leaves, L)
    weight: NDArray[np.float64]  # (leaves,)

    def made(self, columns: Columns, features: _Features, scale: float) -> ParsedTree:
        """The tree with its categories as codes; the gain of a split is the variance of values that it tells apart."""
        inner, leaves = len(self.splits), len(self.value)
        feature = np.array([one.feature for one in self.splits], np.int64)
        border = at_most_as_float32(np.array([one.border for one in self.splits], np.float64))
        missing = np.array([features.missing[one.feature] if one.is_float else LEFT for one in self.splits], np.uint8)
        cover, mean = (
            np.concatenate([np.zeros(inner), self.weight]),
            np.concatenate([np.zeros((inner, self.value.shape[1])), scale * self.value]),
        )
        gain = np.zeros(inner + leaves)
        for node in range(inner - 1, -1, -1):  # children come behind their parents
            pair = [self.left[node], self.right[node]]
            cover[node] = cover[pair].sum()
            if cover[node] > 0.0:
                mean[node] = cover[pair] @ mean[pair] / cover[node]
                gain[node] = cover[pair] @ ((mean[pair] - mean[node]) ** 2).sum(axis=1)
        tree = ParsedTree(
            left=self.left,
            right=self.right,
            feature=np.concatenate([feature, np.full(leaves, -1)]),
            threshold=np.concatenate([border, np.zeros(leaves)]),
            missing=np.concatenate([missing, np.zeros(leaves)]).astype(np.uint8),
            value=mean,
            cover=cover,
            gain=gain,
        )
        for node, one in enumerate(self.splits):
            if not one.is_float:
                code = np.searchsorted(np.asarray(columns.categories[one.feature].values), [one.value])
                tree.sets[node] = CategorySplit(code, RIGHT)
        return tree


def _numbers(given: Any, key: str) -> NDArray[np.float64]:
    found = np.atleast_1d(np.asarray(child(given, key)))
    demand(found.ndim == 1 and found.dtype.kind in "if", f"{key!r} has something that is no number")
    return found.astype(np.float64)


def _symmetric(given: Any, features: _Features, width: int) -> _CatBoostTree:
    """A tree that asks the same question in all nodes of a level; the root asks the last of its splits."""
    splits = [_Split.of(one, features) for one in (items(given, "splits") if child(given, "splits") else [])][::-1]
    depth = len(splits)
    demand(depth <= DEEPEST, f"a tree is deeper than {DEEPEST}")
    values = _numbers(given, "leaf_values")
    demand(values.size == width << depth, "a tree has not one value for each leaf and score")
    weight = _numbers(given, "leaf_weights") if given.get("leaf_weights") else np.zeros(1 << depth)
    demand(weight.size == 1 << depth, "a tree has not one weight for each leaf")
    inner = (1 << depth) - 1
    nodes = np.arange(inner)
    level = [splits[position] for position in range(depth) for _ in range(1 << position)]
    none = np.full(1 << depth, -1)
    return _CatBoostTree(
        level, np.concatenate([2 * nodes + 1, none]), np.concatenate([2 * nodes + 2, none]), values.reshape(-1, width), weight
    )


def _asymmetric(given: Any, features: _Features, width: int) -> _CatBoostTree:
    """A tree of nested nodes, in the order in which they are met: inner nodes are numbered before leaves."""
    splits: list[_Split] = []
    children: list[list[int]] = []
    values, weights = [], []
    waiting: list[tuple[Any, int, int]] = [(given, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        demand(isinstance(node, dict), "a node is none")
        if "split" in node:
            splits.append(_Split.of(node["split"], features))
            children.append([0, 0])
            own = len(splits) - 1
            waiting += [(child(node, "right"), own, 1), (child(node, "left"), own, 0)]
        else:
            value = _numbers(node, "value")
            demand(value.size == width, "a leaf has not one value for each score")
            values.append(value)
            weights.append(float(_numbers(node, "weight")[0]) if "weight" in node else 0.0)
            own = -len(values)  # the number of inner nodes is not known yet
        if parent >= 0:
            children[parent][side] = own
    pairs = np.array(children, np.int64).reshape(-1, 2)
    pairs = np.where(pairs < 0, len(splits) - 1 - pairs, pairs)
    none = np.full(len(values), -1)
    return _CatBoostTree(
        splits, np.concatenate([pairs[:, 0], none]), np.concatenate([pairs[:, 1], none]), np.array(values), np.array(weights)
    )
