"""The one decorator that compiles: `kernel`, with a cache that is safe for many processes and never stale.

Numba's own cache does not notice an edit in another file, ignores its debugging switches once it is warm, fails at
import where nothing can be written, and has an index that two processes may write at once. Ours has one file for
each signature in a directory named by a digest of the whole room: see `cache.py` and docs/decisions/0002.
"""

import os
import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core import config, types

from woodwind.kernels.runtime import cache, numba_patches, private

try:  # what makes compiling a kernel of many functions several times faster; semi-private as well
    from numba.core.compiler_lock import global_compiler_lock
except ImportError:  # pragma: no cover: every tested version has them
    global_compiler_lock = None
try:  # the parts of Numba that its own cache is made of, and that no promise covers
    from numba.core.compiler import CompileResult
    from numba.core.runtime import rtsys
    from numba.core.serialize import dumps
except ImportError:  # pragma: no cover: every tested version has them
    CompileResult = rtsys = dumps = None

F = TypeVar("F", bound=Callable[..., Any])

# How many signatures this process has compiled and loaded; for tests and for measuring a cold start.
tally: Counter[str] = Counter()

_ROOM = Path(__file__).parent.parent
# Taken before any kernel file is imported: if it has changed by first use, what was imported is not what is there.
_SOURCE = cache.room_digest(_ROOM)

# Switches of Numba that change the machine code; a warm cache of its own ignores them.
_SWITCHES = (
    "BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "EXTEND_VARIABLE_LIFETIMES",
    "ENABLE_PROFILING", "ENABLE_AVX", "DISABLE_INTEL_SVML", "USING_SVML", "CPU_NAME", "CPU_FEATURES",
    "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS", "DEBUG_ARRAY_OPT", "DEBUG_NRT", "NRT_STATS", "JIT_COVERAGE",
)  # fmt: skip
_NOT_SWITCHES = (cache.ASKED, "WOODWIND_DEBUG", "WOODWIND_QUIET")

# A kernel takes some seconds. Who needs so much longer has been stopped, or the machine is: then all compile for themselves.
LONGEST_WAIT = 120.0  # seconds
_LOOK_AGAIN = 0.05  # seconds

_homes: dict[str, cache.Home | None] = {}
# Kernels that this process is compiling and others may be waiting for, the innermost last; None while nobody would let go of them.
_claimed: list[tuple[cache.Home, str]] | None = None
_told: set[str] = set()
if global_compiler_lock is not None and hasattr(os, "register_at_fork"):
    # A child that is forked while another thread compiles would wait for ever for that thread, which it does not have: so whoever forks
    # waits until the kernel is compiled.
    os.register_at_fork(
        before=global_compiler_lock.acquire, after_in_parent=global_compiler_lock.release, after_in_child=global_compiler_lock.release
    )
_REMEDY = f"Set {cache.ASKED} to a folder that only you may write to, to do this only once."


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers for this machine on first use, or load what was compiled before.

    Threads are Python threads, so the interpreter lock is released and nothing runs in parallel inside; division
    follows NumPy, because a check for zero in an inner loop keeps it from being vectorised.
    """
    if function.__closure__:
        raise TypeError(f"{function.__qualname__} closes over variables: a kernel is a function of its arguments alone")
    compiled: F = numba.njit(**numba_patches.options(function))(function)
    # With NUMBA_DISABLE_JIT=1 what comes back is the function itself. A kernel from outside of the room is compiled
    # in every process, since the digest does not cover its file.
    if compiled is not function and function.__module__.startswith("woodwind.kernels.") and _can_keep(compiled):
        compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
    if compiled is not function and numba_patches.LIGHT:
        compile_whole = compiled.compile  # type: ignore[attr-defined]

        def compile_for_calling(signature: Any) -> Any:
            # An inner function may be what calls it first.
            with global_compiler_lock, numba_patches.compiling(), numba_patches.only_for_linking(False), _claims():
                return compile_whole(signature)

        compiled.compile = compile_for_calling  # type: ignore[attr-defined]
    return compiled


def inner(function: F) -> F:
    """Compile a function that only kernels call: no entrance from Python, no file of its own.

    The code becomes part of the kernel that calls it, and of its file. Entrances are most of the work of compiling a
    small function: ten of them take 1.4 s with and 0.4 s without.
    """
    return _for_linking(function, forceinline=False)


def inlined(function: F) -> F:
    """As `inner`, for what is called some thousand times per tree: never called, but made part of whatever calls it.

    An array is seven arguments and a `Rule` some thirty, all of them copied at every call of a function that the compiler finds
    too long to inline: half of the time of finding the split of a short feature.
    """
    return _for_linking(function, forceinline=True)


def _for_linking(function: F, forceinline: bool) -> F:
    if function.__closure__:
        raise TypeError(f"{function.__qualname__} closes over variables: a kernel is a function of its arguments alone")
    compiled: F = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=forceinline, **numba_patches.options(function))(
        function
    )
    if compiled is not function and numba_patches.LIGHT:
        compile_inner = compiled.compile  # type: ignore[attr-defined]
        find_for = compiled.get_call_template  # type: ignore[attr-defined]

        def find_for_any_number(args: Any, kws: Any) -> Any:
            # Numba would compile it once for 0 and once for any integer: one function in five was there twice.
            return find_for(tuple(types.unliteral(kind) for kind in args), {name: types.unliteral(kind) for name, kind in kws.items()})

        def compile_for_linking(signature: Any) -> Any:
            with global_compiler_lock, numba_patches.only_for_linking(True):
                return compile_inner(signature)

        def refuse(*_arguments: Any) -> Any:
            raise TypeError(f"{function.__qualname__} has no entrance from Python: call it from a kernel")

        def add_overload(result: Any) -> None:
            # Without telling the part of Numba that answers calls from Python: it would jump to nowhere.
            compiled.overloads[tuple(result.signature.args)] = result  # type: ignore[attr-defined]

        compiled.compile = compile_for_linking  # type: ignore[attr-defined]
        compiled.add_overload = add_overload  # type: ignore[attr-defined]
        compiled.get_call_template = find_for_any_number  # type: ignore[attr-defined]
        compiled._compile_for_args = refuse  # type: ignore[attr-defined]
    return compiled


def switches() -> str:
    """Everything but the source that decides what is compiled: versions and switches, as text."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
    flags = [f"{name}={getattr(config, name, None)}" for name in _SWITCHES]
    # A switch of our own may be baked into a kernel as a global constant.
    own = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("WOODWIND_") and k not in _NOT_SWITCHES)
    return "\n".join([*versions, *flags, *own])


