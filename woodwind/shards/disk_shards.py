"""Blocks of a table on disk: a reader thread for each folder asks for the next ones while the present ones are worked on."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import accumulate
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from woodwind.data.blocks.block_files import read_stored
from woodwind.data.blocks.block_table import BlockTable
from woodwind.shards.shards import Shards


class DiskShards(Shards):
    """The blocks of a `BlockTable`. Each is compared with its checksum when it is first read, and with its size always."""

    def __init__(self, table: BlockTable) -> None:
        self.table, self.layout, self.has_unseen = table, table.layout, False
        self.ends = [0, *accumulate(one.rows for one in table.blocks)]
        self._checked: set[int] = set()
        self._lock = Lock()
        self.bytes_read = 0  # since the table was opened

    def _raw(self, number: int) -> bytes:
        """The bytes of a block as they are on disk."""
        raw = read_stored(self.table.folders, self.table.blocks[number], number not in self._checked)
        with self._lock:
            self._checked.add(number)
            self.bytes_read += len(raw)
        return raw

    def blocks(self, ahead: int) -> Iterator[tuple[int, Callable[[], NDArray[np.uint8]]]]:
        """Every block, in order: its bytes have been asked for when it is given, and who takes it unpacks it."""
        waiting: deque[tuple[int, Future[bytes]]] = deque()
        readers = ThreadPoolExecutor(len(self.table.folders), thread_name_prefix="woodwind-reader")
        is_done = False
        try:
            for number in range(len(self.table.blocks)):
                waiting.append((number, readers.submit(self._raw, number)))
                if len(waiting) > ahead + len(self.table.folders):
                    yield self._given(*waiting.popleft())
            while waiting:
                yield self._given(*waiting.popleft())
            is_done = True  # those that were given last may still wait for their bytes
        finally:
            readers.shutdown(wait=not is_done, cancel_futures=not is_done)

    def _given(self, number: int, reading: "Future[bytes]") -> tuple[int, Callable[[], NDArray[np.uint8]]]:
        return number, partial(self._codes, number, reading)

    def _codes(self, number: int, reading: "Future[bytes]") -> NDArray[np.uint8]:
        return self.table.codes(number, reading.result())
