"""Workers without processes, and an engine that loses, delays, repeats and reorders calls, by seed."""

from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from woodwind.shards.cluster_shards import ClusterShards
from woodwind.shards.remote_rows import OpenTable, RemoteRows


class CodesTable(OpenTable):
    """Blocks of a coded table in memory, of any sizes."""

    def load(self, number):
        begin, end = self.table.ends[number : number + 2]
        return self.table.codes.by_row[begin:end].copy()


def blocks_of(codes, ends):
    """What `ClusterShards` needs of a table, and how workers open it."""
    layout = SimpleNamespace(codes=codes, ends=ends)
    blocks = [SimpleNamespace(rows=end - begin, name=f"block {k}") for k, (begin, end) in enumerate(pairwise(ends))]
    empty = type(codes)(codes.by_row[:0], codes.n_bins, codes.width, codes.is_category, codes.places)
    table = SimpleNamespace(blocks=blocks, layout=empty, path="/nowhere", token="abc")

    def opened(folder, token):
        assert (folder, token) == ("/nowhere", "abc")
        return CodesTable(layout, empty, {}, set(), {})

    return table, opened


class FakeTransport:
    """Workers that answer at once. Some have two threads, some keep no codes."""

    def __init__(self, count, open_table=OpenTable.of):
        self.open_table = open_table
        self.rows = {f"worker {k}": self.new(k) for k in range(count)}

    def new(self, number):
        return RemoteRows(1 + number % 2, 0 if number % 3 == 2 else 1 << 20, self.open_table)

    def workers(self):
        return {name: rows.threads for name, rows in self.rows.items()}

    def wait_for_workers(self):
        return False

    def exchange(self, calls):
        return [self.rows[worker].answer(call) for worker, call in calls]


@dataclass
class ChaosTransport(FakeTransport):
    """Drops, delays, repeats and reorders calls; workers lose what they know, go, and come, all by seed."""

    count: int
    open_table: object
    seed: int
    trouble: float = 0.3  # how often something goes wrong
    late: list = field(default_factory=list)  # calls that were given up and are still worked on some time
    events: dict = field(default_factory=dict)

    def __post_init__(self):
        super().__init__(self.count, self.open_table)
        self.rng = np.random.default_rng(self.seed)
        self.born = self.count

    def happens(self, name, share):
        found = self.rng.random() < share * self.trouble
        if found:
            self.events[name] = self.events.get(name, 0) + 1
        return found

    def workers(self):
        if self.happens("joins", 0.1):
            self.rows[f"worker {self.born}"] = self.new(self.born)
            self.born += 1
        if len(self.rows) > 1 and self.happens("leaves", 0.1):
            del self.rows[sorted(self.rows)[int(self.rng.integers(len(self.rows)))]]
        return super().workers()

    def exchange(self, calls):
        found = {}
        for position in self.rng.permutation(len(calls)):  # reordered
            self.some_late()
            found[int(position)] = self.one(*calls[position])
        return [found[position] for position in range(len(calls))]

    def some_late(self):
        while self.late and self.rng.random() < 0.4:
            worker, call = self.late.pop(int(self.rng.integers(len(self.late))))
            if worker in self.rows:
                self.rows[worker].answer(call)  # nobody waits for it any more

    def one(self, worker, call):
        if worker not in self.rows:
            return None
        if self.happens("loses its memory", 0.2):
            self.rows[worker] = self.new(int(self.rng.integers(6)))
        if self.happens("call lost", 0.2):
            return None
        if self.happens("delayed", 0.2):
            self.late.append((worker, deepcopy(call)))
            return None
        answer = self.rows[worker].answer(call)
        if self.happens("repeated", 0.3):
            answer = self.rows[worker].answer(call)
        if self.happens("repeated late", 0.2):
            self.late.append((worker, deepcopy(call)))
        return None if self.happens("answer lost", 0.2) else answer


def divided(codes, workers, blocks, seed=None, trouble=0.3, kept=None):
    """A coded table in uneven blocks, some of them empty, on so many workers; with a seed, of an engine that misbehaves."""
    rng = np.random.default_rng(blocks)
    inside = np.sort(rng.integers(0, codes.n_rows + 1, blocks - 1)) if blocks > 1 else np.empty(0, np.int64)
    if blocks > 5:
        inside[2:4], inside[0] = inside[2], 0
    table, opened = blocks_of(codes, [0, *inside.tolist(), codes.n_rows])
    transport = FakeTransport(workers, opened) if seed is None else ChaosTransport(workers, opened, seed, trouble)
    if kept is not None:
        kept.append(transport)
    return ClusterShards(table, transport)
