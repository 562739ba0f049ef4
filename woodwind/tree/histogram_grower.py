"""Grow one tree from coded rows and their integer statistics, and find the leaf of each row of a coded table."""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import LEAST_WORK, on_threads, run_ranges
from woodwind.base.random_streams import choose, key
from woodwind.data.binning.bundles import BundledCodes
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.kernels.histogram.build_histograms import fill_rows
from woodwind.kernels.histogram.layout import GRADIENT_SHIFT, HESSIAN_SHIFT, ROW_BITS, Rule
from woodwind.kernels.histogram.loop import copy_tree, take_part, take_part_lanes
from woodwind.kernels.histogram.memory import COMMITTED
from woodwind.kernels.histogram.multi_output import fill_lanes
from woodwind.kernels.histogram.schedule import LEAST_PIECE
from woodwind.kernels.predict import walk_codes as kernels
from woodwind.kernels.runtime.team import begin_call
from woodwind.tree.code_layouts import BYTE, BundleBytes, ColumnCache, SharedBytes, bundled_rows, no_codes, row_lists, sharing
from woodwind.tree.gradient_noise import GradientNoise
from woodwind.tree.grown_tree import GrownTree, ValuedTree
from woodwind.tree.settings import DEEPEST, ORDERS, TreeSettings, group_bits
from woodwind.tree.workspace import ListedCodes, workspace

SYMMETRIC_DEPTH = 6
GRADIENT_BITS = 15  # of a gradient in a histogram, where rows are few enough


