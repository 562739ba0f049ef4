"""Shards some of whose columns are in memory: statistics of the target in the place of columns of many categories."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.codes import Codes, aligned_rows, positions_in_row, shared_stride
from woodwind.data.binning.cuts import Cuts
from woodwind.shards.shards import Shards


class OverlaidShards(Shards):
    """The rows of other shards, with other columns. `kept` says which feature of the others each feature is, -1 for those in `columns`."""

    def __init__(self, of: Shards, cuts: Cuts, kept: NDArray[np.int64], columns: dict[int, NDArray[np.uint8]]) -> None:
        self._of, self._cuts, self._kept, self._columns = of, cuts, kept, columns
        stride = shared_stride(cuts.n_bins)
        places = positions_in_row(cuts.n_bins, stride)
        self.layout = Codes(aligned_rows(0, stride), cuts.n_bins, cuts.width, cuts.is_category, places)
        self.has_unseen, self.ends = of.has_unseen, of.ends
        here = np.flatnonzero(kept >= 0)
        self._from, self._to = of.layout.places[kept[here]], places[here]
        # The codes of what is missing are the last ones of both widths.
        self._missing = (of.layout.missing, self.layout.missing)

    def with_columns(self, columns: Iterable[tuple[int, NDArray[np.int64]]]) -> "OverlaidShards":
        """The same with other codes (n,) of some of the features in memory."""
        renewed = {feature: codes.astype(np.uint8) for feature, codes in columns}
        return OverlaidShards(self._of, self._cuts, self._kept, {**self._columns, **renewed})

    def blocks(self, ahead: int) -> Iterator[tuple[int, Callable[[], NDArray[np.uint8]]]]:
        """Every block of the other shards."""
        for number, load in self._of.blocks(ahead):
            yield number, partial(self._overlaid, number, load)

    def _overlaid(self, number: int, load: Callable[[], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        begin, end = int(self.ends[number]), int(self.ends[number + 1])
        codes = load()
        out = aligned_rows(end - begin, self.layout.by_row.shape[1])
        out[:] = 0
        out[:, self._to] = codes[:, self._from]
        self._of.release(codes)
        was, is_now = self._missing
        if was != is_now:
            some = out[:, self._to]
            some[some == was] = is_now
            out[:, self._to] = some
        for feature, of_rows in self._columns.items():
            out[:, self.layout.places[feature]] = of_rows[begin:end]
        return out
