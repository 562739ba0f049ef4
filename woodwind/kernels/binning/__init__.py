"""Columns of numbers to bins, and of categories to numbers.

encode             cuts, and numbers to codes
counting_sketch    how often each number occurs, without sorting
candidates         quantiles of presorted columns, weighted by rows, and codes by them
bundles            which columns of stored cells share a byte
sparse_columns     columns of stored cells to cuts and to codes
sparse_cells       lists of coded cells: some lines, and from columns to rows
target_statistics  sums of the target by category, of earlier rows and of all
"""
