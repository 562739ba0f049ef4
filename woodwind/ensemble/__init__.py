"""Training procedures as functions and generators.

Inside:

    adaboost            Adaptive boosting of classifiers as a generator of rounds: AdaBoost.M1, SAMME, SAMME.R, AdaBoost.M2 and AdaBoost.MH
    additive            Forward stagewise fitting of an additive model, as a generator of rounds: Friedman 2001
    auto_defaults       What "auto" means: rules that depend on the table, each with its reason
    bag                 Bagging: members that know nothing of each other, trained side by side and handed on in their order (Breiman 1996)
    bayesian_averaging  Bayesian model averaging: every model counts by how probable it is, given the rows
    blend               How much each member of a stack is believed: a logistic pool of probabilities, and sums of numbers
    boost               Gradient boosting as a generator of rounds: Friedman 2001, with Newton leaves as in Chen & Guestrin 2016
    codewords           Error-correcting output codes: words of bits for classes (Dietterich & Bakiri 1995)
    combine             How what members predict becomes one answer: votes are counted, probabilities and numbers averaged
    early_stopping      When to stop: consumers of the rounds of a training, composed as iterators are
    exact_learner       The exact learner: rows as ranks, derivatives as wide integers, trees that consider every threshold
    forest              Forests: independent trees on drawn rows, and what the rows that a tree has not seen say about it
    held_out            Which rows are held out: a share of them to stop by, or each once, in folds
    histogram_learner   The histogram learner: rows as codes of bins, derivatives as packed integers, trees grown from histograms
    layers              What one layer of a stack passes on to the next: columns made of what its members predict
    member_weights      Weights of members: from how good each is alone, or such that all together lose least
    mixture_of_experts  Mixture of experts: rows belong to experts in parts, which a gate foresees; fitted by expectation and maximisation
    precompile          Precompile: the kernel that grows trees takes as long to compile as all others together
    random_structure    Forests of random structure: complete trees whose questions are drawn before a row is seen
    resampling          What is drawn for each member of a bag or a forest: rows and columns by bootstrap, pasting, subspaces; targets
    simplex             The smallest value of a convex function of weights that are not negative and sum to one
    subsets             Linear regression over all subsets of columns: how probable each subset is, and the coefficients averaged over them
    training            One training: boost, stop where it is best, and learn the leaves once more from all rows
    weak_learner        Learners: what adaptive boosting asks of the models that it adds up, and trees of the engine in that role
"""
