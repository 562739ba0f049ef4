"""Growing one tree along five axes, and the frozen arrays that remain of it.

Inside:

    assemble               Grown trees to a forest: codes become thresholds, categories become sets
    cart                   Single trees: classification and regression trees of their own (Breiman, Friedman, Olshen & Stone 1984)
    code_layouts           How codes are laid out for growing trees: lists of uncommon cells, columns in one piece, shared bytes
    compact_forest         The model of a forest: trees in as few bytes as they need, in the form in which they are walked
    compact_forest_grower  Grow the trees of a forest: what one compiled call needs, and what it leaves behind
    compact_forest_parts   Some trees of a CompactForest as a CompactForest of their own, in which a tree may come several times
    exact_grower           Grow trees that consider every threshold, from ranks and wide integer statistics; an affair of one process
    forest                 The model: trees as frozen flat arrays that predict, slice, join and validate themselves
    gradient_noise         How much gradients are disturbed while splits are looked for; kernels/histogram/gradient_noise.py does it
    grown_tree             A tree as it was grown, what remains when some of its splits go, and the tree with the values of its leaves
    histogram_grower       Grow one tree from coded rows and their integer statistics
    leaf_targets           The training targets of the leaves of a forest, for quantiles of its predictions
    linear_leaves          Leaves that are linear in the numbers of their path: docs/algorithms/linear-leaves.md
    predictor              Scores from a forest: which kernel gets which rows, and the forest in the form that each of them wants
    prune                  Minimal cost-complexity pruning: Breiman, Friedman, Olshen & Stone 1984, chapter 3
    question_plan          The plan of questions: which nodes of a forest are asked, by which codes, and what stands at each place
    sampled_columns        Trees that see few columns of a wide table: the columns of each tree are copied together before it is grown
    settings               How a tree is to be grown, in the words of the engine: numbers and arrays, all decided
    shap                   What each feature brings to the score of each row: exact Shapley values of forests, docs/algorithms/tree-shap.md
    shap_result            Explanation: what each column of a table brings to the score of each row, to be read, added up and drawn
    small_table_walk       Rows to leaves in one tree of a forest, for so few rows that a compiled plan would take longer
    stump                  The best stump of weighted classes, found again and again on one coded table while the weights change
    text                   Trees for readers and for other programs: one tree as text, every node as a row of a table, all trees as JSON
    workspace              The memory that trees are grown in: made once per training, used again for every tree
"""
