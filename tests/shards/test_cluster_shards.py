"""Trees that workers of a cluster help to grow are those of the engine in memory, byte for byte, whatever goes wrong."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from laws.test_same_bits import CASES, target
from reference.boosted import boosted
from shards.fake_cluster import ChaosTransport, FakeTransport, blocks_of, divided
from woodwind.base.errors import ClusterError, ParameterError
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.losses.classification import LogLoss
from woodwind.shards.cluster_shards import ClusterShards, size_of
from woodwind.shards.remote_rows import RemoteRows
from woodwind.tree.settings import TreeSettings

# Every way to grow trees of bins; large tables have blocks and nodes of all layouts.
BINNED = {name: case for name, case in CASES.items() if "max_bins" not in case[2]}
CHAOS = (
    "few rows", "log loss", "quantile", "huber", "categories", "level by level", "symmetric", "monotonic", "features of all",
    "noise, drawn", "bootstrap", "goss, repeated rows", "rows held out", "classes together", "one tree per class", "large nodes",
)  # fmt: skip


@pytest.mark.parametrize("case", BINNED)
def test_the_forest_is_the_same_for_any_number_of_workers_and_blocks(case):
    x, plan, given = BINNED[case]
    y = target(plan.loss, x)
    known = boosted(x, y, plan, 2, **given).forest.digest()
    for workers, blocks in ((1, 1), (2, 3), (3, 17)):
        found = boosted(x, y, replace(plan, threads=1 + workers % 2), 2, **given, divided=partial(divided, workers=workers, blocks=blocks))
        assert found.forest.digest() == known, (workers, blocks)


@pytest.mark.parametrize("case", CHAOS)
def test_calls_may_be_lost_delayed_repeated_and_reordered(case):
    """Twenty schedules for each of these, in which a good part of the calls goes wrong."""
    x, plan, given = BINNED[case]
    y, kept = target(plan.loss, x), []
    known = boosted(x, y, plan, 2, **given).forest.digest()
    for seed in range(20):
        with_chaos = partial(
            divided, workers=1 + seed % 4, blocks=(1, 4, 9)[seed % 3], seed=seed, trouble=(0.1, 0.3, 0.6)[seed % 3], kept=kept
        )
        assert boosted(x, y, plan, 2, **given, divided=with_chaos).forest.digest() == known, seed
    seen = {name for transport in kept for name in transport.events}
    assert seen >= {"joins", "leaves", "loses its memory", "call lost", "delayed", "repeated", "repeated late", "answer lost"}


def small(n=600):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 4))
    return x, (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(np.float64)


PLAN = BoostPlan(LogLoss(), TreeSettings(min_rows=5, max_leaves=12))


def recorded(plan=PLAN, workers=2, blocks=6, rounds=2):
    """A training, all of its calls with their answers, and its shards."""
    x, y = small()
    seen, made = [], []

    class Recording(FakeTransport):
        def exchange(self, calls):
            answers = super().exchange(calls)
            seen.append([(worker, call, answer) for (worker, call), answer in zip(calls, answers, strict=True)])
            return answers

    def shards(codes):
        table, opened = blocks_of(codes, np.linspace(0, len(x), blocks + 1).astype(int).tolist())
        made.append((ClusterShards(table, Recording(workers, opened)), opened))
        return made[0][0]

    forest = boosted(x, y, plan, rounds, divided=shards).forest
    return forest, seen, *made[0]


def same(one, other):
    """Whether two answers are the same, byte for byte."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one.dtype == other.dtype and one.tobytes() == other.tobytes() if isinstance(one, np.ndarray) else one == other


def test_rule_1_a_call_may_be_answered_twice_and_by_anybody():
    _forest, seen, _shards, opened = recorded()
    once, other = RemoteRows(1, 0, opened), RemoteRows(2, 1 << 20, opened)
    for step in seen:
        for _worker, call, answer in step:
            if not call["rows"]:
                continue  # about rows that only their own worker has
            assert same(once.answer(call), answer)
            assert same(once.answer(call), answer)
            assert same(other.answer(call), answer)


