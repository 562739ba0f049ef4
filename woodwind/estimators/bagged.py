"""Bagging for both tasks: from a table and a target to members, and from members to what they say together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.sound import finite
from woodwind.base.streams import seed_of
from woodwind.ensemble.bag import gathered
from woodwind.ensemble.drawing import Drawing
from woodwind.ensemble.out_of_bag import OutOfBag, out_of_bag
from woodwind.estimators.bag_checks import (
    check_base,
    check_distributions,
    check_oob,
    check_same_draws,
    read_oob_score,
    rows_drawn,
    tell_of_silent,
)
from woodwind.estimators.composed import narrow_tags
from woodwind.estimators.members import AnyMembers, Kind, Members, TableOfAny, Task, shared_codes, takes_weight, trained
from woodwind.estimators.plan import feature_count
from woodwind.estimators.skin import COLUMNS, Skin, check_lengths, read_training
from woodwind.estimators.target import Target
from woodwind.estimators.tree_members import SharedTable, TreeMembers, can_share
from woodwind.estimators.weights import Weighing, read_weight

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
"""


@dataclass(frozen=True, eq=False)
class Given:
    """What fit was given, read and checked."""

    X: Any
    target: Target
    weighing: Weighing
    chance: Floats | None  # how likely a row is drawn because of its class; None: all alike


