"""The histogram engine: gradient boosting on binned columns, with one or several outputs in a leaf.

Start with the slow twin, `tests/reference/naive_growth.py`; then `loop`.

    loop                the loop: what the leader decides between phases, and who does which task
    verbs               what a task does: build histograms, find splits, partition rows, collect leaves
    schedule            how the work of a phase is cut into tasks, and what is made of the outcome
    frontier            which nodes next, and where their histograms are kept
    build_histograms    rows to histograms;   sparse_rows   of rows as lists of their uncommon cells
    find_splits         histograms to splits, by scan;   symmetric   one split for a whole level
    partition_rows      rows to the left and right
    shards              the same loop for a driver whose rows are in shards: its decisions, and what a block of rows is asked
    carried             what rows carry of their statistics, as it is sent to another process
    voting              which features a part of the rows would split by
    multi_output        histograms and splits where leaves have several outputs
    memory              the arrays that a tree is grown in, among them tables of tasks, of pairs of nodes, of the finished tree
    layout              how statistics are packed, and the numbers of one growth
    gradient_noise      noise for gradients;   stump   the stumps of AdaBoost
"""
