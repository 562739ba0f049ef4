"""The cache of compiled kernels, seen from outside: each case runs new processes on a small room of its own."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np
import pytest

from woodwind.kernels.losses import exponential
from woodwind.kernels.runtime import cache, jit, private

pytestmark = pytest.mark.compiled

ROOM = Path(jit.__file__).parent.parent

HELPER = """
from woodwind.kernels.runtime.jit import kernel

@kernel
def add(a, b):
    return a + b
"""

WORK = """
from typing import NamedTuple
from woodwind.kernels.helper import add
from woodwind.kernels.runtime.jit import kernel

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
from woodwind.kernels.runtime import jit
from woodwind.kernels import work
print(work.total(np.arange(4.0)))
print(jit.tally["compiled"], jit.tally["loaded"], jit.tally["unsaved"])
"""


@pytest.fixture
def room(tmp_path):
    """A package of two small kernel files around the real decorator and cache."""
    kernels = tmp_path / "copy" / "woodwind" / "kernels"
    kernels.mkdir(parents=True)
    (kernels.parent / "__init__.py").touch()
    (kernels / "runtime").mkdir()
    shutil.copy(ROOM / "__init__.py", kernels)
    for name in ("__init__.py", "jit.py", "numba_patches.py", "cache.py", "private.py"):
        shutil.copy(ROOM / "runtime" / name, kernels / "runtime")
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
    first, predicted = run(room)
    assert first == ["6.0", "2", "0", "0"]
    assert predicted == "woodwind: compiling kernels, first use only ...\n"
    second, predicted = run(room)
    assert second == ["6.0", "0", "1", "0"]  # the helper is linked into its caller
    assert predicted == ""


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
from woodwind.kernels.runtime import jit
from woodwind.kernels.losses.derivatives import LOGISTIC, Formula, derivatives
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
    with (room / "losses" / "exponential.py").open("a") as file:
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


def test_a_damaged_file_is_compiled_again(room):
    run(room)
    for file in files(room):
        file.write_bytes(file.read_bytes()[:-1])
    assert run(room)[0] == ["6.0", "2", "0", "0"]
    assert run(room)[0] == ["6.0", "0", "1", "0"]  # and the good file is back


def test_a_whole_file_with_foreign_content_is_compiled_again(room):
    run(room)
    for file in files(room):
        key = private.KEY_HEAD, (file.parent.parent / private.KEY_FILE).read_bytes()
        cache.write(cache.Home(file.parent, key[1].removeprefix(key[0])), file.name, b"not a pickle")
    assert run(room)[0] == ["6.0", "2", "0", "0"]


def test_without_any_directory_kernels_live_in_memory(room, tmp_path):
    blocker = tmp_path / "file"
    blocker.touch()
    nowhere = {"WOODWIND_CACHE_DIR": f"{blocker}/a", "XDG_CACHE_HOME": f"{blocker}/b", "HOME": f"{blocker}/c"}
    code = f"import tempfile; tempfile.tempdir = {str(blocker)!r}\n" + MAIN
    out, predicted = run(room, code, **nowhere)
    assert out == ["6.0", "2", "0", "0"]
    assert predicted.splitlines()[0].startswith(f"woodwind: WOODWIND_CACHE_DIR={blocker}/a is not used: Not a directory")
    assert "Set WOODWIND_CACHE_DIR to a folder that only you may write to" in predicted.splitlines()[1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have other names for it")
def test_the_users_cache_comes_next_and_then_the_temporary_directory(room, tmp_path):
    code = "from woodwind.kernels.runtime import jit; print(jit.home().parent)"
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


def test_of_four_processes_from_cold_one_compiles_and_all_agree(room):
    processes = [start(room, MAIN) for _ in range(4)]
    done = [finish(process) for process in processes]
    assert [out[0] for out, _ in done] == ["6.0"] * 4
    assert sum(int(out[1]) for out, _ in done) == 2
    assert run(room)[0] == ["6.0", "0", "1", "0"]
    assert len(files(room)) == 2  # one for each signature, and no temporary file left


def test_two_processes_that_need_kernels_in_another_order_wait_for_each_other_in_no_circle(room):
    first, second = "work.total(np.arange(4.0))", "helper.add(1.0, 2.0)"
    code = "import numpy as np; from woodwind.kernels import helper, work; {}; {}; print(work.kernel.__globals__['tally']['compiled'])"
    processes = [start(room, code.format(*calls)) for calls in ((first, second), (second, first)) * 2]
    assert sum(int(finish(process)[0][0]) for process in processes) == 2


def test_two_threads_that_need_one_kernel_compile_it_once(room):
    code = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from woodwind.kernels.runtime import jit
from woodwind.kernels import work
with ThreadPoolExecutor(4) as pool:
    print(*set(pool.map(lambda _: work.total(np.arange(4.0)), range(4))))
print(jit.tally["compiled"], jit.tally["loaded"], jit.tally["unsaved"])
"""
    assert run(room, code)[0] == ["6.0", "2", "0", "0"]