def home() -> Path | None:
    """The directory of compiled kernels for the present state of the room; None to compile in memory only."""
    found = _home()
    return None if found is None else found.path


def _home() -> cache.Home | None:
    state = switches()
    if state not in _homes:
        found = None
        if _SOURCE is not None and _SOURCE == cache.room_digest(_ROOM):
            found, complaint = cache.find_home(cache.digest_of(_SOURCE, state))
            if complaint:
                _say_once(complaint)
        _homes[state] = found  # not before: another thread would find nothing
    return _homes[state]


def begin_ahead(name: str) -> bool:
    """Whether a kernel has not been compiled for the present state of the room, but would be kept if another process did so.

    If so, no other process is told the same until this one has ended, or calls `end_ahead`.
    """
    found = None if config.DISABLE_JIT or dumps is None else _home()
    if found is None or next(found.path.glob(f"{name}-*"), None) is not None:
        return False
    return cache.claim(found, f"{name} ahead") is not False


def end_ahead(name: str) -> None:
    """Let other processes begin what `begin_ahead` was asked about."""
    found = _home()
    if found is not None:
        cache.disclaim(found, f"{name} ahead")


def quiet_environment() -> dict[str, str]:
    """The environment of this process, for one that says nothing."""
    return {**os.environ, "WOODWIND_QUIET": "1"}


