"""Slow twins of `woodwind/kernels/histogram/stump.py`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.histogram.stump import Vote
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP


def class_sums(codes: NDArray[np.uint8], weight: Any, label: Any, n_classes: int, width: int) -> NDArray[np.int64]:
    """The weight of each code of each class of each feature, from codes (F, n)."""
    sums = np.zeros((len(codes), n_classes, width), np.int64)
    for f, column in enumerate(codes):
        for code, value, k in zip(column, weight, label, strict=True):
            sums[f, k, code] += value
    return sums


def best_stump(sums: NDArray[np.int64], n_bins: NDArray[np.int32]) -> tuple[float, tuple[int, int, int], list[int]]:
    """Score, (feature, bin, missing) and left weights of the best cut, all cuts listed and the best one picked."""
    found: list[tuple[float, tuple[int, int, int], list[int]]] = [(-np.inf, (-1, 0, 0), [])]
    for f, cells in enumerate(sums.tolist()):
        total = [sum(row) for row in cells]
        lost = [row[-1] for row in cells]
        for way in (RIGHT, LEFT) if sum(lost) else (STOP,):
            for code in range(n_bins[f]):
                left = [sum(row[: code + 1]) + (row[-1] if way == LEFT else 0) for row in cells]
                right = [t - s for t, s in zip(total, left, strict=True)]
                if sum(left) and sum(right):
                    score = sum(float(s) ** 2 for s in left) / sum(left) + sum(float(s) ** 2 for s in right) / sum(right)
                    found.append((score, (f, code, way), left))
    return max(found, key=lambda one: one[0])


def reweigh(column: Any, label: Any, count: Any, vote: Vote, weight: Any) -> tuple[list[float], list[int]]:
    """New weights, and as integers."""
    new, whole = [], []
    for position, code in enumerate(column.tolist()):
        goes_left = bool(vote.missing_left) if code == vote.missing_code else code <= vote.bin
        predicted = vote.left if goes_left else vote.right
        factor = vote.if_right if predicted == label[position] else vote.if_wrong
        new.append(min(max(float(weight[position]) * factor, vote.least), 1.0))
        whole.append(int(new[-1] * vote.scale + 0.5) * (1 if count is None else int(count[position])))
    return new, whole
