"""The cache of compiled kernels, seen from outside: each case runs new processes on a small room of its own."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from woodwind.kernels import cache, exponential, jit

pytestmark = pytest.mark.compiled

ROOM = Path(jit.__file__).parent

HELPER = """
from woodwind.kernels.jit import kernel

@kernel
def add(a, b):
    return a + b
"""

WORK = """
from typing import NamedTuple
from woodwind.kernels.helper import add
from woodwind.kernels.jit import kernel

class Pair(NamedTuple):
    first: float
    second: float

@kernel
def total(a):
    s = 0.0
    for i in range(a.size):
        s = add(s, a[i])
    return s

@kernel
def past_the_end(a):
    return a[a.size + 5]

@kernel
def difference(pair):
    return pair.first - pair.second
"""

MAIN = """
import numpy as np
from woodwind.kernels import jit, work
print(work.total(np.arange(4.0)))
print(jit.tally["compiled"], jit.tally["loaded"], jit.tally["unsaved"])
"""


@pytest.fixture
def room(tmp_path):
    """A package of two small kernel files around the real decorator and cache."""
    kernels = tmp_path / "copy" / "woodwind" / "kernels"
    kernels.mkdir(parents=True)
    (kernels.parent / "__init__.py").touch()
    for name in ("__init__.py", "jit.py", "lean.py", "cache.py"):
        shutil.copy(ROOM / name, kernels)
    (kernels / "helper.py").write_text(HELPER)
    (kernels / "work.py").write_text(WORK)
    return kernels


def start(room, code, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("WOODWIND_", "NUMBA_", "XDG_CACHE"))}
    package = room.parent.parent
    settings = {"PYTHONPATH": str(package), "WOODWIND_CACHE_DIR": str(package.parent / "cache"), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", code], env={**clean, **settings}, cwd=package, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process):
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.split(), err


def run(room, code=MAIN, **environment):
    return finish(start(room, code, **environment))


def files(room):
    return sorted((room.parent.parent.parent / "cache").glob("kernels-*/*"))


def test_second_process_compiles_nothing(room):
    first, said = run(room)
    assert first == ["6.0", "2", "0", "0"]
    assert said == "woodwind: compiling kernels, first use only ...\n"
    second, said = run(room)
    assert second == ["6.0", "0", "1", "0"]  # the helper is linked into its caller
    assert said == ""


def test_an_edit_in_another_file_is_never_met_by_old_code(room):
    assert run(room)[0][0] == "6.0"
    stamp = (room / "helper.py").stat()
    (room / "helper.py").write_text(HELPER.replace("a + b", "a - b"))
    os.utime(room / "helper.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # as a reproducible wheel would
    shutil.rmtree(room / "__pycache__", ignore_errors=True)
    assert run(room)[0] == ["-6.0", "2", "0", "0"]
    (room / "helper.py").write_text(HELPER)
    assert run(room)[0] == ["6.0", "0", "1", "0"]  # and the old text meets the old code again


def test_an_edit_in_a_copy_of_the_whole_package_is_never_met_by_old_code(tmp_path):
    package = tmp_path / "copy" / "woodwind"
    shutil.copytree(ROOM.parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = """
import numpy as np
from woodwind.kernels import jit
from woodwind.kernels.derivatives import LOGISTIC, Formula, derivatives
gradient, hessian = np.zeros(1), np.zeros(1)
derivatives(Formula(LOGISTIC, 0.0), np.zeros(1), np.full(1, 2.0), None, 0, 1, gradient, hessian)
print(gradient[0])
print(jit.tally["compiled"], jit.tally["loaded"], jit.tally["unsaved"])
"""
    room = package / "kernels"
    first, again = run(room, code)[0], run(room, code)[0]
    assert float(first[0]) == pytest.approx(1.0 / (1.0 + np.exp(-2.0)))
    assert first[1:] == ["1", "0", "0"]
    assert again == [first[0], "0", "1", "0"]
    # The caller stands in derivatives.py, which is left as it is.
    with (room / "exponential.py").open("a") as file:
        file.write("\n\n@inner\ndef exp(x):\n    return 0.0 * x\n")
    edited = run(room, code)[0]
    assert float(edited[0]) != pytest.approx(float(first[0]), rel=0.01)
    assert edited[1:] == first[1:]


def test_a_function_without_entrance_says_so_also_after_a_kernel_has_called_it():
    for _ in range(2):
        with pytest.raises(TypeError, match="exp has no entrance from Python: call it from a kernel"):
            exponential.exp(1.0)
        exponential.exp_each(np.ones(1), 0, 1, np.empty(1))


def test_a_process_whose_source_was_edited_keeps_nothing(room):
    edit = """
