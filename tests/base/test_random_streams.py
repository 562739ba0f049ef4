"""Randomness by key."""

import numpy as np
import pytest

from woodwind.base import random_streams
from woodwind.base.errors import ParameterError


def test_hash_is_splitmix64() -> None:
    # The first outputs of the reference generator with state 0, and with state 1234567.
    assert random_streams.mix(random_streams.GOLDEN) == 0xE220A8397B1DCDAF
    assert [int(word) for word in random_streams.hashes(1234567, 3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_items_of_a_key_do_not_depend_on_where_the_range_begins() -> None:
    whole = random_streams.hashes(7, 100)
    np.testing.assert_array_equal(whole[40:60], random_streams.hashes(7, 20, first=40))
    np.testing.assert_array_equal(random_streams.uniform(7, 100)[40:60], random_streams.uniform(7, 20, first=40))
    np.testing.assert_array_equal(random_streams.integers(7, 10, 100)[40:60], random_streams.integers(7, 10, 20, first=40))


def test_keys_differ_with_every_part_and_with_their_order() -> None:
    keys = [
        random_streams.key(*parts)
        for parts in [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, "rows"), (0, "columns"), (1 << 64,), (1 << 70,), (-1,)]
    ]
    assert len(set(keys)) == len(keys)
    assert all(0 <= key < 1 << 63 for key in keys)
    assert random_streams.key(5, "rows", 3) == random_streams.key(5, "rows", 3)
    assert random_streams.key(np.int64(5), np.int32(3)) == random_streams.key(5, 3)


def test_uniform_numbers_are_uniform() -> None:
    numbers = np.concatenate([random_streams.uniform(random_streams.key(0, part), 10_000) for part in range(10)])
    assert 0.0 <= numbers.min() < numbers.max() < 1.0
    counts = np.histogram(numbers, bins=100, range=(0, 1))[0]
    # Chi-squared with 99 degrees of freedom: beyond 160 with a probability of one in ten thousand.
    assert ((counts - 1000) ** 2 / 1000).sum() < 160


def test_neighbouring_keys_are_not_correlated() -> None:
    one, other = (random_streams.uniform(random_streams.key(seed), 10_000) for seed in (0, 1))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.04
    assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.04


def test_threshold_says_the_same_as_comparing_uniform_numbers() -> None:
    words = random_streams.hashes(3, 10_000) >> np.uint64(11)
    for share in (0.0, 1e-9, 0.1, 1 / 3, 0.5, 1.0):
        np.testing.assert_array_equal(words < random_streams.share_threshold(share), random_streams.uniform(3, 10_000) < share)


@pytest.mark.parametrize("bound", [1, 2, 10, 1 << 20, (1 << 32) - 1, 1 << 32])
def test_integers_are_the_exact_products_rounded_down(bound: int) -> None:
    numbers = random_streams.integers(11, bound, 1000)
    assert [int(word) * bound >> 64 for word in random_streams.hashes(11, 1000)] == numbers.tolist()
    assert numbers.max() < bound


def test_integers_refuse_a_bound_they_cannot_serve() -> None:
    with pytest.raises(ParameterError, match="bound"):
        random_streams.integers(0, 0, 5)


def test_permutation_holds_every_item_once() -> None:
    order = random_streams.permutation(9, 1000)
    assert sorted(order.tolist()) == list(range(1000))
    assert not np.array_equal(order, random_streams.permutation(10, 1000))


@pytest.mark.parametrize(("n", "m"), [(0, 0), (5, 0), (5, 5), (5, 2), (1000, 1), (1000, 700)])
def test_choice_is_ascending_and_the_beginning_of_the_permutation(n: int, m: int) -> None:
    chosen = random_streams.choose(4, n, m)
    assert chosen.tolist() == sorted(random_streams.permutation(4, n)[:m].tolist())


def test_choice_is_fair() -> None:
    counts = np.zeros(10)
    for seed in range(2000):
        counts[random_streams.choose(random_streams.key(seed), 10, 3)] += 1
    # 600 expected for each, standard deviation 20.5.
    assert np.abs(counts - 600).max() < 82


def test_choice_of_too_many_is_refused() -> None:
    with pytest.raises(ParameterError, match="Cannot choose 4 of 3"):
        random_streams.choose(0, 3, 4)


def test_seed_comes_from_whatever_users_give() -> None:
    assert random_streams.seed_of(42) == random_streams.seed_of(np.int64(42)) == 42
    for make in (np.random.RandomState, np.random.default_rng):
        assert random_streams.seed_of(make(5)) == random_streams.seed_of(make(5))
        generator = make(5)
        assert random_streams.seed_of(generator) != random_streams.seed_of(generator)
    assert random_streams.seed_of(None) != random_streams.seed_of(None)


@pytest.mark.parametrize("wrong", ["seven", 1.5, -1, []])
def test_seed_refuses_what_is_no_seed(wrong: object) -> None:
    with pytest.raises(ParameterError, match="random_state must be"):
        random_streams.seed_of(wrong)


def test_a_choice_is_the_same_a_part_at_a_time(monkeypatch):
    known = {m: random_streams.choose(5, 1000, m) for m in (1, 7, 99, 640)}
    monkeypatch.setattr(random_streams, "AT_ONCE", 100)
    for m, chosen in known.items():
        np.testing.assert_array_equal(random_streams.choose(5, 1000, m), chosen)
        np.testing.assert_array_equal(chosen, np.sort(np.argsort(random_streams.hashes(5, 1000))[:m]))
