"""All measures of diversity of one ensemble, as a table that can be read."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.docstrings import fill_docstring
from woodwind.base.errors import DataError
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
from woodwind.diversity.pairwise import PairwiseDiversity, mean_of_pairs, pairwise
from woodwind.diversity.probabilities import brier_decomposition, probability_correlation, probability_error_correlation
from woodwind.diversity.regression import ambiguity_decomposition, error_correlation, error_covariance, prediction_correlation
from woodwind.diversity.words import WEIGHT

# Which way more diversity is: Kuncheva & Whitaker (2003).
_PAIRS = {
    "q_statistic": ("lower", "association of being right; 0 if independent"),
    "correlation": ("lower", "correlation of being right"),
    "disagreement": ("higher", "rows on which one of two is right"),
    "double_fault": ("lower", "rows on which both of two are wrong"),
    "ratio_of_errors": ("higher", "errors of one for each error of both"),
    "kappa": ("lower", "Cohen's, of what two predict"),
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
class _Report:
    """Measures by name, shown as a table."""

    n_rows: int
    n_members: int
    names: tuple[str, ...]
    measures: tuple[Measure, ...]

    def __getitem__(self, name: str) -> float:
        return self.as_dict()[name]

    def as_dict(self) -> dict[str, float]:
        """Values by name."""
        return {measure.name: measure.value for measure in self.measures}

    def __repr__(self) -> str:
        width = max(len(measure.name) for measure in self.measures)
        arrows = {"higher": "↑", "lower": "↓", "": " "}
        lines = [f"{name:{width}}  {value:11.5g} {arrows[more]}  {meaning}" for name, value, more, meaning in self.measures]
        head = f"{self.n_members} members, {self.n_rows:,} rows; the arrow shows where more diversity lies"
        return "\n".join([head, *lines])


@dataclass(frozen=True, eq=False, repr=False)
class DiversityReport(_Report):
    """All measures of an ensemble of classifiers. `report["entropy"]` is a value, `report.pairs` has the matrices, `print(report)` shows
    all."""

    accuracies: Floats
    pairs: PairwiseDiversity
    probability_correlation: Floats | None = None  # (m, m), where members give probabilities


@dataclass(frozen=True, eq=False, repr=False)
class RegressionDiversityReport(_Report):
    """All measures of an ensemble of regressors: the squared error of each, and the matrix of the correlations of their errors."""

    errors: Floats
    correlation: Floats


@fill_docstring(weight=WEIGHT)
def diversity_report(
    truth: Any, labels: Any, *, probabilities: Any = None, classes: Any = None, sample_weight: Any = None, names: Any = None
) -> DiversityReport:
    """Everything that this package measures of an ensemble of classifiers.

    Parameters
    ----------
    truth : sequence of labels, (n,)
    labels : sequence of labels, (n, m)
        What members predict, of any kind. Rows should not be those that they were trained on.
    probabilities : array (n, m, K), default=None
        The class probabilities of members, for the measures of these.
    classes : sequence of labels, (K,), default=None
        The labels that probabilities are of, in order; needed with them.
    {weight}
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
    mean_accuracy                     0.66667    of members
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
    (n, m), correlation = votes.shape, None
    if probabilities is not None:
        correlation = probability_correlation(probabilities, sample_weight=sample_weight)
        found += _of_probabilities(_class_numbers(truth, classes), probabilities, correlation, sample_weight)
    return DiversityReport(n, m, _called(names, m), tuple(found), np.asarray(accuracies), pairs, correlation)


def _class_numbers(truth: Any, classes: Any) -> NDArray[np.int64]:
    """Labels as numbers of given classes."""
    if classes is None:
        raise DataError("diversity_report: probabilities need classes, the labels that they are of, in order.")
    position = {label: number for number, label in enumerate(np.asarray(classes).tolist())}
    unknown = [label for label in np.asarray(truth).tolist() if label not in position]
    if unknown:
        raise DataError(f"diversity_report: truth has the label {unknown[0]!r}, which is none of classes. Give all labels.")
    return np.array([position[label] for label in np.asarray(truth).tolist()], np.int64)


def _of_probabilities(truth: NDArray[np.int64], probabilities: Any, correlation: Floats, sample_weight: Any) -> list[Measure]:
    """The measures of class probabilities."""
    parts = brier_decomposition(truth, probabilities, sample_weight=sample_weight)
    errors = probability_error_correlation(truth, probabilities, sample_weight=sample_weight)
    return [
        Measure("mean_brier_score", parts.mean_error, "", "of members: squared error of their probabilities"),
        Measure("brier_score_of_mean", parts.ensemble_error, "", "of the mean of their probabilities"),
        Measure("probability_ambiguity", parts.ambiguity, "higher", "by which the mean is better than members are"),
        Measure("probability_correlation", mean_of_pairs(correlation), "lower", "pairs: of probabilities"),
        Measure("probability_error_correlation", mean_of_pairs(errors), "lower", "pairs: of errors of probabilities"),
    ]


@fill_docstring(weight=WEIGHT)
def regression_report(truth: Any, predictions: Any, *, sample_weight: Any = None, names: Any = None) -> RegressionDiversityReport:
    """Everything that this package measures of an ensemble of regressors.

    Parameters
    ----------
    truth : sequence of numbers, (n,)
    predictions : array (n, m)
        What members predict. Rows should not be those that they were trained on.
    {weight}
    names : sequence of str, (m,), default=None
        Names of members.

    Returns
    -------
    RegressionDiversityReport
        Squared errors of members and of their mean, ambiguity, and the correlation of errors.

    Examples
    --------
    >>> from woodwind.diversity import regression_report
    >>> report = regression_report([0.0, 0.0], [[1.0, 3.0], [-1.0, 1.0]])
    >>> report["mean_of_errors"], report["error_of_mean"], report["ambiguity"]
    (3.0, 2.0, 1.0)
    """
    parts = ambiguity_decomposition(truth, predictions, sample_weight=sample_weight)
    correlation = error_correlation(truth, predictions, sample_weight=sample_weight)
    predicted = prediction_correlation(predictions, sample_weight=sample_weight)
    covariance = error_covariance(truth, predictions, sample_weight=sample_weight)
    n, m = np.shape(predictions)
    found = (
        Measure("mean_of_errors", parts.mean_error, "", "squared, of members"),
        Measure("best_error", float(parts.member_errors.min()), "", "of the best member"),
        Measure("error_of_mean", parts.ensemble_error, "", "of the mean of all"),
        Measure("ambiguity", parts.ambiguity, "higher", "by which the mean is better than members are"),
        Measure("error_correlation", mean_of_pairs(correlation), "lower", "pairs: of errors"),
        Measure("error_covariance", mean_of_pairs(covariance), "lower", "pairs: of errors"),
        Measure("prediction_correlation", mean_of_pairs(predicted), "lower", "pairs: of what is predicted"),
    )
    return RegressionDiversityReport(n, m, _called(names, m), found, parts.member_errors, correlation)


def _called(names: Any, m: int) -> tuple[str, ...]:
    called = tuple(str(name) for name in (range(m) if names is None else names))
    if len(called) != m:
        raise DataError(f"names has {len(called)} names for {m} members. Give one for each, or none.")
    return called
