"""A gate and experts that are trained on shares of rows: what the rounds of a mixture of experts work on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

from woodwind.base.sound import sound, sound_array
from woodwind.base.streams import key
from woodwind.data.header import Header
from woodwind.data.matrix_form import MatrixForm
from woodwind.ensemble.experts import STARVED, categorical_log_density, error_variances, gaussian_log_density
from woodwind.ensemble.gate import Softmax, fit_softmax
from woodwind.estimators.fitting import Lesson, Taught, teach
from woodwind.estimators.members import TableOfAny
from woodwind.estimators.pool import Pool, pool_of
from woodwind.estimators.roster import Named
from woodwind.estimators.softmax import SoftmaxRegression, ridge_of
from woodwind.estimators.target import Target

Floats = NDArray[np.float64]

# The least share of a row that a classifier of the user is given: one that is left with a single class may refuse to be trained.
LEAST_PART = 1e-6


@dataclass(frozen=True, eq=False)
class Columns:
    """Any table as numbers, and as numbers in standard deviations."""

    form: MatrixForm
    center: Floats
    scale: Floats

    @classmethod
    def learn(cls, X: Any, weight: Floats | None, marked: Any, owner: str) -> "tuple[Columns, Floats]":
        """Look at a training table; its numbers."""
        form = MatrixForm.learn(X, scale=False, weight=weight, categorical_features=marked, owner=owner)
        plain = form.of(X, owner)
        w = np.ones(len(plain)) if weight is None else weight
        center = w @ plain / w.sum()
        scale = np.sqrt(w @ (plain - center) ** 2 / w.sum())
        scale[scale <= 1e-12 * np.abs(center)] = np.inf  # a constant column says nothing
        return cls(form, center, scale), plain

    def check(self) -> "Columns":
        """There are a centre and a scale for each number; gives itself, or raises DataError. A constant column has an endless scale."""
        sound_array(self.center, (self.form.width,), "the centres of columns")
        sound(self.scale.shape == (self.form.width,) and (self.scale > 0.0).all(), "a scale is none")
        return self

    def scaled(self, plain: Floats) -> Floats:
        """In standard deviations from the mean."""
        return np.asarray((plain - self.center) / self.scale)


@dataclass(frozen=True, eq=False)
class Sight:
    """What gate and experts see of a table."""

    given: TableOfAny | None  # as it came, for estimators of the user; None where there are none
    plain: Floats  # (n, d)
    scaled: Floats  # (n, d)


def dense(matrix: Floats) -> TableOfAny:
    """A matrix as a table without names."""
    return TableOfAny(matrix, Header(None, matrix.shape[1]), len(matrix))


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learnt, by whom."""

    sight: Sight
    target: Target
    weight: Floats  # (n,)
    n_experts: int
    experts: Sequence[Any] | None  # not trained, one for each; None for ours
    gate: Any  # 'softmax', 'constant' or a classifier
    ridge: float
    least_variance: float
    seed: int
    owner: str

    @property
    def gate_matrix(self) -> Floats:
        """What a gate of ours sees."""
        return self.sight.scaled if self.gate == "softmax" else self.sight.scaled[:, :0]


@dataclass(frozen=True, eq=False)
class Parts:
    """A trained gate and trained experts."""

    experts: Pool
    gate: Softmax | Pool
    variance: Floats | None  # (K,) of the errors of experts of numbers

    def check(self) -> "Parts":
        """The gate knows all experts; gives itself, or raises DataError."""
        known = len(self.gate.intercept) if isinstance(self.gate, Softmax) else self.gate.n_classes
        sound(known == len(self.experts), "the gate knows other experts than there are")
        sound((self.variance is None) == (self.experts.classes is not None), "experts of classes have variances, or of numbers none")
        if self.variance is not None:
            sound_array(self.variance, (known,), "the variances of experts")
        return self


class Crew(Protocol):
    """Experts that are trained together."""

    def train(self, parts: Floats) -> Floats:
        """Train each on what belongs to it of every row (n, K); what they say of the rows, (n, K) or (n, K, classes)."""

    def pool(self) -> Pool:
        """The experts as estimators."""

    def penalty(self) -> float:
        """What their ridges take from the log-likelihood."""


class Lines:
    """Linear regressions, by weighted least squares; of many solutions the shortest."""

    def __init__(self, task: Task) -> None:
        self.task, self.X, self.y = task, task.sight.plain, task.target.y
        self.coef = np.zeros((task.n_experts, self.X.shape[1]))
        self.intercept = np.zeros(task.n_experts)

    def train(self, parts: Floats) -> Floats:
        """Each about the means of its rows."""
        least = STARVED * parts.sum()
        for place, weight in enumerate(parts.T):
            total = weight.sum()
            if total < least:
                continue
            center, mean, root = weight @ self.X / total, weight @ self.y / total, np.sqrt(weight)
            apart = (self.X - center) * root[:, None]
            self.coef[place] = np.linalg.lstsq(apart, (self.y - mean) * root, rcond=None)[0]
            self.intercept[place] = mean - center @ self.coef[place]
        return np.asarray(self.X @ self.coef.T + self.intercept)

    def pool(self) -> Pool:
        """Linear regressions of scikit-learn with these coefficients."""
        return own_pool([self._expert(place) for place in range(len(self.coef))], None, self.X.shape[1])

    def _expert(self, place: int) -> LinearRegression:
        expert = LinearRegression()
        expert.coef_, expert.intercept_ = self.coef[place].copy(), float(self.intercept[place])
        expert.n_features_in_ = self.X.shape[1]
        return expert

    def penalty(self) -> float:
        """None."""
        return 0.0


