"""Two instructions that Numba has no word for: how many zeros stand below the lowest bit that is set, and how many bits are."""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:

    def lowest_bit(word: Any) -> int:
        """Place of the lowest bit of a word that is not zero."""
        whole = int(word)
        return (whole & -whole).bit_length() - 1

    def count_bits(word: Any) -> int:
        """How many bits of a word are set."""
        return int(word).bit_count()

else:

    @intrinsic
    def lowest_bit(_typing: Any, word: Any) -> Any:
        """Place of the lowest bit of a word that is not zero."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.uint64), code

    @intrinsic
    def count_bits(_typing: Any, word: Any) -> Any:
        """How many bits of a word are set."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), code
