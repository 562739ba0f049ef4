"""Training of net members: Adam on batches of rows, by NumPy alone, several nets at once.

Nets of tables want pieces of numbers, a rate that falls along half a cosine, weight decay, some dropout, the mean of the weights of late
steps, and a temperature: each is measured on rows that the net does not learn. The order of rows, the first weights and what is dropped are
drawn by key. The number of steps is planned from the size of the table, and cut when the steps turn out to take longer than there is time.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.clock import OutOfTimeError
from woodwind.auto.members.blas_threads import one_blas_thread
from woodwind.auto.members.mlp_member import MlpMember, PiecewiseInputs, sigmoid
from woodwind.base.random_streams import choose, hashes, key, permutation, uniform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Narrow = NDArray[np.float32]

# Intervals of a column, and inputs that all intervals may be together.
MOST_PIECES, FEWEST_PIECES, MOST_INPUTS = 16, 4, 512
# Rows that quantiles are looked for in; rows that a net learns at most; rows that are held out at most.
LOOKED_AT, MOST_ROWS, MOST_HELD = 20_000, 400_000, 10_000
# One row of so many is held out.
PARTS = 10
HIDDEN = (256, 128)
RATE, DECAY, DROPOUT = 5e-3, 0.1, 0.15
# A net that is at its best within so many epochs learns by heart: it is trained once more, at so much lower a rate and in so few epochs.
EARLY, SLOWER, SHORTER = 6, 0.25, 0.4
FIRST_MOMENT, SECOND_MOMENT, SMALL = np.float32(0.9), np.float32(0.95), np.float32(1e-8)
# Share of the steps in which the rate rises, and how slowly the mean of the weights moves.
RISE, MEMORY = 0.05, 0.99
# Factors of log-odds that are tried on the held-out rows: nets that fit well are too sure.
TEMPERATURES = (1.0, 0.85, 0.7, 0.55, 0.4)
# Epochs without a better one, after which training ends.
PATIENCE = 12
# Share of the time left that steps are planned for, and steps before their speed is known.
USABLE, TRIAL = 0.85, 4
# Multiplications and additions in a second that are counted on, before any step was taken.
OPERATIONS = 4e10
# Seconds for a value, to put a column in order; and seconds that there always are, for a net of some kind.
SORTED, BRIEF = 1e-7, 0.25
# Log-odds beyond which no table of ours can know anything.
SURE = 30.0


@dataclass(frozen=True)
class MlpPlan:
    """How much is trained."""

    n_nets: int
    batch: int
    epochs: int
    rate: float = RATE

    def within(self, seconds: float, n: int, sizes: tuple[int, ...]) -> "MlpPlan":
        """One net where there is no time for several: one that is done is better than three that have just begun."""
        work = 6.0 * n * self.epochs * self.n_nets * sum(a * b for a, b in pairwise(sizes))
        return self if work < OPERATIONS * seconds else replace(self, n_nets=1)

    def work_of_step(self, sizes: tuple[int, ...]) -> float:
        """Multiplications and additions of one step."""
        return 6.0 * self.batch * self.n_nets * sum(a * b for a, b in pairwise(sizes))

    def calmer(self) -> "MlpPlan":
        """For nets that learn by heart."""
        return replace(self, epochs=max(1, int(SHORTER * self.epochs)), rate=SLOWER * self.rate)

    @classmethod
    def of(cls, n: int) -> "MlpPlan":
        """Small tables get several nets, small batches and more epochs: they are cheap there, and chance is large."""
        n_nets = 3 if n <= 1500 else 2 if n <= 4000 else 1
        batch = 64 if n <= 2000 else 128 if n <= 5000 else 256 if n <= 50_000 else 512
        return cls(n_nets, batch, int(np.clip(40 * (20_000 / n) ** 0.7, 6, 40)))


@dataclass(frozen=True, eq=False)
class MlpTrainingSet:
    """What nets learn from: rows, what they should say, and how much each counts (one in the mean)."""

    matrix: Floats
    target: Narrow  # (n, width)
    weight: Narrow  # (n, 1)
    kind: str  # "number", "two" or "several"

    def slope(self, predicted: Narrow, rows: Integers) -> Narrow:
        """What the loss of rows (E, b) changes by with what is predicted for them (E, b, width)."""
        predicted_probabilities = predicted if self.kind == "number" else sigmoid(predicted) if self.kind == "two" else softmax(predicted)
        return np.asarray((predicted_probabilities - self.target[rows]) * self.weight[rows], np.float32)

    def losses(self, predicted: Narrow, rows: Integers) -> Floats:
        """The mean loss of rows (E, h) for each net."""
        target, weight = self.target[rows].astype(np.float64), self.weight[rows][..., 0].astype(np.float64)
        given = predicted.astype(np.float64)
        if self.kind == "number":
            found = ((given - target) ** 2)[..., 0]
        elif self.kind == "two":
            found = (np.maximum(given, 0.0) - given * target + np.log1p(np.exp(-np.abs(given))))[..., 0]
        else:
            top = given.max(axis=-1, keepdims=True)
            found = top[..., 0] + np.log(np.exp(given - top).sum(axis=-1)) - (given * target).sum(axis=-1)
        return np.asarray((found * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-12))


class MlpEnsemble:
    """E nets of the same shape, their numbers in one row: all weights first, then all biases."""

    def __init__(self, n_nets: int, sizes: tuple[int, ...]) -> None:
        shapes = [(n_nets, a, b) for a, b in pairwise(sizes)] + [(n_nets, 1, b) for b in sizes[1:]]
        lengths = [int(np.prod(shape)) for shape in shapes]
        ends = np.cumsum([0, *lengths])
        self.n_layers, self.n_weights = len(sizes) - 1, int(ends[len(sizes) - 1])
        self.shapes, self.positions = shapes, [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.parameters = np.zeros(int(ends[-1]), np.float32)

    def views(self, parameters: Narrow) -> list[Narrow]:
        """The arrays of each layer: weights, then biases."""
        return [parameters[position].reshape(shape) for position, shape in zip(self.positions, self.shapes, strict=True)]

    def draw(self, seed: int, start: Narrow) -> None:
        """First weights, uniform by the number of inputs (He et al. 2015); the last layer begins small, its biases at the start."""
        arrays = self.views(self.parameters)
        for layer in range(self.n_layers):
            n_nets, a, b = self.shapes[layer]
            size = np.sqrt(6.0 / a) * (0.1 if layer == self.n_layers - 1 else 1.0)
            arrays[layer][:] = ((2.0 * uniform(key(seed, "net", "weights", layer), n_nets * a * b) - 1.0) * size).reshape(n_nets, a, b)
        arrays[-1][:] = start

    def say(self, parameters: Narrow, inputs: Narrow) -> Narrow:
        """What nets of such numbers predict for inputs (E or 1, n, D)."""
        arrays, values = self.views(parameters), inputs
        for layer in range(self.n_layers):
            values = np.matmul(values, arrays[layer]) + arrays[self.n_layers + layer]
            if layer < self.n_layers - 1:
                values = values * sigmoid(values)
        return values

    def gradients(
        self, inputs: Narrow, loss_gradient: Callable[[Narrow], Narrow], drop: Callable[[int, tuple[int, ...]], Narrow]
    ) -> Narrow:
        """Gradient of the loss by all numbers, for inputs (E, b, D): what comes in is kept on the way forth, and coefficients go the way
        back."""
        arrays, n = self.views(self.parameters), self.n_layers
        out = np.empty_like(self.parameters)
        found = self.views(out)
        coming, curvatures = [inputs], []
        for layer in range(n - 1):
            values = np.matmul(coming[-1], arrays[layer])
            values += arrays[n + layer]
            gate = sigmoid(values)
            kept = drop(layer, values.shape)
            # x s(x) has the slope s(x) (1 + x (1 - s(x))).
            curvatures.append(gate * (1.0 + values * (1.0 - gate)) * kept)
            values *= gate
            values *= kept
            coming.append(values)
        slope = loss_gradient(np.matmul(coming[-1], arrays[n - 1]) + arrays[2 * n - 1])
        slope /= np.float32(inputs.shape[1])
        for layer in range(n - 1, -1, -1):
            np.matmul(coming[layer].transpose(0, 2, 1), slope, out=found[layer])
            np.sum(slope, axis=1, keepdims=True, out=found[n + layer])
            if layer:
                slope = np.matmul(slope, arrays[layer].transpose(0, 2, 1))
                slope *= curvatures[layer - 1]
        return out


class Adam:
    """Steps of Kingma & Ba (2015), with weight decay apart (Loshchilov & Hutter 2019) and a mean of the numbers on the way."""

    def __init__(self, nets: MlpEnsemble) -> None:
        self.nets, self.count = nets, 0
        self.first, self.second = np.zeros_like(nets.parameters), np.zeros_like(nets.parameters)
        self.mean = nets.parameters.copy()

    def step(self, gradients: Narrow, rate: float) -> None:
        """Move all numbers."""
        self.count += 1
        parameters, n_weights = self.nets.parameters, self.nets.n_weights
        self.first *= FIRST_MOMENT
        self.first += (1 - FIRST_MOMENT) * gradients
        gradients *= gradients
        gradients *= 1 - SECOND_MOMENT
        self.second *= SECOND_MOMENT
        self.second += gradients
        np.multiply(self.second, np.float32(1.0 / (1.0 - float(SECOND_MOMENT) ** self.count)), out=gradients)
        np.sqrt(gradients, out=gradients)
        gradients += SMALL
        np.divide(self.first, gradients, out=gradients)
        gradients *= np.float32(rate / (1.0 - float(FIRST_MOMENT) ** self.count))
        parameters[:n_weights] *= np.float32(1.0 - rate * DECAY)
        parameters -= gradients
        memory = np.float32(min(MEMORY, self.count / (self.count + 10.0)))
        self.mean *= memory
        self.mean += (1 - memory) * parameters


def train_mlp(matrix: Floats, y: NDArray, weight: Floats | None, n_classes: int, seed: int, deadline: Callable[[], float]) -> MlpMember:
    """A net member of rows: y of class numbers, or of numbers where there are no classes."""
    with one_blas_thread():
        return _train(matrix, y, weight, n_classes, seed, deadline)


def _train(matrix: Floats, y: NDArray, weight: Floats | None, n_classes: int, seed: int, deadline: Callable[[], float]) -> MlpMember:
    """Draw the nets, and improve them."""
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0.0)
    if len(rows) > MOST_ROWS:
        rows = rows[choose(key(seed, "net", "rows"), len(rows), MOST_ROWS)]
        matrix, y, weight = matrix[rows], y[rows], None if weight is None else weight[rows]
        rows = np.arange(len(y))
    if SORTED * min(len(rows), LOOKED_AT) * matrix.shape[1] > max(deadline(), BRIEF):
        raise OutOfTimeError
    pieces = cut(matrix, rows, seed)
    training_set, shift, spread, start, ends = read_training_set(matrix, y, weight, n_classes, rows)
    sizes = (pieces.n_inputs, *HIDDEN, training_set.target.shape[1])
    plan = MlpPlan.of(len(rows)).within(deadline(), len(rows), sizes)
    if TRIAL * plan.work_of_step(sizes) > OPERATIONS * max(deadline(), BRIEF):
        raise OutOfTimeError
    nets = MlpEnsemble(plan.n_nets, sizes)
    nets.draw(seed, start)
    train_rows, held = split(y[rows], plan.n_nets, n_classes, seed)
    best = BestWeights(nets, training_set, rows[held], pieces)
    improve(nets, training_set, rows[train_rows], best, plan, seed, deadline)
    if best.is_over() and best.epoch <= EARLY and deadline() > 0.0:
        nets.draw(seed, start)
        best.since = 0
        improve(nets, training_set, rows[train_rows], best, plan.calmer(), seed, deadline)
    arrays = nets.views(best.best)
    weights, biases = tuple(arrays[: nets.n_layers]), tuple(arrays[nets.n_layers :])
    return MlpMember(pieces, weights, biases, best.factor * spread, shift, *ends).check()


def cut(matrix: Floats, rows: Integers, seed: int) -> PiecewiseInputs:
    """Centres and scales of the columns, and intervals of those with more than two values."""
    if len(rows) > LOOKED_AT:
        rows = rows[choose(key(seed, "net", "quantiles"), len(rows), LOOKED_AT)]
    seen = np.sort(matrix[rows], axis=0)
    quarter, middle, three = (seen[int(share * (len(seen) - 1))] for share in (0.25, 0.5, 0.75))
    robust = (three - quarter) / 1.349
    spread = robust > 1e-6
    bent = np.flatnonzero((np.diff(seen, axis=0) > 0.0).sum(axis=0) > 1)  # more than two values
    n_pieces = min(MOST_PIECES, MOST_INPUTS // max(1, len(bent)))
    positions, low, inverse = [], [], []
    for position in bent if n_pieces >= FEWEST_PIECES else ():
        knots = np.unique(seen[np.linspace(0, len(seen) - 1, n_pieces + 1).astype(np.int64), position])
        if len(knots) < 3:
            # Most rows have the same value: let the others say where the pieces are.
            values = np.unique(seen[:, position])
            knots = np.unique(values[np.linspace(0, len(values) - 1, n_pieces + 1).astype(np.int64)])
        wide = np.diff(knots) > 1e-9
        positions += [position] * int(wide.sum())
        low += list(knots[:-1][wide])
        inverse += list(1.0 / np.diff(knots)[wide])
    return PiecewiseInputs(
        np.where(spread, middle, 0.0),
        np.where(spread, 1.0 / np.where(spread, robust, 1.0), 1.0),
        np.array(positions, np.int64),
        np.array(low, np.float64),
        np.array(inverse, np.float64),
    )


def read_training_set(
    matrix: Floats, y: NDArray, weight: Floats | None, n_classes: int, rows: Integers
) -> tuple[MlpTrainingSet, float, float, Narrow, tuple[float, float]]:
    """What is learned; what is added to outputs and what they are times; where the last biases begin; the ends of the scores."""
    heavy = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    heavy = heavy / heavy[rows].mean()
    counts = heavy.astype(np.float32)[:, None]
    if n_classes:
        predicted_probabilities = np.bincount(y[rows], heavy[rows], minlength=n_classes) + 1.0
        logs = np.log(predicted_probabilities / predicted_probabilities.sum())
        if n_classes == 2:
            training_set = MlpTrainingSet(matrix, (y == 1).astype(np.float32)[:, None], counts, "two")
            return training_set, 0.0, 1.0, (logs[1:] - logs[:1]).astype(np.float32), (-SURE, SURE)
        training_set = MlpTrainingSet(matrix, (y[:, None] == np.arange(n_classes)).astype(np.float32), counts, "several")
        return training_set, 0.0, 1.0, logs.astype(np.float32), (-SURE, SURE)
    values = np.asarray(y, np.float64)
    middle = float((values[rows] * heavy[rows]).mean())
    spread = float(np.sqrt((heavy[rows] * (values[rows] - middle) ** 2).mean()))
    spread = spread if spread > 0.0 and np.isfinite(spread) else 1.0
    training_set = MlpTrainingSet(matrix, ((values - middle) / spread).astype(np.float32)[:, None], counts, "number")
    return training_set, middle, spread, np.zeros(1, np.float32), (float(values[rows].min()), float(values[rows].max()))


def split(y: NDArray, n_nets: int, n_classes: int, seed: int) -> tuple[Integers, Integers]:
    """Rows that each net learns (E, l), and rows that it does not (E, h): others for each net, of each class its share."""
    order = permutation(key(seed, "net", "held out"), len(y))
    if n_classes:
        order = order[np.argsort(y[order], kind="stable")]
        # The first row of a class is always learned.
        order = order[np.append(False, np.diff(y[order]) == 0)]
    held = min(max(0, (len(order) - n_nets + PARTS) // PARTS), MOST_HELD)
    away = []
    for net in range(n_nets):
        mine = order[net::PARTS]
        away.append(mine[choose(key(seed, "net", "held out", net), len(mine), held)])
    return np.stack([np.setdiff1d(np.arange(len(y)), mine) for mine in away]), np.stack(away)


def improve(
    nets: MlpEnsemble,
    training_set: MlpTrainingSet,
    train_rows: Integers,
    best: "BestWeights",
    plan: MlpPlan,
    seed: int,
    deadline: Callable[[], float],
) -> None:
    """Train, epoch by epoch, as long as there is time and something gets better."""
    batch = min(plan.batch, train_rows.shape[1])
    per_epoch = max(1, train_rows.shape[1] // batch)
    total, adam = plan.epochs * per_epoch, Adam(nets)
    began, done = perf_counter(), 0
    while done < total and not best.is_over():
        order = np.stack([mine[permutation(key(seed, "net", "epoch", done, net), len(mine))] for net, mine in enumerate(train_rows)])
        for begin in range(0, per_epoch * batch, batch):
            chosen = order[:, begin : begin + batch]
            gradients = nets.gradients(best.inputs_of(chosen), partial(training_set.slope, rows=chosen), dropper(seed, done))
            adam.step(gradients, plan.rate * rise_and_fall((done + 1) / total))
            done += 1
            left = deadline()
            if done >= TRIAL or left <= 0.0:
                # Without a deadline what is left is infinite, which is no whole number.
                total = int(min(total, done + max(0.0, USABLE * left * done / (perf_counter() - began))))
            if done >= total:
                break
        best.look(adam.mean)


class BestWeights:
    """Keeps the best numbers of each net, by the loss of the rows that it does not learn."""

    def __init__(self, nets: MlpEnsemble, training_set: MlpTrainingSet, held: Integers, pieces: PiecewiseInputs) -> None:
        self.nets, self.training_set, self.held, self.pieces = nets, training_set, held, pieces
        self.inputs = self.inputs_of(held)
        self.best, self.factor = nets.parameters.copy(), np.ones(len(held))
        self.loss = np.full(len(held), np.inf)
        self.since = self.looks = self.epoch = 0  # looks since one was better, all looks, and the last that was better

    def inputs_of(self, rows: Integers) -> Narrow:
        """Inputs (E, b, D) of rows (E, b)."""
        return self.pieces.of(self.training_set.matrix[rows.reshape(-1)]).astype(np.float32).reshape(*rows.shape, self.pieces.n_inputs)

    def is_over(self) -> bool:
        """No net got better for long."""
        return self.since >= PATIENCE

    def look(self, parameters: Narrow) -> None:
        """Score numbers, and keep those of the nets that are better than before."""
        if not self.held.shape[1]:
            self.best = parameters.copy()
            return
        predicted = self.nets.say(parameters, self.inputs)
        self.since += 1
        self.looks += 1
        arrays, kept = self.nets.views(parameters), self.nets.views(self.best)
        for factor in (1.0,) if self.training_set.kind == "number" else TEMPERATURES:
            losses = self.training_set.losses(predicted * np.float32(factor), self.held)
            for net in np.flatnonzero(losses < self.loss):
                self.loss[net], self.factor[net] = losses[net], factor
                self.since, self.epoch = 0, self.looks
                for mine, new in zip(kept, arrays, strict=True):
                    mine[net] = new[net]


def rise_and_fall(share: float) -> float:
    """The rate after a share of the steps, of the largest: up in a straight line, down along half a cosine."""
    return float(min(1.0, share / RISE) * 0.5 * (1.0 + np.cos(np.pi * min(share, 1.0))))


def dropper(seed: int, step: int) -> Callable[[int, tuple[int, ...]], Narrow]:
    """What each unit of a layer is times: zero, or what makes up for those that are zero. Eight units share a hash."""
    threshold = int(256 * DROPOUT)
    factor = np.float32(256.0 / (256 - threshold))

    def drop(layer: int, shape: tuple[int, ...]) -> Narrow:
        size = int(np.prod(shape))
        bytes_ = hashes(key(seed, "net", "dropout", layer, step), (size + 7) // 8).view(np.uint8)[:size]
        return np.asarray((bytes_ >= threshold).reshape(shape) * factor, np.float32)

    return drop


def softmax(scores: Narrow) -> Narrow:
    """Shares (..., K) of scores."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), np.float32)
