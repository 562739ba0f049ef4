"""Blocks of a table that the workers of a cluster read and work on.

The driver has what belongs to a row (docs/decisions/0034-cluster.md says why), decides everything, and asks: one call to each worker and
step, about all of its blocks, whose sums the worker adds up. When a tree begins, the statistics of the rows go along, and when it has grown
the leaves of the rows come back. Which worker has which block changes nothing but the time: sums are integers, and each block is counted
once, with the first answer that is taken.
"""

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ClusterError
from woodwind.data.blocks.block_table import BlockTable
from woodwind.kernels.histogram.carried import carry
from woodwind.kernels.histogram.shards import COARSE
from woodwind.shards.block_worker import BlockWorker
from woodwind.shards.remote_rows import Message, unpacked_result
from woodwind.shards.requests import ShardRequest, ShardResult, TreeRows
from woodwind.shards.shards import Shards
from woodwind.shards.transport import Transport
from woodwind.tree.grown_tree import ValuedTree
from woodwind.tree.workspace import ListedCodes

VOTERS = 16  # parts of a table that vote for features
VOTED = 40  # features that are summed, where they are voted for; each voter names half as many
MOST_LOSSES = 20  # of workers with the same block in one step, before the block is taken to be what they died of


class GrowingTree:
    """What the driver has to say about a tree that grows, to a worker that knows nothing."""

    def __init__(self, number: int, rows: TreeRows) -> None:
        self.number, self.rows = number, rows
        self.history: list[list[NDArray[Any]]] = []  # splits that have been applied
        self.asked = 0
        self.sent = False  # whether the rows have been sent to anybody

    def head(self) -> Message:
        """What stands in every call."""
        rows, rule = self.rows, self.rows.rule
        return {
            "tree": self.number, "number": self.asked, "applied": len(self.history), "rule": [plain(value) for value in rule],
            "lanes": int(rule.lanes), "lane_shift": int(rows.lane_shift), "lanes_ready": bool(rows.lanes_ready),
        }  # fmt: skip


