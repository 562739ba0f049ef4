"""What Numba has no word for: prefetching and atomic integers.

Each stands twice: as LLVM instructions, and as plain Python for runs with the compiler off (one thread only).
All of them exist on every processor that LLVM knows; a prefetch is a hint that may be ignored.
"""

import os
import platform
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from woodwind.kernels.runtime.jit import inner

_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_BYTES = ir.IntType(8).as_pointer()
# What tells the core of a processor that this thread is waiting.
_X86, _ARM = ("llvm.x86.sse2.pause", ()), ("llvm.aarch64.hint", (1,))
_PAUSES: dict[str, tuple[str, tuple[int, ...]]] = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}


def _element(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Address of one element of a flat array; no bounds check, no wrap-around."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


if config.DISABLE_JIT:

    def prefetch(array: Any, index: Any) -> None:
        """Ask for the cache line of array[index]: nothing to do without the compiler."""

    def prefetch_far(array: Any, index: Any) -> None:
        """Ask for it in the second-level cache: nothing to do without the compiler."""

    def add_four(out: Any, at: Any, values: Any, first: Any) -> None:
        """Add four neighbouring int32 values to four others."""
        for k in range(4):
            out[at + k] += values[first + k]

    def copy_four(out: Any, at: Any, values: Any, first: Any) -> None:
        """Copy four neighbouring int32 values over four others."""
        for k in range(4):
            out[at + k] = values[first + k]

    def atomic_load(array: Any, index: int) -> int:
        """Read array[index] as other threads left it."""
        return int(array[index])

    def atomic_store(array: Any, index: int, value: int) -> None:
        """Write array[index] after everything written before."""
        array[index] = value

    def atomic_add(array: Any, index: int, value: int) -> int:
        """Add to array[index]; returns the value before."""
        before = int(array[index])
        array[index] = before + value
        return before

    def atomic_swap_if(array: Any, index: int, expected: int, value: int) -> bool:
        """Replace array[index] if it still has the expected value; says whether it had."""
        if array[index] != expected:
            return False
        array[index] = value
        return True

    def catch_breath() -> None:
        """Leave the core to its other half for a moment: nothing to do without threads."""

    def let_others_run() -> None:
        """Give the processor to another thread: nothing to do without threads."""

else:

    def _prefetch(keep: int) -> Any:
        """Make the code that asks for a line; `keep` from 3 (in the first-level cache) down to 1 (in the last)."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = builder.bitcast(_element(context, builder, signature.args[0], args[0], args[1]), _BYTES)
            shape = ir.FunctionType(ir.VoidType(), [_BYTES, _I32, _I32, _I32])
            name = "llvm.prefetch.p0"
            function = builder.module.globals.get(name) or ir.Function(builder.module, shape, name)
            builder.call(function, [place, *(ir.Constant(_I32, number) for number in (0, keep, 1))])
            return context.get_dummy_value()

        return code

    @intrinsic
    def prefetch(_typing: Any, array: Any, index: Any) -> Any:
        """Ask for the cache line of array[index] before it is needed."""
        return types.void(array, index), _prefetch(3)

    @intrinsic
    def prefetch_far(_typing: Any, array: Any, index: Any) -> Any:
        """Ask for it in the second-level cache: what is to stay in the first is not driven out, and does not wait for it."""
        return types.void(array, index), _prefetch(2)

    def _fours(context: Any, builder: Any, signature: Any, args: Any) -> tuple[Any, Any]:
        """Addresses of the four values to be written and of the four to be read."""
        four = ir.VectorType(_I32, 4).as_pointer()
        places = (_element(context, builder, signature.args[k], args[k], args[k + 1]) for k in (0, 2))
        target, source = (builder.bitcast(place, four) for place in places)
        return target, source

    @intrinsic
    def copy_four(_typing: Any, out: Any, at: Any, values: Any, first: Any) -> Any:
        """Copy four neighbouring int32 values over four others: one load and one store on any vector unit."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            target, source = _fours(context, builder, signature, args)
            builder.store(builder.load(source, align=4), target, align=4)
            return context.get_dummy_value()

        return types.void(out, at, values, first), code

    @intrinsic
    def add_four(_typing: Any, out: Any, at: Any, values: Any, first: Any) -> Any:
        """Add four neighbouring int32 values to four others: one load, one addition and one store on any vector unit."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            target, source = _fours(context, builder, signature, args)
            old, new = builder.load(target, align=4), builder.load(source, align=4)
            builder.store(builder.add(old, new), target, align=4)
            return context.get_dummy_value()

        return types.void(out, at, values, first), code

    @intrinsic
    def atomic_load(_typing: Any, array: Any, index: Any) -> Any:
        """Read array[index] as other threads left it."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _element(context, builder, signature.args[0], args[0], args[1])
            return builder.load_atomic(place, "acquire", 8)

        return types.int64(array, index), code

    @intrinsic
    def atomic_store(_typing: Any, array: Any, index: Any, value: Any) -> Any:
        """Write array[index] after everything written before."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _element(context, builder, signature.args[0], args[0], args[1])
            builder.store_atomic(args[2], place, "release", 8)
            return context.get_dummy_value()

        return types.void(array, index, types.int64), code

    @intrinsic
    def atomic_add(_typing: Any, array: Any, index: Any, value: Any) -> Any:
        """Add to array[index]; returns the value before."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _element(context, builder, signature.args[0], args[0], args[1])
            return builder.atomic_rmw("add", place, args[2], "acq_rel")

        return types.int64(array, index, types.int64), code

    @intrinsic
    def atomic_swap_if(_typing: Any, array: Any, index: Any, expected: Any, value: Any) -> Any:
        """Replace array[index] if it still has the expected value; says whether it had."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = _element(context, builder, signature.args[0], args[0], args[1])
            outcome = builder.cmpxchg(place, args[2], args[3], "acq_rel", "acquire")
            return builder.extract_value(outcome, 1)

        return types.boolean(array, index, types.int64, types.int64), code

    @intrinsic
    def catch_breath(_typing: Any) -> Any:
        """Leave the core to its other half for a moment: two processors are often one core, and who waits there slows who works."""

        def code(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
            machine = platform.machine().lower()
            if machine in _PAUSES:
                name, numbers = _PAUSES[machine]
                shape = ir.FunctionType(ir.VoidType(), [_I32] * len(numbers))
                pause = cgutils.get_or_insert_function(builder.module, shape, name)
                builder.call(pause, [ir.Constant(_I32, number) for number in numbers])
            return context.get_dummy_value()

        return types.void(), code

    if os.name == "posix":
        _sched_yield = types.ExternalFunction("sched_yield", types.int32())

        @inner
        def let_others_run() -> None:
            """Give the processor to another thread."""
            _sched_yield()

    else:

        @inner
        def let_others_run() -> None:
            """Give the processor to another thread: left to the operating system's time slices here."""
