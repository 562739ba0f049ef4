"""How calls come to workers and answers back: what `ClusterShards` asks of an engine."""

from collections.abc import Sequence
from typing import Protocol

from woodwind.shards.remote_rows import Message


class Transport(Protocol):
    """Some workers, each of which answers calls one after another (`RemoteRows.answer`)."""

    def workers(self) -> dict[str, int]:
        """The names of all workers that seem alive, with their threads. Some may be new, and some may have been away."""

    def exchange(self, calls: Sequence[tuple[str, Message]]) -> list[Message | None]:
        """The answers to calls, each to another worker; None where a worker was lost, or silent until the deadline.

        A call that is given up may still be worked on; its answer is dropped.
        """

    def wait_for_workers(self) -> bool:
        """Wait for a worker, where there is none: whether one has come before the deadline."""
