"""Losses by name."""

import pytest

from woodwind.base.errors import ParameterError
from woodwind.losses import (
    ALL,
    Absolute,
    Exponential,
    Gamma,
    Huber,
    LogLoss,
    Multinomial,
    Poisson,
    Quantile,
    Quantiles,
    Squared,
    Tweedie,
    adopt,
    classification_loss,
    describe,
    loss_from,
    regression_loss,
)
from woodwind.losses.named import CLASSIFICATION, NONE_OF_OURS, REGRESSION


def test_every_named_loss_is_in_the_list_of_all():
    assert {type(loss) for loss in ALL} == {*REGRESSION.values(), *CLASSIFICATION.values(), Multinomial, Quantiles}
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


SAME_LOSS = {
    Squared: "l2 mse rmse RMSE regression regression_l2 mean_squared_error reg:squarederror Squared-Error",
    Absolute: "l1 mae MAE regression_l1 mean_absolute_error reg:absoluteerror",
    Poisson: "count:poisson Poisson",
    Gamma: "reg:gamma",
    Tweedie: "reg:tweedie Tweedie",
    Quantile: "Quantile pinball",
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in SAME_LOSS.items() for name in names.split()])
def test_a_loss_goes_by_the_names_that_other_libraries_have_for_it(kind, name):
    assert regression_loss(name) == kind()


@pytest.mark.parametrize("name", ["logloss", "Logloss", "binary:logistic", "binary", "binary_logloss", "CrossEntropy", "deviance"])
def test_the_log_loss_of_two_classes_goes_by_other_names(name):
    assert classification_loss(name, 2) == LogLoss()


@pytest.mark.parametrize("name", ["logloss", "multi:softprob", "multi:softmax", "multiclass", "MultiClass", "softmax"])
def test_the_log_loss_of_several_classes_goes_by_other_names(name):
    assert classification_loss(name, 3) == Multinomial(3)


@pytest.mark.parametrize(("name", "n_classes", "words"), [("binary:logistic", 3, "two classes"), ("multi:softprob", 2, "three classes")])
def test_a_name_that_is_for_another_number_of_classes_is_answered_by_ours(name, n_classes, words):
    with pytest.raises(ParameterError, match=f"{name}' is for {words}.*Use loss='log_loss'"):
        classification_loss(name, n_classes)


@pytest.mark.parametrize("name", [*NONE_OF_OURS, "rank:pairwise", "survival:cox", "YetiRank"])
def test_a_loss_that_is_none_of_ours_is_answered_by_what_comes_nearest(name):
    for make in (regression_loss, lambda name: classification_loss(name, 2)):
        with pytest.raises(
            ParameterError, match=r"There is none like it here. [A-Z]|which GradientBoosting(Ranker|SurvivalAnalysis) learns"
        ):
            make(name)


def test_a_loss_of_the_other_task_is_called_so():
    with pytest.raises(ParameterError, match=r"not 'mse'. It is for numbers, and this estimator is for classification"):
        classification_loss("mse", 2)
    with pytest.raises(ParameterError, match=r"not 'Logloss'. It is for classes, and this estimator is for regression"):
        regression_loss("Logloss")


def test_no_name_means_two_losses():
    kinds = [*REGRESSION.values(), *CLASSIFICATION.values()]
    names = [name for kind in kinds for name in (kind.name, *kind.aliases)]
    assert len(names) == len(set(names))
    assert set(NONE_OF_OURS).isdisjoint(names)