class Softmaxes:
    """Softmax regressions on columns in standard deviations, each begun where it was in the round before."""

    def __init__(self, task: Task) -> None:
        self.task, self.X = task, task.sight.scaled
        self.ridge = ridge_of(SoftmaxRegression().l2_regularization, task.target.n_classes)
        self.shares = np.eye(task.target.n_classes)[task.target.y]
        self.found: list[Softmax | None] = [None] * task.n_experts

    def train(self, parts: Floats) -> Floats:
        """Each on its rows."""
        least = STARVED * parts.sum()
        for place, weight in enumerate(parts.T):
            before = self.found[place]
            if before is None or weight.sum() >= least:
                self.found[place] = fit_softmax(self.X, self.shares, weight, self.ridge, before)
        return np.stack([np.exp(one.log_shares(self.X)) for one in self.found if one is not None], axis=1)

    def pool(self) -> Pool:
        """Softmax regressions as estimators."""
        classes = np.asarray(self.task.target.classes)
        experts = [SoftmaxRegression().set_found(one, classes) for one in self.found if one is not None]
        return own_pool(experts, classes, self.X.shape[1])

    def penalty(self) -> float:
        """That of all."""
        return sum(one.penalty(self.ridge) for one in self.found if one is not None)


class Given:
    """Estimators of the user, which see the table as it came."""

    def __init__(self, task: Task) -> None:
        assert task.experts is not None
        assert task.sight.given is not None
        self.task, self.table = task, task.sight.given
        self.named = [Named(f"expert-{place}", expert) for place, expert in enumerate(task.experts, 1)]
        self.taught: list[Taught] = []

    def train(self, parts: Floats) -> Floats:
        """Copies of them, one after another."""
        task, least = self.task, STARVED * parts.sum()
        # A classifier that is left with the rows of one class may refuse to be trained.
        weights = np.maximum(parts, LEAST_PART * task.weight[:, None])
        lessons = [Lesson(self.table, task.target, weight, task.owner) for weight in weights.T]
        self.taught = [
            self.taught[place] if self.taught and lesson_is_empty else teach(self.named[place], lessons[place], task.seed, 1)
            for place, lesson_is_empty in enumerate(parts.sum(axis=0) < least)
        ]
        ask = self.pool().numbers if task.target.classes is None else self.pool().probabilities
        return ask(self.table, task.owner)

    def pool(self) -> Pool:
        """The experts."""
        return pool_of(self.named, self.taught, self.table.header, self.task.target.classes)

    def penalty(self) -> float:
        """Nobody knows."""
        return 0.0


def own_pool(experts: list[Any], classes: NDArray[Any] | None, n_columns: int) -> Pool:
    """Experts of ours as a pool that is asked about matrices."""
    named = [Named(f"expert-{place}", expert) for place, expert in enumerate(experts, 1)]
    return pool_of(named, [Taught(expert, None) for expert in experts], Header(None, n_columns), classes)


class TrainedOnShares:
    """The mixture that rounds train (`ensemble.experts.Mixture`)."""

    def __init__(self, task: Task) -> None:
        self.task = task
        kind = Given if task.experts is not None else Lines if task.target.classes is None else Softmaxes
        self.crew: Crew = kind(task)
        self.gate: Softmax | Pool | None = None
        self.best: Parts | None = None
        n_rows, n_experts = task.target.n_rows, task.n_experts
        if not isinstance(task.gate, str):
            # A classifier learns from every row once for each expert, weighing what belongs to that expert.
            assert task.sight.given is not None
            repeated = task.sight.given.take(None, np.tile(np.arange(n_rows), n_experts))
            self.gate_table = TableOfAny(repeated, task.sight.given.header, n_rows * n_experts)
            self.gate_target = Target(np.repeat(np.arange(n_experts), n_rows), np.arange(n_experts))

    def train(self, shares: Floats) -> None:
        """Gate and experts, row i belonging to expert k by shares[i, k]."""
        task = self.task
        self._train_gate(shares)
        said = self.crew.train(task.weight[:, None] * shares)
        if task.target.classes is None:
            self.variance: Floats | None = error_variances(task.target.y, said, shares, task.weight, task.least_variance)
            assert self.variance is not None
            self.density = gaussian_log_density(task.target.y, said, self.variance)
        else:
            self.variance = None
            self.density = categorical_log_density(np.asarray(task.target.y, np.int64), said)

    def _train_gate(self, shares: Floats) -> None:
        task = self.task
        if isinstance(task.gate, str):
            before = self.gate if isinstance(self.gate, Softmax) else None
            self.gate = fit_softmax(task.gate_matrix, shares, task.weight, task.ridge, before)
            self.log_gate = self.gate.log_shares(task.gate_matrix)
            return
        weight = (task.weight[:, None] * np.maximum(shares, LEAST_PART)).T.reshape(-1)
        named = Named("gate", task.gate)
        taught = teach(named, Lesson(self.gate_table, self.gate_target, weight, task.owner), key(task.seed, "gate"), 1)
        self.gate = pool_of([named], [taught], self.gate_table.header, self.gate_target.classes)
        assert task.sight.given is not None
        said = self.gate.probabilities(task.sight.given, task.owner)[:, 0]
        self.log_gate = np.log(np.maximum(said, np.finfo(np.float64).tiny))

    def log_joint(self) -> Floats:
        """The log of gate x density (n, K)."""
        return np.asarray(self.log_gate + self.density)

    def penalty(self) -> float:
        """What the ridges take: those of our gate and of our experts."""
        of_gate = self.gate.penalty(self.task.ridge) if isinstance(self.gate, Softmax) else 0.0
        return of_gate + self.crew.penalty()

    def keep(self) -> None:
        """Remember gate and experts as they are."""
        assert self.gate is not None
        self.best = Parts(self.crew.pool(), self.gate, self.variance)
