"""Checks of data quality: what is suspicious about a table before anything is trained on it.

Inside:

    column_checks  Suspicions about columns and rows, whatever the target: each kind is a function of what is seen
    suspicions     What is suspicious about a table: things that make a model look better than it is, or worse than it could be
    target_checks  Suspicions about the target, and about columns that know too much of it
    text_contents  What text really holds: numbers with units, or dates
    view           The record of a suspicion, and the view of a table that the checks look at
"""
