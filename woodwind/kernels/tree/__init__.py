"""What the three engines that grow trees share.

memory          the arrays that every engine has;   layout   switches;   counters   how many there are of what
nodes           the nodes, and how children come to be
queue           which node next
candidates      which features a node may be split by
constraints     monotonic and interaction constraints
category_sets   sets of categories
leaves          values and scores of leaves, sums of their rows, values added to scores
found           the best split that was found so far
"""
