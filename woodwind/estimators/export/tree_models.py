"""Single trees, forests, gradient boosting and AdaBoost, as operations of a graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import NotExportableError
from woodwind.estimators.adaptive.adaboost import AdaBoostClassifier
from woodwind.estimators.adaptive.adaboost_base import AdaptiveModel
from woodwind.estimators.adaptive.adaboost_regressor import AdaBoostRegressor
from woodwind.estimators.boosting.boosted_model import BaseBoostedModel
from woodwind.estimators.boosting.init_scores import SUREST
from woodwind.estimators.export.answers import Answers, Ask, at_positions, classified, one_hot, regressed, to_score
from woodwind.estimators.forests.decision_tree import BaseDecisionTree
from woodwind.estimators.forests.forest_base import BaseForestModel
from woodwind.losses.several_targets import SeveralTargetsLoss
from woodwind.store.export.columns import features_of
from woodwind.store.export.graph import (
    Column,
    InputColumns,
    Operation,
    TreeSum,
    clipped,
    concat,
    constant,
    each,
    matmul,
    over_row,
    row_wise,
    take,
    trees,
)
from woodwind.tree.forest import Forest


def forest_scores(schema: Any, forest: Forest, columns: Sequence[Column], given: InputColumns) -> Operation:
    """The scores of a forest on the features of a schema."""
    return trees(concat(features_of(schema, columns, given)), forest, schema.code_counts)


def boosted(model: BaseBoostedModel, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Answers:
    """Gradient boosting."""
    owner, loss = given.owner, model.loss_
    raw = forest_scores(model.schema_, model.forest_, columns, given)
    classes = getattr(model, "classes_", None)
    if model.init_ is not None:
        raw = each("add", raw, _start_scores(model, columns, given, ask))
    if classes is None:
        return Answers(numbers=regressed(loss, raw, owner), raw=raw)
    if isinstance(loss, SeveralTargetsLoss):
        parts = []
        for name, one, part, labels in zip(model.target_names_, loss.each, loss.slices, classes, strict=True):  # type: ignore[attr-defined]
            found = classified(one, take(raw, range(part.start, part.stop)), labels, owner)
            if len(labels) == 1:
                found = Answers(probabilities=constant(1.0), label=constant(0.0), raw=found.raw, classes=labels)
            assert found.probabilities is not None
            # Of several targets the label is that of the largest probability.
            label = over_row("argmax", found.probabilities) if len(labels) > 1 else found.label
            parts.append((name, Answers(probabilities=found.probabilities, label=label, raw=found.raw, classes=labels)))
        return Answers(raw=raw, targets=tuple(parts))
    return classified(loss, raw, np.asarray(classes), owner)


def _start_scores(model: BaseBoostedModel, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Operation:
    """The scores that boosting started from, by another model."""
    init, loss, classes = model.init_, model.loss_, getattr(model, "classes_", None)
    if not hasattr(init, "predict"):
        raise NotExportableError(f"{given.owner}: init is a function of the table, which no file can hold. Export a model without init.")
    found = ask(init, columns, given)
    if classes is None:
        assert found.numbers is not None
        return to_score(loss.link, found.numbers, given.owner)
    assert found.probabilities is not None
    assert found.classes is not None
    number = {label: position for position, label in enumerate(np.asarray(classes).tolist())}
    share = at_positions(found.probabilities, [number[label] for label in found.classes.tolist()], len(number))
    share = clipped(share, SUREST, 1.0 - SUREST)
    return to_score(loss.link, take(share, [1]) if loss.width == 1 else share, given.owner)


def decision_tree(model: BaseDecisionTree, columns: Sequence[Column], given: InputColumns, _: Ask) -> Answers:
    """A single tree."""
    return _by_probability(model, forest_scores(model.schema_, model.forest_, columns, given))


def forest(model: BaseForestModel, columns: Sequence[Column], given: InputColumns, _: Ask) -> Answers:
    """A random forest, or extra-trees."""
    compact = model._voting(model.compact_forest_)
    features = concat(features_of(model.schema_, columns, given))
    total = trees(features, compact.undivided(), compact.n_categories.astype(np.int64))
    mean = each("div", total, float(max(compact.n_trees, 1)))
    return _by_probability(model, each("max", mean, 0.0) if hasattr(model, "classes_") else mean)


def _by_probability(model: Any, found: Operation) -> Answers:
    """Answers of trees whose values are probabilities or means."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return Answers(numbers=found, raw=found)
    if not isinstance(classes, list):
        return Answers(probabilities=found, label=over_row("argmax", found), raw=found, classes=classes)
    ends = np.cumsum([0, *(len(labels) for labels in classes)]).tolist()
    parts = []
    for name, labels, begin, end in zip(model.target_names_, classes, ends, ends[1:], strict=False):
        own = take(found, range(begin, end))
        parts.append((name, Answers(probabilities=own, label=over_row("argmax", own), classes=labels)))
    return Answers(raw=found, targets=tuple(parts))


