"""A tree of a forest, grown the slow and obvious way: the twin of `kernels/forest/loop.py`, with the same draws by the same keys."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from woodwind.base.random_streams import GOLDEN, WORD, mix
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP

CUTS_ITEM = 2
DRAW_ITEM = 3


def hashed(key: int, item: int) -> int:
    """63 random bits."""
    return mix((key + (item + 1) * GOLDEN) & WORD) >> 1


@dataclass
class NaiveForest:
    """What a tree is grown from, and how. Targets are whole numbers, or classes."""

    columns: Sequence[Sequence[float]]  # numbers, NaN for missing; levels, -1 for missing
    is_category: Sequence[bool]
    target: Sequence[int]
    times: Sequence[int]
    n_classes: int = 0
    criterion: str = "squared_error"
    random_cuts: bool = False
    n_candidates: int = 1
    max_depth: float = math.inf
    min_split: int = 2
    min_rows: int = 1

    def grow(self, key: int) -> Any:
        """The tree, as (feature, cut or set of categories, missing, left, right), or the rows of a leaf."""
        return self._node([row for row, count in enumerate(self.times) if count], 0, key)

    def _node(self, rows: list[int], depth: int, key: int) -> Any:
        count = sum(self.times[row] for row in rows)
        pure = len({self.target[row] for row in rows}) == 1
        if depth >= self.max_depth or pure or count < self.min_split or count < 2 * self.min_rows:
            return rows
        best: Any = (-math.inf,)
        for feature in self._candidates(key):
            if isinstance(feature, str):  # what follows is drawn only if nothing was found so far
                if best[0] > -math.inf:
                    break
                continue
            for found in self._splits(rows, feature, hashed(hashed(key, CUTS_ITEM), feature)):
                if found[0] > best[0] * (1 + 1e-12):
                    best = found
        if best[0] == -math.inf:
            return rows
        _, feature, what, missing = best
        sides: tuple[list[int], list[int]] = ([], [])
        for row in rows:
            sides[self._way(row, feature, what, missing)].append(row)
        children = (self._node(side, depth + 1, hashed(key, k)) for k, side in enumerate(sides))
        return feature, what, missing, *children

    def _candidates(self, key: int) -> list[Any]:
        """Features in the order in which they are scored; a mark before each that is drawn only for want of a split."""
        n = len(self.columns)
        if self.n_candidates >= n:
            return list(range(n))
        drawn = list(range(n))
        for k in range(n):
            other = k + (((hashed(hashed(key, DRAW_ITEM), k) >> 31) * (n - k)) >> 32)
            drawn[k], drawn[other] = drawn[other], drawn[k]
        order: list[Any] = sorted(drawn[: self.n_candidates])
        for feature in drawn[self.n_candidates :]:
            order += ["unless found", feature]
        return order

    def _missing(self, row: int, feature: int) -> bool:
        value = self.columns[feature][row]
        return value == -1 if self.is_category[feature] else math.isnan(value)

    def _way(self, row: int, feature: int, what: Any, missing: int) -> int:
        if self._missing(row, feature):
            return missing
        value = self.columns[feature][row]
        return 1 - int(value in what if self.is_category[feature] else value <= what)

    def _splits(self, rows: list[int], feature: int, key: int) -> list[Any]:
        """All splits by a feature that are allowed: (score, feature, cut or set, where missing values go)."""
        lost = any(self._missing(row, feature) for row in rows)
        values = sorted({self.columns[feature][row] for row in rows if not self._missing(row, feature)})
        if self.is_category[feature]:
            candidates = self._sets(rows, feature, values, lost, key)
        else:
            candidates = []
            cuts = [middle(low, high) for low, high in pairwise(values)]
            if self.random_cuts and cuts:
                share = (hashed(key, 0) >> 10) * 2.0**-53
                cuts = [values[0] + share * (values[-1] - values[0])]
            if lost and values and not (self.random_cuts and cuts):
                cuts.append(math.inf)
            for missing in (RIGHT, LEFT) if lost else (STOP,):
                candidates += [(cut, missing) for cut in cuts if not (cut == math.inf and missing == LEFT)]
        out = []
        for what, missing in candidates:
            left = [row for row in rows if self._way(row, feature, what, missing) == 0]
            right = [row for row in rows if self._way(row, feature, what, missing) == 1]
            if min(sum(self.times[row] for row in side) for side in (left, right)) >= self.min_rows:
                out.append((self._score(left) + self._score(right), feature, what, missing))
        return out

    def _sets(self, rows: list[int], feature: int, values: list[float], lost: bool, key: int) -> list[Any]:
        """Sets of categories and the side of missing values, which are a level like any other."""
        categories = [int(value) for value in values] + ([255] if lost else [])
        if len(categories) < 2:
            return []
        level_of = {row: 255 if self._missing(row, feature) else self.columns[feature][row] for row in rows}
        of_category = {level: [row for row in rows if level_of[row] == level] for level in categories}
        orders = []
        if self.random_cuts:
            sides = {level: hashed(key, level) & 1 for level in categories}
            if len(set(sides.values())) == 1:
                some = categories[((hashed(key, 256) >> 31) * len(categories)) >> 32]
                sides[some] = 1 - sides[some]
            orders.append(([level for level in categories if not sides[level]], [level for level in categories if sides[level]]))
        else:
            several = self.n_classes > 2
            for turn in range(self.n_classes if several else 1):
                wanted = (turn if several else 1) if self.n_classes else None
                middle_of = self._median if self.criterion == "absolute_error" else lambda rows: self._mean(rows, wanted)  # noqa: B023
                order = sorted(categories, key=lambda level: middle_of(of_category[level]))
                orders += [(order[:k], order[k:]) for k in range(1, len(order))]
        return [(frozenset(left) - {255}, (LEFT if 255 in left else RIGHT) if lost else STOP) for left, _ in orders]

    def _mean(self, rows: list[int], wanted: int | None) -> float:
        weight = sum(self.times[row] for row in rows)
        value = sum(self.times[row] * (self.target[row] if wanted is None else int(self.target[row] == wanted)) for row in rows)
        return value / weight

    def _median(self, rows: list[int]) -> float:
        """The lower one of two."""
        targets = sorted(self.target[row] for row in rows for _ in range(self.times[row]))
        return targets[(len(targets) - 1) // 2]

    def _score(self, rows: list[int]) -> float:
        """The larger, the purer."""
        weight = sum(self.times[row] for row in rows)
        if self.criterion == "absolute_error":
            # From a number that is larger than any error of these cases.
            return 1e6 * weight - sum(self.times[row] * abs(self.target[row] - self._median(rows)) for row in rows)
        if self.criterion == "poisson":
            total = sum(self.times[row] * self.target[row] for row in rows)
            return total * math.log(total / weight) + 64.0 * weight if total > 0 else -math.inf
        if not self.n_classes:
            return sum(self.times[row] * self.target[row] for row in rows) ** 2 / weight
        of_class = [sum(self.times[row] for row in rows if self.target[row] == k) for k in range(self.n_classes)]
        if self.criterion == "gini":
            return sum(x * x for x in of_class) / weight
        # Shifted, so that scores are positive.
        return sum(x * math.log2(x) for x in of_class if x) - weight * math.log2(weight) + 64.0 * weight


def middle(low: float, high: float) -> float:
    """Midway, as long as that is a number between the two."""
    with np.errstate(invalid="ignore"):
        between = float(np.float64(low) / 2 + np.float64(high) / 2)
    return between if low <= between < high else low


def end_of(compact_forest: Any, tree: int, row: Sequence[float]) -> tuple[bool, int]:
    """Where a row ends in a tree of a `CompactForest`: (True, leaf), or (False, inner node) where the walk stops; numbered in the forest"""
    (base, first_leaf), (behind, _) = (tuple(int(x) for x in compact_forest.roots[k]) for k in (tree, tree + 1))
    left, right = compact_forest.children(tree)
    node = 0
    while node < behind - base:
        word, second = (int(x) for x in compact_forest.nodes[2 * (base + node) : 2 * (base + node) + 2])
        feature, missing, is_category = word >> 32 & 0xFFFFFF, word >> 56 & 3, word >> 58 & 1
        value = row[feature]
        if math.isnan(value) or (is_category and value == -1):
            way = missing
        elif is_category:
            sides = [sum(int(w) << (64 * k) for k, w in enumerate(compact_forest.words[at : at + 4])) for at in (second, second + 4)]
            way = next((k for k, categories in enumerate(sides) if value >= 0 and categories >> int(value) & 1), STOP)
        else:
            way = int(value > np.array(second, np.uint64).view(np.float64))
        if way == STOP:
            return False, base + node
        node = int((left, right)[way][node])
    return True, first_leaf + node - (behind - base)
