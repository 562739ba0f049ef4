"""The approximate learner: every tree has bins of its own, quantiles weighted by the hessians of its rows (Chen & Guestrin 2016).

Columns are ranked once. Before a tree is grown, the values of each column are put into bins by the hessians that its rows have by then
(`kernels/binning/candidates.py`), and the codes of all rows are written anew; then the histogram engine grows it as it grows any other.
The page is docs/algorithms/approximate-split-finding.md.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.base.random_streams import choose, key
from woodwind.data.binning.codes import Codes, aligned_rows, row_stride, width_for
from woodwind.data.binning.ranks import UNSEEN_RANK, Ranks
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.histogram_learner import HistogramLearner
from woodwind.ensemble.boosting.tree_learner import Floats, Rows, Targets
from woodwind.kernels.binning.candidates import ABSENT, bins_of_values, codes_of_ranks, weigh_values
from woodwind.kernels.binning.encode import rows_from_columns
from woodwind.kernels.exact.memory import MISSING_RANK
from woodwind.tree.exact_grower import thresholds, walk_ranks
from woodwind.tree.grown_tree import GrownTree, ValuedTree
from woodwind.tree.histogram_grower import HistogramGrower

Integers = NDArray[np.int64]


class ApproximateLearner(HistogramLearner):
    """See `TreeLearner`: `HistogramLearner` on ranks, with codes of its own for every tree."""

    codes: Codes

    def __init__(
        self,
        ranks: Ranks,
        y: Targets,
        weight: Floats | None,
        plan: BoostPlan,
        capacity: int,
        outputs: int,
        before_growing: Callable[[], None],
    ) -> None:
        self.ranks, self._n_bins = ranks, plan.tree.candidate_bins
        n, n_features = ranks.n_rows, ranks.n_features
        n_bins = np.maximum(np.where(ranks.is_category, ranks.n_codes, np.minimum(ranks.n_codes, self._n_bins)), 1).astype(np.int32)
        by_row = aligned_rows(n, row_stride(n_features))
        by_row[:] = 0
        codes = Codes(by_row, n_bins, width_for(n_bins, ranks.is_category), ranks.is_category, np.arange(n_features))
        super().__init__(codes, y, weight, plan, capacity, outputs, before_growing)
        self.has_unseen = ranks.has_unseen
        self.n_workers = 1  # trees have codes of their own, so that they are grown one after another
        # Categories, and columns of few values, have the same bins in all trees.
        self._is_fixed = ranks.is_category | (ranks.n_codes <= self._n_bins)
        self._is_stale, self._has_rows = np.ones(n_features, np.bool_), False
        fixed = np.stack([np.arange(max(int(n_bins.max(initial=1)), 1), dtype=np.int32)] * 2)
        self._ends: list[NDArray[np.int32]] = [fixed[:, : n_bins[feature]] for feature in range(n_features)]
        # Where in the order of its rows each value of a column begins.
        self._starts = {feature: self._first_rows(feature) for feature in np.flatnonzero(~self._is_fixed).tolist()}

    def _first_rows(self, feature: int) -> NDArray[np.int32]:
        here = self.ranks.by_column[feature]
        counts = np.bincount(here[here >= 0], minlength=int(self.ranks.n_codes[feature]))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    def _new_grower(self, threads: int, beside: HistogramGrower | None) -> HistogramGrower:
        """A grower whose codes are others for every tree."""
        made = HistogramGrower(
            self.codes, self.settings, threads, self.capacity, self.outputs, beside, self._unrounded, rewritten=True
        )  # fmt: skip
        if beside is None:
            for feature in np.flatnonzero(self._is_fixed).tolist():
                self._write_fixed(feature, made.columns[feature])
        return made

    def _write_fixed(self, feature: int, out: NDArray[np.uint8]) -> None:
        """The codes of a column that has a bin for each of its values."""
        ranks = self.ranks.by_column[feature]
        out[:] = np.where(ranks < 0, self.codes.missing, ranks)
        if self.ranks.is_category[feature]:
            out[ranks == UNSEEN_RANK] = self.codes.unseen

    def grow(self, tree_key: int, rows: Rows | None, output: int, worker: int | None = None) -> GrownTree:
        """Propose candidates from the rows of the tree, then grow it; splits of numbers are between two ranks, as in exact trees."""
        self._propose(tree_key, rows, output)
        tree = super().grow(tree_key, rows, output, worker)
        tree.bin = self._between_ranks(tree)
        tree.threshold = thresholds(tree, self.ranks)
        return tree

    def _propose(self, tree_key: int, rows: Rows | None, output: int) -> None:
        """Write the codes of all rows by quantiles of the hessians of some."""
        # Where all rows have the same hessian in all rounds, so are the bins.
        same = self._constant and rows is None
        if not same:
            self._is_stale[:] = True
        wanted = np.flatnonzero(~self._is_fixed & self._is_stale & self._drawn(tree_key))
        if len(wanted):
            weight, columns = self._row_weights(rows, output), self.grower.columns
            run_ranges(lambda begin, end: self._write_moving(wanted[begin:end], weight, columns), len(wanted), self.threads, self.n_rows)
            self._is_stale[wanted] = not same
        if len(wanted) or not self._has_rows:
            by_row, order, n_features = self.codes.by_row, np.arange(self.codes.n_features), self.codes.n_features
            run_ranges(
                lambda begin, end: rows_from_columns(self.grower.columns, order, begin, end, begin, by_row),
                self.n_rows, self.threads, n_features,
            )  # fmt: skip
            self._has_rows = True

    def _drawn(self, tree_key: int) -> NDArray[np.bool_]:
        """Which features the tree will be given."""
        per_tree, n_features = self.settings.features_per_tree, self.ranks.n_features
        if per_tree is None or per_tree >= n_features:
            return np.ones(n_features, np.bool_)
        drawn = np.zeros(n_features, np.bool_)
        drawn[choose(key(tree_key, "tree features"), n_features, per_tree)] = True
        return drawn

    def _row_weights(self, rows: Rows | None, output: int) -> NDArray[np.int32] | Integers:
        """The hessian of every row as often as it is given; -1 for rows that are not."""
        hessian: NDArray[np.int32] | Integers
        if output < 0:
            hessian = np.ascontiguousarray(self._gradients[:, -1])
        else:
            stats = self._stats[output] if self.width > 1 else self.grower.filled_stats
            hessian = stats.reshape(2, -1)[1] if self._unrounded else (stats & 0xFFFFFFFF).astype(np.int32)
        if rows is None:
            return hessian
        times = np.bincount(rows, minlength=self.n_rows)
        if times.max() > 1:
            hessian = hessian * times  # as int64
        return np.where(times > 0, hessian, hessian.dtype.type(ABSENT))

    def _write_moving(self, features: Integers, weight: NDArray[np.int32] | Integers, columns: NDArray[np.uint8]) -> None:
        """Bins of some columns by the weights of rows, and the codes of all rows by these bins."""
        most = int(self.ranks.n_codes[features].max(initial=1))
        of_value, bins = np.empty(most, np.int64), np.empty(most + 1, np.uint8)
        bins[0] = self.codes.missing
        for feature in features.tolist():
            n_values = int(self.ranks.n_codes[feature])
            ends = np.empty((2, self._n_bins), np.int32)
            weigh_values(self.ranks.order[feature], self._starts[feature], weight, of_value[:n_values])
            used = bins_of_values(of_value[:n_values], self._n_bins, bins[: n_values + 1], ends)
            codes_of_ranks(self.ranks.by_column[feature], bins[: n_values + 1], 0, self.n_rows, columns[feature])
            self._ends[feature] = ends[:, : max(used, 1)]

    def _between_ranks(self, tree: GrownTree) -> Integers:
        """Number splits as exact trees have them: (the first rank right of the cut << 32) + the last one left of it."""
        out = np.zeros(tree.n_nodes, np.int64)
        for node in np.flatnonzero((tree.feature >= 0) & (tree.set < 0)).tolist():
            (first, last), cut = self._ends[tree.feature[node]], int(tree.bin[node])
            above = int(first[cut + 1]) if cut + 1 < len(first) else MISSING_RANK
            out[node] = (above << 32) + int(last[min(cut, len(last) - 1)])
        return out

    def walk(self, tree: ValuedTree, out: NDArray[np.int32], threads: int) -> None:
        """Write the node of the tree where each row ends to `out`."""
        walk_ranks(tree, self.ranks, out, threads)
