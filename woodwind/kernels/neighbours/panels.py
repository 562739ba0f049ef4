"""Products of a few queries with a panel of rows, in registers from the first column to the last.

Numba's loops over rows load and store every sum once for some columns; here sixteen rows by four queries are eight vectors of eight that
stay where they are until the last column: 41 instead of 27 thousand million multiplications a second, of some 50 that the processor has.
What stands here stands twice: as LLVM instructions, and as plain Python for runs with the compiler off. LLVM has vectors of eight on every
processor, and makes two of four of them where there are no longer ones; where there are vectors of sixteen, four of these take their place.
Products and sums are one instruction where there is one for both: it rounds once instead of twice, and what is proven by these values holds
for either.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

# Rows of a panel, and queries that are multiplied with it at a time.
PANEL, FOUR = 16, 4
# Bits of a word, and groups that rows are dealt out to: row i belongs to group i % WORD.
WORD = 64

if config.DISABLE_JIT:

    def fill_panel(asking: Any, panels: Any, panel: int, values: Any, place: int, least: Any) -> None:
        """Values of four queries for the rows of a panel; groups keep the least of theirs."""
        rows = panels[panel].reshape(-1, PANEL)
        found = rows[0] + asking.reshape(-1, FOUR).T @ rows[1:]
        group = place % WORD
        values[:, place : place + PANEL] = found
        least[:, group : group + PANEL] = np.minimum(least[:, group : group + PANEL], found)

    def word_below(values: Any, place: int, limit: Any) -> Any:
        """Which of the values from a place on are at or below a limit."""
        return np.uint64(sum(1 << int(bit) for bit in np.flatnonzero(values[place : place + WORD] <= limit)))

else:
    _LANES = 16 if get_host_cpu_features().get("avx512f", False) else 8
    _I32, _I64 = ir.IntType(32), ir.IntType(64)
    _VECTOR = ir.VectorType(ir.FloatType(), _LANES)

    def _number(value: int) -> Any:
        return ir.Constant(_I64, value)

    def _address(builder: Any, data: Any, place: Any) -> Any:
        return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())

    def _load(builder: Any, data: Any, place: Any) -> Any:
        """The numbers of a vector."""
        return builder.load(_address(builder, data, place), align=4)

    def _repeated(builder: Any, number: Any) -> Any:
        """One number in all places of a vector."""
        anything = ir.Constant(_VECTOR, ir.Undefined)
        one = builder.insert_element(anything, number, ir.Constant(_I32, 0))
        return builder.shuffle_vector(one, anything, ir.Constant(ir.VectorType(_I32, _LANES), [0] * _LANES))

    def _products(builder: Any, asking: Any, panel: Any, depth: Any) -> list[list[Any]]:
        """The vectors of values for each of the four queries."""
        sums = [[cgutils.alloca_once(builder, _VECTOR) for _ in range(PANEL // _LANES)] for _ in range(FOUR)]
        for half in range(PANEL // _LANES):
            start = _load(builder, panel, _number(half * _LANES))
            for query in range(FOUR):
                builder.store(start, sums[query][half])
        shape = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        multiply_add = cgutils.get_or_insert_function(builder.module, shape, f"llvm.fmuladd.v{_LANES}f32")
        with cgutils.for_range(builder, depth) as loop:
            column = builder.mul(builder.add(loop.index, _number(1)), _number(PANEL))
            rows = [_load(builder, panel, builder.add(column, _number(half * _LANES))) for half in range(PANEL // _LANES)]
            for query in range(FOUR):
                place = builder.add(builder.mul(loop.index, _number(FOUR)), _number(query))
                factor = _repeated(builder, builder.load(builder.gep(asking, [place])))
                for half, some in enumerate(rows):
                    one = sums[query][half]
                    builder.store(builder.call(multiply_add, [factor, some, builder.load(one)]), one)
        return [[builder.load(one) for one in of_query] for of_query in sums]

    def _array(context: Any, builder: Any, signature: Any, args: Any, k: int) -> tuple[Any, Any]:
        """The address of an argument that is an array, and how long its last axis is."""
        whole = context.make_array(signature.args[k])(context, builder, args[k])
        return whole.data, cgutils.unpack_tuple(builder, whole.shape)[-1]

    @intrinsic
    def fill_panel(_typing: Any, asking: Any, panels: Any, panel: Any, values: Any, place: Any, least: Any) -> Any:
        """Values of four queries for the rows of a panel; groups keep the least of theirs. No bounds check.

        asking float32[4 D]: of each column the numbers of four queries; panels float32[p, 16 (D + 1)]: what the sums of sixteen rows begin
        with, then of each column their numbers; values float32[4, n] are written from `place` on; least float32[4, 64].
        """

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            asking, width = _array(context, builder, signature, args, 0)
            panels, height = _array(context, builder, signature, args, 1)
            values, length = _array(context, builder, signature, args, 3)
            least, _ = _array(context, builder, signature, args, 5)
            panel, place = (context.cast(builder, args[k], signature.args[k], types.int64) for k in (2, 4))
            panels = builder.gep(panels, [builder.mul(panel, height)])
            group = builder.and_(place, _number(WORD - 1))
            for query, sums in enumerate(_products(builder, asking, panels, builder.sdiv(width, _number(FOUR)))):
                row = builder.add(place, builder.mul(length, _number(query)))
                for half, found in enumerate(sums):
                    target = _address(builder, least, builder.add(group, _number(query * WORD + half * _LANES)))
                    # Read before another number is written: else LLVM makes one masked store of reading, comparing and writing, and some
                    # processors take fifty times as long for that. It doubled the time of a search.
                    before = builder.load(target, align=4)
                    builder.store(found, _address(builder, values, builder.add(row, _number(half * _LANES))), align=4)
                    builder.store(builder.select(builder.fcmp_ordered("<", found, before), found, before), target, align=4)
            return context.get_dummy_value()

        return types.void(asking, panels, panel, values, place, least), code

    @intrinsic
    def word_below(_typing: Any, values: Any, place: Any, limit: Any) -> Any:
        """Which of the 64 values float32[n] from a place on are at or below a limit: the bits of a word. No bounds check."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values, _ = _array(context, builder, signature, args, 0)
            place = context.cast(builder, args[1], signature.args[1], types.int64)
            limit = _repeated(builder, args[2])
            word = _number(0)
            for first in range(0, WORD, _LANES):
                some = _load(builder, values, builder.add(place, _number(first)))
                below = builder.bitcast(builder.fcmp_ordered("<=", some, limit), ir.IntType(_LANES))
                word = builder.or_(word, builder.shl(builder.zext(below, _I64), _number(first)))
            return word

        return types.uint64(values, place, types.float32), code
