"""Boosting and forests as families of the job: what is out of fold is out of fold, in groups and in time too; the same for any threads."""

import numpy as np
import pytest

from woodwind.auto.clock import Clock
from woodwind.auto.members.tree_members import CompactForestMember, ForestMember
from woodwind.auto.training import boosting
from woodwind.auto.training.boosting import BoostingFamily
from woodwind.auto.training.forests import ForestFamily
from woodwind.auto.training.recipe import ALL_ROWS, Recipe
from woodwind.auto.training.splits import fold_of_rows
from woodwind.auto.training.training_set import TrainingSet
from woodwind.data.tables.schema import Schema

BOOSTED = Recipe("boosting", "boosting", {"max_leaves": 4, "rate": 6.0})
FOREST = Recipe("forest", "forest", {"n_trees": 12, "min_rows": 2})
BOTH = pytest.mark.parametrize(("family", "recipe"), [(BoostingFamily(), BOOSTED), (ForestFamily(), FOREST)], ids=["boosting", "forest"])


def training_set(n_classes=2, n=300, seed=0, moments=None, y=None, threads=1, groups=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    if y is None:
        y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
        if n_classes:
            y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y).astype(np.int32)
    classes = y.astype(np.int64) if n_classes else None
    fold = fold_of_rows(seed, n, classes, groups, moments)
    schema, table = Schema.learn(X)
    return TrainingSet(schema, table, y, None, n_classes, fold, 7, threads, ordered=moments is not None)


def fitted(family, recipe, given):
    fits = list(family.fits(given, recipe, Clock(), []))
    return fits, family.finish(given, recipe, fits)


@BOTH
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_every_fold_is_asked_about_its_rows_and_the_member_speaks_on_the_same_scale(family, recipe, n_classes):
    given = training_set(n_classes)
    fits, (member, scores) = fitted(family, recipe, given)
    assert {fit.fold for fit in fits if fit.predicted is not None} == set(range(given.n_folds))
    assert (any(fit.fold == ALL_ROWS for fit in fits)) == family.needs_all_rows(given)
    assert scores.shape == (300, given.width)
    assert np.isfinite(scores).all()
    again = member.scores(given.view)
    assert again.shape == scores.shape
    # Rows that were trained on are known better, but on the same scale.
    assert np.corrcoef(again[:, 0], scores[:, 0])[0, 1] > 0.6
    assert isinstance(member, ForestMember | CompactForestMember)
    member.check()


@pytest.fixture
def three_rounds(monkeypatch):
    """The number of rounds is the one thing that boosting finds from all folds together; of three rounds the last is always the best."""
    monkeypatch.setattr(boosting, "MOST_ROUNDS", 3)


@BOTH
@pytest.mark.usefixtures("three_rounds")
def test_the_truth_of_a_fold_does_not_change_what_is_said_of_it(family, recipe):
    plain = training_set(0)
    held = plain.held(3)
    y = plain.y.copy()
    y[held] = y[held] + 0.2 * np.sin(np.arange(len(held)))
    before, after = (fitted(family, recipe, given)[0] for given in (plain, training_set(0, y=y)))
    for one, two in zip(before, after, strict=True):
        if one.predicted is not None:
            assert np.array_equal(one.predicted, two.predicted) == (one.fold == 3)


@BOTH
def test_on_noise_nothing_is_found(family, recipe):
    y = np.random.default_rng(5).normal(size=600)
    given = training_set(0, n=600, y=y)
    scores = fitted(family, recipe, given)[1].scores[:, 0]
    assert abs(np.corrcoef(scores, y)[0, 1]) < 0.15


@BOTH
@pytest.mark.usefixtures("three_rounds")
def test_in_time_order_later_rows_teach_nothing_about_earlier_ones(family, recipe):
    moments = np.arange(300.0)
    plain = training_set(0, moments=moments)
    y = plain.y.copy()
    y[plain.fold == 2] += 0.2
    before, after = (fitted(family, recipe, given)[0] for given in (plain, training_set(0, moments=moments, y=y)))
    for one, two in zip(before, after, strict=True):
        if one.predicted is not None:
            assert np.array_equal(one.predicted, two.predicted) == (one.fold <= 2)


@BOTH
@pytest.mark.parametrize("n_classes", [0, 3])
def test_the_same_bits_for_any_number_of_threads(family, recipe, n_classes):
    found = [fitted(family, recipe, training_set(n_classes, threads=threads))[1] for threads in (1, 2, 3)]
    for other in found[1:]:
        assert np.array_equal(found[0].scores, other.scores)
        given = training_set(n_classes)
        assert np.array_equal(found[0].member.scores(given.view), other.member.scores(given.view))


