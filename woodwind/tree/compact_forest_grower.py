"""Grow the trees of a forest: what one compiled call needs, and what it leaves behind."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.forest_codes import ForestCodes
from woodwind.kernels.forest import layout as at
from woodwind.kernels.forest.best import MIN_GAIN
from woodwind.kernels.forest.layout import APART, ARENA, FEW_ROWS, SMALL_TABLE
from woodwind.kernels.forest.loop import grow_forest_tree
from woodwind.kernels.forest.memory import COUNTERS, LAYOUT, NODE_INTEGERS, NODE_VALUES
from woodwind.kernels.forest.score import CRITERIA
from woodwind.kernels.forest.sort import DIGIT
from woodwind.kernels.runtime.records import Memory
from woodwind.kernels.runtime.simd import LANES

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DEEPEST = 1 << 40
# Weights add up to less than 2**31: their squares fit into 64 bits, and a weight fits beside a count.
WEIGHT_BITS = 30
# Targets times weights add up to less than this.
SUM_BITS = 61


@dataclass(frozen=True)
class CompactForestSettings:
    """How trees of a forest are grown."""

    criterion: str = "gini"
    random_cuts: bool = False
    exact: bool = False  # every threshold is considered in large nodes too
    max_depth: int | None = None
    max_leaves: int | None = None  # best first, if there is a limit
    min_split: int = 2
    min_rows: int = 1
    min_weight_share: float = 0.0
    min_decrease: float = 0.0  # of the mean impurity of the tree's rows
    n_candidates: int = 1


@dataclass(frozen=True, eq=False)
class CompactForestRows:
    """What trees learn from: integers that are summed, and the numbers that leaves are made of."""

    target: Integers  # (n,) fixed point times weight; or the class
    weight: Integers  # (n,)
    real: Floats  # (2, n): target or class, and weight, as they came
    n_classes: int  # 0 for numbers
    target_unit: float = 1.0  # what one unit of a target is worth
    weight_unit: float = 1.0
    ranked: Integers | None = None  # (D,) for medians: fixed point of the distinct targets, ascending; `target` is then a rank
    several: "SeveralColumns | None" = None  # several targets: `target` is then the number of the row

    def take(self, rows: Integers) -> "CompactForestRows":
        """Some of the rows, in the same units."""
        some = replace(self, target=self.target[rows], weight=self.weight[rows], real=np.ascontiguousarray(self.real[:, rows]))
        several = self.several
        if several is None:
            return some
        real = several.real if several.n_classes else several.real[rows]
        return replace(some, target=np.arange(len(rows)), several=replace(several, columns=several.columns[rows], real=real))


@dataclass(frozen=True, eq=False)
class SeveralColumns:
    """Several targets as trees learn them: k columns, of which s sums are made."""

    columns: Integers  # (n, k) fixed point times weight; or which of the sums the class of a row adds to
    real: Floats  # (n, k) numbers as they came; none for labels
    factors: Floats  # (s,) what the square of a sum counts, in units of the target; one for labels
    n_classes: tuple[int, ...] = ()  # of each target; none for numbers

    @property
    def n_outputs(self) -> int:
        """Number of targets, k."""
        return int(self.columns.shape[1])

    @property
    def n_sums(self) -> int:
        """Numbers that a leaf says, s: the mean of each target, or the probability of each class of each."""
        return len(self.factors)

    @property
    def first_sums(self) -> Integers:
        """(k + 1,) where the sums of each target begin."""
        return np.concatenate([[0], np.cumsum(self.n_classes or np.ones(self.n_outputs))]).astype(np.int64)


NO_COLUMNS = SeveralColumns(np.zeros((1, 0), np.int64), np.zeros((1, 1)), np.zeros(0))


@dataclass(frozen=True, eq=False)
class CompactTree:
    """One tree as the kernel leaves it: I inner nodes and their leaves, one more."""

    nodes: NDArray[np.uint64]  # (2 I,)
    gain: Floats  # (I,): drop of the impurity, times the weight
    words: NDArray[np.uint64]  # (8 s,): sets of categories
    value: Floats  # (leaves, L): weight of each class, or the mean of the targets
    cover: Floats  # (leaves,)
    rows: NDArray[np.int32] | None  # training rows, leaf after leaf
    span: Integers | None  # (leaves + 1,): where those of each leaf begin

    @property
    def n_inner(self) -> int:
        """Inner nodes."""
        return len(self.gain)


def scored_by(rows: CompactForestRows, criterion: str) -> int:
    """The switch of the kernels for a criterion."""
    if rows.several is not None:
        return at.SEVERAL
    if rows.ranked is not None:
        return at.MEDIANS
    of_moments = criterion in ("squared_error", "poisson") or (criterion == "gini" and rows.n_classes == 2)
    return at.MOMENTS if of_moments else at.CLASSES


class CompactForestGrower:
    """Grows trees on one table, one after another, in the same memory; each thread has one of its own."""

    def __init__(self, codes: ForestCodes, rows: CompactForestRows, settings: CompactForestSettings, of_rows: int = 0) -> None:
        """`of_rows`: rows of the table, where the codes are those of some of its rows."""
        self.codes, self.rows, self.settings = codes, rows, settings
        n, n_features = codes.n_rows, codes.n_features
        self._criterion = CRITERIA[settings.criterion]
        self._poisson = settings.criterion == "poisson"
        self._scored_by = scored_by(rows, settings.criterion)
        several = NO_COLUMNS if rows.several is None else rows.several
        # Medians need the rows of a node in the order of targets: all nodes are in an arena.
        self._whole = rows.ranked is not None or settings.exact or settings.max_leaves is not None or max(n, of_rows) <= SMALL_TABLE
        self._room = max(n if self._whole else min(n, ARENA), 1)
        self._has_categories = bool((codes.n_categories > 0).any())
        one_each = bool((rows.weight == 1).all() and (rows.real[1] == 1.0).all())
        self._counted = one_each and rows.n_classes == 2 and self._scored_by == at.MOMENTS
        self._packed = self._counted and not self._has_categories
        # Random cuts are exact everywhere, and ask for the rows of every node side by side.
        few = LANES if rows.n_classes == 2 and self._scored_by == at.MOMENTS else FEW_ROWS
        self._exact = 0 if settings.random_cuts else n if self._whole else min(n, few)
        self._free = settings.min_rows <= 1 and settings.min_weight_share == 0.0
        all_numbers = settings.n_candidates >= n_features and not self._has_categories
        self._together = self._scored_by == at.MOMENTS and not self._poisson and not settings.random_cuts and self._free and all_numbers
        most = 2 * n if settings.max_leaves is None else min(2 * settings.max_leaves, 2 * n)
        room, k = self._room, max(rows.n_classes, 2, several.n_sums + 1)
        sizes = [part.size for part in codes.values]
        random = settings.random_cuts
        # Two classes are summed as the numbers 0 and 1, by weight.
        target = rows.target * rows.weight if self._scored_by == at.MOMENTS and rows.n_classes else rows.target
        self._most = max(room, 256 * k, n_features) + 1
        # Numbers are what random cuts lie between; all other cuts lie between codes.
        columns = codes.columns.reshape(-1) if random else np.zeros(1, np.int32)
        raw = codes.real.reshape(-1) if random else np.zeros(1)
        copied, stride = n_features * (room + APART), codes.fine.shape[1]
        n_sets = most if self._has_categories else 1
        ranked, by_target = (np.zeros(1, np.int64), 1) if rows.ranked is None else (rows.ranked, room + 2)
        self._space = Memory(
            LAYOUT,
            coarse=codes.coarse, fine=codes.fine.reshape(-1), is_category=(codes.n_categories > 0).astype(np.int64), span=codes.span,
            values=codes.numbers, values_at=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            target=target, weight=rows.weight, real=rows.real, target_columns=several.columns.reshape(-1),
            real_columns=several.real.reshape(-1), sum_factors=several.factors, first_sums=several.first_sums,
            pair=np.empty(2 * n, np.int64), code_columns=columns, rows=np.empty(n + 1, np.int32), places=np.empty(n + 1, np.int32),
            spare=np.empty(n + 1, np.int32), a_code=np.empty(1 if random else max(copied, room * stride), np.int32),
            a_raw=np.empty(copied if random else 1), a_pair=np.empty(2 * room, np.int64),
            fetched=np.zeros((2, n_features // at.LINE + 1), np.int64), keys=np.empty((2, room), np.int64),
            counts=np.empty(max(room, 1 << DIGIT) + 1, np.int32), node_pair=np.empty((2, n), np.int64), raw_rows=raw,
            ways=np.empty(n, np.uint8), items=np.empty(3 * self._most, np.int64), curve=np.empty((3, self._most)),
            coarse_rows=codes.coarse_rows.reshape(-1), a_coarse=np.empty(copied, np.uint8),
            lane_rows=np.empty(3 * LANES, np.int32), cells=np.empty(256 * k, np.int64), category_order=np.empty(256, np.int64),
            target_values=ranked, target_position=np.empty(ranked.size, np.int32), target_sums=np.empty((8, by_target), np.int64),
            target_order=np.empty(by_target, np.int32), class_weights=np.empty((2, k), np.int64),
            category_keys=np.empty(256), drawn=np.empty(3 * n_features, np.int32), best=np.empty(8, np.int64),
            best_f=np.empty(3), best_set=np.empty((2, 8), np.uint64), control=np.zeros(64, np.int64),
            node_i=np.empty((most + 2, NODE_INTEGERS), np.int64), node_f=np.empty((most + 2, NODE_VALUES)),
            sets=np.empty((n_sets, 8), np.uint64), heap=np.empty(2 * most + 8, np.int64),
            out_nodes=np.empty(most + 2, np.uint64), out_gain=np.empty(most // 2 + 1),
            out_value=np.empty((most // 2 + 1, max(rows.n_classes, several.n_sums, 1))), out_cover=np.empty(most // 2 + 1),
            out_span=np.empty(most // 2 + 2, np.int64),
        )  # fmt: skip

    def grow(self, times: NDArray[np.int32], key: int, keep_rows: bool = False) -> CompactTree:
        """Grow a tree from rows that count so many times; all that is drawn follows from the key."""
        total = int((times * self.rows.weight).sum())
        logs = self._criterion.table(total)
        self._space.put("times", times)
        self._space.put("logs", logs)
        unit = self._gain_unit(self._criterion.scale(logs))
        self._set_rule(key, total, unit)
        grow_forest_tree(self._space.directory)
        return self._finished(unit, keep_rows)

    def _set_rule(self, key: int, total: int, unit: float) -> None:
        settings, rows = self.settings, self.rows
        # Codes are asked for in small nodes, whose rows stand anywhere in the arena: row after row they share lines of the cache. Where
        # large nodes ask for them too, column after column.
        along, across = (1, self._room + APART) if self._whole else (self.codes.fine.shape[1], 1)
        self._space.set_numbers(
            n_rows=self.codes.n_rows, n_features=self.codes.n_features, stride=self.codes.fine.shape[1], room=self._room + APART,
            most_items=self._most, arena_limit=self._room, criterion=self._scored_by, is_poisson=self._poisson, n_classes=rows.n_classes,
            random_splits=settings.random_cuts, best_first=settings.max_leaves is not None, max_leaves=settings.max_leaves or DEEPEST,
            max_depth=settings.max_depth or DEEPEST, min_split=settings.min_split, min_rows=settings.min_rows,
            min_weight=math.ceil(settings.min_weight_share * total), no_limits=self._free, n_candidates=settings.n_candidates, key=key,
            exact_rows=self._exact, has_categories=self._has_categories, along=along, across=across, all_at_once=self._together,
            is_counted=self._counted, is_packed=self._packed,
        )  # fmt: skip
        if rows.several is not None:
            several = rows.several
            self._space.set_numbers(n_outputs=several.n_outputs, n_sums=several.n_sums, is_labels=len(several.n_classes) > 0)
        least = settings.min_decrease * total * rows.weight_unit / unit
        # Without a limit a node is split as long as it is impure, even where rounding makes a gain of nothing negative.
        self._space["best_f"][MIN_GAIN] = least if least > 0.0 else -np.inf

    def _gain_unit(self, scale: float) -> float:
        """What one unit of the kernel's gain is worth, in units of impurity times weight."""
        rows = self.rows
        if rows.several is not None:  # the mean over the targets
            one = rows.weight_unit / scale if rows.several.n_classes else rows.target_unit**2 / rows.weight_unit
            return one / rows.several.n_outputs
        if self._scored_by == at.CLASSES:
            return rows.weight_unit / scale
        if rows.n_classes == 2:
            return 2.0 * rows.weight_unit  # the Gini index is twice the squared error of a class that is 0 or 1
        if self._poisson or self._scored_by == at.MEDIANS:
            return rows.target_unit
        return rows.target_unit**2 / rows.weight_unit

    def _finished(self, unit: float, keep_rows: bool) -> CompactTree:
        """Copy the finished tree out of the memory that the next one is grown in."""
        arrays = self._space
        n_inner, n_leaves, n_sets, n_rows = (
            int(arrays["control"][COUNTERS.at[name]]) for name in ("n_inner", "n_leaves", "n_sets", "n_tree_rows")
        )
        return CompactTree(
            nodes=arrays["out_nodes"][: 2 * n_inner].copy(),
            gain=arrays["out_gain"][:n_inner] * unit,
            words=arrays["sets"][:n_sets].reshape(-1).copy(),
            value=arrays["out_value"][:n_leaves].copy(),
            cover=arrays["out_cover"][:n_leaves].copy(),
            rows=arrays["rows"][:n_rows].copy() if keep_rows else None,
            span=arrays["out_span"][: n_leaves + 1].copy() if keep_rows else None,
        )