def test_rule_2_a_worker_that_knows_nothing_says_so_and_changes_nothing():
    _forest, seen, _shards, opened = recorded()
    new = RemoteRows(1, 0, opened)
    first, second = [next(call for worker, call, _ in step if worker == "worker 0") for step in seen[:2]]
    assert new.answer(second) == {"missing": second["blocks"]}
    known = new.answer(first)
    assert same(new.answer(first), known)
    assert "missing" not in new.answer(second)
    assert new.answer({**second, "number": 99, "blocks": second["blocks"][:1]}) == {
        "missing": second["blocks"][:1]
    }  # these splits are there


def test_rule_4_rows_are_never_sent_and_rule_8_a_worker_has_one_call_in_a_step():
    _forest, seen, shards, _opened = recorded()
    for step in seen:
        workers = [worker for worker, _, _ in step]
        assert len(set(workers)) == len(workers) <= 2
        assert sorted(block for _, call, _ in step for block in call["blocks"]) == list(range(6))
    # Four bytes for each row and tree, one back, and of the splits a few hundred.
    first = sum(size_of(call["rows"]) for _, call, _ in seen[0])
    assert first == 4 * 600
    assert shards.traffic["calls"] == sum(len(step) for step in seen)
    last = sum(size_of(answer) for _, call, answer in seen[-1] if call["kind"] == "leaves")
    assert last == 600


def test_rule_6_a_silent_worker_is_left_out_and_its_late_answer_is_dropped():
    x, y = small()
    known = boosted(x, y, PLAN, 2).forest.digest()

    class OneIsSilent(FakeTransport):
        stopped = False
        waiting = ()

        def exchange(self, calls):
            found = []
            for worker, call in calls:
                if worker == "worker 1" and (self.stopped or call["number"] > 3):
                    self.stopped = True
                    self.waiting = (*self.waiting, (worker, call))
                    found.append(None)
                else:
                    found.append(self.rows[worker].answer(call))
            return found

        def workers(self):
            if self.stopped and len(self.waiting) > 0:
                late = [self.rows[worker].answer(call) for worker, call in self.waiting]  # it goes on, and nobody listens
                assert late
                self.waiting = ()
            return {name: one for name, one in super().workers().items() if not (self.stopped and name == "worker 1")}

    def shards(codes):
        table, opened = blocks_of(codes, [0, 200, 400, 600])
        return ClusterShards(table, OneIsSilent(3, opened))

    assert boosted(x, y, PLAN, 2, divided=shards).forest.digest() == known


def test_rule_10_blocks_without_rows_of_a_node_and_a_tree_without_splits():
    x, y = small(60)
    for plan in (replace(PLAN, tree=TreeSettings(min_rows=40)), replace(PLAN, tree=TreeSettings(min_rows=1, max_leaves=60))):
        known = boosted(x, y, plan, 2).forest.digest()
        assert boosted(x, y, plan, 2, divided=partial(divided, workers=3, blocks=60)).forest.digest() == known


def test_a_new_worker_gets_its_share_when_the_next_tree_begins():
    x, y = small()
    kept = []

    class Joining(FakeTransport):
        asked = 0

        def exchange(self, calls):
            self.asked += 1
            if self.asked == 5:
                self.rows["worker 9"] = self.new(0)
            kept.append({worker for worker, _ in calls})
            return super().exchange(calls)

    def shards(codes):
        table, opened = blocks_of(codes, list(range(0, 601, 50)))
        return ClusterShards(table, Joining(1, opened))

    found = boosted(x, y, PLAN, 3, divided=shards).forest.digest()
    assert found == boosted(x, y, PLAN, 3).forest.digest()
    assert kept[-1] == {"worker 0", "worker 9"}
    assert kept[5] == {"worker 0"}


