"""What every kernel runs on: compiling, threads, memory, randomness.

jit             the decorators `kernel`, `inner` and `inlined`: the only way into Numba
numba_patches   what Numba does while it compiles, and kernels can do without
cache           files of compiled kernels;   private   folders that are the user's own;   locks   one process compiles, the others wait
intrinsics      instructions that Numba has no word for: prefetching and atomic integers
records         the memory that a tree is grown in, read by name
bits, simd      bits of a word, and comparisons of many numbers at once
team            a leader and helpers that share the work of one compiled call
keys            randomness by key;   resampling   rows drawn by key;   gradient_sampling   rows drawn by the size of their derivatives
records         tables and arrays of a growing tree, read by name
"""
