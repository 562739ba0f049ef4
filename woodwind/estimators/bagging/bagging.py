"""Bagging of any estimator, for classification and regression."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require_finite
from woodwind.ensemble.bag import gathered
from woodwind.ensemble.combine import ballot_fractions, winners
from woodwind.ensemble.resampling import (
    OutOfBag,
    OutOfBagError,
    Resampling,
    class_probabilities,
    largest_rate,
    out_of_bag,
    out_of_bag_error,
)
from woodwind.estimators.bagging.tree_members import SharedTable, TreeMembers, can_share
from woodwind.estimators.base.bootstrap_checks import (
    Score,
    check_base,
    check_distributions,
    check_oob,
    check_same_draws,
    read_oob_score,
    rows_drawn,
    rows_of_fragment,
    warn_without_out_of_bag,
)
from woodwind.estimators.base.category_statistics import columns_of_many
from woodwind.estimators.base.model import COLUMNS, BaseModel, LogProbabilityMixin, check_lengths, read_training
from woodwind.estimators.base.per_target import TARGETS, PerTargetMixin
from woodwind.estimators.base.several_targets import has_one_target
from woodwind.estimators.base.target import Target, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import Weighing, class_factors, read_weight, weighed_classes
from woodwind.estimators.boosting.plan import feature_count
from woodwind.estimators.forests.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from woodwind.estimators.pools.members import AnyTable, BaggedMembers, BagTask, EstimatorMembers, Kind, shared_codes, takes_weight, trained
from woodwind.estimators.pools.pool_base import narrow_tags
from woodwind.params.bagging import BagClassifierParams, BagParams, DiversityParams
from woodwind.params.groups import RunParams
from woodwind.params.knobs import knobs

# ----------------------------------------------------------------------------------------------------
# Bagging for both tasks: from a table and a target to members, and from members to what they predict together.


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Values = dict[str, Any]

# For the docstrings of the estimators.
ABOUT = """
Each member is trained on rows that are drawn for it, by default as many as there are, with replacement (bootstrap aggregating);
without replacement it is called pasting. Columns may be drawn as well: random subspaces, or with rows random patches. What a member sees
is named by the seed and its number, so that the members are the same for any number of threads, and `warm_start` adds to them. Members
that are decision trees of Woodwind share one coded table; others are trained on theirs, with the draws as weights where they take any.

Whole sample weights are drawn as so many rows would be. Others multiply the weight of their row in each member; an estimator that takes
no weights is given rows drawn in proportion to them.
"""
MODEL = """
estimator_ : estimator
    What the members are clones of.
estimators_ : list
    The members, each trained.
estimators_samples_ : list of arrays
    The rows that each member was trained on, ascending, a row as often as it was drawn. Drawn again whenever they are asked for.
estimators_features_ : list of arrays
    The columns that each member was trained on, likewise. Where columns have names, one that was drawn twice is given once.
feature_importances_ : array of shape (n_features_in_,)
    The mean importance of each column, where members tell.