def test_a_cluster_without_workers_and_a_block_that_all_die_of_are_errors():
    x, y = small()

    def nobody(codes):
        table, opened = blocks_of(codes, [0, 600])
        return ClusterShards(table, FakeTransport(0, opened))

    with pytest.raises(ClusterError, match="no worker of the cluster is left"):
        boosted(x, y, PLAN, 1, divided=nobody)

    class Deadly(FakeTransport):
        def exchange(self, calls):
            return [None for _ in calls]

    def deadly(codes):
        table, opened = blocks_of(codes, [0, 300, 600])
        return ClusterShards(table, Deadly(2, opened))

    with pytest.raises(ClusterError, match="20 workers were lost, one after another, while they worked on the block"):
        boosted(x, y, PLAN, 1, divided=deadly)


def test_a_fault_of_a_worker_is_told():
    x, y = small()

    def failing(codes):
        table, _opened = blocks_of(codes, [0, 600])

        def nowhere(folder, token):
            raise FileNotFoundError(2, "No such file", folder)

        return ClusterShards(table, FakeTransport(1, nowhere))

    with pytest.raises(ClusterError, match="worker 0 reports: No such file"):
        boosted(x, y, PLAN, 1, divided=failing)


def voting(codes, workers, blocks, seed=None, kept=None):
    """Shards whose features are voted for."""
    table, opened = blocks_of(codes, np.linspace(0, codes.n_rows, blocks + 1).astype(int).tolist())
    transport = FakeTransport(workers, opened) if seed is None else ChaosTransport(workers, opened, seed)
    made = ClusterShards(table, transport, votes=True)
    if kept is not None:
        kept.append(made)
    return made


@pytest.mark.parametrize("case", ["log loss", "categories", "level by level", "large nodes", "bootstrap", "weights", "noise, drawn"])
def test_of_few_features_all_are_voted_for(case):
    x, plan, given = BINNED[case]
    y = target(plan.loss, x)
    known = boosted(x, y, plan, 2, **given).forest.digest()
    assert boosted(x, y, plan, 2, **given, divided=partial(voting, workers=2, blocks=20)).forest.digest() == known


@pytest.mark.parametrize("growth", ["best_first", "level"])
def test_voted_trees_do_not_depend_on_workers_and_take_fewer_bytes(growth):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2500, 200))
    y = (x[:, 0] + x[:, 100] * x[:, 150] > 0).astype(np.float64)
    plan, kept = replace(PLAN, tree=TreeSettings(min_rows=5, max_leaves=12, growth=growth)), []
    known = boosted(x, y, plan, 2, divided=partial(voting, workers=1, blocks=20, kept=kept)).forest
    assert {0, 100, 150} <= set(known.feature[known.feature >= 0].tolist())
    for workers in (2, 3):
        assert boosted(x, y, plan, 2, divided=partial(voting, workers=workers, blocks=20)).forest.digest() == known.digest()
    for seed in range(10):
        assert boosted(x, y, plan, 2, divided=partial(voting, workers=3, blocks=20, seed=seed)).forest.digest() == known.digest(), seed
    table, opened = [], []

    def all_summed(codes):
        table.append(blocks_of(codes, np.linspace(0, len(x), 21).astype(int).tolist()))
        opened.append(ClusterShards(table[0][0], FakeTransport(1, table[0][1])))
        return opened[0]

    boosted(x, y, plan, 2, divided=all_summed)
    assert kept[0].traffic["bytes from workers"] < 0.5 * opened[0].traffic["bytes from workers"]


def test_what_voters_do_not_know_is_refused():
    for name in ("symmetric", "classes together"):
        x, plan, given = BINNED[name]
        with pytest.raises(ParameterError, match="parallelism='voting'"):
            boosted(x, target(plan.loss, x), plan, 1, **given, divided=partial(voting, workers=1, blocks=2))
