"""The parameters of bagging."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from woodwind.params.groups import Features
from woodwind.params.knobs import at_least, between, count_or_share, first, knobs, spelled


@knobs
class BagParams:
    """Of what a bag is made, and what each member sees."""

    estimator: Annotated[
        Any,
        first(),
        spelled("None or an estimator with fit and predict"),
        "What is trained again and again. None is a decision tree of Woodwind, grown fully.",
    ] = None
    n_estimators: Annotated[int, at_least(1), "Number of members."] = 50
    max_samples: Annotated[
        int | float, count_or_share(), "Rows drawn for each member: a count, or a share of all. Rows of whole weights count as often."
    ] = 1.0
    max_features: Annotated[Features, count_or_share(), "Columns drawn for each member: a count, or a share of all. None for all."] = 1.0
    bootstrap: Annotated[
        bool | Literal["disjoint"],
        "Draw rows with replacement; False draws each row at most once (pasting); 'disjoint' parts the rows into n_estimators fragments of "
        "about the same size, one for each member, for tables that are too large for one.",
    ] = True
    bootstrap_features: Annotated[bool, "Draw columns with replacement."] = False
    oob_score: Annotated[
        bool | str | Callable,
        "Score every row by the members that have not seen it. True scores by accuracy or R²; else the name of a scorer, a scorer, or a "
        "function of the truth and the prediction.",
    ] = False


@knobs
class DiversityParams:
    """How members differ beyond what they see."""

    smear: Annotated[
        float,
        at_least(0),
        "Noise that each member's target has, in standard deviations of the target; of classes, of their indicators. 0 for none.",
    ] = 0.0
    param_distributions: Annotated[
        dict | None,
        "Parameters drawn for each member: from the name of a parameter of the estimator to a list, or to a distribution with rvs.",
    ] = None


@knobs
class BagClassifierParams:
    """How members learn classes, and how they vote."""

    voting: Annotated[
        Literal["soft", "hard"],
        "'soft' averages probabilities, where the estimator gives any; 'hard' counts votes, of which ties are broken at random, the "
        "same way for the same votes.",
    ] = "soft"
    flip_rate: Annotated[
        float, between(0, 1), "Share of the labels that each member gets wrong on purpose; classes keep their shares. 0 for none."
    ] = 0.0
    class_weight: Annotated[
        dict | Literal["balanced"] | None,
        "Weight of each class as {class: weight}; 'balanced' gives all classes the same total. With replacement, rows are drawn as their "
        "class weighs; without, their weights are multiplied.",
    ] = None
