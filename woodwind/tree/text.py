"""Trees for readers and for other programs: one tree as text, every node as a row of a table, all trees as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.formatting import printable
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP
from woodwind.tree.forest import Forest

BRANCH = "|--- "
INDENT = "|   "
# Seconds since 1970 beyond which, in either direction, there are no dates.
LAST_MOMENT = 2.0**63


@dataclass(frozen=True)
class Detail:
    """How much of a tree is drawn."""

    decimals: int = 2  # digits after the point of thresholds, values and covers
    max_depth: int | None = None  # splits below this depth are left out
    max_categories: int | None = None  # of more categories on one side of a split, so many are named and the others counted


FULL = Detail()


def export_text(
    forest: Forest,
    tree: int = 0,
    *,
    feature_names: Sequence[str] | None = None,
    categories: Sequence[Sequence[Any] | None] | None = None,
    output_names: Sequence[str] | None = None,
    moments: Sequence[str | None] | None = None,
    detail: Detail = FULL,
) -> str:
    """Draw one tree.

    feature_names  a name for each feature of the engine; default feature_0, feature_1, ...
    categories     for each feature what the numbers of its categories stand for, None for numbers; default the numbers themselves
    output_names   a name for each output, for instance the classes; default none for one output, else output_0, ...
    moments        for each feature of seconds since 1970 what to write behind its dates, None for others; default None for all
    detail         how much is drawn

    A walk that ends at a split, because training met no missing value there or does not know the category, is drawn as a
    third branch: its value is the mean of the leaves below.
    """
    if not -forest.n_trees <= tree < forest.n_trees:
        raise ParameterError(f"export_text: tree must be one of the {forest.n_trees} trees of the forest, counted from 0; {tree} was given")
    names = list(feature_names) if feature_names is not None else [f"feature_{f}" for f in range(forest.n_features)]
    if len(names) != forest.n_features:
        raise ParameterError(f"export_text: feature_names must have {forest.n_features} names, {len(names)} were given")
    if output_names is not None and len(output_names) != forest.n_outputs:
        raise ParameterError(f"export_text: output_names must have {forest.n_outputs} names, {len(output_names)} were given")
    if output_names is None and forest.n_outputs > 1:
        output_names = [f"output_{k}" for k in range(forest.n_outputs)]
    drawing = TreeDrawing(forest, tree % forest.n_trees, names, categories, output_names, moments, detail)
    return "\n".join(map(printable, drawing.lines())) + "\n"


@dataclass
class TreeDrawing:
    """What does not change while one tree is drawn."""

    forest: Forest
    tree: int
    names: list[str]
    categories: Any
    outputs: Any
    moments: Any
    detail: Detail

    def lines(self) -> list[str]:
        """The whole tree, depth first; a loop, since a tree may be deeper than Python's stack."""
        forest, root = self.forest, int(self.forest.roots[self.tree])
        drawn: list[str] = []
        waiting: list[int | str] = [0]  # nodes to draw, and lines that are ready; the last comes first
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                drawn.append(item)
                continue
            node = root + item
            indent = INDENT * int(forest.depth[node])
            if forest.feature[node] < 0:
                drawn.append(indent + BRANCH + self.value(node))
            elif self.detail.max_depth is not None and forest.depth[node] >= self.detail.max_depth:
                drawn.append(indent + BRANCH + "... " + self.value(node))
            else:
                left, right, stop = self.questions(node)
                child = int(forest.child[node])
                if stop:
                    waiting.append(f"{indent}{BRANCH}{stop}: {self.value(node, cover=False)}")
                waiting += [child + 1, indent + BRANCH + right, child, indent + BRANCH + left]
        return drawn

    def questions(self, node: int) -> tuple[str, str, str]:
        """What the left branch, the right branch and the stop of a split say."""
        forest = self.forest
        name, missing = self.names[forest.feature[node]], forest.missing[node]
        if forest.sets[node] < 0:
            bound = self.bound(node)
            sides = [f"{name} <= {bound}", f"{name} >  {bound}"]
            stop = f"{name} is missing" if missing == STOP else ""
        else:
            sides = [f"{name} in {{{self.members(node, side)}}}" for side in (0, 1)]
            stop = f"{name} is missing or another category" if missing == STOP else f"{name} is another category"
        for side, way in enumerate((LEFT, RIGHT)):
            sides[side] += " or missing" if missing == way else ""
        return sides[0], sides[1], stop

    def members(self, node: int, side: int) -> str:
        """The categories of one side of a category split."""
        feature = int(self.forest.feature[node])
        size = int(self.forest.set_words[feature])
        first = int(self.forest.sets[node]) + side * size
        bits = np.unpackbits(self.forest.words[first : first + size].astype("<u8").view(np.uint8), bitorder="little")
        known = self.categories[feature] if self.categories is not None else None
        inside = np.flatnonzero(bits).tolist()
        most = len(inside) if self.detail.max_categories is None else self.detail.max_categories
        rest = f" and {len(inside) - most} more" if len(inside) > most else ""
        return (
            ", ".join(str(known[category] if known is not None and category < len(known) else category) for category in inside[:most])
            + rest
        )

    def bound(self, node: int) -> str:
        """The threshold of a number split: a date where the feature is one."""
        feature, x = int(self.forest.feature[node]), float(self.forest.threshold[node])
        if self.moments is None or self.moments[feature] is None or not abs(x) < LAST_MOMENT:
            return self.number(x)
        return str(np.datetime64(math.floor(x), "s")).replace("T", " ") + str(self.moments[feature])

    def value(self, node: int, cover: bool = True) -> str:
        """What a walk that ends here adds to the score."""
        forest, column = self.forest, int(self.forest.output[self.tree])
        numbers = [self.number(v) for v in forest.value[node]]
        if column >= 0:
            text = numbers[0] if self.outputs is None else f"{self.outputs[column]} {numbers[0]}"
        elif self.outputs is None:
            text = ", ".join(numbers)
        else:
            text = ", ".join(f"{name} {number}" for name, number in zip(self.outputs, numbers, strict=True))
        text += self.terms(node)
        return f"value: {text}" + (f" (cover {self.number(forest.cover[node])})" if cover else "")

    def terms(self, node: int) -> str:
        """The linear part of a leaf, behind its constant value; nothing where it has none."""
        found = linear_part(self.forest, node)
        if found is None:
            return ""
        signed = "".join(f" {'-' if factor < 0 else '+'} {self.number(abs(factor))} * {self.names[f]}" for f, factor in found["terms"])
        constant, low, high = (self.number(found[name]) for name in ("constant", "low", "high"))
        return f"; with all numbers: {constant}{signed}, within {low} and {high}"

    def number(self, x: float) -> str:
        """A number with the digits that were asked for."""
        return f"{x:.{self.detail.decimals}f}"


