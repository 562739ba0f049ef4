"""The histogram engine: gradient boosting on binned columns, with one or several outputs in a leaf.

Start with the slow twin, `tests/reference/naive_growth.py`; then `loop`.

    loop                the loop: what the leader decides between phases, and who does which task
    verbs               what a task does: build histograms, find splits, partition rows, collect leaves
    schedule            how the work of a phase is cut into tasks, and what is made of the outcome
    frontier, slots     which nodes next, and where their histograms are kept
    build_histograms    rows to histograms, by packed_row, sparse_rows and shared_bytes
    find_splits         histograms to splits, by scan and scan_float32;   symmetric   one split for a whole level
    partition_rows      rows to the left and right
    blocks              the three verbs alone, for a block of rows: a driver over shards calls them
    multi_output        histograms and splits where leaves have several outputs
    memory, layout      the arrays that a tree is grown in, and the switches and numbers of one growth
    tasks, pairs, finished   tables in that memory: tasks of a phase, nodes whose splits are looked for, the finished tree
    gradient_noise      noise for gradients;   stump   the stumps of AdaBoost
"""
