"""Losses: start, derivatives, value, link and leaf refit of each; see `base.py` for the life of a loss.

Inside:

    base            Loss: what a booster needs to know about its goal
    check           check_loss: does the gradient belong to the loss, and the hessian to the gradient?
    classification  Losses for classification: log loss of two or of many, exponential loss
    distribution_score  The score of a predictive distribution as a loss: natural gradients in the place of gradients
    distribution_stages  The score of a distribution in two stages: first its location, then the spread around given locations
    first_order     A loss whose second derivatives are not used: gradient boosting of the first order (Friedman 2001, algorithm 1)
    integers        Derivatives as integers: scales from global numbers, then the rows, on the threads that the work is worth
    links           Links: from the raw score, which trees add up, to the mean that users see, and back
    named           Name -> loss, and one list of all losses, over which the laws are tested
    own             A user's own loss: any object with `start`, `derivatives` and `value`; it runs between kernels, never inside one
    ranking         Losses of rankings: LambdaMART, pairwise logistic, listwise softmax
    refit           Leaf values from the residuals of the rows, for losses without a useful second derivative: Friedman 2001, section 4
    regression      Losses for regression: squared, absolute, quantile, Huber; Poisson, Gamma and Tweedie with a log link
    several_targets  Several targets as one loss: that of each target, side by side
    survival        Losses of survival times: Cox's partial likelihood and accelerated failure time
"""

from woodwind.losses import classification, ranking, regression, survival
from woodwind.losses.base import Loss
from woodwind.losses.check import check_loss
from woodwind.losses.classification import *  # noqa: F403
from woodwind.losses.named import ALL, classification_loss, describe, loss_from, regression_loss
from woodwind.losses.own import adopt
from woodwind.losses.ranking import *  # noqa: F403
from woodwind.losses.regression import *  # noqa: F403
from woodwind.losses.survival import *  # noqa: F403

__all__ = ["ALL", "Loss", "adopt", "check_loss", "classification_loss", "describe", "loss_from", "regression_loss"]
__all__ += regression.__all__
__all__ += classification.__all__
__all__ += ranking.__all__
__all__ += survival.__all__
