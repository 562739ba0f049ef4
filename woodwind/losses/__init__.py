"""Losses: start, derivatives, value, link and leaf refit of each; see `base.py` for the life of a loss."""

from woodwind.losses.base import Loss
from woodwind.losses.check import check_loss
from woodwind.losses.classification import Exponential, LogLoss, Multinomial
from woodwind.losses.named import ALL, classification_loss, describe, loss_from, regression_loss
from woodwind.losses.own import adopt
from woodwind.losses.regression import Absolute, Gamma, Huber, Poisson, Quantile, Squared, Tweedie

__all__ = [
    "ALL",
    "Absolute",
    "Exponential",
    "Gamma",
    "Huber",
    "LogLoss",
    "Loss",
    "Multinomial",
    "Poisson",
    "Quantile",
    "Squared",
    "Tweedie",
    "adopt",
    "check_loss",
    "classification_loss",
    "describe",
    "loss_from",
    "regression_loss",
]
