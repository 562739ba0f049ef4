"""The driver: grows one tree after another over any shards, bit for bit as the engine in memory.

Every decision is taken by the kernels of the engine in memory, from the same integers (kernels/histogram/shards.py): which nodes next, in
which layout, which split, whether it stands. The driver translates: a batch of nodes into a request, a result into histograms.
One pass over the rows serves a batch: best first up to `AHEAD` nodes, by levels a level of up to as many nodes as there is room for.
"""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import LEAST_WORK, on_threads
from woodwind.kernels.histogram import loop
from woodwind.kernels.histogram.layout import ROW_BITS, Rule
from woodwind.kernels.histogram.memory import LAYOUT
from woodwind.kernels.histogram.multi_output import fill_lanes
from woodwind.kernels.histogram.schedule import SPLIT_ROWS
from woodwind.kernels.histogram.shards import (
    COARSE,
    COUNTS,
    P_COLUMNS,
    P_LARGE,
    P_SMALL,
    Splits,
    children_of,
    find_counted,
    find_tasks,
    form_of,
    next_step,
    numbers_of,
    pairs_to_build,
    plan_batch,
    put_histogram,
    put_lanes,
    put_partition,
    put_sums,
    recounted_nodes,
    rows_in_leaves,
)
from woodwind.kernels.runtime.records import Memory
from woodwind.kernels.runtime.team import begin_call
from woodwind.kernels.tree.leaves import leaf_sums, unrounded_leaf_sums
from woodwind.shards.block_worker import BlockWorker
from woodwind.shards.requests import ShardRequest, ShardResult, SumRequest, TreeRows
from woodwind.shards.shards import Shards
from woodwind.tree.code_layouts import SharedBytes
from woodwind.tree.gradient_noise import GradientNoise
from woodwind.tree.grown_tree import GrownTree
from woodwind.tree.histogram_grower import GRADIENT_BITS, HistogramGrower
from woodwind.tree.settings import TreeSettings, group_bits
from woodwind.tree.workspace import (
    LEVEL_BATCH,
    MOST_HISTOGRAM_BYTES,
    ListedCodes,
    histogram_memory,
    histograms_cached,
    node_memory,
    table_memory,
    thread_memory,
    work_memory,
)

AHEAD = 16  # best first, as many nodes are prepared in one pass as so many threads would prepare
LARGEST_LEVEL = 256  # by levels, as many nodes at most
PASS_BYTES = 128 << 20  # sums of all threads of a pass: wide tables are summed fewer nodes at a time


