"""How many free parameters a trained model has: what it says itself, or rules for the kinds that have a natural count.

Linear models count coefficients that are not zero (for the lasso that is unbiased: Zou, Hastie & Tibshirani 2007) and intercepts; of K
classes with a coefficient each, one is redundant. Trees count their leaves, each of which holds K - 1 probabilities or one number; splits
are not counted. A forest is a mean of trees, about as free as one of them: it counts their mean number of leaves. For others there is no
rule.
"""

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import BaggingClassifier as TheirBaggingClassifier
from sklearn.ensemble import BaggingRegressor as TheirBaggingRegressor
from sklearn.ensemble._forest import BaseForest
from sklearn.model_selection._search import BaseSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from woodwind.estimators.bagging.bagging import BaseBagging
from woodwind.estimators.forests.forest_base import BaseForestModel

BAGS = (BaseForest, TheirBaggingClassifier, TheirBaggingRegressor, BaseBagging, BaseForestModel)


def free_parameters(estimator: Any) -> float | None:
    """The free parameters of a trained model, without those of its errors; None where there is no rule."""
    predicted = getattr(estimator, "n_parameters_", None)
    if predicted is not None:
        return float(predicted() if callable(predicted) else predicted)
    if isinstance(estimator, Pipeline | BaseSearchCV):
        return free_parameters(estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator.best_estimator_)
    if isinstance(estimator, DummyClassifier | DummyRegressor):
        return float(_parameters_per_row(estimator))
    if isinstance(estimator, GaussianNB):
        return float(2 * estimator.theta_.size + len(estimator.classes_) - 1)
    if hasattr(estimator, "get_n_leaves"):
        return float(estimator.get_n_leaves() * _parameters_per_row(estimator))
    return _of_bag(estimator) if isinstance(estimator, BAGS) else _linear(estimator)


def _of_bag(bag: Any) -> float | None:
    """The mean over members, where each has a number."""
    counts = [free_parameters(member) for member in bag.estimators_]
    known = [count for count in counts if count is not None]
    return float(np.mean(known)) if len(known) == len(counts) else None


def _parameters_per_row(estimator: Any) -> int:
    """Free numbers that a model predicts for a row."""
    return max(1, len(getattr(estimator, "classes_", ())) - 1)


def _linear(estimator: Any) -> float | None:
    """Coefficients of a linear model."""
    coef = getattr(estimator, "coef_", None)
    if coef is None or hasattr(estimator, "support_vectors_") or not hasattr(estimator, "intercept_"):
        return None
    coef = np.atleast_2d(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef))
    intercepts = np.count_nonzero(np.atleast_1d(estimator.intercept_)) if not getattr(estimator, "fit_intercept", True) else len(coef)
    rows = _parameters_per_row(estimator)
    # A row of coefficients for each of K > 2 classes: adding the same to all of them changes nothing.
    redundant = rows / len(coef) if len(coef) > rows else 1.0
    return float((np.count_nonzero(coef) + intercepts) * redundant)
