"""How much rows weigh in each round of AdaBoost, replayed from the trained model: what its learners were trained on."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from woodwind.data.header import Header
from woodwind.ensemble.adaptive import centred_logs
from woodwind.estimators.pool import Pool, class_numbers, named_members

Floats = NDArray[np.float64]

VOTES = ("samme", "discrete")


def has_row_weights(model: Any) -> bool:
    """Whether this is a vote of learners whose weights of rows can be replayed: AdaBoost of votes, and SAMME.R."""
    members = getattr(model, "estimators_", None)
    if not isinstance(members, list) or not hasattr(model, "estimator_weights_") or not hasattr(model, "classes_"):
        return False
    algorithm = str(getattr(model, "algorithm", "samme")).lower()
    return bool(members) and not isinstance(members[0], list) and algorithm in (*VOTES, "samme.r")


def staged_row_weights(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Floats]:
    """The weights of the rows that each learner was trained with, which add up to one.

    Rows that a learner gets wrong weigh exp(weight of the learner) times more for the next one (Freund & Schapire 1997); with SAMME.R all
    rows weigh by the probabilities that it gives (Zhu, Zou, Rosset & Hastie 2009). `X`, `y` and the weights are those of the training.
    """
    pool = learners_of(model)
    label = class_numbers(np.asarray(y), np.asarray(model.classes_))
    weight = np.ones(len(label)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    soft = str(getattr(model, "algorithm", "samme")).lower() == "samme.r"
    for place in range(len(pool)):
        weight = weight / weight.sum()
        yield weight
        learner = pool.only([place])
        if soft:
            logs = centred_logs(learner.probabilities(X, type(model).__name__)[:, 0])
            weight = weight * np.exp(-model.learning_rate * logs[np.arange(len(label)), label] / (pool.n_classes - 1.0))
        else:
            wrong = learner.votes(X, type(model).__name__)[:, 0] != label
            weight = weight * np.exp(model.estimator_weights_[place] * wrong)


def learners_of(model: Any) -> Pool:
    """The learners of a vote."""
    check_is_fitted(model)
    owner, names = type(model).__name__, getattr(model, "feature_names_in_", None)
    header = Header(None if names is None else tuple(str(name) for name in names), int(model.n_features_in_))
    return Pool.of_fitted(named_members(model, owner, classifies=True), header, np.asarray(model.classes_), owner)
