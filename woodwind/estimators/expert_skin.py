"""What mixtures of experts for classes and for numbers share: from a table to a gate and experts, and from these to answers."""

import time
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError, WoodwindWarning
from woodwind.base.notice import notice
from woodwind.base.streams import key, seed_of
from woodwind.ensemble.averaging import information_criterion
from woodwind.ensemble.experts import Course, expectation, start, train
from woodwind.ensemble.gate import Softmax
from woodwind.estimators.base_learner import check_estimator
from woodwind.estimators.composed import narrow_tags
from woodwind.estimators.fitting import weight_name
from woodwind.estimators.members import TableOfAny, in_parallel
from woodwind.estimators.mixture import Columns, Parts, Sight, Task, TrainedOnShares, dense
from woodwind.estimators.parameters import free_parameters
from woodwind.estimators.skin import COLUMNS, Skin, check_lengths, row_count
from woodwind.estimators.target import Target

Floats = NDArray[np.float64]
Values = dict[str, Any]

# Seconds of work that is left from which starts of experts that were given are made side by side.
WORTH_THREADS = 5.0

# For the docstrings of the estimators.
ABOUT = """
Several experts share the rows, and a gate foresees from the columns of a row which of them is right there. Both are trained by expectation
and maximisation: how much of each row belongs to each expert, given what the experts say of it, is the weight with which they and the gate
are trained in the next round. Training begins from several cuts of the table, and the best result is kept. A row of weight two is a row
given twice.

Without `experts`, experts and gate are linear and take any table: levels become columns of zeros and ones, missing numbers their mean and
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
    Of a gate of ours: the log-odds of the experts are linear in the columns.
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


class Experts(Skin):
    """What both kinds of mixture share."""

    _told: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL, "columns": COLUMNS}
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
        target, weight = self._read(y, sample_weight)
        check_lengths(self._owner, row_count(X), target.n_rows)
        columns, plain = Columns.learn(X, weight, values["categorical_features"], self._owner)
        check_lengths(self._owner, len(plain), target.n_rows)
        given = None
        if values["experts"] is not None or not isinstance(values["gate"], str):
            given = TableOfAny.of(X, None, self._owner)
        present = np.arange(target.n_rows) if weight is None else np.flatnonzero(weight)
        if len(present) < target.n_rows and given is not None:
            given = TableOfAny(given.take(None, present), given.header, len(present))
        plain, counts = plain[present], np.ones(len(present)) if weight is None else weight[present]
        sight = Sight(given, plain, columns.scaled(plain))
        seed = seed_of(values["random_state"])
        self.bic_: dict[int, float] = {}
        found = []
        for n_experts in numbers:
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
        self._keep_header(columns.form.schema.header)
        self._columns = columns
        self._keep_parts(parts, course, present, target.n_rows, values)

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
        for place, expert in enumerate(_listed(experts)):
            name = f"experts[{place}]" if isinstance(experts, list | tuple) else "experts"
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

    def _task(self, values: Values, sight: Sight, target: Target, weight: Floats, n_experts: int, seed: int) -> Task:
        experts = _listed(values["experts"])
        given = experts * n_experts if len(experts) == 1 else experts
        spread = 1.0
        if target.classes is None:
            mean = weight @ target.y / weight.sum()
            spread = float(weight @ (target.y - mean) ** 2 / weight.sum()) or 1.0
        least = max(values.get("min_variance", 0.0), 1e-12) * spread
        return Task(
            sight=sight,
            target=target,
            weight=weight,
            n_experts=n_experts,
            experts=given or None,
            gate=values["gate"],
            ridge=values["l2_regularization"],
            least_variance=least,
            seed=seed,
            owner=self._owner,
        )

    def _best_start(self, task: Task, values: Values, seed: int) -> tuple[Course, Parts]:
        """The training with the largest likelihood, of equals the first."""
        points, y = task.sight.scaled, self._points(task.target, task.weight)
        n_experts = task.n_experts

        def one(number: int) -> tuple[Course, Parts]:
            mixture = TrainedOnShares(task)
            shares = start(points, y, task.weight, n_experts, key(seed, "experts", n_experts), number)
            course = train(mixture, shares, task.weight, values["max_iter"], values["tol"], mixture.keep)
            assert mixture.best is not None
            return course, mixture.best

        starts = 1 if n_experts == 1 else values["n_init"]
        began = time.perf_counter()
        found = [one(0)]
        # Many small steps of Python, as ours are, would only make threads wait for each other.
        slow = task.experts is not None and (time.perf_counter() - began) * (starts - 1) > WORTH_THREADS
        found += in_parallel(one, range(1, starts), self._threads if slow else 1, "threads")
        return max(found, key=lambda result: result[0].best)

    def _bic(self, course: Course, parts: Parts, task: Task) -> float | None:
        """The Bayesian information criterion of a mixture; None where parameters cannot be counted."""
        counts = [free_parameters(expert) for expert in parts.experts.members]
        n_experts = len(counts)
        width = 0 if task.gate == "constant" else task.sight.scaled.shape[1]
        of_gate = free_parameters(parts.gate.members[0]) if not isinstance(parts.gate, Softmax) else float((n_experts - 1) * (width + 1))
        if of_gate is None or any(count is None for count in counts):
            return None
        total = of_gate + sum(count for count in counts if count is not None) + (n_experts if parts.variance is not None else 0)
        return float(information_criterion(np.array([course.best]), np.array([total]), float(task.weight.sum()))[0])

    def _nameless(self, parts: Parts) -> str:
        models = [*parts.experts.members, *([] if isinstance(parts.gate, Softmax) else parts.gate.members)]
        return next(type(model).__name__ for model in models if free_parameters(model) is None)

    def _keep_parts(self, parts: Parts, course: Course, present: NDArray[np.int64], n_rows: int, values: Values) -> None:
        self._parts = parts
        self.experts_ = list(parts.experts.members)
        self.n_experts_ = len(self.experts_)
        self.terms_ = list(self._columns.form.names)
        self.gate_ = None if isinstance(parts.gate, Softmax) else parts.gate.members[0]
        if isinstance(parts.gate, Softmax):
            coef = np.zeros((self.n_experts_, len(self.terms_)))
            coef[:, : parts.gate.coef.shape[1]] = parts.gate.coef
            self.gate_coef_ = coef / self._columns.scale
            self.gate_intercept_ = parts.gate.intercept - self.gate_coef_ @ self._columns.center
        self.log_likelihood_ = course.log_likelihood
        self.n_iter_, self.converged_ = len(course.log_likelihood), course.converged
        self.responsibilities_ = np.full((n_rows, self.n_experts_), np.nan)
        self.responsibilities_[present] = course.shares
        if not course.converged:
            last = np.diff(course.log_likelihood)[-1:] if self.n_iter_ > 1 else np.array([np.nan])
            notice(
                f"{self._owner}: training did not come to an end in max_iter={values['max_iter']} rounds: the last one changed the "
                f"log-likelihood by {last[0]:.3g}, to {course.log_likelihood[-1]:.6g}. Raise max_iter or tol; if experts are not trained "
                "exactly (trees, or what draws rows), the likelihood may go up and down without end, and the best round was kept.",
                ConvergenceNotice,
            )

    # What there is to ask.

    def _said(self, X: Any) -> tuple[Floats, Floats]:
        """The probabilities of the experts (n, K), and what they say: (n, K), or (n, K, classes)."""
        check_is_fitted(self)
        parts, own = self._parts, self.experts is None
        plain = self._columns.form.of(X, self._owner)
        scaled = self._columns.scaled(plain)
        given = None
        if not own or not isinstance(parts.gate, Softmax):
            given = TableOfAny.of(X, self._columns.form.schema.header, self._owner)
        table = given if not own else dense(scaled if self._classifies else plain)
        if isinstance(parts.gate, Softmax):
            gate = np.exp(parts.gate.log_shares(scaled[:, : parts.gate.coef.shape[1]]))
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
        return self._said(X)[0]

    def _log_density(self, y: Any, said: Floats) -> Floats:
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
        gate, said = self._said(X)
        if y is None:
            return gate
        logs = np.log(np.maximum(gate, np.finfo(np.float64).tiny)) + self._log_density(y, said)
        return expectation(logs, np.ones(len(logs)))[1]


def _listed(experts: Any) -> list[Any]:
    """Experts that were given, as a list."""
    return [] if experts is None else list(experts) if isinstance(experts, list | tuple) else [experts]
