"""Mixtures of experts, for classification and regression."""

import time
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError, WoodwindWarning
from woodwind.base.notice import notice
from woodwind.base.random_streams import key, seed_of
from woodwind.base.validate import require_finite
from woodwind.ensemble.bayesian_averaging import as_counts, information_criterion
from woodwind.ensemble.mixture_of_experts import (
    GateTree,
    LinearGate,
    MixtureHistory,
    SoftmaxGate,
    categorical_log_density,
    expectation,
    gaussian_log_density,
    mixture_moments,
    mixture_quantiles,
    start,
    train,
)
from woodwind.estimators.averaging.free_parameters import free_parameters
from woodwind.estimators.base.base_learner import check_estimator
from woodwind.estimators.base.model import COLUMNS, BaseModel, LogProbabilityMixin, check_lengths, row_count
from woodwind.estimators.base.target import Target, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import read_weight, weighed_classes
from woodwind.estimators.mixture.training import (
    MixtureParts,
    MixtureTask,
    MixtureTrainer,
    MixtureView,
    StandardizedColumns,
    branching_of,
    dense,
)
from woodwind.estimators.pools.fitting import weight_name
from woodwind.estimators.pools.members import AnyTable, in_parallel
from woodwind.estimators.pools.pool_base import narrow_tags
from woodwind.params.experts import ExpertParams, ExpertRegressorParams
from woodwind.params.knobs import knobs

# ----------------------------------------------------------------------------------------------------
# What mixtures of experts for classification and regression share: from a table to a gate and experts, and from these to answers.


Floats = NDArray[np.float64]
Values = dict[str, Any]

# Experts of a tree of gates.
MOST_EXPERTS = 4096
# Seconds of work that is left from which starts of experts that were given are made side by side.
WORTH_THREADS = 5.0

# For the docstrings of the estimators.
ABOUT = """
Several experts share the rows, and a gate foresees from the columns of a row which of them is right there. Both are trained by expectation
and maximisation: how much of each row belongs to each expert, given what the experts predict for it, is the weight with which they and the
gate are trained in the next round. Training begins from several cuts of the table, and the best result is kept. A row of weight two is a
row given twice.

With `gate_depth` above 1 gates stand in a tree (hierarchical mixtures of experts, Jordan & Jacobs 1994): the first one foresees which of
its branches is right, the next ones which of theirs, and the last ones which expert; n_experts is then the number of branches of each gate.

Without `experts`, experts and gate are linear and take any table: categories become columns of 0 and 1, missing numbers their mean and
a column that marks them. Their training is exact, so that the likelihood never falls. Experts that are given see the table as it comes.
"""
MODEL = """
experts_ : list of estimators
    The experts, each trained.
n_experts_ : int
    How many there are.
gate_ : estimator or None
    The classifier that was given as gate, trained on the numbers of the experts; None for a gate of ours.
gate_coef_, gate_intercept_ : arrays of shape (n_experts_, n_terms) and (n_experts_,)
    Of a gate of ours: the log-odds of the experts are linear in the columns. With gate_depth above 1 of shape (n_gates, n_branches,
    n_terms) and (n_gates, n_branches): the gates of the tree, level by level, the root first.
terms_ : list of str
    What these columns are; the columns of the table, if these are numbers without gaps.
log_likelihood_ : array of shape (n_iter_,)
    The log-likelihood of the training rows after each round, less what the ridges of our gate and experts take. It never falls where
    experts are ours.
n_iter_ : int
    Rounds from the best start.
converged_ : bool
    Whether these came to an end before max_iter.
responsibilities_ : array of shape (n_rows, n_experts_)
    How much of each training row belongs to each expert.
bic_ : dict
    The Bayesian information criterion of each number of experts that was tried; empty where nobody knows how many parameters experts have.
"""


class ConvergenceNotice(WoodwindWarning, ConvergenceWarning):
    """A training ended because it had no more rounds."""


