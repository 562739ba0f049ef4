"""Predictions out of fold: what members predict for rows that they have not been trained on, one way for all ensembles that need such rows.

Every fold trains a copy of each member on its training rows and asks it about the rows it holds out. Nothing is trained twice, and what was
learned and asked is written down, so that an audit can tell that no row was scored by a model that saw it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.pool import usable_threads
from woodwind.base.random_streams import key, seed_of
from woodwind.estimators.base.model import check_lengths
from woodwind.estimators.base.splits import Fold, SplitRequest, check_apart, read_folds, read_groups, warn_absent_classes, warn_unscored
from woodwind.estimators.base.target import Target, read_labels, read_regression_target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.boosting.encoded_table import EncodedTable
from woodwind.estimators.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.estimators.pools.fitting import FittedMember, MemberTask, check_weights_are_taken, fit_member, named_error
from woodwind.estimators.pools.members import AnyTable, where_worthwhile
from woodwind.estimators.pools.pool import (
    NamedMember,
    Pool,
    Response,
    named_members,
    open_table_of,
    pool_of,
    with_progress_of,
    without_probabilities,
)
from woodwind.params.check import check

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Method = Literal["auto", "predict", "predict_proba", "decision_function"]


class FoldResult(NamedTuple):
    """What one model of one fold has learned, and what it was asked."""

    fold: int
    member: str
    train_rows: Integers
    asked: Integers


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """What members predict for rows that they have not been trained on."""

    predicted: Floats  # (n, m, width): the mean over repeats; NaN where no fold held the row out
    scored: NDArray[np.bool_]  # (n,): whether some fold held the row out
    folds: tuple[Fold, ...]
    fold_results: tuple[FoldResult, ...]
    groups: Integers | None = None
    pools: tuple[Pool, ...] = field(default=())  # the models of each fold, if they were to be kept

    def audit(self, owner: str = "OutOfFold") -> None:
        """Raise if any row was scored by a model that saw it or another row of its group, or has an answer that nobody gave."""
        times = np.zeros(len(self.scored), np.int64)
        names = {fold_result.member for fold_result in self.fold_results}
        for fold_result in self.fold_results:
            check_apart(fold_result.fold, fold_result.train_rows, fold_result.asked, self.groups, f"{owner}, member {fold_result.member!r}")
            times[fold_result.asked] += 1
        answered = ~np.isnan(self.predicted).any(axis=(1, 2))
        if ((times > 0) != self.scored).any() or (answered != self.scored).any() or (times % max(len(names), 1)).any():
            raise DataError(f"{owner}: the rows that models were asked about are not the rows that have answers.")


class OutOfFoldPlan(TypedDict):
    """How members are asked about rows that they have not been trained on."""

    cv: Any  # see `read_folds`
    groups: Integers | None
    weight: Floats | None  # (n,) of rows
    kind: Response
    seed: int
    threads: int
    owner: str
    keep: NotRequired[bool]  # the models of the folds
    verbose: NotRequired[int | bool]


def out_of_fold(named: Sequence[NamedMember], X: Any, target: Target, **how: Unpack[OutOfFoldPlan]) -> OutOfFold:
    """What copies of the members predict for rows that they have not been trained on, for any splits of the rows."""
    weight, groups, threads, owner = how["weight"], how["groups"], how["threads"], how["owner"]
    check_weights_are_taken(named, weight, owner)
    table = X if isinstance(X, AnyTable) else open_table_of(X, None, owner)
    check_lengths(owner, table.n_rows, target.n_rows)
    folds = read_folds(how["cv"], table.X, SplitRequest(owner, target, groups, how["seed"]))
    warn_absent_classes(folds, target, weight, owner)
    codes = _codes_of(named, table, weight, threads, owner)
    work = _FoldTasks(named, table, target, weight, folds, codes, how["kind"], how["seed"], owner, how.get("keep", False))
    count = len(folds) * len(named)
    models = where_worthwhile(work.whole(threads), work.whole(1), range(count), threads, "threads")
    results = with_progress_of(models, count, owner, how.get("verbose", 0), noun="model of a fold")

    sums = _FoldSums.of(work)
    fitted: list[FittedMember] = []
    fold_results = []
    for position, (one, fold_result, answer) in enumerate(results):
        sums.add(position % len(named), fold_result.asked, answer)
        fold_results.append(fold_result)
        fitted += [one] if one is not None else []
    found = OutOfFold(sums.mean(), sums.times > 0, folds, tuple(fold_results), groups, work.pools(fitted))
    warn_unscored(found.scored, owner)
    found.audit(owner)
    return found


@dataclass(frozen=True, eq=False)
class _FoldTasks:
    """One model for each member in each fold: numbers count members first."""

    named: Sequence[NamedMember]
    table: AnyTable
    target: Target
    weight: Floats | None
    folds: tuple[Fold, ...]
    codes: list[EncodedTable | None]
    kind: Response
    seed: int
    owner: str
    keep: bool

    def whole(self, threads: int) -> Any:
        """A function of the number that trains a model and asks it, on so many threads."""
        return lambda number: self.model(number, threads)

    def model(self, number: int, threads: int) -> tuple[FittedMember | None, FoldResult, Floats]:
        """Train a model, ask it, and say what was done."""
        fold, position = divmod(number, len(self.named))
        train_rows, held = self.folds[fold]
        member = self.named[position]
        task = MemberTask(self.table, self.target, self.weight, self.owner, train_rows)
        train_rows = np.asarray(task.present())
        codes = self.codes[position]
        if codes is not None:
            part = EncodedTable(codes.schema, codes.cuts, codes.codes.take(train_rows))
            task = MemberTask(self.table, self.target, self.weight, self.owner, train_rows, part)
        one = fit_member(member, task, key(self.seed, "fold", fold), threads)
        pool = pool_of([member], [one], self.table.header, self.target.classes)
        answer = pool.answer(0, self.table, self.kind, self.owner, held)
        return one if self.keep else None, FoldResult(fold, member.name, train_rows, held), answer

    def pools(self, fitted: list[FittedMember]) -> tuple[Pool, ...]:
        """The models of each fold, if they were kept."""
        size = len(self.named)
        parts = [fitted[begin : begin + size] for begin in range(0, len(fitted), size)]
        return tuple(pool_of(self.named, part, self.table.header, self.target.classes) for part in parts)


@dataclass(frozen=True, eq=False)
class _FoldSums:
    """What was predicted for each row, added up over the folds that hold it out."""

    total: Floats  # (m, n, width); of votes in repeated folds the number of votes for each class
    times: Integers  # (n,)
    counts_votes: bool

    @classmethod
    def of(cls, work: _FoldTasks) -> "_FoldSums":
        """Nothing was predicted yet."""
        times = np.bincount(np.concatenate([held for _, held in work.folds]), minlength=work.table.n_rows)
        counts_votes = work.kind == "votes" and bool((times > 1).any())
        asked = pool_of([], [], work.table.header, work.target.classes)
        width = asked.n_classes if counts_votes else asked.width(work.kind)
        return cls(np.zeros((len(work.named), work.table.n_rows, width)), times, counts_votes)

    def add(self, member: int, rows: Integers, answer: Floats) -> None:
        """One more model has spoken."""
        if self.counts_votes:
            self.total[member, rows, answer[:, 0].astype(np.int64)] += 1.0
        else:
            self.total[member, rows] += answer

    def mean(self) -> Floats:
        """The mean over repeats, (n, m, width), or the class with the most votes; NaN where nothing was predicted."""
        if self.counts_votes:
            out = self.total.argmax(axis=2).astype(np.float64)[:, :, None]
        else:
            out = self.total / np.maximum(self.times, 1)[None, :, None]
        out[:, self.times == 0] = np.nan
        return np.asarray(out.transpose(1, 0, 2))


def _codes_of(named: Sequence[NamedMember], table: AnyTable, weight: Floats | None, threads: int, owner: str) -> list[EncodedTable | None]:
    """The codes of the whole table for members that boost, made once for all folds; None where a member needs the table itself.

    Bins and codes of categories are made from all rows: they know nothing of the target.
    """
    known: dict[tuple[Any, ...], EncodedTable | None] = {}
    out: list[EncodedTable | None] = []
    for member in named:
        one = member.estimator
        boosts = type(one) in (GradientBoostingClassifier, GradientBoostingRegressor) and member.columns is None
        # A model to start from, a scorer and linear leaves look at the table.
        if not boosts or one.init is not None or one.scoring is not None or one.linear_leaves:
            out.append(None)
            continue
        values = named_error(owner, member, partial(check, one))
        coding = ("max_bins", "candidates", "categorical_encoding", "sparse_absent", "feature_bundling", "max_conflict_rate")
        name = (repr(values["categorical_features"]), *(values[own] for own in coding))
        if name not in known:
            known[name] = EncodedTable.of(table.X, values, weight, threads, owner)
        out.append(known[name])
    return out


PARAMETERS = """
estimators : estimator, list of estimators or of (name, estimator), or dict of them
    Classifiers or regressors of scikit-learn's kind, trained or not: copies are trained here.