class ShardGrower(HistogramGrower):
    """A `HistogramGrower` whose rows are in shards."""

    growth_kind: "type[ShardGrowth]"

    def __init__(  # the memory is another one, and so nothing is left to the base class
        self,
        shards: Shards,
        settings: TreeSettings,
        threads: int = 1,
        capacity: int | None = None,
        outputs: int = 1,
        unrounded: bool = False,
    ) -> None:
        self.check_settings(settings, outputs, unrounded)
        self.shards, self.codes, self.settings, self.outputs, self.unrounded = shards, shards.layout, settings, outputs, unrounded
        self.capacity = max(capacity or 0, shards.n_rows)
        n_features = shards.n_features
        self.threads = threads if self.capacity * n_features * outputs >= 2 * LEAST_WORK else 1
        self.max_leaves = self._most_leaves()
        self._known = None
        self._has_categories = bool(shards.is_category.any())
        self._lanes = -(-(outputs + 2) // 4) * 4 if outputs > 1 else 0
        self._lane_shift = ROW_BITS - min(GRADIENT_BITS, 30 - self.capacity.bit_length() + 1)
        self._table = ListedCodes(self.codes, None)
        self._shared = SharedBytes(self.codes, self._table.starts, [], 1)
        self._workers = [BlockWorker(self.codes, self._table.starts, self._lanes) for _ in range(self.threads)]
        cells = self._table.n_cells
        each = cells * (4 * self._lanes if self._lanes else 24)
        self._most_sums = max(2, PASS_BYTES // (each * self.threads))
        self._ahead = max(1, min(AHEAD, self._most_sums // 4))
        self._space = self._workspace(group_bits(settings.groups, n_features), cells, self._most_sums // 2)
        self._leaf_of_row: NDArray[np.int32] = np.empty(shards.n_rows, np.int32)
        self._stats: NDArray[np.int64] = np.empty(0, np.int64)
        self._gradients: NDArray[np.int32] | None = None
        self._spent, self._lent = True, False

    def _workspace(self, bits: NDArray[np.uint64], cells: int, most: int) -> Memory:
        """The memory of the leader: that of the engine, without rows."""
        settings, n, leaves, lanes = self.settings, self.capacity, self.max_leaves, self._lanes
        # A level is prepared in one pass where there is room for its sums.
        most = max(LEVEL_BATCH, min(LARGEST_LEVEL, most))
        nodes = 4 * leaves + 2 * most + 16
        bytes_each = 4 * cells * lanes if lanes else 16 * cells if self.unrounded else 8 * cells
        slots, batch = histograms_cached(settings.growth, leaves, self._ahead, bytes_each)
        if settings.growth == "level":
            batch = max(1, min(self._most_sums // 2, most))
            slots = min(leaves + 2 * batch + 2, max(2 * batch + 8, MOST_HISTOGRAM_BYTES // bytes_each))
        blocks = 2 * (n // min(loop.COLLECT_ROWS, SPLIT_ROWS)) + most + 2
        none: NDArray[np.int64] = np.zeros(1, np.int64)
        histograms = histogram_memory(slots, cells * max(lanes, 1), n, self.threads, lanes, self.unrounded)
        space = Memory(
            LAYOUT,
            rows=none,
            stats=none,
            unrounded=np.zeros((2, 1), np.int64),
            by_column=np.zeros((1, 1), np.uint8),
            column_at=np.full(self.codes.n_features, -1, np.int64),
            **table_memory(self._table, bits.shape[1]),
            **node_memory(nodes, bits.shape[1], 2 * nodes if self._has_categories else 1),
            **work_memory(blocks + nodes + 8 * most * max(self.threads, self._ahead), blocks, batch, most),
            **thread_memory(self.threads, self._table.by_row.shape[1] // 8, self.codes.n_features, lanes, 1),
            **histograms,
        )
        space["member"][:] = bits
        if settings.monotonic is not None:
            space["monotonic"][:] = settings.monotonic
        return space

    # What the next tree is grown from.

    def stats_to_fill(self) -> NDArray[np.int64]:
        """(g << 32) + h of every row, or unrounded all gradients and then all hessians: to be filled before `grow`."""
        size = self.shards.n_rows * (2 if self.unrounded else 1)
        if len(self._stats) != size or self._lent:
            self._stats, self._lent = np.empty(size, np.int64), False
        self._spent = False
        return self._stats

    def lend(self, stats: NDArray[np.int64], leaf_of_row: NDArray[np.int32]) -> None:
        """Grow the next trees from statistics that the caller keeps, and note the leaves of rows in an array of the caller's."""
        self._stats, self._leaf_of_row, self._spent, self._lent = stats, leaf_of_row, False, True

    def fill(self, gradients: NDArray[np.int32]) -> None:
        """Take the statistics of several outputs: int32[n, K + 1], K gradients and the hessian that they share."""
        self._gradients, self._spent = gradients, False

    def renew_columns(self) -> None:
        """No columns are kept in one piece."""

    def _rows_of(self, rows: NDArray[np.int32] | None, rule: Rule, tree_key: int) -> TreeRows:
        """Where every row is before the first split, and what it adds to sums."""
        places, times = self._leaf_of_row, None
        places[:] = 0 if rows is None else -1
        if rows is not None:
            places[rows] = 0
            if len(rows) > 1 and not bool((rows[1:] > rows[:-1]).all()):
                times = np.bincount(rows, minlength=len(places)).astype(np.int32)
        ready, statistics = self.settings.gradient_noise > 0.0, self._summed(rows, tree_key)
        return TreeRows(places, times, statistics, rule, self._lane_shift, ready and self.outputs > 1)

    def _summed(self, rows: NDArray[np.int32] | None, tree_key: int) -> NDArray[np.int64] | NDArray[np.int32]:
        """The statistics that histograms sum, disturbed if they are to be; those of leaves stay as they are."""
        noise, n = self.settings.gradient_noise, self.shards.n_rows
        if self.outputs > 1:
            assert self._gradients is not None  # `fill` comes before `grow`
            if noise == 0.0:
                return self._gradients
            lanes = np.empty((n, self._lanes), np.int32)
            fill_lanes(self._gradients, None, self._lane_shift, 0, n, lanes)
            drawn = np.arange(n) if rows is None else rows
            space = Memory(LAYOUT, lanes=lanes, rows=drawn.astype(np.int64) << 32)
            GradientNoise(space, None, noise).add_to_lanes(tree_key, len(drawn), self.outputs, 1 << (ROW_BITS - self._lane_shift), 1)
            return lanes
        if self.unrounded:
            stats = self._stats.reshape(2, -1)
            if noise > 0.0:
                stats = stats.copy()
                GradientNoise(self._space, None, noise).add_to_unrounded(stats[0], tree_key, rows)
            return stats
        return self._stats if noise == 0.0 else self._disturbed(rows, tree_key, noise)

    def _disturbed(self, rows: NDArray[np.int32] | None, tree_key: int, noise: float) -> NDArray[np.int64]:
        """Statistics of which histograms take what rows carry when they are disturbed."""
        numbers = np.arange(self.shards.n_rows) if rows is None else rows
        gradient = np.minimum(((self._stats[numbers] >> 32) + 16384) >> 15, 32767)
        hessian = ((self._stats[numbers] & 0xFFFFFFFF) + 16384) >> 15
        carried = (numbers.astype(np.int64) << 32) | ((gradient & 0xFFFF) << 16) | hessian
        GradientNoise(Memory(LAYOUT, rows=carried), None, noise).add_to_rows(tree_key, len(carried), 1)
        out = np.zeros(self.shards.n_rows, np.int64)
        out[numbers] = (((carried << 32) >> 48) << 47) + ((carried & 0xFFFF) << 15)
        return out

    # Growing.

    def grow(
        self,
        scales: NDArray[np.float64],
        tree_key: int,
        rows: NDArray[np.int32] | None = None,
        constant_hessian: bool = False,
        threads: int | None = None,
        keep_rows: bool = True,
    ) -> GrownTree:
        """Grow a tree from the rows given, a row as often as it is given, or from all; as `HistogramGrower.grow`."""
        n_rows = self.shards.n_rows if rows is None else len(rows)
        if n_rows > self.capacity:
            raise ValueError(f"there is room for {self.capacity} rows, not for {n_rows}")
        self._check_filled()
        rule = self._rule(scales, tree_key, constant_hessian)
        self._draw_features(tree_key)
        begin_call(self._space["control"])
        growth = self.growth_kind(self, self._rows_of(rows, rule, tree_key), n_rows, threads or self.threads)
        growth.run()
        self._finish_rows(growth, rows)
        self._spent = not self._lent and self.outputs == 1
        tree = self._finished(scales, 0)
        tree.leaf_of_row = self._leaf_of_row
        if keep_rows:
            tree.rows = np.empty(n_rows, np.int64)
            rows_in_leaves(self._leaf_of_row, rows, tree.begin.copy(), tree.rows)
        return tree

    def _finish_rows(self, growth: "ShardGrowth", rows: NDArray[np.int32] | None) -> None:
        """The leaf of every row, and the sums of all bits of the statistics of each leaf; then the tree is written."""
        space, leaf = self._space, self._leaf_of_row
        numbers = np.empty(len(space["node_i"]), np.int64)
        n_nodes = numbers_of(space.directory, numbers)
        leaf_of = numbers[growth.node_of_place()].astype(np.int32)
        self.shards.finish(growth.rows, leaf_of)
        totals = np.zeros((n_nodes, 3), np.int64)
        if self.outputs == 1 and self.unrounded:
            unrounded_leaf_sums(leaf, self._stats.reshape(2, -1), rows, totals)
        elif self.outputs == 1:
            leaf_sums(leaf, self._stats, rows, totals)
        put_sums(space.directory, growth.n_tasks, totals)
        growth.step()


class ShardGrowth:
    """One tree while it grows over shards."""

    def __init__(self, grower: ShardGrower, rows: TreeRows, n_rows: int, threads: int) -> None:
        self._grower, self.rows, self._n_rows, self._threads = grower, rows, n_rows, threads
        self._space, self._rule = grower._space, rows.rule
        self._symmetric = 1 if grower.settings.growth == "symmetric" else None
        self._nodes = [0]  # of each place: the node that its rows are in
        self._batch: NDArray[np.int64] = np.empty(0, np.int64)  # nodes whose splits were tried last, and the places of their sides
        self._first_place = 1
        self._sums: dict[int, tuple[int, bool]] = {}  # by node: what was summed of it, and whether that is COARSE
        self._result: ShardResult | None = None
        self.n_tasks = 0

    def node_of_place(self) -> NDArray[np.int64]:
        """The node of the rows of each place."""
        return np.array(self._nodes, np.int64)

    def step(self) -> int:
        """Go on to the next phase that has something to do: its kind, 0 when the tree is finished."""
        kind, self.n_tasks = next_step(self._space.directory, self._rule, self._n_rows, self._grower._ahead, self._symmetric)
        return int(kind)

    def run(self) -> None:
        """Grow until the leaves are known."""
        while True:
            kind = self.step()
            if kind == loop.PLACE:
                continue
            self._take_children()
            if kind == loop.COLLECT:
                return
            if kind == loop.PARTITION:
                self._partition()
            elif kind == loop.BUILD:
                self._build()
            elif kind == loop.RECOUNT:
                self._recount()
            else:
                self._find(kind)

    def _take_children(self) -> None:
        """The sides of the splits that stand are nodes now; rows of the others are where they were."""
        if len(self._batch) == 0:
            return
        children = np.empty(len(self._batch), np.int64)
        children_of(self._space.directory, self._batch, children)
        sums: dict[int, tuple[int, bool]] = {}
        for position, (node, child) in enumerate(zip(self._batch.tolist(), children.tolist(), strict=True)):
            for side in range(2):
                place = self._first_place + 2 * position + side
                self._nodes[place] = node if child < 0 else child + side
                found = self._sums.get(-1 - place)
                if child >= 0 and found is not None:
                    sums[child + side] = found
        self._sums, self._batch = sums, self._batch[:0]

    def _partition(self) -> None:
        """Apply the splits of a batch, and sum one child of each node, or both where nothing can be subtracted."""
        space, rule = self._space, self._rule
        most = len(space["batch"])
        nodes, at, forms = np.empty(most, np.int64), np.empty(most, np.int64), np.empty((most, 2), np.int64)
        size = plan_batch(space.directory, rule, nodes, at, forms)
        self._first_place = len(self._nodes)
        self._nodes += [-1] * (2 * size)
        split_of_node = np.full(len(space["node_i"]), -1, np.int32)
        split_of_node[nodes[:size]] = np.arange(size)
        of_place = np.full(len(self._nodes), -1, np.int32)
        of_place[: self._first_place] = split_of_node[self._nodes[: self._first_place]]
        places = (self._first_place + 2 * np.arange(size)).astype(np.int32)
        splits = Splits(of_place, at[:size].copy(), space["goes"][:size].copy(), places)
        slot_of = np.full(len(self._nodes), -1, np.int32)
        wanted = np.flatnonzero(forms[:size].reshape(-1) >= 0)
        slot_of[self._first_place + wanted] = np.arange(len(wanted))
        asked = forms[:size].reshape(-1)[wanted]
        self._sums = {-1 - (self._first_place + int(k)): (n, int(asked[n]) == COARSE) for n, k in enumerate(wanted)}
        result = self._ask(ShardRequest(splits, SumRequest(slot_of, asked) if len(wanted) else None))
        put_partition(space.directory, self.n_tasks, result.left, result.met)
        self._result, self._batch = result, nodes[:size].copy()

    def _summed(self, nodes: list[int], forms: list[int]) -> ShardResult:
        """The sums of some nodes, in a pass of their own."""
        number = np.full(len(self._space["node_i"]), -1, np.int32)
        number[nodes] = np.arange(len(nodes))
        return self._ask(ShardRequest(None, SumRequest(number[self._nodes], np.array(forms, np.int64))))

    def _build(self) -> None:
        """Histograms of the smaller nodes of all pairs, from what was summed with their splits; what was not, is summed now."""
        space, rule = self._space, self._rule
        pairs = np.empty((len(space["pairs"]), P_COLUMNS), np.int64)
        pairs = pairs[: pairs_to_build(space.directory, pairs)]
        small, large = pairs[:, P_SMALL].tolist(), pairs[:, P_LARGE].tolist()
        absent = [pair for pair, node in enumerate(small) if node not in self._sums and large[pair] not in self._sums]
        if absent:
            forms = [form_of(space.directory, rule, small[pair]) for pair in absent]
            result = self._summed([small[pair] for pair in absent], forms)
            for number, pair in enumerate(absent):
                self._put(pair, result.table(number, forms[number] == COARSE), of_sibling=False)
        for pair in sorted(set(range(len(pairs))) - set(absent)):
            of_sibling = small[pair] not in self._sums
            found, coarse = self._sums[large[pair] if of_sibling else small[pair]]
            assert self._result is not None  # there are sums
            self._put(pair, self._result.table(found, coarse), of_sibling)
        self._sums, self._result = {}, None

    def _put(self, pair: int, found: NDArray[np.int64], of_sibling: bool) -> None:
        (put_lanes if self._grower.outputs > 1 else put_histogram)(self._space.directory, self._rule, pair, found, of_sibling)

    def _find(self, kind: int) -> None:
        """Complete the histograms of the larger nodes, and find splits."""
        directory, rule, several = self._space.directory, self._rule, True if self._grower.outputs > 1 else None
        n_tasks, sides = self.n_tasks, min(self._threads, self.n_tasks)

        def part(side: int) -> None:
            find_tasks(directory, rule, kind, (side, n_tasks, sides), side, several)

        # Shares are fixed, so that none may be missed: each has to be done by somebody.
        parts = [0] * sides

        def once(side: int) -> None:
            part(side)
            parts[side] = 1

        on_threads(once, sides)
        for side in range(sides):
            if not parts[side]:
                part(side)

    def _recount(self) -> None:
        """Find the splits of some nodes again, with their rows counted: the ones that were found leave too few on one side."""
        nodes = np.empty(self.n_tasks, np.int64)
        recounted_nodes(self._space.directory, self.n_tasks, nodes)
        result = self._summed(nodes.tolist(), [COUNTS] * self.n_tasks)
        for task in range(self.n_tasks):
            find_counted(self._space.directory, self._rule, task, result.packed[task], 0)

    def _ask(self, request: ShardRequest) -> ShardResult:
        """Ask all rows, on all threads."""
        return self._grower.shards.ask(request, self.rows, self._grower._workers[: self._threads])


ShardGrower.growth_kind = ShardGrowth
