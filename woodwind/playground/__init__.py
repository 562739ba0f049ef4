"""A page to play with: how ensembles build their decision surface on two features, round by round.

Inside:

    page               The page: data, style and script in one file, which loads nothing
    surfaces           Tables of two features, ensembles trained on them, and what these predict on a grid after some of their rounds
"""
