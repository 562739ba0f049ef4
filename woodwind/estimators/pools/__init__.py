"""Ensembles of different models: the pool of members, out-of-fold predictions, voting.

Inside:

    fitting      How one member of a pool is trained: a copy with a seed, on some rows of a shared table, with weights; what fails is named
    member_list  The list of members that an ensemble is made of: what may be given, how members are called, and what is no member
    members      Members of a bag: what each of them is trained on, and members of any kind, each with a table of its own
    out_of_fold  Predictions out of fold: what members predict for rows that they have not been trained on
    pool         A pool: trained members of any kind that are asked together
    pool_base    What all ensembles of different models have in common: how they are trained, and which tables they take
    voting       Voting: models of any kind answer together, with equal weights, given ones
    voting_ranker  Several rankers as one: blended scores, Borda counts or reciprocal ranks
"""