oob_score_ : float
    The score of out-of-bag predictions, if `oob_score` asks for it.
{targets}
"""


@dataclass(frozen=True, eq=False)
class BaggingInput:
    """What fit was given, read and checked."""

    X: Any
    target: Target
    weighing: Weighing
    probability: Floats | None  # how likely a row is drawn because of its class; None: all alike


class BaseBagging(PerTargetMixin, BaseModel):
    """What both kinds of bag share. `fit` sets `estimator_` and the members."""

    _state: ClassVar[dict[str, Any]] = {"_members": EstimatorMembers | TreeMembers, "_resampling": Resampling, "estimator_": Any}
    _optional_state: ClassVar[dict[str, Any]] = {"oob_decision_function_": Floats, "oob_prediction_": NDArray[Any], "oob_score_": float}

    _docstring_parts: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL.format(targets=TARGETS.strip()), "columns": COLUMNS}
    estimator: Any
    _members: BaggedMembers
    _resampling: Resampling

    # What each task does in its own way.

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        raise NotImplementedError

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing, Floats | None]:
        """The target and the weights as they are trained on, and how likely rows are drawn because of their class."""
        return target, Weighing.of(weight), None

    def _default(self) -> Any:
        """The estimator that is meant by None."""
        raise NotImplementedError

    def _kind(self) -> Kind:
        """What members are asked for."""
        raise NotImplementedError

    def _set_out_of_bag(self, found: OutOfBag, given: BaggingInput, score: Callable[..., float]) -> None:
        """Out-of-bag results, as attributes."""
        raise NotImplementedError

    # Base class.

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # What is no estimator is said so by fit, not by whoever asks for tags.
        known = hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type)
        narrow_tags(tags, [self.estimator if known else self._default()])
        return tags

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        if self._fits_each(X, y, sample_weight=sample_weight):
            return
        base = self._default() if values["estimator"] is None else values["estimator"]
        check_base(base, self)
        distributions = dict(values["param_distributions"] or {})
        check_distributions(distributions, base, self._owner)
        earlier: BaggedMembers | None = getattr(self, "_members", None) if values["warm_start"] else None
        self._check_more(earlier, values)
        target = self._read_target(y, None if earlier is None else getattr(self, "classes_", None))
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        given = BaggingInput(X, *self._weighed(target, weight, values))
        score = read_oob_score(values["oob_score"], self)
        for name in ("oob_score_", "oob_prediction_", "oob_decision_function_"):
            vars(self).pop(name, None)
        self.estimator_ = clone(base)  # whatever becomes of the one that was given
        shares = can_share(base, distributions) and (earlier is None or isinstance(earlier, TreeMembers))
        fit = self._fit_trees if shares else self._fit_others
        found = fit(values, given, earlier, distributions)
        if score is not None and found is not None:
            warn_without_out_of_bag(found, given.weighing.given, self._owner)
            self._set_out_of_bag(found, given, score)

    def _fit_trees(self, values: Values, given: BaggingInput, earlier: Any, distributions: Values) -> OutOfBag | None:
        """Members that share one coded table."""
        marked, weight = self.estimator_.categorical_features, given.weighing.given
        known = None if earlier is None else earlier.schema
        schema, table = read_training(given.X, marked, weight, given.target.n_rows, self._owner, known, told=False)
        if columns_of_many(schema, self.estimator_.categorical_encoding):
            return self._fit_others(values, given, earlier, distributions)  # statistics of the target are of the rows of each member
        schema.warn_merged(self._owner)
        self._set_header(schema.header)
        task = self._task(values, given, distributions, earlier)
        shared = SharedTable(task, schema, table, weight, self._threads)
        numbers = range(0 if earlier is None else len(earlier), values["n_estimators"])
        trees = self._gathered(shared.trees(numbers), numbers, values) if numbers else []
        if trees or earlier is None:
            self._set_fitted(TreeMembers.of(task, schema, [*([] if earlier is None else [earlier.forest]), *trees]), task.resampling)
        if values["oob_score"] is False:
            return None
        assert isinstance(self._members, TreeMembers)
        answers = self._members.out_of_bag(table, self._kind(), self._threads)
        return out_of_bag(answers, table.n_rows, self._width(given.target))

    def _fit_others(self, values: Values, given: BaggingInput, earlier: Any, distributions: Values) -> OutOfBag | None:
        """Members of any kind."""
        table = AnyTable.of(given.X, None if earlier is None else earlier.header, self._owner)
        check_lengths(self._owner, table.n_rows, given.target.n_rows)
        self._set_header(table.header)
        task = self._task(values, given, distributions, earlier)
        table = replace(table, encoded=shared_codes(task, given.X, given.weighing.given, self._threads))
        numbers = range(0 if earlier is None else len(earlier), values["n_estimators"])
        fitted = self._gathered(trained(task, table, numbers, self._threads), numbers, values) if numbers else []
        before = () if earlier is None else earlier.fitted
        members = EstimatorMembers(table.header, task.resampling, given.target.classes, (*before, *fitted))
        self._set_fitted(members, task.resampling)
        if values["oob_score"] is False:
            return None
        return out_of_bag(members.out_of_bag(table, self._kind(), self._threads), table.n_rows, self._width(given.target))

    def _gathered(self, members: Iterator[Any], numbers: range, values: Values) -> list[Any]:
        return gathered(members, numbers.start, numbers.stop, self._owner, bool(values["verbose"]), values["callbacks"] or ())

    def _width(self, target: Target) -> int:
        """Numbers that a member predicts for a row."""
        return {"numbers": 1, "probabilities": target.n_classes, "ballots": target.n_classes + 1}[self._kind()]

    def _task(self, values: Values, given: BaggingInput, distributions: Values, earlier: Any) -> BagTask:
        """What is to be trained."""
        n_rows, n_columns = given.target.n_rows, self.n_features_in_
        units, weight = given.weighing.of_rows(n_rows)
        disjoint, n_units = values["bootstrap"] == "disjoint", n_rows if units is None else int(units.sum())
        more = values["bootstrap"] is True
        resampling = Resampling(
            seed=seed_of(values["random_state"]) if earlier is None else earlier.resampling.seed,
            n_rows=n_rows,
            n_draws=rows_of_fragment(values, n_units, self._owner) if disjoint else rows_drawn(values, n_units, self._owner, more=more),
            replace=more,
            n_fragments=values["n_estimators"] if disjoint else 0,
            n_columns=n_columns,
            n_drawn_columns=feature_count(values["max_features"], n_columns, n_columns, "max_features", self._owner),
            replace_columns=values["bootstrap_features"],
            units=units,
            probability=given.probability,
        )
        if weight is not None and not takes_weight(self.estimator_):
            if disjoint:
                raise ParameterError(
                    f"{self._owner}: with bootstrap='disjoint' every row is given to one member, and "
                    f"{type(self.estimator_).__name__} takes no weights. Give whole weights, an estimator that takes weights, or set "
                    "bootstrap=True."
                )
            probability = weight if given.probability is None else weight * given.probability
            resampling, weight = replace(resampling, probability=probability), None
        check_oob(values, resampling, self._owner)
        if earlier is not None:
            check_same_draws(resampling, earlier.resampling, self._owner)
        return BagTask(
            self.estimator_,
            resampling,
            given.target,
            weight,
            values["n_estimators"],
            self._owner,
            values["smear"],
            values.get("flip_rate", 0.0),
            distributions,
        )

    def _check_more(self, earlier: BaggedMembers | None, values: Values) -> None:
        if earlier is not None and type(values["estimator"] or self._default()) is not type(self.estimator_):
            raise ParameterError(
                f"{self._owner}: warm_start=True adds to members that are of {type(self.estimator_).__name__}, but estimator is now "
                f"{values['estimator']!r}. Give the same estimator, or set warm_start=False."
            )
        there, wanted = 0 if earlier is None else len(earlier), values["n_estimators"]
        if wanted < there:
            raise ParameterError(
                f"{self._owner}: n_estimators={wanted} is less than the {there} members that are there already, and warm_start=True only "
                "adds to them. Raise n_estimators, or set warm_start=False."
            )

    def _set_fitted(self, members: BaggedMembers, resampling: Resampling) -> None:
        self._members, self._resampling = members, resampling

    # What there is to ask of a bag.

    @property
    def estimators_(self) -> list[Any]:
        """The members, each trained."""
        check_is_fitted(self)
        return self._members.estimators()

    @property
    def estimators_samples_(self) -> list[Integers]:
        """The rows that each member was trained on, ascending, a row as often as it was drawn."""
        check_is_fitted(self)
        return [self._resampling.rows(member) for member in range(len(self._members))]

    @property
    def estimators_features_(self) -> list[Integers]:
        """The columns that each member was trained on, ascending, a column as often as it was drawn."""
        check_is_fitted(self)
        return [self._resampling.columns(member) for member in range(len(self._members))]

    @property
    def feature_importances_(self) -> Floats:
        """The mean over members of the importance of each column; a column that a member has not seen has none there."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for member, columns in zip(self.estimators_, self.estimators_features_, strict=True):
            given = np.unique(columns) if hasattr(self, "feature_names_in_") else columns
            np.add.at(total, given, member.feature_importances_)
        return total / len(self._members)

    def oob_error(self, X: Any, y: Any, sample_weight: Any = None) -> OutOfBagError:
        """The squared error that the bag will have on new rows, with its standard error: give the rows of the training once more.

        A row is scored by the members that have not seen it, about a third of a bootstrap bag, whose mean is noisier than that of all. That
        part is estimated from how much these members differ, and taken away (after an idea of Wolpert & Macready 1999; the formula is
        derived in docs/algorithms/bagging.md). For classes it is the squared error of the probabilities, or of the votes where those are
        counted, summed over the classes (Brier).

        Parameters
        ----------
        X, y, sample_weight
            What `fit` was given.

        Returns
        -------
        OutOfBagError
            `error` as it is measured, `corrected` for the whole bag, and the `standard_error` of the latter.
        """
        check_is_fitted(self)
        self._require_one_target()
        kind = self._kind()
        trees = isinstance(self._members, TreeMembers)
        table = self._members.schema.read(X, owner=self._owner) if trees else AnyTable.of(X, self._members.header, self._owner)  # type: ignore[attr-defined]
        target = self._read_target(y, getattr(self, "classes_", None))
        check_lengths(self._owner, table.n_rows, target.n_rows)
        if table.n_rows != self._resampling.n_rows or not self._resampling.leaves_rows_out:
            raise ParameterError(
                f"{self._owner}: oob_error needs the {self._resampling.n_rows:,} rows of the training, and members that have not seen all "
                f"of them; given are {table.n_rows:,} rows. Train with bootstrap=True or max_samples, and give the same table."
            )
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        truth = np.eye(target.n_classes)[target.y] if target.n_classes else target.y.astype(np.float64).reshape(-1, 1)
        answers: Any = self._members.out_of_bag(table, kind, self._threads)  # type: ignore[attr-defined]
        return out_of_bag_error(((rows, one[:, : truth.shape[1]]) for rows, one in answers), truth, weight, len(self._members))

    def _total(self, X: Any, kind: Kind) -> Floats:
        check_is_fitted(self)
        self._require_one_target()
        return require_finite(self._members.total(X, kind, self._owner, self._threads), self._owner)

    def _staged(self, X: Any, kind: Kind) -> Iterator[Floats]:
        check_is_fitted(self)
        self._require_one_target()
        return (require_finite(one, self._owner) for one in self._members.staged(X, kind, self._owner, self._threads))


