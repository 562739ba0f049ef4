"""Pruning: of a pool of members those are kept, with weights, that are best together. See docs/algorithms/ensemble-selection.md."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.utils import Bunch, get_tags
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import DataError, ParameterError, TableError
from woodwind.base.random_streams import seed_of
from woodwind.base.validate import require_finite
from woodwind.ensemble.combine import mean_prediction, mean_probabilities
from woodwind.estimators.base.model import COLUMNS, LogProbabilityMixin, check_lengths
from woodwind.estimators.base.splits import read_groups, warn_perfect
from woodwind.estimators.base.target import Target, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import read_weight, weighed_classes
from woodwind.estimators.forests.forest_base import BaseForestModel
from woodwind.estimators.pools.member_list import is_fitted, pairs_of
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.out_of_fold import out_of_fold
from woodwind.estimators.pools.pool import (
    NamedMember,
    Pool,
    Response,
    are_fitted,
    class_indices,
    joint_classes,
    open_table_of,
    trained_pool,
)
from woodwind.estimators.pools.pool_base import BasePool
from woodwind.estimators.selection.pruned import AnyPool, TreePool, pruned_ensemble
from woodwind.estimators.selection.selection_search import members_wanted, objective_for, search
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams
from woodwind.params.pruning import ClassifierOrderParams, GreedyParams, OtherSearchParams, RegressorOrderParams, SelectionParams
from woodwind.selection.member_selection import MemberSelection, single_scores
from woodwind.selection.objectives import ballots_of

# ----------------------------------------------------------------------------------------------------
# Selection for both tasks: members are scored on rows that they have not been trained on, some are kept, and these are asked together.


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Values = dict[str, Any]

# For the docstrings of the estimators.
ABOUT = """
Of a pool of members some are kept, and the weighted mean of what these say is the prediction. They are chosen on rows that they have not
learned. If the members are trained already, that is what X and y of `fit` must be. If they are not, copies are trained in folds, each is
scored on the rows held out, and those that were chosen are trained once more on all rows.

A fitted random forest, bagging or another ensemble with `estimators_` may be given in place of a list: its members are the pool.
"""
MODEL = """
weights_ : array of shape (n_members,)
    The weight of every member of the pool; they add up to one, and most are zero.
selected_ : array of shape (n_selected,)
    The numbers of the members that are kept, those of the largest weight first.
member_names_ : list of str
    The names of all members of the pool.
estimators_ : list
    The members that are kept, trained, in the order of `selected_`.
named_estimators_ : Bunch
    The same by name.
scores_ : array of shape (n_members,)
    The score of each member alone on the selection rows; larger is better, of losses minus their value.
path_ : array
    The score after each step of the search: greedy, after each member that was added, or after each of several bags; ordering and
    exhaustive, of 1, 2, ... members; genetic, of the best choice after each generation; clustering, of each number of clusters.
order_ : array
    The members as they were taken; one that was taken again comes again.
best_score_ : float
    The score of the choice on the selection rows. It was chosen to be large: rows that nobody has seen will give a little less.
