"""Grow the trees of a forest: what one compiled call needs, and what it leaves behind."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.grades import Grades
from woodwind.kernels.forest import memory as at
from woodwind.kernels.forest.loop import grow_grove_tree
from woodwind.kernels.forest.memory import APART, ARENA, FEW_ROWS, SMALL_TABLE
from woodwind.kernels.forest.sort import DIGIT
from woodwind.kernels.runtime.simd import LANES

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DEEPEST = 1 << 40
# Weights add up to less than 2**31: their squares fit into 64 bits, and a weight fits beside a count.
WEIGHT_BITS = 30
# Targets times weights add up to less than this.
SUM_BITS = 61
# Weights up to this sum look their logarithms up: 8 MB.
MOST_LOGS = 1 << 20

CRITERIA = {"squared_error": at.MOMENTS, "gini": at.GINI, "entropy": at.ENTROPY}


@dataclass(frozen=True)
class GroveSettings:
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
class GroveRows:
    """What trees learn from: integers that are summed, and the numbers that leaves are made of."""

    target: Integers  # (n,) fixed point times weight; or the class
    weight: Integers  # (n,)
    real: Floats  # (2, n): target or class, and weight, as they came
    n_classes: int  # 0 for numbers
    target_unit: float = 1.0  # what one unit of a target is worth
    weight_unit: float = 1.0


@dataclass(frozen=True, eq=False)
class GroveTree:
    """One tree as the kernel leaves it: I inner nodes and their leaves, one more."""

    nodes: NDArray[np.uint64]  # (2 I,)
    gain: Floats  # (I,): drop of the impurity, times the weight
    words: NDArray[np.uint64]  # (8 s,): sets of levels
    value: Floats  # (leaves, L): weight of each class, or the mean of the targets
    cover: Floats  # (leaves,)
    rows: NDArray[np.int32] | None  # training rows, leaf after leaf
    span: Integers | None  # (leaves + 1,): where those of each leaf begin

    @property
    def n_inner(self) -> int:
        """Inner nodes."""
        return len(self.gain)


class GroveGrower:
    """Grows trees on one table, one after another, in the same memory; each thread has one of its own."""

    def __init__(self, grades: Grades, rows: GroveRows, settings: GroveSettings) -> None:
        self.grades, self.rows, self.settings = grades, rows, settings
        n, n_features = grades.n_rows, grades.n_features
        self._criterion = CRITERIA[settings.criterion]
        if self._criterion == at.GINI and rows.n_classes == 2:
            self._criterion = at.MOMENTS
        self._whole = settings.exact or settings.max_leaves is not None or n <= SMALL_TABLE
        self._room = max(n if self._whole else min(n, ARENA), 1)
        self._levels = bool((grades.n_levels > 0).any())
        one_each = bool((rows.weight == 1).all() and (rows.real[1] == 1.0).all())
        self._counted = one_each and rows.n_classes == 2 and self._criterion == at.MOMENTS
        self._packed = self._counted and not self._levels
        # Random cuts are exact everywhere, and ask for the rows of every node side by side.
        few = LANES if rows.n_classes == 2 and self._criterion == at.MOMENTS else FEW_ROWS
        self._exact = 0 if settings.random_cuts else n if self._whole else min(n, few)
        self._free = settings.min_rows <= 1 and settings.min_weight_share == 0.0
        all_numbers = settings.n_candidates >= n_features and not self._levels
        self._together = self._criterion == at.MOMENTS and not settings.random_cuts and self._free and all_numbers
        most = 2 * n if settings.max_leaves is None else min(2 * settings.max_leaves, 2 * n)
        self._addresses = np.zeros(3 * at.ENTRIES + at.RULE_NUMBERS, np.int64)
        self._arrays: dict[str, NDArray[Any]] = {}
        room, k = self._room, max(rows.n_classes, 2)
        values = np.concatenate([*grades.values, np.zeros(1)])
        sizes = [part.size for part in grades.values]
        random = settings.random_cuts
        # Two classes are summed as the numbers 0 and 1, by weight.
        target = rows.target * rows.weight if self._criterion == at.MOMENTS and rows.n_classes else rows.target
        self._most = max(room, 256 * k, n_features) + 1
        # Numbers are what random cuts lie between; all other cuts lie between codes.
        columns = grades.columns.reshape(-1) if random else np.zeros(1, np.int32)
        raw = grades.real.reshape(1, -1) if random else np.zeros((1, 1))
        copied, stride = n_features * (room + APART), grades.fine.shape[1]
        coarse_rows = np.zeros((1, n * stride), np.uint8)
        coarse_rows.reshape(n, stride)[:, :n_features] = grades.coarse.T
        n_sets = most if self._levels else 1
        self._put(
            coarse=grades.coarse, fine=grades.fine.reshape(-1), category=(grades.n_levels > 0).astype(np.int64), span=grades.span,
            values=values[None], values_at=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            target=target, weight=rows.weight, real=rows.real,
            pair=np.empty(2 * n, np.int64), code_columns=columns, rows=np.empty(n + 1, np.int32), places=np.empty(n + 1, np.int32),
            spare=np.empty(n + 1, np.int32), a_code=np.empty(1 if random else max(copied, room * stride), np.int32),
            a_raw=np.empty((1, copied if random else 1)), a_pair=np.empty(2 * room, np.int64),
            fetched=np.zeros((2, n_features // at.LINE + 1), np.int64), keys=np.empty((2, room), np.int64),
            counts=np.empty(max(room, 1 << DIGIT) + 1, np.int32), node_pair=np.empty((2, n), np.int64), raw_rows=raw,
            ways=np.empty((1, n), np.uint8), items=np.empty(3 * self._most, np.int64), curve=np.empty((3, self._most)),
            coarse_rows=coarse_rows, a_coarse=np.empty((1, copied), np.uint8),
            lane_rows=np.empty(3 * LANES, np.int32), cells=np.empty(256 * k, np.int64), level_order=np.empty((1, 256), np.int64),
            level_keys=np.empty((1, 256)),
            sides=np.empty((2, k), np.int64), drawn=np.empty(3 * n_features, np.int32), best=np.empty(8, np.int64),
            best_f=np.empty((1, 4)), best_set=np.empty((2, 8), np.uint64), control=np.zeros(16, np.int64),
            node_i=np.empty((most + 2, at.NODE_INTEGERS), np.int64), node_f=np.empty((most + 2, at.NODE_FLOATS)),
            sets=np.empty((n_sets, 8), np.uint64), heap=np.empty(2 * most + 8, np.int64),
            out_nodes=np.empty(most + 2, np.uint64), out_gain=np.empty((1, most // 2 + 1)),
            out_value=np.empty((most // 2 + 1, max(rows.n_classes, 1))), out_cover=np.empty((1, most // 2 + 1)),
            out_span=np.empty(most // 2 + 2, np.int64),
        )  # fmt: skip

    def _put(self, **arrays: NDArray[Any]) -> None:
        """Keep arrays and note their addresses."""
        for name, array in arrays.items():
            if not array.flags.c_contiguous:
                raise ValueError(f"{name} must be contiguous")
            self._arrays[name] = array
            start = 3 * getattr(at, name.upper())
            self._addresses[start : start + 3] = (array.ctypes.data, len(array), array.shape[-1])

    def grow(self, times: NDArray[np.int32], key: int, keep_rows: bool = False) -> GroveTree:
        """Grow a tree from rows that count so many times; all that is drawn follows from the key."""
        total = int((times * self.rows.weight).sum())
        logs = np.zeros(0, np.int64)
        if self._criterion == at.ENTROPY:
            x = np.arange(1, min(total, MOST_LOGS) + 1, dtype=np.float64)
            # x log2 x of the whole weight takes at most 60 bits.
            places = 60 - math.ceil(math.log2(max(total, 2) * math.log2(max(total, 2))))
            logs = np.concatenate([[places, 0], np.rint(x * np.log2(x) * 2.0**places)]).astype(np.int64)
        self._put(times=times, logs=logs)
        unit = self._gain_unit(2.0 ** (float(logs[0]) if logs.size else 0.0))
        self._set_rule(key, total, unit)
        grow_grove_tree(self._addresses)
        return self._finished(unit, keep_rows)

    def _set_rule(self, key: int, total: int, unit: float) -> None:
        settings, rows, fields = self.settings, self.rows, self._addresses
        # Codes are asked for in small nodes, whose rows stand anywhere in the arena: row after row they share lines of the cache. Where
        # large nodes ask for them too, column after column.
        along, across = (1, self._room + APART) if self._whole else (self.grades.fine.shape[1], 1)
        for place, value in (
            (at.R_N_ROWS, self.grades.n_rows), (at.R_N_FEATURES, self.grades.n_features), (at.R_STRIDE, self.grades.fine.shape[1]),
            (at.R_ROOM, self._room + APART), (at.R_MOST, self._most), (at.R_LIMIT, self._room), (at.R_CRITERION, self._criterion),
            (at.R_N_CLASSES, rows.n_classes), (at.R_RANDOM_CUTS, settings.random_cuts), (at.R_BEST_FIRST, settings.max_leaves is not None),
            (at.R_MAX_LEAVES, settings.max_leaves or DEEPEST), (at.R_MAX_DEPTH, settings.max_depth or DEEPEST),
            (at.R_MIN_SPLIT, settings.min_split), (at.R_MIN_ROWS, settings.min_rows),
            (at.R_MIN_WEIGHT, math.ceil(settings.min_weight_share * total)),
            (at.R_PLAIN, self._free),
            (at.R_N_CANDIDATES, settings.n_candidates), (at.R_KEY, key), (at.R_EXACT, self._exact), (at.R_LEVELS, self._levels),
            (at.R_ALONG, along), (at.R_ACROSS, across), (at.R_TOGETHER, self._together),
            (at.R_COUNTED, self._counted), (at.R_PACKED, self._packed),
        ):  # fmt: skip
            fields[place] = value
        least = settings.min_decrease * total * rows.weight_unit / unit
        # Without a limit a node is split as long as it is impure, even where rounding makes a gain of nothing negative.
        self._arrays["best_f"][0, at.BF_MIN_GAIN] = least if least > 0.0 else -np.inf

    def _gain_unit(self, log_scale: float) -> float:
        """What one unit of the kernel's gain is worth, in units of impurity times weight."""
        rows = self.rows
        if self._criterion == at.ENTROPY:
            return rows.weight_unit / log_scale
        if self._criterion == at.GINI:
            return rows.weight_unit
        if rows.n_classes == 2:
            return 2.0 * rows.weight_unit  # the Gini index is twice the squared error of a class that is 0 or 1
        return rows.target_unit**2 / rows.weight_unit

    def _finished(self, unit: float, keep_rows: bool) -> GroveTree:
        """Copy the finished tree out of the memory that the next one is grown in."""
        arrays = self._arrays
        control = arrays["control"]
        n_inner, n_leaves, n_sets = (int(control[c]) for c in (at.C_INNER, at.C_LEAVES, at.C_SETS))
        return GroveTree(
            nodes=arrays["out_nodes"][: 2 * n_inner].copy(),
            gain=arrays["out_gain"][0, :n_inner] * unit,
            words=arrays["sets"][:n_sets].reshape(-1).copy(),
            value=arrays["out_value"][:n_leaves].copy(),
            cover=arrays["out_cover"][0, :n_leaves].copy(),
            rows=arrays["rows"][: int(control[at.C_ROWS])].copy() if keep_rows else None,
            span=arrays["out_span"][: n_leaves + 1].copy() if keep_rows else None,
        )
