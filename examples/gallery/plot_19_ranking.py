"""
Learning to rank: NDCG by cut-off
=================================

How good are the first ranks of new queries? Bands are two standard errors. LambdaMART trains for the order within a query; on a
table as small and clean as this one a regression of the relevance does as well.
"""

import numpy as np

from woodwind import GradientBoostingRanker, GradientBoostingRegressor
from woodwind.plots import NDCGDisplay

rng = np.random.default_rng(0)
query = np.repeat(np.arange(120), 20)
X = rng.normal(size=(2400, 6))
hidden = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=120)[query] + rng.normal(size=2400)
relevance = np.digitize(hidden, np.quantile(hidden, [0.6, 0.8, 0.95]))
train, new = query < 90, query >= 90
ranker = GradientBoostingRanker(n_estimators=100, random_state=0).fit(X[train], relevance[train], group=query[train])
regressor = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X[train], relevance[train])
NDCGDisplay.from_estimator({"LambdaMART": ranker, "regression": regressor}, X[new], relevance[new], group=query[new], cutoffs=range(1, 16))
