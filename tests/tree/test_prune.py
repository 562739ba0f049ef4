"""Minimal cost-complexity pruning, on a tree whose path can be worked out by hand."""

import numpy as np

from woodwind.tree.forest import Forest
from woodwind.tree.prune import pruned, pruning_path, weakest_links


def forest():
    """Nodes 0 (1, 2), 1 (3, 4), 3 (5, 6); 10 rows; gains 6, 1 and 2.

    Links: node 3 costs 2 / 1, node 1 (1 + 2) / 2, node 0 (6 + 1 + 2) / 3, each over 10 rows: node 1 goes first, with node 3 below it.
    """
    return Forest(
        roots=[0, 7],
        feature=[0, 0, -1, 1, -1, -1, -1],
        threshold=[3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        child=[1, 3, 0, 5, 0, 0, 0],
        missing=[2] * 7,
        sets=[-1, -1, -1, 0, -1, -1, -1],
        words=np.array([1, 2], np.uint64),
        set_words=[0, 1],
        value=np.arange(7.0).reshape(7, 1),
        cover=[10, 6, 4, 4, 2, 3, 1],
        gain=[6, 1, 0, 2, 0, 0, 0],
        output=[0],
        n_outputs=1,
        start=[0.0],
    ).check()


def test_the_weakest_link_goes_first():
    assert [(round(alpha, 12), node) for alpha, node in weakest_links(forest())] == [(0.15, 1), (0.6, 0)]


def test_the_path_gives_the_impurity_that_is_left():
    alphas, impurities = pruning_path(forest(), 1.0)
    np.testing.assert_allclose(alphas, [0.0, 0.15, 0.6])
    np.testing.assert_allclose(impurities, [0.1, 0.4, 1.0])


def test_a_pruned_tree_keeps_what_is_above_the_cut():
    small = pruned(forest(), 0.2).check()
    assert small.feature.tolist() == [0, -1, -1]
    assert small.value[:, 0].tolist() == [0.0, 1.0, 2.0]
    assert small.words.size == 0
    assert pruned(forest(), 0.1).digest() == forest().digest()
    assert pruned(forest(), 0.6).n_nodes == 1


def test_a_node_below_a_cut_may_be_cut_itself():
    tree = forest()
    strong = Forest(**{**vars(tree), "gain": np.array([6.0, 4, 0, 2, 0, 0, 0])})
    assert [node for _, node in weakest_links(strong)] == [3, 1, 0]
    small = pruned(strong, 0.25).check()
    assert small.feature.tolist() == [0, 0, -1, -1, -1]
    assert small.child.tolist() == [1, 3, 0, 0, 0]
