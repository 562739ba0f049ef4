"""Voting, bagging and stacking, the blenders of stacks, and linear models of scikit-learn, as operations of a graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from woodwind.base.errors import NotExportableError
from woodwind.ensemble.combine import LEAST_SHARE
from woodwind.ensemble.layers import LEAST_PROBABILITY
from woodwind.estimators.bagging.bagging import BaseBagging
from woodwind.estimators.bagging.tree_members import TreeMembers
from woodwind.estimators.export.answers import Answers, Ask, at_positions, one_hot
from woodwind.estimators.export.tree_models import forest_scores
from woodwind.estimators.pools.pool import Pool
from woodwind.estimators.pools.voting import BaseVoting
from woodwind.estimators.stacking.blenders import DOUBT, LogisticBlender, NonNegativeBlender
from woodwind.estimators.stacking.layers import StackingLayer
from woodwind.estimators.stacking.stacking_base import BaseStacking
from woodwind.store.export.columns import matrix_of
from woodwind.store.export.graph import (
    Column,
    InputColumns,
    Operation,
    clipped,
    concat,
    constant,
    each,
    library_softmax,
    matmul,
    over_row,
    row_wise,
    take,
)

# ---------------------------------------------------------------------------------------------------- members of a pool


def member_columns(pool: Pool, position: int, columns: Sequence[Column], named: bool) -> list[Column]:
    """The columns that a member of a pool sees."""
    own = pool.columns[position]
    if own is None:
        return list(columns)
    chosen = own.tolist() if not named else list(dict.fromkeys(own.tolist()))
    return [columns[column] for column in chosen]


def pool_answers(pool: Pool, response: str, columns: Sequence[Column], given: InputColumns, ask: Ask) -> list[Operation]:
    """What each member of a pool gives: probabilities (n, K), votes (n, 1), numbers (n, 1), or scores."""
    named = given.header.names is not None
    found = [ask(one, member_columns(pool, at, columns, named), given) for at, one in enumerate(pool.members)]
    return [_response(pool, at, answers, response, given.owner) for at, answers in enumerate(found)]


def _response(pool: Pool, position: int, found: Answers, response: str, owner: str) -> Operation:
    if response == "numbers":
        assert found.numbers is not None
        return found.numbers
    own = pool.class_positions(position).tolist()
    if response == "probabilities" and found.probabilities is not None:
        return at_positions(found.probabilities, own, pool.n_classes)
    if response == "scores":
        if found.decision is None or len(own) != pool.n_classes:
            raise NotExportableError(
                f"{owner}: the member {pool.names[position]!r} gives scores that are not exported. Set stack_method='predict_proba'."
            )
        return found.decision
    assert found.label is not None
    votes = at_positions(one_hot(found.label, len(own)), own, pool.n_classes)
    return votes if response == "probabilities" else over_row("argmax", votes)


def weighted_sum(parts: Sequence[Operation], weights: Any) -> Operation:
    """Members times their weights, added in their order."""
    total: Operation = constant(0.0)
    for position, part in enumerate(parts):
        total = each("add", total, part if weights is None else each("mul", part, float(weights[position])))
    return total


# ---------------------------------------------------------------------------------------------------- voting and bagging


def voting(model: BaseVoting, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Answers:
    """Voting of classifiers or regressors."""
    own: Any = model
    weights, pool = model._member_weights, model._pool
    members = float(len(pool)) if weights is None else float(weights.sum(axis=-1))
    if not hasattr(model, "classes_"):
        return _averaged(own, pool_answers(pool, "numbers", columns, given, ask), members, given.owner)
    n_classes = len(own.classes_)
    if own.voting == "hard":
        if own.ties == "random":
            raise NotExportableError(f"{given.owner}: ties='random' draws a number for every row. Set ties='first' to export it.")
        votes = [one_hot(one, n_classes) for one in pool_answers(pool, "votes", columns, given, ask)]
        counts = weighted_sum(votes, np.ones(len(votes)) if weights is None else weights)
        probabilities = each("div", counts, over_row("row_sum", counts))
        return Answers(probabilities=probabilities, label=over_row("argmax", counts), raw=counts, classes=own.classes_)
    parts = pool_answers(pool, "probabilities", columns, given, ask)
    if own.voting != "soft" or own.averaging not in ("mean", "geometric"):
        raise NotExportableError(
            f"{given.owner}: voting={own.voting!r} with averaging={own.averaging!r} is not exported. Set voting='soft' and "
            "averaging='mean' or 'geometric', or voting='hard'."
        )
    if own.averaging == "geometric":
        logs = [each("library_log", each("max", part, LEAST_SHARE)) for part in parts]
        probabilities = library_softmax(each("div", weighted_sum(logs, weights), members))
    else:
        probabilities = each("div", weighted_sum(parts, weights), members)
    return Answers(probabilities=probabilities, label=over_row("argmax", probabilities), raw=probabilities, classes=own.classes_)


def _averaged(model: Any, parts: Sequence[Operation], members: float, owner: str) -> Answers:
    """The average of numbers."""
    weights = model._member_weights
    if model.averaging == "mean":
        found = each("div", weighted_sum(parts, weights), members)
    elif model.averaging == "geometric":
        found = each("library_exp", each("div", weighted_sum([each("library_log", part) for part in parts], weights), members))
    elif model.averaging == "median" and weights is None:
        ordered, half = row_wise("sort", concat(parts)), len(parts) // 2
        middle = take(ordered, [half])
        found = middle if len(parts) % 2 else each("mul", 0.5, each("add", take(ordered, [half - 1]), middle))
    else:
        raise NotExportableError(f"{owner}: averaging={model.averaging!r} with weights is not exported. Set averaging='mean'.")
    return Answers(numbers=found, raw=found)


def bagging(model: BaseBagging, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Answers:
    """Bagging of trees or of other estimators."""
    members: Any = model._members
    kind = model._kind()
    if kind == "ballots":
        raise NotExportableError(f"{given.owner}: votes with equals by luck are not exported. Set voting='soft'.")
    if isinstance(members, TreeMembers):
        total = forest_scores(members.schema, members.forest, columns, given)
    else:
        parts = []
        for number, member in enumerate(members.fitted):
            chosen = members.columns(number)
            some = range(len(columns)) if chosen is None else chosen.tolist()
            some = dict.fromkeys(some) if members.header.names is not None else some
            found = ask(member, [columns[column] for column in some], given)
            if kind == "numbers":
                assert found.numbers is not None
                parts.append(found.numbers)
            else:
                assert found.probabilities is not None
                assert found.classes is not None
                positions = np.searchsorted(members.classes, found.classes).tolist()
                parts.append(at_positions(found.probabilities, positions, len(members.classes)))
        total = parts[0]
        for part in parts[1:]:
            total = each("add", total, part)
    mean = each("div", total, float(len(members)))
    if kind == "numbers":
        return Answers(numbers=mean, raw=mean)
    classes: Any = model.classes_
    return Answers(probabilities=mean, label=over_row("argmax", total), raw=mean, classes=classes)


# ---------------------------------------------------------------------------------------------------- stacking


def stacking(model: BaseStacking, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Answers:
    """A stack of layers and its blender."""
    passed: list[Operation] = []
    if model._passage is not None:
        if model._passage.form is None:
            raise NotExportableError(f"{given.owner}: a sparse table that is passed through is not exported. Train on a dense table.")
        passed = separated(matrix_of(model._passage.form, columns, given))
    tables: list[Sequence[Column]] = [columns] * len(model._chains)
    last: list[Operation] = []
    for same in zip(*model._chains, strict=True):
        last = [_layer_columns(layer, table, given, ask) for layer, table in zip(same, tables, strict=True)]
        tables = [[*separated(one), *passed] for one in last]
    blended = [*separated(_mean(last)), *passed]
    found = ask(model.final_estimator_, blended, given)
    classes = getattr(model, "classes_", None)
    if classes is None or found.probabilities is None or found.classes is None:
        return found
    number = {label: position for position, label in enumerate(np.asarray(classes).tolist())}
    probabilities = at_positions(found.probabilities, [number[label] for label in found.classes.tolist()], len(number))
    return Answers(probabilities=probabilities, label=found.label, decision=found.decision, raw=found.raw, classes=found.classes)


def separated(operation: Operation) -> list[Operation]:
    """Each column by itself."""
    return [take(operation, [column]) for column in range(operation.width)]


def _mean(parts: Sequence[Operation]) -> Operation:
    total = parts[0]
    for part in parts[1:]:
        total = each("add", total, part)
    return total if len(parts) == 1 else each("div", total, float(len(parts)))


def _layer_columns(layer: StackingLayer, columns: Sequence[Column], given: InputColumns, ask: Ask) -> Operation:
    """What a layer passes on."""
    blocks = []
    for position, response in enumerate(layer.responses):
        asked = response if response != "votes" else "probabilities"
        parts = [pool_answers(pool.only([position]), asked, columns, given, ask)[0] for pool in layer.pools]
        block = _mean(parts)
        if response == "votes" and len(parts) == 1:
            block = one_hot(pool_answers(layer.pools[0].only([position]), "votes", columns, given, ask)[0], layer.n_classes)
        is_probability = response == "probabilities" or (response == "votes" and len(parts) > 1)
        if is_probability and layer.link:
            block = _log_odds(block)
        elif response in ("probabilities", "votes") and block.width == 2:
            block = take(block, [1])
        blocks.append(block)
    whole = concat(blocks)
    return whole if layer.kept is None else take(whole, layer.kept)


def log_ratios(probabilities: Operation) -> Operation:
    """Logarithms of probabilities about their mean over the classes."""
    logs = each("library_log", each("max", probabilities, LEAST_PROBABILITY))
    return each("sub", logs, each("div", over_row("row_sum", logs), float(logs.width)))


def _log_odds(probabilities: Operation) -> Operation:
    logs = log_ratios(probabilities)
    return each("sub", take(logs, [1]), take(logs, [0])) if logs.width == 2 else logs


def logistic_blender(model: LogisticBlender, columns: Sequence[Operation]) -> Answers:
    """The blender of a stack of classifiers."""
    n_classes, pool = len(model.classes_), model._pool
    total: Operation = constant(pool.intercepts)
    for weight, positions in zip(pool.weights.tolist(), model._positions.tolist(), strict=True):
        predicted = concat([columns[position] for position in positions])
        if predicted.width == 1:
            predicted = concat([each("sub", 1.0, predicted), predicted])
        mixed = each("add", each("mul", 1.0 - DOUBT, clipped(predicted, 0.0, 1.0)), DOUBT * model._frequency)
        total = each("add", total, each("mul", weight, log_ratios(mixed)))
    others = _others(model, columns)
    scores = total if others is None else each("add", total, matmul(others, pool.coefficients))
    decision = each("sub", take(scores, [1]), take(scores, [0])) if n_classes == 2 else scores
    label, classes = over_row("argmax", scores), model.classes_
    return Answers(probabilities=library_softmax(scores), label=label, decision=decision, raw=decision, classes=classes)


def number_blender(model: NonNegativeBlender, columns: Sequence[Operation]) -> Answers:
    """The blender of a stack of regressors."""
    weights, intercept, coefficients = model._pool
    parts = concat([columns[position] for position in model._positions.ravel().tolist()])
    found = each("add", matmul(parts, np.asarray(weights, np.float64).reshape(-1, 1)), float(intercept))
    others = _others(model, columns)
    found = found if others is None else each("add", found, matmul(others, np.asarray(coefficients, np.float64).reshape(-1, 1)))
    return Answers(numbers=found, raw=found)


def _others(model: Any, columns: Sequence[Operation]) -> Operation | None:
    """The columns that are of no member, scaled."""
    rest = [columns[position] for position in range(len(columns)) if position not in set(model._positions.ravel().tolist())]
    return each("div", each("sub", concat(rest), model._scale.mean), model._scale.spread) if rest else None


# ---------------------------------------------------------------------------------------------------- scikit-learn


def linear_model(model: Any, features: Operation) -> Answers:
    """A linear model of scikit-learn: what it is, its coefficients say."""
    coef = np.atleast_2d(np.asarray(model.coef_, np.float64))
    intercept = np.broadcast_to(np.asarray(model.intercept_, np.float64).reshape(-1), (len(coef),))
    scores = each("add", matmul(features, coef.T), intercept)
    classes = getattr(model, "classes_", None)
    if classes is None:
        return Answers(numbers=scores, raw=scores)
    if scores.width == 1:
        second = each("div", 1.0, each("add", 1.0, each("library_exp", each("neg", scores))))
        probabilities, label = concat([each("sub", 1.0, second), second]), each("greater", scores, 0.0)
    else:
        probabilities, label = library_softmax(scores), over_row("argmax", scores)
    return Answers(probabilities=probabilities, label=label, decision=scores, raw=scores, classes=np.asarray(classes))
