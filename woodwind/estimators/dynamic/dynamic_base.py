"""Dynamic selection for both tasks: from members and rows to what is known of how good members are where."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from woodwind.base.did_you_mean import did_you_mean
from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import key, seed_of
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.estimators.base.model import COLUMNS, check_lengths, named_owner
from woodwind.estimators.base.model_checks import ask_model, require_model
from woodwind.estimators.base.splits import read_groups, warn_perfect
from woodwind.estimators.base.target import Target
from woodwind.estimators.base.weights import Weighing, read_weight
from woodwind.estimators.dynamic.dynamic_model import DynamicModel, FeatureSpace, RegionSearch, Selector
from woodwind.estimators.dynamic.holdout_predictions import (
    HoldoutPredictions,
    HoldoutTask,
    as_they_are,
    check_probabilities,
    held_out,
    scored_out_of_fold,
)
from woodwind.estimators.pools.members import AnyTable
from woodwind.estimators.pools.pool import are_fitted, open_table_of
from woodwind.estimators.pools.pool_base import BasePool
from woodwind.selection.explanation import SelectionExplanation
from woodwind.selection.facts import RegressionFacts, SelectionFacts
from woodwind.selection.methods import Method, Mode, options_of, rehearse_small, with_known
from woodwind.selection.neighbours import Search
from woodwind.selection.regions import BalancedSearch, ClusterSearch, FastSearch, centres_of, profiles, without_itself

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Values = dict[str, Any]

# Names of distances by which scikit-learn calls them.
ALSO_CALLED = {"manhattan": "cityblock", "l1": "cityblock", "l2": "euclidean", "minkowski": "euclidean"}
# Options that are not the user's to give.
OWN = ("seed", "clusters", "meta_train")

ABOUT = """
For each row that is to be predicted, members are scored by the selection rows around it, rows that they have not been trained on, and those
that are good there are asked. A method is a way to score, to choose and to weigh: docs/algorithms/dynamic-selection.md has the table of
all.

Members that are not fitted are trained here, on all rows, and scored out of fold; or on a part, and scored on the rest. Fitted members, and
the members of a fitted ensemble, are taken as they are, and scored on the rows that `fit` is given.
"""
MODEL = """
estimators_ : list
    The members, each trained.
named_estimators_ : Bunch
    The same by name.
selection_rows_ : array
    The rows of the training table that members are scored by.
n_neighbors_ : int or None
    Rows in a region; None for all.
method_ : Method
    The row of the table of methods.
