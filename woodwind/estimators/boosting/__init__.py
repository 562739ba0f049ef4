"""Gradient boosting.

Inside:

    category_statistics       Columns of many categories in boosting: read as statistics of the target
    distribution_boosting     Natural-gradient boosting: a predictive distribution for every row (NGBoost)
    encoded_table             A table as boosting trains on it: read, coded in bins or ranks, with statistics of the target for some
    gradient_boosting         Gradient boosting for classification and regression
    gradient_boosting_base    Gradient boosting for both tasks: from a table and a target to a forest, and from a forest to scores
    gradient_boosting_ranker  Gradient boosting for rankings
    gradient_boosting_survival  Gradient boosting for survival times
    init_scores               Where boosting starts: from the best constant, from scores that the caller gives, or from another model
    like                      Boosting by the name of another library: its defaults and its conventions, as parameters of ours
    loss_choice               From what users give as a loss to the loss itself, and from scores back to what they see
    plan                      Checked parameters to a plan of boosting in which everything is decided
    queries                   What rankers are given beside a table and its target: which rows are of one query, and its weight
    translate                 `woodwind.translate`: parameters of XGBoost, LightGBM
"""
