"""What an ensemble predicts after its first member, its first two, and so on: of any rows, and of rows out of the bag."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from woodwind.base.errors import ParameterError
from woodwind.data.tables.schema import Header
from woodwind.ensemble.adaboost import centred_logs
from woodwind.ensemble.combine import ballot_fractions, winners
from woodwind.ensemble.forest import matrix_of
from woodwind.ensemble.resampling import OutOfBag
from woodwind.estimators.bagging.bagging import BaseBagging
from woodwind.estimators.bagging.tree_members import TreeMembers
from woodwind.estimators.boosting.gradient_boosting_base import BaseGradientBoosting
from woodwind.estimators.forests.forest_base import BaseForestModel
from woodwind.estimators.pools.members import AnyTable, EstimatorMembers, Kind
from woodwind.estimators.pools.pool import Pool, class_indices, named_members

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The mean of the members is what an ensemble of unknown kind predicts, or it is told that its stages are not known.
SAME = 1e-6


def staged_predictions(ensemble: Any, X: Any, probabilities: bool = False) -> Iterator[NDArray[Any]]:
    """What the ensemble predicts with its first member, its first two, and so on: labels, class probabilities (n, K) or numbers.

    Ensembles that have `staged_predict` are asked; forests, and others whose prediction is the mean of their `estimators_`, add up.
    """
    check_is_fitted(ensemble)
    name = "staged_predict_proba" if probabilities else "staged_predict"
    if hasattr(ensemble, name):
        yield from getattr(ensemble, name)(X)
    elif isinstance(ensemble, BaseForestModel):
        yield from _of_forest(ensemble, X, probabilities)
    else:
        yield from _of_means(ensemble, X, probabilities)


def staged_out_of_bag(ensemble: Any, X: Any, probabilities: bool = False) -> Iterator[tuple[Integers, NDArray[Any]]]:
    """The same of the rows of the training, by members that have not seen them: which rows some have scored, and what they predict.

    For bags and forests whose members leave rows out; `X` is the table of the training.
    """
    check_is_fitted(ensemble)
    if isinstance(ensemble, BaseForestModel):
        yield from _forest_unseen(ensemble, X, probabilities)
    elif isinstance(ensemble, BaseBagging):
        yield from _bag_unseen(ensemble, X, probabilities)
    else:
        yield from _others_unseen(ensemble, X, probabilities)


def leaves_rows_out(ensemble: Any) -> bool:
    """Whether the ensemble has members that have not seen all rows, and knows which."""
    resampling = getattr(ensemble, "_resampling", None)
    if resampling is not None:
        return bool(resampling.leaves_rows_out)
    draws = getattr(ensemble, "bootstrap", False) or getattr(ensemble, "max_samples", None) not in (None, 1.0)
    return bool(draws) and hasattr(ensemble, "estimators_samples_")


def _answered(ensemble: Any, mean: Floats, probabilities: bool) -> NDArray[Any]:
    """Probabilities, or the labels or numbers that are predicted from them."""
    if probabilities:
        return mean
    labels: NDArray[Any] = ensemble.classes_[mean.argmax(axis=1)] if is_classifier(ensemble) else mean[:, 0]
    return labels


# Forests.


def _of_forest(forest: BaseForestModel, X: Any, probabilities: bool) -> Iterator[NDArray[Any]]:
    compact_forest, x = forest._voting(forest.compact_forest_), matrix_of(forest._read(X))
    total = np.zeros((len(x), compact_forest.n_outputs))
    for tree in range(compact_forest.n_trees):
        compact_forest.add(x, None, (tree, tree + 1), total)
        yield _answered(forest, total / (tree + 1), probabilities)


def _forest_unseen(forest: BaseForestModel, X: Any, probabilities: bool) -> Iterator[tuple[Integers, NDArray[Any]]]:
    compact_forest, x = forest._voting(forest.compact_forest_), matrix_of(forest._read(X))
    _check_rows(forest, len(x), forest._resampling.n_rows)
    found = OutOfBag.nobody(len(x), compact_forest.n_outputs)
    for tree in range(compact_forest.n_trees):
        rows = forest._resampling.unseen(tree)
        compact_forest.add(x, rows, (tree, tree + 1), found.total)
        found.voters[rows] += 1
        scored = np.flatnonzero(found.voters)
        yield scored, _answered(forest, found.mean()[scored], probabilities)


# Bags.


def _bag_unseen(bag: BaseBagging, X: Any, probabilities: bool) -> Iterator[tuple[Integers, NDArray[Any]]]:
    kind, n = bag._kind(), bag._resampling.n_rows
    found: OutOfBag | None = None
    for rows, answer in _bag_answers(bag, X, kind):
        found = OutOfBag.nobody(n, answer.shape[1]) if found is None else found
        found.total[rows] += answer
        found.voters[rows] += 1
        scored = np.flatnonzero(found.voters)
        if kind != "ballots":
            yield scored, _answered(bag, found.mean()[scored], probabilities)
        elif probabilities:
            yield scored, ballot_fractions(found.total[scored], found.voters[scored])
        else:
            yield scored, bag.classes_[winners(found.total[scored])]


def _bag_answers(bag: BaseBagging, X: Any, kind: Kind) -> Iterator[tuple[Integers, Floats]]:
    """For each member the rows that it has not seen, and what it predicts for them."""
    if isinstance(bag._members, TreeMembers):
        table = bag._members.schema.read(X, owner=bag._owner)
        _check_rows(bag, table.n_rows, bag._resampling.n_rows)
        return bag._members.out_of_bag(table, kind, bag._threads)
    assert isinstance(bag._members, EstimatorMembers)
    any_table = AnyTable.of(X, bag._members.header, bag._owner)
    _check_rows(bag, any_table.n_rows, bag._resampling.n_rows)
    return bag._members.out_of_bag(any_table, kind, bag._threads)


# Ensembles of other libraries.


def _of_means(ensemble: Any, X: Any, probabilities: bool) -> Iterator[NDArray[Any]]:
    table = AnyTable.of(X, None, type(ensemble).__name__)
    total, mean = np.zeros((table.n_rows, _width(ensemble))), np.zeros(0)
    for number in range(len(_members_of(ensemble))):
        total += _predicted(ensemble, number, table, None)
        mean = total / (number + 1)
        yield _answered(ensemble, mean, probabilities)
    whole = ensemble.predict_proba(X) if is_classifier(ensemble) else ensemble.predict(X)
    if np.abs(mean.reshape(np.shape(whole)) - whole).max() > SAME * max(1.0, float(np.abs(whole).max())):
        raise _unknown(ensemble)


def _others_unseen(ensemble: Any, X: Any, probabilities: bool) -> Iterator[tuple[Integers, NDArray[Any]]]:
    table = AnyTable.of(X, None, type(ensemble).__name__)
    found = OutOfBag.nobody(table.n_rows, _width(ensemble))
    samples = ensemble.estimators_samples_
    for number in range(len(_members_of(ensemble))):
        _check_rows(ensemble, table.n_rows, max(table.n_rows, int(np.max(samples[number])) + 1))
        rows = np.setdiff1d(np.arange(table.n_rows), samples[number])
        if rows.size:
            found.total[rows] += _predicted(ensemble, number, table, rows)
            found.voters[rows] += 1
        scored = np.flatnonzero(found.voters)
        yield scored, _answered(ensemble, found.mean()[scored], probabilities)


def _members_of(ensemble: Any) -> list[Any]:
    members = getattr(ensemble, "estimators_", None)
    if not isinstance(members, list | tuple) or not members or not hasattr(members[0], "predict"):
        raise _unknown(ensemble)
    if is_classifier(ensemble) and not hasattr(members[0], "predict_proba"):
        raise _unknown(ensemble)
    return list(members)


def _width(ensemble: Any) -> int:
    return len(ensemble.classes_) if is_classifier(ensemble) else 1


def _predicted(ensemble: Any, number: int, table: AnyTable, rows: Integers | None) -> Floats:
    """What one member predicts for some rows, or of all. Members know classes by label, or by number as scikit-learn's do."""
    member = _members_of(ensemble)[number]
    columns = getattr(ensemble, "estimators_features_", None)
    x = table.take(None if columns is None else np.asarray(columns[number]), rows)
    if not hasattr(member, "feature_names_in_") and hasattr(x, "to_numpy"):
        x = x.to_numpy()  # scikit-learn trains members on the bare numbers
    if not is_classifier(ensemble):
        return np.asarray(member.predict(x), np.float64).reshape(-1, 1)
    predicted = np.asarray(member.predict_proba(x), np.float64)
    out = np.zeros((len(predicted), len(ensemble.classes_)))
    known = np.isin(member.classes_, ensemble.classes_).all()
    out[:, np.searchsorted(ensemble.classes_, member.classes_) if known else np.asarray(member.classes_, np.int64)] = predicted
    return out


