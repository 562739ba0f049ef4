"""The job: what happens to members that fail, to time that runs out, and to the leaderboard; with quick members of our own."""

import math

import numpy as np
import pytest

from tests.auto.fakes import Line, Nan, Time
from woodwind.auto.clock import Clock
from woodwind.auto.events import Blended, FactsBegan, FoldDone, JobBegan, JobEnded, MemberBegan, MemberDone, Message
from woodwind.auto.job import JobSpec, run
from woodwind.auto.training.recipe import Recipe
from woodwind.auto.training.splits import fold_of_rows
from woodwind.base.errors import JobError, TargetError
from woodwind.metrics.named import metric_named

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X @ [2.0, -1.0, 0.5] + 0.1 * RNG.normal(size=200)


def spec(**changes):
    given = {"X": X, "y": Y, "task": "regression", "classes": (), "metric": metric_named("rmse")}
    return JobSpec(**{**given, "fold": fold_of_rows(0, 200, None, None, None), **changes})


def recipes(*names, **settings):
    return [Recipe(name, name.split("-")[0], {"column": position, **settings}) for position, name in enumerate(names)]


class Listed:
    """Recipes from a list."""

    def __init__(self, recipes):
        self.recipes = iter(recipes)

    def next(self, done):
        return next(self.recipes, None)


def events_of(families, listed, clock=None, **changes):
    return list(run(spec(**changes), families, Listed(listed), clock or Clock()))


def outcome_of(*args, **changes):
    events = events_of(*args, **changes)
    assert isinstance(events[-1], JobEnded)
    return events[-1].outcome


def test_events_come_in_their_order():
    events = events_of({"line": Line()}, recipes("line-0", "line-1"))
    kinds = [type(event) for event in events]
    folds = [FoldDone] * 8
    assert kinds == [JobBegan, MemberBegan, *folds, MemberDone, Blended, MemberBegan, *folds, MemberDone, Blended, FactsBegan, JobEnded]
    assert events[-1].seconds >= events[-1].outcome.seconds  # the facts of the report are in it
    assert [event.seconds for event in events] == sorted(event.seconds for event in events)
    assert all(math.isfinite(event.score) for event in events if isinstance(event, FoldDone))


def test_the_leaderboard_has_the_ensemble_first_and_then_the_best():
    outcome = outcome_of({"line": Line()}, recipes("line-0", "line-1", "line-2"))
    names = [entry.name for entry in outcome.leaderboard]
    assert names[0] == "ensemble"
    assert sorted(names[1:]) == ["line-0", "line-1", "line-2"]
    losses = [entry.loss for entry in outcome.leaderboard[1:]]
    assert losses == sorted(losses)
    assert outcome.leaderboard[0].loss < losses[0]


def test_scores_are_of_rows_that_members_have_not_learnt():
    outcome = outcome_of({"line": Line()}, recipes("line-0"))
    coef = []
    for fold in range(8):
        rows = outcome.scored & (spec().fold != fold)
        coef.append(np.cov(X[rows, 0], Y[rows])[0, 1] / X[rows, 0].var())
    by_hand = np.empty(200)
    for fold in range(8):
        rows, held = spec().fold != fold, spec().fold == fold
        by_hand[held] = Y[rows].mean() + coef[fold] * (X[held, 0] - X[rows, 0].mean())
    assert outcome.out_of_fold[:, 0, 0] == pytest.approx(by_hand)


@pytest.mark.parametrize("error", [ValueError("no"), ZeroDivisionError("by nought"), MemoryError("too much"), np.linalg.LinAlgError("odd")])
def test_a_member_that_fails_is_noted_and_the_job_goes_on(error):
    families = {"line": Line(), "bad": Line(fail_in=3, error=error)}
    outcome = outcome_of(families, recipes("bad", "line"))
    entry = outcome.leaderboard[-1]
    assert (entry.name, entry.folds, entry.weight) == ("bad", 3, 0.0)
    assert entry.note.startswith(f"failed: {type(error).__name__}")
    assert outcome.model.names == ("line",)


def test_a_member_that_says_what_is_no_number_is_noted():
    outcome = outcome_of({"line": Line(), "nan": Nan()}, recipes("nan", "line"))
    assert outcome.leaderboard[-1].note == "failed: it predicts NaN or infinity"


