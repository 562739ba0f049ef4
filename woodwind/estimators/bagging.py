"""Bagging of any estimator, for classes and for numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.ensemble.ballots import shares, winners
from woodwind.ensemble.noise import class_shares, largest_rate
from woodwind.ensemble.out_of_bag import OutOfBag
from woodwind.estimators.bag_checks import Score
from woodwind.estimators.bagged import Bagging, Given, Values
from woodwind.estimators.log_shares import LogShares
from woodwind.estimators.members import Kind
from woodwind.estimators.target import Target, read_labels, read_numbers, tell_of_constant
from woodwind.estimators.trees import DecisionTreeClassifier, DecisionTreeRegressor
from woodwind.estimators.weights import Weighing, class_factors, weighed_classes
from woodwind.params.bagging import BagClassifierParams, BagParams, DiversityParams
from woodwind.params.groups import RunParams
from woodwind.params.knobs import knobs

Floats = NDArray[np.float64]


def _members_decide(bag: Any) -> bool:
    """Whether members have a decision function."""
    base = getattr(bag, "estimator_", bag.estimator)
    return base is not None and hasattr(base, "decision_function")


@knobs
class BaggingClassifier(BagParams, BagClassifierParams, DiversityParams, RunParams, Bagging, LogShares, ClassifierMixin, BaseEstimator):
    """Bagging for classification.

    {about}

    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    n_classes_ : int
        How many there are.
    {model}
    oob_decision_function_ : array of shape (n_rows, n_classes)
        Mean probabilities, or shares of votes, of the members that have not seen a row; NaN where there is none.
    oob_prediction_ : array of shape (n_rows,)
        The labels that follow from them; where there is none, the first class.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from woodwind import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.9)
    True
    """

    def _default(self) -> Any:
        return DecisionTreeClassifier()

    def _kind(self) -> Kind:
        check_is_fitted(self)
        soft = self.voting == "soft" and hasattr(self.estimator_, "predict_proba")
        return "probabilities" if soft else "ballots"

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        return read_labels(y, self._owner, known)

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing, Floats | None]:
        chance = class_factors(values["class_weight"], weight, target, self._owner) if values["bootstrap"] else None
        if chance is None:
            target, weighing = weighed_classes(target, weight, values["class_weight"], self._owner)
        else:
            # Rows of a class that weighs nothing are absent; others are drawn as their class weighs.
            there = (chance > 0.0).astype(np.float64)
            target, weighing = weighed_classes(target, there if weight is None else weight * there, None, self._owner)
        self.classes_: NDArray[Any] = np.asarray(target.classes)
        self.n_classes_ = target.n_classes
        most = largest_rate(class_shares(target.y, weighing.given, target.n_classes))
        if values["flip_rate"] > most:
            raise ParameterError(
                f"{self._owner}: flip_rate={values['flip_rate']} is too much for these classes: when {most:.3f} of the labels are another "
                "class and the shares of the classes are kept, labels no longer depend on the rows. Give less."
            )
        return target, weighing, chance

    def _keep_out_of_bag(self, found: OutOfBag, given: Given, score: Score) -> None:
        judged = found.voters > 0
        if self._kind() == "ballots":
            said, chosen = shares(found.total, np.where(judged, found.voters, 1)), winners(found.total)
            said[~judged] = np.nan
        else:
            said, chosen = found.mean(), found.total.argmax(axis=1)
        self.oob_decision_function_ = said
        chosen[~judged] = 0
        self.oob_prediction_: NDArray[Any] = self.classes_[chosen]
        weight = given.weighing.given
        judged &= True if weight is None else weight > 0.0
        truth = given.target.labels()
        of_judged = None if weight is None else weight[judged]
        self.oob_score_ = score(truth[judged], self.oob_prediction_[judged], said[judged], of_judged) if judged.any() else np.nan

    # Prediction.

    def _labels(self, total: Floats) -> NDArray[Any]:
        best = winners(total) if self._kind() == "ballots" else total.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def _shares(self, total: Floats, members: int) -> Floats:
        return shares(total, members) if self._kind() == "ballots" else total / members

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest mean probability, of equals the first; or with the most votes, of equals one by luck.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._labels(self._total(X, self._kind()))

    def predict_proba(self, X: Any) -> Floats:
        """Mean probabilities, or shares of the votes, (n_rows, n_classes), in the order of `classes_`."""
        return self._shares(self._total(X, self._kind()), len(self._members))

    @available_if(_members_decide)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The mean of what the decision functions of the members say, where they have one."""
        return self._total(X, "decisions") / len(self._members)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The labels that the first member predicts, the first two together, and so on."""
        for total in self._staged(X, self._kind()):
            yield self._labels(total)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities that the first member gives, the first two together, and so on."""
        for members, total in enumerate(self._staged(X, self._kind()), 1):
            yield self._shares(total, members)


@knobs
class BaggingRegressor(BagParams, DiversityParams, RunParams, Bagging, RegressorMixin, BaseEstimator):
    """Bagging for regression.

    {about}

    {parameters}

    Attributes
    ----------
    {model}
    oob_prediction_ : array of shape (n_rows,)
        The mean prediction of the members that have not seen a row; NaN where there is none.
    {columns}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from woodwind import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.3)
    True
    """

    def _default(self) -> Any:
        return DecisionTreeRegressor()

    def _kind(self) -> Kind:
        return "numbers"

    def _read_target(self, y: Any, known: NDArray[Any] | None = None) -> Target:
        return read_numbers(y, self._owner)

    def _weighed(self, target: Target, weight: Floats | None, values: Values) -> tuple[Target, Weighing, Floats | None]:
        target, weighing, chance = super()._weighed(target, weight, values)
        tell_of_constant(weighing.at(target.y), self._owner)
        return target, weighing, chance

    def _keep_out_of_bag(self, found: OutOfBag, given: Given, score: Score) -> None:
        judged = found.voters > 0
        self.oob_prediction_ = found.mean()[:, 0]
        weight = given.weighing.given
        judged = judged if weight is None else judged & (weight > 0.0)
        truth, of_judged = given.target.y[judged], None if weight is None else weight[judged]
        self.oob_score_ = score(truth, self.oob_prediction_[judged], None, of_judged) if judged.any() else np.nan

    def predict(self, X: Any) -> Floats:
        """The mean of what the members predict.

        Parameters
        ----------
        X : table
            Rows of the columns that the model was trained with; columns are matched by name.
        """
        return self._total(X, "numbers")[:, 0] / len(self._members)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """The mean of what the first member predicts, the first two, and so on."""
        for members, total in enumerate(self._staged(X, "numbers"), 1):
            yield total[:, 0] / members