# A process that is slow to write what it has compiled, and makes a file when it is about to.
SLOW = """
import time
from pathlib import Path
from woodwind.kernels.runtime import cache
write = cache.write
def slowly(*arguments):
    Path("compiled").touch()
    time.sleep({seconds})
    write(*arguments)
cache.write = slowly
"""
WAITING = "woodwind: waiting for another process, which is compiling kernels, first use only ...\n"


@pytest.fixture
def slow(room):
    """Starts a process that has compiled a kernel, and writes it so many seconds later; it is ended at last."""
    started = []

    def begin(seconds):
        process = start(room, SLOW.format(seconds=seconds) + MAIN)
        started.append(process)
        flag = room.parent.parent / "compiled"
        until = time.monotonic() + 60
        while not flag.exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert flag.exists()
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def test_who_waits_for_another_process_says_so_and_compiles_nothing(room, slow):
    other = slow(1.0)
    out, predicted = run(room)
    assert out == ["6.0", "0", "1", "0"]
    assert predicted == WAITING
    assert finish(other)[0] == ["6.0", "2", "0", "0"]


def test_a_process_that_was_killed_is_not_waited_for(room, slow):
    other = slow(100.0)
    waiting = start(room, MAIN)
    assert waiting.stderr.readline() == WAITING
    other.kill()
    assert finish(waiting)[0] == ["6.0", "2", "0", "0"]


