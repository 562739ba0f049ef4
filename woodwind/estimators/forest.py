"""What all forests have in common: training, the rows out of the bag, and what can be asked of the trees."""

import sys
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import InterruptWarning, ParameterError, WoodwindWarning
from woodwind.base.notice import notice
from woodwind.base.streams import seed_of
from woodwind.data.grades import Grades
from woodwind.data.schema import Schema
from woodwind.data.table import Table
from woodwind.ensemble.forest import Draws, Growing, OutOfBag
from woodwind.ensemble.forest_importance import debiased_importance, permutation_importance
from woodwind.estimators.grove_predictor import GrovePredictor
from woodwind.estimators.plan import feature_count
from woodwind.estimators.scoring import read_scorer, scorer_judge
from woodwind.estimators.skin import COLUMNS, TRAINING_DATA, Skin, all_or_nothing, check_lengths, row_count
from woodwind.estimators.target import Target
from woodwind.estimators.weights import Weighing, read_weight
from woodwind.params.check import check
from woodwind.params.describe import told
from woodwind.tree.forest import Forest
from woodwind.tree.grove import Grove
from woodwind.tree.grove_grower import GroveRows, GroveSettings, GroveTree

Floats = NDArray[np.float64]
Values = dict[str, Any]

# Trees that are grown before the error out of the bag is looked at again, at most how many, and which change of it is none.
AUTO_STEP = 50
AUTO_MOST = 1000
AUTO_CHANGE = 0.005

FOREST = """
Each tree is grown on rows drawn with replacement, and each of its nodes looks at features drawn for it. Categories are split into sets of
levels, and missing values go where they fit best. What training never saw stops at the split and takes what is known there.
"""
EXTRA = """
Each tree is grown on all rows; each of its nodes draws some features and one threshold for each, and takes the best of these.
Categories are split into two random sets of levels, and missing values go where they fit best. What training never saw stops at the
split and takes what is known there.
"""
MODEL = """
grove_ : Grove
    The trees, as arrays.
feature_importances_ : array of shape (n_features_in_,)
    The share of the impurity removed that each column brought, averaged over the trees.
oob_score_ : float
    Score of the predictions by trees that have not seen a row. With `oob_score`.
"""


