"""What every kernel runs on: compiling, threads, memory, randomness.

jit             the decorators `kernel`, `inner` and `inlined`: the only way into Numba
numba_patches   what Numba does while it compiles, and kernels can do without
cache           files of compiled kernels: one process compiles, the others wait;   private   folders that are the user's own
intrinsics      instructions that Numba has no word for: prefetching and atomic integers
bits, simd      bits of a word, and comparisons of many numbers at once
team            a leader and helpers that share the work of one compiled call
keys            randomness by key: draws without replacement, rows drawn
gradient_sampling   rows drawn by the size of their derivatives
records         tables and arrays of a growing tree, read by name
"""
