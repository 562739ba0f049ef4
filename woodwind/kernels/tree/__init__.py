"""What the three engines that grow trees share.

memory          the arrays that every engine has, how many there are of what, splits that were found;   layout   switches
nodes           the nodes, and how children come to be
queue           which node next
constraints     monotonic and interaction constraints, and which features they leave to a node
category_sets   sets of categories
linear          linear leaves: ridge regression on the numbers of the path
leaves          values and scores of leaves, sums of their rows, values added to scores
"""