class Forests(Skin):
    """Training of independent trees, and what can be asked of them."""

    _told: ClassVar[dict[str, str]] = {"forest": FOREST, "extra": EXTRA, "model": MODEL, "columns": COLUMNS}
    _random_cuts: ClassVar[bool] = False
    grove_: Grove
    warm_start: bool
    bootstrap: bool

    # What each task does in its own way.

    def _read_target(self, y: Any) -> Target:
        raise NotImplementedError

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing]:
        """The target and the weights as they are trained on."""
        return target, Weighing.of(weight)

    def _rows(self, target: Target, weight: Floats | None) -> GroveRows:
        raise NotImplementedError

    def _least_decrease(self, values: Values, target: Target) -> float:
        """The smallest drop of the impurity, in the units of the trees."""
        least: float = values["min_impurity_decrease"]
        return least

    def _voting(self, grove: Grove) -> Grove:
        return grove

    def _keep_out_of_bag(self, mean: Floats) -> None:
        raise NotImplementedError

    def _predicted(self, mean: Floats) -> NDArray[Any]:
        raise NotImplementedError

    # Training.

    @told(data=TRAINING_DATA)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        {data}

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        values = check(self)
        there = self._trees_there(values)
        target = self._read_target(y)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, weighing = self._weighed(target, weight, values)
        if weighing.given is not None:
            check_lengths(self._owner, row_count(X), target.n_rows)
        if there:
            schema, table = self.schema_, self.schema_.read(X, owner=self._owner)
        else:
            schema, table = Schema.learn(X, values["categorical_features"], weight=weighing.given, owner=self._owner)
        check_lengths(self._owner, table.n_rows, target.n_rows)
        growing = self._growing(table, target, weighing, values, there)
        self._draws = growing.draws
        watched = self._watched(values, table, growing.draws, target)
        if there and watched is not None:
            watched.add(self.grove_, 0, self._threads)
        grove = self._grown(growing, watched, values, there)
        self._keep_schema(schema)
        self.grove_ = grove if not there else self.grove_.join(grove)
        self._judge(watched, target, values)
        return self

    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "grove_")

    def _trees_there(self, values: Values) -> int:
        """Trees of an earlier training to go on from."""
        if not self._goes_on():
            self._seed = seed_of(values["random_state"])
            return 0
        there, wanted = self.grove_.n_trees, values["n_estimators"]
        if wanted != "auto" and wanted < there:
            raise ParameterError(
                f"{self._owner}: n_estimators={wanted}, but with warm_start=True {there} trees are there already. "
                "Give at least as many, or set warm_start=False."
            )
        return there

    def _growing(self, table: Table, target: Target, weighing: Weighing, values: Values, there: int) -> Growing:
        """How the trees are grown, and from which rows."""
        n = table.n_rows
        _, of_row = weighing.of_rows(n)
        take = weighing.take
        draws = Draws(n, take, values["bootstrap"], self._sample_size(values, n if take is None else len(take)), self._seed)
        bins = values["max_bins"]
        grades = Grades.of(table, 255 if bins is None else bins, weighing.given, self._threads)
        n_features = grades.n_features
        criterion = values["criterion"]
        settings = GroveSettings(
            criterion="entropy" if criterion == "log_loss" else criterion,
            random_cuts=self._random_cuts,
            exact=bins is None,
            max_depth=values["max_depth"],
            max_leaves=values["max_leaf_nodes"],
            min_split=values["min_samples_split"],
            min_rows=values["min_samples_leaf"],
            min_weight_share=values["min_weight_fraction_leaf"],
            min_decrease=self._least_decrease(values, target),
            n_candidates=feature_count(values["max_features"], n_features, n_features, "max_features", self._owner),
        )
        return Growing(grades, self._rows(target, of_row), settings, draws, self._threads, bool(values.get("quantiles")))

    def _sample_size(self, values: Values, n: int) -> int:
        """Rows that are drawn for a tree."""
        given = values["max_samples"]
        if given is None:
            return n
        if isinstance(given, int):
            if given > n:
                raise ParameterError(f"{self._owner}: max_samples={given}, but there are {n} rows. Give at most so many, or a share.")
            return int(given)
        return max(1, round(float(given) * n))

    def _watched(self, values: Values, table: Table, draws: Draws, target: Target) -> OutOfBag | None:
        """The rows out of the bag, if they are asked about."""
        wanted = values["oob_score"] is not False or values["n_estimators"] == "auto"
        if not wanted:
            return None
        if not values["bootstrap"] and draws.size == draws.n:
            name = "oob_score" if values["oob_score"] is not False else "n_estimators='auto'"
            raise ParameterError(
                f"{self._owner}: Out of bag estimation only available if bootstrap=True: every tree sees all rows, so that {name} "
                "has none to look at. Set bootstrap=True or max_samples."
            )
        return OutOfBag.of(table, draws, max(target.n_classes, 1))

    def _grown(self, growing: Growing, watched: OutOfBag | None, values: Values, there: int) -> Grove:
        """The trees that are not there yet."""
        n_levels, n_classes = growing.grades.n_levels, growing.rows.n_classes
        auto = values["n_estimators"] == "auto"
        wanted = AUTO_MOST if auto else values["n_estimators"]
        step = AUTO_STEP if auto else max(wanted - there, 0)
        trees: list[GroveTree] = []
        before = np.inf
        while there + len(trees) < wanted and not growing.interrupted:
            new = growing.trees(there + len(trees), min(step, wanted - there - len(trees)), self._progress(values, wanted))
            if watched is not None:
                watched.add(self._voting(Grove.of(new, n_levels, n_classes)), there + len(trees), self._threads)
            trees += new
            if auto:
                error = self._error(watched, growing.rows)
                if before - error < AUTO_CHANGE * error:
                    break
                before = error
        if growing.interrupted:
            if not trees and not there:
                raise KeyboardInterrupt
            notice(f"{self._owner} was interrupted: the {there + len(trees)} trees that were finished are kept.", InterruptWarning)
        self._keep_rows(trees, growing, there)
        return Grove.of(trees, n_levels, n_classes)

    def _progress(self, values: Values, wanted: int) -> Any:
        if not values["verbose"]:
            return None
        return lambda done: sys.stderr.write(f"{self._owner}: tree {done:,} of {wanted:,}\n") if done % 10 == 0 else None

    def _keep_rows(self, trees: list[GroveTree], growing: Growing, there: int) -> None:
        """Keep which training rows are in which leaf, where that is wanted."""

    def _error(self, watched: OutOfBag | None, rows: GroveRows) -> float:
        """Squared error out of the bag: of numbers, or of the shares of the classes."""
        assert watched is not None
        seen = watched.count > 0
        mean, y = watched.mean()[seen], rows.real[0, seen]
        if rows.n_classes:
            mean[np.arange(len(mean)), y.astype(np.int64)] -= 1.0
            return float((mean**2).sum() / max(len(mean), 1))
        return float(((mean[:, 0] - y) ** 2).mean()) if len(mean) else np.inf

    def _judge(self, watched: OutOfBag | None, target: Target, values: Values) -> None:
        """Predictions and score out of the bag."""
        scoring = values["oob_score"]
        if watched is None or scoring is False:
            return
        mean = watched.mean()
        self._keep_out_of_bag(mean)
        seen = np.flatnonzero(watched.count)
        present = watched.draws.n_rows if watched.draws.take is None else len(np.unique(watched.draws.take))
        if len(seen) < present:
            notice(
                f"{self._owner}: {present - len(seen):,} of {present:,} rows were in the bag of every tree and have no prediction out "
                "of the bag: there are too few trees.",
                WoodwindWarning,
            )
        truth = target.labels()[seen]
        if len(seen) == 0:
            self.oob_score_ = float("nan")
        elif isinstance(scoring, str):
            judge = scorer_judge(read_scorer(scoring, self, self._owner), self, seen.reshape(-1, 1), truth, None)
            self.oob_score_ = -judge(mean[seen, 1] if target.n_classes == 2 else mean[seen])
        elif callable(scoring):
            self.oob_score_ = float(scoring(truth, self._predicted(mean[seen])))
        else:
            metric = sklearn.metrics.accuracy_score if target.n_classes else sklearn.metrics.r2_score
            self.oob_score_ = float(metric(truth, self._predicted(mean[seen])))

    # Prediction.

    def _mean(self, X: Any) -> Floats:
        table = self._read(X)
        return self._voting(self.grove_).mean(table, self._threads)

    def predictor(self) -> Any:
        """A callable that predicts for one row or a block of rows with as little ceremony as can be.

        Give it numbers in the order of `schema_.feature_names`; categories as the numbers of their levels, NaN for missing.
        It answers as `predict` does for regression and `predict_proba` for classification.
        """
        check_is_fitted(self)
        return GrovePredictor(self._voting(self.grove_))

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the node where each row ends in each tree, (n_rows, n_trees).

        Inner nodes of a tree come first, from the root downwards, then its leaves. Where a row ends is a leaf, except where it stops on
        its way: at a level that training never saw, or at a missing value where training met none.
        """
        table = self._read(X)
        ends = self.grove_.ends(table, self._threads)
        inner = np.diff(self.grove_.roots[:, 0]).astype(np.int32)
        return np.where(ends >= 0, ends + inner, -1 - ends)

    def decision_path(self, X: Any) -> tuple[Any, NDArray[np.int64]]:
        """The nodes that each row passes: a sparse matrix of ones (n_rows, n_nodes), and where the nodes of each tree begin in it."""
        ends = self.apply(X)
        sizes = np.diff(self.grove_.roots, axis=0).sum(axis=1)
        begin = np.concatenate([[0], np.cumsum(sizes)])
        rows, nodes = [], []
        for tree in range(self.grove_.n_trees):
            left, right = self.grove_.children(tree)
            parent = np.full(sizes[tree], -1)
            parent[left] = parent[right] = np.arange(len(left))
            row, node = np.arange(len(ends)), ends[:, tree].astype(np.int64)
            while row.size:
                rows.append(row)
                nodes.append(begin[tree] + node)
                above = parent[node]
                row, node = row[above >= 0], above[above >= 0]
        place = np.concatenate(rows), np.concatenate(nodes)
        path = csr_matrix((np.ones(len(place[0]), np.int64), place), shape=(len(ends), int(begin[-1])))
        path.sort_indices()
        return path, begin

    def proximity(self, X: Any, Y: Any = None) -> Floats:
        """The share of trees in which two rows end in the same node (Breiman 2001): (n_rows of X, n_rows of Y, or of X without it)."""
        own = self.apply(X)
        other = own if Y is None else self.apply(Y)
        out = np.zeros((len(own), len(other)))
        for tree in range(own.shape[1]):
            out += own[:, tree, None] == other[None, :, tree]
        out /= max(own.shape[1], 1)
        return out

    # What the forest is like.

    @property
    def forest_(self) -> Forest:  # type: ignore[override]
        """The trees as the library's general model; made anew each time, and much larger."""
        check_is_fitted(self)
        return self.grove_.forest()

    @property
    def feature_importances_(self) -> Floats:
        """The share of the impurity removed that each column of the training table brought, averaged over the trees."""
        check_is_fitted(self)
        gain = np.zeros(self.schema_.n_inputs)
        np.add.at(gain, self.schema_.source, self.grove_.importance)
        return np.asarray(gain / max(gain.sum(), np.finfo(np.float64).tiny))

    def permutation_importance_oob(self, X: Any, y: Any) -> Floats:
        """How much worse trees are on rows out of their bag when a column is shuffled among these (Breiman 2001), one for each column.

        Give the table and the target of the training once more. The error is the share of wrong votes, or the squared error.
        """
        bag, truth = self._bag(X, y)
        return permutation_importance(self.grove_, bag, truth, np.asarray(self.schema_.source), self._seed, self._threads)

    def unbiased_importance_oob(self, X: Any, y: Any) -> Floats:
        """The impurity that splits by each column remove, as rows out of the bag see it; about zero for noise, one for each column.

        Give the table and the target of the training once more.
        """
        bag, truth = self._bag(X, y)
        return debiased_importance(self.grove_, bag, truth, np.asarray(self.schema_.source), self._threads)

    def _bag(self, X: Any, y: Any) -> tuple[OutOfBag, Floats]:
        """The rows of the training, to be asked about trees that have not seen them."""
        table = self._read(X)
        target = self._read_target(y)
        check_lengths(self._owner, table.n_rows, target.n_rows)
        if table.n_rows != self._draws.n_rows or (not self._draws.bootstrap and self._draws.size == self._draws.n):
            raise ParameterError(
                f"{self._owner}: importance out of the bag needs the {self._draws.n_rows:,} rows of the training, and trees that have "
                f"not seen all of them; given are {table.n_rows:,} rows. Train with bootstrap=True or max_samples, and give the same table."
            )
        return OutOfBag.of(table, self._draws, max(target.n_classes, 1)), target.y.astype(np.float64)

