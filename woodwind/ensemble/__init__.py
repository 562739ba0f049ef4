"""Training procedures as functions and generators.

Inside:

    adaboost            Adaptive boosting of classifiers as a generator of rounds: AdaBoost.M1, SAMME, SAMME.R, AdaBoost.M2 and AdaBoost.MH
    additive            Forward stagewise fitting of an additive model, as a generator of rounds: Friedman 2001
    bag                 Bagging: members that know nothing of each other, trained side by side and handed on in their order (Breiman 1996)
    bayesian_averaging  Bayesian model averaging: every model counts by how probable it is, given the rows
    blend               How much each member of a stack is believed: a logistic pool of probabilities, and sums of numbers
    boosting            Gradient boosting: rounds, early stopping, what "auto" means, and the learners of exact and of histogram trees
    codewords           Error-correcting output codes: words of bits for classes (Dietterich & Bakiri 1995)
    combine             How what members predict becomes one answer: votes are counted, probabilities and numbers averaged
    conformal           Conformal prediction: intervals and sets of labels that hold the truth as often as they say
    forest              Forests: independent trees on drawn rows, and what the rows that a tree has not seen say about it
    held_out            Which rows are held out: a share of them to stop by, or each once, in folds
    layers              What one layer of a stack passes on to the next: columns made of what its members predict
    member_weights      Weights of members: from how good each is alone, or such that all together lose least
    mixture_of_experts  Mixture of experts: rows belong to experts in parts, which a gate foresees; fitted by expectation and maximisation
    progress            Steps of any training as they come: how far it has come, callbacks that may end it, what an interrupt leaves
    random_structure    Forests of random structure: complete trees whose questions are drawn before a row is seen
    rank_fusion         Rank fusion: the scores of several rankers as one, query by query
    resampling          What is drawn for each member of a bag or a forest: rows and columns by bootstrap, pasting, subspaces; targets
    simplex             The smallest value of a convex function of weights that are not negative and sum to one
    subsets             Linear regression over all subsets of columns: how probable each subset is, and the coefficients averaged over them
    weak_learner        Learners: what adaptive boosting asks of the models that it adds up, and trees of the engine in that role
"""
