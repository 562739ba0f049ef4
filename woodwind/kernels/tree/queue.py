"""Which node next: a priority queue, as a binary heap. The highest priority comes first, of equals the lowest number."""

from typing import Any

from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory, nodes


@inner
def comes_before(tree: Tree, a: Any, b: Any) -> Any:
    """Whether node a is taken before node b."""
    of_a = nodes.priority(tree, a)
    of_b = nodes.priority(tree, b)
    return of_a > of_b or (of_a == of_b and nodes.number(tree, a) < nodes.number(tree, b))


@inner
def sift_up(tree: Tree, position: Any, node: int) -> None:
    """Put a node where it belongs between `position`, which is free, and the first."""
    while position > 0:
        above = (position - 1) // 2
        if not comes_before(tree, node, memory.waiting(tree, above)):
            break
        memory.set_waiting(tree, position, memory.waiting(tree, above))
        position = above
    memory.set_waiting(tree, position, node)


@inner
def first(tree: Tree) -> Any:
    """The node whose turn it is: it goes on waiting."""
    return memory.waiting(tree, 0)


@inner
def push(tree: Tree, node: int) -> None:
    """Let a node wait for its turn."""
    size = memory.n_waiting(tree)
    memory.set_n_waiting(tree, size + 1)
    sift_up(tree, size, node)


@inner
def pop(tree: Tree) -> Any:
    """The node whose turn it is: it no longer waits."""
    taken = memory.waiting(tree, 0)
    last = memory.n_waiting(tree) - 1
    memory.set_n_waiting(tree, last)
    moved = memory.waiting(tree, last)
    position = 0
    while 2 * position + 1 < last:
        below = 2 * position + 1
        if below + 1 < last and comes_before(tree, memory.waiting(tree, below + 1), memory.waiting(tree, below)):
            below += 1
        if not comes_before(tree, memory.waiting(tree, below), moved):
            break
        memory.set_waiting(tree, position, memory.waiting(tree, below))
        position = below
    memory.set_waiting(tree, position, moved)
    return taken


@inner
def rebuild(tree: Tree) -> None:
    """Put the queue in order again after priorities have changed."""
    for k in range(1, memory.n_waiting(tree)):
        sift_up(tree, k, memory.waiting(tree, k))
