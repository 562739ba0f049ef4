"""Trees that see few columns of a wide table: the columns of each tree are copied together before it is grown.

A tree of a wide table sees a share of its columns. Where the others stand in the rows as well, they are added up and cleared at every node
all the same, and each histogram has room for all: 1,000 rows of 50,000 columns, of which a tree sees 3,420, took 0.35 s for a tree and
7.6 GB for eight growers; together they take a fifteenth. The tree is the same, bit by bit.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from woodwind.base.random_streams import choose, key
from woodwind.data.binning.codes import Codes, aligned_rows, row_stride
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.tree.code_layouts import row_lists
from woodwind.tree.grown_tree import GrownTree
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# A tree that sees at most this share of the columns is grown from copies of them; a larger one where there are more columns than rows: to
# copy is then little beside what is done with every column at every node. On one thread, 1,000 x 10,000 take 50 ms in place of 86 for a
# tree that sees 60 % of the columns, and 100,000 x 200 take 17 in place of 14.
MOST_SEEN, MOST_SEEN_OF_WIDE = 0.25, 0.6
LEAST_COLUMNS = 256


def grower_for(
    codes: Codes | SparseCodes,
    settings: TreeSettings,
    threads: int,
    capacity: int,
    outputs: int,
    beside: HistogramGrower | None,
    unrounded: bool = False,
) -> HistogramGrower:
    """A grower of the kind that is quicker; `beside` is one for the same, with which it may share."""
    seen = settings.features_per_tree
    share = MOST_SEEN_OF_WIDE if codes.n_features > codes.n_rows else MOST_SEEN
    few = seen is not None and codes.n_features >= LEAST_COLUMNS and seen <= share * codes.n_features
    if few and settings.groups is None and isinstance(codes, Codes) and row_lists(codes) is None:
        return SampledColumnsGrower(codes, settings, threads, capacity, outputs, unrounded)
    return HistogramGrower(codes, settings, threads, capacity, outputs, beside, unrounded)


class SampledColumnsGrower(HistogramGrower):
    """A `HistogramGrower` whose table are the columns of the tree at hand alone."""

    def __init__(self, codes: Codes, settings: TreeSettings, threads: int, capacity: int, outputs: int, unrounded: bool = False) -> None:
        seen = settings.features_per_tree
        assert seen is not None
        self._whole, self._features, self._monotonic = codes, np.arange(seen), settings.monotonic
        narrow = Codes(
            by_row=aligned_rows(codes.n_rows, row_stride(seen)), n_bins=codes.n_bins[:seen], width=codes.width,
            is_category=np.full(seen, codes.is_category.any()), places=self._features,
        )  # fmt: skip
        few = replace(settings, features_per_tree=None, monotonic=None if settings.monotonic is None else settings.monotonic[:seen])
        self._narrow = narrow
        super().__init__(narrow, few, threads, capacity, outputs, None, unrounded, rewritten=True)

    def _draw_features(self, tree_key: int) -> None:
        """Copy the columns of the next tree together."""
        whole, space = self._whole, self._space
        features = self._features = choose(key(tree_key, "tree features"), whole.n_features, len(self._features))
        np.take(whole.by_row, whole.places[features], axis=1, out=self._narrow.by_row[:, : len(features)])
        self._columns.bring_all(self.threads)
        space["n_bins"][:] = whole.n_bins[features]
        space["is_category"][:] = whole.is_category[features]
        if self._monotonic is not None:
            space["monotonic"][:] = self._monotonic[features]

    def _finished(self, scales: NDArray[np.float64], n_rows: int) -> GrownTree:
        """The tree, with features by their numbers in the whole table."""
        tree = super()._finished(scales, n_rows)
        split = tree.feature >= 0
        tree.feature[split] = self._features[tree.feature[split]]
        return tree
