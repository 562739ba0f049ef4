"""Stacking, its blenders, and a probe for leaks.

Inside:

    blenders         Blenders: what a stack learns from what its members predict, made for members that predict almost the same
    layers           The layers of a stack: members that are trained and asked, and the table that the next layer gets from them
    leak_probe       A probe for leaks: a stack that finds something in a target that was shuffled has seen what it should not see
    nested           Several layers without a leak: whatever scores a row, in any layer, was trained without its fold
    stacking         Stacking of any estimators, for classification and regression
    stacking_base    Stacking for both tasks: from a table and a target through the layers to a blender, and back
    stacking_parts   What a stack is put together from: its layers and its blender as they are given, and their parameters by name
    stacking_scores  How members, layers and stacks are scored: by a scorer of scikit-learn, from predictions that they have made already
"""