class ClusterShards(Shards):
    """The blocks of a `BlockTable` in a folder that all workers see; `taken` are the rows that are trained on, ascending, None for all."""

    def __init__(self, table: BlockTable, transport: Transport, taken: NDArray[np.int64] | None = None, votes: bool = False) -> None:
        self.has_votes = votes
        self.table, self.transport, self.layout, self.has_unseen = table, transport, table.layout, False
        self._taken, self._block_ends = taken, [0, *accumulate(one.rows for one in table.blocks)]
        self.ends = self._block_ends if taken is None else np.searchsorted(taken, self._block_ends).tolist()
        self._full = [block for block in range(len(table.blocks)) if self.ends[block] < self.ends[block + 1]]
        # What one worker has as a whole: a block, or all blocks of a voter.
        voters = min(len(self._full), VOTERS) if votes else len(self._full)
        self._unit = {block: k * voters // len(self._full) for k, block in enumerate(self._full)}
        self._sizes: Counter[int] = Counter()
        for block, unit in self._unit.items():
            self._sizes[unit] += int(self.ends[block + 1] - self.ends[block])
        self._run = secrets.token_hex(8)
        self._owner: dict[int, str] = {}  # by unit
        self._trees: dict[int, GrowingTree] = {}
        self._n_trees = 0
        self._cells = int(ListedCodes(self.layout, None).starts[-1])
        self._lock = RLock()
        self.traffic: Counter[str] = Counter()  # bytes to and from workers, calls, workers lost, blocks sent again

    def take(self, rows: NDArray[np.int64]) -> "ClusterShards":
        """Some of the rows, ascending, each as often as it is named."""
        if len(rows) == 0 or bool((rows[1:] < rows[:-1]).any()) or rows[0] < 0 or rows[-1] >= self.n_rows:
            raise IndexError(f"there are {self.n_rows} rows, and some were asked for that are not there, or not in order")
        return ClusterShards(self.table, self.transport, rows if self._taken is None else self._taken[rows], self.has_votes)

    def blocks(self, ahead: int) -> Iterator[tuple[int, Callable[[], NDArray[np.uint8]]]]:
        """Blocks are read by workers."""
        raise NotImplementedError

    # The verbs.

    def ask(self, request: ShardRequest, rows: TreeRows, workers: Sequence[BlockWorker]) -> ShardResult:
        """Apply splits, then sum, over all rows. Their places stay with the workers until `finish`."""
        del workers  # they are threads of this process
        with self._lock:
            tree = self._tree(rows)
            splits = None if request.splits is None else [np.asarray(part) for part in request.splits]
            sums = None if request.sums is None else [request.sums.slot_of, request.sums.forms]
            total: ShardResult | None = None
            for answer in self._answers(tree, {"kind": "ask", "splits": splits, "sums": sums}):
                found = unpacked_result(answer, request, self._cells, rows.rule.lanes)
                if total is None:
                    total = found
                else:
                    total.add(found)
            if splits is not None:
                tree.history.append(splits)
            assert total is not None  # there are rows
            return total

    def ask_voted(self, request: ShardRequest, groups: NDArray[np.int32], rows: TreeRows) -> ShardResult:
        """As `ask`, of the features that most voters would split by; sums of one group have the same. Others have one cell."""
        assert request.sums is not None
        with self._lock:
            tree = self._tree(rows)
            splits = None if request.splits is None else [np.asarray(part) for part in request.splits]
            body: Message = {"splits": splits, "sums": [request.sums.slot_of, request.sums.forms], "groups": groups, "top": VOTED // 2}
            counted: dict[str, Any] = {"left": np.zeros(request.n_splits, np.int64), "met": np.zeros((request.n_splits, 32), np.uint8)}
            votes: NDArray[np.int64] = np.zeros((int(groups.max()) + 1, self.n_features), np.int64)
            for answer in self._answers(tree, {"kind": "vote", **body}):
                votes += answer["votes"]
                counted["left"] += answer["left"]
                counted["met"] |= answer["met"]
            features = np.sort(np.argsort(-votes, axis=1, kind="stable")[:, :VOTED], axis=1).astype(np.int32)
            total: ShardResult | None = None
            for answer in self._answers(tree, {"kind": "voted", **body, "features": features}):
                found = unpacked_result(self._spread({**counted, **answer}, features[groups]), request, self._cells, 0)
                if total is None:
                    total = replace(found, left=counted["left"])
                else:
                    total.add(replace(found, left=np.zeros_like(found.left)))
            if splits is not None:
                tree.history.append(splits)
            assert total is not None
            return total

    def _spread(self, answer: Message, features: NDArray[np.int32]) -> Message:
        """Sums of a few features as sums of all: whatever is not among them has all of its rows in the first cell."""
        width = self._cells // self.n_features
        out = dict(answer)
        forms = answer["forms"]
        for name, planes in (("packed", 1), ("wide", 2)):
            if name not in answer:
                continue
            chosen = features[np.flatnonzero((forms == COARSE) == (name == "wide"))]
            given = np.asarray(answer[name]).reshape(len(chosen), planes, features.shape[1], width)
            full = np.zeros((len(chosen), planes, self.n_features, width), np.int64)
            full[..., 0] = given[:, :, 0].sum(axis=-1, dtype=np.int64)[..., None]
            for k, some in enumerate(chosen):
                full[k][:, some] = given[k]
            out[name] = full.reshape(len(chosen), planes * self._cells)
        return out

    def finish(self, rows: TreeRows, leaf_of: NDArray[np.int32]) -> None:
        """A tree has grown: the leaves of its rows come back."""
        with self._lock:
            tree = self._tree(rows)
            leaves = np.unique(leaf_of)
            absent = rows.places < 0
            if len(leaves) == 1:
                rows.places[:] = leaves[0]
            else:
                kind = np.uint8 if len(leaves) <= 256 else np.uint16 if len(leaves) <= 65536 else np.int32
                numbers = np.searchsorted(leaves, leaf_of).astype(kind)
                for answer in self._answers(tree, {"kind": "leaves", "leaf_of": numbers}):
                    self._put(answer, rows.places, leaves)
            rows.places[absent] = -1
            del self._trees[id(rows)]

    def walk(self, tree: ValuedTree, out: NDArray[np.int32], threads: int) -> None:
        """Write the node of the tree where each row ends to `out`."""
        del threads
        with self._lock:
            names = ("feature", "bin", "child", "missing", "set", "sets")
            body = {"kind": "walk", "walked": {name: np.ascontiguousarray(getattr(tree, name)) for name in names}}
            for answer in self._answers(None, body):
                self._put(answer, out, None)

    def _put(self, answer: Message, out: NDArray[np.int32], numbers: NDArray[np.int32] | None) -> None:
        """Take what came for the rows of some blocks."""
        for block, found in answer["leaves"].items():
            part = out[self.ends[int(block)] : self.ends[int(block) + 1]]
            part[:] = found if numbers is None else numbers[found]

    def _tree(self, rows: TreeRows) -> GrowingTree:
        """The tree that grows from these rows; a new one where there is none."""
        tree = self._trees.get(id(rows))
        if tree is None:
            tree = self._trees[id(rows)] = GrowingTree(self._n_trees, rows)
            self._n_trees += 1
            self._balance()
        tree.asked += 1
        return tree

    # Calls.

    def _answers(self, tree: GrowingTree | None, body: Message) -> Iterator[Message]:
        """The answers of workers, each block in one of them, until all blocks have been in one."""
        head = {"run": self._run, "folder": os.path.abspath(self.table.path), "token": self.table.token, **body}
        if tree is not None:
            head |= tree.head()
        pending = set(self._full)
        again = set(pending) if tree is not None and not tree.sent else set()
        losses: Counter[int] = Counter()
        while pending:
            calls = [(worker, self._call(tree, head, blocks, again)) for worker, blocks in self._assigned(pending).items()]
            self._count(calls)
            for (worker, call), answer in zip(calls, self.transport.exchange(calls), strict=True):
                blocks = call["blocks"]
                if answer is None:
                    self._lose(worker, blocks, losses)
                    again.update(blocks)
                elif "error" in answer:
                    raise ClusterError(f"the worker {worker} reports: {answer['error']}")
                elif "missing" in answer:
                    again.update(answer["missing"])
                    self.traffic["blocks sent again"] += len(answer["missing"])
                else:
                    pending.difference_update(blocks)
                    self.traffic["bytes from workers"] += size_of(answer)
                    yield answer
        if tree is not None:
            tree.sent = True

    def _call(self, tree: GrowingTree | None, head: Message, blocks: list[int], again: set[int]) -> Message:
        """A call about some blocks, with the rows of those that their worker does not have."""
        if tree is None:
            taken = {str(block): self._positions(block) for block in blocks} if self._taken is not None else {}
            return {**head, "blocks": blocks, "taken": taken}
        new = [block for block in blocks if block in again]
        rows = {str(block): self._rows_of(tree.rows, block) for block in new}
        units = [self._unit[block] for block in blocks]
        return {**head, "blocks": blocks, "units": units, "rows": rows, "history": list(tree.history) if new else []}

    def _rows_of(self, rows: TreeRows, block: int) -> Message:
        """What belongs to the rows of a block before the first split, in as few bytes as possible."""
        part = rows.part(self.ends[block], self.ends[block + 1])
        statistics = part.statistics
        if not rows.rule.lanes and not rows.rule.unrounded:
            statistics = np.empty(len(part.places), np.int32)
            carry(part.statistics, statistics)
        given: Message = {"size": len(part.places), "statistics": statistics}
        inside = part.places >= 0
        if not inside.all():
            given["inside"] = np.packbits(inside)
        if part.times is not None:
            given["times"] = part.times
        if self._taken is not None:
            given["taken"] = self._positions(block)
        return given

    def _positions(self, block: int) -> NDArray[np.int64]:
        """Which rows of a block are trained on."""
        assert self._taken is not None
        return self._taken[self.ends[block] : self.ends[block + 1]] - self._block_ends[block]

    def _count(self, calls: Iterable[tuple[str, Message]]) -> None:
        for _worker, call in calls:
            self.traffic["calls"] += 1
            self.traffic["bytes to workers"] += size_of(call)

    # Who has which block.

    def _lose(self, worker: str, blocks: Sequence[int], losses: Counter[int]) -> None:
        """A worker is gone or silent: its blocks are nobody's."""
        self.traffic["workers lost"] += 1
        self._owner = {unit: owner for unit, owner in self._owner.items() if owner != worker}
        losses.update(blocks)
        worst = max(blocks, key=lambda block: losses[block])
        if losses[worst] >= MOST_LOSSES:
            name = self.table.blocks[worst].name
            raise ClusterError(
                f"{MOST_LOSSES} workers were lost, one after another, while they worked on the block {name}. Look at their logs: they may "
                "have too little memory."
            )

    def _assigned(self, blocks: Iterable[int]) -> dict[str, list[int]]:
        """Blocks by worker; those of nobody go to whoever has the fewest rows."""
        there = self.transport.workers()
        if not there and self.transport.wait_for_workers():
            there = self.transport.workers()
        if not there:
            raise ClusterError("no worker of the cluster is left, and none came back in time. Start workers, and train again.")
        load = dict.fromkeys(sorted(there), 0.0)
        for unit, owner in self._owner.items():
            if owner in load:
                load[owner] += self._sizes[unit] / max(there[owner], 1)
        found: dict[str, list[int]] = {}
        for block in sorted(blocks):
            unit = self._unit[block]
            owner = self._owner.get(unit, "")
            if owner not in load:
                owner = self._owner[unit] = min(load, key=lambda name: load[name])
                load[owner] += self._sizes[unit] / max(there[owner], 1)
            found.setdefault(owner, []).append(block)
        return found

    def _balance(self) -> None:
        """Before a tree begins: whoever came lately gets a share of the blocks, from those who have most."""
        there = self.transport.workers()
        if not there or not self._owner or set(self._owner.values()) >= set(there):
            return
        total = sum(there.values())
        wanted = {worker: self.n_rows * threads / total for worker, threads in there.items()}
        load: Counter[str] = Counter()
        for unit, owner in list(self._owner.items()):
            size = self._sizes[unit]
            if owner not in there or load[owner] + size > max(wanted[owner], size) * 1.1:
                del self._owner[unit]
            else:
                load[owner] += size


def plain(value: Any) -> Any:
    """A number of NumPy as Python has it, of the same kind."""
    return value.item() if isinstance(value, np.generic) else value


def size_of(message: Any) -> int:
    """Bytes of the arrays of a message."""
    if isinstance(message, np.ndarray):
        return message.nbytes
    parts = message.values() if isinstance(message, dict) else message if isinstance(message, list) else ()
    return sum(map(size_of, parts))
