"""Gradient boosting for rankings."""

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.validate import require, require_shapes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.ranks import Ranking
from woodwind.data.tables.queries import QueryRows
from woodwind.ensemble.boosting import auto_defaults
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.early_stopping import Evaluator, add_trees
from woodwind.ensemble.boosting.training import StoppingRule, TrainedBoosting, WatchedRows
from woodwind.ensemble.boosting.training_rows import TrainingRows
from woodwind.estimators.base.model import all_or_nothing, check_lengths, named_owner
from woodwind.estimators.base.scoring import EvaluationCurves, WatchedMetric
from woodwind.estimators.base.target import Target, read_regression_target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.boosting.block_input import opened_input
from woodwind.estimators.boosting.gradient_boosting_base import BaseGradientBoosting
from woodwind.estimators.boosting.plan import Values
from woodwind.estimators.boosting.queries import GivenEvalSets, GivenGroups, read_positions, read_queries, weighed_queries
from woodwind.estimators.boosting.training_input import BoostingInput, EvaluatedRows, ValidationSet, ValidationSplit
from woodwind.estimators.boosting.warm_start import WarmStartState
from woodwind.losses.base import Loss
from woodwind.losses.ranking import RANKING, BoundRankingLoss, RankingLoss, ShownPositions, ranking_loss
from woodwind.metrics.queries import QueryMetric, mean_over_queries, query_metric
from woodwind.params.check import check
from woodwind.params.groups import BinParams, BoostParams, ClusterParams, ConstraintParams, RunParams, SampleParams, StopParams, TreeParams
from woodwind.params.knobs import knobs, spelled
from woodwind.params.ranking import RankParams
from woodwind.params.unknown import known_arguments

RANKING_DATA = """
X : table
    A row for each document of each query: a NumPy array, a SciPy sparse matrix, a frame of pandas or polars, an Arrow table, a list of
    rows; numbers, text, categories, dates and missing values as they come.
y : sequence of numbers, one for each row
    The relevance of each document to its query: 0 for none, more for more; not negative.
sample_weight : sequence of numbers, one for each row, default=None
    Weights that are the same for all rows of a query are weights of queries. Of others, a row of weight zero is absent, one of weight two
    is a document that is there twice, and fractions multiply the derivatives of their row.
"""
GROUP = """
group : sequence, default=None
    Which rows are of one query: a label for each row, of any kind and in any order; or, in fewer numbers than there are rows, how many rows
    each query has, one after the other. None ranks all rows as one query.
"""
POSITION = """
position : sequence of labels, one for each row, default=None
    Where each document was shown when its relevance was seen by clicks: at the top more is clicked, whatever it is worth. A bias of each
    position is then taken out of what trees learn, and `predict` knows nothing of it. None: the relevance is what it is.
"""
QUERY_WEIGHT = """
query_weight : dict from label to weight, or sequence of numbers, default=None
    How much each query counts; a sequence has them in the order in which queries first come.
"""


