"""What every package may use: errors, fixed point, random streams by key, the thread pool. Imports NumPy only.

Inside:

    atomic          Writing a file so that whoever looks sees the old one or the new one, never a part of either
    city_hash       CityHash64 in its first version: the hash by which CatBoost knows categories
    did_you_mean    Did you mean: the names that may have been meant by one that is not there
    docstrings      Docstrings that share texts: a line that is a name in braces stands for a text that is written once
    errors          The exceptions and warnings of Woodwind
    file_endings    Endings of file names: what somebody who sees one will take the file for
    fixed           Fixed point: sums of floats that do not depend on the order of the rows
    formatting      Numbers, times and texts as people read them
    lock            A lock file: one owner at a time, who is named in it
    mapped          Mapped arrays: in a file without a name, which the system keeps in memory as far as there is room
    notice          Warnings that point at the line of the user, however deep in the package they arise; and lines on standard error
    pool            The one pool of threads: made on first use, dropped in a forked child
    random_streams  Randomness by key: every draw is a hash of (seed, what it is for, item number)
    scratch         Scratch: memory straight from the system for work that is soon over
    validate        Validation: what a model must hold to before anybody walks through it
"""
