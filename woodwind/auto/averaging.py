"""Averaging: what the mean of the models of folds gains over one of them, measured by one more model of each member.

Out of fold, a row is predicted by the one model of its fold; the member of the model is the mean of those of all K folds, which is better.
By how much is measured without a row that was learned: one more model of each member is trained without the rows of the first two folds,
and asked about them. There the ensemble of the models of folds and that of the further models are both honest, and so is the mean of both.
By the ambiguity decomposition (Krogh & Vedelsby 1995) the mean of K models gains 2 (K - 1) / K times what the mean of two does over one of
them: exactly so for squared errors, and to second order for other smooth losses.

It errs on the modest side. The further model has learned nothing that the model of the fold has not, so that they differ less than models
of two folds do; members without a further model count as if their folds did not differ; and that the leaves of boosted trees are fitted
once more from all rows is not counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.blend import BlendWeights
from woodwind.auto.clock import Clock
from woodwind.auto.scorer import BlendScorer
from woodwind.auto.training.recipe import Family, Recipe, TrainedFold
from woodwind.auto.training.training_set import TrainingSet
from woodwind.base.formatting import figure
from woodwind.base.pool import side_by_side
from woodwind.metrics.metric import Metric

Floats = NDArray[np.float64]

ESTIMATE = "estimate"  # the name of the fact
# The folds whose rows are asked about.
FOLDS = (0, 1)
# A model is begun where there is time for one that takes so many times as long as that of a fold did by the clock: that was side by side
# with others, but had its leaves fitted once more.
AS_LONG = 1.5
# Parts of the rows, each left out once, for a standard error.
PARTS = 20


class AveragedMember(NamedTuple):
    """A member of a blend, as it was trained."""

    family: Family
    recipe: Recipe
    like: TrainedFold
    scores: Floats  # (n, width) out of fold


@dataclass(frozen=True)
class ScoreEstimate:
    """What is to be expected of the model, where its members are means of the models of folds."""

    score: float
    standard_error: float
    out_of_fold: float  # the score of one model for each row
    folds: int
    means: int  # members that are means of the models of folds
    members: tuple[str, ...]  # those of them whose gain was measured

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "ScoreEstimate | None":
        """That of a model with these facts, which may come from a file; None where it has none."""
        stored = facts.get(ESTIMATE)
        if not isinstance(stored, dict) or not all(
            isinstance(stored.get(name), int | float) for name in ("score", "standard_error", "out_of_fold")
        ):
            return None
        folds, means, members = (stored.get(name) for name in ("folds", "means", "members"))
        if not isinstance(folds, int) or not isinstance(means, int) or not isinstance(members, list | tuple):
            return None
        return cls(stored["score"], stored["standard_error"], stored["out_of_fold"], folds, means, tuple(map(str, members)))

    def words(self, metric: str) -> str:
        """For the user."""
        estimate = f"{metric} {figure(self.score)} (standard error {figure(self.standard_error)})"
        where = f"in {len(self.members)} of {self.means} members"
        return (
            f"Estimated with what the mean of the models of {self.folds} folds gains {where}: {estimate}. "
            f"Out of fold, by one of these models for each row: {figure(self.out_of_fold)}."
        )


def estimate_words(facts: Mapping[str, Any], metric: str) -> str:
    """What a model with these facts says of its estimate, or of why it has none; nothing where it is no mean of the models of folds."""
    found, stored = ScoreEstimate.of(facts), facts.get(ESTIMATE)
    if found is not None:
        return found.words(metric)
    return str(stored.get("why", "")) if isinstance(stored, dict) else ""


def is_possible(training_set: TrainingSet, metric: Metric) -> bool:
    """Whether there are means of the models of folds, and their gain by the metric can be told from that of two models."""
    return training_set.n_folds > len(FOLDS) and not training_set.ordered and metric.smooth


def is_averaged(training_set: TrainingSet, family: Family) -> bool:
    """Whether members of a family are means of the models of folds."""
    return training_set.n_folds > 1 and not family.needs_all_rows(training_set)


def estimate(
    training_set: TrainingSet,
    members: Sequence[AveragedMember],
    weights: BlendWeights,
    scorer: BlendScorer,
    claimed: tuple[float, float],
    clock: Clock,
    until: float,
) -> ScoreEstimate | str:
    """What to expect of a blend whose score out of fold, with its standard error, is `claimed`; or words on why that is not known.

    The heaviest members come first, as long as there is time until then.
    """
    if not is_possible(training_set, scorer.metric):
        few = training_set.n_folds <= len(FOLDS)
        return unmeasured(training_set, f"by how much is not measured {'with two folds' if few else f'for {scorer.metric.name}'}")
    other, rows = training_set.without(FOLDS), np.flatnonzero(np.isin(training_set.fold, FOLDS))
    order = np.argsort(-weights.weights, kind="stable").tolist()
    found = side_by_side(lambda _side, position: _further(other, members[position], clock, until), order, training_set.threads)
    further = {position: scores for position, scores in zip(order, found, strict=True) if scores is not None}
    if not further:
        return unmeasured(training_set, "there was no time to measure by how much")
    of_folds = [member.scores[rows] for member in members]
    one = weights.of(np.stack(of_folds, axis=1))
    two = weights.of(np.stack([further.get(position, scores) for position, scores in enumerate(of_folds)], axis=1))
    gain, error = averaging_gain(scorer.at(rows), one, two, training_set.n_folds)
    names = tuple(members[position].recipe.name for position in sorted(further))
    means = sum(is_averaged(training_set, member.family) for member in members)
    return ScoreEstimate(
        *improved(scorer.metric, claimed, gain, error, training_set.n_folds), claimed[0], training_set.n_folds, means, names
    )


def _further(training_set: TrainingSet, member: AveragedMember, clock: Clock, until: float) -> Floats | None:
    """What one more model of a member predicts; None where there is no time for it, or it is no mean of folds."""
    if clock.stopped or clock.spent + AS_LONG * member.like.seconds >= until:
        return None
    return member.family.train_without(training_set, member.recipe, member.like, clock, until)


def averaging_gain(scorer: BlendScorer, one: Floats, two: Floats, n_folds: int) -> tuple[float, float]:
    """What the mean of so many models gains over one of them, where two of them predict `one` and `two`; and its standard error, by leaving
    out each part of the rows once. In the metric's loss, or its square where it is a root.
    """

    def gain(rows: NDArray[Any]) -> float:
        at = scorer.at(rows)
        first, second, both = (_additive(scorer.metric, at.loss(scores[rows])) for scores in (one, two, (one + two) / 2.0))
        return 2.0 * (n_folds - 1) / n_folds * (0.5 * (first + second) - both)

    part = np.arange(len(one)) % PARTS if scorer.clusters is None else scorer.clusters
    without = [gain(np.flatnonzero(part != number)) for number in np.unique(part)]
    return max(gain(np.arange(len(one))), 0.0), float(np.sqrt((len(without) - 1) * np.var(without)))


def improved(metric: Metric, claimed: tuple[float, float], gain: float, error: float, n_folds: int) -> tuple[float, float]:
    """A score and its standard error, with a gain taken from the loss, of which as much is left as if no two models erred alike."""
    score, spread = claimed
    before = _additive(metric, metric.loss_of(score))
    after = max(before - gain, before / n_folds)
    if not metric.root:
        return (1.0 - after if metric.larger_is_better else after), float(np.hypot(spread, error))
    root = float(np.sqrt(after))
    return root, float(np.hypot(score * spread, 0.5 * error)) / root if root > 0.0 else spread


def _additive(metric: Metric, loss: float) -> float:
    """The loss as what is a mean over rows."""
    return loss**2 if metric.root else loss


def unmeasured(training_set: TrainingSet, why: str) -> str:
    """What is to be said where the gain is not known."""
    words = f"Members are means of the models of {training_set.n_folds} folds, which are better as a rule"
    return f"Scores are out of fold, by one model for each row. {words}; {why}."