def test_without_any_member_there_is_a_clear_error():
    with pytest.raises(JobError, match=r"No member could be trained\. bad: failed: ValueError: it will not"):
        events_of({"bad": Line(fail_in=0)}, recipes("bad"))


def test_an_interrupt_is_no_failure_of_a_member():
    with pytest.raises(KeyboardInterrupt):
        events_of({"bad": Line(fail_in=0, error=KeyboardInterrupt())}, recipes("bad"))


def test_time_that_runs_out_ends_the_job_with_what_is_finished():
    time = Time()
    line = Line(cost=1.0, tick=time.pass_by)
    clock = Clock(20.0, now=time)
    outcome = outcome_of({"line": line}, recipes("line-0", "line-1", "line-2"), clock)
    # Eight folds of a second each: the first is done after 8, the second after 16, and the third has no time to begin.
    assert [entry.name for entry in outcome.leaderboard[1:]] == ["line-0", "line-1"]
    assert time.now <= 18.0


def test_time_that_runs_out_in_the_first_member_leaves_the_baseline():
    time = Time()
    events = events_of({"line": Line(cost=1.0, tick=time.pass_by)}, recipes("line", "line-1"), Clock(5.0, now=time))
    outcome = events[-1].outcome
    assert [entry.name for entry in outcome.leaderboard] == ["ensemble", "baseline", "line"]
    assert outcome.leaderboard[-1].note == "out of time after 4 of 8 folds"
    assert any("no time to train a member" in event.words for event in events if isinstance(event, Message))
    assert outcome.model.predict(X[:3]) == pytest.approx(Y.mean())
    assert outcome.leaderboard[1].score >= Y.std()  # by the means of other rows
    assert time.now < 5.0


def test_an_end_that_was_asked_for_is_no_reason_for_a_baseline():
    clock = Clock(100.0)
    clock.stop()
    with pytest.raises(JobError, match="No member was finished"):
        events_of({"line": Line()}, recipes("line"), clock)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_baseline_of_classes_has_their_shares(n_classes):
    time = Time()
    y = (np.arange(200) % 5 % n_classes).astype(np.int32)
    task = "binary" if n_classes == 2 else "multiclass"
    changes = {"y": y, "task": task, "classes": tuple("abc"[:n_classes]), "metric": metric_named("auto", task)}
    changes["fold"] = fold_of_rows(0, 200, y.astype(np.int64), None, None)
    clock = Clock(5.0, now=time)
    time.pass_by(4.9)
    outcome = outcome_of({"line": Line()}, recipes("line"), clock, **changes)
    assert outcome.model.names == ("baseline",)
    assert outcome.model.predict_proba(X[:2])[0] == pytest.approx(np.bincount(y) / 200, abs=1e-6)


def test_a_number_of_models_ends_the_job():
    outcome = outcome_of({"line": Line()}, recipes("line-0", "line-1", "line-2"), models=2)
    assert outcome.names == ("line-0", "line-1")


def test_members_that_no_longer_help_end_a_job_without_a_number():
    many = [Recipe(f"line-{number}", "line", {"column": 0}) for number in range(50)]
    outcome = outcome_of({"line": Line()}, iter(many))
    assert len(outcome.names) < 15


def test_time_that_is_not_used_has_a_reason_that_is_said():
    time = Time()
    many = [Recipe(f"line-{number}", "line", {"column": 0}) for number in range(50)]
    early = events_of({"line": Line(cost=0.1, tick=time.pass_by)}, iter(many), Clock(1000.0, now=time))
    assert [event.words for event in early if isinstance(event, Message)] == [
        f"Training ended {1000 - time.now:.0f} seconds early: the last 8 members brought nothing."
    ]
    time = Time()
    nothing = events_of({"line": Line(cost=0.1, tick=time.pass_by)}, recipes("line-0"), Clock(1000.0, now=time))
    assert "there is nothing more to try" in next(event.words for event in nothing if isinstance(event, Message))
    time = Time()
    full = events_of({"line": Line(cost=1.0, tick=time.pass_by)}, iter(many), Clock(20.0, now=time))
    assert not any(isinstance(event, Message) for event in full)


