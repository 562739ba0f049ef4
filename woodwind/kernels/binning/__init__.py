"""Columns of numbers to bins, and of categories to numbers.

encode             cuts, and numbers to codes
counting_sketch    how often each number occurs, without sorting
target_statistics  sums of the target by category, of earlier rows and of all
"""
