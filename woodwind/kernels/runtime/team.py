"""A leader and helpers that share the work of one compiled call.

The leader publishes a phase: a kind of work and a number of tasks. Whoever is free takes the next task.
A helper that never arrives takes none, and the leader does them all: nobody is waited for who has not begun.
A thread that finds nothing to do looks again for a moment, then lets other threads of the machine run.
No hand-over through Python: a phase costs about a microsecond instead of 70 (docs/decisions/0004-growth.md).
"""

from typing import Any

from woodwind.kernels.runtime.intrinsics import atomic_add, atomic_load, atomic_store, atomic_swap_if, catch_breath, let_others_run
from woodwind.kernels.runtime.jit import inner, kernel

# Places in the control array, each on a cache line of its own.
TICKET = 0  # (phase << 32) + tasks not yet taken
DONE = 8  # tasks finished in this phase
OVER = 16  # 1 when the call is over
KIND = 24  # what the tasks of this phase are

PATIENCE = 500  # looks before the processor is given away


@inner
def take_task(control: Any) -> Any:
    """Number of a task that is now mine; -1 if there is none to take."""
    while True:
        ticket = atomic_load(control, TICKET)
        left = ticket & 0xFFFFFFFF
        if left == 0:
            return -1
        if atomic_swap_if(control, TICKET, ticket, ticket - 1):
            return left - 1


@inner
def open_phase(control: Any, kind: Any, n_tasks: Any) -> None:
    """Publish n_tasks tasks of a kind. Every task of the phase before is finished."""
    control[KIND] = kind
    atomic_store(control, DONE, 0)
    phase = (atomic_load(control, TICKET) >> 32) + 1
    atomic_store(control, TICKET, (phase << 32) + n_tasks)


@inner
def kind_of(control: Any) -> Any:
    """What the tasks of the present phase are."""
    return control[KIND]


@inner
def finish_task(control: Any) -> None:
    """Say that one task is done."""
    atomic_add(control, DONE, 1)


@inner
def wait_for_all(control: Any, n_tasks: Any) -> None:
    """Return when every task of the phase is done. Only tasks that somebody has begun are waited for."""
    looks = 0
    while atomic_load(control, DONE) < n_tasks:
        catch_breath()
        looks += 1
        if looks > PATIENCE:
            let_others_run()


@inner
def wait_for_work(control: Any) -> Any:
    """Number of a task, or -1 when the call is over."""
    looks = 0
    while True:
        task = take_task(control)
        if task >= 0:
            return task
        if atomic_load(control, OVER) != 0:
            return -1
        catch_breath()
        looks += 1
        if looks > PATIENCE:
            let_others_run()


@kernel
def begin_call(control: Any) -> None:
    """No phase open, call not over. To be called before helpers are sent."""
    atomic_store(control, TICKET, 0)
    atomic_store(control, DONE, 0)
    atomic_store(control, OVER, 0)
    control[32:] = 0


@inner
def end_call(control: Any) -> None:
    """Send the helpers home."""
    atomic_store(control, OVER, 1)
