"""How large a model may be: what one member may have of it, and which of the members that were trained go in."""

import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

MEGABYTE = 1e6
# What a model file holds beside its members: the schema, the facts of the report.
BESIDE_MEMBERS = 0.3 * MEGABYTE
# The largest member may have this share of what there is for all.
MEMBER_SHARE = 0.5
# Bytes of a leaf and its part of the nodes above it: of boosted trees of one score, of compact trees; and of each further score or class.
BOOSTED_LEAF, COMPACT_LEAF, FURTHER_SCORE = 98.0, 28.0, 16.0


def bytes_for_members(megabytes: float | None) -> float:
    """What all members of a model of this size may have together."""
    return math.inf if megabytes is None else max(megabytes * MEGABYTE - BESIDE_MEMBERS, 0.0)


def stored_bytes(thing: Any) -> int:
    """Bytes of the arrays that a member stores."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, (tuple, list)):
        return sum(stored_bytes(part) for part in thing)
    if is_dataclass(thing):
        return sum(stored_bytes(getattr(thing, field.name)) for field in fields(thing) if not field.name.startswith("_"))
    return 0


def most_leaves(member_bytes: float, leaf_bytes: float, width: int) -> float:
    """Leaves of all trees of a member together."""
    return member_bytes / (leaf_bytes + FURTHER_SCORE * (width - 1))


def members_that_fit(sizes: Sequence[int], losses: Sequence[float], most: float) -> list[int]:
    """The members that go in, the best first as long as there is room; the smallest where there is room for none."""
    chosen: list[int] = []
    for member in sorted(range(len(sizes)), key=lambda member: losses[member]):
        if sum(sizes[one] for one in chosen) + sizes[member] <= most:
            chosen.append(member)
    return sorted(chosen) or [min(range(len(sizes)), key=lambda member: sizes[member])]