# ---------------------------------------------------------------------------------------------------- AdaBoost


def adaboost_classifier(model: AdaBoostClassifier, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Answers:
    """AdaBoost for classes."""
    if model._second is not None:
        raise NotExportableError(
            f"{given.owner}: multiclass='second_level' reads features as codes, and is not exported. Set multiclass='native'."
        )
    scores = [_adaptive_scores(model, one, columns, given, ask) for one in model._models]
    n_classes = len(model.classes_)
    if model._is_native:
        decision = _margin(scores[0]) if n_classes == 2 else scores[0]
        spread = decision if n_classes == 2 else each("div", decision, n_classes - 1.0)
    else:
        bits = each("mul", 0.5, concat([_margin(one) for one in scores]))
        decision = each("div", matmul(bits, model.code_.T.astype(np.float64)), float(model.code_.shape[1]))
        spread = decision if decision.width == 1 else each("mul", decision, float(model.code_.shape[1]))
    if spread.width == 1:
        spread = each("mul", 0.5, concat([each("neg", spread), spread]))
    label = each("greater", decision, 0.0) if decision.width == 1 else over_row("argmax", decision)
    return Answers(probabilities=row_wise("softmax", spread), label=label, decision=decision, raw=decision, classes=model.classes_)


def _margin(scores: Operation) -> Operation:
    return each("sub", take(scores, [1]), take(scores, [0]))


def _adaptive_scores(model: Any, one: AdaptiveModel, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Operation:
    if one.forest is not None:
        total = forest_scores(model.schema_, one.forest, columns, given)
        return each("div", total, float(np.abs(one.weights).sum()))
    if one.algorithm not in ("discrete", "samme"):
        raise NotExportableError(
            f"{given.owner}: algorithm={one.algorithm!r} of learners other than trees is not exported. Use algorithm='samme', or trees."
        )
    found: Operation | None = None
    for weight, learner in zip(one.weights.tolist(), one.estimators, strict=True):
        vote = _vote(ask(learner, columns, given), one.labels)
        scores = each("where", vote, weight, -weight / (one.n_labels - 1.0))
        found = scores if found is None else each("add", found, scores)
    assert found is not None
    return each("div", found, float(np.cumsum(np.abs(one.weights))[-1]))


def _vote(found: Answers, labels: NDArray[Any]) -> Operation:
    """One for the label that is predicted, else zero."""
    assert found.label is not None
    assert found.classes is not None
    number = {label: position for position, label in enumerate(labels.tolist())}
    votes = one_hot(found.label, len(found.classes))
    return at_positions(votes, [number[label] for label in found.classes.tolist()], len(labels))


def adaboost_regressor(model: AdaBoostRegressor, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Answers:
    """AdaBoost.R2: the weighted median of its learners."""
    if model._estimators:
        numbers = [ask(one, columns, given).numbers for one in model._estimators]
        values = concat([one for one in numbers if one is not None])
    else:
        features = concat(features_of(model.schema_, columns, given))
        values = Operation("tree_values", (features,), model.forest_.n_trees, TreeSum(model.forest_, model.schema_.code_counts))
    found = Operation("weighted_median", (values,), 1, np.asarray(model.estimator_weights_, np.float64))
    return Answers(numbers=found, raw=found)
