"""One instruction that Numba has no word for: how many zeros stand below the lowest bit that is set."""

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:

    def lowest_bit(word: Any) -> int:
        """Place of the lowest bit of a word that is not zero."""
        whole = int(word)
        return (whole & -whole).bit_length() - 1

else:

    @intrinsic
    def lowest_bit(_typing: Any, word: Any) -> Any:
        """Place of the lowest bit of a word that is not zero."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.uint64), code
