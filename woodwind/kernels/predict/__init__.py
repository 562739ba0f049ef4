"""Rows through finished trees.

walk                    trees of any kind, many rows side by side;   walk_codes   on bins;   walk_ranks   on ranks
question_plan           a tree as questions that are asked of all rows at once;   questions   many rows through many trees by them
forest_walk, forest_partitioned   compact forests: row by row, or all rows at once
forest_quantiles        quantiles of the targets in the leaves of a forest
shap                    SHAP values of trees
"""
