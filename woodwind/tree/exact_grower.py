"""Grow trees that consider every threshold, from ranks and wide integer statistics; an affair of one process, in memory."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.fixed import largest_of, sum_scale
from woodwind.base.pool import LEAST_WORK, on_threads, run_ranges
from woodwind.base.random_streams import choose, key
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranks
from woodwind.data.binning.sketch import midpoints
from woodwind.kernels.exact import memory as at
from woodwind.kernels.exact.loop import grow_exact
from woodwind.kernels.exact.memory import MISSING_RANK, ROW_MASK, ExactRule
from woodwind.kernels.exact.score import CRITERIA
from woodwind.kernels.predict import walk_ranks as kernels
from woodwind.kernels.runtime.records import Memory
from woodwind.kernels.runtime.team import begin_call
from woodwind.kernels.tree import constraints, nodes
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import DEEP_FIRST, STOP
from woodwind.tree.grown_tree import GrownTree, ValuedTree
from woodwind.tree.settings import DEEPEST, ORDERS, TreeSettings, group_bits

# Columns of nodes.
COLUMN, VALUE = nodes.COLUMNS.at, constraints.VALUES.at

# The square of a sum of weights up to this fits into 64 bits.
NARROW = 1 << 31
# Weights up to this sum look their logarithms up: 8 MB.
MOST_LOGS = 1 << 20
# Sums of this many bits leave room for the rounding of every row.
SUM_BITS = 62

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class SplitCriterion:
    """How a plain tree differs from one that is boosted."""

    criterion: str = "newton"
    n_classes: int = 0  # or outputs; 0 for one gradient and hessian
    min_split: int = 2  # rows of a node that may be split
    # A tree of its own goes on while a node is impure, even through a split that gains nothing by itself, and draws features
    # until one can be split. A boosted tree stops: the next one has another try.
    thorough: bool = False


BOOSTED = SplitCriterion()


@dataclass(frozen=True, eq=False)
class RowStats:
    """Four integers for each row (n, 4), as in `kernels/exact/memory.py`, and what one unit of the first two is worth.

    For a tree of several outputs their gradients (n, K) beside that, and the hessian that they share.
    """

    rows: Integers
    gradient_unit: float
    hessian_unit: float
    gradients: Integers | None = None

    @classmethod
    def of(cls, gradient: Floats, hessian: Floats, times: Integers | None = None) -> "RowStats":
        """Turn derivatives into the widest integers whose sums fit; a row stands for `times` rows (0: absent)."""
        n = len(gradient) if times is None else max(int(times.sum()), 1)
        scales = [sum_scale(largest_of(values), n, SUM_BITS) for values in (gradient, hessian)]
        rows = np.empty((len(gradient), at.STATS_WIDTH), np.int64)
        for column, (values, scale) in enumerate(zip((gradient, hessian), scales, strict=True)):
            rows[:, column] = np.rint(values * scale)
            if times is not None:
                rows[:, column] *= times
        rows[:, at.X_COUNT] = 1 if times is None else times
        rows[:, at.X_LABEL] = mixed_bits(gradient, hessian)
        return cls(rows, 1.0 / scales[0], 1.0 / scales[1])

    @classmethod
    def of_outputs(cls, gradient: Floats, hessian: Floats, times: Integers | None = None) -> "RowStats":
        """The same for derivatives of several outputs (n, K): they share half the sum of their hessians, as in histograms."""
        shared = 0.5 * hessian.sum(axis=1)
        one = cls.of(np.zeros(len(shared)), shared, times)
        scale = sum_scale(largest_of(gradient), len(shared) if times is None else max(int(times.sum()), 1), SUM_BITS)
        gradients = np.rint(gradient * scale).astype(np.int64)
        label = mixed_bits(np.zeros(len(shared)), shared)
        for k in range(gradient.shape[1]):
            label = label * 0x9E3779B1 ^ gradients[:, k]
        one.rows[:, at.X_LABEL] = label
        return replace(one, gradient_unit=1.0 / scale, gradients=gradients if times is None else gradients * times[:, None])

    @classmethod
    def unpacked(cls, stats: Integers, scales: Floats, times: Integers | None = None) -> "RowStats":
        """The packed statistics of histogram growth."""
        rows = np.empty((len(stats), at.STATS_WIDTH), np.int64)
        rows[:, at.X_GRADIENT] = stats >> 32
        rows[:, at.X_HESSIAN] = stats & 0xFFFFFFFF
        rows[:, at.X_COUNT] = 1
        if times is not None:
            rows[:, :3] *= times[:, None]
        rows[:, at.X_LABEL] = stats
        return cls(rows, 1.0 / float(scales[0]), 1.0 / float(scales[1]))


def mixed_bits(gradient: Floats, hessian: Floats) -> Integers:
    """A number for each row that tells different derivatives apart; those of rows that a tree cannot improve on are equal."""
    return gradient.view(np.int64) ^ (hessian.view(np.int64) * 0x9E3779B1)


class ExactGrower:
    """Grows trees on one ranked table, one after another, in the same memory: `HistogramGrower` for exact codes.

    `grow_from(gradient, hessian, tree_key, rows)` takes derivatives as they are, in wide integers;
    `grow(scales, tree_key, rows)` takes the packed `stats` that histogram growth takes.
    """

    def __init__(self, ranks: Ranks, settings: TreeSettings, threads: int = 1, split_criterion: SplitCriterion = BOOSTED) -> None:
        if settings.growth == "symmetric":
            raise ParameterError(
                "growth='symmetric' needs bins: with max_bins=None every node has thresholds of its own. "
                "Give max_bins=255, or growth='level'."
            )
        if settings.gradient_noise > 0.0:
            raise ParameterError("gradient_noise needs bins: with max_bins=None gradients are taken as they are. Give max_bins=255, or 0.")
        self.ranks, self.settings, self.split_criterion = ranks, settings, split_criterion
        n, n_features = ranks.n_rows, ranks.n_features
        self.threads = threads if n * n_features >= LEAST_WORK // 2 else 1
        most = n  # a leaf has a row at least; one row may count for several
        if settings.max_depth is not None:
            most = min(most, 1 << min(settings.max_depth, 40))
        self.max_leaves = min(settings.max_leaves, most)
        self._stats: Integers | None = None
        # Where no limit can be met, the order of growth changes nothing; going deep first keeps the rows in the cache.
        self._order = DEEP_FIRST if settings.max_leaves >= most else ORDERS[settings.growth]
        # No node has more values than there are.
        most_values = int(ranks.n_codes.max(initial=1)) + 1
        self._candidate_bins = min(settings.candidate_bins, most_values) if settings.candidates == "local" else 0
        self._space = self._room(2 * self.max_leaves + 2)

    def stats_to_fill(self) -> Integers:
        """(g << 32) + h of every row: to be filled before `grow`."""
        if self._stats is None:
            self._stats = np.empty(self.ranks.n_rows, np.int64)
        return self._stats

    def grow(self, scales: Floats, tree_key: int, rows: NDArray[np.int32] | None = None, constant_hessian: bool = False) -> GrownTree:
        """Grow a tree from the packed `stats` of the rows given, a row as often as it is given, or from all."""
        return self.grow_stats(RowStats.unpacked(self.stats_to_fill(), scales, self._times(rows)), tree_key)

    def grow_from(self, gradient: Floats, hessian: Floats, tree_key: int, rows: NDArray[np.int32] | None = None) -> GrownTree:
        """Grow a tree from derivatives (n,) of the rows given, a row as often as it is given, or from all."""
        return self.grow_stats(RowStats.of(gradient, hessian, self._times(rows)), tree_key)

    def grow_stats(self, stats: RowStats, tree_key: int, among: Integers | None = None) -> GrownTree:
        """Grow a tree from integer statistics. `tree_key` is the key of all that is drawn; `among`: features it may use, ascending."""
        space, ranks = self._space, self.ranks
        space.put("stats", stats.rows.reshape(-1))
        if stats.gradients is not None:
            space.put("gradients", stats.gradients.reshape(-1))
        features: Integers = np.arange(ranks.n_features, dtype=np.int64) if among is None else among
        per_tree = self.settings.features_per_tree
        if per_tree is not None and per_tree < len(features):
            features = features[choose(key(tree_key, "tree features"), len(features), per_tree)]
        space.put("features", features)
        rule = self._rule(stats, tree_key)
        begin_call(space["control"])
        self._begin_tree(stats, rule)
        # The kernel hashes modulo 2**64: with the compiler off, NumPy would report it.
        with np.errstate(over="ignore"):
            on_threads(lambda thread: grow_exact(space.directory, rule, thread, self.threads), self.threads)
        return self._finished(stats)

    def _times(self, rows: NDArray[np.int32] | None) -> Integers | None:
        """How often each row is given."""
        return None if rows is None else np.bincount(rows, minlength=self.ranks.n_rows).astype(np.int64)

    def _room(self, n_nodes: int) -> Memory:
        """Memory for trees of so many nodes."""
        ranks, threads, classes = self.ranks, self.threads, max(self.split_criterion.n_classes, 2)
        n, n_features = ranks.n_rows, ranks.n_features
        member = group_bits(self.settings.groups, n_features)
        monotonic = np.zeros(n_features, np.int64) if self.settings.monotonic is None else self.settings.monotonic
        return Memory(
            at.LAYOUT,
            ranks=ranks.by_column.reshape(-1),
            order=ranks.order.reshape(-1),
            is_category=ranks.is_category.astype(np.int64),
            monotonic=np.ascontiguousarray(monotonic, np.int64),
            member=member,
            lists=np.empty((n_features, n), np.int64),
            rows=np.empty(n, np.int64),
            goes=np.empty(n, np.uint8),
            spare=np.empty((threads, n), np.int64),
            node_i=np.empty((n_nodes, at.NODE_INTEGERS), np.int64),
            node_f=np.empty((n_nodes, at.NODE_VALUES), np.float64),
            groups=np.empty((n_nodes, member.shape[1]), np.uint64),
            sets=np.empty((n_nodes if ranks.is_category.any() else 1, 8), np.uint64),
            heap=np.empty(n_nodes, np.int64),
            control=np.zeros(64, np.int64),
            totals=np.empty((2 + threads, at.T_CLASSES + classes), np.int64),
            siblings=np.empty((2, 4), np.int64),
            drawn=np.empty((2, n_features), np.int64),
            split_i=np.empty((2 * n_features, at.SPLIT_INTEGERS), np.int64),
            split_f=np.zeros((2 * n_features, at.SPLIT_VALUES_WIDTH), np.float64),
            split_sets=np.empty((2 * n_features, 8), np.uint64),
            curves=np.empty((threads, at.BLOCK), np.float64),
            places=np.empty((threads * at.PLACE_ROWS, at.BLOCK), np.int64),
            levels=np.empty((threads * 256 if ranks.is_category.any() else 1, at.T_CLASSES + classes), np.int64),
            bin_places=np.empty((2 * threads, self._candidate_bins + 1), np.int64),
            bin_stats=np.empty((threads, (self._candidate_bins + 1) * at.STATS_WIDTH), np.int64),
            bin_gradients=np.empty((threads, (self._candidate_bins + 1) * classes), np.int64),
            gradients=np.zeros(1, np.int64),
            logs=np.zeros(1, np.int64),
        )

    def _rule(self, stats: RowStats, tree_key: int) -> ExactRule:
        settings, split_criterion, every = self.settings, self.split_criterion, self.ranks.n_features
        thorough = split_criterion.thorough
        bounded = settings.holds_values
        weight = int(stats.rows[:, at.X_HESSIAN].sum()) if CRITERIA[split_criterion.criterion].impurity is not None else 0
        # x log2 x of the whole weight takes at most 60 bits.
        log_bits = 60 - math.ceil(math.log2(max(weight, 2) * math.log2(max(weight, 2))))
        plain = settings.l1 == 0.0 and not bounded
        return ExactRule(
            n_rows=self.ranks.n_rows,
            criterion=CRITERIA[split_criterion.criterion].switch,
            n_classes=split_criterion.n_classes,
            order=self._order,
            max_leaves=self.max_leaves,
            max_depth=DEEPEST if settings.max_depth is None else settings.max_depth,
            min_split=max(int(split_criterion.min_split), int(settings.min_split)),
            min_rows=max(1, math.ceil(settings.min_rows)),
            min_hessian=float(settings.min_hessian),
            min_gain=0.0 if settings.prune else float(settings.min_gain),
            thorough=thorough,
            any_gain=thorough and plain and settings.min_gain == 0.0,
            plain=plain,
            narrow=CRITERIA[split_criterion.criterion].follows_rows and (split_criterion.criterion != "gini" or weight <= NARROW),
            log_scale=2.0**log_bits,
            l1=float(settings.l1),
            l2=float(settings.l2),
            category_l2=float(settings.category_l2),
            category_smooth=float(settings.category_smooth),
            path_smooth=float(settings.path_smooth),
            gradient_unit=stats.gradient_unit,
            hessian_unit=stats.hessian_unit,
            n_candidates=settings.features_per_node or every,
            level_candidates=settings.features_per_level or every,
            candidate_bins=self._candidate_bins,
            patient=thorough,
            seed=tree_key,
            bounded=bounded,
            grouped=settings.groups is not None,
        )

    def _begin_tree(self, stats: RowStats, rule: ExactRule) -> None:
        """One node with all rows of the tree, and a table of logarithms where the weights are small enough for one."""
        space = self._space
        rows = np.flatnonzero(stats.rows[:, at.X_COUNT] > 0)
        space["rows"][: len(rows)] = rows
        for one in ("n_nodes", "n_leaves"):
            space["control"][common.CONTROL.at[one]] = 1
        root, real = space["node_i"][0], space["node_f"][0]
        root[:] = -1
        for column, value in (("depth", 0), ("begin", 0), ("end", len(rows)), ("missing", STOP), ("key", rule.seed), ("number", 0)):
            root[COLUMN[column]] = value
        real[:] = 0.0
        real[VALUE["low"]], real[VALUE["high"]], real[VALUE["value"]] = -self.settings.longest_step, self.settings.longest_step, np.nan
        space["groups"][0] = ~np.uint64(0)
        weight = int(stats.rows[:, at.X_HESSIAN].sum()) if CRITERIA[self.split_criterion.criterion].uses_logs else 0
        space.put("logs", np.zeros(weight + 1 if weight <= MOST_LOGS else 1, np.int64))

    def _finished(self, stats: RowStats) -> GrownTree:
        """Copy the finished tree out of the memory that the next one is grown in."""
        space = self._space
        n_nodes = int(space["control"][common.CONTROL.at["n_nodes"]])
        grown, real = space["node_i"][:n_nodes], space["node_f"][:n_nodes]
        sequence = np.arange(n_nodes)
        if self._order == DEEP_FIRST:
            # Level by level: of one level, nodes stand in the order of their positions.
            sequence = np.lexsort((grown[:, COLUMN["begin"]], grown[:, COLUMN["depth"]]))
        number = np.empty(n_nodes, np.int32)
        number[sequence] = np.arange(n_nodes)
        grown, real = grown[sequence], real[sequence]
        split = grown[:, COLUMN["child"]] >= 0
        child = np.where(split, number[grown[:, COLUMN["child"]]], 0).astype(np.int32)
        of_set = np.where(split, grown[:, COLUMN["category_set"]], -1)
        category = of_set >= 0
        sets = space["sets"][of_set[category]]
        of_set[category] = np.arange(len(sets))
        begin, end = grown[:, COLUMN["begin"]].copy(), grown[:, COLUMN["end"]].copy()
        rows = space["rows"][: int(end[0])].copy()
        leaves = np.flatnonzero(~split)
        leaves = leaves[np.argsort(begin[leaves])]
        leaf_of_row = np.zeros(self.ranks.n_rows, np.int32)
        leaf_of_row[rows] = np.repeat(leaves, (end - begin)[leaves])
        sums = node_sums(stats.rows[rows, :3], begin, end)
        return GrownTree(
            feature=np.where(split, grown[:, COLUMN["feature"]], -1).astype(np.int32),
            bin=np.where(split, grown[:, COLUMN["bin"]], 0),
            child=child,
            missing=np.where(split, grown[:, COLUMN["missing"]], STOP).astype(np.uint8),
            set=of_set,
            sets=sets,
            gain=np.where(split, real[:, VALUE["gain"]], 0.0),
            gradient=real_of(sums[:, 0], stats.gradient_unit),
            hessian=real_of(sums[:, 1], stats.hessian_unit),
            count=sums[:, 2].copy(),
            low=real[:, VALUE["low"]].copy(),
            high=real[:, VALUE["high"]].copy(),
            begin=begin,
            end=end,
            rows=rows,
            leaf_of_row=leaf_of_row,
        )


def node_sums(values: Integers, begin: Integers, end: Integers) -> Integers:
    """Sums of the rows begin to end of `values`, for every node: differences of running sums, exact in integers."""
    running = np.zeros((len(values) + 1, *values.shape[1:]), np.int64)
    np.cumsum(values, axis=0, out=running[1:])
    return running[end] - running[begin]


def real_of(sums: Integers, unit: float) -> Floats:
    """What integer sums are worth."""
    return sums.astype(np.float64) * unit


def class_weights(tree: GrownTree, stats: RowStats, n_classes: int) -> Floats:
    """Weight of each class in every node (N, K)."""
    of_class, weight = stats.rows[tree.rows, at.X_GRADIENT], stats.rows[tree.rows, at.X_HESSIAN]
    sums = [node_sums(np.where(of_class == k, weight, 0), tree.begin, tree.end) for k in range(n_classes)]
    return real_of(np.column_stack(sums), stats.hessian_unit)


# ----------------------------------------------------------------------------------------------------
# Ranks to thresholds, and thresholds to ranks.
#
# While a tree is on ranks, the `bin` of a number split holds two of them: (of the next value in the node above the cut << 32) + of the last
# one below.


def ranks_of_codes(codes: Codes) -> Ranks:
    """The codes of bins as ranks: trees then consider the edges of the bins only."""
    by_column = codes.by_column.astype(np.int32, order="C")
    by_column[by_column >= codes.width - 1] = -1
    order = np.empty_like(by_column)
    for feature, column in enumerate(codes.by_column):
        order[feature] = np.argsort(column, kind="stable")  # the code of a missing value is the largest
    return Ranks(by_column, order, (np.empty(0),) * len(by_column), codes.n_bins, codes.is_category)


def thresholds(tree: GrownTree, ranks: Ranks, cuts: Cuts | None = None) -> Floats:
    """Where each number split cuts: midway between the neighbours in the node, or, with cuts, at the middle edge between them.

    A split that parts all numbers from missing values cuts at infinity.
    """
    out = np.zeros(len(tree.feature))
    below, above = tree.bin & ROW_MASK, tree.bin >> 32
    for feature in np.unique(tree.feature[(tree.feature >= 0) & (tree.set < 0)]):
        here = np.flatnonzero(tree.feature == feature)
        low, high = below[here], above[here]
        if cuts is None:
            values = ranks.values[feature]
            found = midpoints(values[low], values[np.minimum(high, len(values) - 1)])
        else:
            edges = np.append(cuts.edges[feature], np.inf)
            found = edges[np.minimum((low + high - 1) // 2, len(edges) - 1)]
        out[here] = np.where(high == MISSING_RANK, np.inf, found)
    return out


def last_ranks(tree: ValuedTree, ranks: Ranks) -> Integers:
    """The last rank of this table that goes left at each number split, whether or not the node has seen it."""
    assert tree.threshold is not None
    out = np.zeros(len(tree.feature), np.int64)
    for feature in np.unique(tree.feature[(tree.feature >= 0) & (tree.set < 0)]):
        here = tree.feature == feature
        out[here] = np.searchsorted(ranks.values[feature], tree.threshold[here], side="right") - 1
    return out


def walk_ranks(tree: ValuedTree, ranks: Ranks, out: NDArray[np.int32], threads: int = 1) -> None:
    """Write the node where each row ends to `out`; rows are of the table that the tree was grown on or of another."""
    rank_tree = kernels.RankTree(tree.feature, last_ranks(tree, ranks), tree.child, tree.missing, tree.set, tree.sets)
    flat = ranks.by_column.reshape(-1)
    run_ranges(lambda begin, end: kernels.walk_ranks(flat, rank_tree, begin, end, out), ranks.n_rows, threads, 8)
