"""Rows through finished trees.

walk                    trees of any kind, many rows side by side;   walk_codes   on bins;   walk_ranks   on ranks
questions, question_plan   many rows through many trees, by asking each question once for all rows
forest_walk, forest_partitioned   compact forests: row by row, or all rows at once
forest_quantiles        quantiles of the targets in the leaves of a forest
shap                    SHAP values of trees
"""