def test_a_process_that_was_stopped_is_not_waited_for_without_end(room, slow):
    slow(100.0)
    out, predicted = run(room, "from woodwind.kernels.runtime import jit; jit.LONGEST_WAIT = 0.5\n" + MAIN)
    assert out == ["6.0", "2", "0", "0"]
    assert predicted.startswith(WAITING)
    assert "no longer waiting for it" in predicted


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child that inherits everything but locks")
def test_a_kernel_that_cannot_be_compiled_is_let_go_of(room):
    code = """
import os
import numpy as np
from woodwind.kernels.runtime import cache
from woodwind.kernels.runtime import jit
from woodwind.kernels import work
claim, claimed = cache.claim, []
cache.claim = lambda *what: claimed.append(what) or claim(*what)
def is_free():
    child = os.fork()
    if not child:
        os._exit(claim(*claimed[-1]) is not True)
    return os.waitpid(child, 0)[1] == 0
cache.write = lambda *_: print(is_free())
work.total(np.arange(4.0))
print(is_free())
try: work.difference(np.arange(4.0))
except Exception as error: print(type(error).__name__)
print(len(claimed), is_free(), jit._claimed)
"""
    # While it is compiled, afterwards, and after a failure. What is claimed last while both are compiled is the inner one.
    assert run(room, code)[0] == ["False", "True", "True", "TypingError", "3", "True", "None"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_that_is_forked_while_a_thread_compiles_can_compile(room):
    code = """
import os, signal, time
from threading import Event, Thread
import numpy as np
from woodwind.kernels.runtime import cache
from woodwind.kernels.runtime import jit
from woodwind.kernels import work
compiled, write = Event(), cache.write
def slowly(*arguments):
    compiled.set()
    time.sleep(0.5)
    write(*arguments)
cache.write = slowly
Thread(target=work.total, args=(np.arange(4.0),)).start()
compiled.wait(30)
child = os.fork()
if not child:
    signal.alarm(30)
    os._exit(work.difference(work.Pair(3.0, 1.0)) != 2.0 or work.total(np.arange(4.0)) != 6.0)
print(os.waitpid(child, 0)[1])
"""
    assert run(room, code)[0] == ["0"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a child that inherits everything but locks")
def test_only_one_process_at_a_time_begins_to_compile_ahead(room):
    code = """
import os
import numpy as np
from woodwind.kernels.runtime import jit
from woodwind.kernels import work
def may_another():
    child = os.fork()
    if not child:
        os._exit(jit.begin_ahead("total"))
    return os.waitpid(child, 0)[1] != 0
print(jit.begin_ahead("total"), may_another())
jit.end_ahead("total")
print(may_another())
work.total(np.arange(4.0))
print(jit.begin_ahead("total"), may_another())
"""
    assert run(room, code)[0] == ["True", "False", "True", "False", "False"]


def test_without_locks_everybody_compiles(room, slow):
    slow(100.0)
    out, predicted = run(room, "from woodwind.kernels.runtime import cache; cache.take_lock = lambda *_: None\n" + MAIN)
    assert out == ["6.0", "2", "0", "0"]
    assert predicted == "woodwind: compiling kernels, first use only ...\n"


def test_a_full_disk_is_told_once_and_costs_nothing_else(room):
    code = """
from woodwind.kernels.runtime import cache
def full(*_): raise OSError(28, "No space left on device")
cache.write = full
"""
    out, predicted = run(room, code + MAIN)
    assert out == ["6.0", "2", "0", "2"]
    assert len(predicted.splitlines()) == 2
    assert "cannot be kept in " in predicted
    assert "No space left on device. Set WOODWIND_CACHE_DIR to a folder that only you may write to" in predicted


@pytest.mark.skipif(os.name == "nt", reason="file modes")
def test_code_that_was_planted_while_the_folder_was_open_does_not_run_after_the_advised_chmod(room, tmp_path):
    run(room)
    payload = b"cposix\nsystem\n(S'touch " + os.fsencode(tmp_path / "ran") + b"'\ntR."
    base = files(room)[0].parent.parent
    for folder in (base, files(room)[0].parent):
        folder.chmod(0o777)
    for file in files(room):
        key = b"k" * private.KEY_SIZE
        sealed = cache.HEAD + cache._seal(cache.Home(file.parent, key), file.name, payload) + payload
        checked = b"woodwind kernel 1\n" + hashlib.sha256(payload).digest() + payload
        file.unlink()
        file.write_bytes(sealed if file.name.startswith("total") else checked)
    for folder in (base, files(room)[0].parent):
        folder.chmod(0o755)
    assert run(room)[0] == ["6.0", "2", "0", "0"]
    assert not (tmp_path / "ran").exists()


def test_bounds_checks_are_not_undone_by_a_warm_cache(room):
    overrun = "import numpy as np; from woodwind.kernels import work; work.past_the_end(np.arange(4.0))\n"
    where = "from woodwind.kernels.runtime import jit; print(jit.home())"
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
    for name in ("WOODWIND_QUIET", "WOODWIND_DEBUG", "WOODWIND_CACHE_DIR"):
        monkeypatch.setenv(name, "1")
    assert jit.switches() in seen


def test_fields_of_a_tuple_are_part_of_the_key(room):
    code = "from woodwind.kernels import work; print(work.difference(work.Pair(first=3.0, second=1.0)))"
    assert run(room, code)[0] == ["2.0"]
    # The tuple may be defined outside of the room, where the digest does not see its fields change positions.
    swapped = "from typing import NamedTuple\nfrom woodwind.kernels import work\n"
    swapped += "Pair = NamedTuple('Pair', [('second', float), ('first', float)]); Pair.__module__ = work.__name__\n"
    assert run(room, swapped + "print(work.difference(Pair(first=3.0, second=1.0)))")[0] == ["2.0"]


def test_quiet_is_quiet(room):
    assert run(room, WOODWIND_QUIET="1")[1] == ""


def test_without_the_compiler_a_kernel_is_the_function_itself(room):
    code = "from woodwind.kernels import work; print(type(work.total).__name__, work.total.__module__)\n" + MAIN
    out, predicted = run(room, code, NUMBA_DISABLE_JIT="1")
    assert out == ["function", "woodwind.kernels.work", "6.0", "0", "0", "0"]
    assert predicted == ""


def test_a_changed_numba_is_survived_in_memory(room):
    code = "from numba.core.compiler import CompileResult; del CompileResult._reduce\n" + MAIN
    assert run(room, code)[0] == ["6.0", "0", "0", "0"]
    code = "from numba.core.compiler import CompileResult; CompileResult._reduce = None\n" + MAIN
    assert run(room, code)[0] == ["6.0", "2", "0", "2"]


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
