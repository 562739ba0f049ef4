"""Proposed thresholds, written to be read: the slow twin of `kernels/binning/candidates.py`, and a tree that considers no others."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from reference.naive_tree import NaiveTree, Node


def value_weights(order: Sequence[int], starts: Sequence[int], weight: Sequence[int]) -> list[int]:
    """The weight of the rows of each value; -1 for a value whose rows all have a negative weight, which are not there."""
    found = []
    for begin, end in pairwise(starts):
        there = [int(weight[row]) for row in order[begin:end] if weight[row] >= 0]
        found.append(sum(there) if there else -1)
    return found


def value_bins(weights: Sequence[int], n_bins: int) -> list[int]:
    """The bin of each value, -1 for those that are not there: that part of n_bins of the weight in which its middle lies."""
    there = [weight for weight in weights if weight >= 0]
    whole, before, parts = sum(there), 0, []
    for number, weight in enumerate(there):
        middle = Fraction(2 * before + weight, 2)
        part = math.floor(middle * n_bins / whole) if whole else 0
        parts.append(number if len(there) <= n_bins else min(part, n_bins - 1))
        before += weight
    used = sorted(set(parts))
    bins = iter([used.index(part) for part in parts])
    return [next(bins) if weight >= 0 else -1 for weight in weights]


@dataclass
class NaiveApproximateTree(NaiveTree):
    """`NaiveTree` that cuts between bins only: those of its own rows in every node, or everywhere those of the root."""

    n_bins: int = 255
    local: bool = False

    def cuts(self, node: Node, feature: int) -> Iterator[tuple[list[int], list[int], dict[str, Any]]]:
        """The cuts between values of different bins, and those before the missing values."""
        rows = node.rows if self.local else self.nodes[0].rows
        column = self.columns[feature]
        values = sorted({column[row] for row in rows if not math.isnan(column[row])})
        weights = [int(sum(self.stats[row][1] for row in rows if column[row] == value)) for value in values]
        bin_of = dict(zip(values, value_bins(weights, self.n_bins), strict=True))
        for left, right, question in super().cuts(node, feature):
            above = question["above"]
            if above is None or bin_of[question["below"]] != bin_of[above]:
                yield left, right, question
