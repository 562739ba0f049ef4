"""Losses by name."""

import pytest

from woodwind.base.errors import ParameterError
from woodwind.losses import (
    ALL,
    Exponential,
    Huber,
    LogLoss,
    Multinomial,
    Quantile,
    Squared,
    adopt,
    classification_loss,
    describe,
    loss_from,
    regression_loss,
)
from woodwind.losses.named import CLASSIFICATION, REGRESSION


def test_every_named_loss_is_in_the_list_of_all():
    assert {type(loss) for loss in ALL} == {*REGRESSION.values(), *CLASSIFICATION.values(), Multinomial}
    assert set(REGRESSION) == {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"}
    assert set(CLASSIFICATION) == {"log_loss", "exponential"}


def test_losses_for_numbers_take_their_parameters():
    assert regression_loss("squared_error") == Squared()
    assert regression_loss("quantile", level=0.9) == Quantile(0.9)
    assert regression_loss("huber", quantile=0.8) == Huber(0.8)


def test_log_loss_depends_on_the_number_of_classes():
    assert classification_loss("log_loss", 2) == LogLoss()
    assert classification_loss("log_loss", 5) == Multinomial(5)
    assert classification_loss("exponential", 2) == Exponential()
    with pytest.raises(ParameterError, match="two classes, and the target has 3"):
        classification_loss("exponential", 3)


def test_an_unknown_name_brings_a_suggestion():
    with pytest.raises(ParameterError, match="Did you mean 'squared_error'"):
        regression_loss("squared_eror")
    with pytest.raises(ParameterError, match="'log_loss', 'exponential'"):
        classification_loss("nothing like it", 2)


def test_a_parameter_of_another_loss_is_refused():
    with pytest.raises(ParameterError, match="'squared_error' does not take level"):
        regression_loss("squared_error", level=0.5)


def test_description_is_plain():
    assert describe(Huber(0.8)) == {"name": "huber", "quantile": 0.8, "delta": None}
    assert loss_from({"name": "log_loss", "n_classes": 4}) == Multinomial(4)


class Own:
    def start(self, y, weight):
        return 0.0

    def derivatives(self, y, raw, weight):
        return raw - y, raw * 0 + 1

    def value(self, y, raw, weight):
        return 0.0


def test_a_loss_of_ones_own_is_never_stored_as_something_else():
    with pytest.raises(ParameterError, match="cannot be stored by name"):
        describe(adopt(Own()))
