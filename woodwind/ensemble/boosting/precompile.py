"""Precompile: the kernel that grows trees takes as long to compile as all others together, so another process does that meanwhile.

Only at the very first training on a machine, by the first of several processes, and only where there is a second processor. Nothing depends
on it: if the other process fails, or takes too long, the kernel is compiled here as if nobody had tried.
"""

import os
import subprocess
import sys
from pathlib import Path
from threading import Lock

import numpy as np

from woodwind.base.pool import usable_threads
from woodwind.data.binning.codes import Codes, row_stride
from woodwind.kernels.runtime.jit import begin_ahead, end_ahead, quiet_environment
from woodwind.kernels.tree.leaves import leaf_sums
from woodwind.tree.grown_tree import ValuedTree, add_leaf_scores, newton_tree, with_means
from woodwind.tree.histogram_grower import HistogramGrower, walk_codes
from woodwind.tree.settings import TreeSettings

LONGEST_WAIT = 120.0  # seconds
CHILD = """import sys
sys.path[:] = {path!r}
from woodwind.ensemble.boosting.precompile import compile_growth
compile_growth({outputs}, {growth!r})
"""

_child: "subprocess.Popen[bytes] | None" = None
_compiled_there = ""  # the kernel that the child compiles
_waiting = Lock()


def _forget() -> None:
    """In a forked child the process is another's child, and whoever had the lock does not exist."""
    global _child, _waiting
    _child, _waiting = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def start(outputs: int, growth: str) -> None:
    """Let another process compile what grows trees of so many outputs, unless that was done before or cannot be kept."""
    global _child, _compiled_there
    kernel = "take_part_lanes" if outputs > 1 else "take_part"
    # Where Python is embedded, the executable is something else and understands other arguments.
    is_python = Path(sys.executable or "").name.startswith("python")
    if _child is not None or usable_threads(None) < 2 or not is_python or not begin_ahead(kernel):
        return
    code = CHILD.format(path=sys.path, outputs=outputs, growth=growth)
    try:
        _child = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=quiet_environment(),
        )
        _compiled_there = kernel
    except OSError:  # no room for another process: then not
        end_ahead(kernel)


def wait() -> None:
    """Return when the other process has finished, if there is one; until then, compile what comes after growing."""
    if _child is not None:
        with _waiting:  # who comes second waits for the first, instead of compiling the same
            _wait_for(_child)


def _wait_for(child: "subprocess.Popen[bytes] | None") -> None:
    global _child
    if child is None:
        return
    if child.poll() is None:
        rehearse()
    try:
        child.wait(LONGEST_WAIT)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    _child = None
    end_ahead(_compiled_there)


def small_table() -> Codes:
    """Eight rows of one feature."""
    by_row = np.zeros((8, row_stride(1)), np.uint8)
    by_row[:, 0] = np.arange(8)
    return Codes(by_row, np.array([8], np.int32), 16, np.zeros(1, np.bool_), np.zeros(1, np.int64))


def compile_growth(outputs: int, growth: str) -> None:
    """Grow a tree, so that the kernels for it are compiled and kept. What the other process does."""
    codes = small_table()
    settings = TreeSettings(min_rows=1, max_leaves=2, max_depth=1 if growth == "symmetric" else None, growth=growth)
    grower = HistogramGrower(codes, settings, 1, outputs=outputs)
    if outputs > 1:
        grower.fill(np.zeros((8, outputs + 1), np.int32))
    else:
        grower.stats_to_fill()[:] = 1 << 20
    grower.grow(np.ones(2), 0)


def rehearse() -> None:
    """Do once what comes before and after the growing of a tree, so that the kernels for it are compiled."""
    codes = small_table()
    grower = HistogramGrower(codes, TreeSettings(min_rows=1, max_leaves=2), 1)
    nothing = grower.rehearse()
    newton_tree(nothing, nothing.hessian, (0.0, 1.0, 0.0))
    number, real, leaf = np.zeros(1, np.int64), np.zeros(1), np.zeros(8, np.int32)
    tree = ValuedTree(
        feature=np.array([-1], np.int32), bin=number, child=np.zeros(1, np.int32), missing=np.zeros(1, np.uint8), set=number - 1,
        sets=np.zeros((0, 8), np.uint64), gain=real, cover=real, low=real, high=real, value=real[:, None], output=0,
    )  # fmt: skip
    walk_codes(with_means(tree), codes, leaf, 1)
    add_leaf_scores(np.zeros(8), [(tree, leaf)], 1)
    leaf_sums(leaf, grower.stats_to_fill(), None, np.zeros((1, 3), np.int64))
