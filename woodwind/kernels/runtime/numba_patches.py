"""What Numba does while it compiles, and kernels can do without.

Nearly all of the time of compiling is spent in Numba's own Python. Some of that is for programs that kernels are not: see
docs/decisions/0010-lean-compiling.md for what each of these brings. Parts of Numba are replaced while a kernel is being compiled
and put back; the compiler lock is held, so nobody else compiles meanwhile. Where a version of Numba lacks a part, it is left alone.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numba.core import types

try:  # semi-private, all of it
    from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import PassManager
    from numba.core.cpu import CPUContext
    from numba.core.types.functions import BaseFunction
    from numba.core.typing.context import Context
except ImportError:  # pragma: no cover: every tested version has them
    CompilerBase = None


class Step(NamedTuple):
    """A method of Numba, and what stands in for it."""

    owner: Any
    name: str
    own: Any
    other: Any


# Passes for what no kernel has.
_UNUSED = frozenset((
    "WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "InlineInlinables", "FindLiterallyCalls",
    "LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads", "NopythonRewrites", "DumpParforDiagnostics",
))  # fmt: skip
# What makes an array inside of a kernel.
_MAKERS = frozenset(("empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "arange", "copy", "astype"))

_depth = 0
_known: dict[Any, Any] = {}
_loaded: set[Any] = set()


@contextmanager
def compiling() -> Iterator[None]:
    """Around the compiling of a kernel with everything that it calls; or around loading it."""
    global _depth
    collecting = gc.isenabled()
    # A tenth of the time went into looking for garbage among half a million things that are none.
    gc.disable()
    _depth += 1
    try:
        with _replaced(_ALWAYS if _depth == 1 else []):
            yield
    finally:
        _depth -= 1
        if _depth == 0:
            _known.clear()
            _loaded.clear()
        if collecting:
            gc.enable()


@contextmanager
def only_for_linking(light: bool) -> Iterator[None]:
    """While light, what is compiled is neither optimised nor turned into machine code by itself.

    Numba does both for every function and everything that it calls, and once more for each caller: for a kernel of a hundred
    inner functions that is most of the time. Whoever calls from Python gets all of it optimised, once, as a whole.
    """
    with _replaced(LIGHT if light else [step._replace(other=step.own) for step in LIGHT]):
        yield


@contextmanager
def _replaced(steps: list[Step]) -> Iterator[None]:
    before = [(step.owner, step.name, step.owner.__dict__[step.name]) for step in steps]
    for step in steps:
        setattr(step.owner, step.name, step.other)
    try:
        yield
    finally:
        for owner, name, method in before:
            setattr(owner, name, method)


def _steps(*wanted: tuple[Any, str, Any]) -> list[Step]:
    """The steps, each with Numba's own; none if any of them looks otherwise."""
    if any(name not in getattr(owner, "__dict__", {}) for owner, name, _other in wanted):
        return []
    return [Step(owner, name, owner.__dict__[name], other) for owner, name, other in wanted]


def _leave_unoptimised(_library: Any, _module: Any = None) -> None:
    """In place of optimising a library, or the functions of a module."""


def _leave_without_code(library: Any) -> None:
    """In place of making machine code of a library: it can be linked, which is all that is wanted of it."""
    library._finalize_dynamic_globals()
    library._verify_declare_only_symbols()
    library._finalized = True


def _leave_without_environment(_codegen: Any, _name: str, _environment: Any) -> None:
    """In place of telling machine code where its constants are: there is none, and kernels have none."""


def _remember(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The type of a call. Each is asked for some three times by each of a hundred functions, and mostly it is the sum of two integers."""
    key = (function, context, args, tuple(kws.items()))
    if key not in _known:
        _known[key] = _own_get_call_type(function, context, args, kws)
    return _known[key]


def _holds_array(kind: Any) -> bool:
    return isinstance(kind, types.Array) or (isinstance(kind, types.BaseTuple) and any(map(_holds_array, kind)))


def _load_once(own: Any) -> Any:
    """Registries are imported once; then only what was added to them is taken in, as every new intrinsic is.

    Numba would go through forty imports whenever it meets something new.
    """

    def load(context: Any) -> None:
        known = context._registries  # shared by all contexts that were derived from one
        if (own, id(known)) not in _loaded:
            _loaded.add((own, id(known)))
            own(context)
        for registry in tuple(known):
            context.install_registry(registry)

    return load


if CompilerBase is None:
    LIGHT: list[Step] = []
    _ALWAYS: list[Step] = []
    COMPILER: dict[str, Any] = {}
else:
    LIGHT = _steps(
        (CPUCodeLibrary, "_optimize_final_module", _leave_unoptimised),
        (CPUCodeLibrary, "_finalize_final_module", _leave_without_code),
        (JITCPUCodegen, "set_env", _leave_without_environment),
    )
    _own_get_call_type = BaseFunction.__dict__["get_call_type"]
    _ALWAYS = _steps(
        (BaseFunction, "get_call_type", _remember),
        (CPUContext, "load_additional_registries", _load_once(CPUContext.__dict__["load_additional_registries"])),
        (Context, "load_additional_registries", _load_once(Context.__dict__["load_additional_registries"])),
    )

    class LeanCompiler(CompilerBase):  # type: ignore[misc]
        """Numba's pipeline without what no kernel needs: closures, comprehensions, `with`, raising, expressions of whole arrays."""

        def compile_extra(self, func: Any) -> Any:
            """Compile a function, and see that no array comes back."""
            result = super().compile_extra(func)
            if _holds_array(result.signature.return_type):
                raise TypeError(f"{func.__qualname__} returns an array: outputs are passed in")
            return result

        def define_pipelines(self) -> list[Any]:
            """The passes that are left."""
            whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
            lean = PassManager("nopython")
            lean.passes.extend(entry for entry in whole.passes if entry[0].__name__ not in _UNUSED)
            lean.finalize()
            return [lean]

    COMPILER = {"pipeline_class": LeanCompiler}


def options(function: Any) -> dict[str, Any]:
    """Numba's options for a function.

    References to arrays are counted only where arrays are made: elsewhere they are all somebody else's, and the counting was
    a tenth of the time of compiling. Hence no function here may hand an array back.
    """
    makes_arrays = not _MAKERS.isdisjoint(function.__code__.co_names)
    return {"nogil": True, "error_model": "numpy", **({"_nrt": makes_arrays, **COMPILER} if COMPILER else {})}