# ----------------------------------------------------------------------------------------------------
# For other programs: every node as a row of a table, and all trees as JSON.

WAYS = {LEFT: "left", RIGHT: "right", STOP: "stop"}


@dataclass(frozen=True)
class ForestNames:
    """What the numbers of a forest stand for."""

    features: Sequence[str]
    categories: Sequence[Sequence[Any] | None]  # of each feature; None for numbers
    outputs: Sequence[str]  # of each score


def categories_of(forest: Forest, node: int, names: ForestNames) -> tuple[list[Any], list[Any]]:
    """The categories that go left at a category split, and those that go right."""
    feature = int(forest.feature[node])
    size, known = int(forest.set_words[feature]), names.categories[feature]
    sides = []
    for side in (0, 1):
        first = int(forest.sets[node]) + side * size
        bits = np.unpackbits(forest.words[first : first + size].astype("<u8").view(np.uint8), bitorder="little")
        inside = np.flatnonzero(bits).tolist()
        sides.append([known[number] if known is not None and number < len(known) else number for number in inside])
    return sides[0], sides[1]


def node_columns(forest: Forest, names: ForestNames, trees_per_round: int = 1) -> dict[str, Any]:
    """One row for each node, as columns: see `trees_to_dataframe` of the estimators."""
    begin = forest._tree_begin()
    sizes = np.diff(forest.roots)
    tree = np.repeat(np.arange(forest.n_trees), sizes)
    split = forest.feature >= 0
    left = np.where(split, forest.child, -1)
    parent: NDArray[np.int64] = np.full(forest.n_nodes, -1, np.int64)
    inner = np.flatnonzero(split)
    below = begin[inner] + forest.child[inner]
    parent[below] = parent[below + 1] = inner - begin[inner]
    number = split & (forest.sets < 0)
    sets: list[list[Any]] = [[None] * forest.n_nodes, [None] * forest.n_nodes]
    for node in np.flatnonzero(forest.sets >= 0).tolist():
        # As text: a column of a frame has one type, and the categories of two features may have two.
        sets[0][node], sets[1][node] = ([str(one) for one in side] for side in categories_of(forest, node, names))
    columns: dict[str, Any] = {
        "tree_index": tree,
        "round": tree // max(trees_per_round, 1),
        "node_index": np.arange(forest.n_nodes) - begin,
        "node_depth": forest.depth.astype(np.int64),
        "parent_index": parent,
        "left_child": left.astype(np.int64),
        "right_child": np.where(split, left + 1, -1).astype(np.int64),
        "split_feature": [names.features[feature] if feature >= 0 else None for feature in forest.feature.tolist()],
        "decision_type": [("<=" if sets < 0 else "in") if is_split else None for is_split, sets in zip(split, forest.sets, strict=True)],
        "threshold": np.where(number, forest.threshold, np.nan),
        "left_categories": sets[0],
        "right_categories": sets[1],
        "missing_direction": [WAYS[way] if is_split else None for is_split, way in zip(split, forest.missing.tolist(), strict=True)],
        "split_gain": np.where(split, forest.gain, np.nan),
        "cover": forest.cover.copy(),
    }
    if forest.linear is not None:
        parts = [linear_part(forest, node) for node in range(forest.n_nodes)]
        columns["linear_features"] = [None if part is None else [names.features[f] for f, _ in part["terms"]] for part in parts]
        columns["linear_coefficients"] = [None if part is None else [slope for _, slope in part["terms"]] for part in parts]
        for name in ("constant", "low", "high"):
            columns[f"linear_{name}"] = np.array([np.nan if part is None else part[name] for part in parts])
    if forest.n_outputs == 1:
        columns["value"] = forest.value[:, 0].copy()
    elif (forest.output < 0).all():
        columns |= {f"value_{name}": forest.value[:, position].copy() for position, name in enumerate(names.outputs)}
    else:
        columns["output"] = [names.outputs[output] for output in np.repeat(forest.output, sizes).tolist()]
        columns["value"] = forest.value[:, 0].copy()
    return columns