class KernelCache:
    """The cache of one kernel, with the methods that a Numba dispatcher calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self._name = function.__qualname__
        self._identity = (function.__module__, self._name, code.co_firstlineno, code.co_code.hex())

    @property
    def cache_path(self) -> str | None:
        """Where the files are; Numba shows it in its statistics."""
        directory = home()
        return None if directory is None else str(directory)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled function for these argument types, or None: then Numba compiles it."""
        _refuse_functions(self._name, signature)
        found, file = _home(), self._file(signature, context.codegen())
        result = None if found is None else _load(found, file, context) or _load_from_other(found, file, context)
        if result is None:
            _announce(found is not None)
        tally["compiled" if result is None else "loaded"] += 1
        return result

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled. Nothing that goes wrong here may reach the caller, who has a working kernel."""
        found = None
        try:
            found = _home()
            # The room may have been edited since this process imported it: never file old code under a new name.
            if found is not None and _is_keepable(result) and cache.room_digest(_ROOM) == _SOURCE:
                cache.write(found, self._file(signature, result.codegen), dumps((_symbols(result), result._reduce())))
        except Exception as error:  # noqa: BLE001 - a full disk, or a Numba whose parts have changed
            tally["unsaved"] += 1
            if found is not None and isinstance(error, (OSError, private.NotPrivateError)):
                why = getattr(error, "strerror", None) or error
                _say_once(f"compiled kernels cannot be kept in {found.path}: {why}. {_REMEDY}")

    def enable(self) -> None:
        """Always enabled."""

    def disable(self) -> None:
        """Always enabled."""

    def flush(self) -> None:
        """Nothing to do: the name of a file says what is in it."""

    def _file(self, signature: Any, codegen: Any) -> str:
        # The tuple of the code generator holds platform, CPU name and CPU features: a shared directory never mixes.
        return f"{self._name}-{cache.digest_of(*self._identity, _spell(signature), codegen.magic_tuple())}"


@contextmanager
def _claims() -> Iterator[None]:
    """Around the compiling of a kernel: whatever is claimed inside is let go of in the end, also if it cannot be compiled.

    No circle of processes can wait for one another: who has claimed a kernel waits for nothing but kernels that it calls.
    """
    global _claimed
    before, _claimed = _claimed, []
    try:
        yield
    finally:
        for found, file in _claimed:
            cache.disclaim(found, file)
        _claimed = before


def _load(found: cache.Home, file: str, context: Any) -> Any:
    payload = cache.read(found, file)
    if payload is None:
        return None
    try:
        return _rebuild(payload, context)
    except Exception:  # noqa: BLE001 - whatever is wrong with a file, the kernel can be compiled again
        return None


def _load_from_other(found: cache.Home, file: str, context: Any) -> Any:
    """What another process is compiling, when it is done; None if nobody is, or for too long: then it is compiled here."""
    if _claimed is None:
        return None
    until = time.monotonic() + LONGEST_WAIT
    while (mine := cache.claim(found, file)) is False:
        _say_once("waiting for another process, which is compiling kernels, first use only ...")
        time.sleep(_LOOK_AGAIN)
        result = _load(found, file, context)
        if result is not None:
            return result
        if time.monotonic() > until:
            _say_once(f"another process has been compiling for {LONGEST_WAIT:.0f} s: no longer waiting for it")
            return None
    if mine:
        _claimed.append((found, file))
        return _load(found, file, context)  # it may have been done between looking and claiming
    return None


def _spell(signature: Any) -> str:
    """The signature as text, with the field names of tuples, which Numba's own text leaves out."""
    return " ".join([str(signature), *(f"{t.instance_class} {t.fields}" for t in _named_tuples(_arguments(signature)))])


def _arguments(signature: Any) -> tuple[Any, ...]:
    return tuple(getattr(signature, "args", signature))


def _named_tuples(kinds: Iterable[Any]) -> Iterable[Any]:
    for kind in kinds:
        if isinstance(kind, types.BaseNamedTuple):
            yield kind
        if isinstance(kind, types.BaseTuple):
            yield from _named_tuples(kind)


def _refuse_functions(name: str, signature: Any) -> None:
    """A function among the arguments would make the kernel compile again in every process, for about a second."""
    if any(isinstance(kind, (types.Dispatcher, types.FunctionType)) for kind in _arguments(signature)):
        raise TypeError(f"kernel {name} was given a function: pass an integer switch, or call it between kernels")


def _can_keep(dispatcher: Any) -> bool:
    """Whether this version of Numba has the parts that the cache is made of. If not, memory is the safe place."""
    parts = ((CompileResult, "_reduce"), (CompileResult, "_rebuild"), (rtsys, "initialize"), (dispatcher, "_cache"))
    return dumps is not None and all(hasattr(owner, name) for owner, name in parts)


def _is_keepable(result: Any) -> bool:
    """Code that holds addresses of this process is of no use to another one."""
    return not result.library.has_dynamic_globals and all(part.can_cache for part in result.lifted)


def _symbols(result: Any) -> list[str]:
    """Names that the machine code expects to find in the process."""
    module = result.library._final_module
    parts = [*module.functions, *module.global_variables]
    return [part.name for part in parts if part.is_declaration and not part.name.startswith("llvm.")]


def _rebuild(payload: bytes, context: Any) -> Any:
    """Turn the content of a file into a function.

    Numba would first import everything that compiling could need, 0.4 s in each process. Loading needs its runtime
    only (0.03 s), unless the code names something that is not there yet.
    """
    rtsys.initialize(context)
    symbols, reduced = pickle.loads(payload)
    if any(llvmlite.binding.address_of_symbol(name) is None for name in symbols):
        context.refresh()
    return CompileResult._rebuild(context, *reduced)


def _announce(kept: bool) -> None:
    """Say once why the first call takes seconds."""
    if kept:
        _say_once("compiling kernels, first use only ...")
    else:
        _say_once(f"compiling kernels ... {_REMEDY}")


def _say_once(text: str) -> None:
    if text not in _told:
        _told.add(text)
        _say(text)


def _say(text: str) -> None:
    if os.environ.get("WOODWIND_QUIET", "0") in ("", "0") and sys.stderr is not None:
        sys.stderr.write(f"woodwind: {text}\n")
        sys.stderr.flush()


def read_only(x: Any) -> Any:
    """The array as kernels that only read it get it: one compiled signature serves those that must not be written to as well."""
    view = x.view()
    view.flags.writeable = False
    return view
