"""The nodes of a tree that grows, and how they come to be."""

from typing import Any

from woodwind.kernels.runtime.jit import inlined
from woodwind.kernels.runtime.keys import hashed
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory
from woodwind.kernels.tree.layout import NOTHING, STOP

COLUMNS, VALUES = memory.NODES, memory.NODE_VALUES

child, set_child = COLUMNS.column("child")  # the left child; the right one follows; -1 while there are none
depth, set_depth = COLUMNS.column("depth")
begin, set_begin = COLUMNS.column("begin")  # its rows stand from here ...
end, set_end = COLUMNS.column("end")  # ... to here
feature, set_feature = COLUMNS.column("feature")  # of its best split, -1 for none
bin, set_bin = COLUMNS.column("bin")  # noqa: A001  number split: left when code <= bin
missing, set_missing = COLUMNS.column("missing")  # where missing values go: LEFT, RIGHT, or STOP where none was met
category_set, set_category_set = COLUMNS.column("category_set")  # category split: row of the sets, -1 otherwise
key, set_key = COLUMNS.column("key")  # names the node by its path from the root: randomness does not depend on the order of work
number, set_number = COLUMNS.column("number")  # its number in the finished tree

gain, set_gain = VALUES.column("gain")
priority, set_priority = VALUES.column("priority")  # which node is next

integers = COLUMNS.row
values = VALUES.row


@inlined
def n_rows(tree: Tree, node: int) -> Any:
    """Rows of a node."""
    return end(tree, node) - begin(tree, node)


@inlined
def add_node(tree: Tree, node_depth: Any, first: int, past: Any, node_key: Any) -> Any:
    """A node without split or children, with the rows first to past; returns it."""
    node = memory.n_nodes(tree)
    memory.set_n_nodes(tree, node + 1)
    set_child(tree, node, NOTHING)
    set_depth(tree, node, node_depth)
    set_begin(tree, node, first)
    set_end(tree, node, past)
    set_feature(tree, node, NOTHING)
    set_missing(tree, node, STOP)
    set_category_set(tree, node, NOTHING)
    set_key(tree, node, node_key)
    set_gain(tree, node, 0.0)
    return node


@inlined
def add_children(tree: Tree, node: int, middle: Any) -> Any:
    """Two children that part the rows of a node at `middle`; returns the left one."""
    below = depth(tree, node) + 1
    left = add_node(tree, below, begin(tree, node), middle, hashed(key(tree, node), 0))
    add_node(tree, below, middle, end(tree, node), hashed(key(tree, node), 1))
    set_child(tree, node, left)
    return left
