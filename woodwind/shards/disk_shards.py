"""Blocks of a table on disk: a reader thread for each folder asks for the next ones while the present ones are worked on."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import accumulate
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from woodwind.data.binning.codes import aligned_rows
from woodwind.data.blocks.block_files import read_stored
from woodwind.data.blocks.block_table import BlockTable
from woodwind.shards.shards import Shards

Raw = tuple[NDArray[np.uint8], NDArray[np.uint8]]


class DiskShards(Shards):
    """The blocks of a `BlockTable`. Each is compared with its checksum when it is first read, and with its size always."""

    def __init__(self, table: BlockTable) -> None:
        self.table, self.layout, self.has_unseen = table, table.layout, False
        self.ends = [0, *accumulate(one.rows for one in table.blocks)]
        self._checked: set[int] = set()
        self._lock = Lock()
        self.bytes_read = 0  # since the table was opened
        self._largest = max(one.size for one in table.blocks)
        self._rooms: list[NDArray[np.uint8]] = []
        self._lent: dict[int, NDArray[np.uint8]] = {}  # by the address of the codes that stand there

    def _raw(self, number: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """The bytes of a block as they are on disk, and the memory that they stand in, which may have been used before."""
        with self._lock:
            room = self._rooms.pop() if self._rooms else aligned_rows(1, self._largest)[0]
        raw = read_stored(self.table.folders, self.table.blocks[number], number not in self._checked, room)
        with self._lock:
            self._checked.add(number)
            self.bytes_read += len(raw)
        return raw, room

    def release(self, codes: NDArray[np.uint8]) -> None:
        """Nobody works on these codes any more: their memory is used again."""
        with self._lock:
            room = self._lent.pop(codes.ctypes.data, None)
            if room is not None:
                self._rooms.append(room)

    def blocks(self, ahead: int) -> Iterator[tuple[int, Callable[[], NDArray[np.uint8]]]]:
        """Every block, in order: its bytes have been asked for when it is given, and who takes it unpacks it."""
        waiting: deque[tuple[int, Future[Raw]]] = deque()
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

    def _given(self, number: int, reading: "Future[Raw]") -> tuple[int, Callable[[], NDArray[np.uint8]]]:
        return number, partial(self._codes, number, reading)

    def _codes(self, number: int, reading: "Future[Raw]") -> NDArray[np.uint8]:
        raw, room = reading.result()
        codes = self.table.codes(number, raw)
        with self._lock:
            if codes.base is None or not np.may_share_memory(codes, room):
                self._rooms.append(room)
            else:
                self._lent[codes.ctypes.data] = room
        return codes
