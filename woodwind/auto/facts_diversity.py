"""Strength and diversity of the members, and the margins of the ensemble: why several are better than one."""

from typing import Any

import numpy as np

from woodwind.auto.facts_judged import Judged
from woodwind.auto.facts_plain import brief
from woodwind.auto.link import probabilities
from woodwind.auto.outcome import Outcome
from woodwind.diversity import (
    ambiguity_decomposition,
    error_correlation,
    kappa,
    margin_distribution,
    mean_of_pairs,
    share_margins,
)

MOST_ROWS = 20_000
MOST_MEMBERS = 40
GRID = np.linspace(-1.0, 1.0, 81)


def diversity_facts(outcome: Outcome, judged: Judged) -> dict[str, Any] | None:
    """Each member's error, and how alike it is to the others: kappa of classes, correlation of the errors of numbers."""
    rows = judged.part(MOST_ROWS, "diversity", outcome.seed)
    members = judged.members[rows][:, :MOST_MEMBERS]
    if len(rows) < 10 or members.shape[1] < 2:
        return None
    names = judged.names[:MOST_MEMBERS]
    weights = dict(zip(outcome.model.names, outcome.model.weights, strict=True))
    y = judged.y[rows]
    if judged.task == "regression":
        said = members[:, :, 0]
        alike, measure = error_correlation(y, said), "correlation of errors"
        strength = np.sqrt(ambiguity_decomposition(y, said).member_errors)
        together = float(np.sqrt(np.mean((judged.scores[rows, 0] - y) ** 2)))
        error = "root mean squared error"
    else:
        said = np.stack([probabilities(members[:, place]).argmax(axis=1) for place in range(members.shape[1])], axis=1)
        alike, measure = kappa(said), "kappa"
        strength = (said != y[:, None]).mean(axis=0)
        together = float((judged.said[rows] != y).mean())
        error = "share of rows that are wrong"
    others = (alike.sum(axis=1) - np.diagonal(alike)) / (len(alike) - 1)
    points = [
        {"name": brief(name, 80), "alike": others[place], "error": strength[place], "weight": float(weights.get(name, 0.0))}
        for place, name in enumerate(names)
    ]
    return {"measure": measure, "error": error, "members": points, "mean": mean_of_pairs(alike), "together": together, "rows": len(rows)}


def margin_facts(outcome: Outcome, judged: Judged) -> dict[str, Any] | None:
    """How clearly rows are decided: the share of rows up to each margin, of the ensemble and of its heaviest member."""
    rows = judged.part(MOST_ROWS, "margins", outcome.seed)
    if judged.task == "regression" or len(rows) < 10:
        return None
    y = judged.y[rows].astype(np.int64)
    ours = margin_distribution(share_margins(y, judged.proba[rows]))
    out: dict[str, Any] = {"margin": GRID, "ensemble": ours.share_below(GRID), "mean": ours.mean, "wrong": ours.share_below(0.0)}
    heaviest = outcome.model.names[int(np.argmax(outcome.model.weights))]
    if heaviest in judged.names and len(outcome.model.names) > 1:
        theirs = share_margins(y, probabilities(judged.members[rows, judged.names.index(heaviest)]))
        out["member"] = {"name": brief(heaviest, 80), "share": margin_distribution(theirs).share_below(GRID)}
    return out
