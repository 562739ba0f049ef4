"""Batching of requests: rows that wait at the same time are predicted together.

While a thread predicts, the requests of that time gather, and it takes all of them next: the busier the server, the larger the batches.
An idle server answers at once. `wait` lets it wait a little for others even then, which pays where a batch costs hardly more than a row.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from woodwind.auto.members.blas_threads import one_blas_thread
from woodwind.serve.bodies import RequestError
from woodwind.serve.served_models import Predicted, ServedModel

# Rows of one request from which on it is predicted alone, on a thread of its own, so that single rows do not wait for it.
MANY_ROWS = 64


@dataclass(eq=False)
class Job:
    """One request that waits."""

    model: ServedModel
    rows: Sequence[Sequence[Any]]
    future: "asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop
    explains: bool = False
    ends: float = field(default=0.0)  # by time.monotonic; nobody waits for it then


class Worker:
    """A thread that predicts what waits, in the order of arrival."""

    def __init__(self, name: str, threads: int, most_rows: int, wait: float, told: Callable[[int], None]) -> None:
        self._threads, self._most_rows, self._wait, self._told = threads, most_rows, wait, told
        self._waiting: deque[Job] = deque()
        self._condition = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name=f"woodwind-{name}", daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, job: Job) -> None:
        """Add a request to those that wait."""
        with self._condition:
            self._waiting.append(job)
            self._condition.notify()

    def end(self) -> None:
        """End the thread when it has done what it is doing."""
        with self._condition:
            self._ended = True
            self._condition.notify()
        self._thread.join(timeout=5.0)

    def _run(self) -> None:
        # Held once for all, so that members need not take and give it back for every batch.
        with one_blas_thread():
            self._serve()

    def _serve(self) -> None:
        while True:
            with self._condition:
                while not self._waiting and not self._ended:
                    self._condition.wait(timeout=1.0)
                if self._ended:
                    return
                if self._wait and len(self._waiting) == 1:
                    self._condition.wait(timeout=self._wait)
                jobs = self._take()
            if jobs:
                deliver(jobs, self._answers(jobs))

    def _take(self) -> list[Job]:
        """The requests of the next batch: those of the model of the first, as many as there is room for. Nobody waits for late ones."""
        jobs: list[Job] = []
        left: deque[Job] = deque()
        n_rows, now = 0, time.monotonic()
        while self._waiting:
            job = self._waiting.popleft()
            if job.future.cancelled() or job.ends < now:
                continue
            fits = not jobs or (
                job.model is jobs[0].model and job.explains == jobs[0].explains and n_rows + len(job.rows) <= self._most_rows
            )
            (jobs if fits else left).append(job)
            n_rows += len(job.rows) if fits else 0
        self._waiting = left
        return jobs

    def _answers(self, jobs: list[Job]) -> list[Any]:
        """An answer or an exception for each; where a batch fails, each of its requests is asked alone."""
        try:
            if not jobs[0].explains:
                self._told(sum(len(job.rows) for job in jobs))
                whole = jobs[0].model.predict([row for job in jobs for row in job.rows], self._threads)
                return split(whole, [len(job.rows) for job in jobs])
            return [self._one(job) for job in jobs]
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            return [error] if len(jobs) == 1 else [self._one(job) for job in jobs]

    def _one(self, job: Job) -> Any:
        try:
            return job.model.explain(job.rows, self._threads) if job.explains else job.model.predict(job.rows, self._threads)
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            return error


def split(whole: Predicted, sizes: list[int]) -> list[Predicted]:
    """Predictions of a batch as those of its requests."""
    found, begin = [], 0
    for size in sizes:
        found.append(whole.part(begin, begin + size))
        begin += size
    return found


def deliver(jobs: list[Job], answers: list[Any]) -> None:
    """Hand answers over to the loop that waits for them, in one step."""

    def set_all() -> None:
        for job, found in zip(jobs, answers, strict=True):
            if not job.future.done():
                if isinstance(found, Exception):
                    job.future.set_exception(found)
                else:
                    job.future.set_result(found)

    try:
        jobs[0].loop.call_soon_threadsafe(set_all)
    except RuntimeError:  # the loop has ended, and with it everybody who waited
        return


class Batcher:
    """Two threads: one for single rows, and one for many rows and explanations."""

    def __init__(self, threads: int, most_rows: int, wait: float, most_waiting: int, told: Callable[[int], None]) -> None:
        self._most_waiting = most_waiting
        self._single = Worker("rows", 1, most_rows, wait, told)
        self._bulk = Worker("tables", threads, MANY_ROWS, 0.0, told)

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return len(self._single) + len(self._bulk)

    async def ask(self, model: ServedModel, rows: Sequence[Sequence[Any]], ends: float, explains: bool = False) -> Any:
        """Predictions, or explanations. Raises RequestError where there is no room, or no time."""
        loop = asyncio.get_running_loop()
        worker = self._bulk if explains or len(rows) >= MANY_ROWS else self._single
        if len(worker) >= self._most_waiting:
            raise RequestError("the server is busy: too many requests wait. Try again in a second.", 503, {"Retry-After": "1"})
        job = Job(model, rows, loop.create_future(), loop, explains, ends)
        worker.put(job)
        try:
            async with asyncio.timeout(max(ends - time.monotonic(), 0.0)):
                return await job.future
        except TimeoutError:
            words = "the explanation" if explains else "the prediction"
            raise RequestError(f"{words} took longer than a request may take. Send fewer rows.", 503, {"Retry-After": "1"}) from None

    def end(self) -> None:
        """End both threads."""
        self._single.end()
        self._bulk.end()
