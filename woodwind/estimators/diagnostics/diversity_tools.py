"""Diversity of estimators, measured: members are asked, learners are trained again and again, and the measures do the rest.

The measures are functions of matrices in `woodwind.diversity`; here is how such matrices come about.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from woodwind.base.errors import ParameterError
from woodwind.base.pool import usable_threads
from woodwind.base.random_streams import choose, integers, key, seed_of
from woodwind.diversity.bias_variance import (
    BiasVariance,
    james_decomposition,
    kohavi_wolpert_decomposition,
    squared_decomposition,
    zero_one_decomposition,
)
from woodwind.diversity.report import DiversityReport, RegressionDiversityReport, diversity_report, regression_report
from woodwind.estimators.base.base_learner import check_estimator
from woodwind.estimators.base.model import check_lengths
from woodwind.estimators.base.target import Target, read_labels, read_regression_target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.pools.fitting import MemberTask, fit_member
from woodwind.estimators.pools.members import WITHOUT_LOCK, AnyTable, where_worthwhile
from woodwind.estimators.pools.pool import NamedMember, Pool, joint_classes, named_members, open_table_of, pairs_of, pool_of

LOSSES: dict[str, Callable[..., BiasVariance]] = {
    "zero_one": zero_one_decomposition,
    "kohavi_wolpert": kohavi_wolpert_decomposition,
    "james": james_decomposition,
    "squared": squared_decomposition,
}
# Without replacement so much of the rows is drawn: halves, as in Kohavi and Wolpert's experiments.
SHARE = 0.5


def measure_diversity(
    estimators: Any, X: Any, y: Any, *, sample_weight: Any = None, n_jobs: int | None = None
) -> DiversityReport | RegressionDiversityReport:
    """How much trained members differ: all measures of `woodwind.diversity` in one report.

    Parameters
    ----------
    estimators : list of estimators or of (name, estimator), dict of them, or a fitted ensemble with `estimators_`
        Trained classifiers, or trained regressors: a forest, bagging, voting, or models of any kind.
    X : table
        Rows that the members have not seen; on rows that they were trained on they seem more alike than they are.
    y : sequence of values, one for each row
    sample_weight : sequence of numbers, one for each row, default=None
    n_jobs : int, default=None
        Threads; None for all.

    Returns
    -------
    DiversityReport, or RegressionDiversityReport for regressors
        `print` shows it, `report["disagreement"]` is a value, `report.pairs` has the matrices. Where all classifiers have predict_proba,
        it has the measures of their probabilities as well: `report["probability_correlation"]` and others.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import RandomForestClassifier, measure_diversity
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X[::2], y[::2])
    >>> report = measure_diversity(forest, X[1::2], y[1::2])
    >>> report.n_members, report["vote_accuracy"] >= report["mean_accuracy"]
    (5, True)
    """
    owner = "measure_diversity"
    classifies = _classifies(estimators)
    named = named_members(estimators, owner, classifies)
    target = read_labels(y, owner) if classifies else read_regression_target(y, owner)
    weight = read_weight(sample_weight, target.n_rows, owner)
    classes = joint_classes(named, target.classes) if classifies else None
    pool = Pool.of_fitted(named, None, classes, owner)
    table = open_table_of(X, pool.header, owner)
    check_lengths(owner, table.n_rows, target.n_rows)
    if classifies:
        threads = usable_threads(n_jobs)
        labels = np.asarray(classes)[pool.votes(table, owner, threads)]
        soft = all(hasattr(member, "predict_proba") for member in pool.members)
        soft_votes = {"probabilities": pool.probabilities(table, owner, threads), "classes": classes} if soft else {}
        return diversity_report(target.labels(), labels, **soft_votes, sample_weight=weight, names=pool.names)
    return regression_report(target.y, pool.numbers(table, owner, usable_threads(n_jobs)), sample_weight=weight, names=pool.names)


def bias_variance(  # noqa: PLR0913 (what a user gives: two tables, and the rest by name)
    estimator: Any,
    X_train: Any = None,
    y_train: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    *,
    loss: Literal["auto", "zero_one", "kohavi_wolpert", "james", "squared"] = "auto",
    n_rounds: int = 200,
    how: Literal["bootstrap", "subsample"] | Callable[[int], tuple[Any, Any]] = "bootstrap",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BiasVariance:
    """Noise, bias and variance of a learner, from training it again and again on other rows.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor of scikit-learn's kind; copies of it are trained. What it draws without a seed differs from round to
        round.
    X_train, y_train : table and its target
        The rows that training sets are drawn from; none where `how` makes them.
    X_test, y_test : table and its target, default=None
        The rows that predictions are scored on. Without them each training row is scored by the rounds in which it was not drawn.
    loss : {"auto", "zero_one", "kohavi_wolpert", "james", "squared"}, default="auto"
        The decomposition: Domingos' of 0-1 loss for classifiers, or Kohavi and Wolpert's, or James'; of squared loss for regressors.
    n_rounds : int, default=200
        How often the learner is trained.
    how : {"bootstrap", "subsample"} or callable, default="bootstrap"
        As many rows with replacement, or half of them without. A function `draw(seed) -> (X, y)` makes a new training set of every seed:
        repeated sampling, which shows the variance that new data would bring, where a bootstrap shows less of it.
    random_state : None, int or generator, default=None
        The same seed gives the same rounds, for any number of threads.
    n_jobs : int, default=None
        Threads; None for all.

    Returns
    -------
    BiasVariance
        `loss` = `noise` + `bias` + `variance`; `print` shows them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from woodwind import bias_variance
    >>> X, y = load_iris(return_X_y=True)
    >>> found = bias_variance(DecisionTreeClassifier(), X[::2], y[::2], X[1::2], y[1::2], n_rounds=20, random_state=0)
    >>> abs(found.loss - found.bias - found.variance) < 1e-12
    True
    """
    check_estimator(estimator, "bias_variance", _is_classifier(estimator))
    decompose, count = _decomposition(loss, _is_classifier(estimator)), _checked_rounds(n_rounds)
    rounds = RetrainingRounds(estimator, how, seed_of(random_state), (X_train, y_train), (X_test, y_test))
    predicted, asked = rounds.predictions(count, usable_threads(n_jobs))
    return decompose(rounds.truth, predicted, asked=asked)


class RetrainingRounds:
    """A learner that is trained on other rows in each round, and scored on a test table, or on rows that were not drawn."""

    owner = "bias_variance"

    def __init__(self, estimator: Any, how: Any, seed: int, train: tuple[Any, Any], test: tuple[Any, Any]) -> None:
        if not callable(how) and how not in ("bootstrap", "subsample"):
            raise ParameterError(
                f"{self.owner}: how must be 'bootstrap', 'subsample' or a function draw(seed) that gives X and y, but it is {how!r}."
            )
        if not callable(how) and (train[0] is None or train[1] is None):
            raise ParameterError(f"{self.owner}: X_train and y_train are needed for how={how!r}: training sets are drawn from them.")
        if (test[0] is None) != (test[1] is None) or (callable(how) and test[0] is None):
            why = "to a function that draws training sets belong" if callable(how) else "rows are scored by their target:"
            raise ParameterError(f"{self.owner}: {why} both X_test and y_test must be given.")
        self.named, self.classifies, self.how, self.seed = NamedMember("estimator", estimator), _is_classifier(estimator), how, seed
        self.source: tuple[AnyTable, Target] | None = None
        if not callable(how):
            self.source = self.read(*train, ("X_train", "y_train"))
        self.test = None if test[0] is None else self.read(*test, ("X_test", "y_test"))

    @property
    def truth(self) -> NDArray[Any]:
        """The target of the rows that are scored."""
        scored = self.source if self.test is None else self.test
        assert scored is not None
        return scored[1].labels()

    def read(self, X: Any, y: Any, names: tuple[str, str]) -> tuple[AnyTable, Target]:
        """A table and its target; columns of a second table are found by the names that the first has."""
        table = open_table_of(X, None if self.source is None else self.source[0].header, self.owner)
        target = read_labels(y, self.owner) if self.classifies else read_regression_target(y, self.owner)
        check_lengths(self.owner, table.n_rows, target.n_rows, names)
        return table, target

    def predictions(self, n_rounds: int, threads: int) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """What was predicted in each round (R, n), and where it counts; without a test table, of rows that were not drawn."""
        module = f"{type(self.named.estimator).__module__}."
        prefer: Literal["threads", "processes"] = "threads" if module.startswith(WITHOUT_LOCK) else "processes"

        def alone(number: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
            return self.round(number, threads)

        def beside(number: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
            return self.round(number, 1)

        answers = list(where_worthwhile(alone, beside, range(n_rounds), threads, prefer))
        predicted = np.stack([labels for labels, _ in answers])
        return predicted, np.stack([counts for _, counts in answers]) if self.test is None else None

    def round(self, number: int, threads: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """What a copy that is trained in this round predicts, and for which rows that counts."""
        rows = None
        if self.source is None:
            X, y = self.how(key(self.seed, "round", number) % (1 << 31))
            table, target = self.read(X, y, ("X", "y"))
        else:
            table, target = self.source
            rows = self._drawn(number, table.n_rows)
        fitted = fit_member(self.named, MemberTask(table, target, None, self.owner, rows), key(self.seed, "round", number), threads)
        pool = pool_of([self.named], [fitted], table.header, target.classes)
        about = table if self.test is None else self.test[0]
        predicted = pool.votes(about, self.owner)[:, 0] if self.classifies else pool.numbers(about, self.owner)[:, 0]
        counts = np.ones(about.n_rows, np.bool_)
        if self.test is None and rows is not None:
            counts[rows] = False
        return (np.asarray(target.classes)[predicted] if self.classifies else predicted), counts

    def _drawn(self, number: int, n_rows: int) -> NDArray[np.int64]:
        name = key(self.seed, "rows", number)
        if self.how == "bootstrap":
            return np.sort(integers(name, n_rows, n_rows))
        return choose(name, n_rows, max(1, int(n_rows * SHARE)))


def _classifies(estimators: Any) -> bool:
    """Whether it is a pool of classifiers: by the ensemble, or by its first member."""
    if hasattr(estimators, "estimators_"):
        return bool(is_classifier(estimators))
    pairs = pairs_of(estimators)
    return not pairs or _is_classifier(pairs[0][1])


def _is_classifier(estimator: Any) -> bool:
    """The same for what may be no estimator at all, which is refused later."""
    return not isinstance(estimator, type) and hasattr(estimator, "fit") and bool(is_classifier(estimator))


def _decomposition(loss: str, classifies: bool) -> Callable[..., BiasVariance]:
    chosen = ("zero_one" if classifies else "squared") if loss == "auto" else loss
    if chosen not in LOSSES or (chosen == "squared") == classifies:
        allowed = "'auto', 'zero_one', 'kohavi_wolpert' or 'james'" if classifies else "'auto' or 'squared'"
        kind = "classifier" if classifies else "regressor"
        raise ParameterError(f"bias_variance: loss must be {allowed} for a {kind}, but it is {loss!r}.")
    return LOSSES[chosen]


def _checked_rounds(n_rounds: Any) -> int:
    if isinstance(n_rounds, bool) or not isinstance(n_rounds, int | np.integer) or n_rounds < 1:
        raise ParameterError(f"bias_variance: n_rounds must be a whole number of at least 1, but it is {n_rounds!r}.")
    return int(n_rounds)