"""


class BaseDynamicSelection(BasePool):
    """What both kinds of dynamic selection share."""

    _state: ClassVar[dict[str, Any]] = {
        "_model": DynamicModel,
        "method_": Method,
        "n_neighbors_": int | None,
        "selection_rows_": Integers,
        "named_estimators_": Bunch,
    }

    _docstring_parts: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL, "columns": COLUMNS}
    _methods: ClassVar[dict[str, Method]]
    _model: DynamicModel

    def _read_target(self, y: Any) -> Target:
        raise NotImplementedError

    def _weighed(self, target: Target, weight: Floats | None) -> tuple[Target, Weighing]:
        raise NotImplementedError

    def _check_method(self, values: Values, method: Method) -> None:
        """Raise where parameters ask for what the method does not have."""

    def _explanations(self, X: Any) -> list[dict[str, Any]]:
        """Who was asked about the rows, block by block."""
        raise NotImplementedError

    def explain_selection(self, X: Any) -> SelectionExplanation:
        """Who was asked about each row, how much each one counted, and which selection rows told so.

        Parameters
        ----------
        X : table
            Rows to be explained. For every row and member several numbers are kept: explain some hundred rows, not all.

        Returns
        -------
        SelectionExplanation
            To be printed, or read by `members(row)`, `asked(row)`, `counts()`, `to_dict()` and `to_columns()`.
        """
        self._check_is_fitted()
        return joined(self._explanations(X), self._model)

    # What is asked for, checked before any work is done.

    def _method(self, values: Values) -> Method:
        """The method that is meant by a name, a competence or a method."""
        given = values["method"]
        if isinstance(given, Method):
            return given
        if isinstance(given, str) and given in self._methods:
            return self._methods[given]
        if callable(given) and not isinstance(given, type):
            return Method(getattr(given, "__name__", "own competence"), "", given)
        names = ", ".join(map(repr, self._methods))
        meant = f" {did_you_mean(given, self._methods, alike=0.6)}".rstrip() if isinstance(given, str) else ""
        raise ParameterError(
            f"{self._owner}: method must be one of {names}; or a function of facts and region, or a Method; but it is {given!r}.{meant}"
        )

    def _options(self, method: Method, values: Values, seed: int) -> Values:
        """The options of the method, with those that were given, and the seed."""
        known = {name: value for name, value in method.options.items() if name not in OWN}
        meta = method.learn is not None and "meta_train" in options_of(method.learn)
        allowed = [*known, *(["meta_classifier"] if meta else [])]
        given = dict(values["method_options"] or {})
        wrong = [name for name in given if name not in allowed]
        if wrong:
            has = f"the options {', '.join(map(repr, sorted(allowed)))}" if allowed else "no options"
            raise ParameterError(f"{self._owner}: method_options names {wrong[0]!r}, but the method {values['method']!r} has {has}.")
        options = known | given | {"seed": seed}
        if meta and given.get("meta_classifier") is not None:
            options["meta_train"] = MetaClassifierTraining(given["meta_classifier"])
        return options

    def _check_metric(self, values: Values) -> None:
        metric, own = values["metric"], callable(values["metric"])
        try:
            if metric != "mahalanobis":
                float(cdist(np.ones((1, 2)), np.zeros((1, 2)), metric)[0, 0])
        except Exception as error:
            raise ParameterError(
                f"{self._owner}: metric={metric!r} does not measure a distance. {type(error).__name__}: {error}. Give a name that "
                "scipy.spatial.distance.cdist knows, or a function of two rows that returns a number."
            ) from error
        if values["search"] == "fast" and (own or metric not in ("euclidean", "mahalanobis")):
            raise ParameterError(f"{self._owner}: search='fast' goes by Euclidean distances, and metric is {metric!r}. Set search='exact'.")
        if values["search"] == "fast" and values.get("knne"):
            raise ParameterError(f"{self._owner}: search='fast' does not look for rows of each class, as knne=True asks. Set one of them.")

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        seed = seed_of(values["random_state"])
        if isinstance(values["metric"], str):
            values["metric"] = ALSO_CALLED.get(values["metric"], values["metric"])
        method = self._method(values)
        options = self._options(method, values, key(seed, "choice"))
        self._check_metric(values)
        self._check_method(values, method)
        named = self._named()
        target = self._read_target(y)
        weight = read_weight(sample_weight, target.n_rows, self._owner)
        target, weighing = self._weighed(target, weight)
        table = open_table_of(X, None, self._owner)
        check_lengths(self._owner, table.n_rows, target.n_rows)
        self._rehearse(method, options, len(named), target)
        prefit = are_fitted(named) if values["prefit"] == "auto" else values["prefit"]
        if not prefit and table.n_rows < 2:
            raise DataError(f"{self._owner}: n_samples=1: members cannot be scored on the row that they learn. Give more rows.")
        if method.needs_probabilities and not prefit:
            check_probabilities(named, values["method"], self._owner)
        together = read_groups(groups, target.n_rows, self._owner)
        more = {"seed": seed, "threads": self._threads, "owner": self._owner, "verbose": values["verbose"]}
        trial = HoldoutTask(named, table, target, weight, together, method.needs_probabilities, more)
        if prefit:
            scored = as_they_are(trial)
            if values["prefit"] == "auto":
                warn_perfect([member.name for member in named], scored.votes, scored.target.y[scored.rows], self._owner)
        elif values["selection_size"] is None:
            scored = scored_out_of_fold(trial, values["cv"])
        else:
            scored = held_out(trial, values["selection_size"])
        self._set_header(table.header)
        self._learn(values, method, options, table, scored.repeated(weighing))

    def _rehearse(self, method: Method, options: Values, n_members: int, target: Target) -> None:
        """Find options that cannot be before any work is done; what a user has written is not tried on made-up rows."""
        if not any(method is known for known in self._methods.values()):
            return
        with named_owner(self._owner):
            rehearse_small(method, n_members, target.n_classes, options)

    def _learn(self, values: Values, method: Method, options: Values, table: AnyTable, scored: HoldoutPredictions) -> None:
        """What the selection rows tell."""
        rows, truth, classes = scored.rows, scored.target.y[scored.rows], scored.target.classes
        every = len(rows) == table.n_rows and bool((rows == np.arange(table.n_rows)).all())
        space, points = self._space(values, table.X if every else table.take(None, rows))
        facts: Any = RegressionFacts(scored.votes, truth)
        if classes is not None:
            facts = SelectionFacts.of(scored.votes, truth, len(classes), scored.probabilities)
        selector = self._selector(values, method, options, len(rows))
        search, clusters = self._searching(values, selector, points, facts)
        similar: RegionSearch | None = None
        if method.similar is not None and facts.probabilities is not None:
            predicted = profiles(facts.probabilities)
            similar = BalancedSearch(predicted, facts.truth) if values.get("knne") else Search(predicted)
        if method.learn is not None:
            facts = facts.learning(self._trained(selector, facts, search, similar, points, clusters))
        self._model = DynamicModel(scored.pool, space, search, similar, facts, rows, selector)
        self.method_, self.n_neighbors_, self.selection_rows_ = method, selector.k, np.unique(rows)
        self._name_trained(list(scored.pool.members))

    def _space(self, values: Values, X: Any) -> tuple[FeatureSpace, Floats]:
        """Where distances are measured, and the selection rows there."""
        form = MatrixForm.learn(X, scale=values["standardize"], owner=self._owner)
        # Columns were found by name already: they are in the order of the training table.
        form = replace(form, schema=replace(form.schema, names=None))
        points = form.of(X, self._owner)
        if values["metric"] != "mahalanobis":
            return FeatureSpace(form, None), points
        turn = whitening(points)
        return FeatureSpace(form, turn), points @ turn

    def _selector(self, values: Values, method: Method, options: Values, n_rows: int) -> Selector:
        """How members are scored, with the numbers of rows that there are."""
        needs_others = method.learn is not None and "region" in argument_names(method.learn)
        most = n_rows - 1 if needs_others else n_rows
        if most < 1:
            raise DataError(f"{self._owner}: there is one selection row (n_samples=1), and the method needs more. Give more rows.")
        wanted = method.k if values["k"] == "auto" else values["k"]
        k = None if wanted is None else min(wanted, most)
        n_similar = None if method.similar is None else min(options.get("n_similar") or wanted or most, most)
        mode: Mode = method.mode if values["mode"] == "auto" else values["mode"]
        return Selector(method, mode, options, k, n_similar)

    def _searching(self, values: Values, selector: Selector, points: Floats, facts: Any) -> tuple[RegionSearch, Integers | None]:
        """Who finds regions, and the clusters of the selection rows where these are the regions."""
        if selector.method.clusters is not None:
            centres = centres_of(points, int(selector.options["n_clusters"]), int(selector.options["seed"]))
            search = ClusterSearch(centres)
            return search, search.near(points, 1, self._threads).rows()[:, 0]
        metric = "euclidean" if values["metric"] == "mahalanobis" else values["metric"]
        if values.get("knne"):
            return BalancedSearch(points, facts.truth, metric), None
        if values["search"] == "fast":
            return FastSearch.of(points, int(selector.options["seed"])), None
        return Search(points, metric), None

    def _trained(
        self, selector: Selector, facts: Any, search: RegionSearch, similar: RegionSearch | None, points: Floats, clusters: Integers | None
    ) -> Any:
        """What the method learns from the selection rows before any query comes."""
        learn, known = selector.method.learn, {"facts": facts, "clusters": clusters} | dict(selector.options)
        assert learn is not None
        if "region" in argument_names(learn):
            k = len(points) - 1 if selector.k is None else selector.k
            known["region"] = without_itself(search.near(points, k + 1, self._threads))
        if "similar" in argument_names(learn) and similar is not None and selector.n_similar is not None:
            known["similar"] = without_itself(similar.near(profiles(facts.probabilities), selector.n_similar + 1, self._threads))
        return with_known(learn, known)

    # What there is to ask.

    def _check_is_fitted(self) -> None:
        """Raise unless there is a model: scikit-learn's check asks every member for its tags first, which takes a hundred of them 14 ms."""
        if not hasattr(self, "_model"):
            check_is_fitted(self)

    @property
    def estimators_(self) -> list[Any]:
        """The members, each trained."""
        self._check_is_fitted()
        return list(self._model.pool.members)


