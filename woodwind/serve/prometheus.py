"""Figures about the server, in the text format of Prometheus (version 0.0.4)."""

import os
import threading
import time
from bisect import bisect_left
from collections.abc import Sequence

TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)

Labels = tuple[tuple[str, str], ...]


class Counter:
    """A number that grows, for each set of labels. Labels are ours, never a text of a request: there are few of them."""

    kind = "counter"

    def __init__(self, name: str, words: str) -> None:
        self.name, self.words = name, words
        self._values: dict[Labels, float] = {}

    def add(self, amount: float = 1.0, **labels: str) -> None:
        """Add to the number of these labels."""
        key = tuple(labels.items())
        self._values[key] = self._values.get(key, 0.0) + amount

    def lines(self) -> list[str]:
        """The numbers as Prometheus reads them."""
        return [f"{self.name}{written(labels)} {number(value)}" for labels, value in sorted(self._values.items())]


class Histogram:
    """How many values were at most so large, how many there were, and their sum."""

    kind = "histogram"

    def __init__(self, name: str, words: str, edges: Sequence[float]) -> None:
        self.name, self.words, self._edges = name, words, tuple(edges)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def add(self, value: float, **labels: str) -> None:
        """Count a value."""
        key = tuple(labels.items())
        counts = self._counts.setdefault(key, [0] * (len(self._edges) + 1))
        counts[bisect_left(self._edges, value)] += 1
        self._sums[key] = self._sums.get(key, 0.0) + value

    def lines(self) -> list[str]:
        """The numbers as Prometheus reads them."""
        found = []
        for labels, counts in sorted(self._counts.items()):
            total = 0
            for edge, count in zip((*map(number, self._edges), "+Inf"), counts, strict=True):
                total += count
                found.append(f"{self.name}_bucket{written((*labels, ('le', edge)))} {total}")
            found.append(f"{self.name}_sum{written(labels)} {number(self._sums[labels])}")
            found.append(f"{self.name}_count{written(labels)} {total}")
        return found


class ServerMetrics:
    """What the server counts."""

    def __init__(self) -> None:
        self.started = time.time()
        self.requests = Counter("woodwind_requests_total", "Requests that were answered, by endpoint and status.")
        self.seconds = Histogram("woodwind_request_seconds", "Time from a request to its answer.", SECONDS)
        self.rows = Counter("woodwind_rows_total", "Rows that were predicted, by model.")
        self.unseen = Counter("woodwind_unseen_categories_total", "Values that training never saw, by model.")
        self.batches = Histogram("woodwind_batch_rows", "Rows that were predicted together.", BATCHES)
        self.reloads = Counter("woodwind_reloads_total", "Model files that were loaded again, by model and result.")
        self._lock = threading.Lock()

    def batch(self, n_rows: int) -> None:
        """Count a batch; threads do."""
        with self._lock:
            self.batches.add(n_rows)

    def text(self, models: Sequence[tuple[str, str]], waiting: int) -> str:
        """All figures; `models` are names and versions."""
        lines: list[str] = []
        for part in (self.requests, self.seconds, self.rows, self.unseen, self.batches, self.reloads):
            lines += [f"# HELP {part.name} {part.words}", f"# TYPE {part.name} {part.kind}", *part.lines()]
        gauges = {
            "woodwind_waiting_requests": ("Requests that wait for a prediction.", waiting),
            "process_start_time_seconds": ("When the server started, in seconds since 1970.", self.started),
            "process_resident_memory_bytes": ("Memory that the process holds.", resident_bytes()),
        }
        lines += ["# HELP woodwind_model_info Models that are served.", "# TYPE woodwind_model_info gauge"]
        lines += [f"woodwind_model_info{written((('model', name), ('version', version)))} 1" for name, version in models]
        for name, (words, value) in gauges.items():
            if value is not None:
                lines += [f"# HELP {name} {words}", f"# TYPE {name} gauge", f"{name} {number(value)}"]
        return "\n".join(lines) + "\n"


def written(labels: Sequence[tuple[str, str]]) -> str:
    """Labels in braces, their values escaped."""
    if not labels:
        return ""
    parts = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels]
    return "{" + ",".join(parts) + "}"


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def number(value: float) -> str:
    """A number, whole ones without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def resident_bytes() -> int | None:
    """Memory of this process, where the system tells it in /proc."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None
