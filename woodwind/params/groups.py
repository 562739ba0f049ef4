"""The parameters of the estimators, in groups. Vocabulary, not behaviour: no methods here.

Names are scikit-learn's where it has one; one spelling for each idea. "auto" is a value of its own and means a rule that
depends on the table, which the estimator's page gives; it never means that nobody decided.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np

from woodwind.params.knobs import above, at_least, between, count_or_share, inside, knobs, not_zero, share, spelled

Auto = Literal["auto"]
Features = int | float | Literal["sqrt", "log2"] | None

# Parameters of more than one group, declared once.
MaxDepth = Annotated[int | None, at_least(1), "Deepest level; None for no limit."]
MinSplit = Annotated[int, at_least(2), "Fewest rows in a node that may be split."]
MaxBins = Annotated[int | None, between(2, 255), "Most bins of a column. None is exact: every threshold between two values is considered."]
Categorical = Annotated[
    Any,
    spelled("None, or names, positions or a mask of columns"),
    "Columns of numbers to take as categories. Strings and category types are recognised without it.",
]
CategoryEncoding = Annotated[
    Literal["auto", "sets", "ordered", "out_of_fold"],
    "What trees see of categories: 'sets' of them, of which at most 253 are told apart, or statistics of the target, of any number of "
    "categories: means of earlier rows in a drawn 'ordered' sequence, or 'out_of_fold'. 'auto' takes sets of few categories, and means "
    "out of fold of many; in forests and single trees of more than 253.",
]
Monotonic = Annotated[
    Any,
    spelled("None, a dict from column to -1, 0 or 1, or one such number for each column"),
    "1: the prediction may only rise with the column; -1: only fall; 0: free.",
]
ClassWeight = Annotated[
    dict | Literal["balanced"] | None,
    "Weight of each class as {class: weight}. 'balanced' gives all classes the same total, None all rows the same weight.",
]
Jobs = Annotated[int | None, not_zero(), "Threads; None or -1 for all that the process may use. The model is the same for any number."]
Verbose = Annotated[int | bool, at_least(0), "Show a progress line with the remaining time."]
WarmStart = Annotated[bool, "Go on from the trees, members or rounds that are there, instead of beginning anew."]
Tol = Annotated[float, at_least(0), "Smallest change that counts as an improvement."]
BY_IMPURITY = "How good a split is: by the impurity that it removes."
LeastShare = Annotated[float, between(0, 0.5), "Smallest share of the total weight in a leaf."]
RandomState = Annotated[
    int | np.random.RandomState | np.random.Generator | None,
    at_least(0),
    "Seed of everything that is drawn; an integer makes it repeatable.",
]


@knobs
class BoostParams:
    """How trees are added up."""

    n_estimators: Annotated[int, at_least(1), "Most rounds of boosting; early stopping may end it sooner."] = 1000
    learning_rate: Annotated[
        float | Auto, above(0), "Share of each tree that is added. 'auto' grows with the number of rows: few rows want small steps."
    ] = "auto"
    init: Annotated[
        Any,
        spelled("None, a number or starting scores"),
        "Scores to start from, before the first tree: one for all rows, or one for each. None starts from the best constant.",
    ] = None
    n_parallel_trees: Annotated[
        int,
        at_least(1),
        "Trees of a round for the same scores, whose mean is added: a boosted random forest, where rows or features are drawn for each.",
    ] = 1
    boosting: Annotated[
        Literal["plain", "dart", "ordered"],
        "How trees are added: 'plain' adds each to all that are there; 'dart' leaves some of those out while it is trained, and shrinks "
        "both. There is no early stopping with it: later rounds change earlier ones. 'ordered', for few rows, chooses each tree by "
        "gradients that rows have from models that have not seen them.",
    ] = "plain"
    n_permutations: Annotated[
        int, at_least(1), "With boosting='ordered', drawn orders of the rows; each costs four scores for every row."
    ] = 4
    drop_rate: Annotated[float, between(0, 1), "With boosting='dart', the chance of every earlier round to be left out."] = 0.1
    skip_drop: Annotated[float, between(0, 1), "With boosting='dart', the chance of a round to leave none out."] = 0.5
    max_drop: Annotated[
        int | None, at_least(1), "With boosting='dart', how many earlier rounds are left out at most, on average. None for no limit."
    ] = 50


@knobs
class ClassParams:
    """How classes are told apart."""

    multiclass: Annotated[
        Literal["vector", "one_per_class"],
        "With three classes or more, or several targets: 'vector' grows one tree in each round, whose leaves hold a score for every class; "
        "'one_per_class' grows one tree for each class. Symmetric trees, and those with monotonic_cst, max_delta_step, path_smooth "
        "or linear_leaves, are always of one class.",
    ] = "vector"
    softmax_hessian: Annotated[
        Literal["friedman", "xgboost", "lightgbm", "sklearn"],
        "With K classes, three or more, what their second derivatives p (1 - p) are multiplied by: 'friedman', K / (K - 1) in leaves and 1 "
        "in gains; 'xgboost', 2 in both; 'lightgbm', K / (K - 1) in both; 'sklearn', 1 in both, as its histogram boosting.",
    ] = "friedman"
    class_weight: ClassWeight = None


@knobs
class TreeParams:
    """How one tree is grown."""

    growth: Annotated[
        Literal["best_first", "level", "symmetric"],
        "Order of growth: the leaf with the largest gain first, all leaves of a level together, or one split for the whole level.",
    ] = "best_first"
    max_leaf_nodes: Annotated[
        int | Auto | None, at_least(2), "Most leaves of a tree; None for no limit. 'auto' depends on the task and on the rows."
    ] = "auto"
    max_depth: MaxDepth = None
    min_samples_split: MinSplit = 2
    min_samples_leaf: Annotated[int | Auto, at_least(1), "Fewest rows in a leaf. 'auto' depends on the task and on the rows."] = "auto"
    min_hessian_leaf: Annotated[float, at_least(0), "Smallest sum of second derivatives in a leaf."] = 1e-3
    l1_regularization: Annotated[float, at_least(0), "Pulls leaf values to exactly zero; 0 for none."] = 0.0
    l2_regularization: Annotated[float, at_least(0), "Shrinks leaf values, those of small leaves most; 0 for none."] = 1.0
    leaf_estimation: Annotated[
        Literal["newton", "gradient"],
        "How leaf values are found: 'newton' by first and second derivatives, or, where the loss has no useful second ones, as the best "
        "constant; 'gradient' by the mean of first derivatives, and splits by the squares of their sums.",
    ] = "newton"
    max_delta_step: Annotated[
        float | None, above(0), "Largest size of a leaf value before the learning rate, which gains of splits know of. None for no limit."
    ] = None
    path_smooth: Annotated[
        float,
        at_least(0),
        "Draws the value of each node towards that of the node above, by as much as so many rows would; small leaves most. 0 for none.",
    ] = 0.0
    linear_leaves: Annotated[
        bool,
        "Leaves are linear in the numbers of their path, by ridge regression on the derivatives, instead of constant. A row with a missing "
        "one among these numbers gets the constant.",
    ] = False
    linear_l2: Annotated[
        float, at_least(0), "With linear_leaves, shrinks coefficients, by as much as so many rows of unit variance would; 0 for not at all."
    ] = 10.0
    min_gain: Annotated[float, at_least(0), "Smallest gain of a split."] = 0.0
    prune: Annotated[bool, "Grow fully and remove splits below min_gain afterwards, instead of stopping at the first such split."] = False
    # Scales leave room for noise. Ten times the gradients drown them, and more would take bits from the values of leaves.
    gradient_noise: Annotated[
        float,
        between(0, 10),
        "Random part of gradients while splits are looked for, as a multiple of their root mean square; leaf values stay exact. "
        "It keeps large trees on few rows from over-fitting. 0 for none.",
    ] = 0.0


@knobs
class BinParams:
    """How columns become codes."""

    max_bins: MaxBins = 255
    candidates: Annotated[
        Literal["global", "local"] | None,
        "Where bins are cut: None, once before training; 'global', anew for each tree, at quantiles of its rows weighted by their second "
        "derivatives; 'local', anew in each node.",
    ] = None
    sketch_eps: Annotated[
        float | None,
        inside(0, 1),
        "With candidates, the largest share of the second derivatives between two neighbouring thresholds, so that about 1 / sketch_eps "
        "are proposed. None: as many as max_bins says.",
    ] = None
    categorical_features: Categorical = None
    categorical_encoding: CategoryEncoding = "auto"
    sparse_absent: Annotated[
        Literal["zero", "missing"],
        "What a cell is that a sparse matrix does not store: 'zero', as in scikit-learn and SciPy, or 'missing', as in XGBoost.",
    ] = "zero"
    feature_bundling: Annotated[
        bool,
        "Put columns of a sparse matrix that are hardly ever stored in the same row together while trees are grown, where that is "
        "quicker. The model is the same, unless max_conflict_rate is above 0.",
    ] = True
    max_conflict_rate: Annotated[
        float,
        between(0, 1),
        "Largest share of the rows that may lose a cell to another one of its bundle. 0 loses nothing.",
    ] = 0.0


@knobs
class SampleParams:
    """Which rows and features a tree may see."""

    subsample: Annotated[float | Auto, share(), "Share of rows drawn for each tree; 1.0 for all. 'auto' depends on the number of rows."] = (
        "auto"
    )
    bootstrap: Annotated[bool, "Draw rows with replacement."] = False
    sampling: Annotated[
        Literal["uniform", "goss", "mvs"],
        "How rows are drawn: all alike; 'goss', those with the largest gradients and some of the others; 'mvs', by the size of their "
        "derivatives, as many as subsample says. Rows that are drawn count for those that are not.",
    ] = "uniform"
    top_rate: Annotated[float, between(0, 1), "Share of rows with the largest gradients that sampling='goss' takes."] = 0.2
    other_rate: Annotated[float, between(0, 1), "Share of all rows that sampling='goss' draws of the others."] = 0.1
    max_features: Annotated[
        Features, count_or_share(), "Features drawn for each node: a count, or a share of those of the level. None for all."
    ] = 1.0
    max_features_tree: Annotated[
        Features | Auto,
        count_or_share(),
        "Features drawn for each tree: a count, or a share of all. None for all. 'auto' draws a share of wide tables, unless "
        "features are drawn for levels or nodes.",
    ] = "auto"
    max_features_level: Annotated[
        Features, count_or_share(), "Features drawn for each level: a count, or a share of those of the tree. None for all."
    ] = 1.0


@knobs
class ConstraintParams:
    """What the model must respect."""

    monotonic_cst: Monotonic = None
    interaction_cst: Annotated[
        Any,
        spelled("None, 'pairwise', 'no_interactions' or a sequence of groups of columns"),
        "Groups of columns that may stand together on one path of a tree.",
    ] = None


@knobs
class StopParams:
    """When to stop."""

    early_stopping: Annotated[
        bool | Auto, "Stop when the score on rows held out no longer improves. 'auto': yes, if there are rows enough to hold some out."
    ] = "auto"
    validation_fraction: Annotated[float, inside(0, 1), "Share of rows to hold out, unless validation data are given to fit."] = 0.1
    n_iter_no_change: Annotated[
        int | Auto, at_least(1), "Rounds without improvement before stopping. 'auto' depends on the learning rate."
    ] = "auto"
    tol: Tol = 1e-7
    scoring: Annotated[
        str | Callable | list | tuple | None,
        spelled("None, the name of a metric, a scorer, or a list of them"),
        "What is watched: the name of a metric, such as 'auc' or 'rmse', or a scorer. None means the loss. Of several in a list, the first "
        "is stopped by, and `evals_result_` has the curves of all.",
    ] = None
    refit: Annotated[bool, "After stopping, learn the values of all leaves once more, from all rows."] = True


@knobs
class ClusterParams:
    """Where the work is done."""

    cluster: Annotated[
        Any,
        spelled(
            "None, a cluster of woodwind.connect or woodwind.local_cluster, a client of Dask or an address such as 'tcp://10.0.0.1:8786'"
        ),
        "Workers to train on, for a table in blocks in a folder that all of them see. The model is the same. None for this machine.",
    ] = None
    parallelism: Annotated[
        Literal["data", "voting"],
        "With a cluster: 'data' sums histograms of all columns, and the model is that of one machine; 'voting', for wide tables, sums "
        "those of 40 columns for which parts of the rows vote (PV-tree), and the model is the same for any number of workers.",
    ] = "data"


@knobs
class CheckpointParams:
    """What is left of the work when it is killed."""

    checkpoint: Annotated[
        Any,
        spelled("None or the path of a file"),
        "A file that finished rounds are written to, of a training on a table in blocks: after a kill the same fit goes on from there. It "
        "is removed when the training has ended. None for none.",
    ] = None


@knobs
class WorkParams:
    """How the work is done; nothing here but random_state changes the model."""

    n_jobs: Jobs = None
    random_state: RandomState = None
    verbose: Verbose = 0


@knobs
class RunParams:
    """The same, and where it begins and ends; not a WorkParams, because readers want those first and bases come last."""

    n_jobs: Jobs = None
    random_state: RandomState = None
    verbose: Verbose = 0
    warm_start: WarmStart = False
    callbacks: Annotated[Sequence | None, "Functions called with each finished round or member; one that returns True ends it."] = None


@knobs
class CartParams:
    """How a single decision tree is grown."""

    max_depth: MaxDepth = None
    min_samples_split: MinSplit = 2
    min_samples_leaf: Annotated[int, at_least(1), "Fewest rows in a leaf."] = 1
    min_weight_fraction_leaf: LeastShare = 0.0
    max_leaf_nodes: Annotated[int | None, at_least(2), "Most leaves; the best splits come first. None for no limit."] = None
    min_gain: Annotated[float, at_least(0), "Smallest gain of a split."] = 0.0
    max_features: Annotated[Features, count_or_share(), "Features drawn for each node: a count or a share. None for all."] = None
    splitter: Annotated[
        Literal["best", "random"],
        "Which thresholds of a feature are considered: 'best' every one; 'random' one, drawn between the least and the largest number of "
        "the node (Geurts, Ernst & Wehenkel 2006), and for categories one random set of them.",
    ] = "best"
    ccp_alpha: Annotated[float, at_least(0), "Price of a leaf in minimal cost-complexity pruning; 0 for none."] = 0.0
    max_bins: MaxBins = None
    categorical_features: Categorical = None
    categorical_encoding: CategoryEncoding = "auto"
    monotonic_cst: Monotonic = None
    random_state: RandomState = None


@knobs
class CartClassifierParams:
    """What a classification tree is scored by."""

    criterion: Annotated[str, BY_IMPURITY] = "gini"  # the estimator says which there are
    class_weight: ClassWeight = None


@knobs
class CartRegressorParams:
    """What a regression tree is scored by."""

    criterion: Annotated[
        Literal["squared_error", "absolute_error", "poisson"],
        "How good a split is: by the squared error, the absolute error or the Poisson deviance that it removes. "
        "Leaves predict the mean, with 'absolute_error' the weighted median. 'poisson' is for counts and amounts, none of them negative.",
    ] = "squared_error"
