"""Pilot: how many columns of a wide table there is time for, as a sample of them tells.

Before the first member is trained, every column is looked at some times: what it is, how it is divided into bins, in which bins its values
are, how it becomes numbers without gaps. That is not worth the time where none is left to train with. Then columns are drawn that the job
goes on with; by chance, since to choose them by the target would flatter all that is scored afterwards.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from woodwind.auto.clock import Clock
from woodwind.base.random_streams import choose, key
from woodwind.data.binning.cuts import Cuts
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.kernels.runtime.jit import home

# Columns that are measured, some 60 ms; of fewer than so many times as many, all are taken.
MEASURED, LEAST_TIMES = 512, 8
# What all columns may take of the time that is left for training.
MOST_OF_THE_REST = 0.6


def affordable_columns(names: Sequence[str], select: Callable[[Sequence[str]], Any], clock: Clock, threads: int) -> Sequence[str]:
    """The columns that there is time for, in their order. `select` gives a table of the columns of some names.

    It is all of them, or half, or a quarter and so on: whoever resumes a job with about the same time has the same columns.
    """
    n_columns = len(names)
    if clock.budget is None or n_columns < LEAST_TIMES * MEASURED:
        return names
    sample = [names[position] for position in np.linspace(0, n_columns - 1, MEASURED).astype(np.int64)]
    _prepare(select(sample[:2]), threads)  # loads what was compiled
    began = perf_counter()
    _prepare(select(sample), threads)
    forecast = (perf_counter() - began) * n_columns / MEASURED
    count = n_columns
    while count > MEASURED and forecast * count / n_columns > MOST_OF_THE_REST * max(clock.left_for_training, 0.0):
        count //= 2
    return (
        names
        if count == n_columns
        else [names[position] for position in choose(key(0, "columns that there is time for"), n_columns, count)]
    )


def _prepare(X: Any, threads: int) -> None:
    """What is done with every column before the first member is trained, and once after the last."""
    schema, table = Schema.learn(X)
    Cuts.fit(table, threads=threads).encode(table, threads)
    MatrixForm.of_table(schema, table)


# ----------------------------------------------------------------------------------------------------
# Whether a family can be begun in the time that is left: kernels that were never used on this machine are compiled first, in one go.

# Seconds that must be left where the large kernel of a family is not there yet: it takes 10 to 20. Of a minute there must be as much left
# when the fifth member begins, or a machine whose jobs all take a minute would never have symmetric trees.
COMPILING = 25.0


def is_time_to_compile(kernel: Any, clock: Clock, variants: int = 1) -> bool:
    """Whether so many variants of a kernel are cached already, or there is time to compile one."""
    directory = home()
    if directory is None or clock.left_for_training >= COMPILING:
        return True
    return len(list(directory.glob(f"{kernel.__name__}-*"))) >= variants
