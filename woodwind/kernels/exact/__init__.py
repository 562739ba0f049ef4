"""The exact engine: every threshold is considered. Single trees, boosting without bins, trees for weighted rows.

Start with the slow twin, `tests/reference/naive_tree.py`; then `loop`.

    memory        the arrays that a tree is grown in, and the numbers of one growth
    loop          the loop and its tasks: lists of rows in the order of each feature
    nodes         nodes, their sums, their features, and their splits
    find_splits   the best split by one feature;   score   how good a split is
"""