class BaseMixtureOfExperts(BaseModel):
    """What both kinds of mixture share."""

    _state: ClassVar[dict[str, Any]] = {
        "_columns": StandardizedColumns,
        "_parts": MixtureParts,
        "bic_": dict[int, float],
        "converged_": bool,
        "experts_": list[Any],
        "gate_": Any,
        "log_likelihood_": Floats,
        "n_experts_": int,
        "n_iter_": int,
        "responsibilities_": Floats,
        "terms_": list[str],
    }
    _optional_state: ClassVar[dict[str, Any]] = {"gate_coef_": Floats, "gate_intercept_": Floats}

    _docstring_parts: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL, "columns": COLUMNS}
    _classifies: ClassVar[bool]
    experts: Any
    gate: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        narrow_tags(tags, (*_listed(self.experts), self.gate))
        return tags

    # What each task does in its own way.

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        """The target and the weights of its rows."""
        raise NotImplementedError

    def _points(self, target: Target, weight: Floats) -> Floats:
        """The target as numbers, (n, c), for starts."""
        raise NotImplementedError

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        numbers = self._numbers_of_experts(values)
        self._check_gate(values["gate"])
        self._check_depth(numbers, values)
        target, weight = self._read(y, sample_weight)
        check_lengths(self._owner, row_count(X), target.n_rows)
        columns, plain = StandardizedColumns.learn(X, weight, values["categorical_features"], self._owner)
        check_lengths(self._owner, len(plain), target.n_rows)
        given = None
        if values["experts"] is not None or not isinstance(values["gate"], str):
            given = AnyTable.of(X, None, self._owner)
        present = np.arange(target.n_rows) if weight is None else np.flatnonzero(weight)
        if len(present) < target.n_rows and given is not None:
            given = AnyTable(given.take(None, present), given.header, len(present))
        plain, counts = plain[present], np.ones(len(present)) if weight is None else weight[present]
        sight = MixtureView(given, plain, columns.scaled(plain))
        seed = seed_of(values["random_state"])
        self.bic_: dict[int, float] = {}
        found = []
        for number in numbers:
            n_experts = number if isinstance(values["experts"], list | tuple) else number ** values["gate_depth"]
            task = self._task(values, sight, target.at(present), counts, n_experts, seed)
            course, parts = self._best_start(task, values, seed)
            criterion = self._bic(course, parts, task)
            if criterion is not None:
                self.bic_[n_experts] = criterion
            elif len(numbers) > 1:
                raise ParameterError(
                    f"{self._owner}: n_experts='auto' compares numbers of experts by BIC, and nobody knows how many free parameters "
                    f"{self._nameless(parts)} has. Give n_experts as a number, or an expert with the attribute n_parameters_."
                )
            found.append((criterion or 0.0, n_experts, course, parts))
        _, _, course, parts = min(found, key=lambda one: one[:2])
        self._set_header(columns.form.schema.header)
        self._columns = columns
        self._set_parts(parts, course, present, target.n_rows, values)

    def _numbers_of_experts(self, values: Values) -> list[int]:
        """The numbers of experts to try; what is given is checked."""
        experts, wanted = values["experts"], values["n_experts"]
        if isinstance(experts, list | tuple):
            if not experts:
                raise ParameterError(f"{self._owner}: experts is an empty list. Give at least one estimator, or None.")
            if wanted not in (None, len(experts)):
                raise ParameterError(
                    f"{self._owner}: n_experts={wanted!r}, but experts is a list of {len(experts)}. Give one estimator to have several "
                    "copies of it, or leave n_experts out."
                )
        for position, expert in enumerate(_listed(experts)):
            name = f"experts[{position}]" if isinstance(experts, list | tuple) else "experts"
            check_estimator(expert, self._owner, self._classifies, name=name)
            self._check_weighable(expert, name, soft=self._classifies)
        if isinstance(experts, list | tuple):
            return [len(experts)]
        return list(range(1, values["max_experts"] + 1)) if wanted == "auto" else [wanted or 2]

    def _check_weighable(self, estimator: Any, name: str, soft: bool) -> None:
        kind = type(estimator).__name__
        if weight_name(estimator) is None:
            raise ParameterError(
                f"{self._owner}: {name} must take sample_weight, by which rows are shared out, and {kind} takes none. Give another "
                "estimator."
            )
        if soft and not hasattr(estimator, "predict_proba"):
            raise ParameterError(
                f"{self._owner}: {name} must give probabilities, and {kind} has no predict_proba. Give another estimator, or wrap it in "
                "sklearn.calibration.CalibratedClassifierCV."
            )

    def _check_gate(self, gate: Any) -> None:
        if isinstance(gate, str):
            if gate not in ("softmax", "constant"):
                raise ParameterError(f"{self._owner}: gate must be 'softmax', 'constant' or a classifier, but it is {gate!r}.")
            return
        check_estimator(gate, self._owner, True, name="gate")
        self._check_weighable(gate, "gate", soft=True)

    def _check_depth(self, numbers: list[int], values: Values) -> None:
        """A tree of gates has gates of ours, and as many experts as branches to the power of its levels."""
        depth, most = values["gate_depth"], max(numbers)
        if depth == 1:
            return
        if values["gate"] != "softmax":
            raise ParameterError(f"{self._owner}: gate_depth={depth} is for gate='softmax', not {values['gate']!r}. Set gate_depth=1.")
        if isinstance(values["experts"], list | tuple) and branching_of(most, depth) ** depth != most:
            raise ParameterError(
                f"{self._owner}: experts is a list of {most}, and {depth} levels of gates have branches ** {depth} experts. Give "
                f"{branching_of(most, depth) ** depth} or {(branching_of(most, depth) + 1) ** depth}, or one estimator to be copied."
            )
        if not isinstance(values["experts"], list | tuple) and most**depth > MOST_EXPERTS:
            raise ParameterError(
                f"{self._owner}: {most} branches and gate_depth={depth} make {most**depth:,} experts, and {MOST_EXPERTS:,} are the most. "
                "Lower n_experts or gate_depth."
            )

    def _task(self, values: Values, sight: MixtureView, target: Target, weight: Floats, n_experts: int, seed: int) -> MixtureTask:
        experts = _listed(values["experts"])
        given = experts * n_experts if len(experts) == 1 else experts
        spread = 1.0
        if target.classes is None:
            mean = weight @ target.y / weight.sum()
            spread = float(weight @ (target.y - mean) ** 2 / weight.sum()) or 1.0
        least = max(values.get("min_variance", 0.0), 1e-12) * spread
        return MixtureTask(
            sight=sight,
            target=target,
            weight=weight,
            n_experts=n_experts,
            gate_depth=values["gate_depth"],
            experts=given or None,
            gate=values["gate"],
            ridge=values["l2_regularization"],
            least_variance=least,
            seed=seed,
            owner=self._owner,
        )

    def _best_start(self, task: MixtureTask, values: Values, seed: int) -> tuple[MixtureHistory, MixtureParts]:
        """The training with the largest likelihood, of equals the first."""
        points, y = task.sight.scaled, self._points(task.target, task.weight)
        n_experts = task.n_experts

        def one(number: int) -> tuple[MixtureHistory, MixtureParts]:
            mixture = MixtureTrainer(task)
            responsibilities = start(points, y, task.weight, n_experts, key(seed, "experts", n_experts), number)
            course = train(mixture, responsibilities, task.weight, values["max_iter"], values["tol"], mixture.keep)
            assert mixture.best is not None
            return course, mixture.best

        starts = 1 if n_experts == 1 else values["n_init"]
        began = time.perf_counter()
        found = [one(0)]
        # Many small steps of Python, as ours are, would only make threads wait for each other.
        slow = task.experts is not None and (time.perf_counter() - began) * (starts - 1) > WORTH_THREADS
        found += in_parallel(one, range(1, starts), self._threads if slow else 1, "threads")
        return max(found, key=lambda result: result[0].best)

    def _bic(self, course: MixtureHistory, parts: MixtureParts, task: MixtureTask) -> float | None:
        """The Bayesian information criterion of a mixture; None where parameters cannot be counted."""
        counts = [free_parameters(expert) for expert in parts.experts.members]
        n_experts = len(counts)
        of_gate = free_parameters(parts.gate.members[0]) if not isinstance(parts.gate, LinearGate) else float(parts.gate.n_parameters)
        if of_gate is None or any(count is None for count in counts):
            return None
        total = of_gate + sum(count for count in counts if count is not None) + (n_experts if parts.variance is not None else 0)
        return float(information_criterion(np.array([course.best]), np.array([total]), float(task.weight.sum()))[0])

    def _nameless(self, parts: MixtureParts) -> str:
        models = [*parts.experts.members, *([] if isinstance(parts.gate, LinearGate) else parts.gate.members)]
        return next(type(model).__name__ for model in models if free_parameters(model) is None)

    def _set_parts(self, parts: MixtureParts, course: MixtureHistory, present: NDArray[np.int64], n_rows: int, values: Values) -> None:
        self._parts = parts
        self.experts_ = list(parts.experts.members)
        self.n_experts_ = len(self.experts_)
        self.terms_ = list(self._columns.form.names)
        self.gate_ = None if isinstance(parts.gate, LinearGate) else parts.gate.members[0]
        if isinstance(parts.gate, LinearGate):
            gates = parts.gate.gates if isinstance(parts.gate, GateTree) else (parts.gate,)
            coef = np.zeros((len(gates), gates[0].n_experts, len(self.terms_)))
            coef[:, :, : parts.gate.n_columns] = [gate.coef for gate in gates]
            coef /= self._columns.scale
            intercept = np.array([gate.intercept for gate in gates]) - coef @ self._columns.center
            alone = isinstance(parts.gate, SoftmaxGate)
            self.gate_coef_: Floats = coef[0] if alone else coef
            self.gate_intercept_: Floats = intercept[0] if alone else intercept
        self.log_likelihood_ = course.log_likelihood
        self.n_iter_, self.converged_ = len(course.log_likelihood), course.converged
        self.responsibilities_ = np.full((n_rows, self.n_experts_), np.nan)
        self.responsibilities_[present] = course.responsibilities
        if not course.converged:
            last = np.diff(course.log_likelihood)[-1:] if self.n_iter_ > 1 else np.array([np.nan])
            notice(
                f"{self._owner}: training did not come to an end in max_iter={values['max_iter']} rounds: the last one changed the "
                f"log-likelihood by {last[0]:.3g}, to {course.log_likelihood[-1]:.6g}. Raise max_iter or tol; if experts are not trained "
                "exactly (trees, or what draws rows), the likelihood may go up and down without end, and the best round was kept.",
                ConvergenceNotice,
            )

    # What there is to ask.

    def _predicted(self, X: Any) -> tuple[Floats, Floats]:
        """The probabilities of the experts (n, K), and what they predict: (n, K), or (n, K, classes)."""
        check_is_fitted(self)
        parts, own = self._parts, self.experts is None
        plain = self._columns.form.of(X, self._owner)
        scaled = self._columns.scaled(plain)
        given = None
        if not own or not isinstance(parts.gate, LinearGate):
            given = AnyTable.of(X, self._columns.form.schema.header, self._owner)
        table = given if not own else dense(scaled if self._classifies else plain)
        if isinstance(parts.gate, LinearGate):
            gate = np.exp(parts.gate.log_probabilities(scaled[:, : parts.gate.n_columns]))
        else:
            gate = parts.gate.probabilities(given, self._owner, self._threads)[:, 0]
        ask = parts.experts.probabilities if self._classifies else parts.experts.numbers
        return gate, ask(table, self._owner, self._threads)

    def gate_proba(self, X: Any) -> Floats:
        """How probable it is that each expert is the right one for a row, (n_rows, n_experts_).

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._predicted(X)[0]

    def _log_density(self, y: Any, predicted: Floats) -> Floats:
        raise NotImplementedError

    def responsibilities(self, X: Any, y: Any = None) -> Floats:
        """How much of each row belongs to each expert, (n_rows, n_experts_): what the gate foresees, corrected by the target if known.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.
        y : sequence of values, default=None
            The targets of the rows. Without them this is `gate_proba`.
        """
        gate, predicted = self._predicted(X)
        if y is None:
            return gate
        logs = np.log(np.maximum(gate, np.finfo(np.float64).tiny)) + self._log_density(y, predicted)
        return expectation(logs, np.ones(len(logs)))[1]


def _listed(experts: Any) -> list[Any]:
    """Experts that were given, as a list."""
    return [] if experts is None else list(experts) if isinstance(experts, list | tuple) else [experts]


@knobs
class MixtureOfExpertsClassifier(ExpertParams, BaseMixtureOfExperts, LogProbabilityMixin, ClassifierMixin, BaseEstimator):
    """A mixture of experts for classification.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_classes_ : int
        How many there are.
    {model}
    {columns}

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind import MixtureOfExpertsClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")  # no line separates the classes, but two lines and a gate do
    >>> model = MixtureOfExpertsClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _classifies = True

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_labels(y, self._owner)
        weight = as_counts(read_weight(sample_weight, target.n_rows, self._owner))
        target, _ = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        self.n_classes_ = target.n_classes
        return target, weight

    def _points(self, target: Target, weight: Floats) -> Floats:
        return np.asarray(np.eye(target.n_classes)[target.y])

    def _log_density(self, y: Any, predicted: Floats) -> Floats:
        target = read_labels(y, self._owner, self.classes_)
        check_lengths(self._owner, len(predicted), target.n_rows)
        return categorical_log_density(np.asarray(target.y, np.int64), predicted)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes): those of the experts, each counting as the gate says.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        gate, predicted = self._predicted(X)
        mixed = np.einsum("nk,nkc->nc", gate, predicted)
        return require_finite(np.asarray(mixed / mixed.sum(axis=1, keepdims=True)), self._owner)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class, of equals the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


