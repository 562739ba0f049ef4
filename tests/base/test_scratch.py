"""Memory that goes back to the system."""

import gc
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

from woodwind.base import scratch as room
from woodwind.base.scratch import LARGE_PAGE, LEAST_BYTES, LINE, PIECE_BYTES, Scratch


@pytest.fixture
def mapped(monkeypatch):
    """Sizes of the pieces that are asked of the system, and of those that it has back."""
    asked, returned = [], []

    class Watched(mmap.mmap):
        def __new__(cls, *arguments, **options):
            asked.append(arguments[1])
            return super().__new__(cls, *arguments, **options)

        def __del__(self):
            returned.append(len(self))

    monkeypatch.setattr(room.mmap, "mmap", Watched)
    return asked, returned


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint64, np.float64])
@pytest.mark.parametrize("count", [0, 1, LEAST_BYTES - 1, LEAST_BYTES, 3 * LEAST_BYTES + 7, PIECE_BYTES + 1])
def test_zeros_are_zero_aligned_and_writable(kind, count):
    scratch = Scratch()
    for _ in range(2):
        values = scratch.zeros(count, kind)
        assert (values.dtype, values.shape) == (kind, (count,))
        assert values.flags.c_contiguous
        assert values.flags.writeable
        assert values.flags.aligned
        assert not values.any()
        assert values.nbytes < LEAST_BYTES or values.ctypes.data % LINE == 0
        values[:] = 1


def test_arrays_lie_next_to_each_other_and_never_on_each_other(mapped):
    scratch = Scratch()
    arrays = [scratch.zeros(LEAST_BYTES + number, np.uint8) for number in range(9)]
    for number, values in enumerate(arrays):
        values[:] = number
    assert [set(values.tolist()) for values in arrays] == [{number} for number in range(9)]
    assert mapped[0] == [PIECE_BYTES + LARGE_PAGE]
    assert arrays[0].ctypes.data % LARGE_PAGE == 0


def test_small_arrays_are_left_to_numpy(mapped):
    assert not Scratch().zeros(LEAST_BYTES // 8 - 1, np.float64).any()
    assert mapped[0] == []


def test_a_view_keeps_the_memory_and_the_last_one_gives_it_back(mapped):
    scratch = Scratch()
    values = scratch.zeros(PIECE_BYTES // 8, np.float64)
    values[:] = np.arange(values.size)
    view = values[10:20].view(np.int64).reshape(2, 5)[:, ::4]
    del scratch, values
    gc.collect()
    assert mapped[1] == []
    assert view.copy().view(np.float64).tolist() == [[10.0, 14.0], [15.0, 19.0]]
    del view
    gc.collect()
    assert mapped[1] == [PIECE_BYTES + LARGE_PAGE]


def test_another_piece_is_asked_for_where_one_is_full(mapped):
    scratch = Scratch()
    first = scratch.zeros(PIECE_BYTES - 100, np.uint8)
    second = scratch.zeros(2 * PIECE_BYTES, np.uint8)
    assert mapped[0] == [PIECE_BYTES + LARGE_PAGE, 2 * PIECE_BYTES + LARGE_PAGE]
    del first
    gc.collect()
    assert mapped[1] == [PIECE_BYTES + LARGE_PAGE]
    assert not second.any()


CHILD = """
import os, numpy as np
from woodwind.base.scratch import LEAST_BYTES, Scratch
values = Scratch().zeros(LEAST_BYTES, np.uint8)
child = os.fork()
if child == 0:
    values[:] = 1
    os._exit(7 if values.all() else 1)
status = os.waitpid(child, 0)[1]
assert os.waitstatus_to_exitcode(status) == 7
assert not values.any()
print("apart")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_what_a_forked_child_writes_stays_its_own():
    done = subprocess.run([sys.executable, "-c", CHILD], check=False, capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.returncode) == ("apart", 0), done.stderr


def test_numpy_helps_out_where_the_system_refuses(monkeypatch):
    def refuse(*_args, **_options):
        raise OSError("no room")

    monkeypatch.setattr(room.mmap, "mmap", refuse)
    values = Scratch().zeros(LEAST_BYTES, np.int64)
    assert len(values) == LEAST_BYTES
    assert not values.any()
