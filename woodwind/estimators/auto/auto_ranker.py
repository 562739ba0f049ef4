"""The main job as an estimator that ranks the documents of queries."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from woodwind.auto.clock import SUSPICION_SHARE
from woodwind.auto.scorer import BlendScorer
from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError
from woodwind.base.validate import require_finite
from woodwind.data.quality.suspicions import suspicions
from woodwind.data.tables.frames import as_arrow
from woodwind.data.tables.queries import QueryRows
from woodwind.data.tables.target_column import HIGHEST_RELEVANCE
from woodwind.estimators.auto.auto_ensemble import BaseAutoEnsemble, check_checkpoint, clock_of
from woodwind.estimators.base.model import all_or_nothing, check_lengths, row_count
from woodwind.estimators.base.scoring import rows_of_table
from woodwind.estimators.base.target import Target, read_regression_target
from woodwind.estimators.base.weights import read_weight
from woodwind.estimators.boosting.gradient_boosting_ranker import GROUP, RANKING_DATA
from woodwind.estimators.boosting.queries import read_queries
from woodwind.metrics.named import METRICS
from woodwind.params.auto import AutoParams
from woodwind.params.check import check
from woodwind.params.knobs import knobs
from woodwind.params.unknown import known_arguments

Floats = NDArray[np.float64]


@knobs
class AutoEnsembleRanker(AutoParams, BaseAutoEnsemble, BaseEstimator):
    """The best blend of members of many kinds that a given time allows, for rankings.

    {about}

    Members are boosted trees for the order in each query (LambdaMART, listwise softmax, pairwise logistic), and regressors of the relevance
    of all families. Their scores are blended, each over its spread within queries; weights are found for NDCG of queries out of fold.

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    >>> import numpy as np
    >>> from woodwind import AutoEnsembleRanker
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.random((400, 3)), np.repeat(np.arange(40), 10)
    >>> relevance = np.floor(4 * X[:, 0])
    >>> model = AutoEnsembleRanker(models=2).fit(X, relevance, group=query)
    >>> bool(model.score_ > 0.9)
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    def _read_target(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_regression_target(y, self._owner)
        for wrong, what in ((target.y < 0.0, "negative"), (target.y > HIGHEST_RELEVANCE, f"above {HIGHEST_RELEVANCE:g}")):
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                told = f"y is {what} in {int(wrong.sum()):,} rows, first y[{row}] = {target.y[row]:g}"
                raise DataError(f"{self._owner}: {told}. It is a relevance: give 0 for a document that does not matter.")
        return target, read_weight(sample_weight, target.n_rows, self._owner)

    @known_arguments
    @fill_docstring(data=RANKING_DATA, group=GROUP)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None) -> Self:
        """Try members, and blend them.

        Parameters
        ----------
        {data}
        {group}

        Returns
        -------
        self
        """
        values = check(self)
        clock = clock_of(values)
        check_checkpoint(values)
        with all_or_nothing(self):
            target, weight = self._read_target(y, sample_weight)
            check_lengths(self._owner, row_count(X), target.n_rows)
            queries = read_queries(group, target.n_rows, self._owner).number
            if weight is not None and not weight.all():
                present = np.flatnonzero(weight)
                X, target, weight, queries = rows_of_table(X, present), target.at(present), weight[present], queries[present]
            # Of one query rows are held out, as there is no other.
            groups = queries if (queries != queries[0]).any() else None
            found = suspicions(as_arrow(X), None, target.y, False, groups, is_time=clock.is_time(SUSPICION_SHARE))
            notes = query_notes(queries, target.y)
            self._train(values, clock, X, target, weight=weight, groups=groups, queries=queries, suspicions=found, notes=notes)
        return self

    def predict(self, X: Any) -> Floats:
        """The score of each row: within a query, the higher the better; between queries it says nothing.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name. A file, or a dictionary of columns, will do.
        """
        return require_finite(np.asarray(self._scores(X)[:, 0]), self._owner)

    @fill_docstring(group=GROUP)
    def score(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None) -> float:
        """The mean over queries of the metric that the model was made by; a query in which nothing is relevant counts 0.

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
        scores = self._scores(X)
        target, weight = self._read_target(y, sample_weight)
        check_lengths(self._owner, len(scores), target.n_rows)
        queries = read_queries(group, target.n_rows, self._owner).number
        return BlendScorer(METRICS[self.model_.metric], target.y, weight, False, None, queries).score(scores)


def query_notes(number: NDArray[np.int64], relevance: Floats) -> tuple[str, ...]:
    """How many queries there are, and of which of them nothing can be learned, for the user."""
    queries = QueryRows.of(number)
    relevant = np.add.reduceat((relevance[queries.order] > 0.0).astype(np.int64), queries.begin[:-1])
    single, without = int((queries.sizes == 1).sum()), int((relevant == 0).sum())
    size = f"{queries.sizes.min():,} to {queries.sizes.max():,}"
    told = [f"{queries.n_queries:,} queries of {size} documents, {int((relevance > 0.0).sum()):,} of which are relevant."]
    if single:
        told.append(f"Queries of one document, in which there is nothing to rank: {single:,}.")
    if without:
        told.append(f"Queries without a relevant document, each of which counts 0 in metrics: {without:,}.")
    return tuple(told)
