"""Error-correcting output codes: words of bits for classes (Dietterich & Bakiri 1995), and the class nearest to what the bits say."""

import math

import numpy as np
from numpy.typing import NDArray

from woodwind.base.random_streams import key, uniform

Floats = NDArray[np.float64]
Code = NDArray[np.int8]  # (K, B) of -1 and 1

# Up to so many classes all ways to part them in two are taken: 15 bits for 5.
MOST_EXHAUSTIVE = 5
# Codes that are drawn, of which the best is taken.
DRAWN = 200


def code_for(n_classes: int, size: float | str, seed: int) -> Code:
    """A code for so many classes; `size` bits for each class, or by the rule of 'auto'."""
    if size == "auto":
        # Allwein, Schapire & Singer 2000 take 10 log2 K bits for codes that are drawn.
        return exhaustive(n_classes) if n_classes <= MOST_EXHAUSTIVE else drawn(n_classes, math.ceil(10 * math.log2(n_classes)), seed)
    return drawn(n_classes, max(1, int(float(size) * n_classes)), seed)


def exhaustive(n_classes: int) -> Code:
    """All ways to part the classes in two: 2**(K - 1) - 1 bits; the first class has a one in each.

    >>> exhaustive(3).tolist()
    [[1, 1, 1], [-1, -1, 1], [-1, 1, -1]]
    """
    bits = np.arange(2 ** (n_classes - 1) - 1)
    rest = (bits[None, :] >> np.arange(n_classes - 2, -1, -1)[:, None]) & 1
    return np.concatenate([np.ones((1, len(bits))), 2 * rest - 1]).astype(np.int8)


def drawn(n_classes: int, n_bits: int, seed: int) -> Code:
    """Of many codes drawn, that whose two nearest words are farthest apart; every bit parts the classes."""
    best, apart = np.ones((n_classes, n_bits), np.int8), (-1, -1)
    for trial in range(DRAWN):
        code = np.where(uniform(key(seed, "code", trial), n_classes * n_bits) < 0.5, -1, 1).reshape(n_classes, n_bits).astype(np.int8)
        same = np.abs(code.sum(axis=0)) == n_classes
        code[np.flatnonzero(same) % n_classes, np.flatnonzero(same)] *= -1
        # Bits that say the same about all classes make the same mistakes: of equal codes, that with fewer of them.
        found = distance(code), len(np.unique(code * code[:1], axis=1).T)
        if found > apart:
            best, apart = code, found
    return best


def distance(code: Code) -> int:
    """Bits in which the two nearest words differ; words are told apart as long as fewer than half of these are wrong.

    >>> distance(exhaustive(4))
    4
    """
    n_classes, n_bits = code.shape
    agree = code.astype(np.int64) @ code.T
    return int((n_bits - agree[~np.eye(n_classes, dtype=bool)].max()) // 2)


def decode(margins: Floats, code: Code) -> Floats:
    """How well the bits, from -1 to 1, agree with the word of each class, (n, K): the largest is that of the nearest word."""
    return np.asarray(margins @ code.T.astype(np.float64) / code.shape[1])
