"""What the three engines that grow trees share.

layout   switches, and the columns of the node table
"""
