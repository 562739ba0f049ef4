"""Greedy selection against AutoGluon's, on fixed predictions: tests/data/selection/make_autogluon_indices.py made the answers."""

import json
from pathlib import Path

import numpy as np
import pytest

from woodwind.selection.greedy import greedy
from woodwind.selection.objectives import objective_of

GIVEN = json.loads((Path(__file__).parent.parent / "data" / "selection" / "autogluon.json").read_text())
CASES = GIVEN["found"]


class TheirTies:
    """AutoGluon's rule for equals, for comparison only: errors of the first round decide whether later ones are rounded to 6 digits."""

    def __init__(self, error_of):
        self.error_of, self.tie_keys = error_of, np.random.RandomState(0)
        self.errors, self.rounds = [], False

    def __call__(self, scores, chosen):
        errors = self.error_of(scores)
        errors = np.round(errors, 6) if self.rounds else errors
        best = np.flatnonzero(np.isclose(errors, errors.min(), rtol=1e-12, atol=0.0))
        best = best[chosen[best]] if chosen[best].any() else best
        position = self.tie_keys.choice(best)
        if not self.errors and errors[position] > 1e-4:
            self.rounds = True
            errors = np.round(errors, 6)
        self.errors.append(errors[position])
        return int(position)


def table_of(kind):
    predicted, truth = np.array(GIVEN["tables"][kind]["said"]), np.array(GIVEN["tables"][kind]["truth"])
    if kind == "binary":
        predicted = np.stack([1.0 - predicted, predicted], axis=2)
    return predicted.swapaxes(0, 1), truth


# Their errors from our scores; the root of the squared error has other roundings than the squared error.
METRICS = {
    "log_loss": ("log_loss", lambda scores: -scores),
    "accuracy": ("accuracy", lambda scores: 1.0 - scores),
    "roc_auc": ("roc_auc", lambda scores: 1.0 - scores),
    "root_mean_squared_error": ("squared_error", lambda scores: np.sqrt(-scores)),
    "mean_absolute_error": ("absolute_error", lambda scores: -scores),
}


def name_of(case):
    return f"{case['kind']}-{case['metric']}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_same_members_come_out_by_their_rule_for_equals(case):
    predicted, truth = table_of(case["kind"])
    metric, error_of = METRICS[case["metric"]]
    ties = TheirTies(error_of)
    order = greedy(objective_of(predicted, truth, metric), case["steps"], pick=ties, whole=True).order
    order = order[: int(np.argmin(ties.errors)) + 1]
    assert order.tolist() == case["indices"]
    np.testing.assert_allclose(np.bincount(order, minlength=predicted.shape[1]) / len(order), case["weights"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_our_own_rule_is_as_good(case):
    predicted, truth = table_of(case["kind"])
    metric, _ = METRICS[case["metric"]]
    objective = objective_of(predicted, truth, metric)
    theirs = np.bincount(case["indices"], minlength=predicted.shape[1]).astype(float)
    ours = greedy(objective, case["steps"])
    # Where accuracies tie, another choice leads another way: rules differ by luck there.
    slack = 0.012 if case["metric"] in ("accuracy", "roc_auc") else 1e-5
    assert ours.score >= objective.score(theirs, theirs @ objective.vectors) - slack
