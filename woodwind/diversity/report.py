"""All measures of diversity of one ensemble, as a table that can be read."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from woodwind.diversity.groups import (
    ambiguity,
    coincident_failure_diversity,
    difficulty,
    entropy,
    generalised_diversity,
    good_and_bad_diversity,
    interrater_kappa,
    kohavi_wolpert_variance,
    vote_entropy,
)
from woodwind.diversity.matrices import Floats, numbered, read_weight
from woodwind.diversity.pairwise import PairwiseDiversity, pairwise

# Which way more diversity is: Kuncheva & Whitaker (2003), Table 2.
_PAIRS = {
    "q_statistic": ("lower", "association of being right; 0 if independent"),
    "correlation": ("lower", "correlation of being right"),
    "disagreement": ("higher", "rows on which one of two is right"),
    "double_fault": ("lower", "rows on which both of two are wrong"),
    "ratio_of_errors": ("higher", "errors of one for each error of both"),
    "kappa": ("lower", "Cohen's, of what two say"),
}
_GROUPS = {
    "entropy": (entropy, "higher", "E of Kuncheva and Whitaker"),
    "kohavi_wolpert_variance": (kohavi_wolpert_variance, "higher", "variance of being right"),
    "interrater_kappa": (interrater_kappa, "lower", "agreement of all beyond chance"),
    "difficulty": (difficulty, "lower", "theta: variance of the share that is right"),
    "generalised_diversity": (generalised_diversity, "higher", "failures that are not shared"),
    "coincident_failure_diversity": (coincident_failure_diversity, "higher", "the same, by rows"),
}


class Measure(NamedTuple):
    """One line of a report: a value, where more diversity lies ("higher", "lower" or neither), and what it is."""

    name: str
    value: float
    more: str
    meaning: str


@dataclass(frozen=True, eq=False)
class DiversityReport:
    """All measures of an ensemble. `report["entropy"]` is a value, `report.pairs` has the matrices, `print(report)` shows all."""

    n_rows: int
    n_members: int
    accuracies: Floats
    measures: tuple[Measure, ...]
    pairs: PairwiseDiversity
    names: tuple[str, ...]

    def __getitem__(self, name: str) -> float:
        return self.as_dict()[name]

    def as_dict(self) -> dict[str, float]:
        """Values by name."""
        return {measure.name: measure.value for measure in self.measures}

    def __repr__(self) -> str:
        width = max(len(measure.name) for measure in self.measures)
        arrows = {"higher": "↑", "lower": "↓", "": " "}
        lines = [f"{name:{width}}  {value:9.4f} {arrows[more]}  {meaning}" for name, value, more, meaning in self.measures]
        head = f"{self.n_members} members, {self.n_rows:,} rows; the arrow shows where more diversity lies"
        return "\n".join([head, *lines])


def diversity_report(truth: Any, labels: Any, *, sample_weight: Any = None, names: Any = None) -> DiversityReport:
    """Everything that this room measures of an ensemble of classifiers.

    Parameters
    ----------
    truth : sequence of labels, (n,)
    labels : sequence of labels, (n, m)
        What members say, of any kind. Rows should not be those that they were trained on.
    sample_weight : sequence of numbers, (n,), default=None
        Weights of rows.
    names : sequence of str, (m,), default=None
        Names of members.

    Returns
    -------
    DiversityReport
        Accuracies, means of pairs, measures of the whole, and the matrices of pairs.

    Examples
    --------
    >>> from woodwind.diversity import diversity_report
    >>> report = diversity_report([0, 0, 1, 1], [[0, 0, 1], [0, 1, 0], [1, 1, 1], [0, 1, 0]])
    >>> report["vote_accuracy"], report["oracle_accuracy"], report["disagreement"]
    (0.75, 1.0, 0.5)
    >>> print(report)  # doctest: +ELLIPSIS
    3 members, 4 rows; the arrow shows where more diversity lies
    mean_accuracy                    0.6667    of members
    ...
    """
    true, votes, _ = numbered(truth, labels, "diversity_report")
    hits = votes == true[:, None]
    weight = read_weight(sample_weight, len(true), "diversity_report")
    pairs = pairwise(hits, votes, sample_weight=sample_weight)
    parts = good_and_bad_diversity(true, votes, sample_weight=sample_weight)
    accuracies = weight @ hits
    found = [
        Measure("mean_accuracy", float(accuracies.mean()), "", "of members"),
        Measure("best_accuracy", float(accuracies.max()), "", "of the best member"),
        Measure("vote_accuracy", 1.0 - parts.vote_error, "", "of the most votes"),
        Measure("oracle_accuracy", float(weight @ hits.any(axis=1)), "", "rows that somebody has right"),
    ]
    means = pairs.means
    found += [Measure(name, means[name], more, f"pairs: {meaning}") for name, (more, meaning) in _PAIRS.items()]
    found += [Measure(name, measure(hits, sample_weight=sample_weight), *told) for name, (measure, *told) in _GROUPS.items()]
    found += [
        Measure("vote_entropy", vote_entropy(votes, sample_weight=sample_weight), "higher", "Cunningham and Carney's, in bits"),
        Measure("ambiguity", ambiguity(votes, sample_weight=sample_weight), "higher", "votes that contradict the ensemble"),
        Measure("good_diversity", parts.good, "", "wrong votes that were outvoted"),
        Measure("bad_diversity", parts.bad, "", "right votes that were wasted"),
    ]
    n, m = votes.shape
    called = tuple(str(name) for name in (range(m) if names is None else names))
    return DiversityReport(n, m, np.asarray(accuracies), tuple(found), pairs, called)