X : table
    As in the `fit` of all estimators.
y : sequence of values, one for each row
    Labels, or numbers.
cv : int, splitter or iterable, default=5
    Number of folds, shuffled by `random_state`, for classifiers with the share of each class; or a splitter of scikit-learn, such as
    TimeSeriesSplit, or pairs of (training rows, held-out rows).
groups : sequence of labels, one for each row, default=None
    Rows of one group are held out together.
sample_weight : sequence of numbers, one for each row, default=None
    A row of weight zero is not learned.
method : {'auto', 'predict', 'predict_proba', 'decision_function'}, default='auto'
    What estimators are asked. 'auto' is probabilities if all have them, else predictions.
n_jobs : int, default=None
    Threads; None or -1 for all that the process may use.
random_state : int, generator or None, default=None
    Seed of the folds, and of estimators that have none of their own.
"""


@fill_docstring(parameters=PARAMETERS)
def out_of_fold_predictions(  # noqa: PLR0913  a user names what is wanted; there is no object to put it in
    estimators: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    method: Method = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> NDArray[Any]:
    """What estimators predict for rows that they have not been trained on.

    Each fold trains a copy of every estimator and asks it about the rows that it holds out; the mean is taken where a row is held out
    several times. Rows that no fold holds out, as the first ones in time order, are NaN, and a warning says so.

    Parameters
    ----------
    {parameters}

    Returns
    -------
    array
        (n_rows, n_estimators, n_classes) for probabilities, and for decisions between more than two classes; else
        (n_rows, n_estimators). For a single estimator that is not in a list, without the second axis.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from woodwind import out_of_fold_predictions
    >>> X, y = load_iris(return_X_y=True)
    >>> predicted = out_of_fold_predictions([LogisticRegression(max_iter=1000), GaussianNB()], X, y, random_state=0)
    >>> predicted.shape
    (150, 2, 3)
    >>> (predicted.argmax(axis=2) == y[:, None]).mean(axis=0).round(2).tolist()
    [0.97, 0.95]
    """
    owner = "out_of_fold_predictions"
    alone = hasattr(estimators, "fit") and not isinstance(estimators, type)
    members = [estimators] if alone else estimators
    classifies = _all_classify(members, owner)
    named = named_members(members, owner, classifies)
    target = read_labels(y, owner) if classifies else read_regression_target(y, owner)
    kind = _kind_for(method, named, classifies, owner)
    how = OutOfFoldPlan(
        cv=cv,
        groups=read_groups(groups, target.n_rows, owner),
        weight=read_weight(sample_weight, target.n_rows, owner),
        kind=kind,
        seed=seed_of(random_state),
        threads=usable_threads(n_jobs),
        owner=owner,
    )
    found = out_of_fold(named, X, target, **how)
    predicted = _as_asked(found, kind, target)
    return predicted[:, 0] if alone else predicted


def _all_classify(members: Any, owner: str) -> bool:
    """Whether the members are classifiers; raise where some are and some are not."""
    if members is None:
        raise ParameterError(f"{owner}: estimators is None. Give an estimator or a list of them.")
    listed = list(members.values()) if isinstance(members, dict) else members if isinstance(members, list | tuple) else []
    found = [one[1] if isinstance(one, tuple | list) and len(one) == 2 else one for one in listed]
    found = [one for one in found if hasattr(one, "fit") and not isinstance(one, type)]
    if any(map(is_classifier, found)) and any(map(is_regressor, found)):
        raise ParameterError(f"{owner}: estimators has classifiers and regressors. Ask them apart: their answers cannot be compared.")
    return not any(map(is_regressor, found))


def _kind_for(method: Method, named: Sequence[NamedMember], classifies: bool, owner: str) -> Response:
    """What members are asked for."""
    if method not in ("auto", "predict", "predict_proba", "decision_function"):
        known = "'auto', 'predict', 'predict_proba' or 'decision_function'"
        raise ParameterError(f"{owner}: method must be {known}, but it is {method!r}.")
    if not classifies:
        if method in ("predict_proba", "decision_function"):
            raise ParameterError(f"{owner}: method={method!r} is for classifiers. Regressors have method='predict'.")
        return "numbers"
    if method == "auto":
        return "probabilities" if all(hasattr(member.estimator, "predict_proba") for member in named) else "votes"
    if method == "predict":
        return "votes"
    lacking = next((member for member in named if not hasattr(member.estimator, method)), None)
    if lacking is not None and method == "predict_proba":
        raise ParameterError(without_probabilities(lacking.name, lacking.estimator, owner))
    if lacking is not None:
        kind = type(lacking.estimator).__name__
        raise ParameterError(f"{owner}: member {lacking.name!r} ({kind}) has no decision_function. Ask for method='auto', or leave it out.")
    return "probabilities" if method == "predict_proba" else "scores"


def _as_asked(found: OutOfFold, kind: Response, target: Target) -> NDArray[Any]:
    """What was predicted, in the form that was asked for: labels instead of numbers of classes, None for rows that no fold holds out."""
    if kind != "votes":
        return found.predicted if kind == "probabilities" or found.predicted.shape[2] > 1 else found.predicted[:, :, 0]
    scored, classes = found.scored, np.asarray(target.classes)
    positions = np.where(scored[:, None], found.predicted[:, :, 0], 0.0).astype(np.int64)
    if scored.all():
        return np.asarray(classes[positions])
    out = classes.astype(object)[positions]
    out[~scored] = None
    return out
