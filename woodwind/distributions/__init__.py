"""Predictive distributions: what boosting by natural gradients learns the parameters of. NumPy and SciPy only.

Inside:

    base            Distribution: scores of a row to parameters; log density, gradient, Fisher information, CRPS, moments, quantiles
    classes         The distribution of a class: categorical, which is Bernoulli's for two classes
    censored        Targets that are known within bounds only, for any distribution
    counts          Distributions of counts: Poisson, negative binomial, zero-inflated Poisson
    empirical       An empirical distribution by 200 of its quantiles, for forests
    location_scale  Distributions of a location and a scale: normal, log-normal, Laplace, logistic, Student's t
    named           Name -> distribution
    natural         The natural gradient: the gradient of a score by the metric that belongs to it
    positive        Distributions of positive numbers: exponential, gamma, Weibull; and of numbers between zero and one: beta
    predicted       PredictedDistribution: one distribution for each row, as predict_distribution gives it
    survival_functions  Survival and cumulative hazard functions of rows, as predict_survival_function gives them
"""

from woodwind.distributions.base import Distribution
from woodwind.distributions.classes import CategoricalDistribution
from woodwind.distributions.counts import NegativeBinomialDistribution, PoissonDistribution, ZeroInflatedPoissonDistribution
from woodwind.distributions.empirical import EmpiricalDistribution
from woodwind.distributions.location_scale import (
    LaplaceDistribution,
    LogisticDistribution,
    LogNormalDistribution,
    NormalDistribution,
    StudentTDistribution,
)
from woodwind.distributions.positive import BetaDistribution, ExponentialDistribution, GammaDistribution, WeibullDistribution
from woodwind.distributions.predicted import PredictedDistribution
from woodwind.distributions.survival_functions import CumulativeHazardFunctions, FailureTimes, ProportionalHazards, SurvivalFunctions

__all__ = [
    "BetaDistribution",
    "CategoricalDistribution",
    "CumulativeHazardFunctions",
    "Distribution",
    "EmpiricalDistribution",
    "ExponentialDistribution",
    "FailureTimes",
    "GammaDistribution",
    "LaplaceDistribution",
    "LogNormalDistribution",
    "LogisticDistribution",
    "NegativeBinomialDistribution",
    "NormalDistribution",
    "PoissonDistribution",
    "PredictedDistribution",
    "ProportionalHazards",
    "StudentTDistribution",
    "SurvivalFunctions",
    "WeibullDistribution",
    "ZeroInflatedPoissonDistribution",
]
