"""Clusters: connecting to one that is there, and starting one on this machine for trying it out."""

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

from woodwind.base.errors import ClusterError, ParameterError
from woodwind.data.blocks.block_table import BlockTable
from woodwind.shards.transport import Transport

INSTALL = "Dask is not installed. Install it with: pip install woodwind[dask]"
TIMEOUT = 30.0
CONNECTING_SECONDS = 10.0


def distributed() -> Any:
    """The library of Dask, imported when a cluster is asked for."""
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ClusterError(INSTALL) from error


class Cluster:
    """Workers that gradient boosting is trained on: `GradientBoostingClassifier(cluster=cluster).fit(blocks)`.

    Made by `woodwind.connect` and `woodwind.local_cluster`. As a parameter it stays the same object in clones, and it is in no file.

    Parameters
    ----------
    client : distributed.Client
        A client of Dask.
    timeout : float, default=30
        A worker that gives no sign of life for so many seconds is treated as dead: others do its work.
    """

    def __init__(self, client: Any, timeout: float = TIMEOUT) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise ParameterError(f"Cluster: timeout must be a number of seconds above 0, but it is {timeout!r}.")
        self.client, self.timeout = client, float(timeout)
        self._transport: Transport | None = None
        self.has_advised = False  # whether somebody was told that a table fits into memory
        self._local: Any = None  # a cluster that was started here, and ends with this

    @property
    def transport(self) -> Transport:
        """How workers are called; they are prepared for it when it is first needed."""
        if self._transport is None:
            try:
                self._transport = importlib.import_module("woodwind.shards.dask_transport").DaskTransport(self.client, self.timeout)
            except (OSError, ImportError) as error:
                raise ClusterError(
                    f"Cluster: its workers cannot be prepared: {type(error).__name__}: {error}. Woodwind must be installed in each of them."
                ) from error
        return self._transport

    @property
    def n_workers(self) -> int:
        """How many workers there are."""
        return len(self.client.scheduler_info(n_workers=-1)["workers"])

    def close(self) -> None:
        """End the connection, and the cluster itself where it was started here."""
        with contextlib.suppress(Exception):  # what is gone already need not be closed
            self.client.close(timeout=5)
        if self._local is not None:
            with contextlib.suppress(Exception):
                self._local.close(timeout=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __copy__(self) -> "Cluster":
        return self

    def __deepcopy__(self, _memo: object) -> "Cluster":
        return self

    def __repr__(self) -> str:
        return f"Cluster({getattr(getattr(self.client, 'scheduler', None), 'address', 'closed')!r})"


def connect(address: str, *, security: Any = None, timeout: float = TIMEOUT) -> Cluster:
    """Connect to a cluster of Dask that is running.

    Parameters
    ----------
    address : str
        Where its scheduler is, such as 'tcp://10.0.0.1:8786', or 'tls://10.0.0.1:8786' with certificates.
    security : distributed.Security, default=None
        The certificates of a cluster that speaks TLS.
    timeout : float, default=30
        A worker that gives no sign of life for so many seconds is treated as dead: others do its work.

    Returns
    -------
    Cluster
    """
    dask = distributed()
    if not isinstance(address, str) or "://" not in address:
        raise ParameterError(f"connect: address must be one like 'tcp://10.0.0.1:8786', but it is {address!r}.")
    try:
        client = dask.Client(address, security=security, timeout=CONNECTING_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(f"connect: there is no scheduler at {address}: {error}. Start one with: dask scheduler") from error
    return Cluster(client, timeout)


@contextlib.contextmanager
def local_cluster(workers: int = 2, *, threads: int = 1, timeout: float = TIMEOUT) -> Iterator[Cluster]:
    """Start a cluster of processes on this machine, for trying it out; it ends with the `with` block.

    A program that starts one must be guarded by ``if __name__ == "__main__":``, because its workers import it.

    Parameters
    ----------
    workers : int, default=2
        Number of worker processes.
    threads : int, default=1
        Threads of each.
    timeout : float, default=30
        A worker that gives no sign of life for so many seconds is treated as dead: others do its work.

    Yields
    ------
    Cluster
        Its `client` is the Dask client.
    """
    dask = distributed()
    for name, value in (("workers", workers), ("threads", threads)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParameterError(f"local_cluster: {name} must be an integer from 1 on, but it is {value!r}.")
    quiet = 50  # what Dask logs of workers that die is no news to whoever asked for it
    local = dask.LocalCluster(
        n_workers=workers, threads_per_worker=threads, processes=True, dashboard_address="127.0.0.1:0", worker_dashboard_address=None,
        silence_logs=quiet, memory_limit=0,
    )  # fmt: skip
    try:
        client = dask.Client(local, set_as_default=False)
        cluster = Cluster(client, timeout)
        cluster._local = local
        yield cluster
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)
        local.close(timeout=10)


_of_clients: "WeakKeyDictionary[Any, Cluster]" = WeakKeyDictionary()
_of_addresses: dict[str, Cluster] = {}


def as_cluster(given: Any, owner: str) -> Cluster:
    """The cluster that the parameter `cluster` stands for: one of ours, a client of Dask, or the address of a scheduler."""
    if isinstance(given, Cluster):
        return given
    if isinstance(given, str):
        known = _of_addresses.get(given)
        if known is None or known.client.status != "running":
            known = _of_addresses[given] = connect(given)
        return known
    if isinstance(given, distributed().Client):
        return _of_clients.setdefault(given, Cluster(given))
    raise ParameterError(
        f"{owner}: cluster must be what woodwind.connect or woodwind.local_cluster gives, a client of Dask or an address such as "
        f"'tcp://10.0.0.1:8786', but it is a {type(given).__name__}."
    )


ROW_BYTES = 28  # of a row beside its codes while boosting is trained: score, statistics, leaf, target


def advice(table: BlockTable, owner: str) -> str:
    """A sentence for whoever would be faster without a cluster; nothing where the table would not fit into half of the free memory."""
    needed, free = table.n_rows * (table.layout.by_row.shape[1] + ROW_BYTES), free_memory()
    if free is None or 2 * needed > free:
        return ""
    return (
        f"{owner}: {table.n_rows:,} x {table.n_features} takes about {max(needed / 1e6, 0.1):,.1f} MB while it is trained, and "
        f"{free / 1e6:,.0f} MB are free here: this machine alone would be faster. Leave cluster out.\n"
    )


def free_memory() -> int | None:
    """Bytes that this machine has to spare; None where it does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None
