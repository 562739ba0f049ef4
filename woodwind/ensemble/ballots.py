"""Votes of members for classes, and how ties are broken: at random, by key, and the same for the same votes.

A ballot is a row of K + 1 numbers: one for the class voted for, zero for others, and last the luck that this member gives to this class, a
number in [0, 1) drawn by key. Ballots add up. The sum of the luck depends on who voted for what, and on nothing else: neither on where the
row stands nor on the other rows. Its fraction picks one of the classes that have the most votes.
"""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.streams import key, uniform

Floats = NDArray[np.float64]


def luck(seed: int, member: int, n_classes: int) -> Floats:
    """What a member gives to each class (K,)."""
    return uniform(key(seed, "ties", member), n_classes)


def ballots(classes: NDArray[np.integer], given: Floats) -> Floats:
    """The ballots (n, K + 1) of votes for classes, by a member that gives such luck."""
    out = np.zeros((len(classes), len(given) + 1))
    out[np.arange(len(classes)), classes] = 1.0
    out[:, -1] = given[classes]
    return out


def winners(total: Floats) -> NDArray[np.int64]:
    """The class with the most votes in each row of summed ballots; of equals the one that the luck picks."""
    votes = total[:, :-1]
    leads = votes == votes.max(axis=1, keepdims=True)
    n_leads = leads.sum(axis=1)
    fraction = total[:, -1] % 1.0
    which = np.minimum((fraction * n_leads).astype(np.int64), n_leads - 1)
    return np.asarray((leads & (np.cumsum(leads, axis=1) == which[:, None] + 1)).argmax(axis=1))


def shares(total: Floats, members: NDArray[np.integer] | int) -> Floats:
    """The share of the votes that each class has (n, K). Of equals, the winner has more than the others by the smallest step there is."""
    out = np.asarray(total[:, :-1] / np.reshape(members, (-1, 1)))
    best = winners(total)
    tied = np.flatnonzero((out == out.max(axis=1, keepdims=True)).sum(axis=1) > 1)
    out[tied, best[tied]] = np.nextafter(out[tied, best[tied]], 2.0)
    return out
