"""Softmax regression as an estimator: the expert of classes that is meant by None."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from woodwind.ensemble.gate import Softmax, fit_softmax

Floats = NDArray[np.float64]


def ridge_of(l2_regularization: float, n_classes: int) -> float:
    """The ridge on the coefficients of all classes. Those of two classes are opposite: twice as much is that on their difference."""
    return 2.0 * l2_regularization if n_classes == 2 else l2_regularization


class SoftmaxRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression of any number of classes, trained exactly: sum w log p, less l2_regularization / 2 times squared coefficients."""

    def __init__(self, l2_regularization: float = 1.0) -> None:
        self.l2_regularization = l2_regularization

    def fit(self, X: Floats, y: NDArray[Any], sample_weight: Floats | None = None) -> Self:
        """Train on numbers without gaps."""
        self.classes_, numbers = np.unique(y, return_inverse=True)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        shares = np.eye(len(self.classes_))[numbers]
        ridge = ridge_of(self.l2_regularization, len(self.classes_))
        return self.set_found(fit_softmax(np.asarray(X, np.float64), shares, weight, ridge), self.classes_)

    def set_found(self, found: Softmax, classes: NDArray[Any]) -> Self:
        """Take over coefficients."""
        self.coef_, self.intercept_, self.classes_ = found.coef, found.intercept, classes
        self.n_features_in_ = int(self.coef_.shape[1])
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """The probabilities (n, K) of the classes."""
        return np.exp(Softmax(self.coef_, self.intercept_).log_shares(np.asarray(X, np.float64)))

    def predict(self, X: Floats) -> NDArray[Any]:
        """The most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
