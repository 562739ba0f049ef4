"""What the mean of the models of folds gains over one of them: measured without rows that were learned, and no more is claimed."""

from dataclasses import replace

import numpy as np
import pytest

from tests.auto.fakes import ALL_ROWS, ConstantColumn, Line, Time
from tests.auto.test_families import BOOSTED, training_set
from tests.auto.test_job import RNG, events_of, outcome_of, recipes
from woodwind.auto.averaging import AveragedMember, ScoreEstimate, averaging_gain, estimate, improved
from woodwind.auto.blend import BlendWeights
from woodwind.auto.clock import Clock
from woodwind.auto.evaluation import evaluated
from woodwind.auto.events import JobEnded
from woodwind.auto.scorer import BlendScorer
from woodwind.auto.training.boosting import BoostingFamily
from woodwind.auto.training.forests import ForestFamily
from woodwind.auto.training.matrix_family import MatrixFamily
from woodwind.auto.training.recipe import Recipe, TrainedFold, TrainedMember, gathered
from woodwind.base.errors import DataError
from woodwind.estimators.auto.linear_training import train_linear
from woodwind.metrics.named import metric_named

HALF = "there was no time to measure by how much"


class Whole(Line):
    """A line of all rows, which is no mean of the lines of folds."""

    def needs_all_rows(self, training_set):
        return True

    def fits(self, training_set, recipe, clock, have):
        found = list(super().fits(training_set, recipe, clock, have))
        yield from (replace(fit, model=None) for fit in found)
        yield TrainedFold(ALL_ROWS, None, found[0].model, 0.0)

    def finish(self, training_set, recipe, fits):
        line = next(fit.model for fit in fits if fit.fold == ALL_ROWS)
        return TrainedMember(ConstantColumn(line["slope"], line["middle"], training_set.width), gathered(training_set, fits))

    def train_without(self, training_set, recipe, like, clock, until):
        return None


class Wiggly(Line):
    """Lines with noise of their own, which a mean gets rid of."""

    def fits(self, training_set, recipe, clock, have):
        for fit in super().fits(training_set, recipe, clock, have):
            rng = np.random.default_rng([training_set.seed % 1000, fit.fold])
            yield replace(fit, predicted=fit.predicted + rng.normal(size=fit.predicted.shape))


class Failing(Line):
    """Trains its folds, and nothing more."""

    def train_without(self, training_set, recipe, like, clock, until):
        raise DataError("it will not")


@pytest.mark.parametrize("n_folds", [3, 8])
def test_the_gain_of_two_models_tells_that_of_many(n_folds):
    rng = np.random.default_rng(n_folds)
    y = rng.normal(size=20_000)
    models = y[:, None] + 0.5 * rng.normal(size=(20_000, 1)) + rng.normal(size=(20_000, n_folds))
    scorer = BlendScorer(metric_named("rmse"), y, None, False)
    gain, error = averaging_gain(scorer, models[:, :1], models[:, 1:2], n_folds)
    truth = np.mean((models - y[:, None]) ** 2) - np.mean((models.mean(axis=1) - y) ** 2)
    assert 0.0 < error < 0.02 * gain
    assert abs(gain - truth) < 3.0 * error + 0.01 * truth


@pytest.mark.parametrize("name", ["rmse", "mse", "r2", "mae", "log_loss"])
def test_a_score_is_better_by_the_gain_and_by_no_more_than_as_many_models_can_bring(name):
    metric = metric_named(name)
    better = np.greater if metric.larger_is_better else np.less
    assert improved(metric, (0.5, 0.1), 0.0, 0.0, 6) == pytest.approx((0.5, 0.1))
    some, error = improved(metric, (0.5, 0.1), 0.01, 0.001, 6)
    assert better(some, 0.5)
    assert error >= 0.1 - 1e-12
    if name == "rmse":
        assert some == pytest.approx(np.sqrt(0.25 - 0.01))
    else:
        assert abs(some - 0.5) == pytest.approx(0.01)
    most, _ = improved(metric, (0.5, 0.1), 100.0, 0.0, 6)
    assert metric.loss_of(most) ** (2 if name == "rmse" else 1) == pytest.approx(metric.loss_of(0.5) ** (2 if name == "rmse" else 1) / 6)


def test_a_job_estimates_its_mean_of_folds_and_says_so():
    outcome = outcome_of({"line": Wiggly()}, recipes("line"))
    found = outcome.model.facts["estimate"]
    first = outcome.leaderboard[0]
    assert (found["out_of_fold"], found["folds"], found["members"]) == (first.score, 8, ("line",))
    # Two lines with noise of variance 1 each: of eight such the mean has an eighth of it.
    assert first.score**2 - found["score"] ** 2 == pytest.approx(7.0 / 8.0, rel=0.5)
    assert outcome.notes[-1].startswith("Estimated with what the mean of the models of 8 folds gains in 1 of 1 members: rmse ")
    assert ScoreEstimate.of(outcome.model.facts).words("rmse") == outcome.notes[-1]


def test_evaluation_holds_a_model_to_its_estimate():
    model = outcome_of({"line": Wiggly()}, recipes("line")).model
    X = RNG.normal(size=(50, 3))
    trial = evaluated(model, X, X[:, 0])
    assert trial.claimed == model.facts["estimate"]["score"]
    assert trial.measured[0].claimed == model.facts["estimate"]["out_of_fold"]


