"""Members: the leaderboard, what each of them is worth to the ensemble, and what guessing would give."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.facts_judged import Judged, Unit, mean_and_error
from woodwind.auto.facts_metric import score_of
from woodwind.auto.facts_plain import brief
from woodwind.auto.outcome import ENSEMBLE, Outcome

Floats = NDArray[np.float64]


def leaderboard_facts(outcome: Outcome) -> list[dict[str, Any]]:
    """The rows of the leaderboard as they are."""
    return [{**asdict(entry), "name": brief(entry.name, 80), "note": brief(entry.note)} for entry in outcome.leaderboard]


def member_facts(outcome: Outcome, judged: Judged) -> dict[str, Any]:
    """Weights, and the loss of the ensemble without each member: the others then take over its weight.

    Both losses are of the final weights on rows out of fold, so that they can be compared with each other.
    """
    model, unit = outcome.model, Unit.of(judged)
    weights = {name: float(weight) for name, weight in zip(model.names, model.weights, strict=True)}
    out: list[dict[str, Any]] = [{"name": brief(name, 80), "weight": weight} for name, weight in weights.items()]
    known = [judged.names.index(name) if name in judged.names else -1 for name in weights]
    if min(known) < 0 or len(known) < 2 or len(judged.rows) == 0:
        return {"unit": unit.name, "members": out}
    shares, members = np.array(list(weights.values())), judged.members[:, known]
    together = judged.losses(np.einsum("m,nmw->nw", shares, members) + model.shift)
    base, _ = mean_and_error(together, judged.weight)
    for place, facts in enumerate(out):
        left = shares.copy()
        left[place] = 0.0
        if left.sum() <= 0.0:
            continue
        without = judged.losses(np.einsum("m,nmw->nw", left * (shares.sum() / left.sum()), members) + model.shift)
        more, error = unit.change(base, *mean_and_error(without - together, judged.weight))
        facts.update(loss_without=unit.value(base) + more, more=more, standard_error=error)
    out.sort(key=lambda one: -one["weight"])
    return {"unit": unit.name, "loss": unit.value(base), "members": out}


def comparison_facts(outcome: Outcome, judged: Judged) -> dict[str, Any]:
    """The ensemble against the best single model and against guessing, on the same rows out of fold: differences with their errors."""
    unit = Unit.of(judged)
    if len(judged.rows) == 0:
        return {"unit": unit.name}
    ours = judged.losses(judged.scores)
    base, base_error = mean_and_error(ours, judged.weight)
    out: dict[str, Any] = {"unit": unit.name, "loss": unit.value(base), "standard_error": unit.change(base, 0.0, base_error)[1]}
    constant = guess(outcome, judged)
    guessed, error = mean_and_error(judged.losses(constant) - ours, judged.weight)
    more, error = unit.change(base, guessed, error)
    skill = guessed / (base + guessed) if base + guessed > 0.0 else float("nan")
    out["guess"] = {"loss": unit.value(base) + more, "more": more, "standard_error": error, "skill": skill}
    out["guess"]["score"] = score_of(outcome.model.metric, judged.task, judged.y, constant, judged.weight, judged.positive)
    single = [entry for entry in outcome.leaderboard if entry.name in judged.names and np.isfinite(entry.loss) and entry.family != ENSEMBLE]
    if single:
        best = min(single, key=lambda entry: entry.loss)
        theirs = judged.losses(judged.members[:, judged.names.index(best.name)])
        more, error = unit.change(base, *mean_and_error(theirs - ours, judged.weight))
        score = {"score": best.score, "score_error": best.standard_error}
        out["best"] = {"name": brief(best.name, 80), "loss": unit.value(base) + more, "more": more, "standard_error": error, **score}
    return out


def guess(outcome: Outcome, judged: Judged) -> Floats:
    """Scores that say the same of every row: the shares of the classes, the mean or the median of the numbers."""
    y = np.asarray(outcome.y)
    weight = np.ones(len(y)) if outcome.weight is None else np.asarray(outcome.weight, np.float64)
    if judged.task == "regression":
        typical = np.median(y) if judged.absolute else np.average(y, weights=weight)
        return np.full((len(judged.y), 1), float(typical))
    n_classes = len(outcome.model.classes)
    shares = np.bincount(y.astype(np.int64), weight, minlength=n_classes)
    logs = np.log(np.maximum(shares / shares.sum(), 1e-12))
    return np.full((len(judged.y), 1), logs[1] - logs[0]) if judged.task == "binary" else np.tile(logs, (len(judged.y), 1))


def curve_facts(outcome: Outcome, most: int = 200) -> list[dict[str, Any]]:
    """Learning curves of members with a weight first, thinned to so many rounds: log loss, or root mean squared error.

    Of numbers boosting counts half of the squared error, which nobody could compare with a score.
    """
    is_number = outcome.model.task == "regression"
    unit = "root mean squared error" if is_number else "log loss"
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
            there = [int(place) for place in kept if place < len(values)]
            losses = [_told(float(values[place]), is_number) for place in there]
            lines[sort] = {"round": [place + 1 for place in there], "loss": losses}
        out.append({"name": brief(name, 80), "weight": weights.get(name, 0.0), "unit": unit, "lines": lines})
    return out


def _told(loss: float, is_half_a_square: bool) -> float:
    return float(np.sqrt(2.0 * max(loss, 0.0))) if is_half_a_square else loss