def argument_names(function: Any) -> tuple[str, ...]:
    """What a function of a method wants to know."""
    return tuple(function.__code__.co_varnames[: function.__code__.co_argcount])


def whitening(points: Floats) -> Floats:
    """What turns points so that Euclidean distances are Mahalanobis distances; directions without any spread do not count."""
    spread = np.atleast_2d(np.cov(points, rowvar=False)) if len(points) > 1 else np.eye(points.shape[1])
    values, vectors = np.linalg.eigh(spread)
    there = values > 1e-10 * max(values.max(), 1e-300)
    scale = np.where(there, 1.0 / np.sqrt(np.where(there, values, 1.0)), 0.0)
    return np.asarray(vectors * scale)


@dataclass(frozen=True, eq=False)
class MetaClassifierTraining:
    """Trains a user's meta-classifier for META-DES."""

    estimator: Any

    def __call__(self, facts: Floats, right: NDArray[np.bool_]) -> "MetaClassifier":
        """The function that says how likely a member is right."""
        return MetaClassifier(clone(self.estimator).fit(facts, right))


@dataclass(frozen=True, eq=False)
class MetaClassifier:
    """Says by a trained meta-classifier how likely a member is right."""

    model: Any

    def check(self) -> "MetaClassifier":
        """It is a trained classifier of no and yes; returns self, or raises DataError."""
        require_model(self.model, "the meta-classifier", classes=np.array([False, True]), soft=True)
        return self

    def __call__(self, facts: Floats) -> Floats:
        """The probability of each pair of a row and a member."""
        if len(self.model.classes_) < 2:
            return np.full(len(facts), float(self.model.classes_[0]))
        return ask_model(self.model, lambda: np.asarray(self.model.predict_proba(facts)[:, 1], np.float64))


def joined(found: list[dict[str, Any]], model: DynamicModel) -> SelectionExplanation:
    """One explanation of what was found part by part."""
    first = found[0]
    whole = {name: np.concatenate([one[name] for one in found]) for name, value in first.items() if isinstance(value, np.ndarray)}
    return SelectionExplanation(method=model.selector.method.title, names=model.pool.names, **(first | whole))
