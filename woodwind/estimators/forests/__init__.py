"""Single decision trees, random forests, extremely randomised trees, forests of random structure.

Inside:

    decision_tree     Single decision trees: CART for classification and regression, every threshold considered
    forest_base       What all forests have in common: training, the rows out of the bag, and what can be asked of the trees
    forests           Random forests and extremely randomised trees, for classification and regression
    like              Forests by the name of another library: the defaults and the conventions of scikit-learn's, as parameters of ours
    random_structure  Forests of random structure, for classification and regression
"""
