"""The parameters of rankers."""

from typing import Annotated, Literal

from woodwind.params.knobs import at_least, knobs


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
        "With loss='lambdamart', bring queries to one size, and count pairs by one over the distance of their scores.",
    ] = True
