"""The model: sound or refused, the sum of its parts, and the same at every stage."""

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_traverse as naive
from reference.forests import random_forest, random_rows
from woodwind.base.errors import DataError
from woodwind.tree.forest import DTYPES, LEFT, STOP, Forest

LEVELS = (0, 6, 0)
FORESTS = st.builds(
    lambda seed, n_trees, leaves, outputs: random_forest(seed, LEVELS, n_trees, leaves, *outputs),
    st.integers(0, 2**32), st.integers(0, 40), st.sampled_from([1, 3, 12]), st.sampled_from([(1, False), (3, False), (3, True)]),
)  # fmt: skip


@given(FORESTS, st.integers(0, 45))
def test_first_and_rest_join_to_the_whole(forest, k):
    first, rest = forest.first(k).check(), forest.rest(k).check()
    assert first.n_trees == min(k, forest.n_trees)
    assert first.join(rest).digest() == forest.digest()
    rows = random_rows(1, LEVELS, 20)
    np.testing.assert_allclose(first.raw(rows) + rest.raw(rows), forest.raw(rows), rtol=1e-12, atol=1e-12)


@given(FORESTS)
def test_the_last_stage_is_the_score_and_the_stages_are_those_of_the_first_trees(forest):
    rows = random_rows(2, LEVELS, 40)
    stages = list(forest.staged_raw(rows))
    assert len(stages) == forest.n_trees
    for k in {1, forest.n_trees} - {0}:
        if stages:
            np.testing.assert_array_equal(stages[k - 1], forest.first(k).raw(rows))
    every = list(forest.staged_raw(rows, every=3))
    assert len(every) == -(-forest.n_trees // 3)
    for j, stage in enumerate(every):
        np.testing.assert_array_equal(stage, stages[min(3 * j + 2, forest.n_trees - 1)])


def test_stages_are_arrays_of_their_own():
    forest = random_forest(1, n_trees=3)
    rows = random_rows(1, (0, 0, 5), 5)
    kept = list(forest.staged_raw(rows))
    changed = []
    for stage in forest.staged_raw(rows):
        changed.append(stage.copy())
        stage[:] = 0
    np.testing.assert_array_equal(kept, changed)


def test_an_empty_forest_is_its_start():
    forest = Forest.empty([0, 1], [1.5, -2.0]).check()
    np.testing.assert_array_equal(forest.raw(np.zeros((40, 2))), np.tile([1.5, -2.0], (40, 1)))
    assert forest.leaves(np.zeros((40, 2))).shape == (40, 0)
    assert list(forest.staged_raw(np.zeros((3, 2)))) == []
    np.testing.assert_array_equal(forest.predictor()([0, 0]), [1.5, -2.0])
    assert forest.n_trees == forest.n_nodes == forest.depth.size == 0


@given(st.integers(0, 2**32))
def test_every_node_keeps_the_mean_of_its_leaves(seed):
    forest = random_forest(seed, LEVELS, 2, 10, 2, True)
    np.testing.assert_allclose(forest.value, naive.node_means(forest), rtol=1e-12, atol=1e-12)
    assert forest.with_node_values().digest() == forest.digest()


def test_what_training_never_saw_takes_the_mean_of_the_node():
    forest = Forest(
        roots=[0, 3], feature=[0, -1, -1], threshold=[1.0, 0, 0], child=[1, 0, 0], missing=[STOP] * 3, sets=[-1] * 3, words=[],
        set_words=[0], value=[[0.0], [2.0], [6.0]], cover=[4, 1, 3], gain=[1, 0, 0], output=[0], n_outputs=1, start=[10.0],
    ).with_node_values()  # fmt: skip
    assert forest.raw(np.array([[0.0], [2.0], [np.nan]])).tolist() == [[12.0], [16.0], [15.0]]


def test_depth_counts_splits_from_the_root():
    forest = random_forest(3, n_trees=3, max_leaves=20)
    for tree in range(3):
        begin, end = forest.roots[tree], forest.roots[tree + 1]
        for node in range(begin, end):
            if forest.feature[node] >= 0:
                left = begin + forest.child[node]
                assert forest.depth[left] == forest.depth[left + 1] == forest.depth[node] + 1
        assert forest.depth[begin] == 0


def test_the_digest_sees_every_array():
    forest = random_forest(5, LEVELS, n_trees=3, max_leaves=12)
    digests = {forest.digest()}
    for name in DTYPES:
        array = np.array(getattr(forest, name))
        array.reshape(-1)[-1] += 1
        digests.add(replace(forest, **{name: array}).digest())
    assert len(digests) == 1 + len(DTYPES)
    assert replace(forest, n_outputs=2).digest() not in digests
    assert random_forest(5, LEVELS, n_trees=3, max_leaves=12).digest() == forest.digest()


def test_a_forest_cannot_be_changed():
    forest = random_forest(1)
    with pytest.raises(FrozenInstanceError):
        forest.n_outputs = 2
    with pytest.raises(ValueError, match="read-only"):
        forest.value[0] = 1.0


def test_a_copy_is_the_same_and_as_frozen():
    forest = random_forest(1)
    small = len(pickle.dumps(forest))
    forest.raw(np.zeros((100, 3)))
    assert len(pickle.dumps(forest)) == small  # what prediction keeps is not part of the model
    for copy in (pickle.loads(pickle.dumps(forest)), deepcopy(forest)):
        assert copy.digest() == forest.digest()
        assert not copy.value.flags.writeable


def test_building_a_forest_leaves_the_callers_arrays_alone():
    value = np.zeros((1, 1))
    Forest(
        roots=[0, 1], feature=[-1], threshold=[0], child=[0], missing=[STOP], sets=[-1], words=[], set_words=[0], value=value, cover=[1],
        gain=[0], output=[0], n_outputs=1, start=[0],
    )  # fmt: skip
    assert value.flags.writeable


def test_forests_of_other_shapes_do_not_join():
    forest = random_forest(1, (0, 0))
    for other in (random_forest(1, (0, 0, 0)), random_forest(1, (0, 5)), random_forest(1, (0, 0), n_outputs=2)):
        with pytest.raises(DataError, match="can be joined"):
            forest.join(other)


@given(FORESTS)
def test_sound_forests_pass(forest):
    assert forest.check() is forest


def sound() -> Forest:
    """Two trees with both kinds of split: node 0 a number, node 1 a category; then a number."""
    return Forest(
        roots=[0, 5, 8], feature=[0, 1, -1, -1, -1, 0, -1, -1], threshold=np.zeros(8), child=[1, 3, 0, 0, 0, 1, 0, 0],
        missing=[LEFT, STOP, 2, 2, 2, 1, 2, 2], sets=[-1, 0, -1, -1, -1, -1, -1, -1], words=[1, 2], set_words=[0, 1],
        value=np.zeros((8, 1)), cover=np.ones(8), gain=np.ones(8), output=[0, 0], n_outputs=1, start=[0.0],
    )  # fmt: skip


def damaged(name, at, value):
    array = np.array(getattr(sound(), name))
    array[at] = value
    return {name: array}


BIG = np.iinfo(np.int64).max


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (damaged("roots", 0, 1), "first tree"),
        (damaged("roots", 2, 9), "last tree"),
        (damaged("roots", 1, 8), "no nodes"),
        (damaged("roots", 1, -3), "no nodes"),
        (damaged("roots", 1, BIG), "no nodes"),
        ({"roots": []}, "roots is empty"),
        ({"roots": [[0, 5, 8]]}, "dimensions"),
        (damaged("feature", 0, 2), "feature that does not exist"),
        (damaged("feature", 0, -2), "feature that does not exist"),
        (damaged("feature", 0, -1), "leaf has children"),
        (damaged("feature", 4, 0), "behind its parent"),
        (damaged("child", 0, 0), "behind its parent"),
        (damaged("child", 1, 1), "behind its parent"),
        (damaged("child", 1, 4), "behind its parent"),
        (damaged("child", 1, np.iinfo(np.int32).max), "behind its parent"),
        (damaged("child", 0, -1), "behind its parent"),
        (damaged("child", 5, 3), "behind its parent"),
        (damaged("child", 1, 2), "no parent, or two"),
        (damaged("child", 3, 1), "leaf has children"),
        (damaged("missing", 0, 3), "go nowhere"),
        (damaged("sets", 1, -1), "set is missing"),
        (damaged("sets", 0, 0), "set is missing"),
        (damaged("sets", 2, 0), "set is missing"),
        (damaged("sets", 1, -7), "set is missing"),
        (damaged("sets", 1, 1), "beyond the words"),
        (damaged("sets", 1, BIG), "beyond the words"),
        ({"words": [1]}, "beyond the words"),
        ({"words": [3, 2]}, "both ways"),
        (damaged("set_words", 1, 0), "belongs to no category"),
        (damaged("set_words", 1, 2), "beyond the words"),
        (damaged("set_words", 1, np.iinfo(np.int32).max), "beyond the words"),
        (damaged("set_words", 1, -1), "negative"),
        ({"set_words": []}, "feature that does not exist"),
        (damaged("threshold", 0, np.nan), "threshold is not a number"),
        (damaged("value", 3, np.nan), "value is not finite"),
        (damaged("value", 3, np.inf), "value is not finite"),
        (damaged("cover", 3, -1), "cover"),
        (damaged("cover", 3, np.nan), "cover"),
        (damaged("gain", 3, np.nan), "gain"),
        (damaged("start", 0, np.inf), "starting score"),
        (damaged("output", 1, 1), "output that does not exist"),
        (damaged("output", 1, -2), "output that does not exist"),
        ({"n_outputs": 2, "start": [0.0, 0.0], "output": [0, -1]}, "another width"),
        ({"value": np.zeros((8, 2)), "n_outputs": 2, "start": [0.0, 0.0]}, "more than one number"),
        ({"value": np.zeros((8, 0))}, "no numbers"),
        ({"value": np.zeros(8)}, "dimensions"),
        ({"value": np.zeros((7, 1))}, "value has not one entry"),
        ({"cover": np.zeros(9)}, "cover has not one entry"),
        ({"output": [0]}, "one entry for each tree"),
        ({"start": [0.0, 0.0]}, "one entry for each output"),
        ({"n_outputs": 0, "start": []}, "no output"),
    ],
)
def test_damage_is_refused(change, complaint):
    with pytest.raises(DataError, match=complaint):
        replace(sound().check(), **change).check()


@given(st.data())
def test_whatever_passes_the_check_can_be_walked(data):
    """Numbers anywhere in the arrays are replaced; what is not refused gives an answer, and the same as the naive walk."""
    forest = random_forest(data.draw(st.integers(0, 50)), LEVELS, 2, 5)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(["roots", "feature", "child", "missing", "sets", "words", "set_words", "output"]))
        array = np.array(getattr(forest, name))
        if array.size:
            info = np.iinfo(array.dtype)
            near = st.integers(max(info.min, -2), 9)
            array[data.draw(st.integers(0, array.size - 1))] = data.draw(st.one_of(near, st.integers(int(info.min), int(info.max))))
            forest = replace(forest, **{name: array})
    rows = random_rows(1, LEVELS, 40)
    try:
        forest.check()
    except DataError:
        return
    np.testing.assert_array_equal(forest.leaves(rows), naive.leaves(forest, rows))
    np.testing.assert_array_equal(forest.leaves(rows[:5]), naive.leaves(forest, rows[:5]))
