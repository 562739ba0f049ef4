"""How much memory does training add?

Each contestant trains 1,000,000 x 28 float32 in a process of its own. The peak is counted from just before `fit`: the library is imported,
the data is there, and a fit on 1,000 rows has loaded what is loaded lazily. What importing and that small fit take stands beside.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Self

import numpy as np

import synthetic
from common import Report, arguments, chosen, short, woodwind_is_here
from contestants import ALL, PLAIN, Settings

MEGABYTE = 2**20


def status(field: str) -> int:
    """A memory figure of this process from the kernel, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the kernel does not report {field}: this benchmark needs Linux")


def settle() -> None:
    """Give back what is free, so that a fit cannot hide in memory that an earlier step left behind."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)


class Peak:
    """The largest resident memory while inside: the kernel's own high-water mark, or samples where it cannot be reset."""

    def __enter__(self) -> Self:
        self.value, self._stop = 0, threading.Event()
        try:
            Path("/proc/self/clear_refs").write_text("5")
            self._exact = True
        except OSError:
            self._exact = False
            self._thread = threading.Thread(target=self._sample, daemon=True)
            self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._stop.is_set():
            self.value = max(self.value, status("VmRSS"))
            time.sleep(0.002)

    def __exit__(self, *_: object) -> None:
        if self._exact:
            self.value = status("VmHWM")
        else:
            self._stop.set()
            self._thread.join()


def child(name: str, folder: str, settings: Settings) -> dict[str, Any]:
    """What one process measures."""
    X, y = np.load(Path(folder) / "X.npy"), np.load(Path(folder) / "y.npy")
    contestant = ALL[name]
    settle()
    before = status("VmRSS")
    contestant.fit(contestant.prepare(X[:1_000]), y[:1_000], settings.first(3))
    settle()
    ready = status("VmRSS")
    prepared = contestant.prepare(X)
    start = time.perf_counter()
    with Peak() as peak:
        model = contestant.fit(prepared, y, settings)
    taken = time.perf_counter() - start
    settle()
    after = status("VmRSS")
    assert model is not None
    return {"import": ready - before, "fit": peak.value - ready, "left": after - ready, "whole": peak.value - before, "seconds": taken}


def main() -> None:
    def more(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)

    options = arguments(__doc__ or "", more)
    trees = 5 if options.quick else 20  # the peak does not grow with the trees; the time does
    settings = Settings(leaves=255, trees=trees, threads=options.threads)
    if options.child:
        print(json.dumps(child(options.child[0], options.child[1], settings)))
        return

    report = Report("memory", "Memory added by training", options)
    rows = 100_000 if options.quick else 1_000_000
    names = [n for n in chosen(options, PLAIN) if ALL[n].here() and (n != "woodwind" or woodwind_is_here())]
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        X, y = synthetic.collisions(rows)
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        del X, y
        for name in names:
            command = [
                sys.executable,
                __file__,
                "--child",
                name,
                folder,
                "--threads",
                str(options.threads),
                *(["--quick"] if options.quick else []),
            ]
            done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ})
            if done.returncode:
                print(f"  {name}: failed: {done.stderr.strip().splitlines()[-1:]}")
                continue
            found[name] = json.loads(done.stdout.strip().splitlines()[-1])
            print(f"  {name}: {found[name]['fit'] / MEGABYTE:.0f} MB in {found[name]['seconds']:.1f} s", flush=True)
    print()
    size = f"{rows:,} x 28 float32 ({rows * 28 * 4 / MEGABYTE:.0f} MB)"
    report.say(f"{size}, binary, {trees} trees of 255 leaves; megabytes over what was there before.\n")
    report.table(
        ["contestant", "fit adds at its peak", "left after fit", "import and small fit", "all together"],
        [
            [n, *(short(f[key] / MEGABYTE) for key in ("fit", "left", "import", "whole"))]
            for n, f in sorted(found.items(), key=lambda item: item[1]["fit"])
        ],
    )
    report.figures["bytes"] = found
    if "woodwind" in found:
        mine = found["woodwind"]["fit"] / MEGABYTE
        report.goal("memory added by training", mine, 250.0, " MB", at_most=True)
        peers = {n: f["fit"] / MEGABYTE for n, f in found.items() if n != "woodwind"}
        if peers:
            least = min(peers, key=peers.__getitem__)
            report.goal(f"memory added, against the smallest peer ({least})", mine, peers[least], " MB", less=True)
    report.save()


if __name__ == "__main__":
    main()
