"""Pictures of ensembles, drawn with matplotlib, in the manner of scikit-learn's display classes.

Inside:

    bias_variance       Bars of bias and variance: why learners err
    boosting_regions    Boosting of classes on two features, stage by stage: which class is predicted where, and which rows weigh most
    boosting_stages     Boosting on one feature, stage by stage: what the model predicts so far, and what the newest learner adds to it
    ensemble_size       The error of an ensemble by the number of its members
    fan_chart           The fan chart: what is predicted over one column, with bands for several shares of the rows
    interval_width      Intervals sorted by their width: where a model is sure, where it is not, and whether the truth is inside
    kappa_error         The kappa-error diagram: how alike two members are, and how good (Margineantu & Dietterich 1997)
    labels              Names beside what they name: where they stand, so that none covers another, and what is done with long ones
    majority_vote       The curve of the majority vote: its error by the number of voters (Condorcet 1785)
    margins             The distribution of margins: how sure ensembles are of what is true (Schapire, Freund, Bartlett & Lee 1998)
    member_correlation  The map of members: which are alike, in an order that puts those side by side
    members             What the members of an ensemble predict for some rows, with their names
    ndcg_cutoff         NDCG by cut-off: how good the first ranks of a ranking are
    pit_histogram       Histogram of the probability integral transform: whether distributions are as wide as they should be (Dawid 1984)
    quantile_reliability  Reliability of quantiles: the share of rows below each quantile, over its level
    rows                Rows to draw: columns of numbers out of any table, and tables of the same kind made of new numbers
    strength_diversity  Strength and diversity of members: how good each is, and how different from the others
    style               The house style of the pictures: colours, marks, labels beside what they name, light grids
    survival_curves     Survival curves by group: what was observed (Kaplan & Meier 1958), and what was predicted on average
"""

try:
    import matplotlib as mpl  # noqa: F401
except ImportError as error:
    raise ImportError("woodwind.plots draws with matplotlib, which is not installed: pip install 'woodwind[plots]'.") from error

from woodwind.plots.bias_variance import BiasVarianceDisplay
from woodwind.plots.boosting_regions import BoostingRegionsDisplay
from woodwind.plots.boosting_stages import BoostingStagesDisplay
from woodwind.plots.ensemble_size import EnsembleSizeDisplay
from woodwind.plots.fan_chart import FanChartDisplay
from woodwind.plots.interval_width import IntervalWidthDisplay
from woodwind.plots.kappa_error import KappaErrorDisplay
from woodwind.plots.majority_vote import MajorityVoteDisplay
from woodwind.plots.margins import MarginDisplay
from woodwind.plots.member_correlation import MemberCorrelationDisplay
from woodwind.plots.ndcg_cutoff import NDCGDisplay
from woodwind.plots.pit_histogram import PITDisplay
from woodwind.plots.quantile_reliability import QuantileReliabilityDisplay
from woodwind.plots.strength_diversity import StrengthDiversityDisplay
from woodwind.plots.survival_curves import SurvivalCurvesDisplay

__all__ = [
    "BiasVarianceDisplay",
    "BoostingRegionsDisplay",
    "BoostingStagesDisplay",
    "EnsembleSizeDisplay",
    "FanChartDisplay",
    "IntervalWidthDisplay",
    "KappaErrorDisplay",
    "MajorityVoteDisplay",
    "MarginDisplay",
    "MemberCorrelationDisplay",
    "NDCGDisplay",
    "PITDisplay",
    "QuantileReliabilityDisplay",
    "StrengthDiversityDisplay",
    "SurvivalCurvesDisplay",
]
