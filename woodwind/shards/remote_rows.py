"""What a worker of a cluster does: answer one call after another about the blocks of a table that it can read.

An answer depends on the call and on the files of the table, and on nothing else. What a worker keeps is a cache: codes of blocks, and for
the trees that grow the statistics of the rows and where they are. Where that is missing, or older or newer than the call supposes, the
answer is which blocks are missing, and nothing has been done; the call then comes again with their statistics and with the splits so far,
and the worker repeats these. So a call may be lost, repeated, or answered by whoever is there, and all of that is harmless.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, WoodwindError
from woodwind.base.pool import on_threads
from woodwind.data.binning.codes import Codes, aligned_rows
from woodwind.data.blocks.block_files import read_stored
from woodwind.data.blocks.block_table import BlockTable
from woodwind.kernels.histogram.carried import uncarry
from woodwind.kernels.histogram.layout import Rule
from woodwind.kernels.histogram.shards import COARSE, Splits, apply_splits
from woodwind.kernels.histogram.voting import add_votes
from woodwind.shards.block_worker import BlockWorker
from woodwind.shards.requests import ShardRequest, ShardResult, SumRequest, TreeRows
from woodwind.tree.histogram_grower import walk_codes
from woodwind.tree.workspace import ListedCodes

Message = dict[str, Any]  # numbers, texts, arrays, and lists and dicts of these

MOST_TREES = 64  # that grow at a time, of all trainings; older ones are forgotten and come again when they are asked for
MOST_TABLES = 2  # that are open at a time
CODE_BYTES = 1 << 32  # of codes that stay in memory, where nobody says how many


@dataclass(eq=False)
class BlockOfTree:
    """The rows of a block in a tree that grows."""

    rows: TreeRows
    applied: int  # how many times splits have been applied
    taken: NDArray[np.int64] | None  # which rows of the block are trained on, None for all


@dataclass(eq=False)
class OpenTable:
    """A table in blocks, as a worker has it."""

    table: BlockTable
    layout: Codes
    codes: dict[int, NDArray[np.uint8]]  # of blocks that stay in memory
    checked: set[int]  # blocks that have been compared with their checksums
    workers: dict[int, list[BlockWorker]]  # by the number of lanes

    @classmethod
    def of(cls, folder: str, token: str) -> "OpenTable":
        """Open the table that the driver has; DataError where another one is there."""
        if not Path(folder).is_dir():
            raise DataError(f"there is no folder {folder!r} here. Write the blocks to a folder that all workers see under the same name.")
        table = BlockTable(folder)
        if table.token != token:
            raise DataError(f"BlockTable: another table has been written to {folder!r} since the training began. Train again.")
        return cls(table, table.layout, {}, set(), {})

    def load(self, number: int) -> NDArray[np.uint8]:
        """The codes of a block, (rows, stride), as they are on disk."""
        stored = self.table.blocks[number]
        room = aligned_rows(1, stored.size)[0]
        codes = self.table.codes(number, read_stored(self.table.folders, stored, number not in self.checked, room))
        self.checked.add(number)
        return codes

    def block_workers(self, lanes: int, threads: int) -> list[BlockWorker]:
        """Memory of so many threads."""
        made = self.workers.setdefault(lanes, [])
        starts = ListedCodes(self.layout, None).starts
        while len(made) < threads:
            made.append(BlockWorker(self.layout, starts, lanes))
        return made[:threads]


class RemoteRows:
    """A worker: `threads` work on its blocks, and up to `code_bytes` of their codes stay in memory."""

    def __init__(self, threads: int = 1, code_bytes: int = CODE_BYTES, open_table: Callable[[str, str], OpenTable] = OpenTable.of) -> None:
        self.threads, self._room, self._open_table = threads, code_bytes, open_table
        self._lock, self._codes_lock = Lock(), Lock()
        self._tables: dict[tuple[str, str], OpenTable] = {}
        self._trees: dict[tuple[str, int], dict[int, BlockOfTree]] = {}
        self._last: tuple[tuple[Any, ...], Message] | None = None
        self._sums: tuple[tuple[Any, ...], ShardResult, int] | None = None  # of all features, while some of them are voted for

    def answer(self, call: Message) -> Message:
        """Answer a call; one at a time. What is wrong with the data is an answer too: `error`."""
        with self._lock:
            try:
                return self._answer(call)
            except WoodwindError as error:
                return {"error": str(error)}
            except OSError as error:
                return {"error": f"{error.strerror or error}: {error.filename or call['folder']}"}

    def _answer(self, call: Message) -> Message:
        table = self._open(call["folder"], call["token"])
        if call["kind"] == "walk":
            return self._walk(table, call)
        key = (call["run"], call["tree"], call["number"], call["kind"], *call["blocks"])
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        tree = self._trees.setdefault((call["run"], call["tree"]), {})
        if call["kind"] == "voted" and self._sums is not None and self._sums[0] == key:
            return selected(self._sums[1], request_of(call), call, self._sums[2])
        missing = [block for block in call["blocks"] if str(block) not in call["rows"] and not is_current(tree.get(block), call)]
        if missing:
            return {"missing": missing}
        try:
            self._rebuild(table, tree, call)
            work = {"leaves": self._leaves, "ask": self._ask, "vote": self._vote, "voted": self._voted}[call["kind"]]
            found = work(table, tree, call)
        except BaseException:
            self._trees.pop((call["run"], call["tree"]), None)  # splits may have been applied to some blocks
            raise
        if call["kind"] == "leaves":
            for block in call["blocks"]:
                tree.pop(block)
        while len(self._trees) > MOST_TREES:
            del self._trees[next(iter(self._trees))]
        if not tree:
            self._trees.pop((call["run"], call["tree"]), None)
        self._last = key, found
        return found

    def _open(self, folder: str, token: str) -> OpenTable:
        if (folder, token) not in self._tables:
            self._tables[folder, token] = self._open_table(folder, token)
            while len(self._tables) > MOST_TABLES:
                del self._tables[next(iter(self._tables))]  # its codes leave memory
        return self._tables[folder, token]

    def _codes(self, table: OpenTable, number: int) -> NDArray[np.uint8]:
        """The codes of a block, (rows, stride); they stay in memory where there is room."""
        found = table.codes.get(number)
        if found is not None:
            return found
        codes = table.load(number)
        with self._codes_lock:
            if sum(one.nbytes for other in self._tables.values() for one in other.codes.values()) + codes.nbytes <= self._room:
                table.codes[number] = codes
        return codes

    def _on_blocks(self, table: OpenTable, blocks: Sequence[tuple[int, NDArray[np.int64] | None]], work: Any) -> int:
        """`work(side, position, codes)` for every block, on threads; returns how many sides there may have been."""
        lock, upcoming, sides = Lock(), iter(range(len(blocks))), max(1, min(self.threads, len(blocks)))

        def part(side: int) -> None:
            while True:
                with lock:
                    position = next(upcoming, None)
                if position is None:
                    return
                number, taken = blocks[position]
                codes = self._codes(table, number)
                work(side, position, codes if taken is None else np.take(codes, taken, axis=0))

        on_threads(part, sides)
        return sides

    # Trees that grow.

    def _rebuild(self, table: OpenTable, tree: dict[int, BlockOfTree], call: Message) -> None:
        """Begin the blocks whose statistics came along, and repeat the splits so far."""
        for block, given in call["rows"].items():
            tree[int(block)] = begun(given, call)
        again = [int(block) for block in call["rows"]]
        if not again or not call["history"]:
            return
        history = [Splits(*(np.array(part) for part in one)) for one in call["history"]]

        def repeat(_side: int, position: int, codes: NDArray[np.uint8]) -> None:
            rows = tree[again[position]].rows
            for splits in history:
                size = len(splits.at)
                apply_splits(codes, rows.places, rows.times, splits, np.zeros(size, np.int64), np.zeros((size, 256), np.uint8))

        self._on_blocks(table, [(block, tree[block].taken) for block in again], repeat)
        for block in again:
            tree[block].applied = len(history)

    def _ask(self, table: OpenTable, tree: dict[int, BlockOfTree], call: Message) -> Message:
        """Apply splits, then sum, over some blocks; the answer is of all of them together."""
        request = request_of(call)
        states = [tree[block] for block in call["blocks"]]
        workers = table.block_workers(call["lanes"], max(1, min(self.threads, len(states))))
        for worker in workers:
            worker.begin(request)

        def work(side: int, position: int, codes: NDArray[np.uint8]) -> None:
            workers[side].block(codes, states[position].rows)

        self._on_blocks(table, [(block, tree[block].taken) for block in call["blocks"]], work)
        first, *others = [worker.result() for worker in workers]
        for other in others:
            first.add(other)
        if request.splits is not None:
            for state in states:
                state.applied += 1
        return packed_result(first, request)

    def _vote(self, table: OpenTable, tree: dict[int, BlockOfTree], call: Message) -> Message:
        """Apply splits, and vote for the features that sums are wanted of: each unit of blocks has a voice."""
        request = request_of(call)
        assert request.sums is not None
        groups, rule = np.array(call["groups"]), Rule(*call["rule"])
        units: dict[int, list[int]] = {}
        for block, unit in zip(call["blocks"], call["units"], strict=True):
            units.setdefault(unit, []).append(block)
        (worker,) = table.block_workers(0, 1)
        votes: NDArray[np.int64] = np.zeros((int(groups.max()) + 1, table.layout.n_features), np.int64)
        total: ShardResult | None = None
        for blocks in units.values():
            worker.begin(request)
            for block in blocks:
                codes, taken = self._codes(table, block), tree[block].taken
                worker.block(codes if taken is None else np.take(codes, taken, axis=0), tree[block].rows)
            found = worker.result()
            wide = found.wide if len(found.wide) else found.packed
            add_votes(found.packed, wide, request.sums.forms, groups, table.layout.is_category, rule, call["top"], votes)
            if total is None:
                total = found
            else:
                total.add(found)
        if request.splits is not None:
            for block in call["blocks"]:
                tree[block].applied += 1
        assert total is not None  # there are blocks
        key = (call["run"], call["tree"], call["number"], "voted", *call["blocks"])
        self._sums = key, total, table.layout.n_features
        return {"left": total.left, "met": np.packbits(total.met, axis=1), "votes": votes}

    def _voted(self, table: OpenTable, tree: dict[int, BlockOfTree], call: Message) -> Message:
        """The sums of features that were voted for, by a worker that has not voted itself."""
        self._vote(table, tree, call)
        assert self._sums is not None
        return selected(self._sums[1], request_of(call), call, self._sums[2])

    def _leaves(self, _table: OpenTable, tree: dict[int, BlockOfTree], call: Message) -> Message:
        """The leaf of every row of each block, by its number among the leaves; rows that are not in the tree have any."""
        leaf_of = np.array(call["leaf_of"])
        return {"leaves": {str(block): leaf_of[np.maximum(tree[block].rows.places, 0)] for block in call["blocks"]}}

    def _walk(self, table: OpenTable, call: Message) -> Message:
        """The node of a finished tree where each row of each block ends."""
        tree: Any = SimpleNamespace(**{name: np.array(part) for name, part in call["walked"].items()})
        blocks, layout = call["blocks"], table.layout
        found: list[NDArray[Any]] = [np.empty(0, np.int32)] * len(blocks)
        kind = np.uint8 if len(tree.feature) <= 256 else np.uint16 if len(tree.feature) <= 65536 else np.int32

        def work(_side: int, position: int, codes: NDArray[np.uint8]) -> None:
            out: NDArray[np.int32] = np.empty(len(codes), np.int32)
            walk_codes(tree, Codes(codes, layout.n_bins, layout.width, layout.is_category, layout.places), out, 1)
            found[position] = out.astype(kind)

        taken = [call["taken"].get(str(block)) for block in blocks]
        self._on_blocks(table, [(block, None if some is None else np.array(some)) for block, some in zip(blocks, taken, strict=True)], work)
        return {"leaves": {str(block): one for block, one in zip(blocks, found, strict=True)}}


def is_current(state: BlockOfTree | None, call: Message) -> bool:
    """Whether a block is where the call supposes."""
    return state is not None and state.applied == call["applied"]


def begun(given: Message, call: Message) -> BlockOfTree:
    """The rows of a block before the first split, from what the driver sends of them."""
    size, words = given["size"], np.array(given["statistics"])
    places: NDArray[np.int32] = np.zeros(size, np.int32)
    if "inside" in given:
        places[np.unpackbits(np.asarray(given["inside"]), count=size) == 0] = -1
    rule = Rule(*call["rule"])
    if rule.lanes == 0 and not rule.unrounded:
        stats: NDArray[np.int64] = np.empty(size, np.int64)
        uncarry(words, stats)
        words = stats
    times, taken = given.get("times"), given.get("taken")
    rows = TreeRows(places, None if times is None else np.array(times), words, rule, call["lane_shift"], call["lanes_ready"])
    return BlockOfTree(rows, 0, None if taken is None else np.array(taken))


def request_of(call: Message) -> ShardRequest:
    """The request that a call carries."""
    splits = None if call["splits"] is None else Splits(*(np.array(part) for part in call["splits"]))
    sums = None if call["sums"] is None else SumRequest(*(np.array(part) for part in call["sums"]))
    return ShardRequest(splits, sums)


def packed_result(result: ShardResult, request: ShardRequest) -> Message:
    """A result without what is zero by its form, in as few bytes as its numbers need."""
    found: Message = {"left": result.left, "met": np.packbits(result.met, axis=1)}
    if request.sums is None:
        return found
    coarse = request.sums.forms == COARSE
    found["packed"] = result.packed if not coarse.any() else result.packed[~coarse]
    if coarse.any():
        wide = result.wide if coarse.all() else result.wide[coarse]
        small = wide.size == 0 or (int(wide.max()) < 1 << 31 and int(wide.min()) >= -(1 << 31))
        found["wide"] = wide.astype(np.int32) if small else wide
    return found


def selected(result: ShardResult, request: ShardRequest, call: Message, n_features: int) -> Message:
    """The sums of some features of each group."""
    assert request.sums is not None
    forms, features = request.sums.forms, np.array(call["features"])[np.array(call["groups"])]
    found: Message = {"forms": forms}
    for name, planes, chosen in (("packed", 1, np.flatnonzero(forms != COARSE)), ("wide", 2, np.flatnonzero(forms == COARSE))):
        if len(chosen) == 0 and name == "wide":
            continue
        table = (result.wide if name == "wide" else result.packed).reshape(len(forms), planes, n_features, -1)
        some = (
            np.stack([table[slot][:, features[slot]] for slot in chosen])
            if len(chosen)
            else np.zeros((0, planes, features.shape[1], table.shape[3]), np.int64)
        )
        small = name == "wide" and int(some.max()) < 1 << 31 and int(some.min()) >= -(1 << 31)
        found[name] = some.astype(np.int32) if small else some
    return found


def unpacked_result(answer: Message, request: ShardRequest, cells: int, lanes: int) -> ShardResult:
    """The result that `packed_result` has packed."""
    size, n_splits = request.n_sums, request.n_splits
    met = np.unpackbits(np.asarray(answer["met"]), axis=1) if n_splits else np.zeros((0, 256), np.uint8)
    packed: NDArray[Any] = np.zeros((size, cells * max(lanes, 1)), np.int32 if lanes else np.int64)
    wide: NDArray[np.int64] = np.zeros((0, 2 * cells), np.int64)
    if request.sums is not None:
        coarse = request.sums.forms == COARSE
        packed[~coarse] = answer["packed"]
        if coarse.any():
            wide = np.zeros((size, 2 * cells), np.int64)
            wide[coarse] = answer["wide"]
    return ShardResult(np.array(answer["left"]), met, packed, wide)
