"""What every benchmark shares: arguments, the machine, fair timing, tables, results on disk.

Two rules make the times comparable. The contestants take turns (one run each, then the next round), so that a slow minute of the
machine hits all of them; and the best run of each counts, because everything that disturbs a run makes it slower, never faster.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gc
import importlib.metadata
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"

# Run from a checkout, the library need not be installed; an installed one comes first.
sys.path.append(str(HERE.parent))

PACKAGES = ("woodwind", "numpy", "numba", "scikit-learn", "pandas", "xgboost", "lightgbm", "catboost", "ydf", "scikit-learn-intelex")


# ---------------------------------------------------------------- arguments


def arguments(description: str, more: Callable[[argparse.ArgumentParser], None] | None = None) -> argparse.Namespace:
    """Parse the options that all benchmarks have, and fix the number of threads before any library starts its own."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small sizes and one run: does the script work, not how fast is it")
    parser.add_argument("--peers-only", action="store_true", help="leave Woodwind out")
    parser.add_argument("--only", default="", help="contestants by name, separated by commas")
    parser.add_argument("--threads", type=int, default=2, help="threads for every contestant (2)")
    parser.add_argument("--data", default=os.environ.get("WOODWIND_DATA", ""), help="folder of tables (default: $WOODWIND_DATA)")
    parser.add_argument("--out", default=None, help="name of the result files; nothing is written after --quick unless given")
    if more is not None:
        more(parser)
    options = parser.parse_args()
    # scikit-learn has no parameter for it; the others are told again by theirs.
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    return options


def chosen(options: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """The contestants asked for, in the order given here."""
    wanted = {name.strip() for name in options.only.split(",") if name.strip()}
    names = [name for name in names if not (options.peers_only and name.startswith("woodwind"))]
    unknown = wanted - set(names)
    if unknown:
        raise SystemExit(f"--only: no contestant called {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return [name for name in names if not wanted or name in wanted]


def woodwind_is_here() -> bool:
    """Whether the estimators can be imported (they cannot in a checkout without the dependencies)."""
    try:
        from woodwind import GradientBoostingClassifier, GradientBoostingRegressor  # noqa: F401
    except ImportError:
        return False
    return True


# ---------------------------------------------------------------- the machine


def version(package: str) -> str:
    """Version of an installed package, or nothing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def cpu_name() -> str:
    """What the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory_gigabytes() -> float:
    """Memory of the machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (ValueError, OSError, AttributeError):
        return float("nan")


def machine() -> dict[str, Any]:
    """Where and when: the header of every result."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory_gigabytes(), 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "load_at_start": round(load, 2),
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "default"),
        "versions": {name: version(name) for name in PACKAGES if version(name)},
    }


def header(options: argparse.Namespace) -> dict[str, Any]:
    """Print and return the machine; a busy machine is said aloud because its times mean little."""
    facts = machine()
    facts["threads"] = options.threads
    print(f"{facts['date']}   {facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB, {facts['system']}, Python {facts['python']}")
    print("   ".join(f"{name} {number}" for name, number in facts["versions"].items()))
    if facts["load_at_start"] > 0.5:
        print(f"note: load of the machine at start {facts['load_at_start']}: others are running, times are upper bounds")
    if options.quick:
        print("note: --quick: small sizes, times mean little")
    print(flush=True)
    return facts


# ---------------------------------------------------------------- timing


