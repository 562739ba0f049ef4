"""A user's own loss: adopted, checked, and turned into integers like ours."""

import numpy as np
import pytest

from woodwind.base.errors import DataError, ParameterError
from woodwind.losses import LogLoss, Multinomial, Squared, adopt, check_loss
from woodwind.losses.integers import largest_derivatives, quantise_classes, quantise_rows, scales_for


class LogCosh:
    """The example of the documentation."""

    def start(self, y, weight):
        return np.median(y)

    def derivatives(self, y, raw, weight):
        t = np.tanh(raw - y)
        w = 1.0 if weight is None else weight
        return w * t, w * (1.0 - t * t)

    def value(self, y, raw, weight):
        return np.average(np.log(np.cosh(raw - y)), weights=weight)


class OwnSoftmax:
    """Our multinomial of three classes, as a user would write it."""

    width = 3

    def start(self, y, weight):
        return Multinomial(3).start(y, weight)

    def derivatives(self, y, raw, weight):
        return Multinomial(3).derivatives(y, raw, weight)

    def value(self, y, raw, weight):
        return Multinomial(3).value(y, raw, weight)

    def predict(self, raw):
        return Multinomial(3).predict(raw)

    def check_target(self, y):
        Multinomial(3).check_target(y)


def changed(**methods):
    return type("Changed", (LogCosh,), methods)()


def test_good_losses_pass():
    check_loss(LogCosh())
    check_loss(OwnSoftmax(), np.arange(20) % 3)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (changed(derivatives=lambda s, y, f, w: (-LogCosh().derivatives(y, f, w)[0], np.ones_like(f))), "sign is the wrong way"),
        (changed(value=lambda s, y, f, w: 2 * LogCosh().value(y, f, w)), "twice too small"),
        (changed(derivatives=lambda s, y, f, w: (np.tanh(f - y), np.ones_like(f))), "hessian does not belong to the gradient"),
        (changed(derivatives=lambda s, y, f, w: LogCosh().derivatives(y, f, None)), "gradient without weights times the weight"),
        (changed(value=lambda s, y, f, w: LogCosh().value(y, f, None)), "mean loss by weight"),
        (changed(derivatives=lambda s, y, f, w: (f[:3], f[:3])), r"gradient of shape \(3,\) for scores of shape \(24,\)"),
        (changed(derivatives=lambda s, y, f, w: (f * np.nan, f)), r"gradient that is not finite: nan at \(0,\)"),
        (changed(derivatives=lambda s, y, f, w: f), r"must return a tuple \(gradient, hessian\)"),
        (changed(start=lambda s, y, w: np.inf), "start must be finite"),
        (
            changed(
                exact_hessian=False,
                derivatives=lambda s, y, f, w: (LogCosh().derivatives(y, f, w)[0], -np.ones_like(f) * (1 if w is None else w)),
            ),
            "hessian is negative in 24 of 24",
        ),
    ],
)
def test_what_is_wrong_is_said_in_words(loss, words):
    with pytest.raises(ParameterError, match=words):
        check_loss(loss)


def test_a_stand_in_for_the_hessian_is_accepted_when_it_is_announced():
    derivatives = lambda s, y, f, w: (LogCosh().derivatives(y, f, w)[0], np.ones_like(f) * (1 if w is None else w))  # noqa: E731
    check_loss(changed(exact_hessian=False, derivatives=derivatives))
    with pytest.raises(ParameterError, match="hessian"):
        check_loss(changed(derivatives=derivatives))


def test_kinks_are_not_held_against_a_loss():
    class Tilted:
        exact_hessian = False

        def start(self, y, weight):
            return np.median(y)

        def derivatives(self, y, raw, weight):
            w = np.ones_like(raw) if weight is None else weight
            return w * np.where(raw > y, 2.0, -1.0), w

        def value(self, y, raw, weight):
            return np.average(np.where(raw > y, 2.0 * (raw - y), y - raw), weights=weight)

    check_loss(Tilted())


def test_what_is_missing_is_named():
    with pytest.raises(ParameterError, match="it lacks start, derivatives, value"):
        adopt(object())
    with pytest.raises(ParameterError, match="LogCosh is a class"):
        adopt(LogCosh)
    with pytest.raises(ParameterError, match="it lacks"):
        adopt("squared_error")


def test_our_losses_are_adopted_as_they_are():
    loss = LogLoss()
    assert adopt(loss) is loss


def test_what_a_loss_leaves_out_has_defaults():
    loss = adopt(LogCosh())
    raw = np.array([[1.0], [2.0]])
    assert loss.width == 1
    assert loss.formula is loss.bounds() is None
    assert loss.refits == ()
    assert loss.resolved(raw, raw) is loss
    assert loss.predict(raw).tolist() == [1.0, 2.0]
    assert loss.value(np.zeros(2), np.ones(2), np.array([1.0, 3.0])) == pytest.approx(np.log(np.cosh(1)))


def test_integers_of_an_own_loss_are_those_of_ours():
    class OwnLogLoss(LogCosh):
        def derivatives(self, y, raw, weight):
            return LogLoss().derivatives(y, raw, weight)

    rng = np.random.default_rng(0)
    y, raw, weight = rng.integers(0, 2, 700).astype(float), rng.normal(size=700), rng.random(700)
    ours, own = np.empty(700, np.int64), np.empty(700, np.int64)
    our_scales, _ = quantise_rows(LogLoss(), y, raw, weight, ours)
    own_scales, _ = quantise_rows(adopt(OwnLogLoss()), y, raw, weight, own)
    np.testing.assert_allclose((own >> 32) / own_scales[0], (ours >> 32) / our_scales[0], atol=1 / our_scales[0])
    top = largest_derivatives(adopt(OwnLogLoss()), y, raw, weight)
    assert scales_for(top, len(y)).tolist() == own_scales.tolist()


def test_integers_of_an_own_loss_of_several_scores_are_those_of_ours():
    rng = np.random.default_rng(1)
    y, raw, weight = rng.integers(0, 3, 300).astype(np.int32), rng.normal(size=(300, 3)), rng.random(300)
    results = []
    for loss in (Multinomial(3), adopt(OwnSoftmax())):
        q, h = np.empty((300, 4), np.int32), np.empty((300, 3), np.int32)
        scales = quantise_classes(loss, y, raw, weight, q, h)
        results.append((q[:, :3] / scales[0], q[:, 3] / scales[1], h / scales[1]))
    for ours, own in zip(*results, strict=True):
        np.testing.assert_allclose(ours, own, atol=4e-9)


def test_scores_that_ran_away_are_reported():
    y, raw = np.zeros(10), np.zeros(10)
    raw[3] = np.inf
    with pytest.raises(DataError, match="scores have run away"):
        quantise_rows(Squared(), y, raw, None, np.empty(10, np.int64))
