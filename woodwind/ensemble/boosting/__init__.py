"""Gradient boosting: the loop over rounds, when it stops, and the learners that grow its trees.

Inside:

    approximate_learner  The approximate learner: every tree has bins of its own, quantiles weighted by the hessians of its rows
    auto_defaults        What "auto" means: rules that depend on the table, each with its reason
    boost                Gradient boosting as a generator of rounds: Friedman 2001, with Newton leaves as in Chen & Guestrin 2016
    boost_plan           What a boosting run does, all decided: the loss, the trees, the steps, and what is drawn
    dropout              Boosting with dropout: a round is trained as if some of the earlier ones were not there (DART)
    early_stopping       When to stop: consumers of the rounds of a training, composed as iterators are
    exact_learner        The exact learner: rows as ranks, derivatives as wide integers, trees that consider every threshold
    folds                Boosting in folds: several boosters in step, each blind to its own fold
    gradient_sampling    Gradient-based sampling: rows with large derivatives are drawn always or more often, and others count for more
    held_out_spread      Spread by rows held out: in two stages, locations first and then the spread around them; or a shift
    histogram_learner    The histogram learner: rows as codes of bins, derivatives as packed integers, trees grown from histograms
    leaf_refit           Leaf values of a boosted forest, learned once more from rows of another table
    leaf_values          Values of leaves in a round of boosting: Newton steps, or from residuals; linear leaves
    line_search          The line search of natural-gradient boosting: how far the trees of a round are followed
    ordered_boosting     Ordered boosting: the gradient of a row is taken where a model stands that has never seen it
    precompile           Precompile: the kernel that grows trees takes as long to compile as all others together
    recorded_rounds      Rounds that are written down as they come, so that a training that was killed goes on where it was
    training             One training: boost, stop where it is best, and learn the leaves once more from all rows
    training_rows        The rows of a training: codes, target, weights, where scores start, and the booster that learns from them
    tree_learner         What boosting asks of whatever grows its trees
"""