@dataclass
class Timing:
    """All runs of one contestant."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    result: Any = None

    @property
    def best(self) -> float:
        return min(self.wall)


def timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the clock, seconds of processor over all threads, and what the call returned."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    result = call()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def race(
    calls: dict[str, Callable[[], Any]],
    rounds: int = 3,
    warm: dict[str, Callable[[], Any]] | None = None,
    slow: float = 3.0,
    patience: float = math.inf,
    pause: float = 0.05,
) -> dict[str, Timing]:
    """Let the contestants take turns and keep all times.

    `warm` runs once before; who takes more than `patience` seconds there is left out, and that is said.
    Who needs more than `slow` times the fastest is not run again: its place is clear.
    One that raises is reported and left out. `pause` lets the spinning workers of the previous contestant go to sleep.
    """
    times: dict[str, Timing] = {}
    failed: set[str] = set()
    for name, call in (warm or {}).items():
        try:
            taken = timed(call)[0]
            if taken > patience:
                taken = timed(call)[0]  # the first call may have compiled something
            if taken > patience:
                failed.add(name)
                print(f"  {name}: left out: the warm-up alone took {taken:.0f} s", flush=True)
        except Exception as error:
            failed.add(name)
            print(f"  {name}: failed in the warm-up: {type(error).__name__}: {str(error)[:300]}", flush=True)
    for number in range(rounds):
        fastest = min((t.best for t in times.values()), default=0.0)
        for name, call in calls.items():
            if name in failed or (number > 0 and name in times and times[name].best > slow * fastest):
                continue
            time.sleep(pause)
            try:
                wall, cpu, result = timed(call)
            except Exception as error:
                failed.add(name)
                times.pop(name, None)
                print(f"  {name}: failed: {type(error).__name__}: {str(error)[:300]}", flush=True)
                continue
            seen = times.setdefault(name, Timing())
            seen.wall.append(wall)
            seen.cpu.append(cpu)
            seen.result = result
    return times


# ---------------------------------------------------------------- output


def short(number: float | None, digits: int = 3) -> str:
    """A number as a reader wants it: significant digits, no exponent between a millionth and a million."""
    if number is None or math.isnan(number):
        return "-"
    if number == 0 or isinstance(number, int):
        return f"{number:,}"
    size = abs(number)
    if size >= 10**digits:
        return f"{number:,.0f}"
    if size < 1e-4:
        return f"{number:.{digits - 1}e}"
    decimals = digits - 1
    while size < 1:
        size *= 10
        decimals += 1
    while size >= 10:
        size /= 10
        decimals -= 1
    return f"{number:.{max(decimals, 0)}f}"


def seconds(number: float | None) -> str:
    """A time with its unit."""
    if number is None or math.isnan(number):
        return "-"
    if number >= 1:
        return f"{short(number)} s"
    if number >= 1e-3:
        return f"{short(number * 1e3)} ms"
    return f"{short(number * 1e6)} us"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table that reads well both on a terminal and as Markdown."""
    cells = [[str(cell) for cell in row] for row in rows]
    width = [max(len(str(name)), *(len(row[i]) for row in cells), 3) if cells else len(name) for i, name in enumerate(columns)]

    def line(row: Sequence[str]) -> str:
        first, *others = (cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width, strict=True)))
        return "| " + " | ".join([first, *others]) + " |"

    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(width)) + "|"
    return "\n".join([line(list(columns)), rule, *(line(row) for row in cells)])


class Report:
    """Collects what is printed, so that the result file says the same as the screen."""

    def __init__(self, name: str, title: str, options: argparse.Namespace) -> None:
        self.name, self.title, self.options = options.out or name, title, options
        print(f"{title}\n")
        self.facts = header(options)
        self.parts: list[str] = []
        self.figures: dict[str, Any] = {}

    def say(self, text: str = "") -> None:
        print(text, flush=True)
        self.parts.append(text)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.say(markdown(columns, rows) + "\n")

    def goal(self, what: str, value: float, goal: float, unit: str = "x", at_most: bool = False, less: bool = False) -> None:
        """One figure against what it has to reach: at least, at most, or less than the goal."""
        met = value < goal if less else value <= goal if at_most else value >= goal
        word = "less than" if less else "at most" if at_most else "at least"
        self.say(f"{'MET' if met else 'NOT MET'}: {what}: {short(value)}{unit} (goal: {word} {short(goal)}{unit})\n")
        self.figures.setdefault("goals", []).append({"what": what, "value": value, "goal": goal, "met": met})

    def save(self, aloud: bool = True) -> None:
        """Write <name>.md and <name>.json, unless it was only a quick look."""
        if self.options.quick and self.options.out is None:
            return
        RESULTS.mkdir(exist_ok=True)
        facts = self.facts
        where = f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB; {facts['system']}; Python {facts['python']}"
        lines = [
            f"# {self.title}\n",
            f"{facts['date']}; {where}; {facts['threads']} threads each; load at start {facts['load_at_start']}.\n",
            ", ".join(f"{name} {number}" for name, number in facts["versions"].items()) + ".\n",
            *self.parts,
        ]
        (RESULTS / f"{self.name}.md").write_text("\n".join(lines).rstrip() + "\n")
        write_json(RESULTS / f"{self.name}.json", {"machine": facts, **self.figures})
        if aloud:
            print(f"written: results/{self.name}.md and .json")


def write_json(path: Path, content: Any) -> None:
    """Write whole or not at all: a benchmark that is stopped must not leave half a file."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content, indent=1, sort_keys=True, default=float) + "\n")
    partial.replace(path)
