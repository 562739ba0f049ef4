"""A gate and experts that are trained on shares of rows: what the rounds of a mixture of experts work on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression

from woodwind.base.random_streams import key
from woodwind.base.validate import require, require_array
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Header
from woodwind.ensemble.mixture_of_experts import (
    STARVED,
    GateTree,
    LinearGate,
    SoftmaxGate,
    categorical_log_density,
    error_variances,
    fit_gate_tree,
    fit_softmax,
    gaussian_log_density,
)
from woodwind.estimators.base.target import Target
from woodwind.estimators.pools.fitting import FittedMember, MemberTask, fit_member
from woodwind.estimators.pools.member_list import NamedMember
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.pool import Pool, pool_of

# ----------------------------------------------------------------------------------------------------
# Softmax regression as an estimator: the expert of classes that is meant by None.


Floats = NDArray[np.float64]


def ridge_of(l2_regularization: float, n_classes: int) -> float:
    """The ridge on the coefficients of all classes. Those of two classes are opposite: twice as much is that on their difference."""
    return 2.0 * l2_regularization if n_classes == 2 else l2_regularization


class SoftmaxRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression of any number of classes, trained exactly: sum w log p, less l2_regularization / 2 times squared coefficients."""

    _state: ClassVar[dict[str, Any]] = {"coef_": Floats, "intercept_": float | Floats}

    def __init__(self, l2_regularization: float = 1.0) -> None:
        self.l2_regularization = l2_regularization

    def fit(self, X: Floats, y: NDArray[Any], sample_weight: Floats | None = None) -> Self:
        """Train on numbers without gaps."""
        self.classes_, numbers = np.unique(y, return_inverse=True)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        responsibilities = np.eye(len(self.classes_))[numbers]
        ridge = ridge_of(self.l2_regularization, len(self.classes_))
        return self.set_found(fit_softmax(np.asarray(X, np.float64), responsibilities, weight, ridge), self.classes_)

    def set_found(self, found: SoftmaxGate, classes: NDArray[Any]) -> Self:
        """Take over coefficients."""
        self.coef_, self.intercept_, self.classes_ = found.coef, found.intercept, classes
        self.n_features_in_ = int(self.coef_.shape[1])
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """The probabilities (n, K) of the classes."""
        return np.exp(SoftmaxGate(self.coef_, self.intercept_).log_probabilities(np.asarray(X, np.float64)))

    def predict(self, X: Floats) -> NDArray[Any]:
        """The most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


# The least share of a row that a classifier of the user is given: one that is left with a single class may refuse to be trained.
LEAST_PART = 1e-6


@dataclass(frozen=True, eq=False)
class StandardizedColumns:
    """Any table as numbers, and as numbers in standard deviations."""

    form: MatrixForm
    center: Floats
    scale: Floats

    @classmethod
    def learn(cls, X: Any, weight: Floats | None, marked: Any, owner: str) -> "tuple[StandardizedColumns, Floats]":
        """Look at a training table; its numbers."""
        form = MatrixForm.learn(X, scale=False, weight=weight, categorical_features=marked, owner=owner)
        plain = form.of(X, owner)
        w = np.ones(len(plain)) if weight is None else weight
        center = w @ plain / w.sum()
        scale = np.sqrt(w @ (plain - center) ** 2 / w.sum())
        scale[scale <= 1e-12 * np.abs(center)] = np.inf  # a constant column says nothing
        return cls(form, center, scale), plain

    def check(self) -> "StandardizedColumns":
        """There are a centre and a scale for each number; returns self, or raises DataError. A constant column has an endless scale."""
        require_array(self.center, (self.form.width,), "the centres of columns")
        require(self.scale.shape == (self.form.width,) and (self.scale > 0.0).all(), "a scale is none")
        return self

    def scaled(self, plain: Floats) -> Floats:
        """In standard deviations from the mean."""
        return np.asarray((plain - self.center) / self.scale)


@dataclass(frozen=True, eq=False)
class MixtureView:
    """What gate and experts see of a table."""

    given: AnyTable | None  # as it came, for estimators of the user; None where there are none
    plain: Floats  # (n, d)
    scaled: Floats  # (n, d)


def dense(matrix: Floats) -> AnyTable:
    """A matrix as a table without names."""
    return AnyTable(matrix, Header(None, matrix.shape[1]), len(matrix))


@dataclass(frozen=True, eq=False)
class MixtureTask:
    """What is to be learned, by whom."""

    sight: MixtureView
    target: Target
    weight: Floats  # (n,)
    n_experts: int
    gate_depth: int  # levels of gates
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


def branching_of(n_experts: int, depth: int) -> int:
    """The number whose power is the number of experts; the nearest below where there is none."""
    branching: int = round(n_experts ** (1.0 / depth))
    return branching if branching**depth <= n_experts else branching - 1


@dataclass(frozen=True, eq=False)
class MixtureParts:
    """A trained gate and trained experts."""

    experts: Pool
    gate: SoftmaxGate | GateTree | Pool
    variance: Floats | None  # (K,) of the errors of experts of numbers

    def check(self) -> "MixtureParts":
        """The gate knows all experts; returns self, or raises DataError."""
        known = self.gate.n_experts if isinstance(self.gate, LinearGate) else self.gate.n_classes
        require(known == len(self.experts), "the gate knows other experts than there are")
        require((self.variance is None) == (self.experts.classes is not None), "experts of classes have variances, or of numbers none")
        if self.variance is not None:
            require_array(self.variance, (known,), "the variances of experts")
        return self


class ExpertGroup(Protocol):
    """Experts that are trained together."""

    def train(self, parts: Floats) -> Floats:
        """Train each on what belongs to it of every row (n, K); what they predict for the rows, (n, K) or (n, K, classes)."""

    def pool(self) -> Pool:
        """The experts as estimators."""

    def penalty(self) -> float:
        """What their ridges take from the log-likelihood."""


class LinearExperts:
    """Linear regressions, by weighted least squares; of many solutions the shortest."""

    def __init__(self, task: MixtureTask) -> None:
        self.task, self.X, self.y = task, task.sight.plain, task.target.y
        self.coef = np.zeros((task.n_experts, self.X.shape[1]))
        self.intercept = np.zeros(task.n_experts)

    def train(self, parts: Floats) -> Floats:
        """Each about the means of its rows."""
        least = STARVED * parts.sum()
        for position, weight in enumerate(parts.T):
            total = weight.sum()
            if total < least:
                continue
            center, mean, root = weight @ self.X / total, weight @ self.y / total, np.sqrt(weight)
            apart = (self.X - center) * root[:, None]
            self.coef[position] = np.linalg.lstsq(apart, (self.y - mean) * root, rcond=None)[0]
            self.intercept[position] = mean - center @ self.coef[position]
        return np.asarray(self.X @ self.coef.T + self.intercept)

    def pool(self) -> Pool:
        """Linear regressions of scikit-learn with these coefficients."""
        return own_pool([self._expert(position) for position in range(len(self.coef))], None, self.X.shape[1])

    def _expert(self, position: int) -> LinearRegression:
        expert = LinearRegression()
        expert.coef_, expert.intercept_ = self.coef[position].copy(), float(self.intercept[position])
        expert.n_features_in_ = self.X.shape[1]
        return expert

    def penalty(self) -> float:
        """None."""
        return 0.0


class SoftmaxExperts:
    """Softmax regressions on columns in standard deviations, each begun where it was in the round before."""

    def __init__(self, task: MixtureTask) -> None:
        self.task, self.X = task, task.sight.scaled
        self.ridge = ridge_of(SoftmaxRegression().l2_regularization, task.target.n_classes)
        self.responsibilities = np.eye(task.target.n_classes)[task.target.y]
        self.found: list[SoftmaxGate | None] = [None] * task.n_experts

    def train(self, parts: Floats) -> Floats:
        """Each on its rows."""
        least = STARVED * parts.sum()
        for position, weight in enumerate(parts.T):
            before = self.found[position]
            if before is None or weight.sum() >= least:
                self.found[position] = fit_softmax(self.X, self.responsibilities, weight, self.ridge, before)
        return np.stack([np.exp(one.log_probabilities(self.X)) for one in self.found if one is not None], axis=1)

    def pool(self) -> Pool:
        """Softmax regressions as estimators."""
        classes = np.asarray(self.task.target.classes)
        experts = [SoftmaxRegression().set_found(one, classes) for one in self.found if one is not None]
        return own_pool(experts, classes, self.X.shape[1])

    def penalty(self) -> float:
        """That of all."""
        return sum(one.penalty(self.ridge) for one in self.found if one is not None)


class EstimatorExperts:
    """Estimators of the user, which see the table as it came."""

    def __init__(self, task: MixtureTask) -> None:
        assert task.experts is not None
        assert task.sight.given is not None
        self.task, self.table = task, task.sight.given
        self.named = [NamedMember(f"expert-{position}", expert) for position, expert in enumerate(task.experts, 1)]
        self.fitted: list[FittedMember] = []

    def train(self, parts: Floats) -> Floats:
        """Copies of them, one after another."""
        task, least = self.task, STARVED * parts.sum()
        # A classifier that is left with the rows of one class may refuse to be trained.
        weights = np.maximum(parts, LEAST_PART * task.weight[:, None])
        tasks = [MemberTask(self.table, task.target, weight, task.owner) for weight in weights.T]
        self.fitted = [
            self.fitted[position] if self.fitted and starved else fit_member(self.named[position], tasks[position], task.seed, 1)
            for position, starved in enumerate(parts.sum(axis=0) < least)
        ]
        ask = self.pool().numbers if task.target.classes is None else self.pool().probabilities
        return ask(self.table, task.owner)

    def pool(self) -> Pool:
        """The experts."""
        return pool_of(self.named, self.fitted, self.table.header, self.task.target.classes)

    def penalty(self) -> float:
        """Nobody knows."""
        return 0.0


def own_pool(experts: list[Any], classes: NDArray[Any] | None, n_columns: int) -> Pool:
    """Experts of ours as a pool that is asked about matrices."""
    named = [NamedMember(f"expert-{position}", expert) for position, expert in enumerate(experts, 1)]
    return pool_of(named, [FittedMember(expert, None) for expert in experts], Header(None, n_columns), classes)


class MixtureTrainer:
    """The mixture that rounds train (`Mixture` in `ensemble/mixture_of_experts.py`)."""

    def __init__(self, task: MixtureTask) -> None:
        self.task = task
        kind = EstimatorExperts if task.experts is not None else LinearExperts if task.target.classes is None else SoftmaxExperts
        self.crew: ExpertGroup = kind(task)
        self.gate: SoftmaxGate | GateTree | Pool | None = None
        self.best: MixtureParts | None = None
        n_rows, n_experts = task.target.n_rows, task.n_experts
        if not isinstance(task.gate, str):
            # A classifier learns from every row once for each expert, weighing what belongs to that expert.
            assert task.sight.given is not None
            repeated = task.sight.given.take(None, np.tile(np.arange(n_rows), n_experts))
            self.gate_table = AnyTable(repeated, task.sight.given.header, n_rows * n_experts)
            self.gate_target = Target(np.repeat(np.arange(n_experts), n_rows), np.arange(n_experts))

    def train(self, responsibilities: Floats) -> None:
        """Gate and experts, row i belonging to expert k by shares[i, k]."""
        task = self.task
        self._train_gate(responsibilities)
        predicted = self.crew.train(task.weight[:, None] * responsibilities)
        if task.target.classes is None:
            self.variance: Floats | None = error_variances(task.target.y, predicted, responsibilities, task.weight, task.least_variance)
            assert self.variance is not None
            self.density = gaussian_log_density(task.target.y, predicted, self.variance)
        else:
            self.variance = None
            self.density = categorical_log_density(np.asarray(task.target.y, np.int64), predicted)

    def _train_gate(self, responsibilities: Floats) -> None:
        task = self.task
        if isinstance(task.gate, str):
            seen, ridge, depth = task.gate_matrix, task.ridge, task.gate_depth
            if depth > 1:
                branching, above = branching_of(task.n_experts, depth), self.gate if isinstance(self.gate, GateTree) else None
                self.gate = fit_gate_tree(seen, responsibilities, task.weight, ridge, branching, depth, above)
            else:
                before = self.gate if isinstance(self.gate, SoftmaxGate) else None
                self.gate = fit_softmax(seen, responsibilities, task.weight, ridge, before)
            self.log_gate = self.gate.log_probabilities(task.gate_matrix)
            return
        weight = (task.weight[:, None] * np.maximum(responsibilities, LEAST_PART)).T.reshape(-1)
        named = NamedMember("gate", task.gate)
        fitted = fit_member(named, MemberTask(self.gate_table, self.gate_target, weight, task.owner), key(task.seed, "gate"), 1)
        self.gate = pool_of([named], [fitted], self.gate_table.header, self.gate_target.classes)
        assert task.sight.given is not None
        predicted = self.gate.probabilities(task.sight.given, task.owner)[:, 0]
        self.log_gate = np.log(np.maximum(predicted, np.finfo(np.float64).tiny))

    def log_joint(self) -> Floats:
        """The log of gate x density (n, K)."""
        return np.asarray(self.log_gate + self.density)

    def penalty(self) -> float:
        """What the ridges take: those of our gate and of our experts."""
        of_gate = self.gate.penalty(self.task.ridge) if isinstance(self.gate, LinearGate) else 0.0
        return of_gate + self.crew.penalty()

    def keep(self) -> None:
        """Remember gate and experts as they are."""
        assert self.gate is not None
        self.best = MixtureParts(self.crew.pool(), self.gate, self.variance)
