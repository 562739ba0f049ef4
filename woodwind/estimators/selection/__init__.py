"""Ensemble selection: pruning a pool of members.

Inside:

    ensemble_selection  Pruning: of a pool of members those are kept, with weights, that are best together
    pruned              Ensembles with some of their members: the trees of a forest asked together
    selection_search    From parameters to a search: which function of `woodwind.selection` chooses the members
"""