class Bagging(Skin):
    """What both kinds of bag share. `fit` sets `estimator_` and the members."""

    _told: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL, "columns": COLUMNS}
    estimator: Any
    _members: Members
    _drawing: Drawing

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

    def _keep_out_of_bag(self, found: OutOfBag, given: Given, score: Callable[..., float]) -> None:
        """Out-of-bag results, as attributes."""
        raise NotImplementedError

    # Skin.

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # What is no estimator is said so by fit, not by whoever asks for tags.
        known = hasattr(self.estimator, "__sklearn_tags__") and not isinstance(self.estimator, type)
        narrow_tags(tags, [self.estimator if known else self._default()])
        return tags

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any) -> None:
        base = self._default() if values["estimator"] is None else values["estimator"]
        check_base(base, self)
        distributions = dict(values["param_distributions"] or {})
        check_distributions(distributions, base, self._owner)
        earlier: Members | None = getattr(self, "_members", None) if values["warm_start"] else None
        self._check_more(earlier, values)
        target = self._read_target(y, None if earlier is None else getattr(self, "classes_", None))
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        given = Given(X, *self._weighed(target, weight, values))
        score = read_oob_score(values["oob_score"], self)
        for name in ("oob_score_", "oob_prediction_", "oob_decision_function_"):
            vars(self).pop(name, None)
        self.estimator_ = clone(base)  # whatever becomes of the one that was given
        fit = self._fit_trees if can_share(base, distributions) else self._fit_others
        found = fit(values, given, earlier, distributions)
        if score is not None and found is not None:
            tell_of_silent(found, given.weighing.given, self._owner)
            self._keep_out_of_bag(found, given, score)

    def _fit_trees(self, values: Values, given: Given, earlier: Any, distributions: Values) -> OutOfBag | None:
        """Members that share one coded table."""
        marked, weight = self.estimator_.categorical_features, given.weighing.given
        known = None if earlier is None else earlier.schema
        schema, table = read_training(given.X, marked, weight, given.target.n_rows, self._owner, known)
        self._keep_header(schema.header)
        task = self._task(values, given, distributions, earlier)
        shared = SharedTable(task, schema, table, weight, self._threads)
        numbers = range(0 if earlier is None else len(earlier), values["n_estimators"])
        trees = self._gathered(shared.trees(numbers), numbers, values) if numbers else []
        if trees or earlier is None:
            self._keep(TreeMembers.of(task, schema, [*([] if earlier is None else [earlier.forest]), *trees]), task.drawing)
        if values["oob_score"] is False:
            return None
        assert isinstance(self._members, TreeMembers)
        answers = self._members.out_of_bag(table, self._kind(), self._threads)
        return out_of_bag(answers, table.n_rows, self._width(given.target))

    def _fit_others(self, values: Values, given: Given, earlier: Any, distributions: Values) -> OutOfBag | None:
        """Members of any kind."""
        table = TableOfAny.of(given.X, None if earlier is None else earlier.header, self._owner)
        check_lengths(self._owner, table.n_rows, given.target.n_rows)
        self._keep_header(table.header)
        task = self._task(values, given, distributions, earlier)
        table = replace(table, encoded=shared_codes(task, given.X, given.weighing.given, self._threads))
        numbers = range(0 if earlier is None else len(earlier), values["n_estimators"])
        fitted = self._gathered(trained(task, table, numbers, self._threads), numbers, values) if numbers else []
        before = () if earlier is None else earlier.fitted
        members = AnyMembers(table.header, task.drawing, given.target.classes, (*before, *fitted))
        self._keep(members, task.drawing)
        if values["oob_score"] is False:
            return None
        return out_of_bag(members.out_of_bag(table, self._kind(), self._threads), table.n_rows, self._width(given.target))

    def _gathered(self, members: Iterator[Any], numbers: range, values: Values) -> list[Any]:
        return gathered(members, numbers.start, numbers.stop, self._owner, bool(values["verbose"]), values["callbacks"] or ())

    def _width(self, target: Target) -> int:
        """Numbers that a member says of a row."""
        return {"numbers": 1, "probabilities": target.n_classes, "ballots": target.n_classes + 1}[self._kind()]

    def _task(self, values: Values, given: Given, distributions: Values, earlier: Any) -> Task:
        """What is to be trained."""
        n_rows, n_columns = given.target.n_rows, self.n_features_in_
        units, weight = given.weighing.of_rows(n_rows)
        drawing = Drawing(
            seed=seed_of(values["random_state"]) if earlier is None else earlier.drawing.seed,
            n_rows=n_rows,
            n_draws=rows_drawn(values, n_rows if units is None else int(units.sum()), self._owner, more=values["bootstrap"]),
            replace=values["bootstrap"],
            n_columns=n_columns,
            n_drawn_columns=feature_count(values["max_features"], n_columns, n_columns, "max_features", self._owner),
            replace_columns=values["bootstrap_features"],
            units=units,
            chance=given.chance,
        )
        if weight is not None and not takes_weight(self.estimator_):
            chance = weight if given.chance is None else weight * given.chance
            drawing, weight = replace(drawing, chance=chance), None
        check_oob(values, drawing, self._owner)
        if earlier is not None:
            check_same_draws(drawing, earlier.drawing, self._owner)
        return Task(
            self.estimator_,
            drawing,
            given.target,
            weight,
            values["n_estimators"],
            self._owner,
            values["smear"],
            values.get("flip_rate", 0.0),
            distributions,
        )

    def _check_more(self, earlier: Members | None, values: Values) -> None:
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

    def _keep(self, members: Members, drawing: Drawing) -> None:
        self._members, self._drawing = members, drawing

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
        return [self._drawing.rows(member) for member in range(len(self._members))]

    @property
    def estimators_features_(self) -> list[Integers]:
        """The columns that each member was trained on, ascending, a column as often as it was drawn."""
        check_is_fitted(self)
        return [self._drawing.columns(member) for member in range(len(self._members))]

    @property
    def feature_importances_(self) -> Floats:
        """The mean over members of the importance of each column; a column that a member has not seen has none there."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for member, columns in zip(self.estimators_, self.estimators_features_, strict=True):
            given = np.unique(columns) if hasattr(self, "feature_names_in_") else columns
            np.add.at(total, given, member.feature_importances_)
        return total / len(self._members)

    def _total(self, X: Any, kind: Kind) -> Floats:
        check_is_fitted(self)
        return finite(self._members.total(X, kind, self._owner, self._threads), self._owner)

    def _staged(self, X: Any, kind: Kind) -> Iterator[Floats]:
        check_is_fitted(self)
        return (finite(one, self._owner) for one in self._members.staged(X, kind, self._owner, self._threads))
