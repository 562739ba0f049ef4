"""A coded table in memory, divided into blocks of rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.codes import Codes
from woodwind.shards.shards import Shards


class MemoryShards(Shards):
    """Blocks of a coded table, of any sizes: rows ends[k] to ends[k + 1] are block k."""

    def __init__(self, codes: Codes, ends: Sequence[int]) -> None:
        if list(ends) != sorted(ends) or len(ends) < 2 or ends[0] != 0 or ends[-1] != codes.n_rows:
            raise ValueError(f"blocks must cover rows 0 to {codes.n_rows}, one after another")
        self.codes, self.ends = codes, list(ends)
        self.layout = replace(codes, by_row=codes.by_row[:0])
        self.has_unseen = codes.has_unseen

    def blocks(self, ahead: int) -> Iterator[tuple[int, Callable[[], NDArray[np.uint8]]]]:
        """Every block that has rows."""
        del ahead
        for number, (begin, end) in enumerate(zip(self.ends, self.ends[1:], strict=False)):
            if begin < end:
                yield number, lambda begin=begin, end=end: self.codes.by_row[begin:end]  # type: ignore[misc]
