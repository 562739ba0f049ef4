"""Voting: models of any kind answer together, with equal weights, given ones, or weights found on rows that they have not been trained
on."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils import Bunch
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import key, seed_of
from woodwind.base.validate import require_finite
from woodwind.ensemble import combine, member_weights
from woodwind.estimators.base.model import COLUMNS, LogProbabilityMixin, check_lengths
from woodwind.estimators.base.per_target import TARGETS, PerTargetMixin
from woodwind.estimators.base.splits import read_groups
from woodwind.estimators.base.target import Target, read_labels, read_regression_target, warn_constant
from woodwind.estimators.base.weights import read_weight, weighed_classes
from woodwind.estimators.pools.out_of_fold import out_of_fold
from woodwind.estimators.pools.pool import (
    NamedMember,
    Pool,
    Response,
    header_for,
    joint_classes,
    open_table_of,
    trained_pool,
    without_probabilities,
)
from woodwind.estimators.pools.pool_base import BasePool
from woodwind.losses import Loss, Multinomial, regression_loss
from woodwind.losses.links import Identity
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import ClassifierVotingParams, PoolParams, PrefitParams, RegressorVotingParams, TransformParams, WeighingParams

# ----------------------------------------------------------------------------------------------------
# Voting for both tasks: from members and rows to trained members with weights.


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
{targets}
"""


class BaseVoting(PerTargetMixin, BasePool, TransformerMixin):
    """What both kinds of voting share. `fit` sets the pool of trained members and their weights."""

    _state: ClassVar[dict[str, Any]] = {
        "_pool": Pool,
        "_member_weights": Floats | None,
        "weights_": Floats | None,
        "estimators_": list[Any],
        "named_estimators_": Bunch,
    }

    _docstring_parts: ClassVar[dict[str, str]] = {"about": ABOUT, "model": MODEL.format(targets=TARGETS.strip()), "columns": COLUMNS}
    weights: Any
    _pool: Pool
    _member_weights: Floats | None

    # What each task does in its own way.

    def _read_target(self, y: Any) -> Target:
        raise NotImplementedError

    def _check_members(self, named: list[NamedMember], values: Values) -> None:
        """Raise where members cannot do what they will be asked for."""

    def _weighed(self, target: Target, weight: Floats | None) -> Target:
        """The target that members are trained on."""
        return target

    def _response(self) -> Response:
        """What members are asked for."""
        raise NotImplementedError

    def _found_weights(self, predicted: Floats, target: Target, weight: Floats | None, values: Values) -> Floats:
        """The weights of members by what they predict for rows that they have not been trained on, (n, m, width)."""
        raise NotImplementedError

    # Base class.

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    # Training.

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        if self._fits_each(X, y, sample_weight=sample_weight, groups=groups):
            return
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
        self._set_header(self._pool.header or table.header)
        self.estimators_ = list(self._pool.members)
        self._name_trained(self.estimators_)
        equal = np.ones(len(self._pool))
        raw = equal if self._member_weights is None else self._member_weights
        self.weights_ = raw / raw.sum()

    def _weights_out_of_fold(
        self, named: list[NamedMember], table: Any, target: Target, weight: Floats | None, groups: Any, seed: int, values: Values
    ) -> Floats:
        """Weights by rows that folds hold out."""
        found = out_of_fold(
            named,
            table,
            target,
            cv=values["cv"],
            groups=groups,
            weight=weight,
            kind=self._response(),
            seed=key(seed, "weights"),
            threads=self._threads,
            owner=self._owner,
            verbose=values["verbose"],
        )
        scored = found.scored
        return self._found_weights(found.predicted[scored], target.at(scored), None if weight is None else weight[scored], values)

    def _take(self, named: list[NamedMember], table: Any, target: Target, weight: Floats | None, values: Values) -> None:
        """Members as they are; weights by the rows that are given."""
        header, classes = header_for(values["estimators"], named, table.header), None
        if target.classes is not None:
            classes = joint_classes(named, target.classes)
            positions = np.searchsorted(classes, target.classes) if classes is not target.classes else np.arange(target.n_classes)
            target = target.renumbered(positions, classes)
            self.classes_ = classes
        self._pool = Pool.of_fitted(named, header, classes, self._owner)
        given = self._read_given_weights(values["weights"])
        if isinstance(given, str):
            predicted = self._pool.predicted(table.X, self._response(), self._owner, self._threads)
            given = self._found_weights(predicted, target, weight, values)
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
        with np.errstate(over="ignore"):
            finite = np.isfinite(array.sum())
        if not finite or (array < 0.0).any():
            raise ParameterError(f"{self._owner}: weights must be numbers of at least 0 with a finite sum, but they are {weights!r}.")
        array = array[[not isinstance(one, str) for _, one in pairs]]
        if not array.any():
            raise ParameterError(f"{self._owner}: weights are zero for every member, so that nobody would be asked. Raise one of them.")
        return array

    # Prediction.

    def _ask(self, X: Any, response: Response) -> Floats:
        check_is_fitted(self)
        self._require_one_target()
        return self._pool.predicted(X, response, self._owner, self._threads)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_pool") or self._has_several

    def _names_out(self) -> list[str]:
        return [f"{self._owner.lower()}_{name}" for name in self._pool.names]


