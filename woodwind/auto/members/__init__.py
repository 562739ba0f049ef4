"""Members of a blend as they predict, in arrays alone.

Inside:

    blas_threads     Holding BLAS to one thread, for whoever multiplies many small matrices, on threads of their own or not
    knn_member       Neighbour members: what the training rows that are most alike had
    linear_member    Linear members: a weighted sum of the columns of the matrix
    link             From scores to what users see, and to the losses that members are compared by
    mlp_member       Net members: small neural nets on numbers that are cut into pieces first
    target_encoding  Target encoding: how large the target is, on average, in rows of the same category
    tree_members     Members of trees: what each of them adds to the score of a row
    view             View: the rows of a table in the forms that members want, each made when it is first asked for
"""
