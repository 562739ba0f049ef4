"""Rows and columns drawn for the members of a bag."""

import numpy as np
import pytest

from woodwind.ensemble.resampling import Resampling

N, C = 200, 8


def resampling(**more):
    plain = {
        "seed": 3, "n_rows": N, "n_draws": N, "replace": True, "n_columns": C, "n_drawn_columns": C, "replace_columns": False,
    }  # fmt: skip
    return Resampling(**{**plain, **more})


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("units", [None, "some"])
@pytest.mark.parametrize("probability", [None, "some"])
def test_rows_and_counts_say_the_same(replace, units, probability):
    rng = np.random.default_rng(0)
    made = resampling(
        replace=replace,
        n_draws=90,
        units=None if units is None else rng.integers(0, 4, N),
        probability=None if probability is None else rng.random(N) + 0.1,
    )
    for member in range(3):
        rows = made.rows(member)
        assert len(rows) == 90
        assert (np.diff(rows) >= 0).all()
        assert np.array_equal(np.bincount(rows, minlength=N), made.counts(member))
        assert np.array_equal(rows, made.rows(member))
    assert not np.array_equal(made.rows(0), made.rows(1))


def test_a_bootstrap_holds_0_632_of_the_rows():
    made = resampling(n_rows=5000, n_draws=5000)
    inside = np.mean([len(np.unique(made.rows(member))) / 5000 for member in range(20)])
    assert inside == pytest.approx(1 - (1 - 1 / 5000) ** 5000, abs=0.005)


def test_pasting_draws_each_row_at_most_once():
    assert resampling(replace=False, n_draws=70).counts(0).max() == 1
    assert np.array_equal(resampling(replace=False).rows(5), np.arange(N))


def test_rows_that_stand_for_none_are_never_drawn():
    units = np.arange(N) % 2
    for replace in (True, False):
        made = resampling(units=units, n_draws=80, replace=replace)
        assert made.n_units == N // 2
        assert all(made.counts(member)[units == 0].sum() == 0 for member in range(10))


@pytest.mark.parametrize("replace", [True, False])
def test_whole_weights_are_drawn_as_rows_that_are_repeated_in_place(replace):
    units = np.random.default_rng(1).integers(0, 4, N)
    repeated = np.repeat(np.arange(N), units)
    weighted = resampling(units=units, n_draws=100, replace=replace)
    given = resampling(n_rows=len(repeated), n_draws=100, replace=replace)
    for member in range(4):
        assert np.array_equal(weighted.rows(member), np.sort(repeated[given.rows(member)]))


def test_with_replacement_rows_come_in_proportion_to_their_chance():
    probability = np.array([1.0, 2.0, 0.0, 5.0])
    counts = resampling(n_rows=4, n_draws=40_000, probability=probability).counts(0)
    assert counts[2] == 0
    assert counts / 40_000 == pytest.approx(probability / 8, abs=0.01)


def test_without_replacement_the_first_of_them_comes_in_proportion_too():
    """A draw of one row: the law of Efraimidis and Spirakis."""
    probability = np.array([1.0, 3.0, 4.0])
    made = resampling(n_rows=3, n_draws=1, replace=False, probability=probability)
    first = np.bincount([made.rows(member)[0] for member in range(4000)], minlength=3)
    assert first / 4000 == pytest.approx(probability / 8, abs=0.03)


def test_columns_are_drawn_with_and_without_replacement():
    assert resampling().all_columns
    patches = resampling(n_drawn_columns=3)
    assert not patches.all_columns
    assert all(len(np.unique(patches.columns(member))) == 3 for member in range(20))
    again = resampling(replace_columns=True)
    assert not again.all_columns
    assert any(len(np.unique(again.columns(member))) < C for member in range(20))
    assert np.bincount(np.concatenate([patches.columns(member) for member in range(4000)])) == pytest.approx(1500, rel=0.1)


def test_members_leave_rows_out_unless_all_are_drawn_once():
    assert resampling().leaves_rows_out
    assert resampling(replace=False, n_draws=N - 1).leaves_rows_out
    assert not resampling(replace=False).leaves_rows_out


def test_out_of_the_bag_are_rows_that_could_be_drawn():
    units = np.arange(N) % 3
    made = resampling(units=units)
    for member in range(3):
        assert np.array_equal(made.unseen(member), np.flatnonzero((made.counts(member) == 0) & (units > 0)))
    assert resampling(replace=False).unseen(0).size == 0
