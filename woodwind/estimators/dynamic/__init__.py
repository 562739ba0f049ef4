"""Dynamic selection: for each row the members that are competent near it.

Inside:

    dynamic_base         Dynamic selection for both tasks: from members and rows to what is known of how good members are where
    dynamic_model        A trained dynamic selection: who is asked for each row of a table, and what they predict together, block by block
    dynamic_selection    Dynamic selection of members for each row, for classification and regression
    holdout_predictions  What members predict for selection rows, which they have not been trained on: trained members as they are
"""
