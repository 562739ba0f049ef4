"""What a model must hold to before anybody walks through it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from woodwind import DataError
from woodwind.base.validate import require_children


def walks_end(children, trees):
    """Whether the nodes that are reached from the root of each tree are the nodes of the tree, each by one way: by walking."""
    for begin, end in trees:
        left, met = [begin], []
        while left:
            node = left.pop()
            if not begin <= node < end or node in met:
                return False
            met.append(node)
            left += children.get(node, ())
        if sorted(met) != list(range(begin, end)):
            return False
    return True


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.data())
def test_children_are_taken_where_every_walk_ends(sizes, data):
    """Parents stand before their children, which a walk need not ask for; all else is what walking finds."""
    ends = np.cumsum(sizes)
    trees = list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))
    n_nodes = int(ends[-1])
    split = np.array(data.draw(st.lists(st.booleans(), min_size=n_nodes, max_size=n_nodes)))
    nodes = np.flatnonzero(split)
    near = [st.integers(-1, n_nodes) if data.draw(st.booleans()) else st.integers(int(node) + 1, n_nodes) for node in nodes]
    left, right = (np.array([data.draw(one) for one in near], np.int64) for _ in range(2))
    children = {int(node): (int(one), int(other)) for node, one, other in zip(nodes, left, right, strict=True)}
    in_order = all(child > node for node, both in children.items() for child in both)
    end = np.repeat(ends, sizes)[split]
    try:
        require_children(split, left, right, end, np.array([begin for begin, _ in trees]))
        taken = True
    except DataError:
        taken = False
    assert taken == (in_order and walks_end(children, trees))


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ([1, 3], [2, 5], "a child is not behind its parent in the same tree"),
        ([0, 3], [2, 4], "a child is not behind its parent in the same tree"),
        ([2, 3], [2, 4], "a node has no parent, or two"),
        ([1 << 62, 3], [2, 4], "a child is not behind its parent in the same tree"),
    ],
)
def test_what_is_wrong_with_children_is_told(left, right, words):
    split = np.array([True, True, False, False, False])
    require_children(split, np.array([1, 3]), np.array([2, 4]), np.full(2, 5), np.array([0]))
    with pytest.raises(DataError, match=words):
        require_children(split, np.array(left), np.array(right), np.full(2, 5), np.array([0]))
    with pytest.raises(DataError, match="a tree has no nodes"):
        require_children(split[:0], split[:0], split[:0], split[:0], np.array([0]))