def _check_rows(ensemble: Any, given: int, trained: int) -> None:
    if not leaves_rows_out(ensemble):
        raise ParameterError(
            f"{type(ensemble).__name__}: every member has seen every row: none is out of the bag. Train with bootstrap=True or max_samples."
        )
    if given != trained:
        raise ParameterError(
            f"{type(ensemble).__name__}: rows out of the bag are rows of the training, which had {trained:,}, but {given:,} were given. "
            "Give the same table."
        )


def _unknown(ensemble: Any) -> ParameterError:
    return ParameterError(
        f"{type(ensemble).__name__}: what it predicts with fewer members is not known: it has no `staged_predict`, and its prediction is "
        "not the mean of `estimators_`. Give a forest, a bag or a boosted model, or predictions by stage to `from_predictions`."
    )


def start_of(ensemble: Any) -> float:
    """What a boosted regressor predicts before its first stage; 0 where it starts from nothing."""
    start = getattr(ensemble, "start_", None)
    if start is None and isinstance(ensemble, BaseGradientBoosting):
        start = ensemble.forest_.start
    if start is not None:
        raw = np.asarray(start, np.float64).reshape(-1)
        return float(np.asarray(ensemble.loss_.predict(raw, 1)).reshape(-1)[0])
    constant = getattr(getattr(ensemble, "init_", None), "constant_", None)  # of scikit-learn's boosting, a mean or a quantile
    return 0.0 if constant is None else float(np.asarray(constant).reshape(-1)[0])


# ----------------------------------------------------------------------------------------------------
# How much rows weigh in each round of AdaBoost, replayed from the trained model: what its learners were trained on.


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
    label = class_indices(np.asarray(y), np.asarray(model.classes_))
    weight = np.ones(len(label)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    soft = str(getattr(model, "algorithm", "samme")).lower() == "samme.r"
    for position in range(len(pool)):
        weight = weight / weight.sum()
        yield weight
        learner = pool.only([position])
        if soft:
            logs = centred_logs(learner.probabilities(X, type(model).__name__)[:, 0])
            weight = weight * np.exp(-model.learning_rate * logs[np.arange(len(label)), label] / (pool.n_classes - 1.0))
        else:
            wrong = learner.votes(X, type(model).__name__)[:, 0] != label
            weight = weight * np.exp(model.estimator_weights_[position] * wrong)


def learners_of(model: Any) -> Pool:
    """The learners of a vote."""
    check_is_fitted(model)
    owner, names = type(model).__name__, getattr(model, "feature_names_in_", None)
    header = Header(None if names is None else tuple(str(name) for name in names), int(model.n_features_in_))
    return Pool.of_fitted(named_members(model, owner, classifies=True), header, np.asarray(model.classes_), owner)
