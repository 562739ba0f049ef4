"""Voting: models of any kind answer together, with equal weights, given ones, or weights found on rows that they have not learnt."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.base.sound import finite
from woodwind.ensemble import combine, weighing
from woodwind.estimators.log_shares import LogShares
from woodwind.estimators.pool import Named, Saying, without_probabilities
from woodwind.estimators.target import Target, read_labels, read_numbers, tell_of_constant
from woodwind.estimators.voting_skin import Floats, Values, Voting
from woodwind.estimators.weights import weighed_classes
from woodwind.losses import Loss, Multinomial, regression_loss
from woodwind.losses.links import Identity
from woodwind.params.groups import WorkParams
from woodwind.params.knobs import knobs
from woodwind.params.pools import PoolParams, PrefitParams
from woodwind.params.voting import ClassVotingParams, NumberVotingParams, TransformParams, WeighingParams


@knobs
class VotingClassifier(
    PoolParams,
    ClassVotingParams,
    WeighingParams,
    PrefitParams,
    TransformParams,
    WorkParams,
    Voting,
    LogShares,
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

    def _read_target(self, y: Any) -> Target:
        return read_labels(y, self._owner)

    def _check_members(self, named: list[Named], values: Values) -> None:
        for member in named if values["voting"] != "hard" else ():
            if not hasattr(member.estimator, "predict_proba"):
                raise ParameterError(f"{without_probabilities(member.name, member.estimator, self._owner)} That is voting='hard'.")

    def _weighed(self, target: Target, weight: Floats | None) -> Target:
        return weighed_classes(target, weight, None, self._owner)[0]

    def _saying(self) -> Saying:
        return "votes" if self.voting == "hard" else "probabilities"

    def _found_weights(self, said: Floats, target: Target, weight: Floats | None, values: Values) -> Floats:
        n_classes = target.n_classes
        hard = values["voting"] == "hard"
        if values["weights"] == "score":
            votes = said[:, :, 0] if hard else said.argmax(axis=2)
            return weighing.accuracy_weights(votes == target.y[:, None], n_classes, weight)
        if hard:
            return weighing.brier_weights(np.eye(n_classes)[said[:, :, 0].astype(np.int64)], target.y, weight).weights
        if values["voting"] == "ranked":
            ranked = np.stack([combine.ranked_shares(said[:, [place]]) for place in range(said.shape[1])], axis=1)
            return weighing.brier_weights(ranked, target.y, weight).weights
        if values["averaging"] == "geometric":
            logs = np.log(np.maximum(said, combine.LEAST_SHARE))
            return weighing.loss_weights(logs, target.y, Multinomial(n_classes), weight).weights
        return weighing.log_loss_weights(said, target.y, weight).weights

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest mean probability, the most votes or the most points; of equals the first.

        Parameters
        ----------
        X : table
            Rows of the columns that the members were trained with; columns are matched by name.
        """
        if self.voting == "hard":
            votes = self._ask(X, "votes")[:, :, 0].astype(np.int64)
            best = combine.majority(votes, len(self.classes_), self._member_weights)
        else:
            best = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Mean probabilities, or shares of the votes or points, (n_rows, n_classes), in the order of `classes_`."""
        weights, said = getattr(self, "_member_weights", None), self._ask(X, self._saying())
        if self.voting == "hard":
            return combine.vote_shares(said[:, :, 0].astype(np.int64), len(self.classes_), weights)
        if self.voting == "ranked":
            return finite(combine.ranked_shares(said, weights), self._owner)
        if self.averaging == "trimmed":
            return finite(combine.trimmed_shares(said, self.trim, weights), self._owner)
        means = {"mean": combine.mean_shares, "median": combine.median_shares, "geometric": combine.geometric_shares}
        return finite(means[self.averaging](said, weights), self._owner)

    def transform(self, X: Any) -> NDArray[Any]:
        """What each member says: probabilities side by side, (n_rows, n_members * n_classes), or (n_members, n_rows, n_classes) without
        `flatten_transform`; with voting='hard' the number of the class that it predicts, (n_rows, n_members).
        """
        said = self._ask(X, self._saying())
        if self.voting == "hard":
            return said[:, :, 0].astype(np.int64)
        return said.reshape(len(said), -1) if self.flatten_transform else np.ascontiguousarray(said.transpose(1, 0, 2))

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
            names = [f"{name}{place}" for name in names for place in range(len(self.classes_))]
        return np.array(names, object)


@knobs
class VotingRegressor(
    PoolParams, NumberVotingParams, WeighingParams, PrefitParams, WorkParams, Voting, RegressorMixin, BaseEstimator
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
        return read_numbers(y, self._owner)

    def _check_members(self, named: list[Named], values: Values) -> None:
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
        tell_of_constant(target.y if weight is None else target.y[weight > 0.0], self._owner)
        return target

    def _saying(self) -> Saying:
        return "numbers"

    def _found_weights(self, said: Floats, target: Target, weight: Floats | None, values: Values) -> Floats:
        numbers, loss = said[:, :, 0], self._read_loss(values)
        if values["weights"] == "score":
            return weighing.precision_weights(numbers, target.y, weight)
        if values["averaging"] == "geometric" and not isinstance(loss.link, Identity):
            combine.geometric_numbers(numbers)  # says which number is not above zero
            return weighing.loss_weights(np.log(numbers), target.y, loss, weight).weights
        if loss == regression_loss("squared_error"):
            return weighing.squared_weights(numbers, target.y, weight).weights
        return weighing.loss_weights(numbers, target.y, loss, weight).weights

    def predict(self, X: Any) -> Floats:
        """The average of what the members predict.

        Parameters
        ----------
        X : table
            Rows of the columns that the members were trained with; columns are matched by name.
        """
        return finite(self._averaged(self._ask(X, "numbers")[:, :, 0], self._member_weights), self._owner)

    def _averaged(self, numbers: Floats, weights: Floats | None) -> Floats:
        if self.averaging == "median":
            return combine.median_numbers(numbers) if weights is None else combine.weighted_median_numbers(numbers, weights, midpoint=True)
        if self.averaging == "trimmed":
            return combine.trimmed_numbers(numbers, self.trim, weights)
        return combine.mean_numbers(numbers, weights) if self.averaging == "mean" else combine.geometric_numbers(numbers, weights)

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
