"""Trees whose features are voted for: histograms of a few features go over the wire, not of all (Meng et al. 2016, PV-tree).

The table has fixed voters, which are parts of its blocks, whoever works on them: so the tree is the same for any number of workers. Each
voter names the features that it would split a node by; the 2 k with the most votes, of equals the first, are summed over all rows. To the
leader all others look constant: their sums are in one cell. Both children are summed, because a node's features are not those of the node
above.
"""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.kernels.histogram.shards import (
    COARSE,
    COUNTS,
    P_COLUMNS,
    P_LARGE,
    P_SMALL,
    Splits,
    find_counted,
    form_of,
    pairs_to_build,
    plan_batch,
    put_histogram,
    put_partition,
    recounted_nodes,
)
from woodwind.kernels.histogram.voting import put_parent
from woodwind.shards.cluster_shards import ClusterShards
from woodwind.shards.requests import ShardRequest, ShardResult, SumRequest, TreeRows
from woodwind.shards.shard_grower import ShardGrower, ShardGrowth
from woodwind.tree.settings import TreeSettings


class VotingGrowth(ShardGrowth):
    """One tree while it grows over shards that vote."""

    def __init__(self, grower: ShardGrower, rows: TreeRows, n_rows: int, threads: int) -> None:
        super().__init__(grower, rows, n_rows, threads)
        self._is_voted: dict[int, NDArray[np.bool_]] = {}  # by node: which features have more than one cell

    def _voted(self, request: ShardRequest, groups: NDArray[np.int32]) -> ShardResult:
        shards = self._grower.shards
        assert isinstance(shards, ClusterShards)
        return shards.ask_voted(request, groups, self.rows)

    def _partition(self) -> None:
        """Apply the splits of a batch, and sum both children of each node that may be split further."""
        space, rule = self._space, self._rule
        most = len(space["batch"])
        nodes, at, forms = np.empty(most, np.int64), np.empty(most, np.int64), np.empty((most, 2), np.int64)
        size = plan_batch(space.directory, rule, nodes, at, forms)
        both = forms[:size].max(axis=1)
        forms[:size] = both[:, None]
        splits, wanted = self._splits_of(nodes[:size], at[:size], forms[:size])
        slot_of = np.full(len(self._nodes), -1, np.int32)
        slot_of[self._first_place + wanted] = np.arange(len(wanted))
        asked = forms[:size].reshape(-1)[wanted]
        self._sums = {-1 - (self._first_place + int(k)): (n, int(asked[n]) == COARSE) for n, k in enumerate(wanted)}
        if len(wanted):
            groups = np.unique(wanted // 2, return_inverse=True)[1].astype(np.int32)
            result = self._voted(ShardRequest(splits, SumRequest(slot_of, asked)), groups)
        else:
            result = self._ask(ShardRequest(splits, None))
        put_partition(space.directory, self.n_tasks, result.left, result.met)
        self._result, self._batch = result, nodes[:size].copy()

    def _splits_of(self, nodes: NDArray[np.int64], at: NDArray[np.int64], forms: NDArray[np.int64]) -> tuple[Splits, NDArray[np.int64]]:
        """The splits of a batch, whose sides get places; and which sides are summed."""
        size = len(nodes)
        self._first_place = len(self._nodes)
        self._nodes += [-1] * (2 * size)
        split_of_node = np.full(len(self._space["node_i"]), -1, np.int32)
        split_of_node[nodes] = np.arange(size)
        of_place = np.full(len(self._nodes), -1, np.int32)
        of_place[: self._first_place] = split_of_node[self._nodes[: self._first_place]]
        places = (self._first_place + 2 * np.arange(size)).astype(np.int32)
        splits = Splits(of_place, at.copy(), self._space["goes"][:size].copy(), places)
        return splits, np.flatnonzero(forms.reshape(-1) >= 0)

    def _build(self) -> None:
        """Histograms of both nodes of all pairs; what was not summed with a split is summed now."""
        directory, rule, features = self._space.directory, self._rule, self._grower.shards.n_features
        pairs = np.empty((len(self._space["pairs"]), P_COLUMNS), np.int64)
        pairs = pairs[: pairs_to_build(directory, pairs)]
        for pair, (small, large) in enumerate(zip(pairs[:, P_SMALL].tolist(), pairs[:, P_LARGE].tolist(), strict=True)):
            chosen = [node for node in (small, large) if node >= 0]
            if all(node in self._sums for node in chosen):
                assert self._result is not None  # there are sums
                tables = [self._result.table(*self._sums[node]) for node in chosen]
            else:
                forms = [form_of(directory, rule, small)] * len(chosen)
                number = np.full(len(self._space["node_i"]), -1, np.int32)
                number[chosen] = np.arange(len(chosen))
                sums = SumRequest(number[self._nodes], np.array(forms, np.int64))
                found = self._voted(ShardRequest(None, sums), np.zeros(len(chosen), np.int32))
                tables = [found.table(k, forms[0] == COARSE) for k in range(len(chosen))]
            for node, table in zip(chosen, tables, strict=True):
                is_voted: NDArray[np.bool_] = np.asarray(table.reshape(-1, features, rule.n_cells // features)[:, :, 1:].any(axis=(0, 2)))
                self._is_voted[node] = is_voted
            put_histogram(directory, rule, pair, tables[0], False)
            if large >= 0:
                put_parent(directory, rule, pair, tables[0] + tables[1])
        self._sums, self._result = {}, None

    def _recount(self) -> None:
        """Find the splits of some nodes again, with their rows counted."""
        nodes = np.empty(self.n_tasks, np.int64)
        recounted_nodes(self._space.directory, self.n_tasks, nodes)
        result = self._summed(nodes.tolist(), [COUNTS] * self.n_tasks)
        for task, node in enumerate(nodes.tolist()):
            counts = result.packed[task].reshape(self._grower.shards.n_features, -1)
            others = ~self._is_voted[node]
            counts[others, 0], counts[others, 1:] = counts[others].sum(axis=1), 0
            find_counted(self._space.directory, self._rule, task, result.packed[task], 0)


class VotingGrower(ShardGrower):
    """A `ShardGrower` whose features are voted for."""

    growth_kind = VotingGrowth

    @staticmethod
    def check_settings(settings: TreeSettings, outputs: int, unrounded: bool) -> None:
        """Refuse trees that voters do not know."""
        if settings.growth == "symmetric":
            raise ParameterError(
                "parallelism='voting' is not for growth='symmetric', whose nodes share a split. Set growth='level' or parallelism='data'."
            )
        if outputs > 1:
            raise ParameterError(
                "parallelism='voting' is for trees of one output. Set multiclass='one_per_class' (multi_output of regressors), or "
                "parallelism='data'."
            )
        ShardGrower.check_settings(settings, outputs, unrounded)
