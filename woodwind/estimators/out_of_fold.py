"""Predictions out of fold: what members say of rows that they have not learnt, one way for all ensembles that need such rows.

Every fold trains a copy of each member on its training rows and asks it about the rows it holds out. Nothing is trained twice, and what was
learnt and asked is written down, so that an audit can tell that no row was judged by a model that saw it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.pool import usable_threads
from woodwind.base.streams import key, seed_of
from woodwind.base.told import told
from woodwind.estimators.boosted import Encoded
from woodwind.estimators.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from woodwind.estimators.fitting import Lesson, Taught, check_weights_are_taken, named_fault, teach
from woodwind.estimators.members import TableOfAny, where_worthwhile
from woodwind.estimators.pool import Named, Pool, Saying, named_members, open_table_of, pool_of, told_of, without_probabilities
from woodwind.estimators.skin import check_lengths
from woodwind.estimators.splits import Asking, Fold, check_apart, read_folds, tell_of_absent_classes, tell_of_unjudged
from woodwind.estimators.target import Target, read_labels, read_numbers
from woodwind.estimators.validation import read_groups
from woodwind.estimators.weights import read_weight
from woodwind.params.check import check

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Method = Literal["auto", "predict", "predict_proba", "decision_function"]


class Deed(NamedTuple):
    """What one model of one fold has learnt, and what it was asked."""

    fold: int
    member: str
    learnt: Integers
    asked: Integers


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """What members say of rows that they have not learnt."""

    said: Floats  # (n, m, width): the mean over repeats; NaN where no fold held the row out
    judged: NDArray[np.bool_]  # (n,): whether some fold held the row out
    folds: tuple[Fold, ...]
    deeds: tuple[Deed, ...]
    groups: Integers | None = None
    pools: tuple[Pool, ...] = field(default=())  # the models of each fold, if they were to be kept

    def audit(self, owner: str = "OutOfFold") -> None:
        """Raise if any row was judged by a model that saw it or another row of its group, or has an answer that nobody gave."""
        times = np.zeros(len(self.judged), np.int64)
        names = {deed.member for deed in self.deeds}
        for deed in self.deeds:
            check_apart(deed.fold, deed.learnt, deed.asked, self.groups, f"{owner}, member {deed.member!r}")
            times[deed.asked] += 1
        answered = ~np.isnan(self.said).any(axis=(1, 2))
        if ((times > 0) != self.judged).any() or (answered != self.judged).any() or (times % max(len(names), 1)).any():
            raise DataError(f"{owner}: the rows that models were asked about are not the rows that have answers.")


class How(TypedDict):
    """How members are asked about rows that they have not learnt."""

    cv: Any  # see `read_folds`
    groups: Integers | None
    weight: Floats | None  # (n,) of rows
    kind: Saying
    seed: int
    threads: int
    owner: str
    keep: NotRequired[bool]  # the models of the folds
    verbose: NotRequired[int | bool]


def out_of_fold(named: Sequence[Named], X: Any, target: Target, **how: Unpack[How]) -> OutOfFold:
    """What copies of the members say of rows that they have not learnt, for any splits of the rows."""
    weight, groups, threads, owner = how["weight"], how["groups"], how["threads"], how["owner"]
    check_weights_are_taken(named, weight, owner)
    table = X if isinstance(X, TableOfAny) else open_table_of(X, None, owner)
    check_lengths(owner, table.n_rows, target.n_rows)
    folds = read_folds(how["cv"], table.X, Asking(owner, target, groups, how["seed"]))
    tell_of_absent_classes(folds, target, weight, owner)
    codes = _codes_of(named, table, weight, threads, owner)
    work = _Work(named, table, target, weight, folds, codes, how["kind"], how["seed"], owner, how.get("keep", False))
    count = len(folds) * len(named)
    models = where_worthwhile(work.whole(threads), work.whole(1), range(count), threads, "threads")
    results = told_of(models, count, owner, how.get("verbose", 0), noun="model of a fold")

    sums = _Sums.of(work)
    taught: list[Taught] = []
    deeds = []
    for place, (one, deed, answer) in enumerate(results):
        sums.add(place % len(named), deed.asked, answer)
        deeds.append(deed)
        taught += [one] if one is not None else []
    found = OutOfFold(sums.mean(), sums.times > 0, folds, tuple(deeds), groups, work.pools(taught))
    tell_of_unjudged(found.judged, owner)
    found.audit(owner)
    return found


@dataclass(frozen=True, eq=False)
class _Work:
    """One model for each member in each fold: numbers count members first."""

    named: Sequence[Named]
    table: TableOfAny
    target: Target
    weight: Floats | None
    folds: tuple[Fold, ...]
    codes: list[Encoded | None]
    kind: Saying
    seed: int
    owner: str
    keep: bool

    def whole(self, threads: int) -> Any:
        """A function of the number that trains a model and asks it, on so many threads."""
        return lambda number: self.model(number, threads)

    def model(self, number: int, threads: int) -> tuple[Taught | None, Deed, Floats]:
        """Train a model, ask it, and say what was done."""
        fold, place = divmod(number, len(self.named))
        learnt, held = self.folds[fold]
        member = self.named[place]
        lesson = Lesson(self.table, self.target, self.weight, self.owner, learnt)
        learnt = np.asarray(lesson.present())
        codes = self.codes[place]
        if codes is not None:
            part = Encoded(codes.schema, codes.cuts, codes.codes.take(learnt))
            lesson = Lesson(self.table, self.target, self.weight, self.owner, learnt, part)
        one = teach(member, lesson, key(self.seed, "fold", fold), threads)
        pool = pool_of([member], [one], self.table.header, self.target.classes)
        answer = pool.answer(0, self.table, self.kind, self.owner, held)
        return one if self.keep else None, Deed(fold, member.name, learnt, held), answer

    def pools(self, taught: list[Taught]) -> tuple[Pool, ...]:
        """The models of each fold, if they were kept."""
        size = len(self.named)
        parts = [taught[begin : begin + size] for begin in range(0, len(taught), size)]
        return tuple(pool_of(self.named, part, self.table.header, self.target.classes) for part in parts)


@dataclass(frozen=True, eq=False)
class _Sums:
    """What was said of each row, added up over the folds that hold it out."""

    total: Floats  # (m, n, width); of votes in repeated folds the number of votes for each class
    times: Integers  # (n,)
    counts_votes: bool

    @classmethod
    def of(cls, work: _Work) -> "_Sums":
        """Nothing was said yet."""
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
        """The mean over repeats, (n, m, width), or the class with the most votes; NaN where nothing was said."""
        if self.counts_votes:
            out = self.total.argmax(axis=2).astype(np.float64)[:, :, None]
        else:
            out = self.total / np.maximum(self.times, 1)[None, :, None]
        out[:, self.times == 0] = np.nan
        return np.asarray(out.transpose(1, 0, 2))


def _codes_of(named: Sequence[Named], table: TableOfAny, weight: Floats | None, threads: int, owner: str) -> list[Encoded | None]:
    """The codes of the whole table for members that boost, made once for all folds; None where a member needs the table itself.

    Bins and levels are cut from all rows: they know nothing of the target.
    """
    known: dict[tuple[Any, str], Encoded] = {}
    out: list[Encoded | None] = []
    for member in named:
        one = member.estimator
        boosts = type(one) in (GradientBoostingClassifier, GradientBoostingRegressor) and member.columns is None
        # A model to start from and a scorer look at the table.
        if not boosts or one.init is not None or one.scoring is not None:
            out.append(None)
            continue
        values = named_fault(owner, member, partial(check, one))
        name = (values["max_bins"], repr(values["categorical_features"]))
        if name not in known:
            known[name] = Encoded.of(table.X, values, weight, threads, owner)
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
    A row of weight zero is not learnt.
method : {'auto', 'predict', 'predict_proba', 'decision_function'}, default='auto'
    What estimators are asked. 'auto' is probabilities if all have them, else predictions.
n_jobs : int, default=None
    Threads; None or -1 for all that the process may use.
random_state : int, generator or None, default=None
    Seed of the folds, and of estimators that have none of their own.
"""


