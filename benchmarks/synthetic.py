"""Tables made from a seed: the same everywhere, with signal of several kinds so that trees have something to find."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
BLOCK = 100_000  # rows made at once: keeps the temporaries small beside the table


def collisions(n: int, seed: int = 0) -> tuple[Matrix, NDArray[np.int64]]:
    """n x 28, binary, shaped like collider events: momenta with tails, angles, tags of few values, and seven derived columns.

    The score mixes linear terms, products, thresholds and a ratio; the best models reach an AUC of about 0.8.
    """
    table, label = np.empty((n, 28), np.float32), np.empty(n, np.int64)
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        rng = np.random.default_rng([seed, begin // BLOCK])
        m = end - begin
        x = table[begin:end]
        x[:, 0:6] = np.exp(0.5 * rng.standard_normal((m, 6), np.float32))
        x[:, 6:12] = rng.standard_normal((m, 6), np.float32)
        x[:, 12:17] = rng.uniform(-np.pi, np.pi, (m, 5))
        x[:, 17:21] = rng.integers(0, 3, (m, 4)) * 1.1
        mixing = np.random.default_rng([seed, 2**32 - 1]).standard_normal((12, 7), np.float32) / 4
        x[:, 21:28] = np.exp(0.3 * (x[:, 0:12] @ mixing)) * (1 + 0.2 * rng.standard_normal((m, 7), np.float32))
        score = (
            0.45 * x[:, 6]
            - 0.3 * x[:, 7]
            + 0.5 * x[:, 8] * x[:, 9]
            + 0.7 * (x[:, 0] > 1.5) * (x[:, 10] > 0)
            - 0.8 * (x[:, 1] * x[:, 2] > 1.6)
            + 0.6 * np.cos(x[:, 12] - x[:, 13])
            + 0.4 * (x[:, 17] > 0) * x[:, 11]
            + 0.5 * np.log(x[:, 3] / x[:, 4])
            + 0.5 * (x[:, 21] - x[:, 22])
        )
        label[begin:end] = score + 0.55 * rng.logistic(size=m) > 0.0
    return table, label


def wide(n: int, features: int = 200, seed: int = 0) -> tuple[Matrix, NDArray[np.float64]]:
    """n x features, regression: twenty columns matter, alone, in pairs and as steps; the others are noise or shadows of them."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((n, features), dtype=np.float32)
    shadows = min(40, features - 20)
    table[:, 20 : 20 + shadows] = 0.7 * table[:, np.arange(shadows) % 20] + 0.7 * table[:, 20 : 20 + shadows]
    x = table
    target = (
        x[:, :8] @ np.linspace(2, 0.3, 8)
        + 1.5 * x[:, 8] * x[:, 9]
        + 2.0 * np.sin(2 * x[:, 10])
        + 2.0 * (x[:, 11] > 0.5)
        + 1.5 * np.abs(x[:, 12])
        + (x[:, 13] > 0) * x[:, 14] * 1.5
        + rng.standard_normal(n) * 1.5
    )
    return table, target.astype(np.float64)


def small(n: int, features: int, seed: int = 0) -> tuple[Matrix, NDArray[np.int64]]:
    """n x features, binary, an ordinary table of numbers."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, features), dtype=np.float32)
    score = x[:, 0] + x[:, 1] * x[:, 2] + (x[:, 3] > 0.5) - 0.7 * np.abs(x[:, 4]) + 0.8 * rng.logistic(size=n)
    return x, (score > np.median(score)).astype(np.int64)


def counts(n: int, features: int = 93, classes: int = 9, seed: int = 0) -> tuple[Matrix, NDArray[np.int64]]:
    """n x features of sparse counts in unequal classes: stands in for a product table when that is not at hand."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(2, classes + 2)
    label = rng.choice(classes, n, p=share / share.sum())
    rate = rng.gamma(0.25, 1.0, (classes, features)) * rng.gamma(0.5, 1.0, features)
    spread = rng.gamma(0.7, 1 / 0.7, (n, 1))
    return rng.poisson(0.7 * rate[label] * spread).astype(np.float32), label.astype(np.int64)


def journeys(n: int, seed: int = 0) -> tuple[Any, NDArray[np.int64]]:
    """A frame with columns of 4,000, 100, 16 and 3 levels, skewed as real ones are, and five numbers; binary."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    categories = {"tail": 4000, "place": 100, "carrier": 16, "origin": 3}
    score, columns = np.zeros(n), {}
    for name, k in categories.items():
        share = 1.0 / np.arange(1, k + 1) ** 0.7
        code = rng.choice(k, n, p=share / share.sum())
        score += rng.standard_normal(k)[code] * 0.5
        missing = (rng.random(n) < 0.01) & (name == "tail")
        columns[name] = pd.Categorical.from_codes(np.where(missing, -1, code), [f"{name}{i:04d}" for i in range(k)])
    columns["month"] = rng.integers(1, 13, n)
    columns["day"] = rng.integers(1, 32, n)
    columns["hour"] = rng.integers(5, 24, n)
    columns["distance"] = np.round(np.exp(rng.normal(6.7, 0.7, n)))
    columns["number"] = rng.integers(1, 7000, n)
    score += 0.12 * (columns["hour"] - 14) + 0.5 * np.isin(columns["month"], (6, 7, 12)) + rng.logistic(size=n) - 1.5
    return pd.DataFrame(columns), (score > 0).astype(np.int64)


def many_categories(n: int, k: int = 100_000, seed: int = 0) -> tuple[Any, NDArray[np.int64]]:
    """A frame with one column of text with k values, each equally likely and each with an effect of its own, and four numbers; binary."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    code = rng.integers(0, k, n)
    x = rng.standard_normal((n, 4))
    score = rng.standard_normal(k)[code] + x[:, 0] + x[:, 1] * x[:, 2] + rng.logistic(size=n)
    columns = {f"x{column}": x[:, column] for column in range(4)}
    columns["id"] = pd.Categorical.from_codes(code, [f"id{i:06d}" for i in range(k)])
    return pd.DataFrame(columns), (score > 0).astype(np.int64)
