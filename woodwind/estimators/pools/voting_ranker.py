"""Several rankers as one: blended scores, Borda counts or reciprocal ranks."""

import inspect
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key, seed_of
from woodwind.base.validate import require, require_finite
from woodwind.data.tables.queries import QueryRows
from woodwind.data.tables.schema import Schema
from woodwind.ensemble.rank_fusion import borda_points, greedy_weights, reciprocal_points, spread_within
from woodwind.estimators.base.model import COLUMNS, BaseModel, all_or_nothing, check_lengths, row_count
from woodwind.estimators.base.model_checks import require_model
from woodwind.estimators.base.scoring import rows_of_table
from woodwind.estimators.base.splits import SplitRequest, read_folds
from woodwind.estimators.base.target import Target, read_regression_target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.boosting.gradient_boosting_ranker import GROUP, RANKING_DATA, GradientBoostingRanker
from woodwind.estimators.boosting.queries import read_positions, read_queries
from woodwind.losses.ranking import RANKING
from woodwind.metrics.queries import QueryMetric, mean_over_queries
from woodwind.params.check import check
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.ranking import FusionParams
from woodwind.params.unknown import known_arguments

Floats = NDArray[np.float64]


class _RankedRows(NamedTuple):
    """What members learn of rows, beside their columns."""

    y: Floats
    weight: Floats | None
    number: NDArray[np.int64]  # of the query
    position: NDArray[Any] | None


Values = dict[str, Any]