@told(parameters=PARAMETERS)
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
    """What estimators say of rows that they have not learnt.

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
    >>> said = out_of_fold_predictions([LogisticRegression(max_iter=1000), GaussianNB()], X, y, random_state=0)
    >>> said.shape
    (150, 2, 3)
    >>> (said.argmax(axis=2) == y[:, None]).mean(axis=0).round(2).tolist()
    [0.97, 0.95]
    """
    owner = "out_of_fold_predictions"
    alone = hasattr(estimators, "fit") and not isinstance(estimators, type)
    members = [estimators] if alone else estimators
    classifies = _all_classify(members, owner)
    named = named_members(members, owner, classifies)
    target = read_labels(y, owner) if classifies else read_numbers(y, owner)
    kind = _kind_for(method, named, classifies, owner)
    how = How(
        cv=cv,
        groups=read_groups(groups, target.n_rows, owner),
        weight=read_weight(sample_weight, target.n_rows, owner),
        kind=kind,
        seed=seed_of(random_state),
        threads=usable_threads(n_jobs),
        owner=owner,
    )
    found = out_of_fold(named, X, target, **how)
    said = _as_asked(found, kind, target)
    return said[:, 0] if alone else said


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


def _kind_for(method: Method, named: Sequence[Named], classifies: bool, owner: str) -> Saying:
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


def _as_asked(found: OutOfFold, kind: Saying, target: Target) -> NDArray[Any]:
    """What was said in the form that was asked for: labels instead of numbers of classes, None for rows that no fold holds out."""
    if kind != "votes":
        return found.said if kind == "probabilities" or found.said.shape[2] > 1 else found.said[:, :, 0]
    judged, classes = found.judged, np.asarray(target.classes)
    places = np.where(judged[:, None], found.said[:, :, 0], 0.0).astype(np.int64)
    if judged.all():
        return np.asarray(classes[places])
    out = classes.astype(object)[places]
    out[~judged] = None
    return out