from pathlib import Path
from woodwind.kernels import helper
path = Path(helper.__file__)
path.write_text(path.read_text() + "# edited")
"""
    assert run(room, edit + MAIN)[0] == ["6.0", "2", "0", "0"]
    assert files(room) == []


def test_what_is_missing_or_damaged_is_not_read(tmp_path):
    file = tmp_path / "kernel"
    assert cache.read(file) is None
    cache.write(file, b"payload")
    assert cache.read(file) == b"payload"
    content = file.read_bytes()
    for place in range(len(content)):
        file.write_bytes(content[:place])
        assert cache.read(file) is None
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert cache.read(file) is None
    file.write_bytes(content + b"x")
    assert cache.read(file) is None
    assert list(tmp_path.iterdir()) == [file]


def test_a_damaged_file_is_compiled_again(room):
    run(room)
    for file in files(room):
        file.write_bytes(file.read_bytes()[:-1])
    assert run(room)[0] == ["6.0", "2", "0", "0"]
    assert run(room)[0] == ["6.0", "0", "1", "0"]  # and the good file is back


def test_a_whole_file_with_foreign_content_is_compiled_again(room):
    run(room)
    for file in files(room):
        cache.write(file, b"not a pickle")
    assert run(room)[0] == ["6.0", "2", "0", "0"]


def test_without_any_directory_kernels_live_in_memory(room, tmp_path):
    blocker = tmp_path / "file"
    blocker.touch()
    nowhere = {"WOODWIND_CACHE_DIR": f"{blocker}/a", "XDG_CACHE_HOME": f"{blocker}/b", "HOME": f"{blocker}/c"}
    code = f"import tempfile; tempfile.tempdir = {str(blocker)!r}\n" + MAIN
    out, said = run(room, code, **nowhere)
    assert out == ["6.0", "2", "0", "0"]
    assert said.splitlines()[0].startswith(f"woodwind: WOODWIND_CACHE_DIR={blocker}/a is not used: Not a directory")
    assert "set WOODWIND_CACHE_DIR to a private directory" in said.splitlines()[1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have other names for it")
def test_the_users_cache_comes_next_and_then_the_temporary_directory(room, tmp_path):
    code = "from woodwind.kernels import jit; print(jit.home().parent)"
    cached, temporary = tmp_path / "xdg", tmp_path / "tmp"
    temporary.mkdir()
    assert run(room, code, WOODWIND_CACHE_DIR="", XDG_CACHE_HOME=str(cached))[0] == [f"{cached}/woodwind"]
    blocked = {"WOODWIND_CACHE_DIR": "", "XDG_CACHE_HOME": str(room / "helper.py")}
    assert run(room, code, TMPDIR=str(temporary), **blocked)[0] == [f"{temporary}/woodwind-{os.getuid()}"]


@pytest.mark.skipif(os.name == "nt", reason="file modes")
def test_directories_are_private(room):
    run(room)
    home = files(room)[0].parent
    assert [path.stat().st_mode & 0o777 for path in (home, home.parent)] == [0o700, 0o700]
    assert all(file.stat().st_mode & 0o077 == 0 for file in files(room))


@pytest.mark.skipif(os.name == "nt", reason="file modes")
def test_a_directory_that_others_could_have_written_to_is_refused(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o770)
    monkeypatch.setenv("WOODWIND_CACHE_DIR", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    home, complaint = cache.find_home("0" * 32)
    assert home is not None
    assert home.parent != shared
    assert "others may write" in complaint
    link = tmp_path / "link"
    link.symlink_to(home.parent)
    monkeypatch.setenv("WOODWIND_CACHE_DIR", str(link))
    assert "is not a directory" in cache.find_home("0" * 32)[1]


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only the superuser can give files away")
def test_a_directory_of_another_user_is_refused(tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    os.chown(other, 12345, 12345)
    monkeypatch.setenv("WOODWIND_CACHE_DIR", str(other))
    assert "belongs to another user" in cache.find_home("0" * 32)[1]


def test_four_processes_from_cold_agree(room):
    processes = [start(room, MAIN) for _ in range(4)]
    assert all(finish(process)[0][0] == "6.0" for process in processes)
    assert run(room)[0] == ["6.0", "0", "1", "0"]
    assert len(files(room)) == 2  # one for each signature, and no temporary file left


def test_bounds_checks_are_not_undone_by_a_warm_cache(room):
    overrun = "import numpy as np; from woodwind.kernels import jit, work; work.past_the_end(np.arange(4.0))\n"
    where = "print(jit.home())"
    warm = run(room, overrun + where)[0]
    caught = overrun.replace("; work.", "\ntry: work.") + "except IndexError: print('caught')\n"
    checked = run(room, caught + where, NUMBA_BOUNDSCHECK="1")[0]
    assert checked[0] == "caught"
    assert checked[1] != warm[0]


def test_switches_of_numba_and_of_ours_change_the_directory(monkeypatch):
    seen = {jit.switches()}
    for name, value in (("BOUNDSCHECK", 1), ("OPT", 0), ("CPU_NAME", "generic")):
        monkeypatch.setattr(numba.config, name, value)
        seen.add(jit.switches())
    monkeypatch.setenv("WOODWIND_SOME_SWITCH", "1")
    seen.add(jit.switches())
    assert len(seen) == 5
    monkeypatch.setenv("WOODWIND_QUIET", "1")
    assert jit.switches() in seen


def test_fields_of_a_tuple_are_part_of_the_key(room):
    code = "from woodwind.kernels import work; print(work.difference(work.Pair(first=3.0, second=1.0)))"
    assert run(room, code)[0] == ["2.0"]
    # The tuple may be defined outside of the room, where the digest does not see its fields change places.
    swapped = "from typing import NamedTuple\nfrom woodwind.kernels import work\n"
    swapped += "Pair = NamedTuple('Pair', [('second', float), ('first', float)]); Pair.__module__ = work.__name__\n"
    assert run(room, swapped + "print(work.difference(Pair(first=3.0, second=1.0)))")[0] == ["2.0"]


def test_quiet_is_quiet(room):
    assert run(room, WOODWIND_QUIET="1")[1] == ""


def test_without_the_compiler_a_kernel_is_the_function_itself(room):
    code = "from woodwind.kernels import work; print(type(work.total).__name__, work.total.__module__)\n" + MAIN
    out, said = run(room, code, NUMBA_DISABLE_JIT="1")
    assert out == ["function", "woodwind.kernels.work", "6.0", "0", "0", "0"]
    assert said == ""


def test_a_changed_numba_is_survived_in_memory(room):
    code = "from numba.core.compiler import CompileResult; del CompileResult._reduce\n" + MAIN
    assert run(room, code)[0] == ["6.0", "0", "0", "0"]
    code = "from numba.core.compiler import CompileResult; CompileResult._reduce = None\n" + MAIN
    assert run(room, code)[0] == ["6.0", "2", "0", "2"]


def test_old_directories_are_swept_when_a_new_one_is_made(tmp_path, monkeypatch):
    base = tmp_path / "base"
    monkeypatch.setenv("WOODWIND_CACHE_DIR", str(base))
    old, recent = cache.find_home("a" * 32)[0], cache.find_home("b" * 32)[0]
    month = time.time() - 31 * 86400
    os.utime(old, (month, month))
    unrelated = base / "mine"
    unrelated.mkdir()
    os.utime(unrelated, (month, month))
    new, _ = cache.find_home("c" * 32)
    assert sorted(base.iterdir()) == sorted([recent, new, unrelated])
    os.utime(recent, (month, month))
    assert cache.find_home("b" * 32)[0].stat().st_mtime > month  # a directory in use is marked as such
    for number in range(cache.MOST_DIRECTORIES + 3):
        cache.find_home(f"{number:032d}")
    assert len(list(base.glob("kernels-*"))) <= cache.MOST_DIRECTORIES + 1


def test_a_kernel_takes_no_function_and_closes_over_nothing(room):
    code = """
from woodwind.kernels import work
try: work.difference(work.total)
except TypeError as error: print(error)
"""
    assert "was given a function" in " ".join(run(room, code)[0])
    outside = 3
    with pytest.raises(TypeError, match="closes over"):
        jit.kernel(lambda a: a + outside)


def test_a_kernel_from_outside_of_the_room_is_not_kept():
    local = jit.kernel(_increment)
    before = dict(jit.tally)
    assert local(np.float64(1.0)) == 2.0
    assert dict(jit.tally) == before


def _increment(a):
    return a + 1.0
