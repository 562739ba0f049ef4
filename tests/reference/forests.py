"""Forests and rows drawn at random, with everything that a forest may have: categories, stops, vectors, single nodes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.tree.forest import LEFT, RIGHT, STOP, Forest

# Thresholds and values come from one small pool, so that they often meet; some differ only beyond single precision.
NUMBERS = np.array([-np.inf, -1e300, -3.5, -1.0, -0.0, 0.1, float(np.float32(0.1)), 1 / 3, 2.0, 2.0000000001, 7.25, 1e300, np.inf])


def random_tree(rng: np.random.Generator, categories: tuple[int, ...], max_leaves: int, wide: bool = False) -> dict[str, Any]:
    """Grow one tree by splitting leaves at random; `categories` gives the number of categories of each feature, 0 for numbers."""
    set_words = [-(-count // 64) for count in categories]
    feature, threshold, child, missing, sets = [-1], [0.0], [0], [int(STOP)], [-1]
    words: list[int] = []
    parent, leaves = [-1], [0]
    while len(leaves) < max_leaves and categories:
        # The newest leaf half of the time: some trees become deep.
        node = leaves.pop(len(leaves) - 1 if rng.random() < 0.5 else int(rng.integers(len(leaves))))
        f = int(rng.integers(len(categories)))
        feature[node], child[node] = f, len(feature)
        missing[node] = int(rng.choice([LEFT, RIGHT, STOP]))
        if categories[f]:
            sides = rng.integers(3, size=categories[f])
            sets[node] = len(words)
            for side in (0, 1):
                members = np.flatnonzero(sides == side).tolist()
                words += [sum(1 << (m % 64) for m in members if m // 64 == k) for k in range(set_words[f])]
        else:
            threshold[node] = float(rng.normal() if wide else rng.choice(NUMBERS))
        for _ in range(2):
            leaves.append(len(feature))
            parent.append(node)
            feature.append(-1)
            threshold.append(0.0)
            child.append(0)
            missing.append(int(STOP))
            sets.append(-1)
    cover = np.zeros(len(feature))
    cover[leaves] = rng.integers(1, 50, len(leaves))
    for node in range(len(feature) - 1, 0, -1):
        cover[parent[node]] += cover[node]
    return {"feature": feature, "threshold": threshold, "child": child, "missing": missing, "sets": sets, "words": words, "cover": cover}


def symmetric_tree(rng: np.random.Generator, categories: tuple[int, ...], depth: int) -> dict[str, Any]:
    """A complete tree whose nodes of one level have the same split by a number; its nodes stand level by level."""
    inner, n = (1 << depth) - 1, (2 << depth) - 1
    numbers = [f for f, count in enumerate(categories) if not count]
    level = np.repeat(np.arange(depth), 1 << np.arange(depth))
    feature, threshold, missing = np.full(n, -1), np.zeros(n), np.full(n, int(STOP))
    feature[:inner] = rng.choice(numbers, depth)[level]
    threshold[:inner] = rng.choice(NUMBERS, depth)[level]
    missing[:inner] = rng.choice([LEFT, RIGHT, STOP] if rng.random() < 0.5 else [LEFT, RIGHT], depth)[level]
    child = np.where(np.arange(n) < inner, 2 * np.arange(n) + 1, 0)
    cover = np.concatenate([1.0 * (1 << (depth - level)), np.ones(1 << depth)])
    return {
        "feature": feature,
        "threshold": threshold,
        "child": child,
        "missing": missing,
        "sets": np.full(n, -1),
        "words": [],
        "cover": cover,
    }


def random_forest(
    seed: int,
    categories: tuple[int, ...] = (0, 0, 5),
    n_trees: int = 3,
    max_leaves: int = 8,
    n_outputs: int = 1,
    vector: bool = False,
    wide: bool = False,
    symmetric: bool = False,
) -> Forest:
    """A forest of random trees; `vector`: every tree has a value for each output; `wide`: thresholds all differ.

    `symmetric`: every second tree is complete and has one split for each level.
    """
    rng = np.random.default_rng(seed)
    width = n_outputs if vector else 1
    forest = Forest.empty([-(-count // 64) for count in categories], rng.normal(size=n_outputs), width)
    for tree in range(n_trees):
        leaves = int(rng.integers(1, max_leaves + 1))
        parts = (
            symmetric_tree(rng, categories, leaves.bit_length()) if symmetric and tree % 2 else random_tree(rng, categories, leaves, wide)
        )
        n = len(parts["feature"])
        one = Forest(
            **parts, roots=np.array([0, n]), set_words=forest.set_words, value=rng.normal(size=(n, width)),
            gain=np.where(np.array(parts["feature"]) >= 0, rng.random(n), 0.0), output=np.array([-1 if vector else tree % n_outputs]),
            n_outputs=n_outputs, start=np.zeros(n_outputs),
        )  # fmt: skip
        forest = forest.join(one)
    return forest.with_node_values().check()


def random_rows(seed: int, categories: tuple[int, ...], n: int, dtype: Any = np.float64, missing: float = 0.2) -> NDArray[Any]:
    """A matrix of rows: numbers of the pool or near it, levels seen and unseen, and some values missing."""
    rng = np.random.default_rng(seed)
    rows = np.empty((n, len(categories)))
    for f, count in enumerate(categories):
        if count:
            rows[:, f] = rng.integers(-2, count + 70, n) if rng.random() < 0.5 else rng.integers(0, count, n)
        else:
            rows[:, f] = np.where(rng.random(n) < 0.5, rng.choice(NUMBERS, n), rng.normal(size=n))
        rows[rng.random(n) < missing, f] = np.nan
    with np.errstate(over="ignore"):
        return rows.astype(dtype)
