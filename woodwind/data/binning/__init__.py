"""Columns as small integers: sketches, cuts, ranks and codes.

Inside:

    bundles          Bundles: columns of stored cells that share a byte, because they are never stored in the same row, or hardly ever
    codes            Codes: a table as small integers, one byte each, row after row
    counting_sketch  Columns of many rows are summarised by counting: bit for bit what `Sketch.of` and `merge` give, without a sort
    cuts             Cuts: where the numbers of each feature are divided into bins, and the encoding of a table by them
    forest_codes     Forest codes: a table in two grains at once, for forests
    quantile_sketch  The weighted quantile sketch of XGBoost: bounds on ranks that hold however parts are merged and pruned
    ranks            Ranks: exact codes, one for each distinct value, and the rows of every feature in their order
    sketch           A summary of one column from which its cuts are taken: it adds, and it does not depend on how the rows were split
    sparse_codes     Sparse codes: a table of stored cells as small integers. What is not stored takes neither memory nor time
    sparse_cuts      Sparse cuts: where the stored numbers of each column of a sparse matrix are divided into bins, and their codes
"""
