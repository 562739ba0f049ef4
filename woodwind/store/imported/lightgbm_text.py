"""A model of LightGBM from its text file: docs/guide/importing-models.md.

LightGBM compares doubles with "less than or equal", and each split says what is missing to it: nothing, NaN, or zero. A category goes left
where a split names it; all others, and missing ones, go right.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.categories import AllCategories
from woodwind.kernels.tree.layout import LEFT, RIGHT
from woodwind.store.imported.contents import MOST_COLUMNS, MOST_OUTPUTS, Unreadable, demand
from woodwind.store.imported.layout import CategorySplit, ParsedTree, assemble_forest
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
)

# Bits of a decision, and what is missing to it.
CATEGORY, DEFAULT_LEFT, MISSING_SHIFT = 1, 2, 2
NOTHING, ZERO, NAN = 0, 1, 2
# What is as good as zero.
NEARLY_ZERO = float(np.float32(1e-35))
# Words of 32 categories each that the sets of one tree may have.
MOST_SET_WORDS = 1 << 22
PANDAS = "pandas_categorical:"

Lines = dict[str, str]


def read_lightgbm(data: bytes, n_rounds: int | None = None) -> ReadModel:
    """The model of a file; of its first rounds, or of all."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("it is no text in UTF-8, as a file of LightGBM is") from None
    head, blocks, tail = _blocks(text)
    per_round = _integer(head, "num_tree_per_iteration", 1, MOST_OUTPUTS)
    n_columns = _integer(head, "max_feature_idx", 0, MOST_COLUMNS - 1) + 1
    demand(len(blocks) % per_round == 0, "its last round is not whole")
    there = len(blocks) // per_round
    demand(n_rounds is None or 0 <= n_rounds <= there, f"n_rounds is {n_rounds}, and it has {there} rounds")
    kept = (there if n_rounds is None else n_rounds) * per_round
    parsed = [_LightGBMTree(block, n_columns) for block in blocks[:kept]]
    columns, named = _columns(head, tail, n_columns, parsed)
    trees = [tree.made(columns, named) for tree in parsed]
    name, numbers = _objective(head)
    scale = 1.0 / max(kept // per_round, 1) if "average_output" in head else 1.0
    if name in ("binary", "cross_entropy", "xentropy"):
        scale *= numbers.get("sigmoid", 1.0)
    if scale != 1.0:
        trees = [_scaled(tree, scale) for tree in trees]
    output = [number % per_round for number in range(kept)]
    forest = assemble_forest(trees, columns.n_codes, output, np.zeros(per_round))
    rate = _parameter(tail, "learning_rate")
    common: dict[str, Any] = {"trees_per_round": per_round, "learning_rate": rate}
    params: dict[str, Any] = {"boosting": "dart"} if "[boosting: dart]" in tail else {}
    common["params"] = params | ({"linear_leaves": True} if forest.linear is not None else {})
    if name in ("binary", "cross_entropy", "xentropy", "multiclass", "softmax"):
        n_classes = 2 if per_round == 1 else per_round
        forest, loss, classes = classification(forest, n_classes)
        return ReadModel("LightGBM", CLASSIFICATION, forest, columns.schema(), loss, classes, **common).check()
    demand(per_round == 1, f"its objective {name!r} has several scores for each row, and nothing here predicts as it does")
    if is_ranking(name):
        return ReadModel("LightGBM", RANKING, forest, columns.schema(), ranking_objective(name), **common).check()
    demand("sqrt" not in numbers, "its target was the root of another (reg_sqrt), and nothing here squares predictions")
    number = numbers.get("alpha", numbers.get("tweedie_variance_power"))
    if number is None:
        number = {"quantile": _parameter(tail, "alpha"), "huber": _parameter(tail, "alpha")}.get(name)
    return ReadModel("LightGBM", REGRESSION, forest, columns.schema(), regression_objective(name, number), **common).check()


# ----------------------------------------------------------------------------------------------------
# Lines.


def _blocks(text: str) -> tuple[Lines, list[Lines], str]:
    """The lines of the head and of each tree by their keys, and what stands behind the trees."""
    demand(text.startswith("tree"), "it does not begin with 'tree', as a text file of LightGBM does")
    body, mark, tail = text.partition("\nend of trees")
    demand(mark, "it has no 'end of trees'")
    head, *trees = body.split("\nTree=")
    return _lines(head), [_lines(tree.partition("\n")[2]) for tree in trees], tail


def _lines(block: str) -> Lines:
    found: Lines = {}
    for line in block.splitlines():
        key, _, value = line.partition("=")
        demand(key not in found or not key, f"the line {key[:40]!r} comes twice")
        found[key] = value
    return found


def _integer(lines: Lines, key: str, low: int, high: int) -> int:
    demand(key in lines, f"it has no line {key!r}")
    found = int(lines[key])
    demand(low <= found <= high, f"{key!r} is no number from {low} to {high}")
    return found


def _array(lines: Lines, key: str, size: int, dtype: Any = np.float64) -> NDArray[Any]:
    demand(key in lines, f"a tree has no line {key!r}")
    parts = lines[key].split()
    demand(len(parts) == size, f"{key!r} has {len(parts)} numbers where there should be {size}")
    return np.array([float(part) for part in parts] if dtype is np.float64 else [int(part) for part in parts], dtype)


def _parameter(tail: str, key: str) -> float | None:
    """A parameter of the training, which stands behind the trees."""
    _, mark, rest = tail.partition(f"\n[{key}: ")
    try:
        return float(rest.partition("]")[0]) if mark else None
    except ValueError:
        return None


def _objective(head: Lines) -> tuple[str, dict[str, float]]:
    """The objective and its numbers, such as 'binary sigmoid:1'; a file without one had a function of its own."""
    name, *parts = head.get("objective", "custom").split() or ["custom"]
    pairs = (part.partition(":") for part in parts)
    return name, {key: float(value) if mark else 1.0 for key, mark, value in pairs}


# ----------------------------------------------------------------------------------------------------
# Columns.


def _columns(head: Lines, tail: str, n_columns: int, trees: "list[_LightGBMTree]") -> tuple[Columns, set[int]]:
    """The columns, and which of them have categories with names."""
    names = head.get("feature_names", "").split(" ")
    infos = head.get("feature_infos", "").split()
    demand(len(names) == n_columns, "columns have not one name each")
    demand(len(infos) in (0, n_columns), "columns have not one range each")
    found: dict[int, list[NDArray[np.int64]]] = {}
    for column, info in enumerate(infos):
        if not info.startswith("[") and info != "none":
            values = np.array([int(part) for part in info.split(":")], np.int64)
            found[column] = [values[values >= 0]]
    zero, by_nan = set(), set()
    for tree in trees:
        for node, members in tree.sets.items():
            found.setdefault(int(tree.feature[node]), []).append(members)
        zero |= tree.features_missing(ZERO)
        by_nan |= tree.features_missing(NAN)
    demand(not (zero & by_nan), "a column has missing values that are zeros to one split and not to another")
    named = _named_categories(tail, found, infos)
    categories = {column: named[column] if column in named else mentioned(members) for column, members in found.items()}
    made_up = [f"Column_{column}" for column in range(n_columns)]
    sentinels = dict.fromkeys(zero - categories.keys(), (-NEARLY_ZERO, NEARLY_ZERO))
    return Columns(None if names == made_up else tuple(names), n_columns, categories, sentinels), set(named)


def _named_categories(tail: str, found: dict[int, Any], infos: list[str]) -> dict[int, AllCategories]:
    """The categories of a frame, in the order of their codes. The file lists those of all columns of categories, without their names."""
    _, mark, rest = tail.rpartition(PANDAS)
    if not mark:
        return {}
    try:
        given = json.loads(rest.split("\n")[0])
    except (ValueError, RecursionError):
        raise Unreadable("its list of categories is damaged") from None
    if not given:
        return {}
    demand(isinstance(given, list) and all(isinstance(one, list) for one in given), "its list of categories is damaged")
    columns = sorted(found)
    if len(columns) != len(given):  # columns that were constant in training are not known to be categories
        columns = sorted({*found, *(column for column, info in enumerate(infos) if info == "none")})
    demand(
        len(columns) == len(given),
        f"it has the categories of {len(given)} columns, and does not tell which: {len(found)} columns are split by categories. Columns of "
        "ordered categories are numbers to LightGBM: train with their codes instead",
    )
    named = {column: _known(values) for column, values in zip(columns, given, strict=True) if column in found}
    for column, categories in named.items():
        largest = max((int(members.max(initial=-1)) for members in found[column]), default=-1)
        demand(largest < len(categories.values), "a column has more categories than names of them")
    return named


def _known(values: list[Any]) -> AllCategories:
    """Categories of a frame: texts, numbers or truth values."""
    is_text = all(isinstance(value, str) for value in values)
    demand(is_text or all(isinstance(value, int | float) for value in values), "categories of a column are of several types")
    return AllCategories.of(values if is_text else [float(value) for value in values])


# ----------------------------------------------------------------------------------------------------
# Trees.


class _LightGBMTree:
    """One tree: inner nodes come first, then leaves."""

    def __init__(self, lines: Lines, n_columns: int) -> None:
        self.n_leaves = _integer(lines, "num_leaves", 1, 1 << 31)
        inner = self.n_leaves - 1
        demand(self.n_leaves <= len(lines.get("leaf_value", "")), "a tree has more leaves than values")
        self.lines = lines
        self.value = _array(lines, "leaf_value", self.n_leaves)
        self.feature = _array(lines, "split_feature", inner, np.int64) if inner else np.zeros(0, np.int64)
        self.threshold = _array(lines, "threshold", inner) if inner else np.zeros(0)
        self.decision = _array(lines, "decision_type", inner, np.int64) if inner else np.zeros(0, np.int64)
        demand(((self.feature >= 0) & (self.feature < n_columns)).all(), "a split uses a column that there is not")
        demand(((self.decision >= 0) & (self.decision < 16)).all(), "a decision is of no known type")
        self.sets = self._sets() if (self.decision & CATEGORY).any() else {}

    def _sets(self) -> dict[int, NDArray[np.int64]]:
        """The categories that go left, by node."""
        count = _integer(self.lines, "num_cat", 1, 1 << 31)
        nodes = np.flatnonzero(self.decision & CATEGORY)
        begins = _array(self.lines, "cat_boundaries", count + 1, np.int64)
        words = np.array([int(part) for part in self.lines.get("cat_threshold", "").split()], np.int64)
        demand(words.size <= MOST_SET_WORDS and ((words >= 0) & (words < 1 << 32)).all(), "a set of categories is damaged")
        demand(begins[0] == 0 and begins[-1] == words.size and (np.diff(begins) >= 0).all(), "a set of categories is damaged")
        at = self.threshold[nodes]
        demand((at == np.floor(at)).all() and ((at >= 0) & (at < count)).all(), "a split by categories has none")
        found = {}
        for node, number in zip(nodes.tolist(), at.astype(np.int64).tolist(), strict=True):
            own = words[begins[number] : begins[number + 1]].astype("<u4")
            found[node] = np.flatnonzero(np.unpackbits(own.view(np.uint8), bitorder="little"))
        return found

    def features_missing(self, kind: int) -> set[int]:
        """Columns of numbers to whose splits this is missing."""
        here = (self.decision >> MISSING_SHIFT == kind) & (self.decision & CATEGORY == 0)
        return set(np.unique(self.feature[here]).tolist())

    def made(self, columns: Columns, named: set[int]) -> ParsedTree:
        """The tree with its categories as codes."""
        inner, n = self.n_leaves - 1, 2 * self.n_leaves - 1
        left, right = (
            _array(self.lines, key, inner, np.int64) if inner else np.zeros(0, np.int64) for key in ("left_child", "right_child")
        )
        children = np.concatenate([left, right])
        demand(((children >= -self.n_leaves) & (children < inner)).all(), "a child lies outside of its tree")
        left, right = (np.where(side < 0, inner + ~side, side) for side in (left, right))
        none = np.full(self.n_leaves, -1)
        is_category = self.decision & CATEGORY != 0
        # What is missing to no split counts as zero.
        natural = self.threshold >= 0.0
        default = np.where(self.decision >> MISSING_SHIFT == NOTHING, natural, self.decision & DEFAULT_LEFT != 0) & ~is_category
        cover = _counts(self.lines, self.n_leaves)
        value, linear = self.value, None
        if self.lines.get("is_linear", "0").strip() == "1":
            value, linear = self._linear(inner, n)
        tree = ParsedTree(
            left=np.concatenate([left, none]),
            right=np.concatenate([right, none]),
            feature=np.concatenate([self.feature, none]),
            threshold=np.concatenate([self.threshold, np.zeros(self.n_leaves)]),
            missing=np.concatenate([np.where(default, LEFT, RIGHT), np.zeros(self.n_leaves)]).astype(np.uint8),
            value=np.concatenate([np.zeros(inner), value])[:, None],
            cover=cover,
            gain=np.concatenate([_array(self.lines, "split_gain", inner) if inner else np.zeros(0), np.zeros(self.n_leaves)]),
            linear=linear,
        )
        for node, members in self.sets.items():
            column = int(self.feature[node])
            tree.sets[node] = CategorySplit(codes_of(columns.categories[column], members, column in named), LEFT)
        demand(not any(column in columns.categories for column in self.feature[~is_category].tolist()), "categories are split as numbers")
        return tree

    def _linear(self, inner: int, n: int) -> tuple[NDArray[np.float64], tuple[Any, Any, Any, Any]]:
        """Values of leaves where a number is missing, and the linear parts of those that have one."""
        counts = _array(self.lines, "num_features", self.n_leaves, np.int64)
        demand((counts >= 0).all(), "a linear leaf has a negative number of terms")
        constant = _array(self.lines, "leaf_const", self.n_leaves)
        total = int(counts.sum()) if counts.sum() <= len(self.lines.get("leaf_coeff", "")) else -1
        demand(total >= 0, "linear leaves have more terms than numbers")
        feature = _array(self.lines, "leaf_features", total, np.int64)
        coefficient = _array(self.lines, "leaf_coeff", total)
        node = np.repeat(inner + np.arange(self.n_leaves), counts)
        constants = np.zeros(n)
        constants[inner:] = np.where(counts > 0, constant, 0.0)
        return np.where(counts > 0, self.value, constant), (node, feature, coefficient, constants)


def _counts(lines: Lines, n_leaves: int) -> NDArray[np.float64]:
    """The number of training rows of every node; old files have none."""
    inner = n_leaves - 1
    if "leaf_count" not in lines or "internal_count" not in lines or not lines["leaf_count"].split():
        return np.zeros(inner + n_leaves)
    return np.concatenate([_array(lines, "internal_count", inner), _array(lines, "leaf_count", n_leaves)])


def _scaled(tree: ParsedTree, factor: float) -> ParsedTree:
    """The tree with its values times a factor."""
    linear = tree.linear
    if linear is not None:
        linear = (linear[0], linear[1], linear[2] * factor, linear[3] * factor)
    return ParsedTree(
        tree.left, tree.right, tree.feature, tree.threshold, tree.missing, tree.value * factor, tree.cover, tree.gain, tree.sets, linear
    )
