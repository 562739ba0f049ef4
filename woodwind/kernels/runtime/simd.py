"""Comparisons of many numbers at once: a word that says which of them pass, and sums of what passes.

Each stands twice, as LLVM instructions and as plain Python, like those of `intrinsics.py`. Vectors are as long as the answer; LLVM cuts
them into what the processor has.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

# Numbers that are compared at a time: those of a sum, and those of a word.
LANES = 64
WORD = 64

if config.DISABLE_JIT:

    def _sum_not_above(lanes: int) -> Any:
        """Make the function that sums in so many lanes."""

        def add_up(codes: Any, words: Any, size: Any, out: Any) -> None:
            for c in range(lanes):
                out[c] = sum(int(words[j]) for j in range(int(size)) if codes[j] <= codes[c])

        return add_up

    def bits_above_zero(array: Any, first: Any) -> Any:
        """Which of the 64 int64 numbers from `first` on are above zero: bit j for number first + j."""
        part = array[int(first) : int(first) + WORD]
        assert len(part) == WORD
        return np.uint64(sum(1 << j for j, number in enumerate(part) if number > 0))

else:
    _I32, _I64 = ir.IntType(32), ir.IntType(64)

    def _numbers(context: Any, builder: Any, array_type: Any, array: Any, first: Any, count: int) -> Any:
        """So many numbers of a flat array from one on, as a vector; no bounds check."""
        item = context.get_data_type(array_type.dtype)
        data = builder.gep(context.make_array(array_type)(context, builder, array).data, [first])
        return builder.load(builder.bitcast(data, ir.VectorType(item, count).as_pointer()), align=item.width // 8)

    def _sum_not_above(lanes: int) -> Any:
        """Make the function that sums in so many lanes; they become registers."""
        many = ir.VectorType(_I32, lanes)
        everywhere = ir.Constant(many, [0] * lanes)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            zero = ir.Constant(_I64, 0)

            def spread(number: Any) -> Any:
                one = builder.insert_element(ir.Constant(many, ir.Undefined), number, ir.Constant(_I32, 0))
                return builder.shuffle_vector(one, one, everywhere)

            def place(k: int, at: Any) -> Any:
                return builder.gep(context.make_array(signature.args[k])(context, builder, args[k]).data, [at])

            limits = _numbers(context, builder, signature.args[0], args[0], zero, lanes)
            sums = cgutils.alloca_once_value(builder, everywhere)
            with cgutils.for_range(builder, args[2]) as loop:
                below = builder.icmp_signed("<=", spread(builder.load(place(0, loop.index))), limits)
                added = builder.select(below, spread(builder.load(place(1, loop.index))), everywhere)
                builder.store(builder.add(builder.load(sums), added), sums)
            builder.store(builder.load(sums), builder.bitcast(place(3, zero), many.as_pointer()), align=4)
            return context.get_dummy_value()

        @intrinsic
        def add_up(_typing: Any, codes: Any, words: Any, size: Any, out: Any) -> Any:
            return types.void(codes, words, types.uint64, out), code

        return add_up

    @intrinsic
    def bits_above_zero(_typing: Any, array: Any, first: Any) -> Any:
        """Which of the 64 int64 numbers from `first` on are above zero: bit j for number first + j."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            numbers = _numbers(context, builder, signature.args[0], args[0], args[1], WORD)
            passed = builder.icmp_signed(">", numbers, ir.Constant(numbers.type, [0] * WORD))
            return builder.bitcast(passed, _I64)

        return types.uint64(array, types.uint64), code


# out[c], for so many codes, is the sum of the words of the first `size` whose code is not above code c; all of them int32.
sum_in_8_lanes = _sum_not_above(8)
sum_in_16_lanes = _sum_not_above(16)
sum_in_32_lanes = _sum_not_above(32)
sum_in_64_lanes = _sum_not_above(LANES)
