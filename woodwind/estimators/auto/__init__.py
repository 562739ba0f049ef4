"""The main job as estimators, `woodwind.fit` and `woodwind.load`.

Inside:

    auto_ensemble     The main job as estimators: give them a table and a time, and they try members of all families and blend them
    auto_ranker       The main job as an estimator that ranks the documents of queries
    fit               `woodwind.fit`: a table with its target in it, or a file of one, to a trained ensemble
    linear_training   Training of linear members with scikit-learn: logistic and ridge regression
    load              `woodwind.load`: what a model file holds
    several_targets   The main job for several targets: an ensemble for each of them, from one table
    wrap              The estimator around a model that was stored without one
"""
