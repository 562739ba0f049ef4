"""The parameters of pruning: which members are kept, and how they are looked for."""

from typing import Annotated, Any, Literal

from woodwind.params.groups import Auto
from woodwind.params.knobs import at_least, count_or_share, knobs, share, spelled
from woodwind.params.pools import Folds


@knobs
class SelectionParams:
    """How members are looked for, and by what they are scored."""

    method: Annotated[
        Literal["greedy", "ordering", "clustering", "genetic", "exhaustive"],
        "'greedy' adds the member that helps most, again and again, and so finds weights (Caruana and others). 'ordering' sorts members "
        "and keeps the first. 'clustering' keeps the best of each group that says the same. 'genetic' breeds choices. 'exhaustive' tries "
        "all choices of up to 20 members.",
    ] = "greedy"
    n_selected: Annotated[
        int | float | Auto,
        count_or_share(),
        "Members to keep: a count, or a share of the pool. 'ordering' and 'clustering' keep exactly so many, the others at most so many "
        "different ones. 'auto' keeps those that score best.",
    ] = "auto"
    scoring: Annotated[
        Any,
        spelled("None, the name of a scorer or of a loss, a scorer, a loss or a function of the truth and the prediction"),
        "What is made best. None is the log loss or the squared error. A function is made large, unless its name ends in _error, _loss or "
        "_deviance.",
    ] = None
    diversity: Annotated[
        float,
        at_least(0),
        "Reward for members that differ: so many times their mean squared distance from their mean is added to the score.",
    ] = 0.0
    prefit: Annotated[
        bool | Auto,
        "Take the members as they are, already trained: X and y are then rows that they have not seen. False trains copies: members are "
        "scored in folds, and those that are kept are trained on all rows. 'auto' takes members that are trained already as they are.",
    ] = "auto"
    cv: Folds = 5


@knobs
class GreedyParams:
    """Of the greedy search."""

    n_steps: Annotated[int, at_least(1), "Greedy: members that are added one after another; those up to the best score are kept."] = 50
    with_replacement: Annotated[
        bool | Auto,
        "Greedy: whether a member may be added again, which gives it more weight. 'auto': yes, unless estimators is a fitted forest or "
        "bagging, of which a smaller one can then be made.",
    ] = "auto"
    n_start: Annotated[
        int | Auto,
        at_least(0),
        "Greedy: so many of the best members come before the first step. 0 begins with nothing, and may then stay with one member where no "
        "other alone can outvote it. 'auto' tries 0, and as many as score best together, and keeps the better result.",
    ] = "auto"
    n_bags: Annotated[
        int, at_least(1), "Greedy: the mean of so many searches, each in a random part of the pool. 1 is one search in the whole pool."
    ] = 1
    bag_share: Annotated[float, share(), "Greedy: the part of the pool that each of several searches sees."] = 0.5


@knobs
class OtherSearchParams:
    """Of the other searches."""

    linkage: Annotated[
        Literal["average", "kmeans"],
        "Clustering: 'average' joins the two closest groups again and again; 'kmeans' looks for groups that are tight.",
    ] = "average"
    clusters_by: Annotated[
        Literal["score", "silhouette"],
        "Clustering with n_selected='auto': as many clusters as score best, or as many as are told apart best.",
    ] = "score"
    n_generations: Annotated[int, at_least(1), "Genetic: how many generations follow the first."] = 50
    population: Annotated[int, at_least(4), "Genetic: choices in each generation."] = 50
    genes: Annotated[
        Literal["choices", "weights"],
        "Genetic: 'choices' breeds which members are in; 'weights' breeds weights, and keeps members above the mean weight (GASEN).",
    ] = "choices"


@knobs
class ClassifierOrderParams:
    """Of members that predict classes."""

    order: Annotated[
        Literal["reduced_error", "kappa", "complementarity", "margin_distance", "orientation", "boosting", "margin_diversity"],
        "Ordering: which members come first. 'reduced_error' looks at the score, the others at votes.",
    ] = "reduced_error"
    voting: Annotated[
        Literal["soft", "hard"], "'soft' averages probabilities, and votes of members that give none; 'hard' counts votes of all."
    ] = "soft"


@knobs
class RegressorOrderParams:
    """Of members that are regressors."""

    order: Annotated[
        Literal["reduced_error", "complementarity", "margin_distance", "orientation", "boosting"],
        "Ordering: which members come first. 'reduced_error' looks at the score, the others at errors.",
    ] = "reduced_error"