def test_a_member_that_is_no_mean_of_folds_has_the_score_that_it_has():
    outcome = outcome_of({"whole": Whole()}, recipes("whole"))
    assert "estimate" not in outcome.model.facts
    assert not any("folds" in note for note in outcome.notes)
    assert outcome.leaderboard[0].score == outcome.leaderboard[1].score


def test_members_that_are_no_means_count_as_they_are():
    families = {"line": Wiggly(), "whole": Whole()}
    found = outcome_of(families, recipes("line", "whole")).model.facts["estimate"]
    assert found["members"] == ("line",)


@pytest.mark.parametrize("metric", ["spearman", "median_absolute_error"])
def test_a_metric_that_two_models_do_not_tell_has_no_estimate_and_says_so(metric):
    outcome = outcome_of({"line": Line()}, recipes("line"), metric=metric_named(metric))
    assert outcome.notes[-1].endswith(f"which are better as a rule; by how much is not measured for {metric}.")
    assert "score" not in outcome.model.facts["estimate"]
    assert ScoreEstimate.of(outcome.model.facts) is None


def test_where_there_was_no_time_that_is_said():
    time = Time()
    events = events_of({"line": Line(cost=1.0, tick=time.pass_by)}, recipes("line-0", "line-1"), Clock(20.0, now=time))
    assert isinstance(events[-1], JobEnded)
    assert events[-1].outcome.notes[-1].endswith(f"which are better as a rule; {HALF}.")
    assert time.now < 20.0


def test_a_failure_is_called_one_and_loses_nothing():
    outcome = outcome_of({"line": Failing()}, recipes("line"))
    assert outcome.notes[-1].endswith("to measure by how much failed: DataError: it will not.")
    assert outcome.model.names == ("line",)


def test_what_is_no_estimate_is_none():
    model = outcome_of({"line": Line()}, recipes("line")).model
    good = model.facts["estimate"]
    assert ScoreEstimate.of(model.facts) is not None
    for odd in (None, 3, [], {}, {**good, "score": "0.1"}, {**good, "folds": None}, {**good, "means": "2"}, {**good, "members": 5}):
        assert ScoreEstimate.of({"estimate": odd}) is None


LINEAR = Recipe("linear", "linear")
FAMILIES = pytest.mark.parametrize(
    ("family", "recipe"), [(BoostingFamily(), BOOSTED), (MatrixFamily(train_linear), LINEAR)], ids=["boosting", "linear"]
)


@FAMILIES
def test_a_further_model_has_not_learnt_the_rows_that_it_is_asked_about(family, recipe):
    given = training_set(0)
    like = list(family.fits(given, recipe, Clock(), []))[-1]
    other = given.y.copy()
    other[np.isin(given.fold, (0, 1))] += 0.2
    found = [family.train_without(one.without((0, 1)), recipe, like, Clock(), np.inf) for one in (given, replace(given, y=other))]
    assert found[0].shape == (np.isin(given.fold, (0, 1)).sum(), 1)
    assert found[0] == pytest.approx(found[1], abs=1e-6)  # the unit in which derivatives are counted is that of all rows
    assert np.corrcoef(found[0][:, 0], given.y[np.isin(given.fold, (0, 1))])[0, 1] > 0.6


@FAMILIES
@pytest.mark.parametrize("n_classes", [0, 2])
def test_the_estimate_is_the_same_for_any_number_of_threads(family, recipe, n_classes):
    found = []
    for threads in (1, 2):
        given = training_set(n_classes, threads=threads)
        fits = list(family.fits(given, recipe, Clock(), []))
        member = AveragedMember(family, recipe, fits[-1], family.finish(given, recipe, fits).scores)
        again = AveragedMember(family, replace(recipe, seed=1), fits[-1], member.scores)
        scorer = BlendScorer(metric_named("auto", "binary" if n_classes else "regression"), given.y, None, n_classes > 0)
        weights = BlendWeights(np.array([0.6, 0.4]), np.zeros(1))
        found.append(estimate(given, [member, again], weights, scorer, (0.5, 0.1), Clock(), np.inf))
    assert isinstance(found[0], ScoreEstimate)
    assert found[0] == found[1]
    assert found[0].score < 0.5


def test_forests_and_time_order_have_no_further_model():
    given = training_set(0)
    assert ForestFamily().train_without(given.without((0, 1)), Recipe("forest", "forest"), None, Clock(), np.inf) is None
    ordered = training_set(0, moments=np.arange(300.0))
    like = list(BoostingFamily().fits(ordered, BOOSTED, Clock(), []))[-1]
    assert BoostingFamily().train_without(ordered.without((0, 1)), BOOSTED, like, Clock(), np.inf) is None


def test_a_further_model_that_is_late_is_none():
    given = training_set(0)
    for family, recipe in ((BoostingFamily(), BOOSTED), (MatrixFamily(train_linear), LINEAR)):
        like = list(family.fits(given, recipe, Clock(), []))[-1]
        assert family.train_without(given.without((0, 1)), recipe, like, Clock(), 0.0) is None
