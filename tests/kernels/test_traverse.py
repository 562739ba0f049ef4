"""The kernels that send rows through trees against their slow twins; small enough to run with the compiler off."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import naive_traverse as naive
from reference.forests import random_forest, random_rows, random_tree
from woodwind.kernels.predict import question_plan as sp
from woodwind.kernels.predict.question_plan import BLOCK, CATEGORY, END, THREE, TOGETHER, TWO, ask, ask_wide, choose, write_questions
from woodwind.kernels.predict.questions import encode_block, predict_by_questions
from woodwind.kernels.predict.walk import FEW_ROWS, LANES, walk_rows
from woodwind.kernels.predict.walk_codes import CodeTree, walk_codes
from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.tree.layout import LEFT, RIGHT, STOP
from woodwind.kernels.tree.leaves import node_means

SEEDS = st.integers(0, 2**32)

# Infinities meet in the arithmetic of a grid, on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered in scalar:RuntimeWarning")


@kernel
def encode(x, n_features, first, last, encoder, codes):
    return encode_block(x, n_features, first, last, encoder, codes)


@kernel
def ask_all(codes, questions, end, narrow, wide):
    ask(codes, questions, 0, end, narrow)
    ask_wide(codes, questions, 0, end, wide)


def run(kernel, forest, rows, tools):
    """Scores and nodes by one of the two kernels."""
    trees, flat = (0, forest.n_trees), np.ascontiguousarray(rows).reshape(-1)
    out = np.tile(forest.start, (len(rows), 1))
    leaf = np.zeros((len(rows), forest.n_trees), np.int32)
    kernel(flat, rows.shape[1], len(rows), trees, tools, out, None)
    kernel(flat, rows.shape[1], len(rows), trees, tools, None, leaf)
    return out, leaf


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([(0,), (0, 5, 0), (70, 0, 300)]), st.sampled_from([(1, False), (2, False), (2, True)]))
def test_walk_equals_the_naive_walk(seed, levels, outputs):
    forest = random_forest(seed, levels, 3, 12, *outputs)
    rows = random_rows(seed, levels, FEW_ROWS + 5)
    expected = naive.raw(forest, rows), naive.leaves(forest, rows)
    for part in (slice(0, FEW_ROWS - 1), slice(0, FEW_ROWS + 5)):  # lanes are trees, lanes are rows
        for got, wanted in zip(run(walk_rows, forest, rows[part], forest.batch_predictor.walk), expected, strict=True):
            np.testing.assert_array_equal(got, wanted[part])


@settings(max_examples=5)
@given(SEEDS, st.sampled_from([(0,), (0, 5, 0), (70, 0, 300)]), st.sampled_from([(1, False), (2, True)]))
def test_sweep_equals_the_naive_walk(seed, levels, outputs):
    forest = random_forest(seed, levels, 2, 6, *outputs)
    rows = random_rows(seed, levels, 20, np.float32)
    scores, nodes = run(predict_by_questions, forest, rows, forest.batch_predictor.question_plan(np.float32))
    np.testing.assert_array_equal(scores, naive.raw(forest, rows))
    np.testing.assert_array_equal(nodes, naive.leaves(forest, rows))


@settings(max_examples=5)
@given(SEEDS, st.sampled_from([0.0, 0.2]))
def test_sweep_of_symmetric_trees_equals_the_naive_walk(seed, missing):
    forest = random_forest(seed, (0, 0), 4, 6, symmetric=True)
    rows = random_rows(seed, (0, 0), 20, np.float32, missing)
    scores, nodes = run(predict_by_questions, forest, rows, forest.batch_predictor.question_plan(np.float32))
    np.testing.assert_array_equal(scores, naive.raw(forest, rows))
    np.testing.assert_array_equal(nodes, naive.leaves(forest, rows))


@pytest.mark.compiled
def test_more_lanes_than_fit_at_once_are_walked_in_turns():
    forest = random_forest(1, (0, 0), LANES + 5, 3)
    rows = random_rows(1, (0, 0), LANES + 5)
    walked, nodes = run(walk_rows, forest, rows, forest.batch_predictor.walk)
    np.testing.assert_array_equal(walked[:3], run(walk_rows, forest, rows[:3], forest.batch_predictor.walk)[0])
    np.testing.assert_array_equal(walked[:3], naive.raw(forest, rows[:3]))
    asked, same = run(predict_by_questions, forest, rows, forest.batch_predictor.question_plan(np.float64))
    np.testing.assert_array_equal(asked, walked)
    np.testing.assert_array_equal(same, nodes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_count_the_edges_below_a_value(dtype):
    forest = random_forest(3, (0, 0), 8, 12)
    encoder = forest.batch_predictor.question_plan(dtype).encoder
    rows = random_rows(3, (0, 0), 70, dtype)
    codes = np.zeros((len(encoder.columns) + len(encoder.lowest)) * BLOCK, np.int8)
    assert encode(rows.reshape(-1), np.uint64(2), np.uint64(0), np.uint64(70), encoder, codes)
    codes = codes.reshape(-1, BLOCK)[:, :70].astype(int)
    for c, feature in enumerate(encoder.columns[:, 0]):
        edges = np.unique(forest.threshold[forest.feature == feature])
        wanted = np.searchsorted(edges, rows[:, feature].astype(np.float64)) - 128
        lost = np.isnan(rows[:, feature])
        np.testing.assert_array_equal(codes[c], np.where(lost, 127, wanted))
        for d in np.flatnonzero(encoder.lowest == c):
            np.testing.assert_array_equal(codes[len(encoder.columns) + d], np.where(lost, -128, wanted + 1))


def unpack(words):
    """Questions as (column, bound, source, target)."""
    return [
        (w & sp.COLUMN_MASK, ((w >> sp.BOUND_SHIFT) & 255) - 128, (w >> sp.SOURCE_SHIFT) & sp.PLACE_MASK, w >> sp.TARGET_SHIFT)
        for w in map(int, words)
    ]


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 30))
def test_a_plan_brings_every_row_to_the_leaf_that_its_walk_reaches(seed, max_leaves):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, (0, 0, 0), max_leaves)
    feature, child = np.array(tree["feature"], np.int32), np.array(tree["child"], np.int32)
    n = len(feature)
    bound = rng.integers(-128, 127, n).astype(np.int32)
    ways = np.where(feature >= 0, TWO, END).astype(np.uint8)
    choose(child, tree["cover"], 0, n, np.zeros(n), ways)
    questions, ends = np.zeros(n + TOGETHER, np.uint64), np.full(n + 1, -1)
    assert not write_questions(child, ways, np.stack([feature, bound]), 0, n, questions, ends, np.zeros((2, n), np.int64))
    for codes in rng.integers(-128, 128, (10, 3)).tolist():
        node = 0
        while feature[node] >= 0:
            node = child[node] + (codes[feature[node]] > bound[node])
        assert ends[naive.position_of(unpack(questions), codes)] == 2 * node


def test_questions_move_those_who_say_yes():
    rng = np.random.default_rng(0)
    codes = rng.integers(-128, 128, (3, BLOCK)).astype(np.int8)
    asked = [(0, 5, 0, 1), (1, -100, 0, 2), (2, 0, 1, 3), (0, 50, 3, 255)]
    words = [c | (b + 128) << sp.BOUND_SHIFT | s << sp.SOURCE_SHIFT | t << sp.TARGET_SHIFT for c, b, s, t in asked]
    assert unpack(words) == asked
    narrow, wide = np.zeros(BLOCK, np.uint8), np.zeros(BLOCK, np.uint16)
    ask_all(codes.reshape(-1), np.array(words, np.uint64), 4, narrow, wide)
    assert narrow.tolist() == wide.tolist() == [naive.position_of(asked, row) for row in codes.T.tolist()]


def full_tree(depth):
    """The children of a perfect tree in breadth-first order, and how many nodes it has."""
    n = 2 ** (depth + 1) - 1
    child = np.array([2 * i + 1 if 2 * i + 1 < n else 0 for i in range(n)], np.int32)
    return child, n


@pytest.mark.parametrize("with_cover", [True, False])
@pytest.mark.parametrize("kind", [TWO, THREE, THREE | CATEGORY])
def test_a_plan_never_has_more_places_than_it_may(with_cover, kind):
    child, n = full_tree(10)
    cover = np.zeros(n)
    for i in range(n - 1, -1, -1):
        cover[i] = cover[child[i]] + cover[child[i] + 1] if child[i] else 1.0
    ways = np.where(child > 0, kind, END).astype(np.uint8)
    choose(child, cover if with_cover else None, 0, n, np.zeros(n), ways)
    kept = np.flatnonzero(ways)
    assert 100 < 1 + (ways & 3).sum() <= sp.WIDE_PLACES
    assert all(ways[(i - 1) // 2] for i in kept if i)  # the top of the tree, in one piece


def test_what_no_row_reaches_is_left_to_the_walk():
    child, n = full_tree(1)
    ways = np.array([TWO, END, END], np.uint8)
    choose(child, np.zeros(n), 0, n, np.zeros(n), ways)  # nothing is known of the cover: half goes either way
    assert ways.tolist() == [TWO, END, END]
    child, n = full_tree(2)
    ways = np.where(child > 0, TWO, END).astype(np.uint8)
    choose(child, np.array([4.0, 4, 0, 2, 2, 0, 0]), 0, n, np.zeros(n), ways)
    assert ways.tolist() == [TWO, TWO, END, END, END, END, END]


@settings(max_examples=20)
@given(SEEDS)
def test_a_node_knows_the_mean_of_its_leaves(seed):
    forest = random_forest(seed, (0, 4), 2, 8, 2, True)
    value = np.array(forest.value)
    node_means(forest.feature, forest.child, forest.cover, forest.roots, value)
    np.testing.assert_allclose(value, naive.node_means(forest), rtol=1e-12, atol=1e-12)


def test_children_that_nothing_covers_weigh_the_same():
    value = np.array([[9.0], [1.0], [4.0]])
    node_means(np.array([0, -1, -1], np.int32), np.array([1, 0, 0], np.int32), np.zeros(3), np.array([0, 3]), value)
    assert value[0, 0] == 2.5


def code_tree(rng, levels, max_leaves, width):
    """A random tree over codes, with the sets of its category splits as eight words."""
    tree = random_tree(rng, levels, max_leaves)
    feature = np.array(tree["feature"], np.int32)
    set_index, sets = np.full(len(feature), -1, np.int32), [np.zeros(8, np.uint64)]
    for node in np.flatnonzero(np.array(tree["sets"]) >= 0):
        size = -(-levels[feature[node]] // 64)
        row = np.zeros(8, np.uint64)
        row[:size] = tree["words"][tree["sets"][node] : tree["sets"][node] + size]
        row[4 : 4 + size] = tree["words"][tree["sets"][node] + size : tree["sets"][node] + 2 * size]
        set_index[node] = len(sets)
        sets.append(row)
    bins = rng.integers(0, width - 2, len(feature)).astype(np.uint8)
    missing, child = np.array(tree["missing"], np.uint8), np.array(tree["child"], np.int32)
    return CodeTree(feature, bins, child, missing, set_index, np.stack(sets), width - 1)


def check_codes(seed, levels, max_leaves, width, n, missing):
    rng = np.random.default_rng(seed)
    tree = code_tree(rng, levels, max_leaves, width)
    codes = np.zeros((n, 8), np.uint8)
    for f, count in enumerate(levels):
        codes[:, f] = np.where(rng.random(n) < missing, width - 1, rng.integers(0, count or width - 1, n))
        if count:
            codes[rng.random(n) < 0.1, f] = width - 2  # a category that training never saw
    wanted = naive.walk_codes(codes, tree)
    by_column = np.ascontiguousarray(codes[:, : len(levels)].T)
    rows = rng.integers(0, n, n // 2 + 1).astype(np.int32)
    for flat, steps in ((codes.reshape(-1), (8, 1)), (by_column.reshape(-1), (1, n))):
        leaf = np.full(n, -1, np.int32)
        walk_codes(flat, steps, None, 0, n, tree, leaf)
        assert leaf.tolist() == wanted
        some = np.full(len(rows), -1, np.int32)
        walk_codes(flat, steps, rows, 1, len(rows), tree, some)
        assert some[0] == -1
        assert some[1:].tolist() == [wanted[row] for row in rows[1:]]


@settings(max_examples=4)
@given(SEEDS, st.sampled_from([((0,), 16), ((0, 3), 16), ((0, 100, 0), 256)]), st.sampled_from([3, 70]), st.sampled_from([0.0, 0.2]))
def test_walk_over_codes_equals_the_naive_walk(seed, features, n, missing):
    check_codes(seed, features[0], 6, features[1], n, missing)


@pytest.mark.compiled
@pytest.mark.parametrize("missing", [0.0, 0.001, 0.2])
@pytest.mark.parametrize(("levels", "width"), [((0, 0, 0), 256), ((0, 250, 0, 30), 256), ((0, 12), 64), ((40, 40), 64)])
@pytest.mark.parametrize("max_leaves", [1, 2, 31, 255, 1200])
def test_walk_over_codes_in_many_blocks_and_large_trees(levels, width, max_leaves, missing):
    check_codes(max_leaves, levels, max_leaves, width, 2 * BLOCK + 7, missing)


def test_missing_codes_go_where_the_node_says():
    codes = np.array([[0], [3], [15]], np.uint8).repeat(30, axis=0)
    sets, none = np.zeros((1, 8), np.uint64), np.full(3, -1, np.int32)
    for way, end in ((LEFT, 1), (RIGHT, 2), (STOP, 0)):
        tree = CodeTree(
            np.array([0, -1, -1], np.int32), np.array([2, 0, 0], np.uint8), np.array([1, 0, 0], np.int32),
            np.array([way, STOP, STOP], np.uint8), none, sets, 15,
        )  # fmt: skip
        leaf = np.zeros(90, np.int32)
        walk_codes(codes.reshape(-1), (1, 1), None, 0, 90, tree, leaf)
        assert leaf.tolist() == [1] * 30 + [2] * 30 + [end] * 30
