"""A slow and obvious version of the kernels in `woodwind/kernels/binning/bundles.py`."""

from collections.abc import Sequence

MOST_VALUES = 255


def find_bundles(columns: Sequence[dict[int, int]], most_lost: int) -> tuple[list[int], list[int], list[set[int]]]:
    """The bundle of each column, its first value there, and the rows in which it loses its cell; a column is {row: code} of its cells.

    Columns of most cells come first, each into the first bundle that has values for it and loses no more rows than it may.
    """
    taken: list[set[int]] = []
    used: list[int] = []
    losses: list[int] = []
    bundle, offset, lost = [0] * len(columns), [1] * len(columns), [set[int]() for _ in columns]
    for number in sorted(range(len(columns)), key=lambda number: -len(columns[number])):
        rows, size = set(columns[number]), len(set(columns[number].values()))
        if not rows:
            continue
        fits = (b for b in range(len(taken)) if used[b] + size <= MOST_VALUES and len(rows & taken[b]) + losses[b] <= most_lost)
        found = next(fits, len(taken))
        if found == len(taken):
            taken.append(set())
            used.append(0)
            losses.append(0)
        bundle[number], offset[number], lost[number] = found, used[found] + 1, rows & taken[found]
        used[found] += size
        losses[found] += len(lost[number])
        taken[found] |= rows
    return bundle, offset, lost
