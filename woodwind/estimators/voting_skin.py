"""Voting for both tasks: from members and rows to trained members with weights."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.streams import key, seed_of
from woodwind.estimators.out_of_fold import out_of_fold
from woodwind.estimators.pool import Named, Pool, Saying, header_for, joint_classes, open_table_of, trained_pool
from woodwind.estimators.pool_skin import PoolSkin
from woodwind.estimators.skin import COLUMNS, check_lengths
from woodwind.estimators.target import Target
from woodwind.estimators.validation import read_groups
from woodwind.estimators.weights import read_weight

Floats = NDArray[np.float64]
Values = dict[str, Any]

# For the docstrings of the estimators.
ABOUT = """
Copies of the members are trained on all rows, each with a seed of its own unless it was given one, and are asked together. They may be
models of any kind, also pipelines, and learn labels of any kind. Parameters of a member are set by `name__parameter`. Weights that are
found ('score', 'optimal') are found on rows held out in folds, before the members are trained on all rows; with `prefit` on the rows
that are given.
"""
MODEL = """
estimators_ : list
    The members, each trained; those that were dropped are not there.
named_estimators_ : Bunch
    The same by name.
weights_ : array of shape (n_members,)
    How much each of them counts; the sum is one.
"""


class Voting(PoolSkin, TransformerMixin):
    """What both kinds of voting share. `fit` sets the pool of trained members and their weights."""

    _told: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL, "columns": COLUMNS}
    weights: Any
    _pool: Pool
    _member_weights: Floats | None

    # What each task does in its own way.

    def _read_target(self, y: Any) -> Target:
        raise NotImplementedError

    def _check_members(self, named: list[Named], values: Values) -> None:
        """Raise where members cannot do what they will be asked for."""

    def _weighed(self, target: Target, weight: Floats | None) -> Target:
        """The target that members are trained on."""
        return target

    def _saying(self) -> Saying:
        """What members are asked for."""
        raise NotImplementedError

    def _found_weights(self, said: Floats, target: Target, weight: Floats | None, values: Values) -> Floats:
        """The weights of members by what they say of rows that they have not learnt, (n, m, width)."""
        raise NotImplementedError

    # Skin.

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        named = self._named()
        self._check_members(named, values)
        given = self._read_given_weights(values["weights"])
        target = self._read_target(y)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        groups = read_groups(groups, target.n_rows, self._owner)
        table = open_table_of(X, None, self._owner)
        check_lengths(self._owner, table.n_rows, target.n_rows)
        if values["prefit"]:
            self._take(named, table, target, weight, values)
        else:
            target = self._weighed(target, weight)
            seed = seed_of(values["random_state"])
            found = None
            if isinstance(given, str):
                found = self._weights_out_of_fold(named, table, target, weight, groups, seed, values)
            if target.classes is not None:
                self.classes_ = target.classes
            more = {"threads": self._threads, "owner": self._owner, "verbose": values["verbose"]}
            self._pool = trained_pool(named, table, target, weight, seed=seed, **more)
            self._member_weights = found if isinstance(given, str) else given
        self._keep_header(self._pool.header or table.header)
        self.estimators_ = list(self._pool.members)
        self._name_trained(self.estimators_)
        equal = np.ones(len(self._pool))
        raw = equal if self._member_weights is None else self._member_weights
        self.weights_ = raw / raw.sum()

    def _weights_out_of_fold(
        self, named: list[Named], table: Any, target: Target, weight: Floats | None, groups: Any, seed: int, values: Values
    ) -> Floats:
        """Weights by rows that folds hold out."""
        found = out_of_fold(
            named,
            table,
            target,
            cv=values["cv"],
            groups=groups,
            weight=weight,
            kind=self._saying(),
            seed=key(seed, "weights"),
            threads=self._threads,
            owner=self._owner,
            verbose=values["verbose"],
        )
        judged = found.judged
        return self._found_weights(found.said[judged], target.at(judged), None if weight is None else weight[judged], values)

    def _take(self, named: list[Named], table: Any, target: Target, weight: Floats | None, values: Values) -> None:
        """Members as they are; weights by the rows that are given."""
        header, classes = header_for(values["estimators"], named, table.header), None
        if target.classes is not None:
            classes = joint_classes(named, target.classes)
            places = np.searchsorted(classes, target.classes) if classes is not target.classes else np.arange(target.n_classes)
            target = target.renumbered(places, classes)
            self.classes_ = classes
        self._pool = Pool.of_fitted(named, header, classes, self._owner)
        given = self._read_given_weights(values["weights"])
        if isinstance(given, str):
            said = self._pool.said(table.X, self._saying(), self._owner, self._threads)
            given = self._found_weights(said, target, weight, values)
        self._member_weights = given

    def _read_given_weights(self, weights: Any) -> Floats | str | None:
        """The weights of members that are not dropped; None for equal ones, a word where they are to be found."""
        if weights is None or (isinstance(weights, str) and weights in ("score", "optimal")):
            return weights
        allowed = "None, one number for each member, 'score' or 'optimal'"
        try:
            array = np.asarray(weights, np.float64) if not isinstance(weights, str | dict) else None
        except (TypeError, ValueError):
            array = None
        if array is None or array.ndim != 1:
            raise ParameterError(f"{self._owner}: weights must be {allowed}, but it is {weights!r}.")
        pairs = self._pairs() or [(member.name, member.estimator) for member in self._named()]
        if len(array) != len(pairs):
            raise ParameterError(
                f"{self._owner}: Number of `estimators` and weights must be equal; got {len(array)} weights, {len(pairs)} estimators: "
                f"{', '.join(name for name, _ in pairs[:10])}. Give one for each, also for those that are dropped."
            )
        if not np.isfinite(array).all() or (array < 0.0).any():
            raise ParameterError(f"{self._owner}: weights must be numbers of at least 0, but they are {weights!r}.")
        array = array[[not isinstance(one, str) for _, one in pairs]]
        if not array.any():
            raise ParameterError(f"{self._owner}: weights are zero for every member, so that nobody would be asked. Raise one of them.")
        return array

    # Prediction.

    def _ask(self, X: Any, saying: Saying) -> Floats:
        check_is_fitted(self)
        return self._pool.said(X, saying, self._owner, self._threads)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_pool")

    def _names_out(self) -> list[str]:
        return [f"{self._owner.lower()}_{name}" for name in self._pool.names]