@knobs
class VotingClassifier(
    PoolParams,
    ClassifierVotingParams,
    WeighingParams,
    PrefitParams,
    TransformParams,
    WorkParams,
    BaseVoting,
    LogProbabilityMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Voting of classifiers of any kind.

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
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from woodwind import RandomForestClassifier, VotingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("linear", LogisticRegression(max_iter=1000)), ("bayes", GaussianNB()), ("forest", RandomForestClassifier())]
    >>> model = VotingClassifier(estimators=members, weights="optimal", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> list(model.named_estimators_)
    ['linear', 'bayes', 'forest']
    """

    _classifies = True
    _optional_state: ClassVar[dict[str, Any]] = {"_tie_seed": int}

    def _fit(self, values: Values, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        if values["ties"] == "random" and values["voting"] != "hard":
            raise ParameterError(
                f"{self._owner}: ties='random' is for votes that are counted, and voting={values['voting']!r} has none. "
                "Set voting='hard', or ties='first'."
            )
        self.__dict__.pop("_tie_seed", None)
        if values["ties"] == "random":
            self._tie_seed = seed_of(values["random_state"])
        super()._fit(values, X, y, sample_weight, groups)

    def _read_target(self, y: Any) -> Target:
        return read_labels(y, self._owner)

    def _check_members(self, named: list[NamedMember], values: Values) -> None:
        for member in named if values["voting"] != "hard" else ():
            if not hasattr(member.estimator, "predict_proba"):
                raise ParameterError(f"{without_probabilities(member.name, member.estimator, self._owner)} That is voting='hard'.")

    def _weighed(self, target: Target, weight: Floats | None) -> Target:
        return weighed_classes(target, weight, None, self._owner)[0]

    def _response(self) -> Response:
        return "votes" if self.voting == "hard" else "probabilities"

    def _found_weights(self, predicted: Floats, target: Target, weight: Floats | None, values: Values) -> Floats:
        n_classes = target.n_classes
        hard = values["voting"] == "hard"
        if values["weights"] == "score":
            votes = predicted[:, :, 0] if hard else predicted.argmax(axis=2)
            return member_weights.accuracy_weights(votes == target.y[:, None], n_classes, weight)
        if hard:
            return member_weights.brier_weights(np.eye(n_classes)[predicted[:, :, 0].astype(np.int64)], target.y, weight).weights
        if values["voting"] == "ranked":
            ranked = np.stack([combine.ranked_probabilities(predicted[:, [position]]) for position in range(predicted.shape[1])], axis=1)
            return member_weights.brier_weights(ranked, target.y, weight).weights
        if values["averaging"] == "geometric":
            logs = np.log(np.maximum(predicted, combine.LEAST_SHARE))
            return member_weights.loss_weights(logs, target.y, Multinomial(n_classes), weight).weights
        return member_weights.log_loss_weights(predicted, target.y, weight).weights

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest mean probability, the most votes or the most points; of equals the first, or as `ties` says.

        Parameters
        ----------
        X : table
            Rows of the columns that the members were trained with; columns are matched by name.
        """
        if self._has_several:
            return np.asarray(self._each("predict", X))
        if self.voting == "hard":
            votes = self._ask(X, "votes")[:, :, 0].astype(np.int64)
            best = combine.majority(votes, len(self.classes_), self._member_weights)
            if self.ties == "random":
                best = combine.winners(combine.counted_ballots(votes, len(self.classes_), self._tie_seed, self._member_weights))
        else:
            best = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Any:
        """Mean probabilities, or shares of the votes or points, (n_rows, n_classes), in the order of `classes_`.

        Of several targets a list of these.
        """
        if self._has_several:
            return self._each("predict_proba", X)
        weights, predicted = getattr(self, "_member_weights", None), self._ask(X, self._response())
        if self.voting == "hard":
            votes = predicted[:, :, 0].astype(np.int64)
            if self.ties == "first":
                return combine.vote_fractions(votes, len(self.classes_), weights)
            ballots = combine.counted_ballots(votes, len(self.classes_), self._tie_seed, weights)
            return combine.ballot_fractions(ballots, ballots[:, :-1].sum(axis=1))
        if self.voting == "ranked":
            return require_finite(combine.ranked_probabilities(predicted, weights), self._owner)
        if self.averaging == "trimmed":
            return require_finite(combine.trimmed_probabilities(predicted, self.trim, weights), self._owner)
        means = {"mean": combine.mean_probabilities, "median": combine.median_probabilities, "geometric": combine.geometric_probabilities}
        return require_finite(means[self.averaging](predicted, weights), self._owner)

    def transform(self, X: Any) -> NDArray[Any]:
        """What each member predicts: probabilities side by side, (n_rows, n_members * n_classes), or (n_members, n_rows, n_classes) without
        `flatten_transform`; with voting='hard' the number of the class that it predicts, (n_rows, n_members).
        """
        predicted = self._ask(X, self._response())
        if self.voting == "hard":
            return predicted[:, :, 0].astype(np.int64)
        return predicted.reshape(len(predicted), -1) if self.flatten_transform else np.ascontiguousarray(predicted.transpose(1, 0, 2))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """What the columns of transform are called.

        Parameters
        ----------
        input_features : ignored
            Here because scikit-learn asks for it.
        """
        check_is_fitted(self, "n_features_in_")
        if self.voting != "hard" and not self.flatten_transform:
            raise ParameterError(f"{self._owner}: get_feature_names_out has no names with flatten_transform=False: there are no columns.")
        _check_feature_names_in(self, input_features, generate_names=False)
        names = self._names_out()
        if self.voting != "hard":
            names = [f"{name}{position}" for name in names for position in range(len(self.classes_))]
        return np.array(names, object)


@knobs
class VotingRegressor(
    PoolParams, RegressorVotingParams, WeighingParams, PrefitParams, WorkParams, BaseVoting, RegressorMixin, BaseEstimator
):
    """The mean, or another average, of regressors of any kind.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from woodwind import VotingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = VotingRegressor(estimators={"ridge": RidgeCV(), "near": KNeighborsRegressor()}, averaging="median").fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    _classifies = False

    def _read_target(self, y: Any) -> Target:
        return read_regression_target(y, self._owner)

    def _check_members(self, named: list[NamedMember], values: Values) -> None:
        loss = self._read_loss(values)
        if values["weights"] == "optimal" and not isinstance(loss.link, Identity) and values["averaging"] != "geometric":
            raise ParameterError(
                f"{self._owner}: loss={values['loss']!r} is of the logarithm of a prediction, and weights that make it smallest are for "
                "products. Set averaging='geometric', or another loss."
            )

    def _read_loss(self, values: Values) -> Loss:
        given = values["loss"]
        loss = regression_loss(given) if isinstance(given, str) else given
        if not isinstance(loss, Loss) or loss.width != 1:
            raise ParameterError(f"{self._owner}: loss must be the name of a loss for numbers or a loss of woodwind.losses, not {given!r}.")
        return loss

    def _weighed(self, target: Target, weight: Floats | None) -> Target:
        warn_constant(target.y if weight is None else target.y[weight > 0.0], self._owner)
        return target

    def _response(self) -> Response:
        return "numbers"

    def _found_weights(self, predicted: Floats, target: Target, weight: Floats | None, values: Values) -> Floats:
        predictions, loss = predicted[:, :, 0], self._read_loss(values)
        if values["weights"] == "score":
            return member_weights.precision_weights(predictions, target.y, weight)
        if values["averaging"] == "geometric" and not isinstance(loss.link, Identity):
            combine.geometric_prediction(predictions)  # says which number is not above zero
            return member_weights.loss_weights(np.log(predictions), target.y, loss, weight).weights
        if loss == regression_loss("squared_error"):
            return member_weights.squared_weights(predictions, target.y, weight).weights
        return member_weights.loss_weights(predictions, target.y, loss, weight).weights

    def predict(self, X: Any) -> Floats:
        """The average of what the members predict.

        Parameters
        ----------
        X : table
            Rows of the columns that the members were trained with; columns are matched by name.
        """
        if self._has_several:
            return np.asarray(self._each("predict", X))
        return require_finite(self._averaged(self._ask(X, "numbers")[:, :, 0], self._member_weights), self._owner)

    def _averaged(self, predictions: Floats, weights: Floats | None) -> Floats:
        if self.averaging == "median":
            return (
                combine.median_prediction(predictions)
                if weights is None
                else combine.weighted_median_prediction(predictions, weights, midpoint=True)
            )
        if self.averaging == "trimmed":
            return combine.trimmed_prediction(predictions, self.trim, weights)
        return (
            combine.mean_prediction(predictions, weights)
            if self.averaging == "mean"
            else combine.geometric_prediction(predictions, weights)
        )

    def transform(self, X: Any) -> Floats:
        """What each member predicts, (n_rows, n_members)."""
        return np.ascontiguousarray(self._ask(X, "numbers")[:, :, 0])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """What the columns of transform are called.

        Parameters
        ----------
        input_features : ignored
            Here because scikit-learn asks for it.
        """
        check_is_fitted(self, "n_features_in_")
        _check_feature_names_in(self, input_features, generate_names=False)
        return np.array(self._names_out(), object)