class HistogramGrower:
    """Grows trees on one coded table, one after another, in the same memory.

    `capacity` is the largest number of rows that a tree is grown from, counting a row as often as it is given.
    `beside` is another grower on the same table, with which it shares what neither of them writes to while it grows.
    `rewritten` says that the codes are others for every tree, so that nothing is to be learned from them beforehand.
    With several outputs a tree is grown from `lanes`, which `fill` takes from the derivatives; with one from what `stats_to_fill` gave.
    `unrounded`: statistics of a row are two int64, all bits of which are summed; one output only.
    """

    def __init__(
        self,
        codes: Codes | SparseCodes,
        settings: TreeSettings,
        threads: int = 1,
        capacity: int | None = None,
        outputs: int = 1,
        beside: "HistogramGrower | None" = None,
        unrounded: bool = False,
        rewritten: bool = False,
    ) -> None:
        self.check_settings(settings, outputs, unrounded)
        self.codes = codes
        self.settings = settings
        self.outputs = outputs
        self.unrounded = unrounded
        self.capacity = max(capacity or 0, codes.n_rows)
        n_features = codes.n_features
        # Threads that share a core gain little and wait for each other at every node: 10,000 x 20 takes 100 ms on one and
        # 115 on two of them, 20,000 x 20 the same on both.
        self.threads = threads if self.capacity * n_features * outputs >= 2 * LEAST_WORK else 1
        self.max_leaves = self._most_leaves()
        self._known: tuple[float, float, bool] | None = None
        self._last_rule: Rule
        self._has_categories = bool(codes.is_category.any())
        self._lanes = -(-(outputs + 2) // 4) * 4 if outputs > 1 else 0
        # A sum of so many rows must fit into 31 bits.
        self._lane_shift = ROW_BITS - min(GRADIENT_BITS, 30 - self.capacity.bit_length() + 1)
        bits = group_bits(settings.groups, n_features)
        self._table: ListedCodes = laid_out(codes, outputs, rewritten) if beside is None else beside._table
        self._space = workspace(
            self._table, self.max_leaves, self.threads, bits.shape[1], self.capacity, self._lanes, settings.growth, unrounded
        )
        self._noise = GradientNoise(self._space, self._order, settings.gradient_noise) if settings.gradient_noise > 0.0 else None
        self._make_stats()
        self._columns: ColumnCache = (
            ColumnCache(codes, self._table.lists, self.threads, whole=rewritten) if beside is None else beside._columns
        )
        self._space.put("by_column", self._columns.by_column)
        self._space.put("column_at", self._columns.at)
        self._share_bytes(beside, rewritten)
        self._space["member"][:] = bits
        if settings.monotonic is not None:
            self._space["monotonic"][:] = settings.monotonic

    @staticmethod
    def check_settings(settings: TreeSettings, outputs: int, unrounded: bool) -> None:
        """Raise ValueError where these do not go together."""
        symmetric = settings.growth == "symmetric"
        if outputs > 1 and (symmetric or unrounded or settings.holds_values):
            raise ValueError("a tree of several outputs is not symmetric, not unrounded, and nothing holds its values back")
        if symmetric and (settings.is_monotonic or settings.path_smooth > 0.0):
            raise ValueError("a symmetric tree has neither monotonic constraints nor path smoothing")

    def _most_leaves(self) -> int:
        """Leaves of a tree, at most."""
        settings = self.settings
        if settings.growth == "symmetric":
            return 1 << (settings.max_depth or SYMMETRIC_DEPTH)
        most = min(settings.max_leaves, max(1, int(self.capacity // max(settings.min_rows, 1.0))))
        return most if settings.max_depth is None else min(most, 1 << min(settings.max_depth, 40))

    def _make_stats(self) -> None:
        """Room for the statistics of rows."""
        # The second buffer of rows is empty when a tree begins. Only where rows may come twice, or have other names outside, or carry
        # something else, have statistics to be kept while they are moved.
        n_rows, other_order = self.codes.n_rows, self._order is not None
        self._spent = False
        self._kept_apart = other_order or self.outputs > 1 or self._noise is not None or self.unrounded
        spare = self._space["rows"][self.capacity : self.capacity + n_rows]
        self._stats = np.zeros(n_rows * (2 if self.unrounded else 1), np.int64) if self._kept_apart else spare
        self._space.put("stats", self._stats)
        # What histograms sum is what leaves sum, unless it has another order or is disturbed.
        apart = self.unrounded and (other_order or self._noise is not None)
        self._unrounded: NDArray[np.int64] | None = np.empty((2, n_rows), np.int64) if apart else None
        self._space.put("unrounded", np.zeros((2, 1), np.int64))

    def _share_bytes(self, beside: "HistogramGrower | None", rewritten: bool) -> None:
        """Let columns of few values share bytes, where trees have one output."""
        if beside is None:
            self._shared = self._bytes(rewritten)
        else:
            self._shared = beside._shared
        for name in ("steps", "steps_at", "sharers", "sharer_codes"):
            self._space.put(name, getattr(self._shared, name))
        self._space.put("shared", np.empty((self.threads, BYTE * max(self._shared.n_bytes, 1)), np.int64))

    def _bytes(self, rewritten: bool) -> SharedBytes | BundleBytes:
        """The bytes of rows that several columns share."""
        if self._table.bundles is not None:
            return BundleBytes(self._table.bundles)
        if isinstance(self.codes, SparseCodes):
            return SharedBytes(no_codes(), self._table.starts[:1], [], self.threads)  # rows are lists
        whole_rows = self._table.lists is None and self.outputs == 1 and not rewritten
        found = sharing(self.codes, self.threads) if whole_rows else []
        return SharedBytes(self.codes, self._table.starts, found, self.threads)

    @property
    def _least_piece(self) -> int:
        """Rows that are worth a task of their own when summing: a histogram of their own is cleared and added to that of the node."""
        if not isinstance(self.codes, SparseCodes):
            return LEAST_PIECE
        per_row = max(len(self.codes.by_column.at) / max(self.codes.n_rows, 1), 1.0)
        return max(LEAST_PIECE, int(4 * self._table.n_cells / per_row))

    def stats_to_fill(self) -> NDArray[np.int64]:
        """(g << 32) + h of every row: to be filled before every `grow` where there is one output, because growing may use their memory.

        Unrounded, all gradients and then all hessians. From here on they count as filled; who only reads asks for `filled_stats`.
        """
        self._spent = False
        return self._stats

    @property
    def filled_stats(self) -> NDArray[np.int64]:
        """The statistics that the next tree will be grown from."""
        self._check_filled()
        return self._stats

    @property
    def columns(self) -> NDArray[np.uint8]:
        """(F, n) the columns of a table that is rewritten: whoever writes to its rows writes to these as well."""
        return self._columns.by_column

    def _check_filled(self) -> None:
        if self._spent:
            raise ValueError("the statistics of the last tree are gone: fill them again for the next one")

    def lend(self, stats: NDArray[np.int64], leaf_of_row: NDArray[np.int32]) -> None:
        """Grow the next trees from statistics that the caller keeps, and note the leaves of rows in an array of the caller's."""
        self._stats, self._kept_apart, self._spent = stats, True, False
        self._space.put("stats", stats)
        self._space.put("leaf_of_row", leaf_of_row)

    @property
    def _order(self) -> NDArray[np.int32] | None:
        """The rows in the order in which they are grown from, where that is not their own."""
        return None if self._table.lists is None else self._table.lists.order

    def fill(self, gradients: NDArray[np.int32]) -> None:
        """Take the statistics of several outputs: int32[n, K + 1], K gradients and the hessian that they share."""
        self._spent = False
        lanes = self._space["lanes"]
        run_ranges(
            lambda begin, end: fill_lanes(gradients, self._order, self._lane_shift, begin, end, lanes),
            self.codes.n_rows, self.threads, self._lanes,
        )  # fmt: skip

    def grow(
        self,
        scales: NDArray[np.float64],
        tree_key: int,
        rows: NDArray[np.int32] | None = None,
        constant_hessian: bool = False,
        threads: int | None = None,
        keep_rows: bool = True,
    ) -> GrownTree:
        """Grow a tree from the rows given, a row as often as it is given, or from all.

        `scales` are the powers of two by which gradient and hessian were multiplied; `tree_key` is the key of all that is drawn.
        Without `keep_rows` it has no `rows`.
        """
        space, threads = self._space, threads or self.threads
        n_rows = self.codes.n_rows if rows is None else len(rows)
        if n_rows > self.capacity:
            raise ValueError(f"there is room for {self.capacity} rows, not for {n_rows}")
        self._check_filled()
        directory = space.directory
        lists = self._table.lists
        if rows is not None and lists is not None:
            rows = lists.positions(rows)
        # A root of all rows takes them in as it is summed; others are put in order first, and so are rows that are to be disturbed.
        in_order = once = rows is None and self._order is None and self.outputs == 1 and self._noise is None and not self.unrounded
        if self.unrounded:
            self._fill_unrounded(rows, n_rows, tree_key)
        elif not in_order:
            once = self._fill_rows(rows, n_rows, threads)
        if self._noise is not None and not self.unrounded:
            self._disturb(self._noise, tree_key, n_rows, threads)
        rule = self._rule(scales, tree_key, constant_hessian)._replace(in_order=in_order, once=once, keep_rows=keep_rows)
        self._draw_features(tree_key)
        begin_call(space["control"])
        symmetric = 1 if self.settings.growth == "symmetric" else None

        def part(thread: int) -> None:
            if self.outputs == 1:
                take_part(directory, rule, n_rows, thread, threads, symmetric)
            else:
                take_part_lanes(directory, rule, n_rows, thread, threads)

        self._spent = not self._kept_apart or (self._noise is not None and self.outputs > 1)
        on_threads(part, threads)
        tree = self._finished(scales, n_rows if keep_rows else 0)
        self._columns.note(tree.feature, tree.count)
        return tree

    def renew_columns(self) -> None:
        """Keep the columns in one piece that are used most by now. Not while a tree is grown, here or beside."""
        self._columns.renew(self.threads)

    def _fill_rows(self, rows: NDArray[np.int32] | None, n_rows: int, threads: int) -> bool:
        """Put the rows of the next tree into the first buffer; tells whether none of them needs its statistics any longer."""
        done: list[bool] = []
        run_ranges(lambda begin, end: done.append(fill_rows(self._space.directory, rows, self._order, begin, end)), n_rows, threads, 4)
        once = all(done) and self.outputs == 1 and self._noise is None
        if not once and not self._kept_apart:  # from now on, statistics have memory of their own
            self._stats, self._kept_apart = self._stats.copy(), True
            self._space.put("stats", self._stats)
        return once

    def _fill_unrounded(self, rows: NDArray[np.int32] | None, n_rows: int, tree_key: int) -> None:
        """Put the numbers of the rows of the next tree into the first buffer, and what histograms sum to where kernels find it."""
        buffer = self._space["rows"][:n_rows]
        buffer[:] = np.arange(n_rows) if rows is None else rows
        buffer <<= 32
        stats = self._stats.reshape(2, -1)
        if self._unrounded is not None:
            stats = self._unrounded
            np.take(self._stats.reshape(2, -1), np.arange(self.codes.n_rows) if self._order is None else self._order, axis=1, out=stats)
            if self._noise is not None:
                self._noise.add_to_unrounded(stats[0], tree_key, rows)
        self._space.put("unrounded", stats)

    def _disturb(self, noise: GradientNoise, tree_key: int, n_rows: int, threads: int) -> None:
        """Give the gradients that splits are looked for by their random part."""
        if self.outputs == 1:
            noise.add_to_rows(tree_key, n_rows, threads)
        else:
            noise.add_to_lanes(tree_key, n_rows, self.outputs, 1 << (ROW_BITS - self._lane_shift), threads)

    def rehearse(self) -> GrownTree:
        """Everything but the growing, so that the kernels before and after it are compiled: a tree without nodes."""
        fill_rows(self._space.directory, np.zeros(1, np.int32), None, 0, 1)
        begin_call(self._space["control"])
        return self._finished(np.ones(2), 0)

    def _draw_features(self, tree_key: int) -> None:
        """Mark the features of the next tree."""
        per_tree = self.settings.features_per_tree
        allowed = self._space["allowed"]
        allowed[:] = 1
        if per_tree is not None and per_tree < len(allowed):
            allowed[:] = 0
            allowed[choose(key(tree_key, "tree features"), len(allowed), per_tree)] = 1

    def _rule(self, scales: NDArray[np.float64], tree_key: int, constant_hessian: bool) -> Rule:
        """The numbers of one tree. Most rounds differ from the one before in the key alone."""
        known = (float(scales[0]), float(scales[1]), constant_hessian)
        if self._known != known:
            self._known, self._last_rule = known, self._new_rule(scales, constant_hessian)
        return self._last_rule._replace(seed=tree_key)

    def _new_rule(self, scales: NDArray[np.float64], constant_hessian: bool) -> Rule:
        settings, codes = self.settings, self.codes
        every = codes.n_features
        step = float(1 << self._lane_shift) if self.outputs > 1 else 1.0
        coarse = 1.0 if self.unrounded else float(1 << GRADIENT_SHIFT)  # units of a row in one of a histogram
        # What rounding may fake is a share of the gain of one row: a target in other units grows the same tree.
        largest_g, largest_h = (float(1 << ROW_BITS) / float(scale) for scale in scales)
        noise = settings.growing_gain * (largest_g * largest_g / largest_h)
        return Rule(
            capacity=self.capacity,
            n_features=every,
            n_words=self._table.by_row.shape[1] // 8,
            in_order=False,
            once=False,
            keep_rows=True,
            unrounded=self.unrounded,
            n_codes=int(codes.width),
            n_cells=self._table.n_cells,
            sharing_rows=self._shared.rows,
            order=ORDERS[settings.growth],
            max_leaves=self.max_leaves,
            max_depth=settings.max_depth or (SYMMETRIC_DEPTH if settings.growth == "symmetric" else DEEPEST),
            min_split=int(settings.min_split),
            min_rows=float(settings.min_rows),
            min_hessian=float(settings.min_hessian),
            min_gain=noise if settings.prune else max(settings.min_gain, noise),
            l1=float(settings.l1),
            l2=float(settings.l2),
            category_l2=float(settings.category_l2),
            category_smooth=float(settings.category_smooth),
            path_smooth=float(settings.path_smooth),
            max_step=settings.longest_step,
            # Kernels take them for those of rows that histograms have rounded.
            gradient_unit=step * coarse / float(scales[0]) / (1 << GRADIENT_SHIFT),
            hessian_unit=step * coarse / float(scales[1]) / (1 << HESSIAN_SHIFT),
            constant_hessian=constant_hessian,
            row_hessian=float(np.floor(scales[1] / coarse + 0.5)),
            n_candidates=settings.features_per_node or every,
            level_candidates=settings.features_per_level or every,
            seed=0,
            sparse=self._table.lists is not None and self._table.bundles is None,
            least_piece=self._least_piece,
            bundled=self._table.bundles is not None,
            reordered=self._order is not None,
            stored=isinstance(codes, SparseCodes),
            lanes=self._lanes,
            outputs=self.outputs,
            bounded=settings.holds_values,
            grouped=settings.groups is not None,
        )

    def _finished(self, scales: NDArray[np.float64], n_rows: int) -> GrownTree:
        """Copy the finished tree out of the workspace, with so many rows."""
        space = self._space
        n_nodes = int(space["control"][COMMITTED])
        # In one compiled call: on small tables, copying field by field cost a tenth of growing.
        short, missing = np.empty((2, n_nodes), np.int32), np.empty(n_nodes, np.uint8)
        whole, real = np.empty((5, n_nodes), np.int64), np.empty((5, n_nodes))
        copy_tree(space.directory, scales, short, missing, whole, real)
        of_set = whole[1]
        sets = space["sets"][:0]
        if self._has_categories:
            category = of_set >= 0
            sets = space["sets"][of_set[category]]
            of_set[category] = np.arange(len(sets))
        return GrownTree(
            feature=short[0],
            bin=whole[0],
            child=short[1],
            missing=missing,
            set=of_set,
            sets=sets,
            gain=real[0],
            gradient=real[1],
            hessian=real[2],
            count=whole[4],
            low=real[3],
            high=real[4],
            begin=whole[2],
            end=whole[3],
            rows=space["rows"][:n_rows],
            leaf_of_row=space["leaf_of_row"],
        )


def laid_out(codes: Codes | SparseCodes, outputs: int, rewritten: bool) -> ListedCodes:
    """The table in the form in which trees of so many outputs are grown from it."""
    if isinstance(codes, BundledCodes) and outputs == 1:
        rows = bundled_rows(codes)
        return ListedCodes(codes, rows.lists, rows)
    return ListedCodes(codes, None if rewritten else row_lists(codes))


def walk_codes(tree: ValuedTree, codes: Codes | SparseCodes, out: NDArray[np.int32], threads: int) -> None:
    """Write the node where each row ends to `out`."""
    places = np.arange(codes.n_features) if isinstance(codes, SparseCodes) else codes.places
    code_tree = kernels.CodeTree(
        np.where(tree.feature < 0, -1, places[tree.feature]).astype(np.int32),
        tree.bin.astype(np.uint8),
        tree.child,
        tree.missing,
        tree.set.astype(np.int32),
        tree.sets,
        codes.missing,
    )
    if isinstance(codes, SparseCodes):
        by_row, absent = codes.by_row, codes.absent
        per_row = 8 + len(by_row.at) // max(codes.n_rows, 1)
        run_ranges(
            lambda begin, end: kernels.walk_sparse_codes(*by_row, absent, begin, end, code_tree, out), codes.n_rows, threads, per_row
        )
        return
    flat, steps = codes.by_row.reshape(-1), (codes.by_row.shape[1], 1)
    run_ranges(lambda begin, end: kernels.walk_codes(flat, steps, None, begin, end, code_tree, out), codes.n_rows, threads, 8)
