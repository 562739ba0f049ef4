"""How members of the main job are trained: the shared training set, and a family for each kind of member.

Inside:

    affordable        Pilot: how many columns of a wide table there is time for, as a sample of them tells
    baseline          Baseline: the same score for every row, from the target alone
    boosting          Boosted members: the folds are boosted in step, and all of them end where the rows held out are best
    forests           Members that are forests: trees of all folds are grown in turn, and as many on all rows, which make the member
    inner_validation  Inner validation of a member: rows that it is trained on, rows that score its choices, and the loss
    knn_training      Training of neighbour members: which columns count, how many neighbours, and how they count
    matrix_family     Members that are trained on a matrix of numbers, fold by fold: linear models, neighbours, nets
    mlp_training      Training of net members: Adam on batches of rows, by NumPy alone, several nets at once
    recipe            Recipe: a member that may be trained, by name; and Family: those who can train such members
    splits            Which rows are held out, by the size of the table, by groups, and by time
    training_set      Training set: what all members of a job are trained on
"""
