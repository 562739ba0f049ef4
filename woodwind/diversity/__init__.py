"""How members differ and why that helps: measures, margins, bias and variance, the theory of crowds.

Everything here is a function of matrices of predictions: rows first, members second, classes third. Labels of any kind may be given;
where hits are asked for, `hits_of(truth, labels)` makes them.

Inside:

    bias_variance  Why a learner errs: noise, bias and variance of what it says when it is trained on other rows
    counts         Counting over all pairs of members at once: rows on which both are right, and rows on which both predict the same
    crowd          Why crowds are wise: what theory says of votes and means of many members, as functions
    groups         How much the members of a whole ensemble differ: one number for all of them together
    margins        How clearly an ensemble decides: margins of rows, their distribution, and what they promise for new rows
    matrices       Validation of arguments: what may be given to the functions of this package, and what is wrong with what was given
    pairwise       How much two members differ: measures for every pair of a pool, as (m, m) matrices
    probabilities  How the class probabilities of classifiers differ: their correlation, that of their errors, what averaging makes of it
    regression     How regressors differ: covariance of their errors, and what averaging makes of it
    report         All measures of diversity of one ensemble, as a table that can be read
    strength       Strength and correlation of a forest, and what they predict for its error: Breiman (2001), "Random forests"
    words          Texts that the docstrings of this package share
"""

from woodwind.diversity.bias_variance import (
    BiasVariance,
    RowParts,
    james_decomposition,
    kohavi_wolpert_decomposition,
    squared_decomposition,
    zero_one_decomposition,
)
from woodwind.diversity.crowd import (
    MajorityLimits,
    adaboost_bound,
    added_error,
    correlated_majority_bound,
    correlated_majority_probability,
    ensemble_error,
    majority_limits,
    majority_probability,
    poisson_binomial,
    variance_of_mean,
)
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
from woodwind.diversity.margins import (
    MarginBound,
    MarginDistribution,
    adaboost_margin_bound,
    edges,
    hit_margins,
    margin_bound,
    margin_distribution,
    probability_margins,
    vote_margins,
)
from woodwind.diversity.matrices import EncodedClasses, class_indices, hits_of
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
from woodwind.diversity.probabilities import brier_decomposition, probability_correlation, probability_error_correlation
from woodwind.diversity.regression import (
    AmbiguityDecomposition,
    BiasVarianceCovariance,
    ambiguity_decomposition,
    bias_variance_covariance,
    error_correlation,
    error_covariance,
    error_products,
    prediction_correlation,
)
from woodwind.diversity.report import DiversityReport, Measure, RegressionDiversityReport, diversity_report, regression_report
from woodwind.diversity.strength import ForestStrength, strength_and_correlation

__all__ = [
    "AmbiguityDecomposition",
    "BiasVariance",
    "BiasVarianceCovariance",
    "DiversityReport",
    "EncodedClasses",
    "ForestStrength",
    "GoodAndBad",
    "MajorityLimits",
    "MarginBound",
    "MarginDistribution",
    "Measure",
    "PairwiseDiversity",
    "RegressionDiversityReport",
    "RowParts",
    "adaboost_bound",
    "adaboost_margin_bound",
    "added_error",
    "agreement",
    "ambiguity",
    "ambiguity_decomposition",
    "bias_variance_covariance",
    "brier_decomposition",
    "class_indices",
    "coincident_failure_diversity",
    "correlated_majority_bound",
    "correlated_majority_probability",
    "correlation",
    "difficulty",
    "disagreement",
    "diversity_report",
    "double_fault",
    "edges",
    "ensemble_error",
    "entropy",
    "error_correlation",
    "error_covariance",
    "error_products",
    "generalised_diversity",
    "good_and_bad_diversity",
    "hit_margins",
    "hits_of",
    "interrater_kappa",
    "james_decomposition",
    "kappa",
    "kohavi_wolpert_decomposition",
    "kohavi_wolpert_variance",
    "majority_limits",
    "majority_probability",
    "margin_bound",
    "margin_distribution",
    "mean_of_pairs",
    "pairwise",
    "poisson_binomial",
    "prediction_correlation",
    "probability_correlation",
    "probability_error_correlation",
    "probability_margins",
    "q_statistic",
    "ratio_of_errors",
    "regression_report",
    "squared_decomposition",
    "strength_and_correlation",
    "variance_of_mean",
    "vote_entropy",
    "vote_margins",
    "zero_one_decomposition",
]
