"""The forest engine: one thread grows a whole tree. Random forests and extra-trees.

Start with the slow twin, `tests/reference/naive_forest.py`; then `loop`.

    memory, layout  the arrays that a tree is grown in, and the numbers of one growth
    loop            the loop, and the split of a node
    nodes           nodes and their rows
    order           the rows of a node in the order of a feature;   sort   how they are sorted
    find_splits     the best split by one feature;   score   how good a split is;   best   the best so far
    random_splits   one random threshold (extra-trees)
    medians         absolute error about the weighted median
    several         several targets at once
    split_few_rows, split_64_rows   small nodes, without sorting
    emit            the finished tree
"""
