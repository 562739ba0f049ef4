"""Tables of two features, ensembles trained on them, and what these predict on a grid after some of their rounds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.estimators.adaptive.adaboost import AdaBoostClassifier
from woodwind.estimators.bagging.bagging import BaggingClassifier
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier
from woodwind.estimators.diagnostics.staged import staged_predictions
from woodwind.estimators.forests.decision_tree import DecisionTreeClassifier
from woodwind.estimators.forests.forests import RandomForestClassifier

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIDE = 44  # points along a side of the grid
REACH = 1.0  # features are between minus and plus this
N_TRAIN, N_TEST = 240, 1000
BINS = 20  # of the histogram of margins, from -1 to 1
LEVELS = 255  # a probability of one, as it is stored

TABLES = ("moons", "rings", "stripes")
METHODS = ("bagging", "forest", "adaboost", "boosting")
DEPTHS = (1, 2, 4)
LEARNING_RATES = (0.1, 0.3, 1.0)
NOISES = (0.0, 0.1, 0.25)
ROUNDS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 40, 60)


@dataclass(frozen=True, eq=False)
class LabelledPoints:
    """Rows of two features and their classes, 0 and 1."""

    X: Floats  # (n, 2)
    y: Integers  # (n,)


@dataclass(frozen=True, eq=False)
class Run:
    """One ensemble after each of its rounds."""

    table: str
    noise: float
    method: str
    depth: int
    learning_rate: float | None  # None where there is none
    grids: NDArray[np.uint8]  # (rounds shown, SIDE, SIDE) the probability of class 1, in units of 1 / LEVELS; the first row is the bottom
    train: Floats  # (all rounds,) the share of training rows that are wrong
    test: Floats  # the same of new rows, whose labels have no noise
    margins: Integers  # (rounds shown, BINS) training rows by margin


def drawn(table: str, n: int, noise: float, seed: int) -> LabelledPoints:
    """Rows of a table; the labels of such a share of them are turned round."""
    draw = np.random.default_rng([seed, TABLES.index(table)])
    if table == "moons":
        y = np.arange(n) % 2
        angle = np.pi * draw.random(n)
        X = np.stack([np.cos(angle), np.sin(angle)], axis=1) * 0.55
        X = np.where(y[:, None] == 1, X * [1.0, -1.0] + [0.25, 0.12], X + [-0.25, -0.12]) + draw.normal(0.0, 0.1, (n, 2))
    else:
        X = draw.uniform(-REACH, REACH, (n, 2))
        far = np.hypot(X[:, 0], X[:, 1]) if table == "rings" else np.abs((X[:, 0] + X[:, 1]) / 2.0)
        y = ((far > 0.35) & (far < 0.8)).astype(np.int64) if table == "rings" else (np.floor(far * 4.0) % 2).astype(np.int64)
    turned = draw.random(n) < noise
    return LabelledPoints(np.clip(X, -REACH, REACH), np.where(turned, 1 - y, y))


def ensemble(method: str, depth: int, learning_rate: float | None, rounds: int) -> Any:
    """An ensemble that is not trained yet."""
    rate = 1.0 if learning_rate is None else learning_rate
    if method == "boosting":
        return GradientBoostingClassifier(
            n_estimators=rounds, max_depth=depth, max_leaf_nodes=None, learning_rate=rate, min_samples_leaf=1,
            early_stopping=False, subsample=1.0, random_state=0, n_jobs=1,
        )  # fmt: skip
    if method == "forest":
        return RandomForestClassifier(n_estimators=rounds, max_depth=depth, max_features=1, random_state=0, n_jobs=1)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
    if method == "adaboost":
        return AdaBoostClassifier(tree, n_estimators=rounds, learning_rate=rate, random_state=0)
    return BaggingClassifier(tree, n_estimators=rounds, random_state=0, n_jobs=1)


def grid() -> Floats:
    """The points of the grid (SIDE * SIDE, 2), row by row from the bottom."""
    side = (np.arange(SIDE) + 0.5) / SIDE * 2.0 * REACH - REACH
    across, up = np.meshgrid(side, side)
    return np.stack([across.ravel(), up.ravel()], axis=1)


def settings(tables: tuple[str, ...] = TABLES) -> list[tuple[str, float, str, int, float | None]]:
    """Table, noise, method, depth and learning rate of all runs; methods that have no learning rate come once."""
    rates: dict[str, tuple[float | None, ...]] = {"bagging": (None,), "forest": (None,)}
    return [
        (table, noise, method, depth, rate)
        for table in tables
        for noise in NOISES
        for method in METHODS
        for depth in DEPTHS
        for rate in rates.get(method, LEARNING_RATES)
    ]


def runs(tables: tuple[str, ...] = TABLES, tell: Callable[[int, int], None] = lambda _done, _all: None) -> Iterator[Run]:
    """Train all ensembles, one after another."""
    wanted = settings(tables)
    for done, (table, noise, method, depth, rate) in enumerate(wanted):
        tell(done, len(wanted))
        yield run(table, noise, method, depth, rate)


def run(table: str, noise: float, method: str, depth: int, learning_rate: float | None, rounds: tuple[int, ...] = ROUNDS) -> Run:
    """Train one ensemble, and ask it after every round."""
    train, test = drawn(table, N_TRAIN, noise, 0), drawn(table, N_TEST, 0.0, 1)
    model = ensemble(method, depth, learning_rate, rounds[-1]).fit(train.X, train.y)
    asked = np.concatenate([grid(), train.X, test.X])
    stages = [np.asarray(stage)[:, 1] for stage in staged_predictions(model, asked, probabilities=True)]
    stages += [stages[-1]] * (rounds[-1] - len(stages))  # AdaBoost ends where a tree makes no error, or is no better than a guess
    cut = [SIDE * SIDE, SIDE * SIDE + N_TRAIN]
    shown = [np.split(stages[number - 1], cut) for number in rounds]
    sign, edges = 2 * train.y - 1, np.linspace(-1.0, 1.0, BINS + 1)
    parts = [(stage[cut[0] : cut[1]], stage[cut[1] :]) for stage in stages]
    errors = np.array([[np.mean((own > 0.5) != train.y), np.mean((new > 0.5) != test.y)] for own, new in parts])
    return Run(
        table, noise, method, depth, learning_rate,
        grids=np.stack([np.rint(on_grid * LEVELS).astype(np.uint8).reshape(SIDE, SIDE) for on_grid, _, _ in shown]),
        train=errors[:, 0], test=errors[:, 1],
        margins=np.stack([np.histogram((2.0 * own - 1.0) * sign, edges)[0] for _, own, _ in shown]),
    )  # fmt: skip