"""


class SelectionPredictions(NamedTuple):
    """What members predict for rows that they have not been trained on."""

    predicted: Floats  # (n, m, K) or (n, m)
    target: Target
    weight: Floats | None
    pool: AnyPool | None  # of members that are taken as they are


class SelectionInput(NamedTuple):
    """What `fit` was given, read and checked."""

    table: AnyTable
    target: Target
    weight: Floats | None
    groups: Integers | None


class BaseEnsembleSelection(BasePool):
    """What both kinds of selection share. To be named before scikit-learn's own bases."""

    _state: ClassVar[dict[str, Any]] = {
        "_pool": Pool | TreePool,
        "_counts": Floats,
        "_given": Any,
        "weights_": Floats | None,
        "selected_": Integers,
        "scores_": Floats,
        "order_": Integers,
        "path_": Floats,
        "best_score_": float,
        "member_names_": list[str],
    }

    _docstring_parts: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL, "columns": COLUMNS}
    prefit: Any
    _pool: AnyPool
    _counts: Floats  # (n_selected,): how often each member that is kept was taken

    # What each task does in its own way.

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        """The target, and the weights of its rows."""
        raise NotImplementedError

    def _response(self) -> Response:
        """What members are asked for."""
        raise NotImplementedError

    def _matrix(self, predicted: Floats, n_classes: int) -> Floats:
        """What members predict as probabilities (n, m, K), or as numbers (n, m)."""
        raise NotImplementedError

    # Base class.

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        trees = self._trees(values)
        named = self._named() if trees is None else []
        m = len(named) if trees is None else len(trees)
        members_wanted(values, m, self._owner)
        seed = seed_of(values["random_state"])
        target, weight = self._read(y, sample_weight)
        rows = SelectionInput(open_table_of(X, None, self._owner), target, weight, read_groups(groups, target.n_rows, self._owner))
        check_lengths(self._owner, rows.table.n_rows, target.n_rows)
        self._set_header(rows.table.header)
        prefit = trees is not None or (are_fitted(named) if values["prefit"] == "auto" else values["prefit"])
        scored = self._taken(named, trees, rows) if prefit else self._in_folds(named, rows, values, seed)
        if prefit and trees is None and values["prefit"] == "auto":
            warn_perfect([member.name for member in named], scored.predicted, scored.target.y, self._owner)
        predicted, weight = scored.predicted, scored.weight
        objective = objective_for(values["scoring"], self, predicted, scored.target, weight, values["diversity"])
        chosen = search(values, objective, predicted, scored.target, weight, seed)
        self.scores_ = single_scores(objective)
        self._set_choice(chosen)
        pool = scored.pool
        self.member_names_ = [member.name for member in named] if trees is None else list(trees.names)
        if pool is None:
            kept = [named[position] for position in self.selected_]
            more = {"seed": seed, "threads": self._threads, "owner": self._owner, "verbose": values["verbose"]}
            self._pool = trained_pool(kept, rows.table, rows.target, rows.weight, **more)
        else:
            self._pool = pool.only(self.selected_)
        self._given = values["estimators"] if hasattr(values["estimators"], "estimators_") else None

    def _trees(self, values: Values) -> TreePool | None:
        """The trees of a forest of ours, which need not be taken apart to be asked; None for other members."""
        given = values["estimators"]
        whole = isinstance(given, BaseForestModel) and is_fitted(given) and values["prefit"] is not False
        return TreePool.of(given) if whole and is_classifier(given) == self._classifies else None

    def _set_choice(self, chosen: MemberSelection) -> None:
        self.weights_ = chosen.weights
        self.selected_: Integers = chosen.members[np.argsort(-chosen.counts[chosen.members], kind="stable")]
        self._counts = chosen.counts[self.selected_]
        self.order_, self.path_, self.best_score_ = chosen.order, chosen.path, chosen.score

    def _taken(self, named: list[NamedMember], trees: TreePool | None, rows: SelectionInput) -> SelectionPredictions:
        """Members that are trained, asked about the rows that were given."""
        target, pool = rows.target, trees
        if target.classes is not None:
            classes = joint_classes(named, target.classes)
            if trees is not None:
                known = set(np.asarray(trees.classes).tolist())
                classes = self._classes_of_forest(trees, target, known)
            target = Target(class_indices(target.labels(), classes), classes)
            self.classes_ = classes
        made: AnyPool = pool if pool is not None else Pool.of_fitted(named, rows.table.header, target.classes, self._owner)
        predicted = made.predicted(rows.table, self._response(), self._owner, self._threads, hard_where_needed=True)
        return SelectionPredictions(self._matrix(predicted, target.n_classes), target, rows.weight, made)

    def _classes_of_forest(self, trees: TreePool, target: Target, known: set[Any]) -> NDArray[Any]:
        """Trees of a forest answer for the classes that the forest knows, and no others."""
        new = [label for label in np.asarray(target.classes).tolist() if label not in known]
        if new:
            kind = type(trees.forest).__name__
            raise ParameterError(
                f"{self._owner}: y has the class {new[0]!r}, which the {kind} has not been trained on. Leave those rows out."
            )
        return np.asarray(trees.classes)

    def _in_folds(self, named: list[NamedMember], rows: SelectionInput, values: Values, seed: int) -> SelectionPredictions:
        """Copies of the members, each asked about rows that it has not been trained on."""
        cv = values["cv"]
        if rows.target.n_rows < 2:
            raise DataError(f"{self._owner}: there is one sample only, n_samples = 1, and members are scored in folds. Give more rows.")
        if rows.weight is not None and not rows.weight.all() and (isinstance(cv, int) or hasattr(cv, "split")):
            # Rows of weight zero are absent from folds too; splits that are given count them.
            present = np.flatnonzero(rows.weight)
            table = open_table_of(rows.table.take(None, present), None, self._owner)
            groups = None if rows.groups is None else rows.groups[present]
            rows = SelectionInput(table, rows.target.at(present), rows.weight[present], groups)
        found = out_of_fold(
            named,
            rows.table,
            rows.target,
            cv=cv,
            groups=rows.groups,
            weight=rows.weight,
            kind=self._response(),
            seed=seed,
            threads=self._threads,
            owner=self._owner,
            verbose=values["verbose"],
        )
        scored = np.flatnonzero(found.scored)
        weight = None if rows.weight is None else rows.weight[scored]
        target = rows.target.at(scored)
        return SelectionPredictions(self._matrix(found.predicted[scored], target.n_classes), target, weight, None)

    # What there is to ask.

    def _mean(self, X: Any) -> Floats:
        """The weighted mean of what the members that are kept say."""
        check_is_fitted(self)
        table = X if isinstance(self._pool, TreePool) else open_table_of(X, self._pool.header, self._owner)
        self._refuse_gaps(getattr(table, "X", None))
        predicted = self._pool.predicted(table, self._response(), self._owner, self._threads, hard_where_needed=True)
        predicted = self._matrix(predicted, 0 if self._pool.classes is None else len(self._pool.classes))
        return require_finite(
            mean_probabilities(predicted, self._counts) if predicted.ndim == 3 else mean_prediction(predicted, self._counts), self._owner
        )

    def _refuse_gaps(self, X: Any) -> None:
        """What some member of the pool cannot take is refused, whether or not that member was kept."""
        numbers = X.data if hasattr(X, "tocsr") else X
        gaps = isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f" and not np.isfinite(numbers).all()
        if gaps and not get_tags(self).input_tags.allow_nan:
            raise TableError(
                f"{self._owner}: Input X contains NaN or infinity, which some members of the pool cannot take. Fill the gaps first, or "
                "give members that take them, such as those of Woodwind."
            )

    @property
    def estimators_(self) -> list[Any]:
        """The members that are kept, trained, in the order of `selected_`."""
        check_is_fitted(self)
        return list(self._pool.members)

    @property
    def named_estimators_(self) -> Bunch:
        """The same by name."""
        check_is_fitted(self)
        return Bunch(**dict(zip(self._pool.names, self._pool.members, strict=True)))

    def pruned_ensemble(self) -> Any:
        """The ensemble that `estimators` was, with the members that are kept and no others: of the same class, smaller and faster.

        It predicts as the selection does. A member that has more weight than others is in it several times; with replacement, which is not
        the default for such ensembles, it need therefore not be smaller.

        Returns
        -------
        estimator
            A random forest or extra-trees of Woodwind, or these or bagging of scikit-learn, fitted.
        """
        check_is_fitted(self)
        if self._given is None:
            raise ParameterError(f"{self._owner}: estimators was no fitted ensemble, so that none can be made smaller.")
        times = np.round(self._counts).astype(np.int64)
        if not np.array_equal(times, self._counts):
            raise ParameterError(
                f"{self._owner}: the weights of several bags are no whole numbers of members. Set n_bags=1, or predict with the selection."
            )
        return pruned_ensemble(self._given, np.repeat(self.selected_, times // np.gcd.reduce(times)).tolist(), self._owner)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_pool")


@knobs
class EnsembleSelectionClassifier(
    PoolParams,
    SelectionParams,
    ClassifierOrderParams,
    GreedyParams,
    OtherSearchParams,
    WorkParams,
    BaseEnsembleSelection,
    LogProbabilityMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Selection of the members of an ensemble (pruning), for classification.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    {model}
    {columns}

    Examples
    --------
    Of twenty trees, those that are best together on rows that they have not seen:

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import train_test_split
    >>> from woodwind import EnsembleSelectionClassifier
    >>> X, new, y, truth = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[:300], y[:300])
    >>> model = EnsembleSelectionClassifier(estimators=forest).fit(X[300:], y[300:])
    >>> len(model.selected_) < 20
    True
    >>> bool(model.best_score_ >= model.scores_.max())
    True
    >>> bool(model.score(new, truth) > 0.9)
    True
    """

    _classifies = True

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_labels(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, _ = weighed_classes(target, weight, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        return target, weight

    def _response(self) -> Response:
        return "votes" if self.voting == "hard" else "probabilities"

    def _matrix(self, predicted: Floats, n_classes: int) -> Floats:
        return ballots_of(predicted[:, :, 0].astype(np.int64), n_classes) if self.voting == "hard" else predicted

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest mean probability, or with the largest weight of votes; of equals the first.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        best = self._mean(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """The weighted mean of probabilities, or shares of votes, (n_rows, n_classes), in the order of `classes_`."""
        return self._mean(X)


@knobs
class EnsembleSelectionRegressor(
    PoolParams,
    SelectionParams,
    RegressorOrderParams,
    GreedyParams,
    OtherSearchParams,
    WorkParams,
    BaseEnsembleSelection,
    RegressorMixin,
    BaseEstimator,
):
    """Selection of the members of an ensemble (pruning), for regression.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    Three models, weighted by how much each helps:

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from woodwind import EnsembleSelectionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> pool = [Ridge(0.1), KNeighborsRegressor(10), DecisionTreeRegressor(random_state=0)]
    >>> model = EnsembleSelectionRegressor(estimators=pool, random_state=0).fit(X, y)
    >>> [model.member_names_[member] for member in model.selected_[:2]]
    ['ridge', 'kneighborsregressor']
    >>> bool(model.best_score_ > model.scores_.max())
    True
    """

    _classifies = False

    def _read(self, y: Any, sample_weight: Any) -> tuple[Target, Floats | None]:
        target = read_regression_target(y, self._owner)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        warn_constant(target.y if weight is None else target.y[weight > 0.0], self._owner)
        return target, weight

    def _response(self) -> Response:
        return "numbers"

    def _matrix(self, predicted: Floats, n_classes: int) -> Floats:
        return predicted[:, :, 0]

    def predict(self, X: Any) -> Floats:
        """The weighted mean of what the members that are kept predict.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._mean(X)


def EnsembleSelection(estimators: Any, **parameters: Any) -> EnsembleSelectionClassifier | EnsembleSelectionRegressor:
    """The selection that fits the members: `EnsembleSelectionClassifier` or `EnsembleSelectionRegressor`.

    Parameters
    ----------
    estimators : list, dict or fitted ensemble
        The members, all classifiers or all regressors.
    **parameters : anything
        The other parameters of these estimators.

    Returns
    -------
    estimator
        Not fitted yet.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from woodwind import EnsembleSelection
    >>> EnsembleSelection([LinearRegression(), Ridge()], method="ordering")
    EnsembleSelectionRegressor(estimators=[LinearRegression(), Ridge()],
                               method='ordering')
    """
    pairs = pairs_of(estimators) or [("", estimators)]
    given = [one for _, one in pairs if hasattr(one, "__sklearn_tags__") and not isinstance(one, type)]
    if any(map(is_regressor, given)) and any(map(is_classifier, given)):
        raise ParameterError("EnsembleSelection: estimators has classifiers and regressors, whose answers have no mean. Give one kind.")
    if any(map(is_regressor, given)):
        return EnsembleSelectionRegressor(estimators=estimators, **parameters)
    if any(map(is_classifier, given)):
        return EnsembleSelectionClassifier(estimators=estimators, **parameters)
    raise ParameterError(
        "EnsembleSelection: estimators has neither classifiers nor regressors. Give some, or a fitted ensemble; or say which selection is "
        "meant: EnsembleSelectionClassifier or EnsembleSelectionRegressor."
    )