def test_standard_errors_are_of_whole_clusters_of_rows():
    plain = outcome_of({"line": Line()}, recipes("line"), y=Y + np.repeat(5.0 * RNG.normal(size=10), 20))
    again = outcome_of({"line": Line()}, recipes("line"), y=plain.y, clusters=np.repeat(np.arange(10), 20))
    for one, other in zip(plain.leaderboard, again.leaderboard, strict=True):
        assert one.score == other.score
        assert other.standard_error > 1.3 * one.standard_error
    kept = again.model.facts["metrics"]["scores"]["rmse"]
    assert kept == {"score": again.leaderboard[0].score, "standard_error": again.leaderboard[0].standard_error}


def test_the_model_predicts_what_the_weights_say():
    outcome = outcome_of({"line": Line()}, recipes("line-0", "line-1", "line-2"))
    model = outcome.model
    predicted = model.member_scores(model.view(X))
    assert model.predict(X) == pytest.approx((predicted[:, :, 0] * model.weights).sum(axis=1) + model.shift[0])


@pytest.mark.parametrize(("metric", "y"), [("rmsle", Y), ("mape", np.round(Y))])
def test_a_metric_that_cannot_be_had_for_the_target_ends_the_job_before_it_begins(metric, y):
    with pytest.raises(TargetError, match=f"metric '{metric}' cannot be had for this target"):
        next(run(spec(metric=metric_named(metric), y=y), {"line": Line()}, Listed(recipes("line-0")), Clock()))


def test_a_model_of_noise_is_a_guess_and_says_so():
    noise = np.random.default_rng(9).normal(size=200)
    outcome = outcome_of({"line": Line()}, recipes("line-0", "line-1", factor=5.0), y=noise)
    assert outcome.model.scores(X)[:, 0] == pytest.approx(np.full(200, noise.mean()))
    assert outcome.leaderboard[0].note == "guessing"
    assert [entry.weight for entry in outcome.leaderboard[1:]] == [0.0, 0.0]
    assert "the model is this guess" in outcome.notes[-1]


def test_progress_is_of_the_same_rows_as_the_scores_of_members():
    many = {"X": np.tile(X, (100, 1)), "y": np.tile(Y, 100), "fold": fold_of_rows(0, 20_000, None, None, None)}
    events = events_of({"line": Line()}, recipes("line-0"), **many)
    (member,), (blended,) = ([event for event in events if isinstance(event, kind)] for kind in (MemberDone, Blended))
    assert blended.score == member.entry.score


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("names", [("line-0",), ("line-0", "line-1", "line-2")])
def test_scores_of_members_and_of_the_ensemble_are_of_the_same_rows_and_those_are_said(ordered, names):
    moments = np.arange(200.0) if ordered else None
    outcome = outcome_of({"line": Line()}, recipes(*names), fold=fold_of_rows(0, 200, None, None, moments), ordered=ordered)
    scored = np.isfinite(outcome.blend_out_of_fold[:, 0])
    board = {entry.name: entry for entry in outcome.leaderboard}
    for position, name in enumerate(outcome.names):
        assert board[name].score == pytest.approx(np.sqrt(np.mean((outcome.out_of_fold[scored, position, 0] - Y[scored]) ** 2)))
    ensemble = board["ensemble"]
    assert ensemble.score == pytest.approx(np.sqrt(np.mean((outcome.blend_out_of_fold[scored, 0] - Y[scored]) ** 2)))
    if len(names) == 1:
        assert ensemble.score == board["line-0"].score
    split = outcome.model.facts["split"]
    assert split["scored"] == scored.sum() == (75 if ordered else 200)
    assert (split["held_out"], outcome.scored.sum()) == ((100, 100) if ordered else (200, 200))
    assert ("last 75 rows held out" in ensemble.note) == ordered
    assert any("scores are of the 75 rows" in note for note in outcome.notes) == ordered


def test_members_that_were_stopped_early_do_not_spoil_the_score_of_an_ensemble_that_does_not_ask_them():
    """In time order the first block of the estimate was an equal blend of all members."""
    listed = [Recipe("line-0", "line", {"column": 0}), *(Recipe(f"line-{k}", "line", {"column": k, "factor": 900.0}) for k in (1, 2))]
    outcome = outcome_of({"line": Line()}, listed, fold=fold_of_rows(0, 200, None, None, np.arange(200.0)), ordered=True)
    board = {entry.name: entry for entry in outcome.leaderboard}
    assert board["line-0"].weight > 0.98
    assert board["ensemble"].score < 1.05 * board["line-0"].score
