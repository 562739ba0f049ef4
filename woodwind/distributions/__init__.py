"""Predictive distributions: what boosting by natural gradients learns the parameters of. NumPy and SciPy only.

base            Distribution: scores of a row to parameters; log density, gradient, Fisher information, CRPS, moments, quantiles
location_scale  normal, log-normal, Laplace, logistic, Student's t
positive        exponential, gamma, Weibull, beta
counts          Poisson, negative binomial, zero-inflated Poisson
natural         the natural gradient: a gradient by the metric of the score
predicted       PredictedDistribution: one distribution for each row, as predict_distribution gives it
named           name -> distribution
"""

from woodwind.distributions.base import Distribution
from woodwind.distributions.counts import NegativeBinomialDistribution, PoissonDistribution, ZeroInflatedPoissonDistribution
from woodwind.distributions.location_scale import (
    LaplaceDistribution,
    LogisticDistribution,
    LogNormalDistribution,
    NormalDistribution,
    StudentTDistribution,
)
from woodwind.distributions.positive import BetaDistribution, ExponentialDistribution, GammaDistribution, WeibullDistribution
from woodwind.distributions.predicted import PredictedDistribution

__all__ = [
    "BetaDistribution",
    "Distribution",
    "ExponentialDistribution",
    "GammaDistribution",
    "LaplaceDistribution",
    "LogNormalDistribution",
    "LogisticDistribution",
    "NegativeBinomialDistribution",
    "NormalDistribution",
    "PoissonDistribution",
    "PredictedDistribution",
    "StudentTDistribution",
    "WeibullDistribution",
    "ZeroInflatedPoissonDistribution",
]