def _members_decide(bag: Any) -> bool:
    """Whether members have a decision function."""
    base = getattr(bag, "estimator_", bag.estimator)
    return base is not None and hasattr(base, "decision_function") and has_one_target(bag)


@knobs
class BaggingClassifier(
    BagParams, BagClassifierParams, DiversityParams, RunParams, BaseBagging, LogProbabilityMixin, ClassifierMixin, BaseEstimator
):
    """Bagging for classification.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_classes_ : int
        How many there are.
    {model}
    oob_decision_function_ : array of shape (n_rows, n_classes)
        Mean probabilities, or shares of votes, of the members that have not seen a row; NaN where there is none.
    oob_prediction_ : array of shape (n_rows,)
        The labels that follow from them; where there is none, the first class.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.9)
    True
    """

    def _default(self) -> Any:
        return DecisionTreeClassifier()

    def _kind(self) -> Kind:
        check_is_fitted(self)
        soft = self.voting == "soft" and hasattr(self.estimator_, "predict_proba")
        return "probabilities" if soft else "ballots"

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        return read_labels(y, self._owner, known)

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing, Floats | None]:
        probability = class_factors(values["class_weight"], weight, target, self._owner) if values["bootstrap"] is True else None
        if probability is None:
            target, weighing = weighed_classes(target, weight, values["class_weight"], self._owner)
        else:
            # Rows of a class that weighs nothing are absent; others are drawn as their class weighs.
            there = (probability > 0.0).astype(np.float64)
            target, weighing = weighed_classes(target, there if weight is None else weight * there, None, self._owner)
        self.classes_ = np.asarray(target.classes)
        self.n_classes_ = target.n_classes
        most = largest_rate(class_probabilities(target.y, weighing.given, target.n_classes))
        if values["flip_rate"] > most:
            raise ParameterError(
                f"{self._owner}: flip_rate={values['flip_rate']} is too much for these classes: when {most:.3f} of the labels are another "
                "class and the class probabilities are kept, labels no longer depend on the rows. Give less."
            )
        return target, weighing, probability

    def _set_out_of_bag(self, found: OutOfBag, given: BaggingInput, score: Score) -> None:
        scored = found.voters > 0
        if self._kind() == "ballots":
            predicted, chosen = ballot_fractions(found.total, np.where(scored, found.voters, 1)), winners(found.total)
            predicted[~scored] = np.nan
        else:
            predicted, chosen = found.mean(), found.total.argmax(axis=1)
        self.oob_decision_function_ = predicted
        chosen[~scored] = 0
        self.oob_prediction_: NDArray[Any] = self.classes_[chosen]
        weight = given.weighing.given
        scored &= True if weight is None else weight > 0.0
        truth = given.target.labels()
        of_scored = None if weight is None else weight[scored]
        self.oob_score_ = score(truth[scored], self.oob_prediction_[scored], predicted[scored], of_scored) if scored.any() else np.nan

    # Prediction.

    def _labels(self, total: Floats) -> NDArray[Any]:
        best = winners(total) if self._kind() == "ballots" else total.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def _probabilities(self, total: Floats, members: int) -> Floats:
        return ballot_fractions(total, members) if self._kind() == "ballots" else total / members

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest mean probability, of equals the first; or with the most votes, of equals one by luck.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return np.asarray(self._each("predict", X)) if self._has_several else self._labels(self._total(X, self._kind()))

    def predict_proba(self, X: Any) -> Any:
        """Mean probabilities, or shares of the votes, (n_rows, n_classes), in the order of `classes_`; of several targets a list."""
        if self._has_several:
            return self._each("predict_proba", X)
        return self._probabilities(self._total(X, self._kind()), len(self._members))

    @available_if(_members_decide)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The mean of what the decision functions of the members say, where they have one."""
        return self._total(X, "decisions") / len(self._members)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The labels that the first member predicts, the first two together, and so on."""
        for total in self._staged(X, self._kind()):
            yield self._labels(total)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities that the first member gives, the first two together, and so on."""
        for members, total in enumerate(self._staged(X, self._kind()), 1):
            yield self._probabilities(total, members)


@knobs
class BaggingRegressor(BagParams, DiversityParams, RunParams, BaseBagging, RegressorMixin, BaseEstimator):
    """Bagging for regression.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    oob_prediction_ : array of shape (n_rows,)
        The mean prediction of the members that have not seen a row; NaN where there is none.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.3)
    True
    """

    def _default(self) -> Any:
        return DecisionTreeRegressor()

    def _kind(self) -> Kind:
        return "numbers"

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        return read_regression_target(y, self._owner)

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing, Floats | None]:
        target, weighing, probability = super()._weighed(target, weight, values)
        warn_constant(weighing.at(target.y), self._owner)
        return target, weighing, probability

    def _set_out_of_bag(self, found: OutOfBag, given: BaggingInput, score: Score) -> None:
        scored = found.voters > 0
        self.oob_prediction_ = found.mean()[:, 0]
        weight = given.weighing.given
        scored = scored if weight is None else scored & (weight > 0.0)
        truth, of_scored = given.target.y[scored], None if weight is None else weight[scored]
        self.oob_score_ = score(truth, self.oob_prediction_[scored], None, of_scored) if scored.any() else np.nan

    def predict(self, X: Any) -> Floats:
        """The mean of what the members predict.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return np.asarray(self._each("predict", X)) if self._has_several else self._total(X, "numbers")[:, 0] / len(self._members)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The mean of what the first member predicts, the first two, and so on."""
        for members, total in enumerate(self._staged(X, "numbers"), 1):
            yield total[:, 0] / members
