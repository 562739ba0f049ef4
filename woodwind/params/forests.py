"""The parameters of forests, in groups."""

from collections.abc import Callable
from typing import Annotated, Literal

from woodwind.params.groups import (
    BY_IMPURITY,
    Auto,
    Categorical,
    CategoryEncoding,
    ClassWeight,
    Features,
    Jobs,
    LeastShare,
    MaxDepth,
    RandomState,
    Verbose,
    WarmStart,
)
from woodwind.params.knobs import at_least, between, count_or_share, first, knobs


@knobs
class ForestParams:
    """How many trees, how they are grown, and which rows they see."""

    n_estimators: Annotated[
        int | Auto, first(), at_least(1), "Number of trees. 'auto' grows trees until the out-of-bag error no longer falls, at most 1,000."
    ] = 100
    max_depth: MaxDepth = None
    min_samples_split: Annotated[int, at_least(2), "Fewest rows in a node that may be split; a row drawn twice counts twice."] = 2
    min_samples_leaf: Annotated[int, at_least(1), "Fewest rows in a leaf; a row drawn twice counts twice."] = 1
    min_weight_fraction_leaf: LeastShare = 0.0
    max_features: Annotated[
        Features,
        count_or_share(),
        "Features drawn for each node: a count or a share, None for all. More are drawn while none of them can split the node.",
    ] = "sqrt"
    max_leaf_nodes: Annotated[int | None, at_least(2), "Most leaves of a tree; the best splits come first. None for no limit."] = None
    min_impurity_decrease: Annotated[
        float, at_least(0), "Smallest drop of the impurity by a split, by the share of the tree's weight that is in the node."
    ] = 0.0
    bootstrap: Annotated[bool, "Draw the rows of each tree with replacement."] = True
    max_samples: Annotated[
        int | float | None, count_or_share(), "Rows drawn for each tree: a count, or a share of all. None for as many as there are."
    ] = None
    oob_score: Annotated[
        bool | str | Callable,
        "Score the forest by the rows that each tree has not seen: True for accuracy or R2, the name of a scorer, or a function "
        "of (truth, prediction).",
    ] = False
    categorical_features: Categorical = None
    categorical_encoding: CategoryEncoding = "auto"
    n_jobs: Jobs = None
    random_state: RandomState = None
    verbose: Verbose = 0
    warm_start: WarmStart = False


@knobs
class ForestBins:
    """What large nodes look at, where thresholds are not drawn at random."""

    max_bins: Annotated[
        int | None,
        between(2, 255),
        "Most bins of a column in nodes of many rows; nodes of at most 32 rows, and tables of at most 1,024, consider every threshold. "
        "None: all nodes do.",
    ] = 255


@knobs
class ForestClassifierParams:
    """What the trees of a classifier are scored by, and how they vote."""

    criterion: Annotated[str, BY_IMPURITY] = "gini"  # the estimator says which there are
    voting: Annotated[
        Literal["soft", "hard"],
        "'soft' averages the class probabilities in the leaves; 'hard' counts the trees by the most frequent class of the leaf, "
        "one drawn at random among equals.",
    ] = "soft"
    class_weight: ClassWeight = None


@knobs
class ForestRegressorParams:
    """What the trees of a regressor are scored by."""

    criterion: Annotated[
        Literal["squared_error", "absolute_error", "poisson"],
        "How good a split is: by the squared error, the absolute error or the Poisson deviance that it removes. "
        "Leaves predict the mean, with 'absolute_error' the weighted median. 'poisson' is for counts and amounts, none of them negative. "
        "'absolute_error' considers every threshold in all nodes, whatever `max_bins` says, and takes several times as long.",
    ] = "squared_error"


@knobs
class QuantileParams:
    """What is kept beside the trees."""

    quantiles: Annotated[bool, "Keep which training rows are in which leaf, for `predict_quantiles`."] = False
