"""Boosting on a cluster: the same bits whatever happens to its workers, what failures cost, how fast it is, and what goes over the wire.

    python benchmarks/cluster.py failures --kills 50 --stops 20 --drivers 10    SIGKILL and SIGSTOP of workers, SIGKILL of the driver
    python benchmarks/cluster.py chaos --schedules 2000                         calls lost, delayed, repeated, reordered, by seed
    python benchmarks/cluster.py speed --rows 5000000 --trees 50 --workers 2    against memory, disk and xgboost.dask
    python benchmarks/cluster.py scale --rows 2000000 --trees 10                1 to 4 workers, for docs/decisions/0034-cluster.md
    python benchmarks/cluster.py wide --rows 100000 --columns 2000 --trees 5    bytes for each tree, all columns summed or voted for
    python benchmarks/cluster.py peers --kills 5                                the same kills with xgboost.dask, within a limit of time

Every part prints one JSON object; --rows, --trees and --columns make it smaller or larger.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TESTS = Path(__file__).parent.parent / "tests"
# Dask looks for a library called sparse, and must not find the script of that name beside this one.
sys.path[:] = [one for one in sys.path if Path(one).resolve() != Path(__file__).resolve().parent]


def frames(rows: int, columns: int) -> Iterator[pd.DataFrame]:
    """The table, in parts."""
    for begin in range(0, rows, 250_000):
        size = min(250_000, rows - begin)
        rng = np.random.default_rng(begin)
        x = rng.normal(size=(size, columns)).astype(np.float32)
        score = x[:, 0] + x[:, 1] * x[:, 2] + (np.sin(2 * x[:, 3]) if columns > 3 else 0) + rng.normal(size=size)
        yield pd.DataFrame(x, columns=[f"x{k}" for k in range(columns)]).assign(y=(score > 0).astype(np.int8))


@contextmanager
def table_of(given: argparse.Namespace, block_bytes: int = 1 << 23) -> Iterator[Any]:
    """The table in blocks, in a folder that goes with it."""
    import woodwind

    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        yield woodwind.BlockTable.write(Path(folder) / "cache", frames(given.rows, given.columns), target="y", block_bytes=block_bytes)


def settings(given: argparse.Namespace) -> dict[str, Any]:
    """Trees of depth 8, level by level."""
    return {
        "n_estimators": given.trees, "max_depth": given.depth, "learning_rate": 0.1, "growth": "level", "max_leaf_nodes": None,
        "early_stopping": False, "subsample": 1.0, "min_samples_leaf": 1, "random_state": 0,
    }  # fmt: skip


def fitted(blocks: Any, options: dict[str, Any], **more: Any) -> tuple[str, float]:
    """The digest of a model and the seconds that its training took."""
    import woodwind

    began = time.perf_counter()
    model = woodwind.GradientBoostingClassifier(**options, **more).fit(blocks)
    return model.forest_.digest(), time.perf_counter() - began


def driver(folder: str, address: str, options: dict[str, Any], file: str) -> None:
    """A driver that somebody kills."""
    import woodwind
    from woodwind.ensemble.boosting import recorded_rounds

    recorded_rounds.SECONDS = 0.0
    woodwind.GradientBoostingClassifier(**options, cluster=woodwind.connect(address), checkpoint=file).fit(woodwind.BlockTable(folder))


def pids(cluster: Any, workers: int) -> list[int]:
    """The processes of the workers, once all are there again."""
    began = time.monotonic()
    while time.monotonic() < began + 60:
        try:
            found = list(cluster.client.run(os.getpid).values())
            if len(found) == workers or (time.monotonic() > began + 20 and len(found) > 1):  # Dask may give one up on a busy machine
                return found
        except OSError:  # one is gone, and nobody has noticed yet
            pass
        time.sleep(0.1)
    raise SystemExit("a worker did not come back")


def failures(given: argparse.Namespace) -> dict[str, Any]:
    """Kills at random moments; every model must be the same."""
    import woodwind

    rng, options = np.random.default_rng(0), settings(given)
    same: dict[str, list[bool]] = {"killed": [], "stopped": [], "driver killed": []}
    cost: dict[str, list[float]] = {name: [] for name in same}
    with table_of(given, 1 << 18) as blocks, woodwind.local_cluster(workers=given.workers, timeout=given.timeout) as cluster:
        known, _ = fitted(blocks, options)
        fitted(blocks, options, cluster=cluster)
        _, usual = fitted(blocks, options, cluster=cluster)

        def disturbed(name: str, number: int) -> None:
            victim = rng.choice(pids(cluster, given.workers)).item()
            timer = threading.Timer(float(rng.random()) * usual, lambda: os.kill(victim, number))
            timer.start()
            found, seconds = fitted(blocks, options, cluster=cluster)
            timer.join()
            if number == signal.SIGSTOP:
                os.kill(victim, signal.SIGCONT)
            same[name].append(found == known)
            cost[name].append(seconds - usual)

        for _ in range(given.kills):
            disturbed("killed", signal.SIGKILL)
        for _ in range(given.stops):
            disturbed("stopped", signal.SIGSTOP)
        for _ in range(given.drivers):
            file = str(blocks.path.parent / "rounds.ww")
            context = multiprocessing.get_context("spawn")
            other = context.Process(target=driver, args=(str(blocks.path), cluster.client.scheduler.address, options, file))
            other.start()
            until = time.monotonic() + 120
            while not os.path.exists(file) and other.is_alive() and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(float(rng.random()) * usual / 2)
            other.kill()
            other.join()
            found, seconds = fitted(blocks, options, cluster=cluster, checkpoint=file)
            same["driver killed"].append(found == known)
            cost["driver killed"].append(seconds - usual)
    return {
        "identical": {name: f"{sum(found)} of {len(found)}" for name, found in same.items()}, "usual_seconds": usual,
        "more_seconds": {name: [round(one, 2) for one in found] for name, found in cost.items()},
    }  # fmt: skip


def chaos(given: argparse.Namespace) -> dict[str, Any]:
    """Schedules by seed, without processes: every one must end with the same digest."""
    sys.path.insert(0, str(TESTS))
    from functools import partial

    from laws.test_same_bits import CASES, target
    from reference.boosted import boosted
    from shards.fake_cluster import divided
    from shards.test_cluster_shards import CHAOS

    events: dict[str, int] = {}
    same, done, known = 0, 0, {}
    began = time.perf_counter()
    for seed in range(given.schedules):
        case = CHAOS[seed % len(CHAOS)]
        x, plan, beside = CASES[case]
        y, kept = target(plan.loss, x), []
        if case not in known:
            known[case] = boosted(x, y, plan, 2, **beside).forest.digest()
        place = partial(
            divided, workers=1 + seed % 4, blocks=(1, 4, 9)[seed % 3], seed=seed, trouble=0.05 + 0.6 * (seed % 7) / 7, kept=kept
        )
        same += boosted(x, y, plan, 2, **beside, divided=place).forest.digest() == known[case]
        done += 1
        for name, count in kept[0].events.items():
            events[name] = events.get(name, 0) + count
    return {"identical": f"{same} of {done}", "seconds": time.perf_counter() - began, "events": events}


def watched_shards() -> list[Any]:
    """Shards that are made from now on, for what they count."""
    from woodwind.shards.cluster_shards import ClusterShards

    made: list[Any] = []
    init = ClusterShards.__init__

    def noting(self: Any, *args: Any, **more: Any) -> None:
        init(self, *args, **more)
        made.append(self)

    ClusterShards.__init__ = noting  # type: ignore[method-assign]
    return made


def traffic(shards: Any, trees: int) -> dict[str, float]:
    """What went over the wire for a tree."""
    return {name: round(count / trees) for name, count in shards.traffic.items()}


def speed(given: argparse.Namespace) -> dict[str, Any]:
    """Against memory and disk with as many threads, and xgboost.dask with as many workers."""
    import woodwind

    options, made, found = settings(given), watched_shards(), {}
    small = {**options, "n_estimators": 2}
    with table_of(given) as blocks:
        table = pd.concat(frames(given.rows, given.columns))
        for _ in range(2):  # the first one warms
            began = time.perf_counter()
            model = woodwind.GradientBoostingClassifier(**options, n_jobs=given.workers).fit(table.drop(columns="y"), table["y"])
            found["memory_seconds"] = time.perf_counter() - began
        del table
        found["disk_same"], found["disk_seconds"] = fitted(blocks, options, n_jobs=given.workers)
        with woodwind.local_cluster(workers=given.workers) as cluster:
            fitted(blocks, small, cluster=cluster)
            found["cluster_same"], found["cluster_seconds"] = fitted(blocks, options, cluster=cluster)
            found["per_tree"] = traffic(made[-1], given.trees)
    for name in ("disk_same", "cluster_same"):
        found[name] = found[name] == model.forest_.digest()
    if not given.alone:
        found["xgboost_dask_seconds"] = xgboost_dask(given)
    return found


def xgboost_dask(given: argparse.Namespace, kill_after: float | None = None) -> float:
    """Seconds of training by xgboost.dask, at the same settings; with a kill, of what it makes of it."""
    import dask.array as da
    import distributed
    import xgboost as xgb
    from xgboost import dask as dxgb

    local = distributed.LocalCluster(
        n_workers=given.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50, memory_limit=0
    )
    with local, distributed.Client(local) as client:
        table = pd.concat(frames(given.rows, given.columns))
        rows = -(-given.rows // given.workers)
        x = da.from_array(table.drop(columns="y").to_numpy(), chunks=(rows, given.columns)).persist()
        y = da.from_array(table["y"].to_numpy(), chunks=rows).persist()
        distributed.wait([x, y])
        del table
        chosen = {
            "objective": "binary:logistic", "max_depth": given.depth, "eta": 0.1, "tree_method": "hist", "max_bin": 255, "lambda": 1.0,
            "nthread": 1,
        }  # fmt: skip
        if kill_after is not None:
            victim = next(iter(client.run(os.getpid).values()))
            threading.Timer(kill_after, lambda: os.kill(victim, signal.SIGKILL)).start()
        began = time.perf_counter()
        dxgb.train(client, chosen, dxgb.DaskQuantileDMatrix(client, x, y, max_bin=255), num_boost_round=given.trees)
        del xgb
        return time.perf_counter() - began


def peers(given: argparse.Namespace) -> dict[str, Any]:
    """xgboost.dask with a worker killed, each time in a process of its own with a limit of time."""
    outcomes = []
    for number in range(given.kills):
        arguments = [
            sys.executable,
            __file__,
            "one_peer",
            *("--rows", str(given.rows), "--trees", str(given.trees), "--after", str(0.5 + number)),
        ]
        began = time.perf_counter()
        try:
            ended = subprocess.run(arguments, capture_output=True, text=True, timeout=given.limit, check=False)
            lines = ended.stderr.strip().splitlines()
            outcomes.append(
                f"{time.perf_counter() - began:.0f} s: " + ("trained" if ended.returncode == 0 else lines[-1][:160] if lines else "failed")
            )
        except subprocess.TimeoutExpired:
            outcomes.append(f"no answer in {given.limit:.0f} s")
    return {"xgboost.dask after a kill": outcomes}


def scale(given: argparse.Namespace) -> dict[str, Any]:
    """Seconds of a tree for one to four workers, and what went over the wire."""
    import woodwind

    options, made, found = settings(given), watched_shards(), {}
    with table_of(given, 1 << 21) as blocks:
        for workers in range(1, 5):
            with woodwind.local_cluster(workers=workers) as cluster:
                fitted(blocks, {**options, "n_estimators": 2}, cluster=cluster)
                digest, seconds = fitted(blocks, options, cluster=cluster)
                found[f"{workers} workers"] = {
                    "digest": digest[:16],
                    "seconds_per_tree": seconds / given.trees,
                    **traffic(made[-1], given.trees),
                }
    return found


def wide(given: argparse.Namespace) -> dict[str, Any]:
    """What goes over the wire for a tree of a wide table, with all columns summed and with some voted for."""
    import woodwind

    made, found = watched_shards(), {}
    with table_of(given) as blocks, woodwind.local_cluster(workers=given.workers) as cluster:
        for parallelism in ("data", "voting"):
            _digest, seconds = fitted(blocks, settings(given), cluster=cluster, parallelism=parallelism)
            found[parallelism] = {"seconds_per_tree": seconds / given.trees, **traffic(made[-1], given.trees)}
    sent = [found[name]["bytes from workers"] + found[name]["bytes to workers"] for name in ("data", "voting")]
    return {**found, "times_less": sent[0] / sent[1]}


def main() -> None:
    """One part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"failures": failures, "chaos": chaos, "speed": speed, "scale": scale, "wide": wide, "peers": peers, "one_peer": None}
    parser.add_argument("what", choices=parts)
    for name, kind, default in (
        ("rows", int, 200_000), ("columns", int, 28), ("trees", int, 20), ("depth", int, 8), ("workers", int, 2),
        ("kills", int, 50), ("stops", int, 20), ("drivers", int, 10), ("schedules", int, 2000),
        ("timeout", float, 2.0), ("limit", float, 120.0), ("after", float, 1.0),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=default)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--alone", action="store_true", help="without xgboost.dask")
    given = parser.parse_args()
    if given.what == "one_peer":
        xgboost_dask(given, given.after)
        return
    found = parts[given.what](given)  # type: ignore[misc]
    print(json.dumps({"what": given.what, "rows": given.rows, "columns": given.columns, "trees": given.trees, **found}, indent=1))


if __name__ == "__main__":
    main()
