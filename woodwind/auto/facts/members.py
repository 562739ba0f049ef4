"""Members: the leaderboard, what each of them is worth to the ensemble, and what guessing would give."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.facts.json_values import brief
from woodwind.auto.facts.scored_rows import LossUnit, ScoredRows, mean_and_error, score_of
from woodwind.auto.members.link import probabilities
from woodwind.auto.outcome import ENSEMBLE, Outcome
from woodwind.diversity import (
    ambiguity_decomposition,
    error_correlation,
    kappa,
    margin_distribution,
    mean_of_pairs,
    probability_margins,
)

Floats = NDArray[np.float64]


def leaderboard_facts(outcome: Outcome) -> list[dict[str, Any]]:
    """The rows of the leaderboard as they are."""
    return [{**asdict(entry), "name": brief(entry.name, 80), "note": brief(entry.note)} for entry in outcome.leaderboard]


def member_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any]:
    """Weights, and the loss of the ensemble without each member: the others then take over its weight.

    Both losses are of the final weights on rows out of fold, so that they can be compared with each other.
    """
    model, unit = outcome.model, LossUnit.of(scored)
    weights = {name: float(weight) for name, weight in zip(model.names, model.weights, strict=True)}
    # Members that rank are on scales of their own: the leaderboard has their shares.
    shown = weights if scored.queries is None else {entry.name: entry.weight for entry in outcome.leaderboard}
    out: list[dict[str, Any]] = [{"name": brief(name, 80), "weight": shown.get(name, weight)} for name, weight in weights.items()]
    known = [scored.names.index(name) if name in scored.names else -1 for name in weights]
    if min(known) < 0 or len(known) < 2 or len(scored.rows) == 0:
        return {"unit": unit.name, "members": out}
    shares, members = np.array(list(weights.values())), scored.members[:, known]
    together = scored.losses(np.einsum("m,nmw->nw", shares, members) + model.shift)
    base, _ = mean_and_error(together, scored.loss_weight)
    for position, facts in enumerate(out):
        left = shares.copy()
        left[position] = 0.0
        if left.sum() <= 0.0:
            continue
        without = scored.losses(np.einsum("m,nmw->nw", left * (shares.sum() / left.sum()), members) + model.shift)
        more, error = unit.change(base, *mean_and_error(without - together, scored.loss_weight))
        facts.update(loss_without=unit.value(base) + more, more=more, standard_error=error)
    out.sort(key=lambda one: -one["weight"])
    return {"unit": unit.name, "loss": unit.value(base), "members": out}


def comparison_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any]:
    """The ensemble against the best single model and against guessing, on the same rows out of fold: differences with their errors."""
    unit = LossUnit.of(scored)
    if len(scored.rows) == 0:
        return {"unit": unit.name}
    ours = scored.losses(scored.scores)
    base, base_error = mean_and_error(ours, scored.loss_weight)
    out: dict[str, Any] = {"unit": unit.name, "loss": unit.value(base), "standard_error": unit.change(base, 0.0, base_error)[1]}
    constant = guess(outcome, scored)
    guessed, error = mean_and_error(scored.losses(constant) - ours, scored.loss_weight)
    more, error = unit.change(base, guessed, error)
    skill = guessed / (base + guessed) if base + guessed > 0.0 else float("nan")
    out["guess"] = {"loss": unit.value(base) + more, "more": more, "standard_error": error, "skill": skill}
    out["guess"]["score"] = score_of(outcome.model.metric, scored, constant)
    single = [entry for entry in outcome.leaderboard if entry.name in scored.names and np.isfinite(entry.loss) and entry.family != ENSEMBLE]
    if single:
        best = min(single, key=lambda entry: entry.loss)
        theirs = scored.losses(scored.members[:, scored.names.index(best.name)])
        more, error = unit.change(base, *mean_and_error(theirs - ours, scored.loss_weight))
        score = {"score": best.score, "score_error": best.standard_error}
        out["best"] = {"name": brief(best.name, 80), "loss": unit.value(base) + more, "more": more, "standard_error": error, **score}
    return out


def guess(outcome: Outcome, scored: ScoredRows) -> Floats:
    """Scores that say the same of every row: the class probabilities, the mean or the median of the numbers; any order of documents."""
    if scored.queries is not None:
        return np.zeros((len(scored.y), 1))
    y = np.asarray(outcome.y)
    weight = np.ones(len(y)) if outcome.weight is None else np.asarray(outcome.weight, np.float64)
    if scored.task == "regression":
        typical = np.median(y) if scored.absolute else np.average(y, weights=weight)
        return np.full((len(scored.y), 1), float(typical))
    n_classes = len(outcome.model.classes)
    shares = np.bincount(y.astype(np.int64), weight, minlength=n_classes)
    logs = np.log(np.maximum(shares / shares.sum(), 1e-12))
    return np.full((len(scored.y), 1), logs[1] - logs[0]) if scored.task == "binary" else np.tile(logs, (len(scored.y), 1))


def curve_facts(outcome: Outcome, most: int = 200) -> list[dict[str, Any]]:
    """Learning curves of members with a weight first, thinned to so many rounds: log loss, or root mean squared error.

    Of numbers boosting counts half of the squared error, which nobody could compare with a score.
    """
    is_number = outcome.model.task == "regression"
    unit = "root mean squared error" if is_number else "log loss" if outcome.model.classifies else "loss"
    weights = dict(zip(outcome.model.names, (float(weight) for weight in outcome.model.weights), strict=True))
    out = []
    for name in sorted(outcome.curves, key=lambda one: (-weights.get(one, 0.0), one)):
        curve = {sort: values for sort, values in outcome.curves[name].items() if len(values) > 1}
        if not curve:
            continue
        longest = max(len(values) for values in curve.values())
        kept = np.unique(np.linspace(0, longest - 1, min(longest, most)).round().astype(np.int64))
        lines = {}
        for sort, values in curve.items():
            there = [int(position) for position in kept if position < len(values)]
            losses = [_as_facts(float(values[position]), is_number) for position in there]
            lines[sort] = {"round": [position + 1 for position in there], "loss": losses}
        out.append({"name": brief(name, 80), "weight": weights.get(name, 0.0), "unit": unit, "lines": lines})
    return out


def _as_facts(loss: float, is_half_a_square: bool) -> float:
    return float(np.sqrt(2.0 * max(loss, 0.0))) if is_half_a_square else loss


# ----------------------------------------------------------------------------------------------------
# Strength and diversity of the members, and the margins of the ensemble: why several are better than one.


MOST_ROWS = 20_000
MOST_MEMBERS = 40
GRID = np.linspace(-1.0, 1.0, 81)


def diversity_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any] | None:
    """Each member's error, and how alike it is to the others: kappa of classes, correlation of the errors of numbers.

    Scores that rank have no error of a row.
    """
    if scored.queries is not None:
        return None
    rows = scored.part(MOST_ROWS, "diversity", outcome.seed)
    members = scored.members[rows][:, :MOST_MEMBERS]
    if len(rows) < 10 or members.shape[1] < 2:
        return None
    names = scored.names[:MOST_MEMBERS]
    weights = dict(zip(outcome.model.names, outcome.model.weights, strict=True))
    y = scored.y[rows]
    if scored.task == "regression":
        predicted = members[:, :, 0]
        alike, measure = error_correlation(y, predicted), "correlation of errors"
        strength = np.sqrt(ambiguity_decomposition(y, predicted).member_errors)
        together = float(np.sqrt(np.mean((scored.scores[rows, 0] - y) ** 2)))
        error = "root mean squared error"
    else:
        predicted = np.stack([probabilities(members[:, position]).argmax(axis=1) for position in range(members.shape[1])], axis=1)
        alike, measure = kappa(predicted), "kappa"
        strength = (predicted != y[:, None]).mean(axis=0)
        together = float((scored.predicted[rows] != y).mean())
        error = "share of rows that are wrong"
    others = (alike.sum(axis=1) - np.diagonal(alike)) / (len(alike) - 1)
    points = [
        {"name": brief(name, 80), "alike": others[position], "error": strength[position], "weight": float(weights.get(name, 0.0))}
        for position, name in enumerate(names)
    ]
    return {"measure": measure, "error": error, "members": points, "mean": mean_of_pairs(alike), "together": together, "rows": len(rows)}


def margin_facts(outcome: Outcome, scored: ScoredRows) -> dict[str, Any] | None:
    """How clearly rows are decided: the share of rows up to each margin, of the ensemble and of its heaviest member."""
    rows = scored.part(MOST_ROWS, "margins", outcome.seed)
    if not scored.classifies or len(rows) < 10:
        return None
    y = scored.y[rows].astype(np.int64)
    ours = margin_distribution(probability_margins(y, scored.proba[rows]))
    out: dict[str, Any] = {"margin": GRID, "ensemble": ours.share_below(GRID), "mean": ours.mean, "wrong": ours.share_below(0.0)}
    heaviest = outcome.model.names[int(np.argmax(outcome.model.weights))]
    if heaviest in scored.names and len(outcome.model.names) > 1:
        theirs = probability_margins(y, probabilities(scored.members[rows, scored.names.index(heaviest)]))
        out["member"] = {"name": brief(heaviest, 80), "share": margin_distribution(theirs).share_below(GRID)}
    return out


# ----------------------------------------------------------------------------------------------------
# The worst mistakes: rows with the largest loss out of fold, as they stand in the table.


MOST = 10
MOST_COLUMNS = 12


def mistake_facts(outcome: Outcome, scored: ScoredRows, importance: dict[str, Any] | None) -> dict[str, Any] | None:
    """Truth, prediction and the most telling columns of the rows that the ensemble was most wrong about; of rankings none."""
    if len(scored.rows) == 0 or scored.queries is not None:
        return None
    losses = scored.losses(scored.scores)
    worst = np.lexsort((scored.rows, -losses))[:MOST]
    names = list(outcome.X.column_names)
    first = [one["column"] for one in importance["columns"]] if importance else []
    columns = list(dict.fromkeys([*first, *range(min(len(names), MOST_COLUMNS))]))[:MOST_COLUMNS]
    cells = [outcome.X.column(column).take(scored.rows[worst]).to_pylist() for column in columns]
    classes = outcome.model.classes
    out = []
    for position, row in enumerate(worst):
        values = ["" if column[position] is None else brief(column[position]) for column in cells]
        facts: dict[str, Any] = {"row": int(scored.rows[row]) + 1, "loss": losses[row], "values": values}
        if scored.task == "regression":
            facts.update(truth=float(scored.y[row]), predicted=float(scored.predicted[row]))
        else:
            truth, predicted = int(scored.y[row]), int(scored.predicted[row])
            facts.update(truth=brief(classes[truth]), predicted=brief(classes[predicted]))
            facts.update(probability=scored.proba[row, predicted], chance_of_truth=scored.proba[row, truth])
        out.append(facts)
    return {"columns": [brief(names[column]) for column in columns], "hidden": len(names) - len(columns), "rows": out}
