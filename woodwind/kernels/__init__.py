"""The compiled loops. The only package that imports Numba; it imports nothing of ours but its own files.

    runtime      compiling, threads, memory, randomness
    tree         what the three engines that grow trees share
    histogram    gradient boosting on bins
    exact        every threshold: single trees, boosting without bins
    forest       random forests and extra-trees
    predict      rows through finished trees
    losses       derivatives and sums of losses
    binning      numbers to bins
    neighbours   nearest rows

The contract of a kernel:

1. Arrays in, arrays out; outputs are passed in and named `out_...`; the docstring gives shape and dtype of each.
   No array is returned, not even to another kernel: references to arrays are counted only where arrays are made.
   What grows a tree takes the memory of the tree instead, one array of addresses, and reads it by name with the functions that
   `runtime/records.py` makes: `tree/memory.py` declares what all engines have, `memory.py` of an engine what is its own.
2. No estimator, loss object, frame, string or random generator. Settings come as one `NamedTuple` of numbers,
   randomness as a key.
3. No function is passed in or closed over: choice is an integer switch. A function argument would compile again
   in every process, for about a second; `runtime/jit.py` refuses it.
4. Absent things are `None`, which Numba compiles away: one source, one signature for each case.
5. Every kernel is made by `kernel` of `runtime/jit.py`: the interpreter lock released, no `parallel`, no `fastmath`,
   Woodwind's own cache. A function that only kernels call is `inner`, or `inlined` where it is a few instructions: it has no
   entrance from Python, which is most of the work of compiling a small function. A kernel calls nothing outside of this
   package, because the cache is keyed by its files.
6. Statistics are integers, so that sums may be taken in any order. Floats appear only in scores, gains and leaf
   values, in a fixed order.
7. At most eight arguments; above that a tuple is missing.
8. What a kernel computes is written once more in `tests/reference`, slowly and to be read; tests hold the two together.
9. No explicit signatures: if a type must be forced, it is forced in the body, with the reason.
10. A variant for one kind of CPU is a second function, chosen in Python; the portable one is its oracle.
11. Loops, not array methods: a kernel that calls `x.sum()` makes every new process import Numba's array library
    before it can be loaded (0.15 s instead of 0.003 s).
"""
