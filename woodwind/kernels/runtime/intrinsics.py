"""What Numba has no word for: prefetching and atomic integers.

Each stands twice: as LLVM instructions, and as plain Python for runs with the compiler off (one thread only).
All of them exist on every processor that LLVM knows; a prefetch is a hint that may be ignored.
"""

import ctypes
import os
import platform
from typing import Any

import numpy as np
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

    def _not_negative(place: int) -> int:
        """Compiled code does not count from the end: neither may this."""
        if place < 0:
            raise IndexError(f"place {place} of an array in a directory")
        return place

    def prefetch(array: Any, index: Any) -> None:
        """Ask for the cache line of array[index]: nothing to do without the compiler."""

    def prefetch_far(array: Any, index: Any) -> None:
        """Ask for it in the second-level cache: nothing to do without the compiler."""

    def _view(dtype: type, flat: bool) -> Any:
        """Make the function that looks an array up in a directory."""

        def look_up(directory: Any, entry: int) -> Any:
            address, rows, columns = (int(number) for number in directory[3 * entry : 3 * entry + 3])
            shape = (rows,) if flat else (rows, columns)
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            memory: Any = (ctypes.c_char * size).from_address(address)
            return np.frombuffer(memory, dtype).reshape(shape)

        return look_up

    def int_row(directory: Any, entry: int, row: int) -> Any:
        """One row of an int64 array in a directory."""
        return _view(np.int64, False)(directory, entry)[_not_negative(row)]

    def int_part(directory: Any, entry: int, which: int, length: int) -> Any:
        """One of the parts of equal length of an int64 list in a directory."""
        return _view(np.int64, True)(directory, entry)[_not_negative(which) * length : (which + 1) * length]

    def _element_of(dtype: type, flat: bool = False) -> Any:
        """Make the functions that read and write one element of an array in a directory."""
        look_up = _view(dtype, flat)

        def read_listed(directory: Any, entry: int, place: int) -> Any:
            return look_up(directory, entry)[_not_negative(place)]

        def write_listed(directory: Any, entry: int, place: int, value: Any) -> None:
            look_up(directory, entry)[_not_negative(place)] = value

        def read(directory: Any, entry: int, row: int, column: int) -> Any:
            return look_up(directory, entry)[_not_negative(row), _not_negative(column)]

        def write(directory: Any, entry: int, row: int, column: int, value: Any) -> None:
            look_up(directory, entry)[_not_negative(row), _not_negative(column)] = value

        return (read_listed, write_listed) if flat else (read, write)

    def add_four(out: Any, at: Any, values: Any, first: Any) -> None:
        """Add four neighbouring int32 values to four others."""
        for k in range(4):
            out[at + k] += values[first + k]

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

    def _wide(context: Any, builder: Any, signature: Any, args: Any, k: int) -> Any:
        """An argument as a 64-bit integer."""
        return context.cast(builder, args[k], signature.args[k], types.int64)

    def _listed(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
        """What a directory, the first argument, says of an entry, the second: address, rows, columns."""
        start = builder.mul(_wide(context, builder, signature, args, 1), ir.Constant(_I64, 3))
        first = _element(context, builder, signature.args[0], args[0], start)
        return [builder.load(builder.gep(first, [ir.Constant(_I64, k)])) for k in range(3)]

    def _array_at(context: Any, builder: Any, array_type: Any, address: Any, shape: Any, strides: Any) -> Any:
        """An array that nobody owns. Numba's own function for this comes with its array library: 0.04 s in every process."""
        out = context.make_array(array_type)(context, builder)  # what is not set here is zero
        out.data, out.itemsize = builder.inttoptr(address, out.data.type), strides[-1]
        out.shape, out.strides = cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides)
        out.nitems = shape[0] if len(shape) == 1 else builder.mul(*shape)
        return out._getvalue()

    def _part_of_list(context: Any, builder: Any, address: Any, which: Any, length: Any) -> Any:
        size = ir.Constant(_I64, 8)
        address = builder.add(address, builder.mul(builder.mul(which, length), size))
        return _array_at(context, builder, types.Array(types.int64, 1, "C"), address, [length], [size])

    @intrinsic
    def int_row(_typing: Any, directory: Any, entry: Any, row: Any) -> Any:
        """One row of an int64 array in a directory; no bounds check."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address, _rows, columns = _listed(context, builder, signature, args)
            return _part_of_list(context, builder, address, _wide(context, builder, signature, args, 2), columns)

        return types.Array(types.int64, 1, "C")(directory, entry, row), code

    @intrinsic
    def int_part(_typing: Any, directory: Any, entry: Any, which: Any, length: Any) -> Any:
        """One of the parts of equal length of an int64 list in a directory; no bounds check."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            which, length = (_wide(context, builder, signature, args, k) for k in (2, 3))
            return _part_of_list(context, builder, _listed(context, builder, signature, args)[0], which, length)

        return types.Array(types.int64, 1, "C")(directory, entry, which, length), code

    def _view(dtype: type, flat: bool) -> Any:
        """Make the function that looks an array up in a directory: no reference is counted, nothing is copied."""
        item = types.boolean if dtype is np.bool_ else getattr(types, np.dtype(dtype).name)
        array_type = types.Array(item, 1 if flat else 2, "C")
        size = np.dtype(dtype).itemsize

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address, rows, columns = _listed(context, builder, signature, args)
            shape = [rows] if flat else [rows, columns]
            strides = [ir.Constant(_I64, size)] if flat else [builder.mul(columns, ir.Constant(_I64, size)), ir.Constant(_I64, size)]
            return _array_at(context, builder, array_type, address, shape, strides)

        @intrinsic
        def look_up(_typing: Any, directory: Any, entry: Any) -> Any:
            return array_type(directory, entry), code

        return look_up

    def _element_of(dtype: type, flat: bool = False) -> Any:
        """Make the functions that read and write one element of an array in a directory; no bounds check."""
        item = getattr(types, np.dtype(dtype).name)

        def place_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            start = builder.mul(_wide(context, builder, signature, args, 1), ir.Constant(_I64, 3))
            first = _element(context, builder, signature.args[0], args[0], start)
            address = builder.load(first)
            offset = _wide(context, builder, signature, args, 2)
            if not flat:
                columns = builder.load(builder.gep(first, [ir.Constant(_I64, 2)]))
                offset = builder.add(builder.mul(offset, columns), _wide(context, builder, signature, args, 3))
            data = builder.inttoptr(address, context.get_data_type(item).as_pointer())
            return builder.gep(data, [offset])

        def read_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load(place_of(context, builder, signature, args))

        def write_code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[-1], place_of(context, builder, signature, args))
            return context.get_dummy_value()

        if flat:

            @intrinsic
            def read(_typing: Any, directory: Any, entry: Any, place: Any) -> Any:
                return item(directory, entry, place), read_code

            @intrinsic
            def write(_typing: Any, directory: Any, entry: Any, place: Any, value: Any) -> Any:
                return types.void(directory, entry, place, item), write_code

            return read, write

        @intrinsic
        def read_at(_typing: Any, directory: Any, entry: Any, row: Any, column: Any) -> Any:
            return item(directory, entry, row, column), read_code

        @intrinsic
        def write_at(_typing: Any, directory: Any, entry: Any, row: Any, column: Any, value: Any) -> Any:
            return types.void(directory, entry, row, column, item), write_code

        return read_at, write_at

    @intrinsic
    def add_four(_typing: Any, out: Any, at: Any, values: Any, first: Any) -> Any:
        """Add four neighbouring int32 values to four others: one load, one addition and one store on any vector unit."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            four = ir.VectorType(_I32, 4).as_pointer()
            target = builder.bitcast(_element(context, builder, signature.args[0], args[0], args[1]), four)
            source = builder.bitcast(_element(context, builder, signature.args[2], args[2], args[3]), four)
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


# Arrays found by their number in a directory of (address, rows, columns): see kernels/histogram/memory.py.
ints = _view(np.int64, flat=False)
floats = _view(np.float64, flat=False)
bytes_in = _view(np.uint8, flat=False)
words_in = _view(np.uint64, flat=False)
lanes_in = _view(np.int32, flat=False)
halves_in = _view(np.float32, flat=False)
int_list = _view(np.int64, flat=True)
byte_list = _view(np.uint8, flat=True)
word_list = _view(np.uint64, flat=True)
row_list = _view(np.int32, flat=True)
short_list = _view(np.uint16, flat=True)

# One element of such an array, by row and column, read or written: a fifth of the instructions of looking the array up,
# and so a fifth of the time that compiling it takes.
get_int, put_int = _element_of(np.int64)
get_float, put_float = _element_of(np.float64)
get_byte, put_byte = _element_of(np.uint8)
get_word, put_word = _element_of(np.uint64)
get_listed, put_listed = _element_of(np.int64, flat=True)
