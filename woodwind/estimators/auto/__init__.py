"""The main job as estimators, `woodwind.fit` and `woodwind.load`.

Inside:

    auto_ensemble     The main job as estimators: give them a table and a time, and they try members of all families and blend them
    fit               `woodwind.fit`: a table with its target in it, or a file of one, to a trained ensemble
    load              `woodwind.load`: what a model file holds
    non_tree_members  Members that are not trees, trained on the matrix of a table: linear models, nearest neighbours, nets
    wrap              The estimator around a model that was stored without one
"""
