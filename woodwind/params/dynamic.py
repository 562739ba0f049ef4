"""The parameters of dynamic selection."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from woodwind.params.groups import Auto
from woodwind.params.knobs import at_least, between, inside, knobs, spelled
from woodwind.params.pools import Folds


@knobs
class RegionParams:
    """Which rows tell how good members are near a query."""

    k: Annotated[
        int | Auto | None,
        at_least(1),
        "Selection rows in the region of a query; None for all. 'auto' is what the authors of the method take: 7, or all where rows weigh "
        "by their distance. Never more than there are.",
    ] = "auto"
    metric: Annotated[
        str | Callable,
        "Distance between rows: 'euclidean', 'mahalanobis', another one of those that scipy.spatial.distance.cdist has, or a function of "
        "two rows.",
    ] = "euclidean"
    standardize: Annotated[bool, "Bring columns of numbers to the same spread before distances are measured."] = True
    search: Annotated[
        Literal["exact", "fast"],
        "'exact' finds the nearest rows; 'fast' looks into the clusters of rows near the query only, and may miss some of the nearest.",
    ] = "exact"


@knobs
class SelectionRowsParams:
    """On which rows members are scored."""

    selection_size: Annotated[
        float | None,
        inside(0, 1),
        "Share of the rows that are held out to score members by, which learn from the others. None scores members on all rows, out of "
        "fold, and trains them on all rows. Fitted members are scored on all rows, which they must not have learned.",
    ] = None
    cv: Folds = 5
    prefit: Annotated[
        bool | Auto,
        "Take the members as they are, already trained; X and y are then rows that they have not seen. 'auto': if all are fitted.",
    ] = "auto"


@knobs
class DynamicParams:
    """Who is asked, and what they say together."""

    method_options: Annotated[
        dict | None,
        spelled("None or a dict from option to value"),
        "Options of the method; the page about dynamic selection names them, and so does the error for one that there is not.",
    ] = None
    mode: Annotated[
        Literal["auto", "selection", "weighting", "hybrid"],
        "'selection' lets the chosen members count alike, 'weighting' all members by their competence, 'hybrid' the chosen ones by their "
        "competence. 'auto' is what the method does.",
    ] = "auto"


@knobs
class DynamicClassifierParams:
    """What is special about classes."""

    method: Annotated[
        Any,
        spelled("the name of a method, a function of facts and region, or a Method"),
        "How members are scored and chosen: 'ola', 'lca', 'mla', 'mcb', 'rank', 'a_priori', 'a_posteriori' ask one member; 'knora_e', "
        "'knora_u', 'knop', 'meta_des', 'des_p', 'des_kl', 'kl_divergence', 'des_mi', 'des_rrc', 'des_knn', 'des_clustering', "
        "'exponential', 'logarithmic', 'minimum_difference', 'confidence', 'competent_diverse' ask several; 'single_best' and "
        "'static_selection' do not look at the query. A function gives the competence of each member for each query.",
    ] = "knora_e"
    voting: Annotated[
        Literal["hard", "soft"],
        "'hard' counts the votes of who was asked; 'soft' averages their probabilities, for which a member without any gives its vote.",
    ] = "hard"
    knne: Annotated[bool, "Let every class have the same number of rows in a region."] = False
    dfp: Annotated[
        bool, "Dynamic frienemy pruning: where a region has several classes, ask only members that are right about rows of two of them."
    ] = False
    with_ih: Annotated[bool, "Answer easy queries by the classes of their neighbours, without asking members."] = False
    safe_k: Annotated[int | None, at_least(1), "Neighbours that tell whether a query is easy; None for all of the region."] = None
    ih_rate: Annotated[
        float, between(0, 0.5), "A query is easy if a smaller share than this of its neighbours is not of their most frequent class."
    ] = 0.3


@knobs
class DynamicRegressorParams:
    """What is special about numbers."""

    method: Annotated[
        Any,
        spelled("the name of a method, a function of facts and region, or a Method"),
        "How members are scored and chosen: 'local_best' asks the one with the least error near the query; 'weighting' weighs all by one "
        "over that error; 'weighting_selection' leaves out the worse half of the range first; 'softmax' weighs by exp(-error); 'knora_e' "
        "and 'knora_u' count rows with small errors. A function gives the competence of each member for each query.",
    ] = "weighting_selection"