@knobs
class MixtureOfExpertsRegressor(ExpertParams, ExpertRegressorParams, BaseMixtureOfExperts, RegressorMixin, BaseEstimator):
    """A mixture of experts for regression.

    {about}

    The errors of each expert are normal, with a variance of its own: so the mixture says a whole distribution, whose mean is predicted.

    {parameters}

    Attributes
    ----------
    {model}
    error_variances_ : array of shape (n_experts_,)
        The variance of the errors of each expert.
    {columns}

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind import MixtureOfExpertsRegressor
    >>> x = np.linspace(0, 10, 200)
    >>> y = np.where(x < 4, 2 * x, 8 - (x - 4))  # a line with a kink at 4
    >>> model = MixtureOfExpertsRegressor(random_state=0).fit(x[:, None], y)
    >>> sorted(round(float(expert.coef_[0]), 3) for expert in model.experts_)
    [-1.0, 2.0]
    """

    _optional_state: ClassVar[dict[str, Any]] = {"error_variances_": Floats}

    _classifies = False

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_regression_target(y, self._owner)
        weight = as_counts(read_weight(sample_weight, target.n_rows, self._owner))
        warn_constant(target.y if weight is None else target.y[weight > 0.0], self._owner)
        return target, weight

    def _points(self, target: Target, weight: Floats) -> Floats:
        apart = target.y - weight @ target.y / weight.sum()
        spread = float(np.sqrt(weight @ apart**2 / weight.sum()))
        return np.asarray(apart / (spread or 1.0))[:, None]

    def _set_parts(self, parts: MixtureParts, course: MixtureHistory, present: NDArray[np.int64], n_rows: int, values: Values) -> None:
        super()._set_parts(parts, course, present, n_rows, values)
        assert parts.variance is not None
        self.error_variances_ = parts.variance

    def _log_density(self, y: Any, predicted: Floats) -> Floats:
        target = read_regression_target(y, self._owner)
        check_lengths(self._owner, len(predicted), target.n_rows)
        return gaussian_log_density(target.y, predicted, self.error_variances_)

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """The mean of what the experts say, each counting as the gate says; if asked for, with the standard deviation of a new target.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        return_std : bool, default=False
            Give a second array: the standard deviation of the mixture, from the errors of experts and from how far apart they are.
        """
        gate, predicted = self._predicted(X)
        mean, variance = mixture_moments(gate, predicted, self.error_variances_)
        require_finite(mean, self._owner)
        return (mean, require_finite(np.sqrt(variance), self._owner)) if return_std else mean

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the mixture of normal distributions that the experts say, (n_rows, n_quantiles).

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.
        quantiles : numbers between 0 and 1, default=(0.05, 0.5, 0.95)
            0.05 and 0.95 are the ends of an interval that holds nine of ten targets.
        """
        wanted = np.atleast_1d(np.asarray(quantiles, np.float64))
        if wanted.ndim != 1 or not ((wanted >= 0.0) & (wanted <= 1.0)).all():
            raise ParameterError(f"{self._owner}: quantiles must be numbers from 0 to 1, not {quantiles!r}.")
        gate, predicted = self._predicted(X)
        require_finite(predicted, self._owner)
        with np.errstate(over="ignore"):
            found = mixture_quantiles(gate, predicted, self.error_variances_, wanted)
        require_finite(found[:, (wanted > 0.0) & (wanted < 1.0)], self._owner)  # the others are infinite
        return found