def to_json(forest: Forest, names: ForestNames, indent: int | None = None) -> str:
    """All trees as JSON: see `trees_to_json` of the estimators."""
    trees = []
    for tree in range(forest.n_trees):
        first, last = int(forest.roots[tree]), int(forest.roots[tree + 1])
        output = int(forest.output[tree])
        nodes = [_node(forest, node, names) for node in range(first, last)]
        trees.append({"output": None if output < 0 else output, "nodes": nodes})
    whole = {
        "format": "woodwind-trees",
        "version": 1,
        "feature_names": list(names.features),
        "outputs": list(names.outputs),
        "start": forest.start.tolist(),
        "trees": trees,
    }
    # An infinite number is no JSON: `_number` writes it as text.
    return json.dumps(whole, indent=indent, allow_nan=False, default=str)


def _node(forest: Forest, node: int, names: ForestNames) -> dict[str, Any]:
    """One node; children are named by their place in the list of the tree."""
    made: dict[str, Any] = {"value": forest.value[node].tolist(), "cover": float(forest.cover[node])}
    if forest.feature[node] < 0:
        part = linear_part(forest, node)
        if part is not None:
            made["linear"] = part | {"terms": [{"feature": f, "coefficient": slope} for f, slope in part["terms"]]}
        return made
    child = int(forest.child[node])
    asked: dict[str, Any] = {"feature": int(forest.feature[node])}
    if forest.sets[node] < 0:
        asked["threshold"] = _number(float(forest.threshold[node]))
    else:
        asked["left_categories"], asked["right_categories"] = categories_of(forest, node, names)
    missing = WAYS[int(forest.missing[node])]
    return asked | {"left": child, "right": child + 1, "missing": missing, "gain": _number(float(forest.gain[node]))} | made


def linear_part(forest: Forest, node: int) -> dict[str, Any] | None:
    """The linear part of a leaf: its constant, its terms as (feature, coefficient), and what it is held within; None where it has none."""
    linear = forest.linear
    if linear is None or linear.first[node] == linear.first[node + 1]:
        return None
    at = slice(linear.first[node], linear.first[node + 1])
    terms = list(zip(linear.feature[at].tolist(), linear.coefficient[at].tolist(), strict=True))
    bounds = {name: float(getattr(linear, name)[node]) for name in ("constant", "low", "high")}
    return {"constant": bounds["constant"], "terms": terms, "low": bounds["low"], "high": bounds["high"]}


def _number(x: float) -> float | str:
    return x if math.isfinite(x) else str(x).replace("inf", "Infinity")
