"""How members differ and why that helps: measures, margins, bias and variance, the theory of crowds.

Everything here is a function of matrices of predictions: rows first, members second, classes third. Labels of any kind may be given;
where hits are asked for, `hits_of(truth, labels)` makes them.
"""

from woodwind.diversity.groups import (
    GoodAndBad,
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
from woodwind.diversity.matrices import ClassNumbers, class_numbers, hits_of
from woodwind.diversity.pairwise import (
    PairwiseDiversity,
    agreement,
    correlation,
    disagreement,
    double_fault,
    kappa,
    mean_of_pairs,
    pairwise,
    q_statistic,
    ratio_of_errors,
)
from woodwind.diversity.report import DiversityReport, Measure, diversity_report

__all__ = [
    "ClassNumbers",
    "DiversityReport",
    "GoodAndBad",
    "Measure",
    "PairwiseDiversity",
    "agreement",
    "ambiguity",
    "class_numbers",
    "coincident_failure_diversity",
    "correlation",
    "difficulty",
    "disagreement",
    "diversity_report",
    "double_fault",
    "entropy",
    "generalised_diversity",
    "good_and_bad_diversity",
    "hits_of",
    "interrater_kappa",
    "kappa",
    "kohavi_wolpert_variance",
    "mean_of_pairs",
    "pairwise",
    "q_statistic",
    "ratio_of_errors",
    "vote_entropy",
]