@BOTH
def test_no_time_leaves_no_half_member(family, recipe):
    given = training_set(0)
    clock = Clock(1000.0)
    clock.stop()
    fits = list(family.fits(given, recipe, clock, []))
    folds = {fit.fold for fit in fits if fit.predicted is not None}
    assert folds in (set(), set(range(given.n_folds)))
    assert all(fit.note for fit in fits)


def test_a_forest_of_classes_is_calibrated_by_other_folds():
    given = training_set(2, n=600)
    _, (member, scores) = fitted(ForestFamily(), FOREST, given)
    probability = 1.0 / (1.0 + np.exp(-scores[:, 0]))
    assert probability.mean() == pytest.approx(given.y.mean(), abs=0.03)
    assert member.slope > 0.0


@BOTH
def test_in_time_order_the_member_has_learnt_the_latest_rows(family, recipe):
    given = training_set(0, moments=np.arange(300.0))
    y = given.y.copy()
    latest = given.fold == 3
    y[latest] += 100.0
    other = training_set(0, moments=np.arange(300.0), y=y)
    predicted = fitted(family, recipe, other)[1].member.scores(given.view)[:, 0]
    assert predicted[latest].mean() > predicted[~latest].mean() + 1.0


def test_boosting_keeps_the_losses_of_its_rounds():
    fits, _ = fitted(BoostingFamily(), BOOSTED, training_set(2))
    curve = fits[0].curve["valid"]
    assert len(curve) > 5
    assert min(curve) < curve[0]


def test_a_fold_has_no_say_in_the_number_of_rounds_by_which_it_is_judged():
    """Rounds that are best for a fold by chance would flatter it: on noise the scores of many draws must not be better than a guess."""
    ahead = []
    for seed in range(12):
        y = np.random.default_rng(100 + seed).permutation(np.arange(120) % 2).astype(np.int32)
        given = training_set(2, n=120, seed=seed, y=y)
        scores = fitted(BoostingFamily(), Recipe("boosting", "boosting"), given)[1].scores[:, 0]
        ahead.append(np.log(2.0) - np.logaddexp(0.0, np.where(y == 1, -scores, scores)).mean())
    assert np.mean(ahead) < 2.0 * np.std(ahead) / np.sqrt(len(ahead))
    assert np.mean(ahead) < 0.002


class Ticking:
    """A time that passes by the same step whenever somebody looks at it."""

    def __init__(self, step):
        self.step, self.time = step, 0.0

    def __call__(self):
        self.time += self.step
        return self.time


@pytest.mark.parametrize("ordered", [False, True])
def test_a_member_with_little_time_learns_at_a_larger_rate_and_says_so(ordered):
    given = training_set(0, n=600, moments=np.arange(600.0) if ordered else None)
    recipe = Recipe("boosting", "boosting")
    ample, scarce = (list(BoostingFamily().fits(given, recipe, Clock(budget, Ticking(0.01)), [])) for budget in (1e6, 60.0))
    assert {fit.note for fit in ample} == {""}
    assert len({fit.note for fit in scarce}) == 1
    assert scarce[0].note.startswith(("learning rate", "out of time"))
    assert len(scarce[0].curve["valid"]) < len(ample[0].curve["valid"])
    assert scarce[0].curve["valid"][9] < ample[0].curve["valid"][9]


def test_large_tables_have_larger_trees_in_the_proportions_of_their_recipes():
    assert [boosting._leaves(63, n, "best_first") for n in (1_000, 80_000, 260_000, 2_400_000, 50_000_000)] == [63, 63, 200, 1846, 2047]
    assert boosting._leaves(31, 260_000, "best_first") == round(31 * 260_000 / 1300 / 63)
    assert boosting._leaves(8, 10_000, "best_first") == 8
    assert boosting._leaves(64, 2_400_000, "symmetric") == 64


@pytest.mark.parametrize(("rounds", "rate"), [(6000, 0.1), (600, 0.1), (200, 0.15), (150, 0.2), (6, 0.2), (0, 0.2), (np.inf, 0.1)])
def test_the_learning_rate_grows_as_rounds_are_too_many_for_the_time(rounds, rate):
    plan = boosting.boost_plan(training_set(3), BOOSTED.__class__("boosting", "boosting"))
    assert plan.learning_rate == 0.1
    assert boosting._rate(plan.learning_rate, rounds) == pytest.approx(rate)
