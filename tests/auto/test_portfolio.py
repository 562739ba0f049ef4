"""The portfolio: all families, no name twice, and the best again when the list is at its end."""

import math

import pytest

from woodwind.auto.outcome import Entry
from woodwind.auto.portfolio import BEST, FAMILIES, Portfolio


def entry(recipe, loss):
    return Entry(recipe.name, recipe.family, loss, 0.0, loss, 0.0, 1.0, 1.0, 8)


def tried(n_classes, categories, number=40):
    portfolio, done = Portfolio(n_classes), []
    while len(done) < number:
        recipe = portfolio.next(done)
        if recipe.is_for(categories):
            done.append(entry(recipe, 1.0 / (len(done) + 1)))
    return done


@pytest.mark.parametrize("n_classes", [0, 2, 5])
@pytest.mark.parametrize("categories", [0, 5, 100, 253, 254, 100_000])
def test_all_families_are_tried_and_names_are_told_apart(n_classes, categories):
    done = tried(n_classes, categories)
    assert {one.family for one in done} == set(FAMILIES)
    assert len({one.name for one in done}) == 40


@pytest.mark.parametrize("n_classes", [0, 2])
def test_where_trees_cannot_part_all_levels_those_that_read_them_as_numbers_come_first(n_classes):
    assert [one.name for one in tried(n_classes, 253, 2)] == ["boosting", "boosting-encoded"]
    assert [one.name for one in tried(n_classes, 254, 2)] == ["boosting-encoded", "boosting"]
    assert "boosting-encoded" not in [one.name for one in tried(n_classes, 5)]


def test_the_best_are_trained_again_with_other_draws():
    portfolio, done = Portfolio(2), []
    listed = [portfolio.next(done) for _ in portfolio.listed]
    losses = {"boosting-slow": 0.1, "net": 0.2, "extra-trees": 0.3, "linear": 0.05}
    done = [entry(recipe, losses.get(recipe.name, 1.0)) for recipe in listed]
    again = [portfolio.next(done) for _ in range(2 * BEST)]
    # A linear model would be the same again.
    assert [recipe.name for recipe in again[:BEST]] == ["boosting-slow-2", "net-2", "extra-trees-2"]
    assert [recipe.name for recipe in again[BEST:]] == ["boosting-slow-3", "net-3", "extra-trees-3"]
    assert len({recipe.seed for recipe in again if recipe.name.startswith("net")}) == 2


def test_families_can_be_left_out():
    portfolio = Portfolio(0, ("linear",))
    assert portfolio.next([]).family == "linear"
    assert portfolio.next([]) is None


def test_members_that_failed_are_not_tried_again():
    portfolio = Portfolio(2, ("boosting",))
    listed = [portfolio.next([]) for _ in portfolio.listed]
    assert portfolio.next([entry(recipe, math.inf) for recipe in listed]) is None