@knobs
class VotingRanker(FusionParams, WorkParams, BaseModel, BaseEstimator):
    """Several rankers as one.

    Members are trained on the same rows. Their scores are blended, or the ranks that they give to the documents of a query are.

    {parameters}

    Attributes
    ----------
    rankers_ : list of estimators
        The members, trained.
    names_ : list of str
        Their names.
    weights_ : array of shape (n_members,)
        How much each counts; they add up to one.
    {columns}

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind import GradientBoostingRanker, VotingRanker
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.random((200, 3)), np.repeat(np.arange(20), 10)
    >>> relevance = np.floor(4 * X[:, 0])
    >>> members = [GradientBoostingRanker(loss=loss, n_estimators=10) for loss in ("lambdamart", "listwise_softmax")]
    >>> model = VotingRanker(members, fusion="borda").fit(X, relevance, group=query)
    >>> bool(model.score(X, relevance, group=query) > 0.9)
    True
    """

    _docstring_parts: ClassVar[dict[str, str]] = {"columns": COLUMNS}
    _state: ClassVar[dict[str, Any]] = {
        "schema_": Schema,
        "rankers_": list[Any],
        "names_": list[str],
        "weights_": Floats,
        "_spreads": Floats,
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    @known_arguments
    @fill_docstring(data=RANKING_DATA, group=GROUP)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None, position: Any = None) -> Self:
        """Train all members.

        Parameters
        ----------
        {data}
        {group}
        position : sequence of labels, one for each row, default=None
            The position at which each document was shown, for members that learn from clicks: all of them must take it, as
            `GradientBoostingRanker` does. Weights that are found out of fold are compared by the clicks as they are.

        Returns
        -------
        self
        """
        values = check(self)
        with all_or_nothing(self):
            self._fit_members(values, X, y, sample_weight, group, position)
        return self

    def _fit_members(self, values: Values, X: Any, y: Any, sample_weight: Any, group: Any, position: Any) -> None:
        names, members = self._members(values)
        seed = seed_of(values["random_state"])
        members = [_with_seed(member, key(seed, "member", position) % (1 << 31)) for position, member in enumerate(members)]
        target = read_regression_target(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        check_lengths(self._owner, row_count(X), target.n_rows)
        rows = _RankedRows(
            target.y, weight, read_queries(group, target.n_rows, self._owner).number,
            None if position is None else read_positions(position, target.n_rows, self._owner)[0],
        )  # fmt: skip
        number = rows.number
        self._check_weights(values["weights"], len(members))
        self.schema_, table = Schema.learn(X, None, weight=weight, owner=self._owner)
        self._set_header(self.schema_.header)
        check_lengths(self._owner, table.n_rows, target.n_rows)
        every = np.arange(target.n_rows)
        queries = QueryRows.of(number)
        if isinstance(values["weights"], str):
            self.weights_ = self._found_weights(members, X, target, rows, values["cv"], seed)
        else:
            given = np.ones(len(members)) if values["weights"] is None else np.asarray(values["weights"], np.float64)
            self.weights_ = given / given.sum()
        self.names_ = names
        self.rankers_ = [self._trained(member, X, every, rows) for member in members]
        if not isinstance(values["weights"], str):
            self._spreads = np.array([spread_within(self._scores(member, X), queries, weight) for member in self.rankers_])

    def _members(self, values: Values) -> tuple[list[str], list[Any]]:
        given = values["estimators"]
        if given is None:
            options = {"random_state": values["random_state"], "n_jobs": values["n_jobs"]}
            given = [(loss, GradientBoostingRanker(loss=loss, **options)) for loss in RANKING]
        if isinstance(given, dict):
            given = list(given.items())
        if not isinstance(given, list | tuple) or not given:
            raise ParameterError(f"{self._owner}: estimators must be a list of rankers or of (name, ranker), not {given!r}.")
        named = [one if isinstance(one, tuple) else (type(one).__name__.lower(), one) for one in given]
        names = [str(name) if [other for other, _ in named].count(name) == 1 else f"{name}-{at}" for at, (name, _) in enumerate(named, 1)]
        for name, (_, member) in zip(names, named, strict=True):
            if not (hasattr(member, "fit") and hasattr(member, "predict") and hasattr(member, "get_params")):
                raise ParameterError(f"{self._owner}: the member {name!r} must be an estimator with fit and predict, not {member!r}.")
        return names, [member for _, member in named]

    def _check_weights(self, weights: Any, count: int) -> None:
        if weights is None or (isinstance(weights, str) and weights == "optimal"):
            return
        try:
            read = np.asarray(weights, np.float64)
        except (TypeError, ValueError):
            read = np.zeros(0)
        if read.shape != (count,) or not np.isfinite(read).all() or (read < 0.0).any() or not read.any():
            raise ParameterError(
                f"{self._owner}: weights must be None, 'optimal', or {count} numbers, one for each member, not negative and not all zero, "
                f"but it is {weights!r}."
            )

    def _trained(self, member: Any, X: Any, rows: NDArray[np.int64], given: "_RankedRows") -> Any:
        """A copy of a member that has learned some rows."""
        whole = len(rows) == len(given.y)
        taken = inspect.signature(member.fit).parameters
        more: dict[str, Any] = {"group": given.number[rows]} if "group" in taken else {}
        for name, values in (("sample_weight", given.weight), ("position", given.position)):
            if values is None:
                continue
            if name not in taken:
                raise DataError(f"{self._owner}: {name} was given, and {type(member).__name__} takes none. Leave one of them out.")
            more[name] = values[rows]
        return clone(member).fit(X if whole else rows_of_table(X, rows), given.y[rows], **more)

    def _found_weights(self, members: list[Any], X: Any, target: Target, given: "_RankedRows", cv: Any, seed: int) -> Floats:
        """Weights for which the mean NDCG of queries that members have not learned is largest."""
        weight, number = given.weight, given.number
        folds = read_folds(cv, X, SplitRequest(self._owner, target, number, seed))
        rows = np.sort(np.concatenate([held for _, held in folds]))
        scores = np.zeros((len(members), target.n_rows))
        for learned, held in folds:
            part = rows_of_table(X, held)
            for own, member in zip(scores, members, strict=True):
                # Each fold has a level of its own, which means nothing between queries.
                own[held] = self._scores(self._trained(member, X, learned, given), part)
        queries, some = QueryRows.of(number[rows]), None if weight is None else weight[rows]
        out_of_fold = [np.ascontiguousarray(own[rows]) for own in scores]
        self._spreads = np.array([spread_within(own, queries, some) for own in out_of_fold])
        evaluate = QueryMetric().prepared(target.y[rows], queries, self._threads)
        by_query = None if some is None else queries.means(some)
        return greedy_weights(self._points(out_of_fold, queries), lambda one: mean_over_queries(evaluate(one), by_query)[0])

    def _scores(self, member: Any, X: Any) -> Floats:
        return np.ascontiguousarray(member.predict(X), np.float64).reshape(-1)

    def _points(self, scores: list[Floats], queries: QueryRows | None) -> Floats:
        """What members say of each row, in units that can be added: (m, n)."""
        if self.fusion == "blend" or queries is None:
            return np.array([one / spread for one, spread in zip(scores, self._spreads, strict=True)])
        points = borda_points if self.fusion == "borda" else reciprocal_points
        return np.array([points(one, queries) for one in scores])

    @fill_docstring(group=GROUP)
    def predict(self, X: Any, group: Any = None) -> Floats:
        """The score of each row: within a query, the higher the better; between queries it says nothing.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.
        {group}
        """
        check_is_fitted(self)
        n_rows = self.schema_.read(X, owner=self._owner).n_rows
        queries = None
        if self.fusion != "blend":
            queries = QueryRows.of(read_queries(group, n_rows, self._owner).number)
        points = self._points([self._scores(member, X) for member in self.rankers_], queries)
        return require_finite((points * self.weights_[:, None]).sum(axis=0), self._owner)

    @fill_docstring(group=GROUP)
    def score(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None) -> float:
        """The mean NDCG over queries; a query in which nothing is relevant counts 0.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with.
        y : sequence of numbers, one for each row
            The relevance of each document.
        sample_weight : sequence of numbers, one for each row, default=None
            A query counts by the mean weight of its rows.
        {group}

        Returns
        -------
        float
        """
        scores, target = self.predict(X, group), read_regression_target(y, self._owner)
        check_lengths(self._owner, len(scores), target.n_rows)
        queries = QueryRows.of(read_queries(group, target.n_rows, self._owner).number)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        return QueryMetric().value(target.y, scores, queries, None if weight is None else queries.means(weight), self._threads)

    def _check_state(self) -> None:
        """There are a name, a weight and a spread for each member, and all have the columns of the whole."""
        count = len(self.rankers_)
        require(count > 0 and len(self.names_) == count, "there are other names than members")
        require(self.weights_.shape == (count,) and self._spreads.shape == (count,), "there are other weights than members")
        require(bool(np.isfinite(self.weights_).all() and (self._spreads > 0.0).all()), "weights or spreads are no numbers")
        require(self.schema_.n_inputs == self.n_features_in_, "the model has another number of columns than its schema")
        for name, member in zip(self.names_, self.rankers_, strict=True):
            require_model(member, f"the member {name!r}", classes=None, n_columns=self.n_features_in_)


def _with_seed(member: Any, seed: int) -> Any:
    """A copy of a member; where it draws and nothing was said, by a seed of its own."""
    copy = clone(member)
    if copy.get_params(deep=False).get("random_state", seed) is None:
        copy.set_params(random_state=seed)
    return copy
