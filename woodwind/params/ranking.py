"""The parameters of rankers."""

from typing import Annotated, Any, Literal

from woodwind.params.knobs import at_least, first, knobs, spelled
from woodwind.params.pools import Folds


@knobs
class RankParams:
    """What a ranking is to be good at."""

    metric: Annotated[
        Literal["ndcg", "map", "mrr"],
        "What loss='lambdamart' is to improve: normalised discounted cumulative gain, mean average precision or mean reciprocal rank. For "
        "the last two, a document is relevant if its relevance is above zero.",
    ] = "ndcg"
    gain: Annotated[
        Literal["exponential", "linear"], "What a relevant document is worth in NDCG: 2 ** relevance - 1, or the relevance itself."
    ] = "exponential"
    truncation_level: Annotated[
        int, at_least(1), "With loss='lambdamart', one document of a pair that counts is among so many with the highest scores."
    ] = 30
    normalize: Annotated[
        bool,
        "With loss='lambdamart', bring queries to one size, and count pairs by one over the distance of their scores, as LightGBM does.",
    ] = False
    position_bias_regularization: Annotated[
        float,
        at_least(0),
        "How much the biases of positions are held back, where `fit` is given `position`: a penalty for each row.",
    ] = 0.0


@knobs
class FusionParams:
    """How rankings become one."""

    estimators: Annotated[
        Any,
        first(),
        spelled("None, or a list of rankers or of (name, ranker)"),
        "The members: rankers, or regressors of the relevance. None is a GradientBoostingRanker for each of its losses.",
    ] = None
    fusion: Annotated[
        Literal["blend", "borda", "reciprocal_rank"],
        "How scores become one: 'blend' adds them up, each over its spread within queries; 'borda' and 'reciprocal_rank' add up ranks, "
        "and need to know the queries of rows that are predicted.",
    ] = "blend"
    weights: Annotated[
        Any,
        spelled("None, one number for each member, or 'optimal'"),
        "How much each member counts; None for all alike. 'optimal' makes the mean NDCG of queries that members have not learned largest.",
    ] = None
    cv: Folds = 5
