"""
The majority vote: Condorcet's theorem
======================================

Voters who are right more often than not are nearly always right together, if they err independently; what they have in common
remains.
"""

import matplotlib.pyplot as plt

from woodwind.plots import MajorityVoteDisplay

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, correlation in zip(axes, (0.0, 0.2), strict=True):
    MajorityVoteDisplay.from_accuracies([0.51, 0.6, 0.7], correlation=correlation, ax=ax)
    ax.set_title(f"correlation of voters {correlation}")
