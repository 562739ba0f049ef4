"""
Explain one prediction, and all of them
=======================================

Exact Shapley values of the trees: what each column brought to the log-odds of one loan, and to those of all loans.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from woodwind import GradientBoostingClassifier

loans = pd.read_csv("../data/credit.csv")
X, y = loans.drop(columns="credit"), loans["credit"]
model = GradientBoostingClassifier(n_estimators=100, random_state=0).fit(X, y)
explanation = model.explain(X)

figure, (one, all_rows) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
found = explanation.contributions(1)[:8][::-1]
one.barh([f"{c.name} = {c.cell}" for c in found], [c.value for c in found], color=["C0" if c.value > 0 else "C1" for c in found])
one.set(title="The second loan", xlabel="added to the log-odds of good")
importance = explanation.importance()[:, 0]
top = np.argsort(importance)[-8:]
all_rows.barh(np.array(explanation.names)[top], importance[top])
all_rows.set(title="All loans", xlabel="mean size")