@knobs
class GradientBoostingRanker(
    BoostParams,
    RankParams,
    TreeParams,
    BinParams,
    SampleParams,
    ConstraintParams,
    StopParams,
    ClusterParams,
    RunParams,
    BaseGradientBoosting,
    BaseEstimator,
):
    """Gradient boosting for rankings: learning to rank the documents of queries.

    Scores rank the documents of one query; those of different queries are not to be compared. With enough queries, some are held out to
    find the number of rounds, and then given back: the leaves of all trees are fitted once more from all rows. No query is divided.

    {parameters}

    Attributes
    ----------
    positions_ : array of shape (n_positions,)
        The positions in order, where `fit` was given `position`.
    position_bias_ : array of shape (n_positions,)
        What each of them adds to the score, with a mean of zero over the rows.
    {model}
    {columns}

    Notes
    -----
    {auto}

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind import GradientBoostingRanker
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.random((200, 3)), np.repeat(np.arange(20), 10)
    >>> relevance = np.floor(4 * X[:, 0])
    >>> model = GradientBoostingRanker(n_estimators=20, random_state=0).fit(X, relevance, group=query)
    >>> bool(model.score(X, relevance, group=query) > 0.9)
    True
    """

    _optional_state: ClassVar[dict[str, Any]] = {"positions_": NDArray[Any], "position_bias_": NDArray[np.float64]}

    loss: Annotated[
        Any,
        spelled(f"{', '.join(map(repr, RANKING))} or a loss object"),
        "What is minimised: 'lambdamart' weighs pairs of documents by what a metric gains where they are swapped, 'pairwise_logistic' "
        "counts all pairs alike, 'listwise_softmax' compares whole lists. Other libraries' names for it, such as 'rank:ndcg', are "
        "understood. An object carries its own numbers, as in loss=woodwind.losses.LambdaMART(metric='map').",
    ] = "lambdamart"
    scoring: Annotated[
        str | list | tuple | None,
        "What is watched, and what `score` gives: 'ndcg', 'map' or 'mrr', with the ranks that count as in 'ndcg@10'; None for 'ndcg'. Of "
        "several in a list, the first is stopped by, and `evals_result_` has the curves of all.",
    ] = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    @known_arguments
    @fill_docstring(data=RANKING_DATA, group=GROUP, query_weight=QUERY_WEIGHT, position=POSITION)
    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        group: Any = None,
        query_weight: Any = None,
        eval_set: Any = None,
        eval_group: Any = None,
        position: Any = None,
    ) -> Self:
        """Train.

        Parameters
        ----------
        {data}
        {group}
        {query_weight}
        eval_set : (X, y) or (X, y, sample_weight), or several of them in a list or, by name, in a dict; default=None
            Data to stop by, instead of a share of the queries. Of several tables the last one is stopped by, and the others are watched.
        eval_group : as group, or several of them in a list or dict, default=None
            Which rows of the tables of `eval_set` are of one query.
        {position}

        Returns
        -------
        self
        """
        values = check(self)
        if eval_set is None and eval_group is not None:
            raise DataError(f"{self._owner}: eval_group came without eval_set. Give the tables that it is of.")
        sets = None if eval_set is None else GivenEvalSets(eval_set, eval_group)
        with all_or_nothing(self):
            X, y, sample_weight, group = opened_input(X, y, sample_weight, group, values, self._owner)
            for name in ("positions_", "position_bias_"):
                if hasattr(self, name):
                    delattr(self, name)
            self._fit(values, X, y, sample_weight, GivenGroups(group, query_weight, position), sets)
        return self

    # What ranking does in its own way.

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        return read_regression_target(y, self._owner)

    def _make_loss(self, target: Target) -> Loss:
        return ranking_loss(self.loss, self.gain, self.metric, self.truncation_level, self.normalize)

    def refit_leaves(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        decay_rate: float = 0.0,
        init: Any = None,
        group: Any = None,
        position: Any = None,
    ) -> Self:
        """A model with the same splits, whose leaf values are learned from other rows, such as those of a new month.

        A leaf that none of these rows reaches keeps its value. This model stays as it is.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        y : sequence of numbers, one for each row
            The relevance of each document.
        sample_weight : sequence of numbers, one for each row, default=None
            Factors of the derivatives of rows; rows of weight zero are absent.
        decay_rate : float from 0 to 1, default=0.0
            Share of the old leaf values that stays: 0 takes the new ones, 0.9 goes a tenth of the way.
        init : scores, default=None
            Scores of these rows to start from, for a model that was trained with an array as `init`.
        group : sequence, default=None
            Which rows are of one query, as in `fit`.
        position : sequence of labels, one for each row, default=None
            The position at which each document was shown, as in `fit`; the new model then has the biases of these positions. None: the
            relevance is what it is, and biases of the old model stay.

        Returns
        -------
        estimator
            A new one of the same class. Its scores of rounds are those of the training of this one.
        """
        shown_at: dict[str, Any] = {}

        def bound(loss: Loss, target: Target, rows: NDArray[np.int64]) -> Loss:
            assert isinstance(loss, RankingLoss)
            queries = QueryRows.of(read_queries(group, target.n_rows, self._owner).number[rows])
            if position is None:
                return loss.bound(queries, target.y[rows])
            positions, labels = read_positions(position, target.n_rows, self._owner)
            shown = ShownPositions(positions[rows], len(labels), self.position_bias_regularization)
            made = loss.bound(queries, target.y[rows], shown)
            shown_at.update(loss=made, rows=rows, labels=labels)
            return made

        found = self._with_new_leaves(X, y, sample_weight, decay_rate, init, bound)
        if position is not None:
            rows, given = shown_at["rows"], read_weight(sample_weight, len(y), self._owner)
            raw = np.ascontiguousarray(found._raw(X, init).reshape(-1)[rows])
            found.positions_ = shown_at["labels"]
            found.position_bias_ = shown_at["loss"].position_biases(raw, None if given is None else given[rows], self._threads)
        return found

    def _given(self, X: Any, y: Any, sample_weight: Any, groups: Any, values: Values, earlier: WarmStartState | None) -> BoostingInput:
        if values["boosting"] == "ordered":
            raise ParameterError(
                f"{self._owner}: boosting='ordered' takes gradients of some of the rows, and those of a ranking are of whole queries. "
                "Set boosting='plain' or boosting='dart'."
            )
        target = self._read_target(y)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        queries = read_queries(groups.group, target.n_rows, self._owner)
        with named_owner(self._owner):
            weighing = weighed_queries(queries, weight, queries.weights(groups.query_weight, self._owner))
        positions = None
        if groups.position is not None:
            positions, self.positions_ = read_positions(groups.position, target.n_rows, self._owner)
        given = BoostingInput(X, target, weighing, queries.number, positions)
        if values["max_leaf_nodes"] == "auto" and values["growth"] == "best_first":
            values["max_leaf_nodes"] = auto_defaults.max_leaves_of_rankings(given.n_rows)
        if values["min_samples_leaf"] == "auto":
            values["min_samples_leaf"] = auto_defaults.min_rows(True, given.n_rows)
        return given

    def _bound_loss(self, given: BoostingInput, training: Target) -> Loss:
        assert isinstance(self.loss_, RankingLoss)
        assert given.groups is not None
        queries = QueryRows.of(given.weighing.at(given.groups))
        if given.positions is None:
            return self.loss_.bound(queries, training.y)
        shown = ShownPositions(given.weighing.at(given.positions), len(self.positions_), self.position_bias_regularization)
        return self.loss_.bound(queries, training.y, shown)

    def _train(
        self, rows: TrainingRows, plan: BoostPlan, stop: StoppingRule, watched: WatchedRows, earlier: TrainedBoosting | None, values: Values
    ) -> TrainedBoosting:
        trained = super()._train(rows, plan, stop, watched, earlier, values)
        if isinstance(plan.loss, BoundRankingLoss) and plan.loss.shown is not None:
            raw = rows.raw(trained.start)
            add_trees(raw, trained.trees, rows.codes, plan.threads, rows.numbers)
            self.position_bias_ = plan.loss.position_biases(raw, rows.weight, plan.threads)
        return trained

    def _check_state(self) -> None:
        """Each position has a bias."""
        bias, there = getattr(self, "position_bias_", None), getattr(self, "positions_", None)
        require((bias is None) == (there is None), "positions have no bias, or biases no position")
        require_shapes("a ranker", {"positions_": (there, "p"), "position_bias_": (bias, "p")})

    def _split(self, given: BoostingInput, eval_set: Any, values: Values, seed: int) -> ValidationSplit:
        assert given.groups is not None
        if values["early_stopping"] == "auto" and len(np.unique(given.weighing.at(given.groups))) < auto_defaults.LEAST_QUERIES_TO_STOP:
            return ValidationSplit()
        return super()._split(given, eval_set, values, seed)

    def _watched(
        self, given: BoostingInput, rows: TrainingRows, split: ValidationSplit, outside: list[ValidationSet], curves: EvaluationCurves
    ) -> WatchedRows:
        assert given.groups is not None
        return replace(super()._watched(given, rows, split, outside, curves), queries=given.weighing.at(given.groups))

    def _metrics(self, values: Values) -> list[WatchedMetric]:
        scoring = values["scoring"]
        listed = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
        with named_owner(self._owner):
            found = [self._metric(one) for one in listed]
        names = [metric.name for metric in found]
        if not names or len(set(names)) < len(names):
            raise ParameterError(f"{self._owner}: scoring must name at least one metric, and each once, but it is {scoring!r}.")
        return [WatchedMetric(metric.name, metric) for metric in found]

    def _metric(self, scoring: Any) -> QueryMetric:
        if scoring is None or isinstance(scoring, str):
            return query_metric(scoring or "ndcg", self.gain)
        raise ParameterError(f"scoring must be the name of a metric of rankings, such as 'ndcg@10', 'map' or 'mrr', not {scoring!r}.")

    def _evaluator(self, metric: WatchedMetric, loss: Loss, rows: EvaluatedRows) -> Evaluator:
        assert rows.groups is not None
        queries = QueryRows.of(rows.groups)
        evaluate = metric.scorer.prepared(rows.y, queries, self._threads)
        weight = None if rows.weight is None else queries.means(rows.weight)
        return lambda raw: -mean_over_queries(evaluate(np.ascontiguousarray(raw)), weight)[0]

    def _outside(self, eval_set: Any, cuts: Cuts | Ranking, target: Target, values: Values) -> list[ValidationSet]:
        tables = eval_set.tables(self._owner)
        return [self._outside_queries(name, table, group, cuts, values) for name, (table, group) in tables.items()]

    def _outside_queries(self, name: str, given: Any, group: Any, cuts: Cuts | Ranking, values: Values) -> ValidationSet:
        owner = f"{self._owner}, eval_set"
        one = self._outside_table(name, given, cuts, Target(np.zeros(0)), values)
        with named_owner(owner):
            self.loss_.check_target(one.rows.y)
        return ValidationSet(name, one.X, one.labels, one.rows, read_queries(group, len(one.rows.y), owner, "eval_group").number)

    @fill_docstring(group=GROUP)
    def score(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None) -> float:
        """The mean NDCG over queries, or what `scoring` names first; a query in which nothing is relevant counts 0.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        y : sequence of numbers, one for each row
            The relevance of each document.
        sample_weight : sequence of numbers, one for each row, default=None
            A query counts by the mean weight of its rows.
        {group}

        Returns
        -------
        float
        """
        scores = self.predict(X)
        target = self._read_target(y)
        check_lengths(self._owner, len(scores), target.n_rows)
        queries = QueryRows.of(read_queries(group, target.n_rows, self._owner).number)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        with named_owner(self._owner):
            metric = self._metric(self.scoring[0] if isinstance(self.scoring, list | tuple) else self.scoring)
            return metric.value(target.y, scores, queries, None if weight is None else queries.means(weight), self._threads)
