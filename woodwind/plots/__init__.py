"""Pictures of ensembles, drawn with matplotlib, in the manner of scikit-learn's display classes.

Inside:

    bias_variance       Bars of bias and variance: why learners err
    boosting_regions    Boosting of classes on two features, stage by stage: which class is predicted where, and which rows weigh most
    boosting_stages     Boosting on one feature, stage by stage: what the model predicts so far, and what the newest learner adds to it
    ensemble_size       The error of an ensemble by the number of its members
    fan_chart           The fan chart: what is predicted over one column, with bands for several shares of the rows
    importance          Bars of importance: how much a model relies on each column
    interval_width      Intervals sorted by their width: where a model is sure, where it is not, and whether the truth is inside
    kappa_error         The kappa-error diagram: how alike two members are, and how good (Margineantu & Dietterich 1997)
    labels              Names beside what they name: where they stand, so that none covers another, and what is done with long ones
    learning_curves     Learning curves of boosting: what was watched after every round, for all tables
    majority_vote       The curve of the majority vote: its error by the number of voters (Condorcet 1785)
    margins             The distribution of margins: how sure ensembles are of what is true (Schapire, Freund, Bartlett & Lee 1998)
    member_correlation  The map of members: which are alike, in an order that puts those side by side
    members             What the members of an ensemble predict for some rows, with their names
    ndcg_cutoff         NDCG by cut-off: how good the first ranks of a ranking are
    partial_dependence  Partial dependence: what is predicted if a column had one value in all rows; curves of single rows (ICE)
    pit_histogram       Histogram of the probability integral transform: whether distributions are as wide as they should be (Dawid 1984)
    quantile_reliability  Reliability of quantiles: the share of rows below each quantile, over its level
    rows                Rows to draw: columns of numbers out of any table, and tables of the same kind made of new numbers
    shap_plots          Shapley values: beeswarm of all rows, waterfall of one row, dependence on one column
    strength_diversity  Strength and diversity of members: how good each is, and how different from the others
    style               The house style of the pictures: colours, marks, labels beside what they name, light grids
    survival_curves     Survival curves by group: what was observed (Kaplan & Meier 1958), and what was predicted on average
    tree_diagram        One tree of a model: what each split asks, where rows go, and what leaves say
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
from woodwind.plots.importance import ImportanceDisplay, plot_importance
from woodwind.plots.interval_width import IntervalWidthDisplay
from woodwind.plots.kappa_error import KappaErrorDisplay
from woodwind.plots.learning_curves import LearningCurvesDisplay
from woodwind.plots.majority_vote import MajorityVoteDisplay
from woodwind.plots.margins import MarginDisplay
from woodwind.plots.member_correlation import MemberCorrelationDisplay
from woodwind.plots.ndcg_cutoff import NDCGDisplay
from woodwind.plots.partial_dependence import PartialDependenceDisplay, plot_partial_dependence
from woodwind.plots.pit_histogram import PITDisplay
from woodwind.plots.quantile_reliability import QuantileReliabilityDisplay
from woodwind.plots.shap_plots import ShapBeeswarmDisplay, ShapDependenceDisplay, ShapWaterfallDisplay
from woodwind.plots.strength_diversity import StrengthDiversityDisplay
from woodwind.plots.survival_curves import SurvivalCurvesDisplay
from woodwind.plots.tree_diagram import TreeDisplay, plot_tree

__all__ = [
    "BiasVarianceDisplay",
    "BoostingRegionsDisplay",
    "BoostingStagesDisplay",
    "EnsembleSizeDisplay",
    "FanChartDisplay",
    "ImportanceDisplay",
    "IntervalWidthDisplay",
    "KappaErrorDisplay",
    "LearningCurvesDisplay",
    "MajorityVoteDisplay",
    "MarginDisplay",
    "MemberCorrelationDisplay",
    "NDCGDisplay",
    "PITDisplay",
    "PartialDependenceDisplay",
    "QuantileReliabilityDisplay",
    "ShapBeeswarmDisplay",
    "ShapDependenceDisplay",
    "ShapWaterfallDisplay",
    "StrengthDiversityDisplay",
    "SurvivalCurvesDisplay",
    "TreeDisplay",
    "plot_importance",
    "plot_partial_dependence",
    "plot_tree",
]
